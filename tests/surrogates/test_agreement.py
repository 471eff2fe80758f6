"""The search for surrogates beside one that tries every cut of every column."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conftest import NAMESPACES
from tests.surrogates.tables import Gappy, gappy
from vtree import arrays
from vtree.surrogates.agreement import (
    COUNTS,
    Sent,
    agreement,
    best_surrogates,
    find_surrogates,
    weighed_agreement,
)
from vtree.surrogates.rules import NO_WAY
from vtree_kernels import kernels
from vtree_kernels.scan import Layout


def test_the_better_orientation_counts() -> None:
    layout = Layout(0, 1, 1, 3, 1, 0.0, 1.0, (1.0,))
    left = np.array([[9.0, 7, 2, 0], [9, 2, 7, 0], [9, 1, 0, 8], [9, 1, 1, 7]])
    right = np.array([[9.0, 1, 8, 0], [9, 8, 1, 0], [9, 0, 9, 0], [9, 0, 9, 0]])
    assert agreement(left.T, right.T, layout).tolist() == [15.0, 15.0, -np.inf, 10.0]
    left[:, 3], right[:, 3] = [9, 9, 9, 1], 9
    assert weighed_agreement(left.T, right.T, layout).tolist() == [15.0, 15.0, 10.0, -np.inf]


def _sent(
    table: Gappy, child: NDArray[np.int32], weight: Any, asarray: Any = np.asarray
) -> tuple[Sent, NDArray[np.int64]]:
    """Return the rows as those of two nodes, and what the nodes ask."""
    n_rows = child.size
    order = arrays.like(np.arange(n_rows), asarray(table.X), dtype=np.int32)
    cut = n_rows // 3
    nodes = np.array([0, cut]), np.array([cut, n_rows])
    own = np.ones(n_rows, dtype=np.int64) if weight is None else weight
    counts = None if weight is None else np.minimum(weight, 2)
    parts = [slice(0, cut), slice(cut, n_rows)]
    each = np.minimum(own, 2)
    rows = [[each[part][child[part] == side].sum() for side in (0, 1)] for part in parts]
    weights = [[own[part][child[part] == side].sum() for side in (0, 1)] for part in parts]
    sent = Sent(order, *nodes, child, weight, counts, np.array(rows), np.array(weights))
    return sent, np.array([0, 4])


def _numeric(x: Any, child: Any, weight: Any, reversed_tie: bool) -> tuple[float, float, int]:
    """Return (agreement, threshold, child of low values) of the best cut, as said in the book."""
    known = ~np.isnan(x)
    both = known & (child < 2)
    best = (max(weight[both & (child == side)].sum() for side in (0, 1)), np.nan, -1)
    values = np.unique(x[known])
    for low, high in zip(values[:-1], values[1:], strict=True):
        cut = low / 2 + high / 2
        below = x <= cut
        if min(weight[both & below].sum(), weight[both & ~below].sum()) < 2:
            continue
        for low_child in [1, 0] if reversed_tie else [0, 1]:
            right = np.where(below, low_child, 1 - low_child) == child
            if weight[both & right].sum() > best[0]:
                best = weight[both & right].sum(), cut, low_child
    return best if best[2] >= 0 else (-np.inf, np.nan, -1)


def _levels(
    x: Any, child: Any, weight: Any, n: int, reversed_tie: bool, counts: str
) -> tuple[float, list[int]]:
    both = ~np.isnan(x) & (child < 2)
    totals = [weight[both & (child == side)].sum() for side in (0, 1)]
    usual = int(reversed_tie) if totals[0] == totals[1] else int(np.argmax(totals))
    ways, rows, agrees = [], [0, 0], 0
    for level in range(n):
        own = [both & (x == level) & (child == side) for side in (0, 1)]
        heavy = [weight[each].sum() for each in own]
        way = usual if heavy[0] == heavy[1] else int(np.argmax(heavy))
        count = int(heavy[0] + heavy[1])
        ways.append(way if count else NO_WAY)
        rows[way] += count
        agrees += max(heavy)
    if counts == "rpart":
        rows = [agrees, sum(totals) - agrees]
    return (agrees if min(rows) >= 2 and agrees > max(totals) else -np.inf), ways


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("counts", COUNTS)
def test_every_cut(seed: int, weighted: bool, counts: str) -> None:
    table = gappy(45, seed)
    draw = np.random.default_rng(seed + 50)
    child = np.where(np.isnan(table.X[:, 0]), 2, table.X[:, 0] > 0.1).astype(np.int32)
    child[draw.random(45) < 0.1] = 2
    weight = draw.integers(1, 5, 45) if weighted else None
    sent, asked = _sent(table, child, weight)
    ties = np.array([False, True])
    found = find_surrogates(sent, asked, ties, table.bins, 1 << 20, COUNTS[counts])
    own = np.ones(45) if weight is None else weight
    sides = np.zeros((2, 2), dtype=np.int64)
    for node in (0, 1):
        rows = slice(int(sent.start[node]), int(sent.stop[node]))
        x, c, w = table.X[rows], child[rows], own[rows]
        sides[node] = [w[c == side].sum() for side in (0, 1)]
        assert found.agreement[node, asked[node]] == -np.inf
        for feature in range(5):
            if feature == asked[node]:
                continue
            given = float(found.agreement[node, feature])
            if table.levels[feature] >= 0:
                n = int(table.levels[feature])
                agrees, ways = _levels(x[:, feature], c, w, n, bool(ties[node]), counts)
                assert given == agrees
                assert found.ways[feature][node, 1 : n + 1].tolist() == ways
                continue
            agrees, cut, low_child = _numeric(x[:, feature], c, w, bool(ties[node]))
            assert given == agrees
            if agrees > -np.inf:
                assert found.low_child[node, feature] == low_child
    _check_the_choice(found, sides, table)


def _check_the_choice(found: Any, sides: NDArray[np.int64], table: Gappy) -> None:
    node, feature, _, _, threshold, _, agrees, adjusted = best_surrogates(
        found, sides, 2, table.bins
    )
    for m in (0, 1):
        share = found.agreement[m] / sides[m].sum()
        usual = sides[m].max() / sides[m].sum()
        expected = [f for f in np.argsort(-share, kind="stable") if share[f] > usual + 1e-9][:2]
        assert feature[node == m].tolist() == expected
        assert agrees[node == m].tolist() == share[expected].tolist()
        put_right = (share[expected] - usual) / (1 - usual)
        assert adjusted[node == m].tolist() == pytest.approx(put_right.tolist())
    numbers = table.levels[feature] < 0
    assert np.isfinite(threshold).all() and (threshold[~numbers] == 0.0).all()


@pytest.mark.parametrize("name", NAMESPACES)
def test_the_same_everywhere_and_in_any_budget(name: str) -> None:
    make = NAMESPACES[name]()
    plain = gappy(60, 3)
    child = np.where(np.isnan(plain.X[:, 0]), 2, plain.X[:, 0] > 0.1).astype(np.int32)
    ties = np.array([True, False])
    native = find_surrogates(*_sent(plain, child, None), ties, plain.bins, 1 << 20)
    table = gappy(60, 3, make.asarray)
    for weight in (None, np.ones(60, dtype=np.int64)):
        sent, asked = _sent(table, child, weight, make.asarray)
        with kernels("reference"):
            found = find_surrogates(sent, asked, ties, table.bins, 1)
        assert found.agreement.tolist() == native.agreement.tolist()
        best = native.agreement > -np.inf
        for field in ("bin", "following", "low_child"):
            ours, theirs = getattr(found, field), getattr(native, field)
            numbers = best & (table.levels < 0)
            assert ours[numbers].tolist() == theirs[numbers].tolist()
        for feature, ways in native.ways.items():
            assert found.ways[feature].tolist() == ways.tolist()
