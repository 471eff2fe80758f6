"""What every criterion owes its callers, for the tests of both families."""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `log` and `choose`)
from vtree.criteria import CLASSIFICATION, REGRESSION, Criterion
from vtree_kernels.scan import Layout

Floats = NDArray[np.float64]
CRITERIA: dict[str, Criterion] = {**CLASSIFICATION, **REGRESSION}


def gain_of(name: str) -> Callable[[Any, Any, Layout], Any]:
    gain = CRITERIA[name].gain
    assert gain is not None
    return gain


def layout_of(name: str, classes: int, outputs: int = 1) -> Layout:
    """Lay planes out as: rows, weight, then classes or sums."""
    own_classes = classes if name in CLASSIFICATION else 1
    unit = tuple(2.0**-o for o in range(outputs))
    return Layout(1, 2, outputs, own_classes, 2, 0.0, 1.0, unit)


def sides(
    name: str, n_candidates: int, classes: int, outputs: int = 1, seed: int = 0
) -> tuple[Floats, Floats]:
    """Draw the statistics of both sides of candidates, each (S, n)."""
    random = np.random.default_rng(seed)
    return (
        _side(random, name, n_candidates, classes, outputs),
        _side(random, name, n_candidates, classes, outputs),
    )


def _side(random: Any, name: str, n: int, classes: int, outputs: int) -> Floats:
    if name in CLASSIFICATION:
        first = random.integers(0, 30, (classes, n))
        first[random.integers(classes), :] += 1  # no side is empty
        planes = [random.permuted(first, axis=0) for _ in range(outputs)]
        weight = first.sum(axis=0)
    else:
        weight = random.integers(1, 50, n)
        planes = [random.integers(0, 60, (1, n)) for _ in range(outputs)]
    return np.concatenate([weight[None], weight[None], *planes]).astype(np.float64)


def compiled_gains(name: str, left: Floats, right: Floats, layout: Layout) -> Floats:
    """Judge each candidate by the compiled form, with numbers instead of arrays."""
    gain = numba.njit(gain_of(name))
    numbers = layout._replace(unit=np.asarray(layout.unit))  # type: ignore[arg-type]
    pairs = zip(np.ascontiguousarray(left.T), np.ascontiguousarray(right.T), strict=True)
    return np.array([gain(*pair, numbers) for pair in pairs])


def of_nodes(*columns: list[float]) -> Floats:
    """Return nodes (S, n): rows and weight before the given planes."""
    planes = np.array(columns, dtype=np.float64).T
    weight = planes.sum(axis=0)
    return np.concatenate([weight[None], weight[None], planes])
