// The arithmetic of mixing.py, whose bits it has: compile with -fmad=false.

__device__ __forceinline__ unsigned long long next_state(
    unsigned long long state, unsigned long long word) {
    unsigned long long z = state * 3 + word + 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

__device__ __forceinline__ unsigned long long below(
    unsigned long long word, unsigned long long count) {
    return (word >> 32) * count >> 32;
}

__device__ __forceinline__ double share(unsigned long long word) {
    return (double)(word >> 11) * 1.1102230246251565e-16;  // · 2^-53
}

__device__ __forceinline__ double between(double low, double high, double u) {
    const double point = low * (1.0 - u) + high * u;
    return point >= low && point < high ? point : low;  // NaN is neither
}
