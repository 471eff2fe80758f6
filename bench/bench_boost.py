"""Boosting, end to end from a float32 array: vtree beside XGBoost, LightGBM and CatBoost.

    python bench/bench_boost.py                          1,000,000 × 28, two classes, 100 rounds
    python bench/bench_boost.py --rows 100000 --classes 5 --depth 10 --leaves 255

Level by level to `--depth` (vtree's Newton, XGBoost), leaf by leaf to `--leaves` (vtree's
leaf-wise, LightGBM), and symmetric trees of `--depth` (vtree's ordered, CatBoost: both in plain
mode, at a rate of 0.3). Each learner runs in a process of its own: two rounds of few rows and two
of all to warm up, then one measured fit; beside it stand the peak memory of all but the first and
the log-loss of 100,000 other rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from learners import child_threads, in_turns, load_data, make, n_classes, n_features, print_row
from measure import (
    Outcome,
    Row,
    exit_naming,
    installed,
    median,
    new_parser,
    positive,
    table,
    with_peak,
)

TEST_ROWS = 100_000


def _newton(rounds: int, depth: int, leaves: int, threads: int) -> Any:
    from vtree import NewtonBoostingClassifier

    return NewtonBoostingClassifier(n_estimators=rounds, max_depth=depth, n_jobs=threads)


def _xgboost(rounds: int, depth: int, leaves: int, threads: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(
        n_estimators=rounds, max_depth=depth, tree_method="hist", max_bin=256, n_jobs=threads
    )


def _leafwise(rounds: int, depth: int, leaves: int, threads: int) -> Any:
    from vtree import LeafwiseBoostingClassifier

    return LeafwiseBoostingClassifier(n_estimators=rounds, num_leaves=leaves, n_jobs=threads)


def _lightgbm(rounds: int, depth: int, leaves: int, threads: int, **more: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=rounds, num_leaves=leaves, n_jobs=threads, verbose=-1, **more
    )


def _lightgbm_quantised(rounds: int, depth: int, leaves: int, threads: int) -> Any:
    return _lightgbm(rounds, depth, leaves, threads, use_quantized_grad=True)


def _ordered(rounds: int, depth: int, leaves: int, threads: int) -> Any:
    from vtree import OrderedBoostingClassifier

    own = {"n_estimators": rounds, "depth": depth, "n_jobs": threads}
    return OrderedBoostingClassifier(learning_rate=0.3, **own)


def _catboost(rounds: int, depth: int, leaves: int, threads: int) -> Any:
    from catboost import CatBoostClassifier

    own = {"iterations": rounds, "depth": depth, "thread_count": threads}
    chance = {"boosting_type": "Plain", "bootstrap_type": "Bayesian"}
    quiet = {"verbose": 0, "allow_writing_files": False}
    return CatBoostClassifier(learning_rate=0.3, **own, **chance, **quiet)


BUILDERS: dict[str, Callable[[int, int, int, int], Any]] = {
    "vtree": _newton,
    "xgboost": _xgboost,
    "vtree_leafwise": _leafwise,
    "lightgbm": _lightgbm,
    "lightgbm_quantised": _lightgbm_quantised,
    "vtree_ordered": _ordered,
    "catboost": _catboost,
}
MODULES = {name: name.partition("_")[0] for name in BUILDERS}


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__, repeats=3)
    parser.add_argument("--rows", type=positive, default=1_000_000)
    parser.add_argument("--features", type=n_features, default=28)
    parser.add_argument("--classes", type=n_classes, default=2)
    parser.add_argument("--rounds", type=positive, default=100)
    parser.add_argument("--depth", type=positive, default=6)
    parser.add_argument("--leaves", type=positive, default=63)
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("--learners", nargs="+", choices=BUILDERS)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def _fit_row(learner: str, folder: Path, options: argparse.Namespace) -> Row:
    (X, y), (X_test, y_test) = load_data(folder)
    threads = child_threads()
    shape = (options.depth, options.leaves, threads)
    start = time.perf_counter()
    BUILDERS[learner](2, *shape).fit(X[:5_000], y[:5_000])
    warm_up = time.perf_counter() - start

    def fitted() -> tuple[Any, float]:
        BUILDERS[learner](2, *shape).fit(X, y)  # large nodes take kernels of their own
        start = time.perf_counter()
        return BUILDERS[learner](options.rounds, *shape).fit(X, y), time.perf_counter() - start

    # The peak is that of both, for what the first fit frees the process may keep for the second.
    (model, seconds), _, grown = with_peak(fitted)
    start = time.perf_counter()
    shares = np.asarray(model.predict_proba(X_test))
    predicting = time.perf_counter() - start
    own = np.clip(shares[np.arange(y_test.size), y_test], 1e-15, 1.0)
    row: Row = {
        "learner": learner,
        "rows": X.shape[0],
        "features": X.shape[1],
        "classes": options.classes,
        "rounds": options.rounds,
        "depth": options.depth,
        "leaves": options.leaves,
        "threads": threads,
        "seconds": seconds,
        "warm_up_seconds": warm_up,
        "predict_seconds": predicting,
        "log_loss": float(-np.log(own).mean()),
        "peak_over_input": (grown + X.nbytes) / X.nbytes,
    }
    if learner.startswith("vtree"):
        import vtree

        row["digest"] = vtree.digest(model)
    return row


def _measure(options: argparse.Namespace) -> Outcome[str]:
    learners = options.learners or installed(MODULES)
    train = make(options.rows, options.features, 0, options.classes)
    data = train, make(TEST_ROWS, options.features, 1, options.classes)
    return in_turns(__file__, learners, options, ("classes", "rounds", "depth", "leaves"), data)


def main() -> None:
    """Parse the command line, measure, print a table and keep the rows."""
    options = _options()
    if options.child:
        learner, folder = options.child
        print_row(_fit_row(learner, Path(folder), options))
        return
    found, failed = _measure(options)
    lines = [
        [
            learner,
            f"{median(rows, 'seconds'):.2f}",
            f"{median(rows, 'predict_seconds'):.2f}",
            f"{median(rows, 'log_loss'):.4f}",
            f"{median(rows, 'peak_over_input'):.2f}",
        ]
        for learner, rows in found.items()
    ]
    print(
        f"{options.rows:,} × {options.features}, {options.classes} classes, {options.rounds} "
        f"rounds, depth {options.depth} or {options.leaves} leaves, {options.threads} threads"
    )
    heads = ["learner", "seconds", "predict 100,000", "log-loss", "peak memory / input"]
    print(table(heads, lines))
    exit_naming(failed)


if __name__ == "__main__":
    main()
