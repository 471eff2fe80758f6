// `extremes`, `cut_sums` and `sides` on CUDA: a warp a task, a stretch of one node's rows.
//
// The features wanted of node l are pairs[first[l]] … pairs[first[l + 1] − 1]. WIDTH lanes side by
// side take one of them each, the other lanes of the warp further rows; block (x, y) takes features
// from y · WIDTH.
//
// Macros: VALUE the type of values, WIDTH a power of two up to 32, and those of the header.

#include "floats.cuh"
#include "histogram/cuda.cuh"

#define LANE (threadIdx.x % 32)
#define WARP (threadIdx.x / 32)
#define ROWS (32 / WIDTH)  // of a warp's step

// What a lane works at: the rows from begin to end of a node, by one of its pairs.
struct Task {
    long long node, begin, end, pair;  // pair −1: nothing
};

__device__ __forceinline__ Task task_of(
    const long long *tasks, int n_tasks, const long long *first) {
    const long long own = (long long)blockIdx.x * (blockDim.x / 32) + WARP;
    if (own >= n_tasks) return {0, 0, 0, -1};
    const long long *task = tasks + 3 * own;
    const long long pair = first[task[0]] + blockIdx.y * WIDTH + LANE % WIDTH;
    return {task[0], task[1], task[2], pair < first[task[0] + 1] ? pair : -1};
}

// Whole numbers in the order of doubles, those of −∞ and more all above 0.
__device__ __forceinline__ wide key_of_double(double x) {
    const wide bits = (wide)__double_as_longlong(x);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

// found: (P, 2), of each pair the largest key of −x and the largest key of x; 0 where there is none.
extern "C" __global__ void __launch_bounds__(256) extremes(
    const VALUE *__restrict__ values, long long row_step, long long column_step,
    const int *__restrict__ rows, const long long *__restrict__ tasks, int n_tasks,
    const long long *__restrict__ first, const long long *__restrict__ pairs,
    unsigned long long *__restrict__ found) {
    const Task own = task_of(tasks, n_tasks, first);
    if (own.pair < 0) return;
    const VALUE *column = values + pairs[own.pair] * column_step;
    wide low = 0, high = 0;
#pragma unroll 4
    for (long long at = own.begin + LANE / WIDTH; at < own.end; at += ROWS) {
        const double x = widened(column[rows[at] * row_step]);
        if (x != x) continue;
        low = max(low, key_of_double(-x));
        high = max(high, key_of_double(x));
    }
    if (low) atomicMax(found + 2 * own.pair, low);
    if (high) atomicMax(found + 2 * own.pair + 1, high);
}

// Adds the rows of a task to hist (L, F, 3, S). Each thread adds to cells of its own first, in
// shared memory, if `apart`: 3 × S words a thread, blockDim apart.
extern "C" __global__ void __launch_bounds__(256) cut_sums(
    const VALUE *__restrict__ values, long long row_step, long long column_step,
    const int *__restrict__ rows, const long long *__restrict__ tasks, int n_tasks,
    const long long *__restrict__ first, const long long *__restrict__ pairs,
    const double *__restrict__ threshold,
    const int *__restrict__ label, const long long *__restrict__ weight,
    const long long *__restrict__ sums, int n_features, int n_statistics, int apart,
    CELL *__restrict__ hist) {
    extern __shared__ wide cells[];
    const Task own = task_of(tasks, n_tasks, first);
    if (own.pair < 0) return;
    const VALUE *column = values + pairs[own.pair] * column_step;
    const double cut = threshold[own.pair];
    CELL *there = hist + (own.node * n_features + pairs[own.pair]) * 3 * n_statistics;
    wide *here = cells + threadIdx.x;
    const int step = blockDim.x, n_cells = apart ? 3 * n_statistics : 0;
    for (int i = 0; i < n_cells; i++) here[i * step] = 0;
    for (long long at = own.begin + LANE / WIDTH; at < own.end; at += ROWS) {
        const long long row = rows[at];
        const double x = widened(column[row * row_step]);
        const int side = x <= cut ? 1 : x > cut ? 2 : 0;
        const Row added = row_of(label, weight, sums, row);
        if (!apart) {
            add_row(there + side * n_statistics, n_statistics, added);
            continue;
        }
        wide *cell = here + side * n_statistics * step;
        if (COUNTED) cell[0] += 1;
        if (WEIGHTED) cell[step] += added.weight;
        for (int o = 0; o < LABELS; o++) cell[added.label[o] * step] += added.weight;
        for (int j = 0; j < SUMS; j++) cell[(n_statistics - SUMS + j) * step] += added.sums[j];
    }
    for (int i = 0; i < n_cells; i++)
        if (here[i * step]) add_cell(there + i, here[i * step]);
}

// rules: of each node its feature, the bits of its threshold, and the child of missing values.
extern "C" __global__ void __launch_bounds__(256) sides(
    const VALUE *__restrict__ values, long long row_step, long long column_step,
    const int *__restrict__ rows, const long long *__restrict__ tasks, int n_tasks,
    const long long *__restrict__ rules, unsigned char *__restrict__ child) {
    const long long own = (long long)blockIdx.x * (blockDim.x / 32) + WARP;
    if (own >= n_tasks) return;
    const long long *rule = rules + 3 * tasks[3 * own];
    const VALUE *column = values + rule[0] * column_step;
    const double cut = __longlong_as_double(rule[1]);
    for (long long at = tasks[3 * own + 1] + LANE; at < tasks[3 * own + 2]; at += 32) {
        const double x = widened(column[rows[at] * row_step]);
        child[at] = x != x ? (unsigned char)rule[2] : x > cut;
    }
}
