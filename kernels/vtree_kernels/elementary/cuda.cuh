// The scalar forms of `elementary`, to be included by kernels: elementary_log, elementary_log2.
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
