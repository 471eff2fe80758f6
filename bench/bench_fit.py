"""One tree, end to end from a float32 array: vtree beside scikit-learn and LightGBM.

    python bench/bench_fit.py                        1,000,000 × 28, two classes, depth 10
    python bench/bench_fit.py --rows 100000 --repeats 5 --learners vtree sklearn

Each learner runs in a process of its own: one fit to warm up (compiled code is loaded from the
disk cache), then one measured fit, its peak memory, and the accuracy on 200,000 other rows.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import Row, in_child, interleaved, median, table, with_peak, write_rows
from numpy.typing import NDArray

LEARNERS = ("vtree", "sklearn", "lightgbm")
TEST_ROWS = 200_000
Data = tuple[NDArray[np.float32], NDArray[np.int64]]


def make(rows: int, features: int, seed: int) -> Data:
    """Return (X, y): an additive signal with interactions and a tenth of the labels flipped."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((rows, features), dtype=np.float32)
    score = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] + (X[:, 4] > 0.5)
    score += 0.5 * generator.standard_normal(rows, dtype=np.float32)
    y = (score > 0.5).astype(np.int64)
    flipped = generator.random(rows) < 0.1
    return X, np.where(flipped, 1 - y, y)


def _vtree(depth: int, threads: int) -> Any:
    from vtree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=depth, n_jobs=threads)


def _sklearn(depth: int, threads: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=depth, random_state=0)


def _lightgbm(depth: int, threads: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=1,
        num_leaves=2**depth,
        learning_rate=1.0,
        min_child_samples=1,
        min_child_weight=0.0,
        n_jobs=threads,
        verbose=-1,
    )


MODELS: dict[str, Callable[[int, int], Any]] = {
    "vtree": _vtree,
    "sklearn": _sklearn,
    "lightgbm": _lightgbm,
}


def child(learner: str, folder: Path, depth: int) -> Row:
    """Fit one learner in this process and measure it."""
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    X_test, y_test = np.load(folder / "X_test.npy"), np.load(folder / "y_test.npy")
    threads = int(os.environ["VTREE_BENCH_THREADS"])
    start = time.perf_counter()
    MODELS[learner](depth, threads).fit(X[:2000], y[:2000])
    warm_up = time.perf_counter() - start
    model, seconds, grown = with_peak(lambda: MODELS[learner](depth, threads).fit(X, y))
    start = time.perf_counter()
    accuracy = float(np.mean(model.predict(X_test) == y_test))
    row: Row = {
        "learner": learner,
        "rows": X.shape[0],
        "features": X.shape[1],
        "depth": depth,
        "threads": threads,
        "seconds": seconds,
        "warm_up_seconds": warm_up,
        "predict_seconds": time.perf_counter() - start,
        "accuracy": accuracy,
        "peak_over_input": (grown + X.nbytes) / X.nbytes,
    }
    if learner == "vtree":
        import vtree

        row["digest"] = vtree.digest(model)
        row["leaves"] = model.get_n_leaves()
    return row


def main() -> None:
    """Parse the command line, measure, print a table and keep the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=28)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=LEARNERS)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(child(options.child[0], Path(options.child[1]), options.depth)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for suffix, rows, seed in (("", options.rows, 0), ("_test", TEST_ROWS, 1)):
            X, y = make(rows, options.features, seed)
            np.save(folder / f"X{suffix}.npy", X)
            np.save(folder / f"y{suffix}.npy", y)

        def run(learner: str) -> Row:
            flags = ("--depth", str(options.depth), "--child", learner, name)
            return in_child(__file__, *flags, threads=options.threads)

        found = interleaved(options.learners, run, options.repeats)
    write_rows("fit", [row for rows in found.values() for row in rows])
    fastest = median(found["vtree"], "seconds") if "vtree" in found else None
    lines = [
        [
            learner,
            f"{median(rows, 'seconds'):.2f}",
            "-" if fastest is None else f"{median(rows, 'seconds') / fastest:.1f}",
            f"{median(rows, 'accuracy'):.4f}",
            f"{median(rows, 'peak_over_input'):.2f}",
        ]
        for learner, rows in found.items()
    ]
    print(
        f"{options.rows:,} × {options.features}, depth {options.depth}, {options.threads} threads"
    )
    print(table(["learner", "seconds", "× vtree", "accuracy", "peak memory / input"], lines))


if __name__ == "__main__":
    main()
