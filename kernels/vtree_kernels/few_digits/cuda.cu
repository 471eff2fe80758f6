// `few_digits` on CUDA: a thread takes a row after another.
//
// Macros: WEIGHTED 1 where rows have weights; WHOLE the type of all digits; TO_WHOLE and SPREAD as
// in reference.py.

#include "warps.cuh"

__device__ __forceinline__ double nearest(double value) { return (value + TO_WHOLE) - TO_WHOLE; }

__device__ __forceinline__ double shortened(
    double scaled, double factor, double most, double turn) {
    const double few = scaled * factor;
    const double angle = few * SPREAD + turn;
    const double rounded = nearest(few + (angle - nearest(angle)));
    return rounded > most ? most : rounded < -most ? -most : rounded;
}

// Of one of both derivatives: factors to all digits, to few and back; the largest number of few, and
// where it begins in a word.
struct Scale {
    double factor, down, up, most;
    int place;
};

// sizes (2) begin with zeros.
extern "C" __global__ void __launch_bounds__(256) fill(
    const double *__restrict__ gradient, const double *__restrict__ hessian,
    const double *__restrict__ scales, int place_g, int place_h, double turn,
    const long long *__restrict__ weight, long long n_rows, WHOLE *__restrict__ whole,
    long long *__restrict__ mass, long long *__restrict__ sums, long long *__restrict__ words,
    unsigned long long *__restrict__ sizes) {
    const Scale steep = {scales[0], scales[1], scales[2], scales[3], place_g};
    const Scale curved = {scales[4], scales[5], scales[6], scales[7], place_h};
    const long long step = (long long)gridDim.x * blockDim.x;
    long long size_g = 0, size_h = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n_rows; i += step) {
        const double g = gradient[i] * steep.factor, h = hessian[i] * curved.factor;
        const double few_g = shortened(g, steep.down, steep.most, turn);
        const double few_h = shortened(h, curved.down, curved.most, turn);
        const double all_h = nearest(h);
        const long long own_g = (long long)few_g, own_h = (long long)few_h;
        const long long w = WEIGHTED ? weight[i] : 1;
        whole[2 * i] = (WHOLE)((long long)(all_h > 1.0 ? all_h : 1.0) * w);
        whole[2 * i + 1] = (WHOLE)((long long)nearest(g) * w);
        if (WEIGHTED) {
            mass[i] = (long long)(few_h * curved.up) * w;
            sums[i] = (long long)(few_g * steep.up) * w;
        } else {
            words[i] = 1 + own_h * (1ll << curved.place) + own_g * (1ll << steep.place);
        }
        size_g += own_g < 0 ? -own_g : own_g;
        size_h += own_h < 0 ? -own_h : own_h;
    }
    add_up(sizes, size_g);
    add_up(sizes + 1, size_h);
}
