"""A table binned once for many fits: `vtree.Bins` beside fits of the array, and LightGBM's Dataset.

    python bench/bench_reuse.py                          1,000,000 × 28, 10 fits of 10 rounds
    python bench/bench_reuse.py --rows 100000 --fits 20 --rounds 20

A search over `--fits` settings of L2 regularisation. Each way runs in a process of its own: one
fit to warm up, then all fits, the building of what they share included.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from learners import child_threads, in_turns, load_data, make, n_features, print_row
from measure import (
    Outcome,
    Row,
    exit_naming,
    installed,
    median,
    new_parser,
    positive,
    table,
)

MODULES = {
    "vtree_array": "vtree",
    "vtree_bins": "vtree",
    "lightgbm_array": "lightgbm",
    "lightgbm_dataset": "lightgbm",
}


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__, repeats=3)
    parser.add_argument("--rows", type=positive, default=1_000_000)
    parser.add_argument("--features", type=n_features, default=28)
    parser.add_argument("--fits", type=positive, default=10)
    parser.add_argument("--rounds", type=positive, default=10)
    parser.add_argument("--leaves", type=positive, default=31)
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("--ways", nargs="+", choices=MODULES)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def _vtree(shared: bool, X: Any, y: Any, penalties: list[float], options: Any) -> Any:
    from vtree import Bins, LeafwiseBoostingClassifier

    given = Bins(X) if shared else X
    for penalty in penalties:
        model = LeafwiseBoostingClassifier(
            n_estimators=options.rounds,
            num_leaves=options.leaves,
            reg_lambda=penalty,
            n_jobs=child_threads(),
        ).fit(given, y)
    return model


def _lightgbm(shared: bool, X: Any, y: Any, penalties: list[float], options: Any) -> Any:
    import lightgbm

    data = lightgbm.Dataset(X, y, free_raw_data=False)
    for penalty in penalties:
        if not shared:
            data = lightgbm.Dataset(X, y)
        how = {
            "objective": "binary",
            "num_leaves": options.leaves,
            "lambda_l2": penalty,
            "num_threads": child_threads(),
            "verbosity": -1,
        }
        model = lightgbm.train(how, data, options.rounds)
    return model


def _share(model: Any, X: Any) -> Any:
    found = model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.predict(X)
    return np.asarray(found)


def _way_row(way: str, folder: Path, options: argparse.Namespace) -> Row:
    (X, y), (X_test, y_test) = load_data(folder)
    fit = _vtree if way.startswith("vtree") else _lightgbm
    shared = way.endswith(("bins", "dataset"))
    fit(shared, X[:5000], y[:5000], [1.0], options)
    penalties = np.logspace(-2, 2, options.fits).tolist()
    start = time.perf_counter()
    model = fit(shared, X, y, penalties, options)
    seconds = time.perf_counter() - start
    return {
        "way": way,
        "rows": X.shape[0],
        "features": X.shape[1],
        "fits": options.fits,
        "rounds": options.rounds,
        "leaves": options.leaves,
        "threads": child_threads(),
        "seconds": seconds,
        "accuracy": float(np.mean((_share(model, X_test) > 0.5) == y_test)),
    }


def _measure(options: argparse.Namespace) -> Outcome[str]:
    ways = options.ways or installed(MODULES)
    train = make(options.rows, options.features, 0)
    data = train, make(max(1000, options.rows // 10), options.features, 1)
    return in_turns(__file__, ways, options, ("fits", "rounds", "leaves"), data)


def main() -> None:
    """Parse the command line, measure, print a table and keep the rows."""
    options = _options()
    if options.child:
        way, folder = options.child
        print_row(_way_row(way, Path(folder), options))
        return
    found, failed = _measure(options)
    lines = [
        [way, f"{median(rows, 'seconds'):.2f}", f"{median(rows, 'accuracy'):.4f}"]
        for way, rows in found.items()
    ]
    print(
        f"{options.rows:,} × {options.features}, {options.fits} fits of {options.rounds} rounds, "
        f"{options.leaves} leaves, {options.threads} threads"
    )
    print(table(["way", "seconds", "accuracy"], lines))
    exit_naming(failed)


if __name__ == "__main__":
    main()
