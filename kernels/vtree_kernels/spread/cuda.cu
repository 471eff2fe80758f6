// `spread` on CUDA: a warp a task, some rows of a leaf.

// tasks (n, 3): leaf, begin, end.
extern "C" __global__ void __launch_bounds__(256) spread(
    double *__restrict__ sums, const int *__restrict__ rows, const long long *__restrict__ tasks,
    long long n_tasks, const double *__restrict__ value) {
    const long long task = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (task >= n_tasks) return;
    const double own = value[tasks[3 * task]];
    const long long end = tasks[3 * task + 2];
    for (long long i = tasks[3 * task + 1] + threadIdx.x % 32; i < end; i += 32)
        sums[rows[i]] += own;
}
