// `joint` on CUDA: what each candidate is worth in each pair of nodes, then the sums over pairs.
//
//     judge    a warp a (pair, feature), a lane a code: sums up to the code, both sides' worth
//     add_up   a thread a (feature, code), which adds pair after pair, for no other order rounds
//              as the definition does

#define EVERY_LANE 0xffffffffu

__device__ __forceinline__ long long sum_up_to(long long value, int lane) {
    for (int step = 1; step < 32; step *= 2) {
        const long long before = __shfl_up_sync(EVERY_LANE, value, step);
        if (lane >= step) value += before;
    }
    return value;
}

// One plane of a node's cells of one feature.
struct Plane {
    const long long *cells;  // of code 0
    long long whole;
    int step;                // from code to code
};

__device__ __forceinline__ Plane plane_of(
    const long long *hist, const long long *total, long long node, int feature, int n_features,
    int n_codes, int n_statistics, int plane) {
    const long long first = (node * n_features + feature) * n_codes * n_statistics + plane;
    return {hist + first, total[node * n_statistics + plane], n_statistics};
}

// What a candidate sends left, of a plane: without and with missing values. `carry` is what came
// before this warp's step of codes.
struct Left {
    long long of[2];
};

__device__ __forceinline__ Left left_of(
    const Plane &plane, int code, bool inside, bool one_hot, int lane, long long *carry) {
    long long own = inside ? plane.cells[(long long)code * plane.step] : 0;
    if (one_hot) return {{own, own}};
    own = sum_up_to(own, lane) + *carry;
    const long long last = __shfl_sync(EVERY_LANE, own, 31);
    __syncwarp();
    if (lane == 0) *carry = last;
    __syncwarp();
    return {{own, own + plane.cells[0]}};
}

// worth, size (Q, G, 2, B): those of each pair; divided (G, 2, B): where a judging node has rows on
// both sides. A warp's share of shared memory: 2 S words.
extern "C" __global__ void __launch_bounds__(128) judge(
    const long long *__restrict__ hist, const long long *__restrict__ total,
    const long long *__restrict__ pairs, long long n_pairs, int n_features, int n_codes,
    int n_statistics, int weight, int first, int outputs, double shrink, int one_hot,
    double *__restrict__ worth, double *__restrict__ size, int *__restrict__ divided) {
    extern __shared__ long long carries[];
    const long long own = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (own >= n_pairs * n_features) return;
    const int lane = threadIdx.x % 32, feature = (int)(own % n_features);
    const long long pair = own / n_features, learn = pairs[pair], judged = pairs[n_pairs + pair];
    long long *carry = carries + threadIdx.x / 32 * 2 * n_statistics;
    for (int s = lane; s < 2 * n_statistics; s += 32) carry[s] = 0;
    __syncwarp();
    const auto plane = [&](long long node, int number) {
        return plane_of(hist, total, node, feature, n_features, n_codes, n_statistics, number);
    };
    const Plane rows = plane(judged, 0), mass = plane(learn, weight), tried = plane(judged, weight);
    for (int before = one_hot ? -1 : 0; before < n_codes - 1; before += 32) {
        const int code = before + 1 + lane;
        const bool inside = code < n_codes;
        const auto left = [&](const Plane &of, int number) {
            return left_of(of, code, inside, one_hot, lane, carry + number);
        };
        // Plane 0 may be the weight itself: then it is summed once.
        const Left mass_left = left(mass, weight), tried_left = left(tried, n_statistics + weight);
        const Left rows_left = weight ? left(rows, n_statistics) : tried_left;
        double values[2][2] = {{0.0, 0.0}, {0.0, 0.0}}, lengths[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
        for (int k = first; k < first + outputs; k++) {
            const Plane sums = plane(learn, k), others = plane(judged, k);
            const Left sums_left = left(sums, k), others_left = left(others, n_statistics + k);
#pragma unroll
            for (int place = 0; place < 4; place++) {
                const int way = place / 2, side = place % 2;
                const long long mass_here =
                    side ? mass.whole - mass_left.of[way] : mass_left.of[way];
                if (mass_here <= 0) continue;
                const long long sum = side ? sums.whole - sums_left.of[way] : sums_left.of[way];
                const long long other =
                    side ? others.whole - others_left.of[way] : others_left.of[way];
                const long long tried_here =
                    side ? tried.whole - tried_left.of[way] : tried_left.of[way];
                const double v = (double)sum / ((double)mass_here + shrink);
                values[way][side] += v * (double)other;
                lengths[way][side] += v * v * (double)tried_here;
            }
        }
        for (int way = 0; way < 2 && inside; way++) {
            const long long at = ((pair * n_features + feature) * 2 + way) * n_codes + code;
            worth[at] = values[way][0] + values[way][1];
            size[at] = lengths[way][0] + lengths[way][1];
            const long long n_left = rows_left.of[way];
            if (n_left > 0 && n_left < rows.whole)
                divided[((long long)feature * 2 + way) * n_codes + code] = 1;
        }
    }
}

// Adds up pair after pair; block (x, y): codes of feature x from y · blockDim. hist is asked for missing rows;
// out (2, G, 2, B): worth and size.
extern "C" __global__ void __launch_bounds__(256) add_up(
    const long long *__restrict__ hist, long long n_nodes, int n_statistics,
    const double *__restrict__ worth, const double *__restrict__ size,
    const int *__restrict__ divided, long long n_pairs, int n_codes, int one_hot,
    double *__restrict__ out) {
    const int feature = blockIdx.x, n_features = gridDim.x;
    const long long cells = (long long)n_codes * n_statistics;
    bool some = false;
    for (long long node = threadIdx.x; node < n_nodes && !one_hot; node += blockDim.x)
        some = some || hist[(node * n_features + feature) * cells] > 0;
    const bool missing = __syncthreads_or(some);
    const int code = blockIdx.y * blockDim.x + threadIdx.x;
    if (code >= n_codes) return;
    for (int way = 0; way < 2; way++) {
        const long long to = ((long long)feature * 2 + way) * n_codes + code;
        const bool possible =
            (one_hot ? way == 0 : code > 0) && (way == 0 || missing) && divided[to];
        double sum = 0.0, length = 0.0;
        for (long long pair = 0; possible && pair < n_pairs; pair++) {
            const long long at = ((pair * n_features + feature) * 2 + way) * n_codes + code;
            sum += worth[at];
            length += size[at];
        }
        out[to] = possible ? sum : -__longlong_as_double(0x7ff0000000000000ll);
        out[2ll * n_features * n_codes + to] = length;
    }
}
