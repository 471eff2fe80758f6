// float32 to the last bit. CuPy compiles with -ftz=true, which takes denormal floats for zero
// wherever they are computed with, compared or converted: so none are. They become doubles by
// instructions written out, which no option touches, or whole numbers of the same order.

__device__ __forceinline__ double widened(float x) {
#ifdef __CUDA_ARCH__
    double wide;
    asm("cvt.f64.f32 %0, %1;" : "=d"(wide) : "f"(x));
    return wide;
#else
    return x;
#endif
}
__device__ __forceinline__ double widened(double x) { return x; }
__device__ __forceinline__ double widened(long long x) { return (double)x; }

// The largest float not above x.
__device__ __forceinline__ float at_most(double x) {
    float near;
#ifdef __CUDA_ARCH__
    asm("cvt.rm.f32.f64 %0, %1;" : "=f"(near) : "d"(x));
#else
    near = (float)x;
    if ((double)near > x) near = nextafterf(near, -__int_as_float(0x7f800000));
#endif
    return near;
}

// Whole numbers in the order of floats, −0.0 that of 0.0; of NaN, any.
__device__ __forceinline__ int key_of(float x) {
    const int bits = __float_as_int(x);
    return bits < 0 ? -(bits & 0x7fffffff) : bits;
}
