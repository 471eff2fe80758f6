// What `partition` and `route` share: which node a position belongs to.
//
// nodes (planes, n_nodes): start, stop, number, and what else a kernel wants to know of a node.
// None is empty, so their starts strictly ascend. A block goes over TILE positions: it looks for
// their first and last node once, and its threads look between these.

#define THREADS 256

struct Span {
    int first, last;  // nodes
};

// Returns the last of nodes that starts at or before `position`, or −1; for a whole warp, which
// looks at 32 places a step.
__device__ __forceinline__ int last_started(
    const long long *__restrict__ nodes, int n_nodes, long long position) {
    const int lane = threadIdx.x % 32;
    int first = 0, number = n_nodes;  // where the first node lies that starts behind `position`
    while (number > 0) {
        const int step = (number + 31) / 32;
        const int probe = (lane + 1) * step - 1;
        const bool started = probe < number && nodes[first + probe] <= position;
        const int passed = __popc(__ballot_sync(0xffffffffu, started)) * step;
        first += passed;
        number = min(step - 1, number - passed);
    }
    return first - 1;
}

// Finds the nodes that may have positions of a tile from `begin`; `span` lies in shared memory.
__device__ __forceinline__ void find_span(
    const long long *__restrict__ nodes, int n_nodes, long long begin, Span *span) {
    const int warp = threadIdx.x / 32;
    if (warp < 2) {
        const int found = last_started(nodes, n_nodes, warp ? begin + TILE - 1 : begin);
        if (threadIdx.x == 0) span->first = max(0, found);
        if (threadIdx.x == 32) span->last = found;
    }
    __syncthreads();
}

// Returns the node of `position`, one of the span's, or −1.
__device__ __forceinline__ int node_of(
    const long long *__restrict__ nodes, int n_nodes, const Span &span, long long position) {
    int first = span.first, last = span.last;
    while (first <= last) {
        const int middle = first + (last - first) / 2;
        if (nodes[middle] <= position) first = middle + 1;
        else last = middle - 1;
    }
    return last >= span.first && position < nodes[n_nodes + last] ? last : -1;
}
