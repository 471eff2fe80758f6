"""CHAID beside the trees of R's package, and the worked numbers of its papers and manuals."""

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.golden_tables import BUNDLED, GOLDEN
from vtree import CHAIDClassifier, CHAIDRegressor

TREES: dict[str, dict[str, Any]] = json.loads((GOLDEN / "chaid_trees.json").read_text())
ORDINAL = {"penguins_binned.complete_cases": ["bill", "flip"], "titanic.class_ordinal": ["class"]}


def _table(name: str) -> pd.DataFrame:
    if name == "weather_nominal":
        table = pd.read_csv(BUNDLED / "play_tennis.csv").rename(columns={"wind": "windy"})
        return table.assign(windy=table["windy"].map({"weak": "FALSE", "strong": "TRUE"}))
    if name == "penguins_binned":
        table = pd.read_csv(GOLDEN / "penguins_binned.csv", na_values="?")
        return table.dropna()
    counts = pd.read_csv(GOLDEN / f"{name}.csv")
    return counts.loc[counts.index.repeat(counts["count"])].drop(columns="count")


def _like_r(facts: dict[str, Any], ordinal: Any = None, **parameters: Any) -> CHAIDClassifier:
    return CHAIDClassifier.r_compatible(
        alpha_merge=facts["alpha_merge"],
        alpha_resplit=facts["alpha_resplit"],
        alpha_split=facts["alpha_split"],
        min_samples_split=facts["minsplit"],
        min_samples_leaf=facts["minbucket"],
        min_leaf_share=facts["minprob"],
        ordinal_features=ordinal,
        **parameters,
    )


def _groups(model: Any, node: int) -> list[list[str]]:
    tree = model.grown_
    levels = model.schema_.levels[tree.feature[node]]
    start = int(tree.map_offset[node]) + 1
    child = tree.branch_map[start : start + levels.size]
    return [levels[child == number].tolist() for number in range(tree.n_children[node])]


@pytest.mark.parametrize("name", TREES)
def test_trees_of_r(name: str) -> None:
    facts = TREES[name]
    table = _table(facts["data"])
    model = _like_r(facts, ORDINAL.get(name))
    model.fit(table[facts["predictors"]], table[facts["target"]])
    assert model.classes_.tolist() == facts["classes"]
    tree, p_values = model.grown_, np.exp(model.log_p_values_)
    expected = iter(facts["nodes"])
    waiting = [0]
    while waiting:
        node = waiting.pop()
        own = next(expected)
        counts = np.rint(tree.value[node] * tree.n_rows[node]).astype(int)
        assert counts.tolist() == own["counts"]
        tested = ~np.isnan(p_values[node]).any()
        assert tested == ("adjp" in own and max(own["counts"]) < own["n"])
        if tested:
            adjusted = [own["adjp"][predictor] for predictor in facts["predictors"]]
            np.testing.assert_allclose(p_values[node], adjusted, rtol=1e-9)
        assert (tree.first_child[node] >= 0) == ("split" in own)
        if "split" in own:
            assert facts["predictors"][tree.feature[node]] == own["split"]
            assert _groups(model, node) == own["groups"]
            first = int(tree.first_child[node])
            waiting += reversed(range(first, first + int(tree.n_children[node])))
    assert next(expected, None) is None


def _root_p(
    model: Any, table: pd.DataFrame, predictors: list[str], target: str
) -> dict[str, float]:
    model.fit(table[predictors], table[target])
    return dict(zip(predictors, np.exp(model.log_p_values_[0]).tolist(), strict=True))


def test_likelihood_ratio_on_titanic() -> None:
    table = _table("titanic")
    model = CHAIDClassifier(statistic="likelihood_ratio", max_depth=1)
    found = _root_p(model, table, ["class", "age", "sex"], "survived")
    worked = {"class": (132.688563938, 2), "age": (10.120672642, 1), "sex": (347.771180337, 1)}
    for predictor, (statistic, df) in worked.items():
        assert found[predictor] == pytest.approx(stats.chi2.sf(statistic, df), rel=1e-8)


@pytest.mark.parametrize(
    ("data", "target", "predictor", "adjusted", "groups"),
    [
        (
            "titanic",
            "survived",
            "class",
            5.130710e-29,
            [["1st class"], ["2nd class"], ["3rd class"]],
        ),
        ("haireye", "Eye", "Hair", 3.650829e-25, [["Black"], ["Blond"], ["Brown", "Red"]]),
        ("ucb", "Admit", "Dept", 7.042160e-167, [["A", "B"], ["C", "D"], ["E"], ["F"]]),
    ],
)
def test_exhaustive(
    data: str, target: str, predictor: str, adjusted: float, groups: list[list[str]]
) -> None:
    table = _table(data)
    model = CHAIDClassifier(exhaustive=True, max_depth=1)
    assert _root_p(model, table, [predictor], target)[predictor] == pytest.approx(
        adjusted, rel=1e-6
    )
    assert _groups(model, 0) == groups


def test_chicks() -> None:
    table = pd.read_csv(GOLDEN / "chickwts.csv")
    model = CHAIDRegressor(min_samples_split=20, min_samples_leaf=7)
    p = _root_p(model, table, ["feed"], "weight")["feed"]
    assert p == pytest.approx(3.806047e-09, rel=1e-6)
    assert p == pytest.approx(65 * stats.f.sf(24.970296057, 3, 67), rel=1e-9)
    assert _groups(model, 0) == [
        ["casein", "sunflower"],
        ["horsebean"],
        ["linseed"],
        ["meatmeal", "soybean"],
    ]
    # linseed and {meatmeal, soybean} have p = .049711: a stricter level merges them, too.
    stricter = CHAIDRegressor(min_samples_split=20, min_samples_leaf=7, alpha_merge=0.0497)
    stricter.fit(table[["feed"]], table["weight"])
    assert ["linseed", "meatmeal", "soybean"] in _groups(stricter, 0)
    means = table.groupby("feed")["weight"].mean()
    assert model.predict(pd.DataFrame({"feed": ["horsebean"]}))[0] == means["horsebean"]


def test_a_p_value_beyond_float64() -> None:
    X = np.repeat(["a", "b"], 20_000)
    y = np.repeat([0, 1], 20_000)
    model = CHAIDClassifier().fit({"x": X.tolist()}, y)
    x = 40_000.0  # X² of the table; log of its tail by the asymptotic series
    series = 1.0 - 1.0 / x + 3.0 / x**2
    expected = -x / 2.0 + math.log(series * math.sqrt(2.0 / (math.pi * x)))
    assert model.log_p_values_[0, 0] == pytest.approx(expected, rel=1e-12)
    assert model.p_values_[0, 0] == 0.0
