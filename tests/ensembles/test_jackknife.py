"""Jackknife variances beside their formulas in loops, and beside a bagged mean's true variance."""

import numpy as np
import pytest

from vtree.ensembles import jackknife
from vtree.ensembles.jackknife import after_bootstrap, extrapolated, infinitesimal


def _bagged(n_rows: int, n_trees: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (times (B, n), answers (B, 2), y (n,)): each tree answers its sample's mean."""
    draw = np.random.default_rng(seed)
    y = draw.normal(size=n_rows)
    rows = draw.integers(0, n_rows, (n_trees, n_rows))
    times = np.stack([np.bincount(own, minlength=n_rows) for own in rows])
    mean = times @ y / n_rows
    return times, np.stack([mean, mean**3], axis=1), y


@pytest.mark.parametrize("rows_at_a_time", [4096, 5])
def test_the_formulas(rows_at_a_time: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jackknife, "_ROWS", rows_at_a_time)
    n_rows, n_trees = 12, 40
    times, answers, _ = _bagged(n_rows, n_trees, 0)
    for column, answer in enumerate(answers.T):
        mean = answer.mean()
        by_share = by_row = 0.0
        for row in range(n_rows):
            by_share += np.mean((times[:, row] - 1.0) * (answer - mean)) ** 2
            by_row += (answer[times[:, row] == 0].mean() - mean) ** 2
        by_row *= (n_rows - 1) / n_rows
        noise = n_rows / n_trees**2 * ((answer - mean) ** 2).sum()
        # Times add up to n in each tree, but their mean over trees is not one in each row.
        centred = sum(
            np.mean((times[:, row] - times[:, row].mean()) * (answer - mean)) ** 2
            for row in range(n_rows)
        )
        assert centred == pytest.approx(by_share, rel=1e-9)
        found = infinitesimal(times, answers, corrected=False)[column]
        assert found == pytest.approx(by_share, rel=1e-9)
        assert infinitesimal(times, answers)[column] == pytest.approx(by_share - noise, rel=1e-9)
        found = after_bootstrap(times, answers, corrected=False)[column]
        assert found == pytest.approx(by_row, rel=1e-9)
        corrected = by_row - (np.e - 1.0) * noise
        assert after_bootstrap(times, answers)[column] == pytest.approx(corrected, rel=1e-9)
        both = (by_share - noise + corrected) / 2.0
        assert extrapolated(times, answers)[column] == pytest.approx(both, rel=1e-9)


def test_the_variance_of_a_mean_is_found_by_all_three() -> None:
    # A bagged mean is the mean: its variance is s²/n, which the jackknife is exact for.
    found = []
    for seed in range(20):
        times, answers, y = _bagged(50, 2000, seed)
        truth = y.var() / 50
        found.append(
            [
                each(times, answers)[0] / truth
                for each in (infinitesimal, after_bootstrap, extrapolated)
            ]
        )
    np.testing.assert_allclose(np.mean(found, axis=0), 1.0, atol=0.12)


def test_few_trees_add_a_bias_that_the_correction_takes_off() -> None:
    ratio = []
    for seed in range(40):
        times, answers, y = _bagged(50, 100, seed)
        own = [infinitesimal(times, answers, corrected=on)[0] for on in (False, True)]
        ratio.append(np.asarray(own) / (y.var() / 50))
    raw, corrected = np.mean(ratio, axis=0)
    assert raw > 1.3
    assert corrected == pytest.approx(1.0, abs=0.15)


def test_rows_that_every_tree_drew_are_left_out() -> None:
    times = np.array([[1, 0], [2, 3], [1, 1]])
    answers = np.array([[1.0], [2.0], [4.0]])
    expected = (1.0 - 7.0 / 3.0) ** 2 / 2.0
    assert after_bootstrap(times, answers, corrected=False)[0] == pytest.approx(expected)


WEIGHTS = {
    "alike": np.ones(50),
    "uneven": np.repeat([1.0, 3.0], [40, 10]),
    "absent rows": np.repeat([0.0, 1.0], [200, 50]),
}


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("n_draws", [10, 50, 75])
def test_any_number_of_draws_and_weights_of_rows(n_draws: int, name: str) -> None:
    # A bagged weighted mean is the weighted mean, however many rows a tree draws: its variance is
    # Σ p² (y − mean)². Few trees add much, which only the right correction takes off.
    chance = WEIGHTS[name] / WEIGHTS[name].sum()
    found = []
    for seed in range(60):
        draw = np.random.default_rng(seed)
        y = draw.normal(size=chance.size)
        times = draw.multinomial(n_draws, chance, size=1000)
        answers = (times @ y / n_draws)[:, None]
        truth = (chance**2 * (y - chance @ y) ** 2).sum()
        given = None if name == "alike" else chance
        each = [one(times, answers, given)[0] / truth for one in (infinitesimal, after_bootstrap)]
        found.append(each)
    np.testing.assert_allclose(np.mean(found, axis=0), 1.0, atol=0.12)


def test_rows_that_cannot_be_drawn_change_nothing() -> None:
    draw = np.random.default_rng(0)
    chance = np.repeat([0.0, 0.1], [30, 10])
    times = draw.multinomial(15, chance, size=60)
    answers = draw.normal(size=(60, 2))
    for each in (infinitesimal, after_bootstrap, extrapolated):
        found = each(times, answers, chance)
        np.testing.assert_allclose(found, each(times[:, 30:], answers), rtol=1e-9)
