// `bincode` on CUDA: a branchless search among edges, the upper levels of it in shared memory.
//
// With edges filled up by +∞ to 2^k − 1 of them, a search takes k steps and no look at the length:
//
//     below = 0;  for step = 2^(k−1) … 2, 1:  below += step if edge[below + step − 1] < x
//
// The first t steps look at every 2^(k−t)-th edge alone. Those lie in shared memory, all features
// of a place side by side: lane 5 reads bank 5, whatever the values. The others, if k > t, are read
// where they are.
//
// Macros: VALUE the type of values, CODE that of codes; EDGE what the upper levels compare: int for
// float values, whose keys these are, else double.

#include "floats.cuh"

#define LANES 32
#define BATCH 8  // rows that a lane searches for side by side

// Of a float and an edge: values lie above the largest float not above an edge, or above neither.
__device__ __forceinline__ int compared(float x) { return key_of(x); }
__device__ __forceinline__ double compared(double x) { return x; }
__device__ __forceinline__ double compared(long long x) { return (double)x; }
__device__ __forceinline__ void put_edge(int &place, double edge) { place = key_of(at_most(edge)); }
__device__ __forceinline__ void put_edge(double &place, double edge) { place = edge; }

// Encodes columns from blockIdx.y · width, each by the lanes that leave that remainder of `width`,
// a power of two; lanes beyond the first `width` take further rows.
// Shared: (2^n_shared − 1) × 32 edges.
extern "C" __global__ void __launch_bounds__(512, 2) encode(
    const VALUE *__restrict__ values, long long n_rows, long long row_step, long long column_step,
    const long long *__restrict__ columns, const long long *__restrict__ offsets,
    const double *__restrict__ edges, int n_columns, int width, int n_shared, int n_deep,
    CODE *__restrict__ codes, long long pitch) {
    extern __shared__ EDGE upper[];
    const double infinity = __longlong_as_double(0x7ff0000000000000ll);
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const int column = blockIdx.y * width + lane % width;
    const bool busy = column < n_columns;
    const long long own_first = busy ? offsets[column] : 0;
    const long long n_own = busy ? offsets[column + 1] - own_first : 0;
    const double *own = edges + own_first;
    for (int place = warp; place < (1 << n_shared) - 1; place += blockDim.x / LANES) {
        const long long edge = ((place + 1ll) << n_deep) - 1;
        put_edge(upper[place * LANES + lane], edge < n_own ? own[edge] : infinity);
    }
    __syncthreads();
    if (!busy) return;
    const int rows_of_warp = LANES / width;
    const long long step = (long long)gridDim.x * (blockDim.x / LANES) * rows_of_warp * BATCH;
    const long long warps_before = (long long)blockIdx.x * (blockDim.x / LANES) + warp;
    const VALUE *column_of_values = values + columns[column] * column_step;
    for (long long first = warps_before * rows_of_warp * BATCH + lane / width; first < n_rows;
         first += step) {
        VALUE x[BATCH];
        int below[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            const long long row = first + i * rows_of_warp;
            x[i] = row < n_rows ? column_of_values[row * row_step] : (VALUE)0;
            below[i] = 0;
        }
        for (int half = 1 << n_shared >> 1; half; half >>= 1) {
#pragma unroll
            for (int i = 0; i < BATCH; i++)
                if (upper[(below[i] + half - 1) * LANES + lane] < compared(x[i])) below[i] += half;
        }
#pragma unroll
        for (int i = 0; i < BATCH; i++) below[i] <<= n_deep;
        for (int half = 1 << n_deep >> 1; half; half >>= 1) {
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                const int edge = below[i] + half - 1;
                if (edge < n_own && own[edge] < widened(x[i])) below[i] += half;
            }
        }
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            const long long row = first + i * rows_of_warp;
            const double own_x = widened(x[i]);
            if (row < n_rows)
                codes[row * pitch + column] = own_x == own_x ? (CODE)(below[i] + 1) : 0;
        }
    }
}
