"""Bootstrap samples: their rows, their multiplicities and their class weights."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.ensemble._bagging import _generate_bagging_indices

from vtree.ensembles.samples import (
    Bootstrap,
    Subsample,
    counts_of,
    drawn_rows,
    drawn_subsample,
    sample,
    subsample_of,
)


def test_a_sample_is_the_distinct_rows_and_how_often_each_was_drawn() -> None:
    bootstrap = Bootstrap(n_rows=40, size=60)
    drawn = drawn_rows(bootstrap, 7)
    own = sample(bootstrap, 7)
    assert drawn.shape == (60,) and drawn.dtype == np.int32
    np.testing.assert_array_equal(np.repeat(own.rows, own.times), np.sort(drawn))
    assert (np.diff(own.rows) > 0).all() and (own.times > 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_draws_are_those_of_scikit_learn(weighted: bool) -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(50, 3)), random.integers(0, 2, 50)
    weight = random.random(50) if weighted else None
    theirs = RandomForestClassifier(5, random_state=3, max_samples=30).fit(X, y, weight)
    probability = None if weight is None else weight / weight.sum()
    bootstrap = Bootstrap(50, 30, probability)
    for tree, expected in zip(theirs.estimators_, theirs.estimators_samples_, strict=True):
        np.testing.assert_array_equal(drawn_rows(bootstrap, tree.random_state), expected)


def test_about_two_thirds_of_the_rows_are_drawn() -> None:
    # 1 − 1/e = 0.632120558829 (Breiman 1996); the share's standard deviation here is 0.0005.
    share = (counts_of(Bootstrap(400_000, 400_000), 1) > 0).mean()
    assert share == pytest.approx(0.632120558829, abs=0.003)


def test_rows_of_probability_zero_are_never_drawn() -> None:
    probability = np.array([0.0, 0.5, 0.0, 0.5])
    assert set(drawn_rows(Bootstrap(4, 200, probability), 0).tolist()) == {1, 3}


def test_balanced_classes_weigh_the_same_within_a_sample() -> None:
    classes = np.repeat([0, 1, 2], [70, 20, 10])[:, None]
    own = sample(Bootstrap(100, 100, balanced=classes), 5)
    weight = np.bincount(classes[own.rows, 0], own.times) * own.unit
    np.testing.assert_allclose(weight, 100 / 3, rtol=1e-4)


@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_subsamples_are_those_of_scikit_learns_bagging(replace: bool, weighted: bool) -> None:
    probability = np.full(30, 1 / 30) if weighted else None
    subsample = Subsample(30, 12, 7, 4, replace, probability)
    for seed in (0, 5, 2**31 - 2):
        theirs = _generate_bagging_indices(seed, False, replace, 7, 30, 4, 12, probability)
        ours = drawn_subsample(subsample, seed)
        for own, expected in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(own, expected)
        sorted_own = subsample_of(subsample, seed)
        np.testing.assert_array_equal(
            np.repeat(sorted_own.rows, sorted_own.times), np.sort(theirs[1])
        )
        assert sorted_own.features is not None
        np.testing.assert_array_equal(sorted_own.features, np.sort(theirs[0]))


def test_a_subsample_of_all_features_names_none() -> None:
    assert subsample_of(Subsample(30, 12, 7, 7, False), 0).features is None


@pytest.mark.parametrize("size", [1, (1 << 16) - 1, (1 << 17) + 5])
def test_counts_are_those_of_the_draws(size: int) -> None:
    bootstrap = Bootstrap(1_000, size)
    drawn = np.bincount(drawn_rows(bootstrap, 7), minlength=1_000)
    np.testing.assert_array_equal(counts_of(bootstrap, 7), drawn)
