// `route` on CUDA: the child of each row. `partition` does the rest.
//
// Macros: CODE the type of codes, CHILD that of children, TILE the positions of a block.

#include "partition/cuda.cuh"

// Behind start, stop and number in the table of nodes.
enum { COLUMN = 3, KIND, BIN, MISSING_CHILD, MAP_OFFSET };

// Writes the child of the rows of nodes; code (row, column) lies at row · pitch + column · step.
extern "C" __global__ void __launch_bounds__(THREADS) decide(
    const int *__restrict__ rows, long long n_rows, const long long *__restrict__ nodes,
    int n_nodes, const CODE *__restrict__ codes, long long pitch, long long step,
    const CHILD *__restrict__ branch_map, CHILD *__restrict__ child) {
    __shared__ Span span;
    const long long begin = (long long)blockIdx.x * TILE;
    find_span(nodes, n_nodes, begin, &span);
    const long long planes = n_nodes, end = min(begin + TILE, n_rows);
#pragma unroll TILE / THREADS
    for (long long at = begin + threadIdx.x; at < end; at += THREADS) {
        const int node = node_of(nodes, n_nodes, span, at);
        if (node < 0) continue;
        const long long *own = nodes + node;
        const int code = codes[rows[at] * pitch + own[COLUMN * planes] * step];
        long long to;
        if (code == 0) to = own[MISSING_CHILD * planes];
        else if (own[KIND * planes] == 0) to = code > own[BIN * planes];
        else to = branch_map[own[MAP_OFFSET * planes] + code];
        child[at] = (CHILD)to;
    }
}
