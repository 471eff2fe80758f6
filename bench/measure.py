"""What every bench shares: child processes, memory, the machine, result rows, tables.

A measured task runs in a fresh process, so that no learner inherits another's caches or peak
memory; repeats of several learners are interleaved, so that a slow minute of a shared machine
hits all of them.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
LIBRARIES = ("numpy", "numba", "scikit-learn", "lightgbm", "xgboost", "vtree")

Row = dict[str, Any]


def machine() -> Row:
    """Describe the processor, its cores and the libraries."""
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
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


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


def in_child(script: str, *arguments: str, threads: int) -> Row:
    """Run a bench script as a child that prints one JSON object; return that."""
    environment = dict(os.environ)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        environment[name] = str(threads)
    environment["VTREE_BENCH_THREADS"] = str(threads)
    command = [sys.executable, script, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def interleaved(
    tasks: Sequence[str], run: Callable[[str], Row], repeats: int
) -> dict[str, list[Row]]:
    """Run every task `repeats` times, one after the other in turns."""
    rows: dict[str, list[Row]] = {task: [] for task in tasks}
    for _ in range(repeats):
        for task in tasks:
            rows[task].append(run(task))
    return rows


def median(rows: Sequence[Row], field: str) -> float:
    """Return the median of a field over repeats."""
    return statistics.median(float(row[field]) for row in rows)


def write_rows(name: str, rows: Sequence[Row]) -> Path:
    """Append rows, each with the machine, to results/NAME.jsonl."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.jsonl"
    where = machine()
    with path.open("a") as file:
        for row in rows:
            file.write(json.dumps({**where, **row}, sort_keys=True) + "\n")
    return path


def table(header: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)
