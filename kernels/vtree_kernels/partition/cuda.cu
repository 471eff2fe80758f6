// `partition` on CUDA: a stable sort of each node's rows by child, one bit of it at a time, from
// the lowest. Nodes may begin and end anywhere in a block, for places come from one count of ones:
//
//     position   0  1  2  3  4  5  6  7  8
//     node       .  A  A  A  A  B  B  .         rank(p): ones before p
//     bit        0  1  0  1  0  1  0  0
//     rank       0  0  1  1  2  2  3  3  3
//
// rank(b) − rank(a) rows of a node from a to b have a one. The row at p is number rank(p) − rank(a)
// behind the node's zeros, or number (p − a) − (rank(p) − rank(a)) among them.
//
// Macros: TILE, the positions of a block; CHILD, the type of children.

#include "partition/cuda.cuh"

#define WARPS (THREADS / 32)
#define WORDS (TILE / THREADS)  // of 32 positions, a warp's share of a tile

// Exclusive sums over the lanes of a warp; returns the sum of all in *total.
template <class Number>
__device__ __forceinline__ Number sum_before(Number own, int lane, Number *total) {
    Number sum = own;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const Number other = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += other;
    }
    *total = __shfl_sync(0xffffffffu, sum, 31);
    return sum - own;
}

// Finds the positions of nodes, up to and with n_rows, whose child has the bit. Writes them as
// bits, with the ones before each word in its tile, and the ones of each tile.
extern "C" __global__ void __launch_bounds__(THREADS) mark(
    const CHILD *__restrict__ child, long long n_rows,
    const long long *__restrict__ nodes, int n_nodes, int bit, unsigned int *__restrict__ bits,
    int *__restrict__ before_word, long long *__restrict__ before_tile) {
    __shared__ int of_warp[WARPS];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    __shared__ Span span;
    const long long begin = (long long)blockIdx.x * TILE;
    find_span(nodes, n_nodes, begin, &span);
    const long long own_begin = begin + warp * WORDS * 32;
    unsigned int own = 0;  // word number `lane` of this warp
#pragma unroll
    for (int word = 0; word < WORDS; word++) {
        const long long at = own_begin + word * 32 + lane;
        const bool inside = node_of(nodes, n_nodes, span, at) >= 0;
        const unsigned int found = __ballot_sync(0xffffffffu, inside && (child[at] >> bit & 1));
        if (lane == word) own = found;
    }
    int total;
    int before = sum_before(__popc(own), lane, &total);
    if (lane == 0) of_warp[warp] = total;
    __syncthreads();
    for (int other = 0; other < warp; other++) before += of_warp[other];
    const long long word = own_begin / 32 + lane;
    if (lane < WORDS && word <= n_rows / 32) {
        bits[word] = own;
        before_word[word] = before;
    }
    if (warp == WARPS - 1 && lane == 0) before_tile[blockIdx.x] = before + total;
}

// Turns the ones of each tile into the ones before it. One block of 1024 threads.
extern "C" __global__ void __launch_bounds__(1024) add_up(
    long long *__restrict__ before_tile, int n_tiles) {
    __shared__ long long of_warp[32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    long long carried = 0;
    for (int first = 0; first < n_tiles; first += 1024) {
        const int tile = first + threadIdx.x;
        long long total;
        const long long own = tile < n_tiles ? before_tile[tile] : 0;
        long long before = sum_before(own, lane, &total);
        if (lane == 0) of_warp[warp] = total;
        __syncthreads();
        const long long before_warp = sum_before(of_warp[lane], lane, &total);
        before += carried + __shfl_sync(0xffffffffu, before_warp, warp);
        if (tile < n_tiles) before_tile[tile] = before;
        carried += total;
        __syncthreads();
    }
}

struct Ranks {
    const unsigned int *bits;
    const int *before_word;
    const long long *before_tile;

    __device__ __forceinline__ long long operator()(long long position) const {
        const unsigned int below = (1u << position % 32) - 1;
        return before_tile[position / TILE] + before_word[position / 32] +
               __popc(bits[position / 32] & below);
    }
};

// Moves rows and their children by one bit; positions of no node keep theirs.
extern "C" __global__ void __launch_bounds__(THREADS) move(
    const int *__restrict__ rows, const CHILD *__restrict__ child, long long n_rows,
    const long long *__restrict__ nodes, int n_nodes, const unsigned int *__restrict__ bits,
    const int *__restrict__ before_word, const long long *__restrict__ before_tile,
    int *__restrict__ out_rows, CHILD *__restrict__ out_child) {
    __shared__ Span span;
    const long long begin = (long long)blockIdx.x * TILE;
    find_span(nodes, n_nodes, begin, &span);
    const Ranks rank{bits, before_word, before_tile};
    const long long end = min(begin + TILE, n_rows);
    for (long long at = begin + threadIdx.x; at < end; at += THREADS) {
        const int node = node_of(nodes, n_nodes, span, at);
        if (node < 0) {
            out_rows[at] = rows[at];
            continue;
        }
        const long long start = nodes[node], stop = nodes[n_nodes + node];
        const long long before = rank(start), ones = rank(stop) - before, own = rank(at) - before;
        const bool one = bits[at / 32] >> at % 32 & 1;
        const long long to = one ? stop - ones + own : at - own;
        out_rows[to] = rows[at];
        out_child[to] = child[at];
    }
}
