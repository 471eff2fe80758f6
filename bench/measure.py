"""What every bench shares: child processes, memory, the machine, result rows, tables.

A measured task runs in a fresh process, so that no learner inherits another's caches or peak
memory; repeats of several learners are interleaved, so that a slow minute of a shared machine
hits all of them. A row is kept as soon as it is measured: a learner that fails, or a limit that
ends the process, costs no other row.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from vtree_kernels import _cuda

RESULTS = Path(__file__).parent / "results"
LIBRARIES = (
    "numpy",
    "numba",
    "scikit-learn",
    "lightgbm",
    "xgboost",
    "catboost",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "vtree",
)

Row = dict[str, Any]
Key = TypeVar("Key")


class Timing(NamedTuple):
    """Seconds of one task over its repeats."""

    best: float
    median: float


class Outcome(NamedTuple, Generic[Key]):
    """What a bench measured: the rows of each task that has any, and what failed, a line each."""

    rows: dict[Key, list[Row]]
    failed: list[str]


def at_least(least: int) -> Callable[[str], int]:
    """Return a type of argparse: an integer that is not below `least`."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not an integer of at least {least}")
        return number

    return parse


positive = at_least(1)


def new_parser(documentation: str | None, *, repeats: int) -> argparse.ArgumentParser:
    """Return a parser with what every bench offers: where its rows go, and how often to run."""
    parser = argparse.ArgumentParser(
        description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--results", type=Path, default=RESULTS, metavar="DIR", help="append rows there"
    )
    parser.add_argument("--repeats", type=positive, default=repeats)
    return parser


def installed(modules: Mapping[str, str]) -> list[str]:
    """Return the names whose module is installed, telling on stderr which are left out."""
    found = [name for name in modules if importlib.util.find_spec(modules[name])]
    absent = ", ".join(name for name in modules if name not in found)
    if absent:
        print(f"not installed, left out: {absent}", file=sys.stderr)
    return found


@functools.cache
def machine() -> Row:
    """Describe the processor, its cores, the libraries and the commit of this checkout."""
    model = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "python": platform.python_version(),
        **{name: _version(name) for name in LIBRARIES},
        "commit": _commit(),
    }


def gpu_name() -> str:
    """Name the first GPU, or say that it is none."""
    if not isinstance(_cuda.platform, _cuda.CupyPlatform):
        return "emulated"
    cupy = importlib.import_module("cupy")
    return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())


def gpu_clock() -> float:
    """Return the highest clock of the first GPU in Hz, or 0 where it is emulated."""
    if not isinstance(_cuda.platform, _cuda.CupyPlatform):
        return 0.0
    attributes = importlib.import_module("cupy").cuda.Device(0).attributes
    return 1e3 * float(attributes.get("ClockRate", 0))


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Return the commit that is checked out, "-dirty" behind it where files differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):  # no git, or no checkout
        return None
    return done.stdout.strip()


def status_bytes(field: str) -> int:
    """Read VmRSS or VmHWM of this process, in bytes; 0 where the system does not tell."""
    path = Path("/proc/self/status")
    if not path.exists():
        return 0
    for line in path.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0


def with_peak(task: Callable[[], Any]) -> tuple[Any, float, int]:
    """Return (result, seconds, bytes by which the process grew at its peak)."""
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        reset.write_text("5")  # the peak starts again from what is in use now
    before = status_bytes("VmRSS")
    start = time.perf_counter()
    result = task()
    seconds = time.perf_counter() - start
    return result, seconds, max(0, status_bytes("VmHWM") - before)


def timed(tasks: Mapping[Key, Callable[[], object]], repeats: int) -> dict[Key, Timing]:
    """Time every task `repeats` times, in turns, after one run of each that does not count."""
    for task in tasks.values():
        task()
    seconds: dict[Key, list[float]] = {key: [] for key in tasks}
    for _ in range(repeats):
        for key, task in tasks.items():
            start = time.perf_counter()
            task()
            seconds[key].append(time.perf_counter() - start)
    return {key: Timing(min(each), statistics.median(each)) for key, each in seconds.items()}


def in_child(
    script: str,
    *arguments: str,
    threads: int,
    more: Mapping[str, str] | None = None,
    settled: bool = False,
) -> Row:
    """Run a bench script as a child that prints one JSON object; return that.

    more: environment variables besides those that limit threads. settled: run it again where it
    compiled kernels, so that what it measured is not the compiler.
    """
    environment = {**os.environ, **(more or {})}
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        environment[name] = str(threads)
    environment["VTREE_BENCH_THREADS"] = str(threads)
    if settled:
        environment["NUMBA_DEBUG_CACHE"] = "1"  # Numba tells what it writes there
    command = [sys.executable, script, *arguments]
    for _ in range(2):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
        if not settled or "[cache] data saved" not in done.stdout:
            break
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def interleaved(
    script: str,
    tasks: Iterable[Key],
    run: Callable[[Key], Row],
    options: argparse.Namespace,
) -> Outcome[Key]:
    """Run every task `options.repeats` times, one after the other in turns.

    Each row is written at once to a file in `options.results`, named as the script is without
    "bench_". A task that fails is told on stderr and not run again; the others go on.
    """
    name = Path(script).stem.removeprefix("bench_")
    rows: dict[Key, list[Row]] = {task: [] for task in tasks}
    failed: dict[Key, str] = {}
    for _ in range(options.repeats):
        for task in [task for task in rows if task not in failed]:
            try:
                row = run(task)
            except Exception as error:  # of the driver, say; other tasks may tell more
                traceback.print_exc()
                failed[task] = f"{task}: {in_a_line(error)}"
                continue
            write_rows(name, [row], options.results)
            rows[task].append(row)
    return Outcome({task: own for task, own in rows.items() if own}, list(failed.values()))


def in_a_line(error: Exception) -> str:
    """Return an error's type and the last line of what it says."""
    said = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {said[-1]}"


def exit_naming(failed: Sequence[str]) -> None:
    """Exit with 1 if anything failed, telling what; to be called when all else is printed."""
    if failed:
        sys.exit("failed:\n" + "\n".join(failed))


def median(rows: Sequence[Row], field: str) -> float:
    """Return the median of a field over repeats."""
    return statistics.median(float(row[field]) for row in rows)


def write_rows(name: str, rows: Iterable[Row], folder: Path = RESULTS) -> Path:
    """Append rows, each with the machine, to FOLDER/NAME.jsonl."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    where = machine()
    with path.open("a") as file:
        for row in rows:
            file.write(json.dumps({**where, **row}, sort_keys=True) + "\n")
    return path


def table(header: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)
