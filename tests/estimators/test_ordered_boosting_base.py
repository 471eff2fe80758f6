"""Categories in ordered boosting, its files, and what it refuses."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import vtree
from tests.samples import classes, columns, reals
from vtree import OrderedBoostingClassifier, OrderedBoostingRegressor
from vtree.errors import InputError, MemoryBudgetError, ModelFileError
from vtree.interop.model_file import read_model, write_model

X, Y = reals()
LABELS = classes()[1]
FRAME = pd.DataFrame({**columns(200)[0], "place": np.arange(200) % 7 % 5}).astype({"place": str})


def test_categories_beyond_one_hot_stand_for_their_targets() -> None:
    """A hundred categories that decide the class alone, most rows of new tables in them."""
    random = np.random.default_rng(0)
    place = random.integers(0, 100, 3_000)
    y = random.random(100)[place] + random.normal(scale=0.05, size=3_000) > 0.5
    table = pd.DataFrame({"place": [f"p{own}" for own in place], "noise": random.random(3_000)})
    model = OrderedBoostingClassifier(n_estimators=30, depth=3, learning_rate=0.3, random_state=0)
    model.fit(table[:2_000], y[:2_000])
    assert model.score(table[2_000:], y[2_000:]) > 0.9
    shares = [f"share of True by place, prior {prior}" for prior in ("0", "0.5", "1")]
    assert model.derived_names_ == [*shares, "rows by place"]
    assert model.feature_importances_[0] > 0.9
    new = pd.DataFrame({"place": ["unheard of", None], "noise": [0.5, 0.5]})
    share = model.predict_proba(new)[:, 1]
    assert share[0] == share[1]  # neither was there in training
    text = vtree.export_text(model, max_depth=2)
    assert "share of True by place, prior " in text


def test_categories_of_few_levels_split_one_from_all_others() -> None:
    table = {"colour": ["red", "green", "blue"] * 40}
    y = [1.0, 3.0, 3.0] * 40
    model = OrderedBoostingRegressor(
        n_estimators=40, depth=1, one_hot_max_size=3, learning_rate=0.5
    )
    model.fit(table, y)
    assert (model.grown_.kind[model.grown_.root] == 1).all()
    assert model.derived_names_ == []
    np.testing.assert_allclose(model.predict({"colour": ["red", "blue"]}), [1.0, 3.0], atol=0.05)


def test_files_whose_statistics_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.vtree"
    model = OrderedBoostingClassifier(n_estimators=3, one_hot_max_size=1).fit(FRAME, LABELS)
    vtree.save(model, path)
    header, tree, extra = read_model(path)
    for name, wrong in {
        "keys": extra["statistics.keys"][::-1],
        "means": extra["statistics.means"][:, :1],
        "sizes": extra["statistics.sizes"] * 0,
        "columns": extra["statistics.columns"] + 90,
        "prior": extra["statistics.prior"] * np.nan,
    }.items():
        write_model(path, header, tree, {**extra, f"statistics.{name}": wrong})
        with pytest.raises(ModelFileError):
            vtree.load(path)
    write_model(path, header, tree)
    with pytest.raises(ModelFileError, match="do not fit its statistics"):
        vtree.load(path)


def test_what_it_cannot_do_is_said() -> None:
    with pytest.raises(MemoryBudgetError, match="depth=16"):
        OrderedBoostingRegressor(n_estimators=2, depth=16).fit(X, Y)
    with pytest.raises(InputError, match="max_ctr_complexity=4"):
        wide = pd.DataFrame({str(n): ["a", "b", "c"] * 5 for n in range(30)})
        OrderedBoostingRegressor(n_estimators=2, max_ctr_complexity=4).fit(wide, np.arange(15.0))
    with pytest.raises(InputError, match="boosting_type"):
        OrderedBoostingRegressor(boosting_type="ordered").fit(X, Y)


def test_advice_where_histograms_do_not_fit_helps() -> None:
    for mode in ("Plain", "Ordered"):
        model = OrderedBoostingRegressor(
            n_estimators=2, boosting_type=mode, histogram_budget=200_000, random_state=0
        )
        with pytest.raises(MemoryBudgetError, match="Lower depth to") as caught:
            model.fit(X, Y)
        told = str(caught.value)
        assert ("Plain" in told) == (mode == "Ordered")
        depth = int(told.partition("Lower depth to ")[2].split()[0])
        assert model.set_params(depth=depth).fit(X, Y).n_estimators_ == 2
        with pytest.raises(MemoryBudgetError):
            model.set_params(depth=depth + 1).fit(X, Y)
        budget = int(told.partition("histogram_budget to ")[2].rstrip(".").replace(",", ""))
        model.set_params(depth=6, histogram_budget=budget).fit(X, Y)
        with pytest.raises(MemoryBudgetError):
            model.set_params(histogram_budget=budget - 1).fit(X, Y)
    with pytest.raises(MemoryBudgetError, match="Lower max_bins, or raise histogram_budget"):
        OrderedBoostingRegressor(n_estimators=2, histogram_budget=100).fit(X, Y)


@pytest.mark.parametrize("bootstrap", ["Bayesian", "No"])
def test_a_share_of_rows_that_nothing_draws(bootstrap: str) -> None:
    model = OrderedBoostingClassifier(n_estimators=2, bootstrap_type=bootstrap, subsample=0.1)
    with pytest.raises(InputError, match=rf"subsample=0.1 has no .* bootstrap_type='{bootstrap}'"):
        model.fit(X, LABELS)
    for share in (0.8, 1.0):
        model.set_params(subsample=share).fit(X, LABELS)
    model.set_params(bootstrap_type="MVS", subsample=0.1).fit(X, LABELS)
