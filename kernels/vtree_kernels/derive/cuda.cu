// `derive` on CUDA: histograms of `cells` each, parents' less siblings'. CELL: the type of cells.
//
// both: slot and sibling of each derived node. `built` may be the memory of `hist`.
extern "C" __global__ void __launch_bounds__(256) derive(
    const CELL *__restrict__ parent, const CELL *built, const long long *__restrict__ both,
    long long n_derived, long long first_derived, long long cells, CELL *hist) {
    const long long *slot = both, *sibling = both + n_derived;
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n_derived * cells;
         i += step) {
        const long long d = i / cells, cell = i % cells;
        hist[(first_derived + d) * cells + cell] =
            parent[slot[d] * cells + cell] - built[sibling[d] * cells + cell];
    }
}
