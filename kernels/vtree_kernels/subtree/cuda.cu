// `subtree` on CUDA: a block grows all that is below a given node, one node after another.
//
//     node in hand ─┬─ is it worth a search?
//                   ├─ best feature: a warp takes one, sums the cells of the node's rows and scans
//                   │  them where they are; each writes a row of `slots`
//                   ├─ its rows sorted by side, stably
//                   └─ two children: the larger waits in `pending`, the smaller is the next
//
// so that no more than 32 ever wait, for each has at least as many rows as all above it.
//
// Macros: those of the header.

#include "subtree/cuda.cuh"

// Tells whether a node's rows have different targets, for a block. n_identities: −1 for classes.
__device__ __forceinline__ bool differ(
    const Task &task, int at, int begin, int end, const double *identity, int n_identities) {
    if (n_identities == 0) return true;
    if (n_identities > 0) {
        const int *number = COPIED ? task.number : 0;
        const long long first = number ? number[task.rows[begin]] : task.rows[begin];
        bool unequal = false;
        for (int place = begin + threadIdx.x; place < end && !unequal; place += THREADS) {
            const long long row = number ? number[task.rows[place]] : task.rows[place];
            for (int o = 0; o < n_identities; o++)
                unequal = unequal ||
                          identity[row * n_identities + o] != identity[first * n_identities + o];
        }
        return __syncthreads_or(unequal);
    }
    const long long *own = task.total(at) + task.layout.first;
    for (int o = 0; o < task.layout.outputs; o++) {
        int some = 0;
        for (int c = 0; c < task.layout.classes; c++) some += *own++ > 0;
        if (some > 1) return true;
    }
    return false;
}

// Sorts a node's rows by side, stably; returns where the right ones begin. For a block.
template <class GoesLeft>
__device__ __forceinline__ int parted(
    const Task &task, int begin, int end, const GoesLeft &goes_left) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned int below = (1u << lane) - 1;
    int middle = begin, kept = 0;
    for (int first = begin; first < end; first += THREADS) {
        const bool inside = first + (int)threadIdx.x < end;
        const int row = inside ? task.rows[first + threadIdx.x] : 0;
        const bool left = inside && goes_left(row);
        const unsigned int lefts = __ballot_sync(EVERY_LANE, left);
        const unsigned int rights = __ballot_sync(EVERY_LANE, inside && !left);
        if (lane == 0) task.sides[warp] = __popc(lefts) | __popc(rights) << 16;
        __syncthreads();  // everybody has read a row
        int before = 0, all = 0;
        for (int other = 0; other < WARPS; other++) {
            if (other == warp) before = all;
            all += task.sides[other];
        }
        if (left) task.rows[middle + (before & 0xffff) + __popc(lefts & below)] = row;
        else if (inside) task.spare[kept + (before >> 16) + __popc(rights & below)] = row;
        middle += all & 0xffff, kept += all >> 16;
        __syncthreads();
    }
    for (int i = threadIdx.x; i < kept; i += THREADS) task.rows[middle + i] = task.spare[i];
    __syncthreads();
    return middle;
}

__device__ __forceinline__ int sort_rows(
    const Task &task, int begin, int end, const Best &best, const long long *slot) {
    const Column column = task.column(best.feature);
    const int last = RAW ? 1 : (int)(slot[1] & 0xffffffff);
    const bool missing_left = slot[2] & 1;
    return parted(task, begin, end, [&](int row) {
#if RAW
        const int code = side_of((double)column[row], best.threshold);
#else
        const int code = (int)column[row];
#endif
        return code == 0 ? missing_left : code <= last;
    });
}

// Writes the split of a node, and its two children from number `made`, for a block.
__device__ __forceinline__ void split_node(
    const Task &task, int at, int made, int middle, const Best &best, const long long *slot) {
    for (int i = threadIdx.x; i < 2 * task.n_statistics; i += THREADS) {
        const int side = i / task.n_statistics, s = i % task.n_statistics;
        const long long left = slot[4 + s];
        task.total(made + side)[s] = side ? task.total(at)[s] - left : left;
    }
    if (threadIdx.x) return;
    Node *own = task.node(at);
    const unsigned long long path = next_state(0, own->key);
    for (int side = 0; side < 2; side++) {
        const int start = side ? middle : own->start, stop = side ? own->stop : middle;
        *task.node(made + side) = {-1, start, stop, own->depth + 1, -1, 0, 0, 0, 0, -INFINITE,
                                   0.0, next_state(path, (unsigned long long)side)};
    }
    own->first_child = made, own->feature = best.feature;
    own->bin = (int)(slot[1] & 0xffffffff), own->next = (int)(slot[1] >> 32);
    own->missing_left = (int)(slot[2] & 1), own->missing = (int)slot[3];
    own->gain = __longlong_as_double(slot[0]), own->threshold = best.threshold;
}

// Grows node 0 of a task, whose rows, statistics and place are all there; returns how many nodes
// there are then. For a block.
__device__ __forceinline__ int grow_below(
    const Task &task, const Rule &rule, const double *identity, int n_identities, int *pending) {
    int n_pending = 1, made = 1;
    if (threadIdx.x == 0) pending[0] = 0;
    __syncthreads();
    while (n_pending) {
        const int at = pending[--n_pending];
        const Node *own = task.node(at);
        const int begin = own->start - task.start, end = own->stop - task.start;
        const double weight = (double)task.total(at)[task.layout.weight];
        __syncthreads();  // `pending` was read
        if (own->depth == rule.max_depth || end - begin < rule.min_rows_split) continue;
        if (weight < 2.0 * task.terms.min_weight) continue;
        if (!differ(task, at, begin, end, identity, n_identities)) continue;
        const Best best = best_feature(task, rule, at, begin, end);
        const long long *slot = task.slot(WARPS);
        if (best.feature < 0 || __longlong_as_double(slot[0]) < rule.min_gain) continue;
        const int middle = sort_rows(task, begin, end, best, slot);
        split_node(task, at, made, middle + task.start, best, slot);
        const int left_is_larger = middle - begin > end - middle;
        if (threadIdx.x < 2)
            pending[n_pending + threadIdx.x] = made + (threadIdx.x ^ left_is_larger ^ 1);
        n_pending += 2, made += 2;
        __syncthreads();
    }
    return made;
}

// Hands out parts of shared memory, each at a multiple of 8 bytes.
struct Arena {
    unsigned char *next;
    template <class Any>
    __device__ __forceinline__ Any *take(long long count) {
        unsigned char *own = next;
        next += (count * (long long)sizeof(Any) + 7) / 8 * 8;
        return reinterpret_cast<Any *>(own);
    }
};

#if COPIED
// Copies a node's rows from the table, column by column, and their statistics, for a block.
__device__ __forceinline__ void copy_rows(Task *task, int n_rows, Arena arena) {
    long long *weight = arena.take<long long>(WEIGHTED * (long long)task->most);
    long long *sums = arena.take<long long>(SUMS * (long long)task->most);
    task->rows = arena.take<int>(task->most);
    task->spare = arena.take<int>(task->most);
    int *label = arena.take<int>(LABELS * (long long)task->most);
    ITEM *items = arena.take<ITEM>((long long)task->n_features * task->most);
    for (int i = threadIdx.x; i < n_rows; i += THREADS) {
        const Row own = row_of(task->of.label, task->of.weight, task->of.sums, task->number[i]);
        task->rows[i] = i;
        if (WEIGHTED) weight[i] = (long long)own.weight;
        for (int o = 0; o < LABELS; o++) label[i * LABELS + o] = own.label[o];
        for (int j = 0; j < SUMS; j++) sums[i * SUMS + j] = (long long)own.sums[j];
    }
    for (int feature = threadIdx.x / 32; feature < task->n_features; feature += WARPS) {
        const Source source = task->source(feature);
        for (int i = threadIdx.x % 32; i < n_rows; i += 32)
            items[(long long)feature * task->most + i] = source[task->number[i]];
    }
    task->of = {label, weight, sums};
    task->items = items;
}

// Brings the numbers of a node's rows into the order of its nodes, for a block.
__device__ __forceinline__ void move_numbers(const Task &task, int n_rows) {
    for (int i = threadIdx.x; i < n_rows; i += THREADS)
        task.spare[i] = task.number[task.rows[i]];
    __syncthreads();
    for (int i = threadIdx.x; i < n_rows; i += THREADS) task.number[i] = task.spare[i];
}
#endif

// given: a row of 8 + S words a node, as Node says. Each gets the rows of `nodes` from room[task] on;
// counts: how many it filled. numbers: those of rows, sorted in place; spare: as many; orders and
// cells, where they are not shared: n_features a block, n_codes × planes a warp.
extern "C" __global__ void __launch_bounds__(THREADS) grow(
    const long long *__restrict__ given, const long long *__restrict__ room, int n_given,
    int *__restrict__ numbers, int *__restrict__ spare, const long long *__restrict__ where,
    const int *__restrict__ n_codes, int n_features, int most_codes,
    const int *__restrict__ label, const long long *__restrict__ weight,
    const long long *__restrict__ sums, const double *__restrict__ identity, int n_identities,
    int most_rows, const double *__restrict__ packed, long long min_rows,
    double min_weight, int width, int max_depth, int min_rows_split, double min_gain,
    const double *__restrict__ costs, int costly, int max_features,
    unsigned long long order_state, unsigned long long cut_state, int *__restrict__ orders,
    int order_shared, CELL *__restrict__ cells, long long *__restrict__ nodes,
    long long *__restrict__ counts) {
    extern __shared__ long long shared_words[];
    __shared__ int pending[64], features[WARPS], sides[WARPS];
    __shared__ double cuts[WARPS];
    const int warp = threadIdx.x / 32;
    const Rule rule = {max_depth, min_rows_split, min_gain, costly ? costs : 0, max_features,
                       order_state, cut_state};
    Task task;
    task.layout = layout_of(packed, -INFINITE, INFINITE);
    task.n_features = n_features, task.n_statistics = statistics_of(task.layout);
    task.n_codes = n_codes, task.where = where, task.most = most_rows;
    task.terms = {min_rows, min_weight, width};
    task.cuts = cuts, task.features = features, task.sides = sides;
    const int words = NODE_WORDS + task.n_statistics;
    const long long own_cells = (long long)most_codes * (task.n_statistics - task.layout.implied);
    Arena arena = {reinterpret_cast<unsigned char *>(shared_words)};
    task.slots = arena.take<long long>((WARPS + 1) * (4 + task.n_statistics));
    const int own_columns = SMALL ? 0 : task.n_statistics * (width + 3);
    task.columns = arena.take<long long>(WARPS * own_columns) + warp * own_columns;
#if DRAWN
    task.order = order_shared ? arena.take<int>(n_features)
                              : orders + (long long)blockIdx.x * n_features;
    for (int feature = threadIdx.x; feature < n_features; feature += THREADS)
        task.order[feature] = feature;
#endif
#if CELLS_SHARED
    task.cells = arena.take<CELL>(WARPS * own_cells) + warp * own_cells;
#else
    task.cells = cells + ((long long)blockIdx.x * WARPS + warp) * own_cells;
#endif
    for (int which = blockIdx.x; which < n_given; which += gridDim.x) {
        const long long *own = given + (long long)which * words;
        task.nodes = nodes + room[which] * words;
        for (int i = threadIdx.x; i < words; i += THREADS) task.nodes[i] = own[i];
        const Node *node = reinterpret_cast<const Node *>(own);
        task.start = node->start;
        task.number = task.rows = numbers + node->start;
        task.spare = spare + node->start;
        task.of = {label, weight, sums};
#if COPIED
        copy_rows(&task, node->stop - node->start, arena);
#endif
        __syncthreads();
        const int made = grow_below(task, rule, identity, n_identities, pending);
        if (threadIdx.x == 0) counts[which] = made;
        __syncthreads();
#if COPIED
        move_numbers(task, node->stop - node->start);
        __syncthreads();
#endif
    }
}

// Copies row numbers, since `grow` sorts its own.
extern "C" __global__ void __launch_bounds__(256) copy(
    const int *__restrict__ rows, long long n_rows, int *__restrict__ out) {
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n_rows) out[at] = rows[at];
}

// Moves what `grow` made together: the given nodes, then those below each; a block a given node.
extern "C" __global__ void __launch_bounds__(256) gather(
    const long long *__restrict__ nodes, const long long *__restrict__ room,
    const long long *__restrict__ before, int words, long long *__restrict__ out) {
    const long long which = blockIdx.x, n_given = gridDim.x;
    const long long made = before[which + 1] - before[which] + 1;
    const long long *own = nodes + room[which] * words;
    for (long long i = threadIdx.x; i < made * words; i += blockDim.x) {
        const long long at = i / words;
        const long long to = at ? n_given + before[which] + at - 1 : which;
        out[to * words + i % words] = own[i];
    }
}
