// `isotonic` on CUDA: what each pair of nodes sends left, then a thread a candidate, which walks
// along all chains.
//
//     sum_up   a thread a (pair, feature): sums up to each code
//     pool     a thread a (feature, way, code): blocks on a stack of its own, in the order of the
//              definition

#define PLANES 5  // R and H of those that learn; rows, R and H of those that judge

__device__ __forceinline__ const long long *node_of(
    const long long *from, long long node, int n_statistics) {
    return from + node * n_statistics;
}

__device__ __forceinline__ long long plane_of(
    const long long *learn, const long long *judge, int plane, int weight, int first) {
    switch (plane) {
        case 0: return learn[first];
        case 1: return learn[weight];
        case 2: return judge[0];
        case 3: return judge[first];
        default: return judge[weight];
    }
}

// lefts (Q, PLANES, G, B): without missing values, and theirs at code 0; of the features from
// `feature` on, G of them.
extern "C" __global__ void __launch_bounds__(256) sum_up(
    const long long *__restrict__ hist, const long long *__restrict__ pairs, long long n_pairs,
    int feature, int n_features, int n_all, int n_codes, int n_statistics, int weight, int first,
    int one_hot, long long *__restrict__ lefts) {
    const long long own = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (own >= n_pairs * n_features) return;
    const long long pair = own / n_features, g = own % n_features;
    long long sums[PLANES] = {0, 0, 0, 0, 0};
    for (int code = 0; code < n_codes; code++) {
        const long long place = (feature + g) * n_codes + code, row = (long long)n_all * n_codes;
        const long long *learn = node_of(hist, pairs[pair] * row + place, n_statistics);
        const long long *judge = node_of(hist, pairs[n_pairs + pair] * row + place, n_statistics);
        for (int plane = 0; plane < PLANES; plane++) {
            const long long here = plane_of(learn, judge, plane, weight, first);
            if (code == 0 || one_hot) sums[plane] = here;
            else if (code == 1) sums[plane] = here;
            else sums[plane] += here;
            lefts[((pair * PLANES + plane) * n_features + g) * n_codes + code] = sums[plane];
        }
    }
}

struct Block {
    long long sums, weight, n_sides, tried, mass;
};

__device__ __forceinline__ double value_of(const Block &block, double shrink) {
    if (block.weight <= 0) return 0.0;
    return (double)block.sums / ((double)block.weight + (double)block.n_sides * shrink);
}

// pairs (3, Q): nodes that learn, those that judge, chains. direction (all features). stack (2 Q,
// threads) of blocks, thread by thread. out (2, all features, 2, B): worth and size.
extern "C" __global__ void __launch_bounds__(256) pool(
    const long long *__restrict__ hist, long long n_nodes, const long long *__restrict__ total,
    const long long *__restrict__ pairs, long long n_pairs,
    const signed char *__restrict__ direction, const long long *__restrict__ lefts, int feature,
    int n_features, int n_all, int n_codes, int n_statistics, int weight, int first,
    double shrink, int one_hot, long long *__restrict__ stack, double *__restrict__ level,
    double *__restrict__ out) {
    const long long n_threads = (long long)n_features * 2 * n_codes;
    const long long own = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (own >= n_threads) return;
    const int code = (int)(own % n_codes), way = (int)(own / n_codes % 2);
    const long long g = own / (2 * n_codes);
    const int ahead = direction[feature + g];
    const auto left_of = [&](long long pair, int plane, int of) {
        return lefts[((pair * PLANES + plane) * n_features + g) * n_codes + of];
    };
    const auto whole_of = [&](long long pair, int plane) {
        return plane_of(
            node_of(total, pairs[pair], n_statistics),
            node_of(total, pairs[n_pairs + pair], n_statistics), plane, weight, first);
    };
    const auto sent_left = [&](long long pair, int plane) {
        return left_of(pair, plane, code) + (way ? left_of(pair, plane, 0) : 0);
    };
    bool possible = one_hot ? way == 0 : code > 0;
    if (possible && way) {
        bool missing = false;
        for (long long node = 0; node < n_nodes && !missing; node++)
            missing = node_of(hist, (node * n_all + feature + g) * n_codes, n_statistics)[0] > 0;
        possible = missing;
    }
    bool divided = false;
    for (long long pair = 0; possible && pair < n_pairs && !divided; pair++) {
        const long long rows = sent_left(pair, 2);
        divided = rows > 0 && rows < whole_of(pair, 2);
    }
    double worth = 0.0, size = 0.0;
    long long *cells = stack + own;  // of field f of block t: cells[(t * PLANES + f) * n_threads]
    double *levels = level + own;
    for (long long begin = 0; divided && begin < n_pairs;) {
        long long end = begin + 1;
        while (end < n_pairs && pairs[2 * n_pairs + end] == pairs[2 * n_pairs + begin]) end++;
        for (int turn = 0; turn < (ahead ? 1 : 2); turn++) {
            long long top = 0;
            for (long long pair = begin; pair < end; pair++) {
                for (int place = 0; place < (ahead ? 2 : 1); place++) {
                    const bool right = ahead ? (place == 1) != (ahead < 0) : turn == 1;
                    const auto part = [&](int plane) {
                        const long long left = sent_left(pair, plane);
                        return right ? whole_of(pair, plane) - left : left;
                    };
                    Block block = {part(0), part(1), 1, part(3), part(4)};
                    double value = value_of(block, shrink);
                    while (top > 0 && levels[(top - 1) * n_threads] >= value) {
                        top--;
                        const long long *before = cells + top * PLANES * n_threads;
                        block.sums += before[0];
                        block.weight += before[n_threads];
                        block.n_sides += before[2 * n_threads];
                        block.tried += before[3 * n_threads];
                        block.mass += before[4 * n_threads];
                        value = value_of(block, shrink);
                    }
                    long long *to = cells + top * PLANES * n_threads;
                    to[0] = block.sums;
                    to[n_threads] = block.weight;
                    to[2 * n_threads] = block.n_sides;
                    to[3 * n_threads] = block.tried;
                    to[4 * n_threads] = block.mass;
                    levels[top * n_threads] = value;
                    top++;
                }
            }
            for (long long t = 0; t < top; t++) {
                const double v = levels[t * n_threads];
                worth += v * (double)cells[(t * PLANES + 3) * n_threads];
                size += v * v * (double)cells[(t * PLANES + 4) * n_threads];
            }
        }
        begin = end;
    }
    const long long to = ((feature + g) * 2 + way) * n_codes + code;
    out[to] = divided ? worth : -__longlong_as_double(0x7ff0000000000000ll);
    out[2ll * n_all * n_codes + to] = size;
}
