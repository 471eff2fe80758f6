/* CUDA on the host, for tests: what a kernel needs of CUDA C, for g++.

   A block's threads run as fibres, one at a time. A thread runs until it waits at a barrier or a
   warp operation, or ends; who runs next goes by the order asked for: forward, backward, or drawn
   anew each round from a seed. A kernel whose result depends on that order has a race.

   Refused, with a message that names thread and line: threads waiting at different barriers, a
   warp operation that some lane of its mask never reaches. Shared memory is filled with rubbish
   before each block. Atomics hand over to another thread now and then (drawn order only), and
   __threadfence and __nanosleep do always. Blocks run one after another in the same order, so
   that a block may wait for those that took an earlier ticket, but not for a later blockIdx. */
#pragma once
// C's headers alone: those of C++ would take longer to compile than any kernel.
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifndef __x86_64__
#include <ucontext.h>
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __constant__ static
#define __shared__ static __attribute__((section("cuda_shared"), aligned(16)))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

struct uint3 { unsigned int x, y, z; };
struct dim3 { unsigned int x, y, z; };
struct alignas(8) int2 { int x, y; };
struct alignas(8) uint2 { unsigned int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(16) uint4 { unsigned int x, y, z, w; };
struct alignas(16) longlong2 { long long x, y; };
struct alignas(16) double2 { double x, y; };
static inline int2 make_int2(int x, int y) { return {x, y}; }
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline longlong2 make_longlong2(long long x, long long y) { return {x, y}; }

static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static const int warpSize = 32;

namespace cuda_host {

constexpr size_t STACK = 128 * 1024;
constexpr int MOST_THREADS = 1024, RING = 64;
// The section exists even where nothing is shared.
static unsigned char spare __attribute__((section("cuda_shared"), used)) = 0;
extern "C" unsigned char __start_cuda_shared __attribute__((visibility("hidden")));
extern "C" unsigned char __stop_cuda_shared __attribute__((visibility("hidden")));

enum State { READY, AT_BARRIER, AT_WARP, DONE };

struct Snapshot { uint64_t value[32]; };

struct Fibre {
    State state;
    uint3 index;
    int line;           // of the barrier or warp operation it waits at
    unsigned mask;
    uint64_t offered;   // its value in a warp operation
    Snapshot *received;
    int vote;           // for __syncthreads_count and the like
#ifdef __x86_64__
    void *stack_pointer;
#else
    ucontext_t context;
#endif
};

static int launching = 0;
static Fibre fibres[MOST_THREADS];
static unsigned char *stacks = nullptr;
static Snapshot ring[MOST_THREADS / 32][RING];
static unsigned ring_next[MOST_THREADS / 32];
static int current, n_threads, votes;
static bool drawn_order, failed;
static char message[512];
static uint64_t seed_state;
static unsigned char *dynamic_bytes = nullptr;
static void (*body)(void *), *body_argument;
#ifdef __x86_64__
static void *scheduler_pointer;
extern "C" void cuda_host_switch(void **save, void *load) __attribute__((visibility("hidden")));
asm(R"(
.text
.globl cuda_host_switch
.hidden cuda_host_switch
.type cuda_host_switch, @function
cuda_host_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");
#else
static ucontext_t scheduler_context;
#endif

static uint64_t draw() {  // splitmix64
    uint64_t z = (seed_state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static void fail(const char *format, ...) {
    if (failed) return;
    failed = true;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
}

static void hand_over() {  // from a thread to the scheduler
    Fibre &own = fibres[current];
#ifdef __x86_64__
    cuda_host_switch(&own.stack_pointer, scheduler_pointer);
#else
    swapcontext(&own.context, &scheduler_context);
#endif
    asm volatile("" ::: "memory");
}

static void resume(int thread) {  // from the scheduler to a thread
    current = thread;
    threadIdx = fibres[thread].index;
#ifdef __x86_64__
    cuda_host_switch(&scheduler_pointer, fibres[thread].stack_pointer);
#else
    swapcontext(&scheduler_context, &fibres[thread].context);
#endif
    asm volatile("" ::: "memory");
}

static void fibre_main() {
    body(body_argument);
    fibres[current].state = DONE;
    hand_over();
    abort();
}

static void start(int thread) {
    Fibre &own = fibres[thread];
    unsigned char *top = stacks + STACK * (thread + 1);
#ifdef __x86_64__
    void **frame = reinterpret_cast<void **>(top) - 2;  // as after a call: aligned to 16, less 8
    *frame = reinterpret_cast<void *>(fibre_main);
    frame -= 6;
    memset(frame, 0, 6 * sizeof(void *));
    own.stack_pointer = frame;
#else
    getcontext(&own.context);
    own.context.uc_stack.ss_sp = top - STACK;
    own.context.uc_stack.ss_size = STACK;
    own.context.uc_link = nullptr;
    makecontext(&own.context, fibre_main, 0);
#endif
    own.state = READY;
}

static void order_of(int *places, int n, int order) {
    for (int i = 0; i < n; i++) places[i] = order == 1 ? n - 1 - i : i;
    for (int i = n - 1; i > 0 && order == 2; i--) {
        const int other = draw() % (i + 1), kept = places[i];
        places[i] = places[other];
        places[other] = kept;
    }
}

// Lets everybody go once all living threads wait at the same barrier.
static void settle_barrier() {
    int first = -1;
    for (int t = 0; t < n_threads; t++) {
        if (fibres[t].state == DONE) continue;
        if (fibres[t].state != AT_BARRIER) return;
        if (first < 0) first = t;
        if (fibres[t].line != fibres[first].line)
            return fail("threads %d and %d wait at the barriers of lines %d and %d", first, t,
                        fibres[first].line, fibres[t].line);
    }
    votes = 0;
    for (int t = 0; t < n_threads; t++)
        if (fibres[t].state == AT_BARRIER) votes += fibres[t].vote, fibres[t].state = READY;
}

static const char *name_of(State state) {
    return state == AT_BARRIER ? "a barrier" : state == AT_WARP ? "a warp operation" : "its end";
}

static void run_block(int order) {
    memset(&__start_cuda_shared, 0xA5, &__stop_cuda_shared - &__start_cuda_shared);
    for (int t = 0; t < n_threads; t++) {
        const unsigned x = blockDim.x, y = blockDim.y;
        fibres[t].index = {t % x, t / x % y, t / x / y};
        start(t);
    }
    static int places[MOST_THREADS];
    order_of(places, n_threads, order);
    int alive = n_threads;
    while (alive && !failed) {
        if (order == 2) order_of(places, n_threads, order);
        bool moved = false;
        for (int i = 0; i < n_threads; i++) {
            const int t = places[i];
            if (fibres[t].state != READY) continue;
            resume(t);
            moved = true;
            if (failed) return;
            alive -= fibres[t].state == DONE;
        }
        if (!alive) return;
        if (!moved) {
            int at = 0;
            while (fibres[at].state == DONE) at++;
            int other = at;
            for (int t = at; t < n_threads; t++)
                if (fibres[t].state != fibres[at].state || fibres[t].line != fibres[at].line) {
                    other = t;
                    break;
                }
            return fail("deadlock: thread %d waits at %s in line %d, thread %d is at %s (line %d)",
                        at, name_of(fibres[at].state), fibres[at].line, other,
                        name_of(fibres[other].state), fibres[other].line);
        }
        settle_barrier();
    }
}

static void block_barrier(int line, int vote) {
    fibres[current].state = AT_BARRIER;
    fibres[current].line = line;
    fibres[current].vote = vote;
    hand_over();
}

// Meets the other lanes of `mask`; returns what each of them offered.
static Snapshot &meet(unsigned mask, uint64_t offered, int line) {
    const int warp = current / 32, lane = current % 32;
    Fibre &own = fibres[current];
    own.state = AT_WARP, own.line = line, own.mask = mask, own.offered = offered;
    if (!(mask >> lane & 1)) fail("line %d: lane %d is not in its own mask %08x", line, lane, mask);
    bool all = true;
    for (int other = 0; other < 32; other++) {
        if (!(mask >> other & 1)) continue;
        const int t = warp * 32 + other;
        if (t >= n_threads) {
            fail("line %d: mask %08x names lane %d, but the block ends before", line, mask, other);
        } else if (fibres[t].state == DONE) {
            fail("line %d: mask %08x names lane %d, which has ended", line, mask, other);
        } else if (fibres[t].state != AT_WARP || fibres[t].mask != mask || fibres[t].line != line) {
            all = false;
        }
    }
    if (all && !failed) {
        Snapshot &taken = ring[warp][ring_next[warp]++ % RING];
        for (int other = 0; other < 32; other++) {
            if (!(mask >> other & 1)) continue;
            Fibre &peer = fibres[warp * 32 + other];
            taken.value[other] = peer.offered;
            peer.received = &taken;
            peer.state = READY;
        }
    }
    hand_over();
    return *own.received;
}

static void maybe_hand_over() {
    if (drawn_order && draw() % 8 == 0) hand_over();
}

struct Launch {
    int grid[3], block[3];
    int shared;
    int order;  // 0 forward, 1 backward, 2 drawn
    unsigned long long seed;
};

static const char *run_blocks(const Launch &launch) {
    const int n_blocks = gridDim.x * gridDim.y * gridDim.z;
    int *blocks = static_cast<int *>(malloc(n_blocks * sizeof(int)));
    void *dynamic = aligned_alloc(16, launch.shared / 16 * 16 + 32);
    dynamic_bytes = static_cast<unsigned char *>(dynamic);
    order_of(blocks, n_blocks, launch.order);
    failed = false;
    for (int i = 0; i < n_blocks && !failed; i++) {
        const unsigned place = blocks[i], row = place / gridDim.x;
        blockIdx = {place % gridDim.x, row % gridDim.y, row / gridDim.y};
        memset(dynamic_bytes, 0xA5, launch.shared);
        run_block(launch.order);
    }
    free(dynamic);
    free(blocks);
    return failed ? message : nullptr;
}

static const char *run(const Launch &launch, void (*call)(void *), void *argument) {
    const int *g = launch.grid, *b = launch.block;
    if (b[0] < 1 || b[1] < 1 || b[2] < 1 || b[0] * b[1] * b[2] > MOST_THREADS || b[2] > 64)
        return "invalid configuration: a block has 1 to 1024 threads";
    if (g[0] < 1 || g[1] < 1 || g[2] < 1 || g[1] > 65535 || g[2] > 65535)
        return "invalid configuration: a grid is at least 1, and y and z at most 65535";
    while (__sync_lock_test_and_set(&launching, 1)) {}  // another thread of Python may launch too
    if (!stacks)
        stacks = static_cast<unsigned char *>(mmap(nullptr, STACK * MOST_THREADS,
            PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    blockDim = {unsigned(b[0]), unsigned(b[1]), unsigned(b[2])};
    gridDim = {unsigned(g[0]), unsigned(g[1]), unsigned(g[2])};
    n_threads = b[0] * b[1] * b[2];
    body = call, body_argument = argument;
    drawn_order = launch.order == 2, seed_state = launch.seed;
    const char *answer = run_blocks(launch);
    __sync_lock_release(&launching);
    return answer;
}

template <size_t... I> struct Places {};

template <class... A, size_t... I>
static void unpack(void (*kernel)(A...), void **arguments, Places<I...>) {
    kernel(*static_cast<A *>(arguments[I])...);
}

template <class... A>
static const char *launch(void (*kernel)(A...), const Launch &how, void **arguments, int count) {
    if (count != int(sizeof...(A))) return "wrong number of arguments";
    auto call = [&] { unpack(kernel, arguments, Places<__integer_pack(sizeof...(A))...>()); };
    return run(how, [](void *each) { (*static_cast<decltype(call) *>(each))(); }, &call);
}

template <class T> static uint64_t bits(T value) {
    static_assert(sizeof(T) <= 8, "at most 8 bytes a lane");
    uint64_t word = 0;
    memcpy(&word, &value, sizeof value);
    return word;
}

template <class T> static T value_of(uint64_t word) {
    T value;
    memcpy(&value, &word, sizeof value);
    return value;
}

// Reads lane `source` of the same segment of `width` lanes, or its own value beyond the segment.
template <class T>
static T shuffle(unsigned mask, T value, int source, bool inside, int line) {
    Snapshot &all = meet(mask, bits(value), line);
    const int own = current % 32, from = inside ? source : own;
    if (!(mask >> from & 1))
        fail("line %d: lane %d reads lane %d, outside the mask", line, own, from);
    return value_of<T>(all.value[from]);
}

// The operations know their line, which tells one from another; called like functions.
struct Up {
    int line;
    template <class T> T operator()(unsigned mask, T value, unsigned delta, int width = 32) const {
        const int lane = current % 32, from = lane - int(delta);
        return shuffle(mask, value, from, from >= lane / width * width, line);
    }
};
struct Down {
    int line;
    template <class T> T operator()(unsigned mask, T value, unsigned delta, int width = 32) const {
        const int lane = current % 32, from = lane + int(delta);
        return shuffle(mask, value, from, from < (lane / width + 1) * width, line);
    }
};
struct Cross {
    int line;
    template <class T> T operator()(unsigned mask, T value, int lanes, int width = 32) const {
        const int lane = current % 32, from = lane ^ lanes;
        return shuffle(mask, value, from, from < (lane / width + 1) * width, line);
    }
};
struct Direct {
    int line;
    template <class T> T operator()(unsigned mask, T value, int source, int width = 32) const {
        const int from = current % 32 / width * width + (source & (width - 1));
        return shuffle(mask, value, from, true, line);
    }
};
struct Ballot {
    int line;
    unsigned operator()(unsigned mask, int predicate) const {
        Snapshot &all = meet(mask, predicate != 0, line);
        unsigned found = 0;
        for (int lane = 0; lane < 32; lane++)
            if (mask >> lane & 1) found |= unsigned(all.value[lane]) << lane;
        return found;
    }
};
struct Match {
    int line;
    template <class T> unsigned operator()(unsigned mask, T value) const {
        Snapshot &all = meet(mask, bits(value), line);
        unsigned found = 0;
        for (int lane = 0; lane < 32; lane++)
            if ((mask >> lane & 1) && all.value[lane] == bits(value)) found |= 1u << lane;
        return found;
    }
};
struct Warp {
    int line;
    void operator()(unsigned mask = 0xffffffffu) const { meet(mask, 0, line); }
};
static int count(int line, int predicate) {
    block_barrier(line, predicate != 0);
    return votes;
}
static void *dynamic_shared() { return dynamic_bytes; }

}  // namespace cuda_host

#define __syncthreads() cuda_host::block_barrier(__LINE__, 0)
#define __syncthreads_count(predicate) cuda_host::count(__LINE__, predicate)
#define __syncthreads_or(predicate) (cuda_host::count(__LINE__, predicate) != 0)
#define __syncwarp cuda_host::Warp{__LINE__}
#define __shfl_sync cuda_host::Direct{__LINE__}
#define __shfl_up_sync cuda_host::Up{__LINE__}
#define __shfl_down_sync cuda_host::Down{__LINE__}
#define __shfl_xor_sync cuda_host::Cross{__LINE__}
#define __ballot_sync cuda_host::Ballot{__LINE__}
#define __any_sync(mask, predicate) (cuda_host::Ballot{__LINE__}(mask, predicate) != 0)
#define __all_sync(mask, predicate) (cuda_host::Ballot{__LINE__}(mask, predicate) == (mask))
#define __match_any_sync cuda_host::Match{__LINE__}

static inline void __threadfence() { cuda_host::hand_over(); }
static inline void __threadfence_block() { cuda_host::maybe_hand_over(); }
static inline void __nanosleep(unsigned) { cuda_host::hand_over(); }

#define CUDA_HOST_ATOMIC(name, type, expression)                   \
    static inline type name(type *address, type value) {           \
        const type old = *address;                                 \
        *address = expression;                                     \
        cuda_host::maybe_hand_over();                              \
        return old;                                                \
    }
#define CUDA_HOST_EXTREMES(type)                                   \
    CUDA_HOST_ATOMIC(atomicMin, type, value < old ? value : old)   \
    CUDA_HOST_ATOMIC(atomicMax, type, value > old ? value : old)
#define CUDA_HOST_ATOMICS(type)                                    \
    CUDA_HOST_EXTREMES(type)                                       \
    CUDA_HOST_ATOMIC(atomicAnd, type, old & value)                 \
    CUDA_HOST_ATOMIC(atomicOr, type, old | value)                  \
    CUDA_HOST_ATOMIC(atomicXor, type, old ^ value)                 \
    CUDA_HOST_ATOMIC(atomicAdd, type, old + value)                 \
    CUDA_HOST_ATOMIC(atomicExch, type, value)                      \
    static inline type atomicCAS(type *address, type expected, type value) { \
        const type old = *address;                                 \
        if (old == expected) *address = value;                     \
        cuda_host::maybe_hand_over();                              \
        return old;                                                \
    }
CUDA_HOST_ATOMICS(int)
CUDA_HOST_ATOMICS(unsigned int)
CUDA_HOST_ATOMICS(unsigned long long)
CUDA_HOST_EXTREMES(long long)  // its other atomics do not exist: cast to unsigned long long
CUDA_HOST_ATOMIC(atomicAdd, float, old + value)
CUDA_HOST_ATOMIC(atomicAdd, double, old + value)
CUDA_HOST_ATOMIC(atomicSub, int, old - value)
CUDA_HOST_ATOMIC(atomicSub, unsigned int, old - value)

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
template <class T> static inline T __ldg(const T *address) { return *address; }
#define CUDA_HOST_CAST(name, from, to) \
    static inline to name(from x) { return cuda_host::value_of<to>(cuda_host::bits(x)); }
CUDA_HOST_CAST(__float_as_int, float, int)
CUDA_HOST_CAST(__int_as_float, int, float)
CUDA_HOST_CAST(__float_as_uint, float, unsigned)
CUDA_HOST_CAST(__uint_as_float, unsigned, float)
CUDA_HOST_CAST(__double_as_longlong, double, long long)
CUDA_HOST_CAST(__longlong_as_double, long long, double)
#define CUDA_HOST_EXTREMA(type)                                    \
    static inline type min(type a, type b) { return b < a ? b : a; } \
    static inline type max(type a, type b) { return a < b ? b : a; }
CUDA_HOST_EXTREMA(int)
CUDA_HOST_EXTREMA(unsigned int)
CUDA_HOST_EXTREMA(long long)
CUDA_HOST_EXTREMA(unsigned long long)
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
