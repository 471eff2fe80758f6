// `accumulate` on CUDA: a thread a row and column, which adds up the trees in their order.

extern "C" __global__ void __launch_bounds__(256) add_up(
    const int *__restrict__ leaf, long long n_rows, int n_trees,
    const double *__restrict__ value, int n_values, const long long *__restrict__ column,
    int n_columns, double *__restrict__ total) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n_rows * n_columns;
         i += step) {
        const long long row = i / n_columns;
        const int own = (int)(i % n_columns);
        double sum = 0.0;
        for (int t = 0; t < n_trees; t++) {
            const long long v = own - column[t];
            if (v >= 0 && v < n_values)
                sum += value[(long long)leaf[row * n_trees + t] * n_values + v];
        }
        total[i] = sum;
    }
}
