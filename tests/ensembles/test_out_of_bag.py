"""Out-of-bag answers against a plain loop over rows and trees."""

import numpy as np

from vtree import RandomForestRegressor
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
