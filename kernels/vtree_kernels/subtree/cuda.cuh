// A block's task in `subtree`, and the search for the best feature of a node.
//
// Macros: THREADS of a block; ITEM the type of a column's items: codes or, where RAW is 1, values;
// DRAWN 1 where features are drawn; COPIED 1 where a given node's columns and statistics are copied
// to shared memory, and rows are numbered by their place there; and those of the headers.

#include "floats.cuh"
#include "mixing.cuh"
#include "search/cuda.cuh"

#define WARPS (THREADS / 32)

// 8 words, behind which S of totals stand. Numbers of nodes count from the given one, 0.
struct Node {
    int first_child, start, stop, depth, feature, bin, next, missing, missing_left;
    double gain, threshold;
    unsigned long long key;
};
#define NODE_WORDS 8

// One feature of the table: where it begins, bytes from row to row, bytes of an item.
struct Source {
    const unsigned char *base;
    long long pitch, bytes;
    __device__ __forceinline__ ITEM operator[](int row) const {
        const unsigned char *item = base + row * pitch;
#if RAW
        if (bytes == 4) return widened(*reinterpret_cast<const float *>(item));
        return (ITEM)*reinterpret_cast<const double *>(item);
#else
        if (bytes == 1) return *item;
        if (bytes == 2) return *reinterpret_cast<const unsigned short *>(item);
        return (ITEM)*reinterpret_cast<const int *>(item);
#endif
    }
};

#if COPIED
typedef const ITEM *Column;
#else
typedef Source Column;
#endif

// What a node is held to.
struct Rule {
    int max_depth, min_rows_split;
    double min_gain;
    const double *costs;  // 0: none
    int max_features;
    unsigned long long order_state, cut_state;
};

// A given node and the block that works at it.
struct Task {
    int n_features, n_statistics;
    const int *n_codes;
    const long long *where;  // 3 words a feature, as in Source
    const ITEM *items;       // of columns that were copied, `most` apart
    int most;
    int start;               // of its rows among all
    int *number;             // of its rows, among all
    int *rows, *spare;       // in the order of its nodes, and room for as many
    Statistics of;
    Layout layout;
    Terms terms;
    long long *nodes;
    CELL *cells;             // of this warp
    long long *columns;      // of this warp, for `scan_cells`
    long long *slots;        // what each warp found, and the best of it
    double *cuts;            // of each warp
    int *features;           // of each warp
    int *order;              // all features, in the order of their numbers between nodes
    int *sides;              // of each warp

    __device__ __forceinline__ Node *node(int at) const {
        return reinterpret_cast<Node *>(nodes + (long long)at * (NODE_WORDS + n_statistics));
    }
    __device__ __forceinline__ long long *total(int at) const {
        return nodes + (long long)at * (NODE_WORDS + n_statistics) + NODE_WORDS;
    }
    __device__ __forceinline__ long long *slot(int warp) const {
        return slots + warp * (4 + n_statistics);
    }
    __device__ __forceinline__ Source source(int feature) const {
        const long long *own = where + 3 * feature;
        return {reinterpret_cast<const unsigned char *>(own[0]), own[1], own[2]};
    }
    __device__ __forceinline__ Column column(int feature) const {
#if COPIED
        return items + (long long)feature * most;
#else
        return source(feature);
#endif
    }
};

// A cut between raw values as codes: 0 where one is missing, 1 up to it, 2 above it.
__device__ __forceinline__ int side_of(double value, double threshold) {
    return value != value ? 0 : value <= threshold ? 1 : 2;
}

// Returns a threshold between a node's extremes in one feature, ∞ where it is constant.
__device__ __forceinline__ double drawn_cut(
    const Task &task, int begin, int end, const Column &column, unsigned long long word) {
    double low = INFINITE, high = -INFINITE;
    for (int at = begin + (int)(threadIdx.x % 32); at < end; at += 32) {
        const double value = (double)column[task.rows[at]];
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    for (int step = 16; step; step /= 2) {
        const double below = __shfl_xor_sync(EVERY_LANE, low, step);
        const double above = __shfl_xor_sync(EVERY_LANE, high, step);
        low = below < low ? below : low;
        high = above > high ? above : high;
    }
    low += 0.0, high += 0.0;  // no −0.0: it would depend on who came first
    return low < high ? between(low, high, share(word)) : INFINITE;
}

// Searches one feature of a node, for a warp, which fills its slot.
__device__ __forceinline__ void search_feature(
    const Task &task, const Rule &rule, int at, int begin, int end, int feature) {
    const int warp = threadIdx.x / 32;
    const Column column = task.column(feature);
    double threshold = 0.0;
#if RAW
    const unsigned long long state = next_state(rule.cut_state, task.node(at)->key);
    threshold = drawn_cut(
        task, begin, end, column, next_state(state, (unsigned long long)feature));
    const int n_codes = 3;
    const auto code_of = [&](int row) { return side_of((double)column[row], threshold); };
#else
    const int n_codes = task.n_codes[feature];
    const auto code_of = [&](int row) { return (int)column[row]; };
#endif
    search_rows(task.cells, n_codes, task.rows, begin, end, task.of, code_of, task.total(at),
                RAW ? 1 : 0, 0, task.layout, task.terms, task.columns, task.slot(warp));
    if (threadIdx.x % 32) return;
    task.cuts[warp] = threshold;
    task.features[warp] = feature;
}

// Swaps the feature at place `turn` of an order with the one that is drawn for it.
__device__ __forceinline__ void swap_turn(
    int *order, int turn, int n_features, unsigned long long state) {
    const unsigned long long word = next_state(state, (unsigned long long)turn);
    const int other = turn + (int)below(word, (unsigned long long)(n_features - turn));
    const int own = order[turn];
    order[turn] = order[other], order[other] = own;
}

struct Best {
    int feature;  // −1: none
    double worth, threshold;
};

// Finds a node's best feature, for a block; what was found of it is in the last slot then.
__device__ __forceinline__ Best best_feature(
    const Task &task, const Rule &rule, int at, int begin, int end) {
    const int warp = threadIdx.x / 32;
    Best best = {-1, -INFINITE, 0.0};
    bool varied = false;
#if DRAWN
    const unsigned long long state = next_state(rule.order_state, task.node(at)->key);
#endif
    int looked = 0, together;  // features that are looked at side by side
    for (; looked < task.n_features && !(looked >= rule.max_features && varied);
         looked += together) {
        const int wanted = looked < rule.max_features ? rule.max_features : task.n_features;
        together = min(WARPS, min(wanted, task.n_features) - looked);
        int own = looked + warp;
#if DRAWN
        for (int turn = looked; turn < looked + together && threadIdx.x == 0; turn++) {
            swap_turn(task.order, turn, task.n_features, state);
            task.features[turn - looked] = task.order[turn];
        }
        __syncthreads();
        own = task.features[warp];
#endif
        if (warp < together) search_feature(task, rule, at, begin, end, own);
        __syncthreads();
        int winner = -1;
        for (int other = 0; other < together; other++) {
            if (looked + other >= rule.max_features && varied) break;
            const int feature = task.features[other];
            const double gain = __longlong_as_double(task.slot(other)[0]);
            const double worth = rule.costs ? gain / rule.costs[feature] : gain;
            const bool better = best.feature < 0 || worth > best.worth;
            varied = varied || task.slot(other)[2] >> 1;
            if (!(gain > -INFINITE && better)) continue;
            best = {feature, worth, task.cuts[other]};
            winner = other;
        }
        for (int i = threadIdx.x; winner >= 0 && i < 4 + task.n_statistics; i += THREADS)
            task.slot(WARPS)[i] = task.slot(winner)[i];
        __syncthreads();
    }
#if DRAWN
    for (int turn = looked; turn-- > 0 && threadIdx.x == 0;)
        swap_turn(task.order, turn, task.n_features, state);
#endif
    return best;
}
