"""The tables of the demo: small files that come with vtree, two of scikit-learn's, one made up."""

from collections.abc import Callable
from importlib.resources import as_file, files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.cli.columns import names_of, take, values_in
from vtree.interop.table_file import read_file


class Sample(NamedTuple):
    """A table, a target and the settings of the demo's tree."""

    name: str
    table: Any  # names with their columns, or numbers (N, F)
    target: NDArray[Any]  # (N,) labels, or float64
    settings: dict[str, Any]

    @property
    def is_regression(self) -> bool:
        """Tell whether the target is an amount."""
        return self.target.dtype.kind == "f"

    def part(self, rows: NDArray[np.int64]) -> "Sample":
        """Return the same with these rows only."""
        return self._replace(table=take(self.table, rows), target=self.target[rows])


def play_tennis() -> Sample:
    """14 days and whether to play; Quinlan 1986."""
    return _bundled("play_tennis", "play", {"criterion": "entropy"})


def iris() -> Sample:
    """150 flowers of three kinds, from scikit-learn."""
    from sklearn.datasets import load_iris

    data = load_iris()
    names = [name.removesuffix(" (cm)").replace(" ", "_") for name in data.feature_names]
    table = dict(zip(names, data.data.T, strict=True))
    return Sample("iris", table, data.target_names[data.target], {"max_depth": 3})


def penguins() -> Sample:
    """344 penguins of three kinds, with missing values; palmerpenguins."""
    return _bundled("penguins", "species", {"max_depth": 3})


def titanic() -> Sample:
    """2,201 people and whether they survived; counts, written out to one row a person."""
    groups = _bundled("titanic", "survived", {"max_depth": 3})
    people = np.asarray(groups.table.pop("people"), dtype=np.int64)
    return groups.part(np.repeat(np.arange(people.size), people))


def diabetes() -> Sample:
    """442 patients and how their disease went on, from scikit-learn."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes(scaled=False)
    table = dict(zip(data.feature_names, data.data.T, strict=True))
    settings = {"max_depth": 3, "min_samples_leaf": 10}
    return Sample("diabetes", table, data.target.astype(np.float64), settings)


SAMPLES: tuple[Callable[[], Sample], ...] = (play_tennis, iris, penguins, titanic, diabetes)


def synthetic(n_rows: int) -> Sample:
    """Return N rows of 20 numbers with two classes, to time a fit on."""
    generator = np.random.default_rng(0)
    values = generator.standard_normal((n_rows, 20))
    noise = generator.standard_normal(n_rows)
    target = values[:, 0] * values[:, 1] + values[:, 2] > 0.3 * noise
    return Sample("synthetic", values, target.astype(np.int64), {"max_depth": 8})


def _bundled(name: str, target: str, settings: dict[str, Any]) -> Sample:
    with as_file(files("vtree") / "data" / f"{name}.csv") as path:
        table = read_file(path)
    columns = {column: values_in(table, column) for column in names_of(table)}
    labels = np.array(columns.pop(target))
    return Sample(name, columns, labels, settings)
