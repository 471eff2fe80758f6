// `branches` on CUDA: a warp a (node, feature), a lane a level.
//
// Logarithms of levels are taken side by side and added one after another, as the definition does.
//
// Macros: CELL the type of cells, int or long long.

#include "entropy_cuts/cuda.cuh"

// found (pairs, 3): the bits of gain and info; filled. A warp's share of shared memory: K doubles.
extern "C" __global__ void __launch_bounds__(128) judge(
    const CELL *__restrict__ hist, const double *__restrict__ whole, long long n_pairs,
    int n_features, int n_codes, int planes, int first, int classes, double unit, double least,
    long long *__restrict__ found) {
    extern __shared__ double of_classes[];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const long long pair = (long long)blockIdx.x * (blockDim.x / 32) + warp;
    if (pair >= n_pairs) return;
    const CELL *cells = hist + pair * n_codes * planes + first;
    double *known = of_classes + warp * classes;
    for (int k = 0; k < classes; k++) {
        long long own = 0;
        for (int code = 1 + lane; code < n_codes; code += 32) own += cells[(long long)code * planes + k];
        own = sum_of_warp(own);
        if (lane == 0) known[k] = (double)own * unit;
    }
    __syncwarp();
    Information before, parts;
    for (int k = 0; k < classes; k++) before.add(k, known[k]);
    const double weight = whole[pair / n_features], known_weight = before.total;
    parts.add(0, weight - known_weight);
    double below = 0.0;
    long long filled = 0;
    for (int code = 1 + lane; code - lane < n_codes; code += 32) {
        const bool inside = code < n_codes;
        Information own;
        for (int k = 0; k < classes; k++)
            own.add(k, inside ? (double)cells[(long long)code * planes + k] * unit : 0.0);
        const double level = own.total, inner = own.of(), logs = x_log_x(level);
        filled += __popc(__ballot_sync(EVERY_LANE, inside && level >= least));
        for (unsigned int left = __ballot_sync(EVERY_LANE, level > 0.0); left; left &= left - 1) {
            const int next = __ffs(left) - 1;
            below += __shfl_sync(EVERY_LANE, inner, next);
            parts.total += __shfl_sync(EVERY_LANE, level, next);
            parts.logs += __shfl_sync(EVERY_LANE, logs, next);
        }
    }
    if (lane) return;
    const double some = known_weight > 0.0 ? known_weight : 1.0;
    const double gain = known_weight / weight * ((before.of() - below) / some);
    found[3 * pair] = __double_as_longlong(gain);
    found[3 * pair + 1] = __double_as_longlong(parts.of() / weight);
    found[3 * pair + 2] = filled;
}
