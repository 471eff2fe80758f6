// `traverse` on CUDA: a thread takes one row through trees of a chunk, one after another.
//
// Macros: VALUE the type of values; STAGED 1 where the rows of a block are copied to shared memory
// first. They lie an odd number of values apart there, so that 32 rows asked for one feature, as
// at a root, are read from 32 banks.

#include "floats.cuh"

// All that a step reads of a node, in one access. feature: ≥ 0 a number, to be compared with the
// threshold; −1 a leaf; −2 − f a category of feature f, whose map begins where `word` says.
struct __align__(16) Node {
    long long word;  // the bits of the threshold, or the offset of the map
    int feature, first_child;
};

// Block (x, y): rows from x · 2^log_rows, trees y · n_chunk … (y + 1) · n_chunk − 1. Threads of one
// row take every (blockDim / rows)-th tree. Shared, if STAGED: rows × (n_columns | 1) values.
extern "C" __global__ void __launch_bounds__(256) walk(
    const VALUE *__restrict__ values, long long n_rows, long long row_step, long long column_step,
    int n_columns, int log_rows, const int *__restrict__ root, int n_trees, int n_chunk,
    const void *__restrict__ packed, const int *__restrict__ missing_child,
    const unsigned short *__restrict__ branch_map, int *__restrict__ leaf) {
    const Node *__restrict__ nodes = static_cast<const Node *>(packed);
    const int rows = 1 << log_rows;
    const long long first_row = (long long)blockIdx.x << log_rows;
    const int own_row = threadIdx.x & (rows - 1);
    const long long row = first_row + own_row;
#if STAGED
    extern __shared__ VALUE staged[];
    const int pitch = n_columns | 1;
    const int here = (int)min((long long)rows, n_rows - first_row);
    for (int i = threadIdx.x; i < here * n_columns; i += blockDim.x) {
        // Neighbouring threads read neighbours, whichever axis that is.
        const int r = row_step < column_step ? i % here : i / n_columns;
        const int f = row_step < column_step ? i / here : i % n_columns;
        staged[r * pitch + f] = values[(first_row + r) * row_step + f * column_step];
    }
    __syncthreads();
    const VALUE *own = staged + own_row * pitch;
    const int step = 1;
#else
    const VALUE *own = values + row * row_step;
    const long long step = column_step;
#endif
    if (row >= n_rows) return;
    const int end = min(n_trees, (int)(blockIdx.y + 1) * n_chunk);
    for (int t = blockIdx.y * n_chunk + (threadIdx.x >> log_rows); t < end;
         t += blockDim.x >> log_rows) {
        int at = root[t];
        Node node = nodes[at];
        while (node.feature != -1) {
            const int feature = node.feature < 0 ? -2 - node.feature : node.feature;
            const double x = widened(own[feature * step]);
            int child;
            if (x != x) child = missing_child[at];
            else if (node.feature >= 0) child = !(x <= __longlong_as_double(node.word));
            else child = branch_map[node.word + (long long)x + 1];
            if (child < 0) break;
            at = node.first_child + child;
            node = nodes[at];
        }
        leaf[row * n_trees + t] = at;
    }
}
