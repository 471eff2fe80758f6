"""A fit on one backend, and how many rows a second it takes in."""

from __future__ import annotations

import importlib
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from multiprocessing import get_context
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import vtree
from vtree.cli.bundled import Sample
from vtree.cli.mistakes import as_mistakes
from vtree.tables import read_table
from vtree_kernels import kernels

if TYPE_CHECKING:
    from vtree.machine import Backend

# The backends with compiled kernels, and the library whose arrays those take.
_NATIVE = {"numba": "numpy", "cupy": "cupy"}


_REPEATS = 2


class Speed(NamedTuple):
    """The best of a few warm fits."""

    n_rows: int
    n_features: int
    seconds: float


def is_native(backend: Backend) -> bool:
    """Tell whether a backend has compiled kernels."""
    return backend.name in _NATIVE


def kernels_of(backend: Backend) -> AbstractContextManager[None]:
    """Return the context in which a backend's own kernels run."""
    return kernels("native" if is_native(backend) else "reference")


def fit_on(backend: Backend, sample: Sample) -> Any:
    """Return the sample's tree, grown on a backend.

    What works on NumPy takes the table as it is. For the others its numbers go into an array of
    theirs, with the numbers of levels for categories; the tree is the same.
    """
    settings = dict(sample.settings)
    table = sample.table
    library = _NATIVE.get(backend.name, backend.module)
    if library != "numpy":
        table, schema, _ = read_table(table)
        settings["categorical_features"] = [levels is not None for levels in schema.levels]
        table = importlib.import_module(library).asarray(table)
    kind = vtree.DecisionTreeRegressor if sample.is_regression else vtree.DecisionTreeClassifier
    with kernels_of(backend):
        return kind(**settings).fit(table, sample.target)


def speed_of(backend: Backend, sample: Sample) -> Speed:
    """Time fits of a sample whose table is an array.

    Where kernels are compiled, the first fit is not measured; elsewhere there is nothing to warm.
    """
    times = []
    if is_native(backend):
        fit_on(backend, sample)
    for _ in range(_REPEATS if is_native(backend) else 1):
        start = perf_counter()
        fit_on(backend, sample)
        times.append(perf_counter() - start)
    n_rows, n_features = sample.table.shape
    return Speed(n_rows, n_features, min(times))


def start_and_fit(backend: Backend, sample: Sample) -> float:
    """Return the seconds from the start of a fresh process to its first tree."""
    # spawn: a process that is forked has all loaded already.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        start = perf_counter()
        pool.submit(_fit_only, backend, sample).result()
        return perf_counter() - start


def _fit_only(backend: Backend, sample: Sample) -> None:
    fit_on(backend, sample)


def held_out_score(backend: Backend, sample: Sample) -> float:
    """Return accuracy or R2 on each third row, of a tree grown from the others.

    The backend must be one that works on NumPy.
    """
    number = np.arange(sample.target.size)
    test = sample.part(number[number % 3 == 2])
    return score_of(fit_on(backend, sample.part(number[number % 3 != 2])), test)


def score_of(model: Any, sample: Sample) -> float:
    """Return accuracy or R2 of a tree that was fitted to columns like the sample's."""
    with as_mistakes():
        return float(model.score(sample.table, sample.target))
