"""The procedure of error-based pruning beside a recursive one."""

from typing import Any

import numpy as np
import pytest

from tests.naive import PrunedByRecursion
from vtree import C45Classifier
from vtree.pruning.error_based import added_errors


@pytest.mark.parametrize("seed", range(12))
def test_the_work_list_prunes_as_recursion_does(seed: int) -> None:
    random = np.random.default_rng(seed)
    X = random.normal(size=(250, 3)).round(1)
    y = ((X[:, 0] + random.normal(scale=1.2, size=250) > 0) ^ (X[:, 1] > 1.0)).astype(np.int64)
    shared: dict[str, Any] = {"mdl_correction": False}
    whole = C45Classifier(prune=False, **shared).fit(X, y).grown_
    oracle = PrunedByRecursion(whole, 0, added_errors(0.25))
    expected = oracle.prune(X, y)
    model = C45Classifier(**shared).fit(X, y)
    assert model.predicted_errors_[0] == pytest.approx(expected, abs=1e-9)
    assert model.grown_.feature.size == oracle.size() < whole.feature.size


def test_raising_may_be_forbidden() -> None:
    random = np.random.default_rng(3)
    X = random.normal(size=(300, 3)).round(1)
    y = (X[:, 0] + random.normal(size=300) > 0).astype(np.int64)
    # Without raising, what is left of a tree splits as the whole one did, from the root on.
    whole = C45Classifier(prune=False).fit(X, y).grown_
    pruned = C45Classifier(subtree_raising=False).fit(X, y).grown_
    waiting = [(0, 0)]
    while waiting:
        a, b = waiting.pop()
        if pruned.first_child[a] >= 0:
            assert pruned.threshold[a] == whole.threshold[b]
            pairs = zip(
                (pruned.first_child[a],) * 2, (whole.first_child[b],) * 2, (0, 1), strict=True
            )
            waiting += [(int(p) + j, int(w) + j) for p, w, j in pairs]
