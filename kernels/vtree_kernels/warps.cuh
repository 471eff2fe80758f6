// What all 32 lanes of a warp hold, put together; exact, so that no order of lanes matters.

__device__ __forceinline__ long long warp_sum(long long own) {
#pragma unroll
    for (int step = 16; step; step /= 2) own += __shfl_xor_sync(0xffffffffu, own, step);
    return own;
}

__device__ __forceinline__ long long warp_largest(long long own) {
#pragma unroll
    for (int step = 16; step; step /= 2) own = max(own, __shfl_xor_sync(0xffffffffu, own, step));
    return own;
}

// The bits of |x|, in the order of sizes, those of NaN above all others'.
__device__ __forceinline__ long long size_bits(double x) {
    return __double_as_longlong(x) & 0x7fffffffffffffffll;
}

// Of all warps that come here; all lanes of each must. `most` begins with zeros.
__device__ __forceinline__ void take_largest(unsigned long long *most, long long own) {
    const long long largest = warp_largest(own);
    if (threadIdx.x % 32 == 0) atomicMax(most, (unsigned long long)largest);
}
__device__ __forceinline__ void add_up(unsigned long long *total, long long own) {
    const long long sum = warp_sum(own);
    if (threadIdx.x % 32 == 0) atomicAdd(total, (unsigned long long)sum);
}
