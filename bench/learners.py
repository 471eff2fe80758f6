"""The learners that benches compare, the data they learn, and one measured fit.

Every learner grows one tree of the given depth. For more than two classes, LightGBM, XGBoost and
scikit-learn's gradient boosting grow one tree a class.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from measure import Outcome, Row, at_least, in_child, interleaved, timed, with_peak
from numpy.typing import NDArray

Data = tuple[NDArray[np.float32], NDArray[np.int64]]
Builder = Callable[[int, int], Any]  # (depth, threads) → an estimator

n_features = at_least(5)  # types of argparse: what `make` can draw
n_classes = at_least(2)


def make(rows: int, features: int, seed: int, classes: int = 2, missing: float = 0.0) -> Data:
    """Return (X, y): an additive signal with interactions and a tenth of the labels changed."""
    from scipy.special import ndtr

    generator = np.random.default_rng(seed)
    X = generator.standard_normal((rows, features), dtype=np.float32)
    score = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] + (X[:, 4] > 0.5)
    score += 0.5 * generator.standard_normal(rows, dtype=np.float32)
    # About as many rows of each class.
    y = (classes * ndtr((score.astype(np.float64) - 0.5) / 1.5)).astype(np.int64)
    y = np.minimum(y, classes - 1)
    changed = generator.random(rows) < 0.1
    y = np.where(changed, (y + generator.integers(1, classes, rows)) % classes, y)
    if missing:
        X[generator.random(X.shape, dtype=np.float32) < missing] = np.nan
    return X, y


def save_data(folder: Path, train: Data, test: Data) -> None:
    """Write arrays where children find them."""
    for suffix, (X, y) in (("", train), ("_test", test)):
        np.save(folder / f"X{suffix}.npy", X)
        np.save(folder / f"y{suffix}.npy", y)


def load_data(folder: Path) -> tuple[Data, Data]:
    """Return (train, test) as `save_data` wrote them."""
    X, y, X_test, y_test = (
        np.load(folder / f"{name}.npy") for name in ("X", "y", "X_test", "y_test")
    )
    return (X, y), (X_test, y_test)


def in_turns(
    script: str,
    names: Iterable[str],
    options: argparse.Namespace,
    passed_on: Sequence[str],
    data: tuple[Data, Data],
    facts: Row | None = None,
) -> Outcome[str]:
    """Run `script --child NAME FOLDER` for each name, in turns, on the same (train, test) data.

    passed_on: the options that children need; one that is None is left out. facts: what rows tell
    besides what the child does.
    """
    given = {name: getattr(options, name) for name in passed_on}
    flags = [f"--{name}={value}" for name, value in given.items() if value is not None]
    with tempfile.TemporaryDirectory() as folder:
        save_data(Path(folder), *data)

        def run(name: str) -> Row:
            child = (*flags, "--child", name, folder)
            row = in_child(script, *child, threads=options.threads, settled=True)
            return {**row, **(facts or {})}

        return interleaved(script, names, run, options)


def child_threads() -> int:
    """Return how many threads the parent gives to this process."""
    return int(os.environ["VTREE_BENCH_THREADS"])


def _vtree(depth: int, threads: int) -> Any:
    from vtree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=depth, n_jobs=threads)


def _vtree_cuda(depth: int, threads: int) -> Any:
    return _vtree(depth, threads).set_params(device="cuda")


def _sklearn(depth: int, threads: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=depth, random_state=0)


def _sklearn_hist(depth: int, threads: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=1,
        max_depth=depth,
        max_leaf_nodes=2**depth,
        learning_rate=1.0,
        min_samples_leaf=1,
        early_stopping=False,
    )


def _lightgbm(depth: int, threads: int, **more: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=1,
        num_leaves=2**depth,
        max_depth=depth,
        learning_rate=1.0,
        min_child_samples=1,
        min_child_weight=0.0,
        n_jobs=threads,
        verbose=-1,
        **more,
    )


def lightgbm_by_leaf(depth: int, threads: int) -> Any:
    """Return LightGBM as it likes to grow: as many leaves, wherever they gain most."""
    return _lightgbm(depth, threads).set_params(max_depth=-1)


def _lightgbm_quantised(depth: int, threads: int) -> Any:
    return _lightgbm(depth, threads, use_quantized_grad=True, quant_train_renew_leaf=True)


def _xgboost(depth: int, threads: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(
        n_estimators=1,
        tree_method="hist",
        max_depth=depth,
        max_bin=256,
        learning_rate=1.0,
        min_child_weight=0.0,
        reg_lambda=0.0,
        n_jobs=threads,
    )


def _xgboost_cuda(depth: int, threads: int) -> Any:
    return _xgboost(depth, threads).set_params(device="cuda")


def _catboost(depth: int, threads: int) -> Any:
    return importlib.import_module("catboost").CatBoostClassifier(
        iterations=1,
        depth=depth,
        grow_policy="Depthwise",
        learning_rate=1.0,
        l2_leaf_reg=0.0,
        random_strength=0.0,
        bootstrap_type="No",
        boost_from_average=False,
        thread_count=threads,
        allow_writing_files=False,
        verbose=False,
    )


MODELS: dict[str, Builder] = {
    "vtree": _vtree,
    "vtree_cuda": _vtree_cuda,
    "sklearn": _sklearn,
    "sklearn_hist": _sklearn_hist,
    "lightgbm": _lightgbm,
    "lightgbm_quantised": _lightgbm_quantised,
    "xgboost": _xgboost,
    "xgboost_cuda": _xgboost_cuda,
    "catboost": _catboost,
}
MODULES = {name: name.partition("_")[0] for name in MODELS}


def accuracy(model: Any, data: Data) -> float:
    """Return the share of rows whose class the model tells."""
    # CatBoost answers multiclass in a column.
    return float(np.mean(np.asarray(model.predict(data[0])).reshape(-1) == data[1]))


def fit_row(learner: str, build: Builder, folder: Path, depth: int, fits: int = 1) -> Row:
    """Fit one learner in this process and measure it.

    One fit on few rows warms up: compiled code comes from the disk cache.
    fits: how many fits the seconds are a median of; one is enough where it takes long.
    """
    train, test = load_data(folder)
    X, y = train
    threads = child_threads()
    start = time.perf_counter()
    build(depth, threads).fit(X[:2000], y[:2000])
    warm_up = time.perf_counter() - start
    model, seconds, grown = with_peak(lambda: build(depth, threads).fit(X, y))
    if fits > 1:
        seconds = timed({0: lambda: build(depth, threads).fit(X, y)}, fits)[0].median
    start = time.perf_counter()
    share = accuracy(model, test)
    return {
        "learner": learner,
        "rows": X.shape[0],
        "features": X.shape[1],
        "depth": depth,
        "threads": threads,
        "seconds": seconds,
        "warm_up_seconds": warm_up,
        "predict_seconds": time.perf_counter() - start,
        "accuracy": share,
        "peak_over_input": (grown + X.nbytes) / X.nbytes,
        **(_details(model, X, threads) if learner.startswith("vtree") else {}),
    }


def _details(model: Any, X: NDArray[np.float32], threads: int) -> Row:
    """Return what only vtree tells: the digest, and how long binning on the CPU alone takes."""
    import vtree
    import vtree_kernels
    from vtree.binning import bin_table

    numeric = np.full(X.shape[1], -1)
    with vtree_kernels.threads(threads):
        binning = timed({0: lambda: bin_table(X, numeric)}, 1)[0].median
    return {
        "digest": vtree.digest(model),
        "leaves": model.get_n_leaves(),
        "bin_seconds": binning,
    }


def print_row(row: Row) -> None:
    """Hand a child's row to its parent."""
    print(json.dumps(row))
