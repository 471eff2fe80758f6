// `search` on CUDA: a warp a (node, feature), a block several features of one node, whose rows'
// codes lie next to each other.
//
// Macros: CODE the type of codes, and those of the headers.

#include "search/cuda.cuh"

// borders: where the rows of nodes start, then where they stop; code (row, feature) lies at
// row · pitch + feature · step. found: as in `scan`. A warp's share of shared memory: its cells and,
// before those of all warps, width + 3 columns of S words unless SMALL.
extern "C" __global__ void __launch_bounds__(256) search(
    const CODE *__restrict__ codes, long long pitch, long long step,
    const int *__restrict__ rows, const long long *__restrict__ borders,
    const int *__restrict__ label, const long long *__restrict__ weight,
    const long long *__restrict__ sums, int n_features, int n_codes,
    const long long *__restrict__ total, const signed char *__restrict__ monotone, int directed,
    const double *__restrict__ lower, const double *__restrict__ upper, int bounded,
    const double *__restrict__ packed, long long min_rows, double min_weight, int width,
    long long *__restrict__ found) {
    extern __shared__ long long shared_words[];
    const int warp = threadIdx.x / 32, n_warps = blockDim.x / 32;
    const int groups = (n_features + n_warps - 1) / n_warps;  // of features, a block each
    const long long node = blockIdx.x / groups, n_nodes = gridDim.x / groups;
    const int feature = (int)(blockIdx.x % groups) * n_warps + warp;
    if (feature >= n_features) return;
    const Layout layout = layout_of(
        packed, bounded ? lower[node] : -INFINITE, bounded ? upper[node] : INFINITE);
    const int words = statistics_of(layout), n_columns = SMALL ? 0 : words * (width + 3);
    CELL *cells = reinterpret_cast<CELL *>(shared_words + n_warps * n_columns);
    const CODE *own = codes + feature * step;
    const auto code_of = [&](int row) { return (int)own[row * pitch]; };
    const int n_rows = (int)(borders[n_nodes + node] - borders[node]);
    search_rows(cells + warp * n_codes * (words - layout.implied), n_codes, rows + borders[node],
                0, n_rows, {label, weight, sums}, code_of, total + node * words, 0,
                directed ? monotone[feature] : 0, layout, {min_rows, min_weight, width},
                shared_words + warp * n_columns,
                found + (node * n_features + feature) * (4 + words));
}
