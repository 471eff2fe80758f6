"""Thresholds between codes: the twin is the definition, for values, edges and drawn cuts."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from vtree_kernels.gaps import Lines, gaps

SIZES = [0, 1, 2, 7, 254, 30, 5]


def _lines(draw: np.random.Generator, ranged: str) -> Lines:
    values: list[Any] = [np.sort(np.round(draw.normal(size=size), 2)) for size in SIZES]
    values[3][0], values[3][-1] = -np.inf, np.inf
    values[4][values[4] == 0.0] = -0.0
    values[5] = np.arange(30) * 5e-324
    size = np.array(SIZES)
    edges = {"all": np.ones(7, bool), "none": np.zeros(7, bool), "some": np.arange(7) % 2 == 0}
    own = edges[ranged]
    own[:2] = True  # no value, or one, leaves nothing between two codes
    return Lines(
        np.concatenate([*values, [np.inf]]),
        size.cumsum() - size,
        size,
        own,
        size + own,
        np.arange(7) == 6,
    )


@pytest.mark.parametrize("ranged", ["all", "none", "some"])
@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize("count", [0, 3000])
def test_twin_and_definition_agree(ranged: str, drawn: bool, count: int) -> None:
    draw = np.random.default_rng(len(ranged))
    lines = _lines(draw, ranged)
    feature = draw.integers(-1, 7, count).astype(np.int32)
    n_bins = lines.n_bins[feature]
    bin = draw.integers(0, n_bins + 1).astype(np.int32)
    following = np.minimum(bin + draw.integers(1, 6, count), n_bins).astype(np.int32)
    following[following <= bin] = 0
    cut = np.round(draw.normal(size=count), 2) if drawn else None
    expected = gaps.reference(feature, bin, following, lines, cut)
    twin = gaps.twin("cpu")(feature, bin, following, lines, cut)
    for found, theirs in zip(twin, expected, strict=True):
        assert_same_bits(found, theirs)
    code, threshold = expected
    inside = (feature >= 0) & (feature < 6) & (bin > 0)
    assert np.isinf(threshold[inside & (following == 0)]).all()
    assert (code[~inside & (feature < 0)] == 0).all() and (threshold[~inside] == 0.0).all()
    if not drawn:
        assert (code >= bin)[inside].all() and (code < following)[inside & (following > 0)].all()
