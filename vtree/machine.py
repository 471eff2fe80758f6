"""What can run here and why the rest cannot; and compiling ahead of the first fit."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vtree.estimators.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from vtree_kernels import available_threads, kernels


class Backend(NamedTuple):
    """One way to run the tree builder."""

    name: str
    usable: bool
    reason: str  # what it is used for, or why it cannot be used and what to do
    module: str  # the array library


def backends() -> list[Backend]:
    """Return every backend that vtree knows, usable here or not.

    Nothing is compiled or fitted; libraries are imported to see whether they work.

    Examples
    --------
    >>> import vtree
    >>> [backend.name for backend in vtree.backends()][:2]
    ['numba', 'numpy']
    """
    return [
        _probe(
            "numba",
            "numba",
            f"compiled kernels, the default on the CPU ({available_threads()} cores)",
            "pip install numba",
        ),
        _probe("numpy", "numpy", 'the array-API reference: vtree.kernels("reference")', ""),
        _probe(
            "array-api-strict",
            "array_api_strict",
            'the reference on the strict standard: vtree.kernels("reference")',
            "pip install array-api-strict",
        ),
        _probe(
            "torch",
            "torch",
            'the reference on PyTorch tensors: vtree.kernels("reference")',
            "pip install torch",
        ),
        _probe(
            "cupy",
            "cupy",
            'CuPy arrays on an NVIDIA GPU: device="cuda"',
            "pip install 'vtree[cuda12]' or 'vtree[cuda13]'",
            _cuda_device,
        ),
    ]


def _probe(
    name: str, module: str, use: str, remedy: str, check: Callable[[], str] | None = None
) -> Backend:
    try:
        importlib.import_module(module)
        found = use if check is None else f"{use} ({check()})"
    except ModuleNotFoundError:
        return Backend(name, False, f"{module} is not installed: {remedy}", module)
    except Exception as error:  # a library that is broken here, in whatever way
        return Backend(name, False, f"{type(error).__name__}: {error}", module)
    return Backend(name, True, found, module)


def _cuda_device() -> str:
    cupy = importlib.import_module("cupy")
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    return str(properties["name"].decode())


def warmup() -> None:
    """Compile the kernels (or fetch them from the disk cache) before the first fit needs them.

    Numba keeps what it compiles in `__pycache__` beside the kernels, or under NUMBA_CACHE_DIR.
    """
    rows = np.arange(600.0)
    narrow = np.stack([rows % 7, rows % 5], axis=1)
    weight = 1.0 + rows % 2
    label = (rows % 3).astype(np.int64)
    with kernels("native"):
        for table in (narrow, narrow.astype(np.float32)):
            for criterion in ("gini", "entropy"):
                model = DecisionTreeClassifier(criterion=criterion, max_depth=2)
                model.fit(table, label).predict(table)
            regressor = DecisionTreeRegressor(max_depth=2)
            regressor.fit(table, rows).predict(table)
        DecisionTreeClassifier(max_depth=2).fit(narrow, label, sample_weight=weight)
        DecisionTreeRegressor(max_depth=2).fit(narrow, rows, sample_weight=weight)
        # 600 bins: the kernels for wide codes
        DecisionTreeClassifier(max_depth=2, max_bins=600).fit(rows[:, None], label)
