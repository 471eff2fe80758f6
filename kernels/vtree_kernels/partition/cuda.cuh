// What `partition` and `route` share: which node a position belongs to.
//
// nodes (planes, n_nodes): start, stop, number, and what else a kernel wants to know of a node.
// None is empty, so their starts strictly ascend.

// Returns the last of nodes first … last that starts at or before `position`, or first − 1.
__device__ __forceinline__ int last_started(
    const long long *__restrict__ nodes, int first, int last, long long position) {
    while (first <= last) {
        const int middle = first + (last - first) / 2;
        if (nodes[middle] <= position) first = middle + 1;
        else last = middle - 1;
    }
    return last;
}

struct Span {
    int first, last;  // nodes
};

// Finds the nodes that may have positions of begin … end − 1, for all threads of a block; `span`
// lies in shared memory.
__device__ __forceinline__ void find_span(
    const long long *__restrict__ nodes, int n_nodes, long long begin, long long end, Span *span) {
    if (threadIdx.x == 0) span->first = max(0, last_started(nodes, 0, n_nodes - 1, begin));
    if (threadIdx.x == 32) span->last = last_started(nodes, 0, n_nodes - 1, end - 1);
    __syncthreads();
}

// Returns the node of `position`, one of the span's, or −1.
__device__ __forceinline__ int node_of(
    const long long *__restrict__ nodes, int n_nodes, const Span &span, long long position) {
    const int node = last_started(nodes, span.first, span.last, position);
    return node >= span.first && position < nodes[n_nodes + node] ? node : -1;
}
