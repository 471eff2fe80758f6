from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import on_device, to_host
from vtree_kernels._threads import threads
from vtree_kernels.derive import Derived, derive

# (nodes built, of these only for a sibling, derived, features, codes, statistics)
CASES = {
    "pairs": (3, 0, 3, 2, 9, 3),
    "siblings that stay leaves": (4, 2, 3, 2, 9, 1),
    "one cell": (1, 0, 1, 1, 1, 1),
    "no nodes derived": (2, 0, 0, 2, 5, 2),
    "nothing else is wanted": (3, 3, 3, 1, 40, 2),
    "many tasks": (70, 10, 60, 3, 257, 12),
}


def _case(name: str, dtype: Any) -> tuple[NDArray[Any], int, Derived]:
    """Return (whole level, how many of its first nodes are not wanted, what is derived)."""
    n_built, unwanted, number, *shape = CASES[name]
    draw = np.random.default_rng(n_built)
    slot, sibling = draw.permutation(number + 2)[:number], draw.integers(0, n_built, number)
    parent = draw.integers(-(1 << 30), 1 << 30, (number + 2, *shape)).astype(dtype)
    level = draw.integers(-(1 << 29), 1 << 29, (n_built + number, *shape)).astype(dtype)
    return level, unwanted, Derived(parent, slot, level, sibling)


def _expected(name: str, dtype: Any) -> NDArray[Any]:
    level, unwanted, derived = _case(name, dtype)
    first = level.shape[0] - derived.slot.size
    for d, (slot, sibling) in enumerate(zip(derived.slot, derived.sibling, strict=True)):
        level[first + d] = derived.parent[slot] - level[sibling]
    return level[unwanted:]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("name", CASES)
def test_twins_and_definition_agree(name: str, dtype: Any, xp: Namespace) -> None:
    expected = _expected(name, dtype)
    level, unwanted, own = _case(name, dtype)
    with threads(2):
        derive.twin("cpu")(level[unwanted:], own)
    assert_same_bits(level[unwanted:], expected)
    whole, _, own = _case(name, dtype)
    there = xp.asarray(np.array(whole)) if xp.name != "numpy-read-only" else whole
    derive.reference(
        there[unwanted:, ...], own._replace(parent=xp.asarray(own.parent), built=there)
    )
    assert_same_bits(xp.to_numpy(there)[unwanted:], expected)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("name", CASES)
def test_cuda_agrees(name: str, dtype: Any, cuda: str | int) -> None:
    level, unwanted, own = _case(name, dtype)
    there = on_device(level)
    hist = there[unwanted:, ...]
    derive.twin("cuda")(hist, own._replace(parent=on_device(own.parent), built=there))
    assert_same_bits(to_host(hist), _expected(name, dtype))


def test_what_could_not_be_written_to_is_refused() -> None:
    level, _, own = _case("pairs", np.int64)
    turned = level.transpose(0, 2, 1, 3)
    with pytest.raises(ValueError, match="must be in C order"):
        derive.twin("cpu")(turned, own)
