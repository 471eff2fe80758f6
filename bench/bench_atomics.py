"""How many atomic adds to shared memory a GPU makes, by what they add and where.

    python bench/bench_atomics.py

What the histogram kernel is built on and no document tells: an add of one, of a number, of 64 bits
in two steps with carry; each lane a bank of its own, several lanes a bank, all lanes one cell.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from kernel_bench import Gpu, find_gpu
from measure import Row, gpu_clock, new_parser, positive, table, timed, write_rows

from vtree_kernels import _cuda

SOURCE = """
#define WORDS 8192
extern "C" __global__ void __launch_bounds__(512) add_many(
    int first, int lane_step, int step, int times, unsigned int value, unsigned int *out) {
    __shared__ unsigned int cells[WORDS];
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x) cells[i] = 0;
    __syncthreads();
    int at = (first + threadIdx.x / 32 * 32 * 7 + threadIdx.x % 32 * lane_step) % WORDS;
#pragma unroll 16
    for (int i = 0; i < times; i++) {
#if KIND == 0
        atomicAdd(cells + at, 1u);
#elif KIND == 1
        atomicAdd(cells + at, value);
#else
        const unsigned int before = atomicAdd(cells + at, value);
        const unsigned int high = before + value < value ? 1u : 0u;
        atomicAdd(cells + (at + 32) % WORDS, value + high);
#endif
        at = (at + step) % WORDS;
    }
    __syncthreads();
    unsigned int sum = 0;
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x) sum += cells[i];
    atomicAdd(out, sum);
}
"""
KINDS = ("one", "a number", "64 bits, two adds with carry")
# (name, words from lane to lane, words from step to step)
PATTERNS = (
    ("a bank a lane", 1, 32),
    ("two lanes a bank", 2, 32),
    ("four lanes a bank", 4, 32),
    ("eight lanes a bank", 8, 32),
    ("all lanes one bank", 32, 1),
    ("all lanes one cell", 0, 32),
)
THREADS = 512


class _Case(NamedTuple):
    kind: int
    pattern: str
    lane_step: int
    step: int


def _cases() -> Iterator[_Case]:
    for kind in range(len(KINDS)):
        for pattern in PATTERNS:
            yield _Case(kind, *pattern)


def measure(gpu: Gpu, options: argparse.Namespace) -> list[Row]:
    """Return a row for each kind of add and pattern of cells."""
    device, rows = gpu.device, []
    clock = gpu_clock()
    blocks = 2 * device.processors
    out = device.zeros(1, np.uint32)
    for case in _cases():
        kernels = device.compiled("atomics", SOURCE, (*_cuda.OPTIONS, f"-DKIND={case.kind}"))

        def run(kernels: Any = kernels, case: _Case = case) -> None:
            steps = map(np.int32, (0, case.lane_step, case.step, options.times))
            kernels.launch("add_many", blocks, THREADS, *steps, np.uint32(3), out)
            gpu.wait()

        seconds = timed({0: run}, options.repeats)[0].best
        adds = blocks * THREADS * options.times / seconds
        row: Row = {"gpu": gpu.name, "adds": KINDS[case.kind], "pattern": case.pattern}
        row |= {"rows": options.times, "lane_adds_per_second": adds}
        row["per_clock_and_processor"] = adds / clock / device.processors if clock else None
        rows.append(row)
    return rows


def main() -> None:
    """Parse the command line, measure, print a table and keep the rows."""
    parser = new_parser(__doc__, repeats=5)
    parser.add_argument("--times", type=positive, default=20_000, help="adds of each thread")
    options = parser.parse_args()
    gpu = find_gpu()
    if gpu is None:
        sys.exit("bench_atomics needs a GPU")
    rows = measure(gpu, options)
    write_rows("atomics", rows, options.results)
    lines = [
        [
            row["adds"],
            row["pattern"],
            f"{row['lane_adds_per_second'] / 1e12:.3f}",
            "-" if (rate := row["per_clock_and_processor"]) is None else f"{rate:.2f}",
        ]
        for row in rows
    ]
    print(f"atomic adds to shared memory, {gpu.name}")
    print(table(["adds", "cells", "10^12 lane adds a second", "a clock and processor"], lines))


if __name__ == "__main__":
    main()
