// `segment_sums` on CUDA: a warp a task, some rows of a segment.
//
// Macros: VALUE the type of values; PLANES of them.

#include "warps.cuh"

// tasks (n, 3): segment, begin, end. sums (L, PLANES) begin with zeros.
extern "C" __global__ void __launch_bounds__(256) add_segments(
    const VALUE *__restrict__ values, const int *__restrict__ rows,
    const long long *__restrict__ tasks, long long n_tasks,
    unsigned long long *__restrict__ sums) {
    const long long task = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (task >= n_tasks) return;
    const long long segment = tasks[3 * task], end = tasks[3 * task + 2];
    long long own[PLANES] = {};
    for (long long i = tasks[3 * task + 1] + threadIdx.x % 32; i < end; i += 32) {
        const VALUE *row = values + (long long)rows[i] * PLANES;
#pragma unroll
        for (int p = 0; p < PLANES; p++) own[p] += row[p];
    }
    for (int p = 0; p < PLANES; p++) add_up(sums + segment * PLANES + p, own[p]);
}
