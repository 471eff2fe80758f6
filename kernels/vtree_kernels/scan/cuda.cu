// `scan` on CUDA: the best split of each (node, feature), a warp each. Macros: see the header.

#include "scan/cuda.cuh"

// found: a row of 4 + S words a (node, feature), as `scan_cells` writes it.
extern "C" __global__ void __launch_bounds__(128) scan(
    const CELL *__restrict__ hist, const int *__restrict__ allowed, int restricted,
    long long n_pairs, int n_features, int n_codes, const long long *__restrict__ total,
    const signed char *__restrict__ monotone, int directed, const double *__restrict__ lower,
    const double *__restrict__ upper, int bounded, const double *__restrict__ packed,
    long long min_rows, double min_weight, int width,
    long long *__restrict__ found) {
    const long long pair = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (pair >= n_pairs) return;
    const int feature = (int)(pair % n_features);
    const long long node = pair / n_features;
    const Layout layout = layout_of(
        packed, bounded ? lower[node] : -INFINITE, bounded ? upper[node] : INFINITE);
#if SMALL
    long long *columns = 0;
#else
    extern __shared__ long long columns[];
#endif
    const int words = statistics_of(layout), stored = words - layout.implied;
    const Cells cells = {hist + pair * n_codes * stored, stored};
    scan_cells(cells, total + node * words, n_codes, restricted ? allowed[pair] : 0,
               directed ? monotone[feature] : 0, layout, {min_rows, min_weight, width}, columns,
               found + pair * (4 + words));
}
