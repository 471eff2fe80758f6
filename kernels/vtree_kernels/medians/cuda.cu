// `medians` on CUDA: the errors of all candidates' sides around their medians.
//
// A thread is a candidate. All threads of a block go over the node's rows together, in the order
// of one output's target: once for the weight of each side, once up to its medians. That reads
// every row for every candidate, but from shared memory, at the same address for all lanes.

#define SIDES 4  // (missing right, left) × (left, right)

// Rows of a node, as the block shares them.
struct Row {
    long long weight, sum;
    int place, rank;
    bool last;  // of its rank
};

// What a candidate counts apart: values at most it, values above it, and missing ones.
struct Parts {
    long long low, high, missing;

    __device__ __forceinline__ void add(int place, int candidate, long long amount) {
        if (place == 0) missing += amount;
        else if (place <= candidate) low += amount;
        else high += amount;
    }
    __device__ __forceinline__ long long of(int side) const {
        const long long own = side % 2 ? high : low;
        return side == 1 || side == 2 ? own + missing : own;
    }
};

// Block (x, y): node x / n_features, feature x % n_features, candidates from y · blockDim. place
// (R, n_features), weight (R), sums and rank (R, n_outputs), the rows of a node at ends[node] …
// ends[n_nodes + node]; order (R) sorts each node's by rank. error and median (L, G, 2, 2, B).
extern "C" __global__ void __launch_bounds__(256) around(
    const unsigned short *__restrict__ place, int n_features,
    const long long *__restrict__ weight, const long long *__restrict__ sums,
    const int *__restrict__ rank, int n_outputs, int output, const long long *__restrict__ order,
    const long long *__restrict__ ends, int n_nodes, const double *__restrict__ position,
    const double *__restrict__ value, int n_codes, double *__restrict__ error,
    double *__restrict__ median) {
    __shared__ Row rows[256];
    const int node = blockIdx.x / n_features, feature = blockIdx.x % n_features;
    const int candidate = blockIdx.y * blockDim.x + threadIdx.x;
    const long long begin = ends[node], end = ends[n_nodes + node];
    Parts total_weight{0, 0, 0}, total_sum{0, 0, 0};
    Parts weight_so_far{0, 0, 0}, sum_so_far{0, 0, 0}, weight_below{0, 0, 0}, sum_below{0, 0, 0};
    double own_error[SIDES];
    int low[SIDES], high[SIDES];  // ranks of the lower and the upper median, −1: not yet reached
#pragma unroll
    for (int side = 0; side < SIDES; side++) own_error[side] = 0.0, low[side] = high[side] = -1;
    int rank_now = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (long long first = begin; first < end; first += blockDim.x) {
            __syncthreads();
            const long long at = first + threadIdx.x;
            if (at < end) {
                const long long own = order[at];
                const int own_rank = rank[own * n_outputs + output];
                const bool last =
                    at + 1 == end || rank[order[at + 1] * n_outputs + output] != own_rank;
                rows[threadIdx.x] = {weight[own], sums[own * n_outputs + output],
                                     (int)place[own * n_features + feature], own_rank, last};
            }
            __syncthreads();
            const int n = (int)min((long long)blockDim.x, end - first);
            for (int i = 0; i < n; i++) {
                const Row row = rows[i];
                weight_so_far.add(row.place, candidate, row.weight);
                sum_so_far.add(row.place, candidate, row.sum);
                if (pass == 0 || !row.last) continue;
                rank_now = row.rank;
#pragma unroll
                for (int side = 0; side < SIDES; side++) {
                    const long long reached = weight_so_far.of(side);
                    const long long all = total_weight.of(side);
                    if (high[side] < 0 && 2 * reached > all) high[side] = rank_now;
                    if (low[side] >= 0 || 2 * reached < all) continue;
                    low[side] = rank_now;
                    const long long sum_above = total_sum.of(side) - sum_so_far.of(side);
                    const double s = (double)(sum_above - sum_below.of(side));
                    const double w = (double)(weight_below.of(side) - (all - reached));
                    own_error[side] = s + position[rank_now] * w;
                }
                weight_below = weight_so_far, sum_below = sum_so_far;
            }
        }
        if (pass > 0) break;
        total_weight = weight_so_far, total_sum = sum_so_far;
        weight_so_far = sum_so_far = {0, 0, 0};
    }
    if (candidate >= n_codes || begin == end) return;
#pragma unroll
    for (int side = 0; side < SIDES; side++) {
        const long long cell = ((long long)blockIdx.x * SIDES + side) * n_codes + candidate;
        const double lower = value[low[side]];
        const double upper = value[high[side] < 0 ? rank_now : high[side]];  // a side of no rows
        error[cell] = own_error[side];
        median[cell] = lower == upper ? lower : lower / 2.0 + upper / 2.0;
    }
}
