// `cuts` on CUDA: a warp a (node, feature) walks along the node's codes, 32 entries a step.
//
//     of_cells   large nodes: an entry is a code of their histogram, with its cells
//     of_rows    small ones: an entry is a row; the warp sorts them by code first
//
// A cut is judged where the code behind it is met, so that nobody has to look ahead:
//
//     entry            3  3  5  .  9     .: a code without rows
//     cut behind             3     5     left of it: all entries before this one
//
// Macros: CODE the type of codes; CELL that of cells, int or long long; COUNTED 1 where cells begin
// with the number of rows; WEIGHTED 1 where rows have weights.

#include "entropy_cuts/cuda.cuh"

typedef unsigned int word;

// What all pairs of a launch share.
struct Rule {
    int classes, first, weight, n_statistics;  // first, weight: planes of what is written
    double unit, min_weight, margin;
};

// From each code to the first one that a cut may part from it, by feature: address, bytes of one.
struct Step {
    const unsigned char *base;
    long long bytes;
    __device__ __forceinline__ int operator()(int code) const {
        if (bytes == 1) return base[code - 1];
        return reinterpret_cast<const int *>(base)[code - 1];
    }
};

__device__ __forceinline__ Step step_of(const long long *where, int feature) {
    return {reinterpret_cast<const unsigned char *>(where[2 * feature]), where[2 * feature + 1]};
}

struct Cell {
    int code;
    const CELL *own;  // 0: none
    int first;        // the plane of class 0
    __device__ __forceinline__ long long amount(int k) const { return own ? own[first + k] : 0; }
    __device__ __forceinline__ long long rows() const { return own ? own[0] : 0; }
};

struct Cells {
    typedef Cell Entry;
    const CELL *of_feature;
    int n, planes, first;
    __device__ __forceinline__ Cell operator()(int i) const {
        return {i, i < n ? of_feature + (long long)i * planes : 0, first};
    }
};

struct OneRow {
    int code, label;
    long long weight;
    __device__ __forceinline__ long long amount(int k) const { return label == k ? weight : 0; }
    __device__ __forceinline__ long long rows() const { return weight >= 0; }
};

// Rows of a node in the order of one feature; a key is a code and, in its lower half, the place of
// a row among those of the node.
struct Sorted {
    typedef OneRow Entry;
    const word *keys;
    int n;
    const int *rows, *label;
    const long long *weight;
    int first;
    __device__ __forceinline__ OneRow operator()(int i) const {
        if (i >= n) return {0, -1, -1};
        const long long row = rows[keys[i] & 0xffff];
        return {(int)(keys[i] >> 16), label[row] - first, WEIGHTED ? weight[row] : 1};
    }
};

// Rows of the best cut's left side, or of all known values: written plane by plane, for lane 0.
__device__ __forceinline__ void write_sums(
    const Rule &rule, long long rows, long long weight, long long *out) {
    out[rule.weight] = weight;
    out[0] = rows;
}

// Finds the cut of one (node, feature) and writes a row of 3 + 2 S words: the gain's bits; tries;
// bin and, 32 bits higher, following; left; known. known, carry: K words each in shared memory. For
// all lanes of a warp.
template <class Entries>
__device__ __forceinline__ void judge(
    const Entries &entries, const Step &step, const Rule &rule, long long *known,
    long long *carry, long long *out) {
    const int lane = threadIdx.x % 32, classes = rule.classes, n = entries.n;
    const double unit = rule.unit;
    long long *left_out = out + 3, *known_out = left_out + rule.n_statistics;
    long long whole = 0, known_sum = 0, known_rows = 0;
    for (int k = 0; k < classes; k++) {
        long long own = 0, missing = 0;
        for (int i = lane; i < n; i += 32) {
            const typename Entries::Entry entry = entries(i);
            (entry.code ? own : missing) += entry.amount(k);
        }
        own = sum_of_warp(own);
        known_sum += own, whole += own + sum_of_warp(missing);
        if (lane == 0) known[k] = known_out[rule.first + k] = own, carry[k] = 0;
    }
    for (int i = lane; i < n && COUNTED; i += 32) {
        const typename Entries::Entry entry = entries(i);
        known_rows += entry.code ? entry.rows() : 0;
    }
    known_rows = COUNTED ? sum_of_warp(known_rows) : known_sum;
    if (lane == 0) write_sums(rule, known_rows, known_sum, known_out);
    __syncwarp();
    const double known_weight = (double)known_sum * unit, weight = (double)whole * unit;
    const double least = least_weight(known_weight, classes, rule.min_weight);
    Information all;
    for (int k = 0; k < classes; k++) all.add(k, (double)known[k] * unit);
    const double base = all.of();
    double best = 0.0;
    long long before = 0, tries = 0;
    int last = 0, bin = 0, following = 0;
    for (int first = 0; first < n; first += 32) {
        const typename Entries::Entry entry = entries(first + lane);
        long long own = 0, own_rows = 0;
        if (entry.code) {
            for (int k = 0; k < classes; k++) own += entry.amount(k);
            own_rows = COUNTED ? entry.rows() : own;
        }
        const bool some = own_rows > 0;
        const word met = __ballot_sync(EVERY_LANE, some);
        if (!met) continue;
        // The last code before: of the next lower lane that has one, or of an earlier step.
        const word below = met & ((1u << lane) - 1);
        const int from_lane = __shfl_sync(EVERY_LANE, entry.code, below ? 31 - __clz(below) : 0);
        const int behind = below ? from_lane : last;
        const long long up_to = sum_up_to(own, lane) + before;
        const double left = (double)(up_to - own) * unit;
        const bool candidate = some && behind > 0 && entry.code > behind &&
                               entry.code - behind >= step(behind) && left >= least &&
                               known_weight - left >= least;
        const word wanted = __ballot_sync(EVERY_LANE, candidate);
        tries += __popc(wanted);
        Information on_left, on_right;
        for (int k = 0; k < classes; k++) {
            const long long amount = some ? entry.amount(k) : 0;
            const long long sum = sum_up_to(amount, lane) + carry[k];
            const long long carried = __shfl_sync(EVERY_LANE, sum, 31);
            if (wanted) {
                on_left.add(k, (double)(sum - amount) * unit);
                on_right.add(k, (double)(known[k] - (sum - amount)) * unit);
            }
            __syncwarp();  // everybody has read it
            if (lane == 0) carry[k] = carried;
        }
        __syncwarp();
        if (wanted) {
            const double decrease = (base - (on_left.of() + on_right.of())) / known_weight;
            const double gain = known_weight / weight * decrease;
            word better = __ballot_sync(EVERY_LANE, candidate && gain > best + rule.margin);
            while (better) {  // one after another, for each raises what the next is held to
                const int winner = __ffs(better) - 1;
                best = __shfl_sync(EVERY_LANE, gain, winner);
                bin = __shfl_sync(EVERY_LANE, behind, winner);
                following = __shfl_sync(EVERY_LANE, entry.code, winner);
                better = __ballot_sync(
                    EVERY_LANE, candidate && lane > winner && gain > best + rule.margin);
            }
        }
        before = __shfl_sync(EVERY_LANE, up_to, 31);
        last = __shfl_sync(EVERY_LANE, entry.code, 31 - __clz(met));
        if (known_weight - (double)before * unit < least) break;  // nor will a later one be legal
    }
    long long left_sum = 0, left_rows = 0;
    for (int k = 0; k < classes; k++) {
        long long own = 0;
        for (int i = lane; i < n && bin > 0; i += 32) {
            const typename Entries::Entry entry = entries(i);
            if (entry.code && entry.code <= bin) own += entry.amount(k);
        }
        own = sum_of_warp(own);
        left_sum += own;
        if (lane == 0) left_out[rule.first + k] = own;
    }
    for (int i = lane; i < n && COUNTED; i += 32) {
        const typename Entries::Entry entry = entries(i);
        if (entry.code && entry.code <= bin) left_rows += entry.rows();
    }
    left_rows = COUNTED ? sum_of_warp(left_rows) : left_sum;
    if (lane) return;
    write_sums(rule, left_rows, left_sum, left_out);
    out[0] = __double_as_longlong(bin ? best : -__longlong_as_double(0x7ff0000000000000ll));
    out[1] = tries;
    out[2] = bin | (long long)following << 32;
}

// Of the histograms (nodes, n_features, n_codes, planes) of nodes `number`, whose features are
// n_features of n_all, from `feature` on. A warp's share of shared memory: 2 K words.
extern "C" __global__ void __launch_bounds__(128) of_cells(
    const CELL *__restrict__ hist, const long long *__restrict__ number, long long n_pairs,
    int feature, int n_features, int n_all, int n_codes, int planes, int first_plane,
    const long long *__restrict__ where, int classes, int first, int weight_plane,
    int n_statistics, double unit, double min_weight, double margin,
    long long *__restrict__ found) {
    extern __shared__ long long shared_words[];
    const int warp = threadIdx.x / 32;
    const long long pair = (long long)blockIdx.x * (blockDim.x / 32) + warp;
    if (pair >= n_pairs) return;
    const int own = feature + (int)(pair % n_features);
    const Rule rule = {classes, first, weight_plane, n_statistics, unit, min_weight, margin};
    const Cells entries = {hist + pair * n_codes * planes, n_codes, planes, first_plane};
    long long *known = shared_words + warp * 2 * classes;
    judge(entries, step_of(where, own), rule, known, known + classes,
          found + (number[pair / n_features] * n_all + own) * (3 + 2 * n_statistics));
}

// Sorts keys[0 : size], size a power of two, by a bitonic network, for a warp.
__device__ __forceinline__ void sort_keys(word *keys, int size) {
    const int lane = threadIdx.x % 32;
    for (int length = 2; length <= size; length *= 2) {
        for (int stride = length / 2; stride; stride /= 2) {
            for (int i = lane; i < size / 2; i += 32) {
                const int low = 2 * i - (i & (stride - 1)), high = low + stride;
                const word lower = keys[low], upper = keys[high];
                const bool rising = !(low & length);
                if ((lower > upper) == rising) keys[low] = upper, keys[high] = lower;
            }
            __syncwarp();
        }
    }
}

// Of the rows at nodes[0 : n] … nodes[n : 2 n] of nodes nodes[2 n : 3 n]. A warp's share of shared
// memory: 2 K words and, behind those of all warps, `most` keys, at least as many as any has rows.
extern "C" __global__ void __launch_bounds__(256) of_rows(
    const CODE *__restrict__ codes, long long pitch, long long code_step,
    const int *__restrict__ rows, const long long *__restrict__ nodes, long long n_nodes,
    const int *__restrict__ label, const long long *__restrict__ weight, int n_features, int most,
    int first_plane, const long long *__restrict__ where, int classes, int first,
    int weight_plane, int n_statistics, double unit, double min_weight, double margin,
    long long *__restrict__ found) {
    extern __shared__ long long shared_words[];
    const int warp = threadIdx.x / 32, n_warps = blockDim.x / 32, lane = threadIdx.x % 32;
    const long long pair = (long long)blockIdx.x * n_warps + warp;
    if (pair >= n_nodes * n_features) return;
    const long long node = pair / n_features;
    const int own = (int)(pair % n_features);
    const int *own_rows = rows + nodes[node];
    const int n = (int)(nodes[n_nodes + node] - nodes[node]);
    word *keys = reinterpret_cast<word *>(shared_words + n_warps * 2 * classes) + warp * most;
    int size = 1;
    while (size < n) size *= 2;
    for (int i = lane; i < size; i += 32) {
        const word code = i < n ? (word)codes[own_rows[i] * pitch + own * code_step] : 0;
        keys[i] = i < n ? code << 16 | (word)i : 0xffffffffu;
    }
    __syncwarp();
    sort_keys(keys, size);
    const Rule rule = {classes, first, weight_plane, n_statistics, unit, min_weight, margin};
    const Sorted entries = {keys, n, own_rows, label, weight, first_plane};
    long long *known = shared_words + warp * 2 * classes;
    judge(entries, step_of(where, own), rule, known, known + classes,
          found + (nodes[2 * n_nodes + node] * n_features + own) * (3 + 2 * n_statistics));
}
