"""Splits of a whole symmetric tree: bits of the definition, whatever the rows hold."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from vtree_kernels.symmetric_splits import Columns, Rule, symmetric_splits

RULE = Rule(5, 3.0, True, 0.0, np.uint64(2**63 + 5), np.uint64(2**63 + 77))


def _given(
    n_rows: int, n_columns: int, n_codes: int, dtype: Any, weighted: bool, outputs: int = 1
) -> Any:
    draw = np.random.default_rng(n_rows)
    codes = draw.integers(0, n_codes, (n_rows, n_columns)).astype(dtype)
    codes[:, 0] = np.maximum(codes[:, 0], 1)  # of which nothing is missing
    weight = draw.integers(0, 50, n_rows) if weighted else None
    n_bins = np.full(n_columns, n_codes - 1)
    n_bins[-1] = codes[:, -1].max(initial=0)
    one_hot = np.arange(n_columns) % 3 == 1
    features = np.arange(n_columns) * 3
    sums, tree = draw.integers(-1000, 1000, (n_rows, outputs)), draw.integers(0, 4, n_rows)
    return codes, weight, sums, tree, Columns(features, n_bins, one_hot), n_codes + 1


def _one_tree(given: Any) -> Any:
    return *given[:3], np.zeros_like(given[3]), *given[4:]


def _same(given: Any, rule: Rule) -> Any:
    call: Any = symmetric_splits
    levels, leaf = call(*given, rule)
    expected, other = call.reference(*given, rule)
    for own, each in zip(levels, expected, strict=True):
        assert_same_bits(own, each)
    assert_same_bits(leaf, other)
    return levels, leaf


@pytest.mark.parametrize("n_rows", [1, 2, 30, 400])
@pytest.mark.parametrize("n_codes", [3, 40])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cosine", [False, True])
@pytest.mark.parametrize("spread", [0.0, 40.0])
def test_twins_agree(
    n_rows: int, n_codes: int, weighted: bool, cosine: bool, spread: float
) -> None:
    given = _one_tree(_given(n_rows, 4, n_codes, np.uint8, weighted))
    levels, leaf = _same(given, RULE._replace(cosine=cosine, spread=spread))
    assert leaf.max() < 2**levels.bin.size
    if n_rows == 400:
        assert levels.bin.size == 5


@pytest.mark.parametrize("depth", [1, 8])
def test_other_codes_depths_and_penalties(depth: int) -> None:
    given = _one_tree(_given(300, 3, 400, np.uint16, True))
    _same(given, RULE._replace(depth=depth, spread=10.0))
    _same(given, RULE._replace(depth=depth, shrink=0.0))


def test_no_level_where_nothing_divides() -> None:
    codes = np.ones((9, 2), dtype=np.uint8)
    tree, columns = (
        np.zeros(9, dtype=np.int64),
        Columns(np.arange(2), np.array([1, 1]), np.zeros(2, np.bool_)),
    )
    given = codes, None, np.arange(9)[:, None], tree, columns, 3
    levels, leaf = _same(given, RULE)
    assert levels.column.size == 0
    assert not leaf.any()


def test_missing_values_go_where_they_are_worth_most_or_with_the_more_rows() -> None:
    """Three rows of code 1, two of code 2; the missing ones are like the latter."""
    codes = np.array([[0], [0], [1], [1], [1], [2], [2]], dtype=np.uint8)
    sums, tree = np.array([[5], [5], [-5], [-5], [-5], [5], [5]]), np.zeros(7, dtype=np.int64)
    columns = Columns(np.arange(1), np.array([2]), np.zeros(1, np.bool_))
    rule = RULE._replace(depth=1)
    levels, leaf = _same((codes, None, sums, tree, columns, 3), rule)
    assert (levels.bin.tolist(), levels.missing_child.tolist()) == ([1], [1])
    assert leaf.tolist() == [1, 1, 0, 0, 0, 1, 1]
    levels, _ = _same((codes[2:], None, sums[2:], tree[2:], columns, 3), rule)
    assert levels.missing_child.tolist() == [0]


@pytest.mark.parametrize("judged", [False, True])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_rows", [1, 5, 300])
def test_several_trees_and_outputs(n_rows: int, weighted: bool, outputs: int, judged: bool) -> None:
    given = _given(n_rows, 4, 30, np.uint8, weighted, outputs)
    _same(given, RULE._replace(n_trees=4, judged=judged, spread=5.0))
    _same(_one_tree(given), RULE)


def test_chance_prefers_no_column_for_its_many_candidates() -> None:
    codes = np.random.default_rng(0).integers(1, 3, (300, 8)).astype(np.uint8)
    codes[:, 5] = np.arange(300) % 200 + 1
    columns = Columns(np.arange(8), codes.max(axis=0).astype(np.int64), np.zeros(8, np.bool_))
    given = codes, None, np.zeros((300, 1), dtype=np.int64), np.zeros(300, dtype=np.int64)
    rules = [RULE._replace(depth=1, spread=1.0, state=np.uint64(state)) for state in range(400)]
    chosen = [int(_same((*given, columns, 201), rule)[0].column[0]) for rule in rules]
    assert np.bincount(chosen, minlength=8).min() > 25  # of 50
    assert np.bincount(chosen).max() < 85


@pytest.mark.parametrize("code", [0, 2])
def test_one_code_against_all_others(code: int) -> None:
    codes = np.array([0, 1, 2, 3, 0, 1, 2, 3], dtype=np.uint8)[:, None]
    sums, tree = np.where(codes == code, 9, -3), np.zeros(8, dtype=np.int64)
    columns = Columns(np.arange(1), np.array([3]), np.ones(1, np.bool_))
    levels, leaf = _same((codes, None, sums, tree, columns, 5), RULE._replace(depth=1))
    assert (levels.bin.tolist(), levels.missing_child.tolist()) == ([code], [int(code != 0)])
    assert leaf.tolist() == (codes[:, 0] != code).tolist()
