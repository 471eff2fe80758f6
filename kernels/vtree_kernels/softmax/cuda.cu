// `softmax` on CUDA: a thread takes a row after another, and its classes in turn.

#include "elementary/cuda.cuh"
#include "warps.cuh"

// sums (K, N), a class's column after another's. reach (2) begins with zeros.
extern "C" __global__ void __launch_bounds__(256) softmax(
    const double *__restrict__ sums, const double *__restrict__ start,
    const double *__restrict__ y, long long n_rows, int n_classes, double *__restrict__ largest,
    double *__restrict__ total, unsigned long long *__restrict__ reach) {
    const long long step = (long long)gridDim.x * blockDim.x;
    long long steep = 0, curved = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n_rows; i += step) {
        double top = -__longlong_as_double(0x7ff0000000000000ll), whole = 0.0;
        for (int k = 0; k < n_classes; k++) {
            const double raw = start[k] + sums[k * n_rows + i];
            top = raw > top || raw != raw ? raw : top;  // NaN stays
        }
        for (int k = 0; k < n_classes; k++)
            whole += elementary_exp((start[k] + sums[k * n_rows + i]) - top);
        // To work exponentials out again is less than to keep those of any number of classes.
        for (int k = 0; k < n_classes; k++) {
            const double share = elementary_exp((start[k] + sums[k * n_rows + i]) - top) / whole;
            steep = max(steep, size_bits(share - (y[i] == k ? 1.0 : 0.0)));
            curved = max(curved, size_bits(share * (1.0 - share)));
        }
        largest[i] = top;
        total[i] = whole;
    }
    take_largest(reach, steep);
    take_largest(reach + 1, curved);
}
