"""Surrogates in the estimators: rpart's trees, prediction, files, and what does not go together."""

import json
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vtree
from tests.golden_tables import GOLDEN, estimator, rpart_limits, rpart_table, stagec
from tests.samples import classes, columns, reals
from vtree import DecisionTreeClassifier, DecisionTreeRegressor
from vtree.errors import InputError, ModelFileError
from vtree.surrogates import Rules
from vtree.surrogates.rules import NO_WAY
from vtree.tree import Tree

RPART: dict[str, list[dict[str, Any]]] = json.loads((GOLDEN / "rpart_surrogates.json").read_text())
CP: dict[str, dict[str, Any]] = json.loads((GOLDEN / "rpart_pruning.json").read_text())

# Nodes where splits of two variables gain the same: rounding chooses in rpart, here the first.
TIES = {"penguins.gini.full": {9, 10}}


def _levels(model: Any, feature: int, branch_map: NDArray[Any], offset: int, side: int) -> set[str]:
    levels = model.schema_.levels[feature]
    own = branch_map[offset + 1 : offset + 1 + levels.size]
    return set(levels[own == side].tolist())


def _is_reversed(model: Any, rule: int, facts: dict[str, Any]) -> bool:
    """Compare the test of a rule with rpart's; tell whether its left child is our second one."""
    rules: Rules = model.surrogates_
    if "cut" in facts:
        assert rules.threshold[rule] == pytest.approx(facts["cut"], rel=1e-12)
        return bool(facts["low_goes_left"] != (rules.low_child[rule] == 0))
    own = int(rules.feature[rule]), rules.branch_map, int(rules.map_offset[rule])
    sides = [_levels(model, *own, side) for side in (0, 1)]
    assert sides in (
        [set(facts["left"]), set(facts["right"])],
        [set(facts["right"]), set(facts["left"])],
    )
    return sides[0] != set(facts["left"])


@pytest.mark.parametrize("name", RPART)
def test_trees_of_rpart(name: str) -> None:
    data, criterion, _ = name.split(".")
    X, y = rpart_table(data)
    how = rpart_limits(name) | {"surrogates": 5, "surrogate_counts": "rpart"}
    model = estimator(criterion, **how).fit(X, y)
    tree, rules = model.grown_, model.surrogates_
    facts = {node["node"]: node for node in RPART[name]}
    nats = math.log(2.0) if criterion == "info" else 1.0
    waiting, compared = [(0, 1)], 0
    for m, k in waiting:
        node = facts[k]
        assert tree.n_rows[m] == node["n"]
        if "variable" not in node or k in TIES.get(name, ()):
            continue
        own = np.flatnonzero(rules.node == m).tolist()
        assert X.columns[tree.feature[m]] == X.columns[rules.feature[own[0]]] == node["variable"]
        improvement = tree.gain[m] * len(y) * nats
        if criterion == "anova":
            improvement /= node["dev"]
            assert tree.impurity[m] * node["n"] == pytest.approx(node["dev"], rel=1e-9)
        assert improvement == pytest.approx(node["improvement"], rel=1e-9)
        reverse = _is_reversed(model, own[0], node)
        assert len(own) - 1 == len(node["surrogates"])
        for rule, surrogate in zip(own[1:], node["surrogates"], strict=True):
            compared += 1
            assert X.columns[rules.feature[rule]] == surrogate["variable"]
            assert rules.agreement[rule] == pytest.approx(surrogate["agreement"], rel=1e-12)
            assert rules.adjusted[rule] == pytest.approx(surrogate["adjusted"], abs=1e-12)
            assert _is_reversed(model, rule, surrogate) == reverse
        below = [2 * k, 2 * k + 1]
        first = int(tree.first_child[m])
        waiting += zip((first, first + 1), below[:: -1 if reverse else 1], strict=True)
    assert compared == sum(
        len(node.get("surrogates", ()))
        for node in facts.values()
        if node["node"] in {k for _, k in waiting} - TIES.get(name, set())
    )


def test_copies_are_surrogates_but_in_rpart() -> None:
    """At the fourth node of rpart's tree, four of five rows agree: hot with sunny, mild with rainy.

    One goes wrong, and rpart 4.1 asks for two such; of a copy none does.
    """
    X, y = rpart_table("weather_nominal")
    for counts, expected in (("sides", [0.8]), ("rpart", [])):
        model = DecisionTreeClassifier(surrogates=5, surrogate_counts=counts).fit(X, y)
        node = np.flatnonzero((model.grown_.n_rows == 5) & (model.grown_.feature == 0))
        own = model.surrogates_.agreement[np.isin(model.surrogates_.node, node)]
        assert own.tolist() == [1.0, *expected]
    first = ["red", "green", "green", "red"] * 5
    table = {"first": first, "second": [{"red": "a", "green": "b"}[each] for each in first]}
    gap = {"first": [None, None], "second": ["a", "b"]}
    for counts, answers in (("sides", [1, 0]), ("rpart", [0, 0])):
        model = DecisionTreeClassifier(surrogates=1, surrogate_counts=counts)
        assert model.fit(table, np.equal(first, "red").astype(int)).predict(gap).tolist() == answers


def _penguins(name: str) -> tuple[Any, Any, Any, float]:
    X, y = rpart_table("penguins")
    model = estimator(name.split(".")[1], surrogates=5, **rpart_limits(name)).fit(X, y)
    return model, X, y, float(1.0 - model.grown_.value[0].max())


@pytest.mark.parametrize("name", [name for name in CP if name.startswith("penguins")])
def test_tables_of_rpart(name: str) -> None:
    model, X, y, risk = _penguins(name)
    how = {"method": "cost_complexity", "alpha": CP[name]["cp"] * risk}
    found = vtree.prune(model, X_val=X, y_val=y, **how).subtrees_
    ours = np.stack([found.alphas / risk, found.n_leaves - 1, found.risks / risk], axis=1)
    np.testing.assert_allclose(ours, np.array(CP[name]["table"])[::-1, :3], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.unseen_risks, found.risks, rtol=1e-12, atol=1e-15)
    own = vtree.prune(model, **how)
    if name not in TIES:
        assert sorted(own.grown_.n_rows.tolist()) == CP[name]["rows_of_nodes"]
    assert set(own.surrogates_.node.tolist()) == set(np.flatnonzero(own.grown_.first_child >= 0))


def test_cross_validation_of_rpart() -> None:
    """One row has the very value of a part's threshold, and rpart sends x < t left, we x <= t.

    In the mirror image of the numbers ours is rpart's way.
    """
    name = "penguins.gini.xval_mod10"
    _, X, y, risk = _penguins(name)
    numbers = X.columns[X.dtypes == np.float64]
    X[numbers] = -X[numbers]
    model = estimator("gini", surrogates=5, **rpart_limits(name)).fit(X, y)
    facts = CP[name]
    for rule in ("minimum", "one_standard_error"):
        pruned = vtree.prune(
            model,
            method="cost_complexity",
            cv=np.arange(344) % 10,
            X=X,
            y=y,
            alpha=0.001 * risk,
            rule=rule,
        )
        found, expected = pruned.subtrees_, np.array(facts["table"])[::-1]
        np.testing.assert_allclose(found.unseen_risks / risk, expected[:, 3], rtol=1e-12)
        np.testing.assert_allclose(found.standard_errors / risk, expected[:, 4], rtol=1e-9)
        assert pruned.get_n_leaves() - 1 == facts["table"][facts[rule] - 1][1]


def test_stagec_by_the_book() -> None:
    X, y = stagec()
    model = DecisionTreeClassifier(
        surrogates=5, min_samples_split=20, min_samples_leaf=7, max_bins=None
    ).fit(X, y)
    rules = model.surrogates_
    own = rules.node == 0
    assert model.grown_.gain[0] * 146 == pytest.approx(10.35759105, abs=1e-8)
    assert [X.columns[f] for f in rules.feature[own]] == ["grade", "gleason", "ploidy", "g2", "age"]
    assert rules.threshold[own].tolist() == pytest.approx([2.5, 5.5, 0.0, 9.945, 66.5])
    assert rules.low_child[own].tolist() == [0, 0, 0, 0, 1]
    assert rules.agreement[own][1:].tolist() == pytest.approx(
        [0.863013698630, 0.643835616438, 0.630136986301, 0.589041095890], abs=1e-12
    )
    assert rules.adjusted[own][1:].tolist() == pytest.approx(
        [0.672131147541, 0.147540983607, 0.114754098361, 0.016393442623], abs=1e-12
    )


# ------------------------------------------------------------------------- routing and prediction

SETTINGS: list[dict[str, Any]] = [
    {"surrogates": 5},
    {"surrogates": 1, "use_surrogates": 1},
    {"surrogates": 3, "use_surrogates": 0},
    {"use_surrogates": 1},
    {"use_surrogates": 0},
    {"surrogates": 2, "max_bins": 4},
    {"surrogates": 2, "max_leaf_nodes": 6},
    {"surrogates": 9, "max_features": 2, "random_state": 0},
    {"surrogates": 2, "min_samples_category": 4},
]


def _with_gaps(n_rows: int, seed: int = 0) -> tuple[dict[str, list[Any]], NDArray[np.int64]]:
    """Return columns that tell much of each other, a fifth of them missing, and classes."""
    table, y = columns(n_rows, seed)
    draw = np.random.default_rng(seed + 1)
    size = np.array([0.0 if value is None else value for value in table["size"]])
    table["length"] = (2.0 * size + draw.normal(scale=0.3, size=n_rows)).tolist()
    table["shape"] = np.where(size > draw.normal(scale=0.3, size=n_rows), "long", "round").tolist()
    for values in table.values():
        for row in np.flatnonzero(draw.random(n_rows) < 0.2).tolist():
            values[row] = None
    return table, y


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_rows_are_predicted_where_they_were_trained(setting: dict[str, Any], kind: str) -> None:
    table, labels = _with_gaps(300)
    y: Any = labels
    model: Any = DecisionTreeClassifier(**setting) if kind == "classes" else None
    if model is None:
        model = DecisionTreeRegressor(min_samples_leaf=5, **setting)
        y = labels + np.random.default_rng(2).normal(scale=0.1, size=300)
    tree: Tree = model.fit(table, y).grown_
    passed = np.asarray(model.decision_path(table).sum(axis=0)).ravel()
    assert passed.tolist() == tree.n_rows.tolist()
    for node in range(tree.feature.size):
        own = y[np.asarray(model.decision_path(table)[:, [node]].todense()).ravel() == 1]
        if kind == "numbers":
            assert tree.value[node, 0] == pytest.approx(own.mean(), rel=1e-9)
            assert tree.impurity[node] == pytest.approx(own.var(), rel=1e-6, abs=1e-9)
        else:
            assert tree.value[node, 1] == pytest.approx(own.mean())
    assert (tree.gain[tree.first_child >= 0] >= 0.0).all()


def test_what_becomes_of_a_row_without_the_first_answer() -> None:
    """size asks; length is a copy of it; the rest tells nothing."""
    draw = np.random.default_rng(0)
    size, noise = draw.normal(size=200), draw.normal(size=200)
    X = np.stack([size, 3.0 * size, noise], axis=1)
    y = (size > 0.5).astype(int)
    gap = np.array([[np.nan, 9.0, 0.0], [np.nan, -9.0, 0.0], [np.nan, np.nan, 0.0]])

    def answers(**setting: Any) -> list[float]:
        model = DecisionTreeClassifier(max_depth=1, **setting).fit(X, y)
        return model.predict_proba(gap)[:, 1].tolist()  # type: ignore[no-any-return]

    share = y.mean()
    assert answers(surrogates=1) == [1.0, 0.0, 0.0]  # at last the larger side
    assert answers(surrogates=1, use_surrogates=1) == [1.0, 0.0, share]
    assert answers(surrogates=1, use_surrogates=0) == [share] * 3
    assert answers(use_surrogates=1) == [share] * 3


def test_a_tie_has_no_larger_side() -> None:
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    model = DecisionTreeClassifier(surrogates=1).fit(X, [0, 0, 1, 1])
    assert model.grown_.missing_child[0] == -1
    assert model.predict_proba([[np.nan]]).tolist() == [[0.5, 0.5]]


def test_levels_that_a_node_has_not_seen() -> None:
    """Blue rows are missing below the first split, so there only a surrogate can send them."""
    draw = np.random.default_rng(1)
    first = np.repeat([0.0, 1.0], 100)
    colour = np.where(first == 0, draw.choice(["red", "green"], 200), "blue").astype(object)
    twin = np.where(colour == "red", 1.0, 0.0)
    y = np.where(first == 0, np.where(colour == "red", 1, 0), 2)
    table = {"first": first.tolist(), "colour": colour.tolist(), "twin": twin.tolist()}
    model = DecisionTreeClassifier(surrogates=2).fit(table, y)
    assert model.score(table, y) == 1.0
    unknown = {"first": [0.0, 0.0], "colour": ["blue", "pink"], "twin": [1.0, 0.0]}
    below = np.flatnonzero(model.surrogates_.kind == 1)
    assert (model.surrogates_.branch_map == NO_WAY).any() and below.size
    assert model.predict(unknown).tolist() == [1, 0]


def test_more_levels_answered_than_learnt_branches() -> None:
    """Where values miss at random, surrogates guess better than one branch for all of them."""
    X, y = classes(1500, n_classes=2, n_features=3)
    X = np.concatenate([X, X + np.random.default_rng(0).normal(scale=0.1, size=X.shape)], axis=1)
    y = (X[:, 0] > 0).astype(int)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    train, test = slice(0, 1000), slice(1000, None)
    plain = DecisionTreeClassifier(max_depth=1).fit(X[train], y[train])
    sent = DecisionTreeClassifier(max_depth=1, surrogates=5).fit(X[train], y[train])
    assert sent.score(X[test], y[test]) > plain.score(X[test], y[test]) + 0.05


# ------------------------------------------------------------------------------ one model, files


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("setting", SETTINGS)
def test_one_model_on_every_way(setting: dict[str, Any], weighted: bool) -> None:
    table, y = _with_gaps(120)
    weight = np.random.default_rng(3).integers(1, 5, 120).astype(float) if weighted else None
    for kind in (DecisionTreeClassifier, DecisionTreeRegressor):
        model = kind(**setting).fit(table, y, weight)
        expected = vtree.digest(model)
        order = np.random.default_rng(4).permutation(120)
        mixed = {name: [values[row] for row in order] for name, values in table.items()}
        own = None if weight is None else weight[order]
        assert vtree.digest(kind(**setting).fit(mixed, y[order], own)) == expected
        with vtree.kernels("reference"):
            assert vtree.digest(kind(**setting).fit(table, y, weight)) == expected
            assert kind(**setting).fit(table, y).predict(table).shape == y.shape
        less = kind(**setting, histogram_budget=20_000).fit(table, y, weight)
        assert vtree.digest(less) == expected


def test_surrogates_in_files(tmp_path: Any) -> None:
    table, y = _with_gaps(300)
    model = DecisionTreeClassifier(surrogates=3, ccp_alpha=0.004).fit(table, y)
    assert model.get_n_leaves() < DecisionTreeClassifier(surrogates=3).fit(table, y).get_n_leaves()
    fewer = model.surrogates_._replace(agreement=model.surrogates_.agreement * 0.5)
    plain = DecisionTreeClassifier(surrogates=3)
    vars(plain).update(vars(model) | {"surrogates_": fewer})
    assert vtree.digest(plain) != vtree.digest(model)
    vtree.save(model, tmp_path / "model.vtree")
    loaded = vtree.load(tmp_path / "model.vtree")
    assert vtree.digest(loaded) == vtree.digest(model)
    other, _ = _with_gaps(300, seed=5)
    assert loaded.predict_proba(other).tolist() == model.predict_proba(other).tolist()
    for name, array in model.surrogates_._asdict().items():
        broken = DecisionTreeClassifier(surrogates=3)
        vars(broken).update(vars(model))
        wrong = array.copy()
        wrong[len(wrong) // 2] = 77 if array.dtype.kind in "iu" else -1.0
        if name in ("threshold", "bin"):
            continue
        broken.surrogates_ = model.surrogates_._replace(**{name: wrong})
        vtree.save(broken, tmp_path / "broken.vtree")
        with pytest.raises(ModelFileError, match="of its surrogates, "):
            vtree.load(tmp_path / "broken.vtree")


def test_shown() -> None:
    X, y = stagec()
    model = DecisionTreeClassifier(surrogates=2, max_depth=1, max_bins=None).fit(X, y)
    text = vtree.export_text(model)
    assert "missing: gleason <= 5.50, then ploidy in {diploid}" in text
    with pytest.raises(InputError, match="surrogates, which scikit-learn's tree"):
        model.to_sklearn()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"splitter": "random"}, "surrogates=5 cannot be combined with splitter='random'"),
        ({"monotonic_cst": [1, 0, 0, 0]}, "surrogates=5 cannot be .* with monotonic_cst"),
        ({"criterion": "absolute_error"}, "surrogates=5 cannot .* criterion='absolute_error'"),
        ({"surrogates": -1}, "surrogates"),
        ({"use_surrogates": 3}, "use_surrogates"),
    ],
)
def test_what_does_not_go_together(parameters: dict[str, Any], message: str) -> None:
    X, y = reals(50)
    model = DecisionTreeRegressor().fit(X, y)
    before = vtree.digest(model)
    model.set_params(**{"surrogates": 5, **parameters})
    with pytest.raises(InputError, match=message):
        model.fit(X, y)
    assert vtree.digest(model) == before
