"""What the benches of kernels share: cases, equality with the reference, nanoseconds an update."""

from __future__ import annotations

import argparse
import functools
import importlib
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from measure import (
    Row,
    exit_naming,
    gpu_name,
    in_a_line,
    new_parser,
    positive,
    table,
    timed,
    write_rows,
)
from numpy.typing import NDArray

from vtree_kernels import _cuda, threads
from vtree_kernels._dispatch import Kernel

# A read-modify-write takes a core of this kind 0.36 to 0.40 ns, see engines.md §7.4. No update of
# any kernel costs less, unless a vector instruction makes several.
FLOOR = 0.36
CHECK_ROWS = 1500
COPIED = 2**25  # words of 8 bytes, far more than a GPU's cache, to measure its memory with
COPIES = 20  # launches before one wait, which shall not count
COPY = """
extern "C" __global__ void copy(const long long *from, long long *to, long long n) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        to[i] = from[i];
}"""
Integers = NDArray[np.int64]


class Work(NamedTuple):
    """One run of a kernel: the arguments of its calls, and the updates they make together."""

    calls: list[tuple[Any, ...]]
    updates: int
    moved: int = 0  # bytes that a GPU has to read and write for them, at least
    nodes: int | None = None  # of the level, where there is one: few rows make fewer than asked for


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
    left, right = _on_host(got), _on_host(expected)
    if left.shape != right.shape:
        return False
    if left.dtype.kind == "f":
        if left.dtype != right.dtype:
            return False
        words = f"i{left.dtype.itemsize}"
        left, right = (np.ascontiguousarray(side).view(words) for side in (left, right))
    return bool((left == right).all())


def bench(
    kernel: Kernel[..., Any],
    unit: str,
    cases: Sequence[Case],
    options: argparse.Namespace,
    placed: Sequence[int],
    others: Sequence[str] = (),
) -> None:
    """Check and measure a kernel as the command line asks; keep the rows and print a table.

    Runs on a GPU too where there is one. placed: which arguments are arrays that lie there.
    others: what the script measures besides, so that `--only` may name that.
    A case that fails, or where a twin does not equal the reference, is left out and said at the
    end; then it exits with 1.
    """
    chosen = [case for case in cases if options.only in case.name]
    if not chosen and not any(options.only in name for name in others):
        names = "\n    ".join([*(case.name for case in cases), *others])
        sys.exit(f"--only {options.only!r}: in the name of no case; there are\n    {names}")
    gpu = find_gpu()
    twins = {"cpu": kernel.twin("cpu")} | ({"cuda": kernel.twin("cuda")} if gpu else {})
    rows: list[Row] = []
    wrong: list[str] = []
    for case in chosen:
        try:
            _check(kernel, case, twins, options, placed, gpu)
            own = _measured(kernel, case, twins, options, placed, gpu)
        except Exception as error:  # of the driver, say; other cases may tell more
            traceback.print_exc()
            wrong.append(f"{kernel.__name__}, {case.name}: {in_a_line(error)}")
            continue
        write_rows("kernels", own, options.results)
        rows += own
    if rows:
        print(f"{kernel.__name__}: ns per {unit}, median (best) of {options.repeats}")
        print(_table(rows, options.threads, gpu))
    exit_naming(wrong)


def _check(
    kernel: Kernel[..., Any],
    case: Case,
    twins: dict[str, Callable[..., Any]],
    options: argparse.Namespace,
    placed: Sequence[int],
    gpu: Gpu | None,
) -> None:
    """Raise ValueError if a twin does not equal the reference."""
    for call in case.make(min(CHECK_ROWS, options.rows)).calls:
        expected = kernel.reference(*call)
        for name, twin in twins.items():
            own = _placed(call, placed, gpu) if name == "cuda" else call
            if not same_bits(twin(*own), expected):
                raise ValueError(f"the {name} twin is not the reference")


def _measured(
    kernel: Kernel[..., Any],
    case: Case,
    twins: dict[str, Callable[..., Any]],
    options: argparse.Namespace,
    placed: Sequence[int],
    gpu: Gpu | None,
) -> list[Row]:
    """Return a case's rows, one a way to run it."""
    work = case.make(options.rows)
    rows: list[Row] = []
    on_device: list[float | None] = []
    runs = _runs(twins, work, options, placed, gpu, on_device)
    for where, timing in timed(runs, options.repeats).items():
        row: Row = {"kernel": kernel.__name__, "case": case.name, **case.facts}
        row |= {"rows": options.rows, "updates": work.updates, **where._asdict()}
        if work.nodes is not None:
            row["nodes"] = work.nodes
        row |= {"repeats": options.repeats, "equals_reference": True}
        row |= {"floor_ns": _floor(where, work, gpu)}
        row |= {f"ns_{name}": 1e9 * s / work.updates for name, s in timing._asdict().items()}
        told = [seconds for seconds in on_device[1:] if seconds is not None]  # the first warms up
        if where.backend == "cuda" and told:
            row["device_ns_best"] = 1e9 * min(told) / work.updates
            row["device_ns_median"] = 1e9 * statistics.median(told) / work.updates
        rows.append(row)
    return rows


def command_line(documentation: str | None) -> argparse.Namespace:
    """Parse what every bench of a kernel understands."""
    parser = new_parser(documentation, repeats=7)
    parser.add_argument("--rows", type=positive, default=1_000_000)
    parser.add_argument("--threads", type=positive, nargs="+", default=[1, 2])
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with this in the name")
    return parser.parse_args()


class _Where(NamedTuple):
    """What a timing was measured on."""

    backend: str
    threads: int | None
    gpu: str | None


class Gpu(NamedTuple):
    """The device that is measured."""

    device: Any
    name: str

    def wait(self) -> None:
        """Return when all that was launched is done."""
        self.device.download(self.device.empty(1, np.uint8))  # behind all kernels before it

    def seconds(self, task: Callable[[], object]) -> float | None:
        """Run `task`, wait, and return the seconds from its start to its end on the device.

        None where the device has no events to tell by, as an emulated one.
        """
        cuda = _with_events()
        if cuda is None:
            task()
            self.wait()
            return None
        with self.device.in_use():
            first, last = cuda.Event(), cuda.Event()
            first.record()
            task()
            last.record()
            last.synchronize()
            return float(cuda.get_elapsed_time(first, last)) / 1e3


def _with_events() -> Any | None:
    """Return CuPy's module that has events, or None where there is none."""
    if not isinstance(_cuda.platform, _cuda.CupyPlatform):
        return None
    cuda = importlib.import_module("cupy").cuda
    return cuda if hasattr(cuda, "Event") else None


def find_gpu() -> Gpu | None:
    """Return the first GPU, or None where CuPy or one is missing."""
    try:
        if not _cuda.platform.count():
            return None
        device = _cuda.platform.device(0)
    except Exception as error:  # a broken driver raises errors of CuPy's own
        print(f"no GPU: {type(error).__name__}: {error}", file=sys.stderr)
        return None
    return Gpu(device, gpu_name())


@functools.cache
def _bytes_per_second(gpu: Gpu) -> float:
    """Measure how fast the memory of `gpu` reads and writes."""
    copy = gpu.device.compiled("copy", COPY, _cuda.OPTIONS)
    source, target = (gpu.device.zeros(COPIED, np.int64) for _ in range(2))
    blocks = gpu.device.processors * 32

    def copies() -> None:
        for _ in range(COPIES):
            copy.launch("copy", blocks, 256, source, target, np.int64(COPIED))

    copies()  # the first loads the kernel
    gpu.wait()
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        on_device = gpu.seconds(copies)
        seconds.append(time.perf_counter() - start if on_device is None else on_device)
    return 16 * COPIED * COPIES / min(seconds)


def _floor(where: _Where, work: Work, gpu: Gpu | None) -> float:
    """Return ns that an update takes at the least: of a core's stores, or of a GPU's memory."""
    if where.backend == "cpu" or gpu is None:
        return FLOOR
    return 1e9 * work.moved / work.updates / _bytes_per_second(gpu)


def _on_host(values: Any) -> Any:
    known = not isinstance(values, np.ndarray) and _cuda.platform.owns(values)
    return _cuda.device_of(values).download(values) if known else np.asarray(values)


def _placed(call: tuple[Any, ...], placed: Sequence[int], gpu: Gpu | None) -> tuple[Any, ...]:
    """Return the arguments of a call, those at `placed` on the GPU."""
    return tuple(
        _uploaded(gpu.device, each) if gpu and place in placed and each is not None else each
        for place, each in enumerate(call)
    )


def _uploaded(device: Any, array: Any) -> Any:
    """Return an array, or each of a tuple of them, on the device."""
    if isinstance(array, tuple):
        return tuple(device.upload(each) for each in array)
    uploaded = device.upload(array)
    if array.dtype.kind != "u" or array.ndim != 2:
        return uploaded
    codes = device.pitched(*array.shape, array.dtype)  # as `bincode` leaves them
    codes[...] = uploaded
    return codes


def _runs(
    twins: dict[str, Callable[..., Any]],
    work: Work,
    options: argparse.Namespace,
    placed: Sequence[int],
    gpu: Gpu | None,
    on_device: list[float | None],
) -> dict[_Where, Callable[[], None]]:
    """Return what is to be timed; a run on the GPU appends its own seconds to `on_device`."""

    def on_cpu(count: int) -> None:
        with threads(count):
            for call in work.calls:
                twins["cpu"](*call)

    runs: dict[_Where, Callable[[], None]] = {
        _Where("cpu", count, None): functools.partial(on_cpu, count) for count in options.threads
    }
    if gpu is not None:
        calls = [_placed(call, placed, gpu) for call in work.calls]

        def launch() -> None:
            for call in calls:
                twins["cuda"](*call)

        def on_gpu() -> None:
            on_device.append(gpu.seconds(launch))

        runs[_Where("cuda", None, gpu.name)] = on_gpu
    return runs


def _table(rows: Sequence[Row], counts: Sequence[int], gpu: Gpu | None) -> str:
    lines = []
    of_case = len(counts) + (gpu is not None)
    for first in range(0, len(rows), of_case):
        own = rows[first : first + of_case]
        times = [f"{row['ns_median']:.2f} ({row['ns_best']:.2f})" for row in own[: len(counts)]]
        gain = own[0]["ns_median"] / own[len(counts) - 1]["ns_median"]
        floor = own[0]["ns_median"] * own[0]["threads"] / FLOOR
        counted = [f"{own[0]['nodes']:,}"] if "nodes" in own[0] else []
        line = [own[0]["case"], *counted, *times, f"{gain:.2f}", f"{floor:.1f}"]
        if gpu is not None:
            median, best, least = (own[-1][key] for key in ("ns_median", "ns_best", "floor_ns"))
            device = own[-1].get("device_ns_median")
            line += [f"{median:.4f} ({best:.4f})", "-" if device is None else f"{device:.4f}"]
            line.append(f"{(device or median) / least:.1f}")
        lines.append(line)
    names = [f"{count} thread{'s' if count > 1 else ''}" for count in counts]
    of_level = ["nodes"] if "nodes" in rows[0] else []
    header = ["case", *of_level, *names, "speed-up", f"× floor of {FLOOR} ns"]
    return table(
        header + ([gpu.name, "of these on it", "× its memory's floor"] if gpu else []), lines
    )
