// `subsample` on CUDA: a warp a chunk of rows, which draws and counts, and then writes.
//
// Macro: CHUNK rows of a warp, a multiple of 32.

#include "mixing.cuh"
#include "warps.cuh"

#define WORDS (1ll << 53)  // that chances are made of

__device__ __forceinline__ long long chunk_of_warp() {
    return (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
}

// count (chunks): of the rows inside. farthest (1) begins with zero: WORDS less the least word.
extern "C" __global__ void __launch_bounds__(256) draw(
    unsigned long long state, double limit, long long n_rows, bool *__restrict__ inside,
    int *__restrict__ count, unsigned long long *__restrict__ farthest) {
    const long long begin = chunk_of_warp() * CHUNK;
    if (begin >= n_rows) return;
    const long long end = min(begin + CHUNK, n_rows);
    long long own = 0, far = 0;
    for (long long row = begin + threadIdx.x % 32; row < end; row += 32) {
        const unsigned long long word = next_state(state, (unsigned long long)row);
        const bool in = share(word) <= limit;
        inside[row] = in;
        own += in;
        far = max(far, WORDS - (long long)(word >> 11));
    }
    own = warp_sum(own);
    if (threadIdx.x % 32 == 0) count[chunk_of_warp()] = (int)own;
    take_largest(farthest, far);
}

// border (chunks): where each chunk's rows begin.
extern "C" __global__ void __launch_bounds__(256) write_rows(
    const bool *__restrict__ inside, const long long *__restrict__ border, long long n_rows,
    int *__restrict__ rows) {
    const long long begin = chunk_of_warp() * CHUNK;
    if (begin >= n_rows) return;
    const long long end = min(begin + CHUNK, n_rows);
    const int lane = threadIdx.x % 32;
    long long to = border[chunk_of_warp()];
    for (long long first = begin; first < end; first += 32) {
        const bool in = first + lane < end && inside[first + lane];
        const unsigned int all = __ballot_sync(0xffffffffu, in);
        if (in) rows[to + __popc(all & ((1u << lane) - 1))] = (int)(first + lane);
        to += __popc(all);
    }
}
