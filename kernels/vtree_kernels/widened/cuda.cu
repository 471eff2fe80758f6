// `widened` on CUDA: numbers `step` apart, as doubles.

#include "floats.cuh"

extern "C" __global__ void __launch_bounds__(256) widen(
    const float *__restrict__ x, long long n, long long step, double *__restrict__ wide) {
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        wide[i] = widened(x[i * step]);
}
