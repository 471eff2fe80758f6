// `log`, `log2` or `exp` of each number of an array on CUDA.
//
// Macro: FUNCTION, one of cuda.cuh.

#include "elementary/cuda.cuh"

extern "C" __global__ void __launch_bounds__(256) over_all(
    const double *__restrict__ x, long long n, double *__restrict__ out) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = FUNCTION(x[i]);
}
