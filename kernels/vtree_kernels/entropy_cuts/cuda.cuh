// What `cuts` and `branches` share: information, in the order of the definition, and sums of a warp.

#include "elementary/cuda.cuh"

#define EVERY_LANE 0xffffffffu
#define SLACK (1.0 - 1e-9)

__device__ __forceinline__ double x_log_x(double x) {
    return x > 0.0 ? x * elementary_log2(x) : 0.0;
}

// T = S log2 S − Σ v log2 v of weights that are added one after another.
struct Information {
    double total, logs;
    __device__ __forceinline__ void add(int k, double own) {
        total = k ? total + own : own;
        logs = k ? logs + x_log_x(own) : x_log_x(own);
    }
    __device__ __forceinline__ double of() const { return x_log_x(total) - logs; }
};

// The least weight of both sides of a cut.
__device__ __forceinline__ double least_weight(
    double known_weight, int classes, double min_weight) {
    double least = 0.1 * known_weight / (double)classes;
    least = least > 25.0 ? 25.0 : least;
    return (least <= min_weight ? min_weight : least) * SLACK;
}

__device__ __forceinline__ long long sum_of_warp(long long value) {
    for (int step = 16; step; step /= 2) value += __shfl_xor_sync(EVERY_LANE, value, step);
    return value;
}

__device__ __forceinline__ long long sum_up_to(long long value, int lane) {
    for (int step = 1; step < 32; step *= 2) {
        const long long before = __shfl_up_sync(EVERY_LANE, value, step);
        if (lane >= step) value += before;
    }
    return value;
}
