// `histogram` on CUDA: the statistics of each (node, feature, code).
//
// Macros: CODE the type of codes; WORDS 1 where rows of codes are aligned to words; WIDTH features
// side by side, 32, 16 or 8; COUNTED, WEIGHTED 0 or 1; LABELS labels and SUMS sums of a row;
// CELL the type of hist, int or long long; NARROW 1 where weights and sums are few bits, times a power
// of two, so that those of a task fit into 32: one add instead of two, and a tile of fewer words.
//
// Lanes of a warp, for codes of one byte and WIDTH 32; a lane reads one word, four codes:
//
//     lane       0  1 … 7 | 8  9 … 15 | 16 … 23 | 24 … 31
//     row        0        | 1         | 2       | 3
//     word       0  1 … 7 | 0  1 … 7  | 0 … 7   | 0 … 7
//     code in step s:  s  | s + 1     | s + 2   | s + 3   (mod 4)
//
// so that in every step the 32 lanes hold 32 different features. With a tile of one column a
// feature, that is one bank a lane: no conflicts, whatever the codes. Narrower tables repeat their
// columns, COPIES times, for rows that are counted apart and added at the end.

#define PER_WORD (4 / (int)sizeof(CODE))
#define LANES (WIDTH / PER_WORD)  // of a row
#define COPIES (32 / WIDTH)
#define ROWS (32 / LANES)         // of a warp's step

#include "histogram/cuda.cuh"

// Calls add(row, column, feature, code) for the rows of positions begin … end, a warp's share.
template <class Add>
__device__ __forceinline__ void walk(
    const CODE *__restrict__ codes, long long pitch, const int *__restrict__ rows,
    const int *__restrict__ label, const long long *__restrict__ weight,
    const long long *__restrict__ sums, long long begin, long long end, int warp, int n_warps,
    int first_feature, int n_features, Add add) {
    const int place = threadIdx.x % 32 / LANES, first = threadIdx.x % LANES * PER_WORD;
    const int column = place / PER_WORD * WIDTH + first, feature = first_feature + first;
#pragma unroll 4
    for (long long at = begin + warp * ROWS + place; at < end; at += n_warps * ROWS) {
        const long long row = rows[at];
        const CODE *own = codes + row * pitch + feature;
#if WORDS
        const word four = feature < n_features ? *reinterpret_cast<const word *>(own) : 0;
#endif
        const Row values = row_of(label, weight, sums, row);
#pragma unroll
        for (int step = 0; step < PER_WORD; step++) {
            const int part = (step + place) % PER_WORD;
            if (feature + part >= n_features) continue;
#if WORDS
            const CODE code = (CODE)(four >> part * 8 * (int)sizeof(CODE));
#else
            const CODE code = own[part];
#endif
            add(values, column + part, feature + part, (int)code);
        }
    }
}

// Planes of 32 bits come first: the count and, unless rows are weighted, the classes.
__device__ __forceinline__ int words_before(int plane, int units) {
    return plane <= units ? plane : 2 * plane - units;
}

// Adds a weight or a sum to a tile, `shift` bits of which are none.
__device__ __forceinline__ void add_number(word *cell, wide value, int shift) {
#if NARROW
    atomicAdd(cell, (word)((long long)value >> shift));
#else
    add_wide(cell, 32, value);
#endif
}

// Builds part of one node's histogram in shared memory and adds it to the whole.
//
// Block (x, y, z): rows of task x (node, begin, end), WIDTH features from y · WIDTH, and `planes`
// statistics from z · planes. Shared: codes × words of these planes × 32 words.
extern "C" __global__ void __launch_bounds__(1024) tiles(
    const CODE *__restrict__ codes, long long pitch, const int *__restrict__ rows,
    const long long *__restrict__ tasks, const int *__restrict__ label,
    const long long *__restrict__ weight, const long long *__restrict__ sums, int n_features,
    int n_codes, int n_statistics, int planes, int weight_shift, int sum_shift,
    CELL *__restrict__ hist) {
    extern __shared__ unsigned int tile[];
    const long long *task = tasks + 3 * (long long)blockIdx.x;
    const int first_feature = blockIdx.y * WIDTH;
    const int first = blockIdx.z * planes, last = min(first + planes, n_statistics);
    const int units = NARROW ? n_statistics : WEIGHTED ? 1 : n_statistics - SUMS;
    const int skipped = words_before(first, units);
    const int depth = words_before(last, units) - skipped;  // words of a code
    for (int i = threadIdx.x; i < n_codes * depth * 32; i += blockDim.x) tile[i] = 0;
    __syncthreads();
    walk(codes, pitch, rows, label, weight, sums, task[1], task[2], threadIdx.x / 32,
         blockDim.x / 32, first_feature, n_features,
         [&](const Row &row, int column, int feature, int code) {
             word *cell = tile + code * depth * 32 + column;
             if (COUNTED && first == 0) atomicAdd(cell, 1u);
#if WEIGHTED
             if (first <= 1 && 1 < last)
                 add_number(cell + (words_before(1, units) - skipped) * 32, row.weight,
                            weight_shift);
#endif
             for (int o = 0; o < LABELS; o++) {
                 if (row.label[o] < first || row.label[o] >= last) continue;
                 word *own = cell + (words_before(row.label[o], units) - skipped) * 32;
#if WEIGHTED
                 add_number(own, row.weight, weight_shift);
#else
                 atomicAdd(own, 1u);
#endif
             }
             for (int j = 0; j < SUMS; j++) {
                 const int plane = n_statistics - SUMS + j;
                 if (plane >= first && plane < last)
                     add_number(cell + (words_before(plane, units) - skipped) * 32,
                                row.sums[j], sum_shift);
             }
         });
    __syncthreads();
    const int n_planes = last - first;
    for (int i = threadIdx.x; i < n_codes * n_planes * WIDTH; i += blockDim.x) {
        const int own = i % WIDTH, plane = first + i / WIDTH % n_planes, code = i / WIDTH / n_planes;
        if (first_feature + own >= n_features) continue;
        const word *cell = tile + (code * depth + words_before(plane, units) - skipped) * 32 + own;
        wide value = 0;
        for (int copy = 0; copy < COPIES; copy++) {
            value += NARROW ? (wide)(long long)(int)cell[copy * WIDTH] : cell[copy * WIDTH];
            if (plane >= units) value += (wide)cell[copy * WIDTH + 32] << 32;
        }
        if (NARROW && plane >= COUNTED)
            value <<= plane < n_statistics - SUMS ? weight_shift : sum_shift;
        const long long at = (task[0] * n_features + first_feature + own) * n_codes + code;
        if (value) add_cell(hist + at * n_statistics + plane, value);
    }
}

// Adds rows to the histograms in global memory: for nodes with fewer rows than a tile has cells,
// and for tiles that no shared memory holds. A warp takes a task; block (x, y) as above.
extern "C" __global__ void __launch_bounds__(256) direct(
    const CODE *__restrict__ codes, long long pitch, const int *__restrict__ rows,
    const long long *__restrict__ tasks, int n_tasks, const int *__restrict__ label,
    const long long *__restrict__ weight, const long long *__restrict__ sums, int n_features,
    int n_codes, int n_statistics, CELL *__restrict__ hist) {
    const long long own = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (own >= n_tasks) return;
    const long long *task = tasks + 3 * own;
    const long long node = task[0];
    walk(codes, pitch, rows, label, weight, sums, task[1], task[2], 0, 1, blockIdx.y * WIDTH,
         n_features, [&](const Row &row, int column, int feature, int code) {
             const long long place = (node * n_features + feature) * n_codes + code;
             add_row(hist + place * n_statistics, n_statistics, row);
         });
}
