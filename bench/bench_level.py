"""Where the time of a level goes on a GPU: the host's work, launches, copies, and waiting.

    python bench/bench_level.py
    python bench/bench_level.py --rows 100000 1000000 10000000

Trees of two depths are grown; what the deeper one takes more, by the levels that it has more, is a
level's. Waiting is the time of the copies back, behind the kernels that they wait for.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from kernel_bench import Gpu, find_gpu
from learners import make
from measure import Row, new_parser, positive, table, write_rows

from vtree import DecisionTreeClassifier, DecisionTreeRegressor, arrays
from vtree.estimators import base
from vtree.growth import grow
from vtree_kernels import _cuda

PARTS = ("launches", "copies to the device", "copies back", "all")
TARGETS = {"two classes": DecisionTreeClassifier, "real": DecisionTreeRegressor}


class Watch:
    """Seconds and calls of each part of growth."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.calls: Counter[str] = Counter()

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `function`, whose calls count to `part`."""

        def call(*arguments: Any, **keywords: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments, **keywords)
            finally:
                self.seconds[part] += time.perf_counter() - start
                self.calls[part] += 1

        return call


class _Launches:
    """A compiled source whose launches are timed."""

    def __init__(self, variant: _cuda.Variant, watch: Watch) -> None:
        self.launch = watch.timed("launches", variant.launch)


@contextmanager
def watched(gpu: Gpu) -> Iterator[Watch]:
    """Time the parts of all growth inside."""
    watch = Watch()
    compiled, read = _cuda.Program.on, arrays.to_numpy

    def on(program: _cuda.Program, *arguments: Any, **macros: Any) -> _Launches:
        return _Launches(compiled(program, *arguments, **macros), watch)

    timed_read = watch.timed("copies back", read)

    def to_numpy(array: Any) -> Any:
        return (timed_read if _cuda.platform.owns(array) else read)(array)

    device = gpu.device
    with ExitStack() as patches:
        for place, name, new in (
            (_cuda.Program, "on", on),
            (arrays, "to_numpy", to_numpy),
            (device, "upload", watch.timed("copies to the device", device.upload)),
            (device, "download", watch.timed("copies back", device.download)),
            (base, "grow", watch.timed("all", grow)),
        ):
            patches.enter_context(mock.patch.object(place, name, new))
        yield watch


def measure(rows: int, target: str, gpu: Gpu, options: argparse.Namespace) -> list[Row]:
    """Return a row for each part of a level, of the median of several fits."""
    X, y = make(rows, options.features, 0)
    depths = options.depths
    fits: list[list[Watch]] = [[], []]
    for repeat in range(options.repeats + 1):  # the first one compiles
        for depth, own in zip(depths, fits, strict=True):
            model = TARGETS[target](max_depth=depth, device="cuda")
            with watched(gpu) as watch:
                model.fit(X, X[:, 0] + y if target == "real" else y)
            if repeat:
                own.append(watch)

    def of_a_level(values: Iterable[Iterable[float]]) -> float:
        shallow, deep = map(statistics.median, values)
        return float((deep - shallow) / (depths[1] - depths[0]))

    found: list[Row] = []
    for part in PARTS:
        row: Row = {"gpu": gpu.name, "rows": rows, "features": options.features, "target": target}
        row |= {"part": part, "depths": depths, "repeats": options.repeats}
        row["calls"] = of_a_level([each.calls[part] for each in own] for own in fits)
        row["microseconds"] = 1e6 * of_a_level([each.seconds[part] for each in own] for own in fits)
        found.append(row)
    return found


def main() -> None:
    """Parse the command line, measure, print a table and keep the rows."""
    parser = new_parser(__doc__, repeats=5)
    parser.add_argument("--rows", type=positive, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--features", type=positive, default=28)
    parser.add_argument("--depths", type=positive, nargs=2, default=[2, 6], metavar="DEPTH")
    options = parser.parse_args()
    gpu = find_gpu()
    if gpu is None:
        sys.exit("bench_level needs a GPU")
    lines = []
    for rows in options.rows:
        for target in TARGETS:
            found = measure(rows, target, gpu, options)
            write_rows("level", found, options.results)
            *parts, whole = (row["microseconds"] for row in found)
            calls = [f"{row['calls']:.1f}" for row in found[:-1]]
            times = [f"{own:.0f}" for own in (*parts, whole - sum(parts), whole)]
            cells = [f"{own} ({n})" for own, n in zip(times, calls, strict=False)]
            lines.append([f"{rows:,}", target, *cells, *times[len(calls) :]])
    print(f"microseconds (calls) of a level, {gpu.name}")
    print(table(["rows", "target", *PARTS[:-1], "the host's own work", "all"], lines))


if __name__ == "__main__":
    main()
