"""Facts from outside: scikit-learn's and rpart's trees, and the numbers of textbooks.

scikit-learn visits features in an order drawn at random, so equal gains may fall on either of two
features there; here the lowest feature takes them. `TIES` counts the nodes where that shows.
"""

import json
import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris

from tests.golden_tables import GOLDEN, Data, estimator, numbers, rpart_limits, rpart_table
from vtree import DecisionTreeClassifier, DecisionTreeRegressor, digest
from vtree.tree import SUBSET, Tree

SKLEARN: dict[str, dict[str, Any]] = json.loads((GOLDEN / "sklearn_trees.json").read_text())
RPART: dict[str, dict[str, Any]] = json.loads((GOLDEN / "rpart_trees.json").read_text())

# How many nodes have another split of the same gain, a later one, in scikit-learn's tree.
TIES = {
    "breast_cancer.entropy.depthNone": 4,
    "breast_cancer.gini.depthNone": 4,
    "diabetes.mse.depthNone": 159,
    "iris.entropy.depth3": 1,
    "iris.entropy.depthNone": 1,
    "iris.gini.depth3": 1,
    "iris.gini.depthNone": 1,
    "mtcars.mse.depth3": 3,
    "mtcars.mse.depthNone": 7,
}


def _walk(tree: Tree, facts: dict[str, Any], X: NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    """Yield (our node, scikit-learn's), going on below where both divide the rows alike."""
    waiting = [(0, 0, np.arange(len(X)))]
    for m, k, rows in waiting:
        yield m, k
        if tree.first_child[m] < 0 or facts["left"][k] < 0:
            continue
        left = X[rows, tree.feature[m]] <= tree.threshold[m]
        # As scikit-learn compares, for its thresholds are midpoints of float32.
        theirs = X[rows, facts["feature"][k]].astype(np.float32) <= facts["threshold"][k]
        children = [facts["left"][k], facts["right"][k]]
        if (left != theirs).all():
            children.reverse()
        elif (left != theirs).any():
            continue
        first = int(tree.first_child[m])
        waiting += [(first, children[0], rows[left]), (first + 1, children[1], rows[~left])]


def _gain(facts: dict[str, Any], k: int) -> float:
    left, right = facts["left"][k], facts["right"][k]
    total = [facts["n"][node] * facts["impurity"][node] for node in (k, left, right)]
    return float((total[0] - total[1] - total[2]) / facts["n"][0])


def _training(name: str) -> tuple[Any, Data, Data]:
    """Return (estimator, rows to train on, rows to score)."""
    data, criterion, depth = name.split(".")
    X, y = numbers(data)
    train = np.arange(len(y)) % 3 != 2
    limit = None if depth == "depthNone" else int(depth.removeprefix("depth"))
    model = estimator(criterion, max_depth=limit)
    return model, (X[train], y[train]), (X[~train], y[~train])


@pytest.mark.parametrize("name", SKLEARN)
def test_trees_of_sklearn(name: str) -> None:
    facts = SKLEARN[name]
    model, train, _ = _training(name)
    tree: Tree = model.fit(*train).grown_
    met = ties = 0
    for m, k in _walk(tree, facts, train[0]):
        met += 1
        assert tree.n_rows[m] == facts["n"][k]
        assert tree.impurity[m] == pytest.approx(facts["impurity"][k], rel=1e-9, abs=1e-9)
        assert tree.value[m].tolist() == pytest.approx(facts["value"][k], rel=1e-9, abs=1e-9)
        if tree.feature[m] < 0:
            # In a node of equal targets rounding may leave scikit-learn something to split.
            assert facts["feature"][k] < 0 or abs(facts["impurity"][k]) < 1e-12
            continue
        assert facts["feature"][k] >= 0
        assert tree.gain[m] == pytest.approx(_gain(facts, k), rel=1e-9, abs=1e-11)
        ours, theirs = int(tree.feature[m]), facts["feature"][k]
        if ours == theirs and tree.threshold[m] == pytest.approx(facts["threshold"][k], rel=1e-6):
            continue
        ties += 1
        assert (ours, tree.threshold[m]) < (theirs, facts["threshold"][k]), f"node {k}"
    assert ties == TIES.get(name, 0)
    assert met == tree.feature.size  # no tie divides the rows in another way


def _merged(alphas: Any, impurities: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Keep the last of each run of alphas that are equal but for rounding."""
    alphas, impurities = np.asarray(alphas), np.asarray(impurities)
    last = np.append(np.diff(alphas) > 1e-9 * impurities[-1], True)
    return alphas[last], impurities[last]


@pytest.mark.parametrize("name", SKLEARN)
def test_pruning_paths_of_sklearn(name: str) -> None:
    facts = SKLEARN[name]
    model, train, _ = _training(name)
    path = model.cost_complexity_pruning_path(*train)
    theirs = _merged(facts["ccp_alphas"], facts["impurities"])
    for ours, expected in zip(_merged(path.ccp_alphas, path.impurities), theirs, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in SKLEARN if name not in TIES])
def test_scores_of_sklearn(name: str) -> None:
    model, train, test = _training(name)
    assert model.fit(*train).score(*test) == pytest.approx(SKLEARN[name]["score"], abs=1e-12)


def _left_levels(model: Any, m: int) -> set[str]:
    tree: Tree = model.grown_
    levels = model.schema_.levels[tree.feature[m]]
    start = tree.map_offset[m] + 1
    return set(levels[tree.branch_map[start : start + levels.size] == 0].tolist())


def _assert_rparts_split(model: Any, m: int, node: dict[str, Any]) -> bool:
    """Compare a split, and tell whether rpart's left child is our left one."""
    tree: Tree = model.grown_
    feature = int(tree.feature[m])
    assert model.feature_names_in_[feature] == node["variable"], node["node"]
    if "threshold" in node:
        assert tree.threshold[m] == pytest.approx(node["threshold"], rel=1e-12)
        return bool(node["low_goes_left"])
    assert tree.kind[m] == SUBSET
    left, right = set(node["left_levels"]), set(node["right_levels"])
    ours = _left_levels(model, m) & (left | right)
    assert ours in (left, right)
    return ours == left


@pytest.mark.parametrize("name", RPART)
def test_trees_of_rpart(name: str) -> None:
    """rpart prunes what its cp refuses, so only its own nodes are compared."""
    data, criterion, _ = name.split(".")
    X, y = rpart_table(data)
    model = estimator(criterion, **rpart_limits(name)).fit(X, y)
    tree: Tree = model.grown_
    nodes = {node["node"]: node for node in RPART[name]["nodes"]}
    bits = {"info": math.log(2.0)}.get(criterion, 1.0)  # rpart's entropy is in nats
    met = [(0, 1)]
    for m, k in met:
        node = nodes[k]
        assert tree.n_rows[m] == node["n"]
        if criterion == "anova":
            assert tree.value[m, 0] == pytest.approx(node["value"], rel=1e-12)
            assert tree.impurity[m] * node["n"] == pytest.approx(node["deviance"], rel=1e-9)
        else:
            counts = dict(zip(RPART[name]["classes"], node["value"], strict=True))
            ours = tree.value[m] * node["n"]
            if data == "breast_cancer":
                counts = {0: counts["malignant"], 1: counts["benign"]}
            in_order = [counts[each] for each in sorted(counts)]
            assert ours.tolist() == pytest.approx(in_order)
        if "variable" not in node:
            continue
        improvement = tree.gain[m] * len(y) * bits
        if criterion == "anova":
            improvement /= node["deviance"]
        assert improvement == pytest.approx(node["improvement"], rel=1e-9)
        first = int(tree.first_child[m])
        below = [2 * k, 2 * k + 1]
        if not _assert_rparts_split(model, m, node):
            below.reverse()
        met += zip((first, first + 1), below, strict=True)
    assert len(met) == len(nodes)


def test_mtcars_by_the_book() -> None:
    X, y = rpart_table("mtcars")
    tree = DecisionTreeRegressor(max_depth=1, min_samples_leaf=7).fit(X, y).grown_
    sum_of_squares = tree.impurity[0] * 32
    assert sum_of_squares == pytest.approx(1126.047188, abs=1e-6)
    assert tree.gain[0] * 32 / sum_of_squares == pytest.approx(0.643125226048, abs=1e-12)
    assert (X.columns[tree.feature[0]], tree.threshold[0]) == ("cyl", 5.0)
    model = DecisionTreeRegressor(min_samples_split=20, min_samples_leaf=7).fit(X, y)
    leaves = model.grown_.first_child < 0
    pairs = zip(model.grown_.n_rows[leaves], model.grown_.value[leaves, 0], strict=True)
    expected = [(7, 13.414286), (14, 18.264286), (11, 26.663636)]
    assert sorted(pairs, key=lambda pair: pair[1]) == [
        (n, pytest.approx(mean, abs=1e-6)) for n, mean in expected
    ]


def test_play_tennis_by_the_book() -> None:
    X, y = rpart_table("weather_nominal")
    outlook = X[["outlook"]]
    tree = DecisionTreeClassifier(max_depth=1).fit(outlook, y).grown_
    assert tree.impurity[0] == pytest.approx(0.459183673469, abs=1e-12)
    assert tree.impurity[0] - tree.gain[0] == pytest.approx(0.357142857143, abs=1e-12)
    assert tree.gain[0] * 14 == pytest.approx(1.428571428571, abs=1e-12)
    model = DecisionTreeClassifier(max_depth=1).fit(outlook, y)
    assert _left_levels(model, 0) in ({"overcast"}, {"rainy", "sunny"})


# Cut and gain in bits, from the seed note's fourteen rows.
HUMIDITY = [54, 58, 59, 60, 60, 62, 63, 80, 81, 89, 90, 90, 90, 92]
PLAY = [1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0]
HUMIDITY_GAINS = {
    54: 0.047709111,
    58: 0.100398453,
    59: 0.159262221,
    60: 0.303165634,
    62: 0.394895099856,
    63: 0.151835501,
    80: 0.236122348,
    81: 0.358931281,
    89: 0.605289106107,
    90: 0.113400864,
}


@pytest.mark.parametrize("cut", HUMIDITY_GAINS)
def test_every_humidity_cut(cut: int) -> None:
    side = (np.array(HUMIDITY) > cut).astype(float)[:, None]
    tree = DecisionTreeClassifier(criterion="entropy", max_depth=1).fit(side, PLAY).grown_
    assert tree.impurity[0] == pytest.approx(0.940285958671, abs=1e-12)
    assert tree.gain[0] == pytest.approx(HUMIDITY_GAINS[cut], abs=1e-9)


def test_the_best_humidity_cut() -> None:
    humidity = np.array(HUMIDITY, dtype=float)[:, None]
    tree = DecisionTreeClassifier(criterion="entropy", max_depth=1).fit(humidity, PLAY).grown_
    assert tree.threshold[0] == 89.5
    assert tree.gain[0] == pytest.approx(max(HUMIDITY_GAINS.values()), abs=1e-9)
    gini = DecisionTreeClassifier(max_depth=1).fit(humidity, PLAY).grown_
    assert gini.threshold[0] == 89.5
    assert gini.impurity[0] - gini.gain[0] == pytest.approx(0.128571428571, abs=1e-12)


def test_gini_and_entropy_of_outlook() -> None:
    """Every one of the three levels by itself, which only a multiway split has in one node."""
    X, y = rpart_table("weather_nominal")
    tree = DecisionTreeClassifier(criterion="entropy").fit(X[["outlook"]], y).grown_
    leaves = tree.first_child < 0
    left_over = (tree.n_rows[leaves] / 14) @ tree.impurity[leaves]
    assert left_over == pytest.approx(0.693536139, abs=1e-9)
    assert tree.gain.sum() == pytest.approx(0.246749820, abs=1e-9)
    gini = DecisionTreeClassifier().fit(X[["outlook"]], y).grown_
    leaves = gini.first_child < 0
    assert (gini.n_rows[leaves] / 14) @ gini.impurity[leaves] == pytest.approx(
        0.342857143, abs=1e-9
    )


def _twoing(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Return P_L P_R / 4 (Σ |p_k(L) − p_k(R)|)² from counts of classes."""
    n = left.sum() + right.sum()
    shares = left / left.sum(), right / right.sum()
    distance = np.abs(shares[0] - shares[1]).sum()
    return float(left.sum() * right.sum() / n**2 / 4.0 * distance**2)


def _gini(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    def left_over(counts: NDArray[np.float64]) -> float:
        return float(counts.sum() - (counts**2).sum() / counts.sum())

    whole = left_over(left + right)
    return (whole - left_over(left) - left_over(right)) / float((left + right).sum())


@pytest.mark.parametrize(("criterion", "score"), [("twoing", _twoing), ("gini", _gini)])
def test_cuts_of_iris_by_the_formula(criterion: str, score: Any) -> None:
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y).grown_
    best = max(
        score(np.bincount(y[x <= cut], minlength=3), np.bincount(y[x > cut], minlength=3))
        for x in X.T
        for cut in np.unique(x)[:-1]
    )
    assert tree.gain[0] == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize(("criterion", "score"), [("twoing", _twoing), ("gini", _gini)])
def test_subsets_by_brute_force(criterion: str, score: Any, n_classes: int) -> None:
    """Two classes in the order of shares, more by all subsets: both are the best of all."""
    draw = np.random.default_rng(n_classes)
    level = draw.integers(0, 8, 400)
    y = (
        level * 7 % n_classes + draw.integers(0, 2, 400) * draw.integers(0, n_classes, 400)
    ) % n_classes
    table = np.array([np.bincount(y[level == each], minlength=n_classes) for each in range(8)])
    subsets = [list(some) for size in range(1, 5) for some in combinations(range(8), size)]
    best = max(score(table[some].sum(0), np.delete(table, some, 0).sum(0)) for some in subsets)
    frame = pd.DataFrame({"level": [f"level {each}" for each in level]})
    tree = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(frame, y).grown_
    assert tree.kind[0] == SUBSET
    assert tree.gain[0] == pytest.approx(best, rel=1e-12)


def test_subsets_of_means_by_brute_force() -> None:
    draw = np.random.default_rng(0)
    level = draw.integers(0, 8, 300)
    y = np.sin(level) + draw.normal(size=300)
    lowest = min(
        y[inside].var() * inside.sum() + y[~inside].var() * (~inside).sum()
        for size in range(1, 5)
        for some in combinations(range(8), size)
        for inside in [np.isin(level, some)]
    )
    tree = (
        DecisionTreeRegressor(max_depth=1, categorical_features=[0]).fit(level[:, None], y).grown_
    )
    assert (tree.impurity[0] - tree.gain[0]) * 300 == pytest.approx(lowest, rel=1e-12)


def test_feature_costs_of_rpart() -> None:
    """rpart(cost = c(1, 1, 3)) divides the improvement by sex, 161.75, by three; it still wins."""
    X, y = rpart_table("titanic")
    model = DecisionTreeClassifier(min_samples_leaf=7, feature_costs=[1.0, 1.0, 3.0]).fit(X, y)
    assert X.columns[model.grown_.feature[0]] == "sex"
    assert model.grown_.gain[0] * 1316 / 3.0 == pytest.approx(53.9178722258695, rel=1e-12)
    women = int(model.grown_.first_child[0]) + int(_left_levels(model, 0) == {"man"})
    assert X.columns[model.grown_.feature[women]] == "class"
    assert model.grown_.gain[women] * 1316 == pytest.approx(49.2645749013261, rel=1e-12)
    dearer = DecisionTreeClassifier(feature_costs=[1.0, 1.0, 4.0]).fit(X, y)
    assert X.columns[dearer.grown_.feature[0]] == "class"
    assert dearer.grown_.gain[0] * 1316 == pytest.approx(51.9962842057356, rel=1e-12)
    model = DecisionTreeClassifier(feature_costs=[2.0, 2.0, 2.0]).fit(X, y)
    assert digest(model) == digest(DecisionTreeClassifier().fit(X, y))
