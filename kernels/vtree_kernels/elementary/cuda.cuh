// The scalar forms of `elementary`, to be included by kernels: elementary_log, elementary_log2,
// elementary_exp.
// Same operations as in reference.py, each rounded once: compile with -fmad=false.

__device__ __forceinline__ double elementary_log_mantissa(double m) {
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    double p = 1.0 / 23.0;
#pragma unroll
    for (int k = 9; k >= 0; k--) p = p * z + 1.0 / (2 * k + 3);
    const double twice = 2.0 * s;
    return twice + twice * (z * p);
}

// Returns m in [√½, √2) with x = m · 2^exponent, x positive and finite.
__device__ __forceinline__ double elementary_decompose(double x, int *exponent) {
    const bool denormal = x < 2.2250738585072014e-308;
    const long long bits = __double_as_longlong(denormal ? x * 18014398509481984.0 : x);  // · 2^54
    const int e = (int)(bits >> 52) - 1023 - (denormal ? 54 : 0);
    const double m = __longlong_as_double((bits & 0xfffffffffffffll) | 0x3ff0000000000000ll);
    const bool upper = m >= 1.4142135623730951;
    *exponent = upper ? e + 1 : e;
    return upper ? 0.5 * m : m;
}

__device__ __forceinline__ double elementary_log(double x) {
    int e;
    const double m = elementary_decompose(x, &e);
    // ln 2 in two parts, the first of 32 bits, so that its product is exact.
    return e * 0.6931471803691238 + (elementary_log_mantissa(m) + e * 1.9082149292705877e-10);
}

__device__ __forceinline__ double elementary_log2(double x) {
    int e;
    const double m = elementary_decompose(x, &e);
    return e + elementary_log_mantissa(m) * 1.4426950408889634;
}

__device__ __forceinline__ double elementary_power_of_two(int k) {  // a normal one
    return __longlong_as_double((long long)(k + 1023) << 52);
}

__device__ __forceinline__ double elementary_exp(double x) {
    if (x < -708.0) return 0.0;
    if (x > 709.782712893384) return __longlong_as_double(0x7ff0000000000000ll);
    const double k = floor(x * 1.4426950408889634 + 0.5);
    const double r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10;
    // 1/13!, 1/12!, … 1/2!
    const double series[12] = {
        1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0,
        1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0,
        1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 1.0 / 2.0};
    double p = series[0];
#pragma unroll
    for (int i = 1; i < 12; i++) p = p * r + series[i];
    const double value = 1.0 + (r + r * r * p);
    const int whole = (int)k, half = whole >= 0 ? whole / 2 : -((1 - whole) / 2);  // floored
    return value * elementary_power_of_two(half) * elementary_power_of_two(whole - half);
}
