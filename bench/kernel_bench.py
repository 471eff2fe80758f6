"""What the benches of kernels share: cases, equality with the reference, nanoseconds an update."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from measure import Row, Timing, new_parser, table, timed, write_rows
from numpy.typing import NDArray

from vtree_kernels import threads
from vtree_kernels._dispatch import Kernel

# A read-modify-write takes a core of this kind 0.36 to 0.40 ns, see engines.md §7.4. No update of
# any kernel costs less, unless a vector instruction makes several.
FLOOR = 0.36
CHECK_ROWS = 1500
Integers = NDArray[np.int64]


class Work(NamedTuple):
    """One run of a kernel: the arguments of its calls, and the updates they make together."""

    calls: list[tuple[Any, ...]]
    updates: int


class Case(NamedTuple):
    """One way to use a kernel; `make(rows)` is its work at a size."""

    name: str
    make: Callable[[int], Work]
    facts: Row  # written beside the time


def level(rows: int, nodes: int) -> tuple[NDArray[np.int32], Integers, Integers]:
    """Return (order, start, stop): rows dealt at random to nodes, ascending in each.

    There are fewer nodes than asked for where they would have less than 50 rows on average.
    """
    nodes = min(nodes, max(1, rows // 50))
    node = np.random.default_rng(nodes).integers(0, nodes, rows)
    order = np.argsort(node, kind="stable").astype(np.int32)
    stop = np.cumsum(np.bincount(node, minlength=nodes))
    return order, np.append(0, stop[:-1]), stop


def same_bits(got: Any, expected: Any) -> bool:
    """Compare arrays, or tuples of them, to the last bit."""
    if isinstance(got, tuple):
        return all(same_bits(*pair) for pair in zip(got, expected, strict=True))
    left, right = np.asarray(got), np.asarray(expected)
    if left.shape != right.shape:
        return False
    if left.dtype.kind == "f":
        if left.dtype != right.dtype:
            return False
        words = f"i{left.dtype.itemsize}"
        left, right = (np.ascontiguousarray(side).view(words) for side in (left, right))
    return bool((left == right).all())


def bench(
    kernel: Kernel[..., Any], unit: str, cases: Sequence[Case], options: argparse.Namespace
) -> None:
    """Check and measure a kernel as the command line asks; keep the rows and print a table.

    Exits with 1 where the compiled twin does not equal the reference.
    """
    chosen = [case for case in cases if options.only in case.name]
    twin = kernel.twin("cpu")
    for case in chosen:
        for call in case.make(min(CHECK_ROWS, options.rows)).calls:
            if not same_bits(twin(*call), kernel.reference(*call)):
                sys.exit(f"{kernel.__name__}, {case.name}: the cpu twin is not the reference")
    rows: list[Row] = []
    for case in chosen:
        for count, timing, updates in _times(twin, case, options):
            row: Row = {"kernel": kernel.__name__, "case": case.name, **case.facts}
            row |= {"rows": options.rows, "threads": count, "updates": updates}
            row |= {"repeats": options.repeats, "equals_reference": True, "floor_ns": FLOOR}
            row |= {f"ns_{name}": 1e9 * s / updates for name, s in timing._asdict().items()}
            rows.append(row)
    write_rows("kernels", rows, options.results)
    print(f"{kernel.__name__}: ns per {unit}, median (best) of {options.repeats}")
    print(_table(rows, options.threads))


def command_line(documentation: str | None) -> argparse.Namespace:
    """Parse what every bench of a kernel understands."""
    parser = new_parser(documentation, repeats=7)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with this in the name")
    return parser.parse_args()


def _times(
    twin: Callable[..., Any], case: Case, options: argparse.Namespace
) -> list[tuple[int, Timing, int]]:
    """Return (threads, timing, updates) of one case."""
    work = case.make(options.rows)

    def run_on(count: int) -> Callable[[], None]:
        def run() -> None:
            with threads(count):
                for call in work.calls:
                    twin(*call)

        return run

    found = timed({count: run_on(count) for count in options.threads}, options.repeats)
    return [(count, timing, work.updates) for count, timing in found.items()]


def _table(rows: Sequence[Row], counts: Sequence[int]) -> str:
    lines = []
    for first in range(0, len(rows), len(counts)):
        own = rows[first : first + len(counts)]
        times = [f"{row['ns_median']:.2f} ({row['ns_best']:.2f})" for row in own]
        gain = own[0]["ns_median"] / own[-1]["ns_median"]
        floor = own[0]["ns_median"] * own[0]["threads"] / FLOOR
        lines.append([own[0]["case"], *times, f"{gain:.2f}", f"{floor:.1f}"])
    names = [f"{count} thread{'s' if count > 1 else ''}" for count in counts]
    return table(["case", *names, "speed-up", f"× floor of {FLOOR} ns"], lines)
