// `elementwise` on CUDA: a thread takes a row after another.
//
// In front stands `terms`, the function in C, and ARGUMENTS, what it is called with. Macros: RESULTS
// columns of them; REACH 1 where the largest sizes are asked for.

#include "warps.cuh"

extern "C" __global__ void __launch_bounds__(256) over_rows(
    const double *__restrict__ column, const double *__restrict__ other_0,
    const double *__restrict__ other_1, const double *__restrict__ other_2, double number_0,
    double number_1, double number_2, double number_3, double before, long long n_rows,
    double *__restrict__ out, unsigned long long *__restrict__ reach) {
    const long long step = (long long)gridDim.x * blockDim.x;
    long long most[RESULTS] = {};
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n_rows; i += step) {
        const double own = before + column[i];
        double result[RESULTS];
        terms(ARGUMENTS, result);
#pragma unroll
        for (int r = 0; r < RESULTS; r++) {
            out[r * n_rows + i] = result[r];
            if (REACH) most[r] = max(most[r], size_bits(result[r]));
        }
    }
    if (REACH)
        for (int r = 0; r < RESULTS; r++) take_largest(reach + r, most[r]);
}
