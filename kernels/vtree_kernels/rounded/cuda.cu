// `rounded` on CUDA: a thread takes a row after another.
//
// Macros: WEIGHTED 1 where rows have weights, PRODUCTS 1 where these multiply whole numbers.

extern "C" __global__ void __launch_bounds__(256) round_all(
    const double *__restrict__ values, double factor, const long long *__restrict__ weight,
    long long least, long long n_rows, long long *__restrict__ whole) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n_rows; i += step) {
        double own = values[i] * factor;
        if (WEIGHTED && !PRODUCTS) own *= (double)weight[i];
        long long found = (long long)rint(own);
        if (WEIGHTED && PRODUCTS) found *= weight[i];
        whole[i] = max(found, least);
    }
}
