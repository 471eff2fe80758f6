"""One model: the same fingerprint on every backend, at any number of threads, in any order of rows.

Data and settings are drawn; every other way to run the same fit must give the same bytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.conftest import NAMESPACES
from tests.fitting import Setting, fit
from vtree.criteria import CLASSIFICATION, RANKED, REGRESSION
from vtree.tree import fingerprint
from vtree_kernels import _threads
from vtree_kernels.bincode import cpu as bincode_cpu
from vtree_kernels.histogram import cpu as histogram_cpu
from vtree_kernels.route import cpu as route_cpu

KINDS = ("ties", "floats", "float32", "constant", "duplicates", "missing", "categories", "wide")
WEIGHTS = ("none", "equal", "whole", "real", "uneven")


@pytest.fixture(autouse=True, scope="module")
def many_small_tasks() -> Iterator[None]:
    """Cut work so finely that tables of a hundred rows go through every thread and chunk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_threads, "UPDATES_PER_THREAD", 1)
        patch.setattr(_threads, "available", lambda: 4)
        patch.setattr(bincode_cpu, "BLOCK", 7)
        patch.setattr(histogram_cpu, "CHUNK", 16)
        patch.setattr(histogram_cpu, "LEAST_CHUNK", 16)
        patch.setattr(route_cpu, "CHUNK", 8)
        yield


@dataclass(frozen=True)
class Problem:
    X: NDArray[Any]
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    setting: Setting

    def fingerprint(self, **how: Any) -> str:
        return fingerprint(fit(self.X, self.y, self.setting, self.weight, **how))

    def permuted(self) -> "Problem":
        order = np.random.default_rng(3).permutation(len(self.X))
        weight = None if self.weight is None else self.weight[order]
        return Problem(self.X[order], self.y[order], weight, self.setting)


def _table(kind: str, n_rows: int, n_features: int, random: Any) -> tuple[Any, tuple[int, ...]]:
    """Return (X, levels of each feature)."""
    X = random.normal(size=(n_rows, n_features))
    levels = [-1] * n_features
    if kind not in ("floats", "float32", "wide"):
        X = np.round(X, 1)
    if kind == "constant":
        X[:, 0] = 2.5
    if kind == "duplicates":
        X[:, -1] = X[:, 0]
    if kind == "categories":
        for feature in range(0, n_features, 2):
            levels[feature] = int(random.choice([1, 2, 3, 6, 15, 40]))
            X[:, feature] = random.integers(0, levels[feature], n_rows)
    if kind in ("missing", "categories"):
        X[random.random(X.shape) < 0.2] = np.nan
    return X.astype(np.float32 if kind == "float32" else np.float64), tuple(levels)


def _target(criterion: str, X: Any, outputs: int, n_classes: int, random: Any) -> NDArray[Any]:
    signal = np.nan_to_num(X.astype(np.float64)).sum(axis=1)[:, None]
    noisy = signal + random.normal(scale=0.7, size=(len(X), outputs))
    if criterion in CLASSIFICATION:
        y: NDArray[Any] = np.clip(np.rint(noisy) + 1, 0, n_classes - 1).astype(np.int64)
        return y
    if criterion == "poisson":
        y = np.clip(np.rint(noisy), 0, None)
        y[0] = 1.0  # all zeros have no Poisson mean
        return y
    shift, scale = random.choice([(0.0, 1.0), (1e9, 1.0), (-3.0, 1e-200), (0.0, 1e140)])
    return np.asarray(shift + noisy * scale)


def _weight(kind: str, n_rows: int, random: Any) -> NDArray[np.float64] | None:
    drawn: dict[str, NDArray[np.float64] | None] = {
        "none": None,
        "equal": np.full(n_rows, 0.25),
        "whole": random.integers(1, 9, n_rows).astype(np.float64),
        "real": random.random(n_rows) + 1e-3,
        "uneven": 10.0 ** random.uniform(-12, 12, n_rows),
    }
    return drawn[kind]


@st.composite
def problems(draw: Any) -> Problem:
    random = np.random.default_rng(draw(st.integers(0, 1 << 20)))
    kind = draw(st.sampled_from(KINDS))
    n_rows = 300 if kind == "wide" else draw(st.sampled_from([1, 2, 5, 30, 60, 90]))
    n_features = 2 if kind == "wide" else draw(st.integers(1, 5))
    outputs = draw(st.sampled_from([1, 1, 1, 2]))
    n_classes = draw(st.sampled_from([2, 3, 5]))
    criterion = draw(st.sampled_from([*CLASSIFICATION, *REGRESSION, *RANKED]))
    X, levels = _table(kind, n_rows, n_features, random)
    ordered = (
        outputs == 1 and (criterion not in CLASSIFICATION or n_classes == 2) and max(levels) < 0
    )
    monotone = tuple(random.integers(-1, 2, n_features).tolist())
    setting = Setting(
        criterion=criterion,
        levels=levels,
        max_bins=draw(st.sampled_from([None, None, 255, 4])),
        max_depth=draw(st.sampled_from([3, 5, None])) if kind != "wide" else 5,
        min_rows_split=draw(st.sampled_from([2, 2, 7])),
        min_rows=draw(st.sampled_from([1, 1, 1, 4])),
        min_weight=draw(st.sampled_from([0.0, 0.0, 2.0])),
        max_leaves=draw(st.sampled_from([None, None, 2, 6])),
        monotone=monotone if ordered and draw(st.booleans()) else None,
        seed=draw(st.integers(0, 1 << 31)),
        max_features=draw(st.sampled_from([None, None, 1, 2])),
        random_threshold=draw(st.sampled_from([False, False, True])),
    )
    y = _target(criterion, X, outputs, n_classes, random)
    return Problem(X, y, _weight(draw(st.sampled_from(WEIGHTS)), n_rows, random), setting)


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(problems())
def test_every_way_to_grow_gives_the_same_model(problem: Problem) -> None:
    expected = problem.fingerprint()
    for count in (2, 4):
        assert problem.fingerprint(n_threads=count) == expected, f"{count} threads"
    least = replace(problem, setting=replace(problem.setting, budget=None))
    assert least.fingerprint() == expected, "least memory"
    assert problem.permuted().fingerprint() == expected, "rows in another order"
    for name, make in NAMESPACES.items():
        own = problem.fingerprint(asarray=make().asarray, mode="reference")
        assert own == expected, f"reference on {name}"


@pytest.mark.parametrize("kind", ["ties", "floats", "missing", "categories"])
@pytest.mark.parametrize("criterion", [*CLASSIFICATION, *REGRESSION, *RANKED])
def test_hundreds_of_rows_too(criterion: str, kind: str) -> None:
    random = np.random.default_rng(len(kind))
    X, levels = _table(kind, 600, 4, random)
    y = _target(criterion, X, 1, 4, random)
    problem = Problem(X, y, None, Setting(criterion, levels, min_rows=2))
    expected = problem.fingerprint()
    assert problem.fingerprint(n_threads=4) == expected
    assert problem.permuted().fingerprint() == expected
    assert problem.fingerprint(mode="reference") == expected
    weighted = replace(problem, weight=random.integers(1, 4, 600).astype(np.float64))
    assert weighted.fingerprint(mode="reference") == weighted.fingerprint()
