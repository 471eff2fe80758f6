"""Weighted quantiles of segments: bits of the definition, wherever the values are."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import on_device, to_host
from vtree.losses import quantile
from vtree_kernels.segment_quantiles import segment_quantiles

LEVELS = (0.0, 0.1, 0.5, 0.75, 1.0, np.array([0.5, 0.1, 0.9, 0.5]))


def _case(weighted: bool) -> tuple[Any, ...]:
    draw = np.random.default_rng(4)
    values = np.round(draw.normal(size=60), 1) + 0.0
    values[3:6] = [5e-324, 1e300, -1e300]
    return values, np.array([0, 1, 7, 40]), draw.integers(1, 4, 60) if weighted else None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("level", range(len(LEVELS)))
def test_segments_have_the_quantiles_of_their_rows(
    weighted: bool, level: int, xp: Namespace
) -> None:
    values, begin, weight = _case(weighted)
    found = segment_quantiles.twin("cpu")(values, begin, weight, LEVELS[level])
    each_level = np.broadcast_to(LEVELS[level], 4)
    for number, rows in enumerate(np.split(np.arange(60), begin[1:])):
        each = None if weight is None else weight[rows]
        assert found[number] == quantile(values[rows], each, each_level[number])
    there = None if weight is None else xp.asarray(weight)
    own = segment_quantiles.reference(xp.asarray(values), begin, there, LEVELS[level])
    assert_same_bits(xp.to_numpy(own), found)


@pytest.mark.usefixtures("cuda")
def test_a_device_answers_there() -> None:
    values, begin, weight = _case(weighted=True)
    found = segment_quantiles(on_device(values), begin, on_device(weight), 0.5)
    assert_same_bits(to_host(found), segment_quantiles(values, begin, weight, 0.5))
