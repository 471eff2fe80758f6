"""The choice among features: the largest gain, then the order of the draw or of the columns."""

from typing import Any

import numpy as np

from tests.fitting import Setting, fit
from vtree import draws
from vtree.choice import Splits, joined_splits
from vtree.sampling import Draw, feature_places


def test_of_equal_features_the_first_wins() -> None:
    x = [0.0, 1.0, 2.0, 3.0]
    table = np.stack([[1.0] * 4, x, x, np.negative(x)], axis=1)
    tree = fit(table, np.array([0, 0, 1, 1]), Setting(max_depth=1))
    assert (tree.feature[0], tree.threshold[0]) == (1, 1.5)


def test_only_drawn_features_split() -> None:
    random = np.random.default_rng(1)
    X = random.normal(size=(200, 6))
    y = (X[:, 0] > 0).astype(np.int64)
    roots = {int(fit(X, y, Setting(seed=s, max_features=2)).feature[0]) for s in range(30)}
    assert len(roots) > 3
    assert fit(X, y, Setting(seed=0, max_features=6)).feature[0] == 0


def test_of_equal_features_the_first_one_drawn_splits() -> None:
    one = np.random.default_rng(1).normal(size=200)
    X = np.repeat(one[:, None], 6, axis=1)
    y = (one > 0).astype(np.int64)
    roots = [int(fit(X, y, Setting(seed=s, max_features=3)).feature[0]) for s in range(60)]
    assert set(roots) == set(range(6))
    firsts = [feature_places(Draw(s, 3), draws.mix(np.arange(1)), 6)[0] for s in range(60)]
    assert roots == [int(place.argmin()) for place in firsts]
    # Without a draw, it is the lowest one.
    assert {int(fit(X, y, Setting(seed=s)).feature[0]) for s in range(5)} == {0}


def test_parts_of_a_level_are_joined_in_order() -> None:
    def part(first: int, maps: dict[int, Any]) -> Splits:
        two = np.array([first, first + 1])
        whole = two.astype(np.int32)
        return Splits(
            feature=whole,
            kind=two.astype(np.int8),
            bin=whole,
            threshold=two * 1.0,
            gain=two * 1.0,
            missing_child=whole,
            n_children=np.array([2, 0], dtype=np.int32),
            child_total=np.stack([two, two], axis=1),
            child_of_code=maps,
        )

    table = np.zeros(3, dtype=np.uint8)
    joined = joined_splits([part(0, {1: table}), part(2, {0: table})])
    assert joined.feature.tolist() == [0, 1, 2, 3]
    assert joined.child_total.tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]
    assert sorted(joined.child_of_code) == [1, 2]
