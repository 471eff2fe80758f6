"""A fresh process: import and first fit, with compiled code to make and with it at hand.

    python bench/bench_cold.py

`empty` starts with an empty NUMBA_CACHE_DIR and compiles, `filled` finds there what an earlier
process compiled, `sklearn` imports sklearn.tree and fits its tree. Seconds of a process count
from the interpreter's start to its end.
"""

# No NumPy here: its import is part of what is measured.
from __future__ import annotations

import argparse
import importlib
import json
import tempfile
import time

from measure import (
    Outcome,
    Row,
    exit_naming,
    in_child,
    interleaved,
    median,
    new_parser,
    positive,
    table,
)

TASKS = {
    "empty": "vtree",
    "filled": "vtree",
    "sklearn": "sklearn.tree",
}
FIELDS = ("import_seconds", "first_fit_seconds", "total_seconds", "process_seconds")
SHOWN = [field.removesuffix("_seconds").replace("_", " ") for field in FIELDS]


def child(task: str, n_rows: int) -> Row:
    """Import, fit and fit again in this process."""
    start = time.perf_counter()
    learner = importlib.import_module(TASKS[task]).DecisionTreeClassifier
    imported = time.perf_counter() - start
    np = importlib.import_module("numpy")
    X = np.random.default_rng(0).standard_normal((n_rows, 20), dtype=np.float32)
    y = (X[:, 0] * X[:, 1] > 0).astype(np.int64)
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        model = learner(max_depth=6).fit(X, y)
        seconds.append(time.perf_counter() - start)
    return {
        "task": task,
        "rows": n_rows,
        "features": 20,
        "depth": 6,
        "import_seconds": imported,
        "first_fit_seconds": seconds[0],
        "second_fit_seconds": seconds[1],
        "total_seconds": imported + seconds[0],
        "accuracy": float(model.score(X, y)),
    }


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__, repeats=5)
    parser.add_argument("--rows", type=positive, default=1000)
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--child", choices=TASKS, help=argparse.SUPPRESS)
    return parser.parse_args()


def _measure(options: argparse.Namespace) -> Outcome[str]:
    def run(task: str, cache: str) -> Row:
        flags = ("--rows", str(options.rows), "--child", task)
        more = {"NUMBA_CACHE_DIR": cache}
        start = time.perf_counter()
        row = in_child(__file__, *flags, threads=options.threads, more=more)
        return {**row, "process_seconds": time.perf_counter() - start}

    with tempfile.TemporaryDirectory() as filled:
        warm = set()

        def repeat(task: str) -> Row:
            if task == "empty":
                with tempfile.TemporaryDirectory() as empty:
                    return run(task, empty)
            if task not in warm:
                run(task, filled)  # fills the cache, and Python's own of its modules
                warm.add(task)
            return run(task, filled)

        return interleaved(__file__, options.tasks, repeat, options)


def main() -> None:
    """Parse the command line, measure, print a table and keep the rows."""
    options = _options()
    if options.child:
        print(json.dumps(child(options.child, options.rows)))
        return
    found, failed = _measure(options)
    lines = [
        [task, *(f"{median(rows, field):.2f}" for field in FIELDS)] for task, rows in found.items()
    ]
    print(f"a fresh process: import and one fit of {options.rows:,} × 20, depth 6, in seconds")
    print(table(["task", *SHOWN], lines))
    exit_naming(failed)


if __name__ == "__main__":
    main()
