// What kernels share that add rows to cells: what a row adds, and adding it.
//
// Macros: COUNTED, WEIGHTED 0 or 1; LABELS labels and SUMS sums of a row; CELL the type of cells,
// int or long long; CELLS_SHARED 1 where `add_row` is given cells in shared memory.

typedef unsigned int word;
typedef unsigned long long wide;

struct Row {
    int label[LABELS + 1];
    wide weight;
    wide sums[SUMS + 1];
};

__device__ __forceinline__ Row row_of(
    const int *label, const long long *weight, const long long *sums, long long row) {
    Row values;
    for (int o = 0; o < LABELS; o++) values.label[o] = label[row * LABELS + o];
    values.weight = WEIGHTED ? weight[row] : 1;
    for (int j = 0; j < SUMS; j++) values.sums[j] = sums[row * SUMS + j];
    return values;
}

// Adds to 64 bits of shared memory, whose higher word lies `step` words behind the lower one.
__device__ __forceinline__ void add_wide(word *low, int step, wide value) {
    // Two native adds with carry; shared memory has no native add of 64 bits.
    const word part = (word)value;
    const word before = atomicAdd(low, part);
    const word high = (word)(value >> 32) + (before + part < part ? 1u : 0u);
    if (high) atomicAdd(low + step, high);
}

__device__ __forceinline__ void add_cell(int *cell, wide value) { atomicAdd(cell, (int)value); }

__device__ __forceinline__ void add_cell(long long *cell, wide value) {
#if CELLS_SHARED
    add_wide(reinterpret_cast<word *>(cell), 1, value);
#else
    atomicAdd(reinterpret_cast<wide *>(cell), value);
#endif
}

__device__ __forceinline__ void add_row(CELL *cell, int n_planes, const Row &row) {
    if (COUNTED) add_cell(cell, 1);
    if (WEIGHTED) add_cell(cell + 1, row.weight);
    for (int o = 0; o < LABELS; o++) add_cell(cell + row.label[o], row.weight);
    for (int j = 0; j < SUMS; j++) add_cell(cell + n_planes - SUMS + j, row.sums[j]);
}
