"""Forests, end to end from a float32 array: vtree beside scikit-learn, XGBoost and LightGBM.

    python bench/bench_forest.py                       20,000 × 28, two classes, 30 trees
    python bench/bench_forest.py --rows 100000 --trees 100 --learners vtree sklearn
    python bench/bench_forest.py --rows 1000000 --trees 20 --depth 16 --test-rows 1000000
    python bench/bench_forest.py --rows 100000 --trees 20 --learners vtree_leaves lightgbm
    python bench/bench_forest.py --rows 1000 --features 20 --trees 100 --repeats 5

Random forests and extra trees, and the forest modes of XGBoost and LightGBM, which need a depth or
a number of leaves: 16 and 4,095 where `--depth` and `--leaves` are not given; vtree_leaves has as
many leaves as LightGBM, and vtree with `--depth 16` as many as XGBoost. All draw √F features a
node. Each learner runs in a process of its own: a short fit to warm up, then one measured fit with
its peak memory, predictions of the test rows, and the model's file: vtree's slim file, joblib's or
the library's own, and its loading.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib import import_module
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

MOST_TEST_ROWS = 100_000
DEPTH, LEAVES = 16, 4095  # of the forest modes of boosting libraries, where none is given
DISTINCT = 0.632  # share of the rows in a bootstrap sample


def _scikit_learn_like(
    home: str, name: str, *, by_leaf: bool = False
) -> Callable[[argparse.Namespace, int, int], Any]:
    def build(options: argparse.Namespace, trees: int, threads: int) -> Any:
        own: dict[str, Any] = {"n_jobs": threads, "random_state": 0, "max_depth": options.depth}
        if by_leaf:
            own["max_leaf_nodes"] = options.leaves
        return getattr(import_module(home), name)(trees, **own)

    return build


def _xgboost(options: argparse.Namespace, trees: int, threads: int) -> Any:
    from xgboost import XGBRFClassifier

    return XGBRFClassifier(
        n_estimators=trees,
        max_depth=options.depth or DEPTH,
        tree_method="hist",
        subsample=DISTINCT,
        colsample_bynode=options.features**-0.5,
        min_child_weight=0,
        reg_lambda=1e-5,
        n_jobs=threads,
    )


def _lightgbm(options: argparse.Namespace, trees: int, threads: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        boosting_type="rf",
        n_estimators=trees,
        num_leaves=options.leaves,
        max_depth=options.depth or -1,
        min_child_samples=1,
        subsample=DISTINCT,
        subsample_freq=1,
        feature_fraction_bynode=options.features**-0.5,
        n_jobs=threads,
        verbose=-1,
    )


BUILDERS: dict[str, Callable[[argparse.Namespace, int, int], Any]] = {
    "vtree": _scikit_learn_like("vtree", "RandomForestClassifier"),
    "sklearn": _scikit_learn_like("sklearn.ensemble", "RandomForestClassifier"),
    "vtree_leaves": _scikit_learn_like("vtree", "RandomForestClassifier", by_leaf=True),
    "xgboost": _xgboost,
    "lightgbm": _lightgbm,
    "vtree_extra": _scikit_learn_like("vtree", "ExtraTreesClassifier"),
    "sklearn_extra": _scikit_learn_like("sklearn.ensemble", "ExtraTreesClassifier"),
}
PASSED_ON = ("classes", "features", "trees", "depth", "leaves")
MODULES = {name: name.partition("_")[0] for name in BUILDERS}


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__, repeats=1)
    parser.add_argument("--rows", type=positive, default=20_000)
    parser.add_argument("--features", type=n_features, default=28)
    parser.add_argument("--classes", type=n_classes, default=2)
    parser.add_argument("--trees", type=positive, default=30)
    parser.add_argument("--depth", type=positive)
    parser.add_argument("--leaves", type=positive, default=LEAVES)
    parser.add_argument("--test-rows", type=positive, help="as many as --rows, at most 100,000")
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("--learners", nargs="+", choices=BUILDERS)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def _leaves(model: Any) -> float:
    """Return how many leaves a tree has, on average."""
    if hasattr(model, "grown_"):
        return float((model.grown_.feature < 0).sum() / model.grown_.root.size)
    if hasattr(model, "estimators_"):
        return float(np.mean([tree.get_n_leaves() for tree in model.estimators_]))
    if hasattr(model, "booster_"):
        lines = model.booster_.model_to_string().splitlines()
        counts = [int(line.partition("=")[2]) for line in lines if line.startswith("num_leaves=")]
        return float(np.mean(counts))
    return float(np.mean([tree.count("leaf=") for tree in model.get_booster().get_dump()]))


def _saved(learner: str, model: Any, folder: Path) -> tuple[int, float]:
    """Return (bytes of the model's file, seconds to load it)."""
    if learner.startswith("vtree"):
        import vtree

        path = folder / "model.vtree"
        vtree.save(model, path, slim=True)
        load: Callable[[Path], Any] = vtree.load
    else:
        import joblib

        path = folder / "model.joblib"
        joblib.dump(model, path)
        load = joblib.load
    start = time.perf_counter()
    load(path)
    return path.stat().st_size, time.perf_counter() - start


def _fit_row(learner: str, folder: Path, options: argparse.Namespace) -> Row:
    (X, y), (X_test, y_test) = load_data(folder)
    threads = child_threads()
    start = time.perf_counter()
    BUILDERS[learner](options, 2, threads).fit(X[:2000], y[:2000]).predict(X[:2000])
    warm_up = time.perf_counter() - start
    build = BUILDERS[learner]
    model, seconds, grown = with_peak(lambda: build(options, options.trees, threads).fit(X, y))
    start = time.perf_counter()
    right = np.asarray(model.predict(X_test)) == y_test
    predicting = time.perf_counter() - start
    size, loading = _saved(learner, model, folder)
    row: Row = {
        "learner": learner,
        "rows": X.shape[0],
        "features": X.shape[1],
        "classes": options.classes,
        "trees": options.trees,
        "depth": options.depth,
        "leaves": _leaves(model),
        "threads": threads,
        "seconds": seconds,
        "warm_up_seconds": warm_up,
        "predict_seconds": predicting,
        "test_rows": y_test.size,
        "accuracy": float(right.mean()),
        "peak_over_input": (grown + X.nbytes) / X.nbytes,
        "file_bytes": size,
        "load_seconds": loading,
    }
    if learner.startswith("vtree"):
        import vtree

        row["digest"] = vtree.digest(model)
    return row


def _measure(options: argparse.Namespace) -> Outcome[str]:
    learners = options.learners or installed(MODULES)
    train = make(options.rows, options.features, 0, options.classes)
    n_test = options.test_rows or min(MOST_TEST_ROWS, options.rows)
    data = train, make(n_test, options.features, 1, options.classes)
    return in_turns(__file__, learners, options, PASSED_ON, data)


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
            f"{median(rows, 'predict_seconds'):.3f}",
            f"{median(rows, 'accuracy'):.4f}",
            f"{median(rows, 'leaves'):,.0f}",
            f"{median(rows, 'peak_over_input'):.2f}",
            f"{median(rows, 'file_bytes') / 2**20:.1f}",
            f"{median(rows, 'load_seconds'):.3f}",
        ]
        for learner, rows in found.items()
    ]
    depth = "full depth" if options.depth is None else f"depth {options.depth}"
    print(
        f"{options.rows:,} × {options.features}, {options.classes} classes, {options.trees} trees, "
        f"{depth}, {options.threads} threads"
    )
    heads = ["learner", "seconds", "predict", "accuracy", "leaves", "peak / input", "MiB", "load"]
    print(table(heads, lines))
    exit_naming(failed)


if __name__ == "__main__":
    main()
