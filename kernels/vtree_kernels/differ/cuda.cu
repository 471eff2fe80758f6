// `differ` on CUDA: a warp a node, which stops at the first 32 rows with a difference.

extern "C" __global__ void __launch_bounds__(256) differ(
    const int *__restrict__ rows, const long long *__restrict__ borders, int n_nodes,
    const double *__restrict__ identity, int outputs, bool *__restrict__ several) {
    const long long node = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (node >= n_nodes) return;
    const long long start = borders[node], stop = borders[n_nodes + node];
    const int lane = threadIdx.x % 32;
    bool found = false;
    for (long long first = start; first < stop && !found; first += 32) {
        bool unequal = false;
        if (first + lane < stop) {
            const double *own = identity + (long long)rows[first + lane] * outputs;
            const double *other = identity + (long long)rows[start] * outputs;
            for (int output = 0; output < outputs; output++)
                unequal = unequal || own[output] != other[output];
        }
        found = __any_sync(0xffffffffu, unequal);
    }
    if (lane == 0) several[node] = found;
}
