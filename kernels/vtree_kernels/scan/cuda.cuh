// What `scan` and the kernels that search the rows of a node by themselves share: the best split
// of one (node, feature) from its cells, by a warp, a lane a code.
//
// In front of it stands double gain(left, right, layout), generated from the criterion.
// Macros: CELL the type of cells, int or long long; SMALL 1 where the layout is known here, as
// WEIGHT, FIRST, OUTPUTS, CLASSES, ORDERED and IMPLIED: statistics then stay in registers, and
// loops over them unroll. Otherwise they lie in shared memory, a column a code.

struct Layout {
#if SMALL
    enum : int { weight = WEIGHT, first = FIRST, outputs = OUTPUTS, classes = CLASSES };
    enum : int { ordered = ORDERED, implied = IMPLIED };
#else
    int weight, first, outputs, classes, ordered, implied;
#endif
    double center, scale;
    const double *unit;
    double shrink, clip, lower, upper;
    int confined;
};

#define EVERY_LANE 0xffffffffu

// packed: weight, first, outputs, classes, ordered, implied, confined, center, scale, shrink, clip,
// and the unit of each output.
__device__ __forceinline__ Layout layout_of(const double *packed, double lower, double upper) {
    return {
#if !SMALL
        (int)packed[0], (int)packed[1], (int)packed[2], (int)packed[3], (int)packed[4],
        (int)packed[5],
#endif
        packed[7], packed[8], packed + 11, packed[9], packed[10], lower, upper, (int)packed[6]};
}

__device__ __forceinline__ int statistics_of(const Layout &layout) {
    return layout.first + layout.outputs * layout.classes;
}

#if SMALL
#define N_STATISTICS (FIRST + OUTPUTS * CLASSES)
struct Side {
    double of[N_STATISTICS];
    __device__ __forceinline__ double operator[](int plane) const { return of[plane]; }
};
#else
#define N_STATISTICS n_statistics
// Left of a candidate: codes up to it, perhaps missing values; right of it: the whole less these.
struct Side {
    const long long *here, *missing, *whole;  // here: one in `step`; missing, whole: 0 if not added
    int step;
    __device__ __forceinline__ double operator[](int plane) const {
        long long value = here[plane * step] + (missing ? missing[plane] : 0);
        return (double)(whole ? whole[plane] - value : value);
    }
};
#endif

// Cells of one (node, feature) that lie side by side; others have the same form.
struct Cells {
    const CELL *first;
    int planes;
    __device__ __forceinline__ long long operator()(int code, int plane) const {
        return first[(long long)code * planes + plane];
    }
};

template <class Any>
__device__ __forceinline__ long long rows_of(const Any &cells, int code, const Layout &layout) {
    if (!layout.implied) return cells(code, 0);
    long long rows = 0;
    for (int c = 0; c < layout.classes; c++) rows += cells(code, c);
    return rows;
}

template <class Any>
__device__ __forceinline__ double answer(const Any &side, const Layout &layout) {
    const double own = side[layout.ordered], clip = layout.clip;
    const double kept = own > clip ? own - clip : own < -clip ? own + clip : 0.0;
    double found = layout.center + kept / (side[layout.weight] + layout.shrink) * layout.scale;
    if (!layout.confined) return found;
    found = found > layout.upper ? layout.upper : found;
    return found < layout.lower ? layout.lower : found;
}

template <class Any>
__device__ __forceinline__ bool in_order(
    const Any &left, const Any &right, const Layout &layout, int direction) {
    if (direction == 0) return true;
    const double mean_left = answer(left, layout), mean_right = answer(right, layout);
    const bool rises = mean_left <= mean_right;
    const double least = rises ? mean_left : mean_right, most = rises ? mean_right : mean_left;
    return (mean_right - mean_left) * direction >= 0.0 && least >= layout.lower &&
           most <= layout.upper;
}

__device__ __forceinline__ long long sum_up_to(long long value, int lane) {
    for (int step = 1; step < 32; step *= 2) {
        const long long before = __shfl_up_sync(EVERY_LANE, value, step);
        if (lane >= step) value += before;
    }
    return value;
}

struct Choice {
    double gain;
    int code;  // 0: none
};

__device__ __forceinline__ Choice best_of_warp(Choice own) {
    for (int step = 16; step; step /= 2) {
        const double gain = __shfl_xor_sync(EVERY_LANE, own.gain, step);
        const int code = __shfl_xor_sync(EVERY_LANE, own.code, step);
        if (gain > own.gain || (gain == own.gain && code < own.code)) own.gain = gain, own.code = code;
    }
    return own;
}

// What a candidate is held to, the same for all features of a node.
struct Terms {
    long long min_rows;
    double min_weight;
    int width;  // columns of `tile`
};

// Finds the best split by the cells of one (node, feature), whose statistics are `total`, and
// writes a row of 4 + S words: the gain's bits; bin and, 32 bits higher, next;
// missing_left + 2 varies; missing; left. For all lanes of a warp.
//
// only: the code of the only candidate, 0 for any; direction: of a monotone constraint, 0 for none;
// columns: unless SMALL, room for width + 3 columns of S words in shared memory, a warp's own.
template <class Any>
__device__ __forceinline__ void scan_cells(
    const Any &cells, const long long *total, int n_codes, int only, int direction,
    const Layout &layout, const Terms &terms, long long *columns, long long *out) {
    const int lane = threadIdx.x % 32, width = terms.width;
#if SMALL
    long long here[N_STATISTICS], carry[N_STATISTICS], missing[N_STATISTICS], whole[N_STATISTICS];
    long long chosen[2][N_STATISTICS];
#define HERE(s) here[s]
#define OWN(s) true
#else
    const int n_statistics = statistics_of(layout);
    long long *carry = columns, *missing = carry + n_statistics, *whole = missing + n_statistics;
    long long *tile = whole + n_statistics;
#define HERE(s) tile[(s) * width + lane]
#define OWN(s) ((s) % 32 == lane)
#endif
    const int implied = layout.implied;
    for (int s = 0; s < N_STATISTICS; s++) {
        if (!OWN(s)) continue;
        carry[s] = 0;
        missing[s] = s < implied ? rows_of(cells, 0, layout) : cells(0, s - implied);
        whole[s] = total[s];
#if SMALL
        chosen[0][s] = chosen[1][s] = 0;
#endif
    }
    __syncwarp();
    Choice best[2] = {{-INFINITE, 0}, {-INFINITE, 0}};
    int filled = missing[0] > 0;
    const int ways = missing[0] > 0 ? 2 : 1;
    for (int before = 0; before < n_codes - 1; before += width) {
        const int code = before + 1 + lane;
        const bool inside = lane < width && code < n_codes;
        const bool some = inside && rows_of(cells, code, layout) > 0;
        filled += __popc(__ballot_sync(EVERY_LANE, some));
        for (int s = implied; s < N_STATISTICS; s++) {
            const long long value = sum_up_to(inside ? cells(code, s - implied) : 0, lane) + carry[s];
            const long long last = __shfl_sync(EVERY_LANE, value, 31);
            if (OWN(s)) carry[s] = last;
            if (lane < width) HERE(s) = value;
        }
        if (implied && lane < width) {
            HERE(0) = 0;
            for (int c = 0; c < layout.classes; c++) HERE(0) += HERE(1 + c);
        }
        __syncwarp();
        // A code without rows is the same split as the one before.
        const bool worth = inside && HERE(0) > 0 && (only == 0 ? some : only == code);
#pragma unroll  // so that `way` is a constant, and no register is asked for by number
        for (int way = 0; way < 2; way++) {
            if (!worth || way >= ways) continue;
            const long long n_left = HERE(0) + (way ? missing[0] : 0);
            if (n_left < terms.min_rows || whole[0] - n_left < terms.min_rows) continue;
#if SMALL
            Side left, right;
            for (int s = 0; s < N_STATISTICS; s++) {
                const long long value = here[s] + (way ? missing[s] : 0);
                left.of[s] = (double)value;
                right.of[s] = (double)(whole[s] - value);
            }
#else
            const long long *added = way ? missing : 0;
            const Side left = {&HERE(0), added, 0, width}, right = {&HERE(0), added, whole, width};
#endif
            const double least = terms.min_weight;
            if (left[layout.weight] < least || right[layout.weight] < least) continue;
            if (!in_order(left, right, layout, direction)) continue;
            const double score = gain(left, right, layout);
            if (score > best[way].gain) {
                best[way].gain = score, best[way].code = code;
#if SMALL
                for (int s = 0; s < N_STATISTICS; s++)
                    chosen[way][s] = here[s] + (way ? missing[s] : 0);
#endif
            }
        }
        __syncwarp();
    }
    const Choice right_way = best_of_warp(best[0]), left_way = best_of_warp(best[1]);
    const int way = left_way.gain > right_way.gain ? 1 : 0;
    const int bin = way ? left_way.code : right_way.code;
    int next = 0;
    for (int before = bin; before < n_codes - 1 && !next; before += 32) {
        const int code = before + 1 + lane;
        const bool some = code < n_codes && rows_of(cells, code, layout) > 0;
        const unsigned int later = __ballot_sync(EVERY_LANE, some);
        if (later) next = before + __ffs(later);
    }
    if (lane == 0) {
        out[0] = __double_as_longlong(way ? left_way.gain : right_way.gain);
        out[1] = bin | (long long)next << 32;
        out[2] = way + 2 * (filled >= 2);
        out[3] = missing[0];
    }
#if SMALL
    const bool winner = lane == (bin ? (bin - 1) % 32 : 0);
    for (int s = 0; s < N_STATISTICS; s++)
        if (winner) out[4 + s] = way ? chosen[1][s] : chosen[0][s];
#else
    for (int s = lane; s < N_STATISTICS; s += 32) {
        long long value = 0;
        for (int code = 1 - way; code <= bin; code++)
            value += s < implied ? rows_of(cells, code, layout) : cells(code, s - implied);
        out[4 + s] = value;
    }
#endif
}
