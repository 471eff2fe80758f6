"""Prediction of a float32 array, by one tree or by boosted ones: vtree beside its peers.

    python bench/bench_predict.py                    1,000,000 × 28, one tree of depth 10
    python bench/bench_predict.py --trees 100 --depth 8

Each learner fits in a process of its own, one tree on 200,000 rows, boosted ones on 30,000, and
predicts the classes of other rows. Boosted trees are those of `bench_boost.py`, none deeper than
asked for: vtree's Newton and leaf-wise trees, XGBoost's and LightGBM's.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import bench_boost
from learners import (
    MODELS,
    MODULES,
    accuracy,
    child_threads,
    in_turns,
    load_data,
    make,
    n_features,
    print_row,
)
from measure import (
    Outcome,
    Row,
    exit_naming,
    installed,
    median,
    new_parser,
    positive,
    table,
    timed,
)

LEARNERS = ("vtree", "sklearn", "lightgbm")  # of one tree
BOOSTED = ("vtree", "vtree_leafwise", "xgboost", "lightgbm")
TRAIN_ROWS, TRAIN_ROWS_BOOSTED = 200_000, 30_000
RUNS = 5  # predictions in each process, of which the median counts


def _new(learner: str, trees: int, depth: int, threads: int) -> Any:
    if trees == 1:
        return MODELS[learner](depth, threads)
    return bench_boost.BUILDERS[learner](trees, depth, 2**depth, threads).set_params(
        max_depth=depth
    )


def child(learner: str, folder: Path, trees: int, depth: int) -> Row:
    """Fit one learner in this process and measure its prediction."""
    train, test = load_data(folder)
    threads = child_threads()
    model = _new(learner, trees, depth, threads).fit(*train)
    time = timed({0: lambda: model.predict(test[0])}, RUNS)[0]
    return {
        "learner": learner,
        "rows": test[0].shape[0],
        "features": test[0].shape[1],
        "trees": trees,
        "depth": depth,
        "threads": threads,
        "predict_seconds": time.median,
        "best_predict_seconds": time.best,
        "accuracy": accuracy(model, test),
    }


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__, repeats=3)
    parser.add_argument("--rows", type=positive, default=1_000_000)
    parser.add_argument("--features", type=n_features, default=28)
    parser.add_argument("--trees", type=positive, default=1)
    parser.add_argument("--depth", type=positive, default=10)
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("--learners", nargs="+", choices={**MODELS, **bench_boost.BUILDERS})
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def _measure(options: argparse.Namespace) -> Outcome[str]:
    modules = MODULES if options.trees == 1 else bench_boost.MODULES
    usual = LEARNERS if options.trees == 1 else BOOSTED
    learners = options.learners or installed({name: modules[name] for name in usual})
    train_rows = TRAIN_ROWS if options.trees == 1 else TRAIN_ROWS_BOOSTED
    train = make(min(train_rows, options.rows), options.features, 0)
    data = train, make(options.rows, options.features, 1)
    return in_turns(__file__, learners, options, ("trees", "depth"), data)


def main() -> None:
    """Parse the command line, measure, print a table and keep the rows."""
    options = _options()
    if options.child:
        learner, folder = options.child
        print_row(child(learner, Path(folder), options.trees, options.depth))
        return
    found, failed = _measure(options)
    own = median(found["vtree"], "predict_seconds") if "vtree" in found else None
    lines = []
    for learner, rows in found.items():
        seconds = median(rows, "predict_seconds")
        times = "-" if own is None else f"{seconds / own:.1f}"
        lines.append([learner, f"{seconds:.4f}", times, f"{median(rows, 'accuracy'):.4f}"])
    print(
        f"predict {options.rows:,} × {options.features}, trees: {options.trees} of depth "
        f"{options.depth}, {options.threads} threads"
    )
    print(table(["learner", "seconds", "× vtree", "accuracy"], lines))
    exit_naming(failed)


if __name__ == "__main__":
    main()
