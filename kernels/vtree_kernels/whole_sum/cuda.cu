// `whole_sum` and `largest_size` on CUDA: a thread takes a row after another.
//
// Macros: WEIGHTED 1 where rows have weights, PRODUCTS 1 where these multiply whole numbers.

#include "warps.cuh"

extern "C" __global__ void __launch_bounds__(256) look(
    const double *__restrict__ values, long long n_rows, unsigned long long *__restrict__ most) {
    const long long step = (long long)gridDim.x * blockDim.x;
    long long own = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n_rows; i += step)
        own = max(own, size_bits(values[i]));
    take_largest(most, own);
}

extern "C" __global__ void __launch_bounds__(256) add_whole(
    const double *__restrict__ values, double factor, const long long *__restrict__ weight,
    long long n_rows, unsigned long long *__restrict__ total) {
    const long long step = (long long)gridDim.x * blockDim.x;
    long long own = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n_rows; i += step) {
        const double scaled = values[i] * factor;
        if (!WEIGHTED) own += (long long)rint(scaled);
        else if (PRODUCTS) own += (long long)rint(scaled) * weight[i];
        else own += (long long)rint(scaled * (double)weight[i]);
    }
    add_up(total, own);
}
