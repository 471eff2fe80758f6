"""Out-of-bag answers against a plain loop over rows and trees."""

from typing import Any

import numpy as np
import pytest

from vtree import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from vtree.ensembles.out_of_bag import out_of_bag_sums


def test_each_row_is_answered_by_the_trees_that_did_not_see_it() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3))
    model = RandomForestRegressor(7, random_state=0).fit(X, X[:, :2])
    seen = [set(rows.tolist()) for rows in model.estimators_samples_]

    def left_out(number: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array([row for row in range(40) if row not in seen[number]])

    total, count = out_of_bag_sums(model.grown_, X, left_out)
    for row in range(40):
        trees = [tree for tree, own in zip(model, seen, strict=True) if row not in own]
        expected = sum((tree.predict(X[[row]])[0] for tree in trees), np.zeros(2))
        assert count[row] == len(trees)
        np.testing.assert_allclose(total[row], expected, rtol=1e-12, atol=1e-12)


def test_rows_that_all_trees_saw_have_no_answer() -> None:
    X = np.arange(6.0)[:, None]
    model = RandomForestRegressor(3, bootstrap=False).fit(X, X[:, 0])
    total, count = out_of_bag_sums(model.grown_, X, lambda number: np.empty(0, dtype=np.int64))
    assert not total.any() and not count.any()


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(2, random_state=3, oob_score=True),
        ExtraTreesClassifier(2, random_state=3, bootstrap=True, oob_score=True),
        RandomForestRegressor(2, random_state=3, oob_score=True),
        BaggingClassifier(n_estimators=2, random_state=3, oob_score=True),
        BaggingRegressor(n_estimators=2, random_state=3, oob_score=True),
    ],
    ids=lambda model: repr(model).partition("(")[0],
)
def test_where_each_row_is_in_every_sample_the_score_is_nan(model: Any) -> None:
    X = np.zeros((1, 2))
    with pytest.warns(UserWarning, match="OOB"):
        model.fit(X, [1])
    assert np.isnan(model.oob_score_)
