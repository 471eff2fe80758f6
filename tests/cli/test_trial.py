"""A fit on one backend: each gives the tree that the estimator gives."""

import pytest

import vtree
from vtree.cli.bundled import iris, penguins, synthetic
from vtree.cli.trial import fit_on, held_out_score, is_native, score_of, speed_of
from vtree.machine import Backend

NUMBA = Backend("numba", True, "", "numba")


@pytest.mark.parametrize("name", ["numba", "numpy", "array-api-strict", "torch"])
def test_categories_and_missing_values_on_each_backend(name: str) -> None:
    sample = penguins()
    backend = Backend(name, True, "", name.replace("-", "_"))
    expected = vtree.DecisionTreeClassifier(max_depth=3).fit(sample.table, sample.target)
    assert vtree.digest(fit_on(backend, sample)) == vtree.digest(expected)
    assert is_native(backend) == (name == "numba")


def test_scores() -> None:
    assert score_of(fit_on(NUMBA, iris()), iris()) > 0.95
    assert 0.85 < held_out_score(NUMBA, iris()) < 0.99


def test_speed() -> None:
    speed = speed_of(NUMBA, synthetic(50))
    assert speed[:2] == (50, 20)
    assert speed.seconds > 0.0
