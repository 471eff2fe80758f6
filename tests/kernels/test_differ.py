from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conftest import Namespace
from tests.cuda_host.emulation import on_device, to_host
from vtree_kernels._threads import threads
from vtree_kernels.differ import differ
from vtree_kernels.differ.cpu import BATCH

Case = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def _case(sizes: list[int], outputs: int = 1, share: float = 0.02, gap: int = 3) -> Case:
    """Return nodes of these sizes, some rows apart, most of whose rows are alike."""
    draw = np.random.default_rng(sum(sizes) + outputs)
    lengths = np.asarray(sizes, dtype=np.int64)
    stop = np.cumsum(lengths + gap, dtype=np.int64)
    n_rows = int(stop[-1]) if sizes else 5
    rows = draw.permutation(n_rows).astype(np.int32)
    identity = np.full((n_rows, outputs), 0.25)
    other = draw.random((n_rows, outputs)) < share
    identity[other] = np.nextafter(0.25, 1.0)
    return rows, stop - lengths, stop, identity


CASES = {
    "some differ": _case([1, 40, 0, 31, 32, 33, 200, 5]),
    "two outputs": _case([64, 3, 65], outputs=2, share=0.01),
    "all alike": _case([100, 7], share=0.0),
    "none alike": _case([100, 7], share=0.5),
    "empty nodes": _case([0, 0]),
    "no nodes": _case([]),
    "many nodes": _case([2] * 50, share=0.2, gap=0),
}


def _definition(rows: Any, start: Any, stop: Any, identity: Any) -> list[bool]:
    nodes = [identity[rows[a:z]] for a, z in zip(start, stop, strict=True)]
    return [len(np.unique(own, axis=0)) > 1 for own in nodes]


@pytest.mark.parametrize("name", CASES)
def test_twins_and_definition_agree(name: str, xp: Namespace) -> None:
    rows, start, stop, identity = CASES[name]
    expected = _definition(*CASES[name])
    found = differ.reference(xp.asarray(rows), start, stop, xp.asarray(identity))
    assert found.dtype == xp.xp.bool
    assert xp.to_numpy(found).tolist() == expected
    assert differ.twin("cpu")(*CASES[name]).tolist() == expected


@pytest.mark.parametrize("name", CASES)
def test_cuda_agrees(name: str, cuda: str | int) -> None:
    rows, start, stop, identity = CASES[name]
    found = to_host(differ.twin("cuda")(on_device(rows), start, stop, on_device(identity)))
    assert found.dtype == np.bool_
    assert found.tolist() == _definition(*CASES[name])


def test_the_two_zeros_are_alike() -> None:
    rows, ends = np.arange(2, dtype=np.int32), (np.array([0]), np.array([2]))
    assert differ(rows, *ends, np.array([[0.0], [-0.0]])).tolist() == [False]


def test_many_tasks() -> None:
    case = _case([3] * (2 * BATCH + 5), share=0.2)
    with threads(4):
        found = differ.twin("cpu")(*case)
    assert found.tolist() == _definition(*case)
