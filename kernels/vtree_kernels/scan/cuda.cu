// `scan` on CUDA: the best split of each (node, feature), a warp each. Macros: see the header.

#include "scan/cuda.cuh"

// found: a row of 4 + S words a (node, feature), as `scan_cells` writes it. words: of n_derived
// nodes, the last ones, their slots among `parent` and their siblings among `built`, from which
// their warps write the cells first; then the layout as `layout_of` takes it. `built` may be the
// memory of `hist`.
extern "C" __global__ void __launch_bounds__(128) scan(
    CELL *hist, const CELL *__restrict__ parent, const CELL *built,
    const long long *__restrict__ words, long long n_derived, const int *__restrict__ allowed,
    int restricted, long long n_pairs, int n_features, int n_codes, const long long *__restrict__ total,
    const signed char *__restrict__ monotone, int directed, const double *__restrict__ lower,
    const double *__restrict__ upper, int bounded, long long min_rows, double min_weight, int width,
    long long *__restrict__ found) {
    const long long pair = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (pair >= n_pairs) return;
    const int feature = (int)(pair % n_features);
    const long long node = pair / n_features;
    const double *packed = reinterpret_cast<const double *>(words + 2 * n_derived);
    const Layout layout = layout_of(
        packed, bounded ? lower[node] : -INFINITE, bounded ? upper[node] : INFINITE);
#if SMALL
    long long *columns = 0;
#else
    extern __shared__ long long columns[];
#endif
    const int planes = statistics_of(layout), stored = planes - layout.implied;
    const long long size = (long long)n_codes * stored;
    const long long derived = node - (n_pairs / n_features - n_derived);
    if (derived >= 0) {
        const CELL *whole = parent + (words[derived] * n_features + feature) * size;
        const CELL *other = built + (words[n_derived + derived] * n_features + feature) * size;
        CELL *own = hist + pair * size;
        for (long long i = threadIdx.x % 32; i < size; i += 32) own[i] = whole[i] - other[i];
        __syncwarp();
    }
    const Cells cells = {hist + pair * size, stored};
    scan_cells(cells, total + node * planes, n_codes, restricted ? allowed[pair] : 0,
               directed ? monotone[feature] : 0, layout, {min_rows, min_weight, width}, columns,
               found + pair * (4 + planes));
}
