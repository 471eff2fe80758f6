"""The kernel `bincode`: ns per value; then binning a table as a whole, beside its peers.

    python bench/bench_bincode.py

The whole is edges from a sample and codes of all values: LightGBM's Dataset and XGBoost's
QuantileDMatrix do the same, where they are installed.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from kernel_bench import Case, Work, bench, command_line
from measure import Row, installed, table, timed, write_rows
from numpy.typing import NDArray

from vtree.binning import bin_table
from vtree_kernels import threads
from vtree_kernels.bincode import bincode

FEATURES = 28
ON_GPU = (0, 2)  # arguments that lie there


def _work(dtype: str, bins: int, tails: float, missing: float, rows: int) -> Work:
    draw = np.random.default_rng(bins)
    values = draw.standard_normal((rows, FEATURES), dtype=np.float32).astype(dtype)
    if tails:
        values = np.sinh(tails * values)
    inner = np.linspace(0, 1, bins + 1)[1:-1]
    edges = np.quantile(values[:20_000].astype(np.float64), inner, axis=0).T.copy()
    values[draw.random(values.shape, dtype=np.float32) < missing] = np.nan
    offsets = (np.arange(FEATURES + 1) * (bins - 1)).tolist()
    call = (values, list(range(FEATURES)), edges.reshape(-1), offsets, np.uint8)
    return Work([call], rows * FEATURES, values.nbytes + rows * FEATURES)


def _case(name: str, dtype: str, bins: int = 255, tails: float = 0.0, missing: float = 0.0) -> Case:
    facts = {"dtype": dtype, "bins": bins, "tails": tails, "missing": missing}
    make = functools.partial(_work, dtype, bins, tails, missing)
    return Case(name, make, {"features": FEATURES, **facts})


CASES = [
    _case("float32", "float32"),
    _case("float64", "float64"),
    _case("float32, 10% missing", "float32", missing=0.1),
    _case("float32, heavy tails", "float32", tails=4.0),
    _case("float32, 31 bins", "float32", bins=31),
]


def _lightgbm(X: NDArray[np.float32], count: int) -> Any:
    from lightgbm import Dataset

    return Dataset(X, params={"max_bin": 255, "num_threads": count, "verbose": -1}).construct()


def _xgboost(X: NDArray[np.float32], count: int) -> Any:
    from xgboost import QuantileDMatrix

    return QuantileDMatrix(X, max_bin=256, nthread=count)


def _vtree(X: NDArray[np.float32], count: int) -> Any:
    with threads(count):
        return bin_table(X, np.full(X.shape[1], -1))


WHOLE: dict[str, Callable[[NDArray[np.float32], int], Any]] = {
    "vtree": _vtree,
    "lightgbm": _lightgbm,
    "xgboost": _xgboost,
}


def whole(options: argparse.Namespace) -> None:
    """Measure binning a float32 table from values to codes; keep the rows and print a table."""
    X = np.random.default_rng(0).standard_normal((options.rows, FEATURES), dtype=np.float32)
    count = options.threads[-1]
    names = installed({name: name for name in WHOLE})
    times = timed(
        {name: functools.partial(WHOLE[name], X, count) for name in names}, options.repeats
    )
    rows: list[Row] = [
        {"learner": name, "rows": options.rows, "features": FEATURES, "threads": count}
        | {"seconds": time.median, "best_seconds": time.best, "repeats": options.repeats}
        for name, time in times.items()
    ]
    write_rows("binning", rows, options.results)
    own = times["vtree"].median
    lines = [
        [n, f"{t.median:.3f} ({t.best:.3f})", f"{t.median / own:.1f}"] for n, t in times.items()
    ]
    print(f"\nbinning {options.rows:,} × {FEATURES} float32, {count} threads")
    print(table(["library", "seconds, median (best)", "× vtree"], lines))


if __name__ == "__main__":
    asked = command_line(__doc__)
    bench(bincode, "value", CASES, asked, ON_GPU, ("whole",))
    if asked.only in "whole":
        whole(asked)
