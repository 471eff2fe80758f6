"""The door `prune`: rpart's tables, what belongs to which method, and what cannot be used."""

import json
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import cross_val_predict

import vtree
from tests.golden_tables import GOLDEN, estimator, rpart_limits, rpart_table
from tests.samples import classes, columns, reals
from vtree.errors import InputError, InputTypeError, VTreeError
from vtree.predict import parts_in_leaves
from vtree.tree import depth

RPART: dict[str, dict[str, Any]] = json.loads((GOLDEN / "rpart_pruning.json").read_text())

# rpart finds alpha in one pass from below, which these show is not always the weakest link.
APPROXIMATE = {"diabetes.anova.xval_mod10"}


def _golden_model(name: str) -> tuple[Any, Any, Any, float]:
    """Return (model, X, y, the root's risk per row)."""
    data, criterion, _ = name.split(".")
    X, y = rpart_table(data)
    model = estimator(criterion, **rpart_limits(name)).fit(X, y)
    tree = model.grown_
    risk = tree.impurity[0] if criterion == "anova" else 1.0 - tree.value[0].max()
    return model, X, y, float(risk)


def _has_missing(name: str) -> bool:
    return name.startswith("penguins")


@pytest.mark.parametrize("name", [name for name in RPART if not _has_missing(name)])
def test_tables_of_rpart(name: str) -> None:
    """The training rows as validation rows: then both risks are the same."""
    facts = RPART[name]
    model, X, y, risk = _golden_model(name)
    pruned = vtree.prune(
        model, method="cost_complexity", X_val=X, y_val=y, alpha=facts["cp"] * risk
    )
    found = pruned.subtrees_
    np.testing.assert_allclose(found.unseen_risks, found.risks, rtol=1e-12, atol=1e-15)
    own = vtree.prune(model, method="cost_complexity", alpha=facts["cp"] * risk)
    if name in APPROXIMATE:
        assert len(facts["table"]) - 2 <= found.alphas.size <= len(facts["table"]) + 2
        return
    expected = np.array(facts["table"])[::-1, :3]
    ours = np.stack([found.alphas / risk, found.n_leaves - 1, found.risks / risk], axis=1)
    np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-14)
    assert sorted(own.grown_.n_rows.tolist()) == facts["rows_of_nodes"]


@pytest.mark.parametrize("name", ["titanic.gini.xval_mod10"])
def test_cross_validation_of_rpart(name: str) -> None:
    facts = RPART[name]
    model, X, y, risk = _golden_model(name)
    parts = np.arange(len(y)) % 10
    for rule in ("minimum", "one_standard_error"):
        pruned = vtree.prune(
            model,
            method="cost_complexity",
            cv=parts,
            X=X,
            y=y,
            alpha=facts["cp"] * risk,
            rule=rule,
        )
        found = pruned.subtrees_
        expected = np.array(facts["table"])[::-1]
        np.testing.assert_allclose(found.unseen_risks / risk, expected[:, 3], rtol=1e-12)
        np.testing.assert_allclose(found.standard_errors / risk, expected[:, 4], rtol=1e-9)
        row = facts[rule] - 1
        assert pruned.get_n_leaves() - 1 == facts["table"][row][1]
    assert model.get_n_leaves() > pruned.get_n_leaves()


def test_cross_validation_of_diabetes() -> None:
    """rpart's alphas are approximate here, and so are the subtrees that it compares."""
    name = "diabetes.anova.xval_mod10"
    facts = RPART[name]
    model, X, y, risk = _golden_model(name)
    parts = np.arange(len(y)) % 10
    for rule in ("minimum", "one_standard_error"):
        pruned = vtree.prune(
            model, method="cost_complexity", cv=parts, X=X, y=y, alpha=0.001 * risk, rule=rule
        )
        n_splits = pruned.get_n_leaves() - 1
        assert n_splits == facts["table"][facts[rule] - 1][1]
    first = np.array(facts["table"])[:10]
    ours = (
        np.stack([pruned.subtrees_.unseen_risks, pruned.subtrees_.standard_errors], axis=1)[::-1][
            :10
        ]
        / risk
    )
    np.testing.assert_allclose(ours, first[:, 3:], atol=0.007)  # what the approximation makes of it


X, Y = classes(200)
X_VAL, Y_VAL = classes(80, seed=9)
REAL_X, REAL_Y = reals(200)
REAL_VAL = reals(80, seed=9)
VALIDATION: dict[str, Any] = {"X_val": X_VAL, "y_val": Y_VAL}
METHODS: dict[str, dict[str, Any]] = {
    "reduced_error": VALIDATION,
    "pre_pruning": VALIDATION,
    "cost_complexity": {"alpha": 0.01},
    "pessimistic": {},
    "minimum_error": {"m": 3.0},
}
OF_NUMBERS = ["reduced_error", "pre_pruning", "cost_complexity"]


@pytest.mark.parametrize("method", METHODS)
def test_a_smaller_fitted_copy(method: str) -> None:
    model = vtree.DecisionTreeClassifier().fit(X, Y)
    before = vtree.digest(model)
    pruned = vtree.prune(model, method=method, **METHODS[method])
    assert 1 < pruned.get_n_leaves() < model.get_n_leaves()
    assert vtree.digest(model) == before != vtree.digest(pruned)
    assert pruned.predict_proba(X).shape == (200, 3)
    assert pruned.get_params() == model.get_params()
    assert not hasattr(pruned, "subtrees_")
    # Rows come to rest where they did, or in an ancestor of that.
    leaf, above = model.apply(X), pruned.decision_path(X).sum(axis=1)
    assert (np.asarray(above).ravel() <= depth(model.grown_)[leaf] + 1).all()


@pytest.mark.parametrize("method", OF_NUMBERS)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_numbers(method: str, criterion: str) -> None:
    model = vtree.DecisionTreeRegressor(criterion=criterion).fit(REAL_X, REAL_Y)
    rows = {"X_val": REAL_VAL[0], "y_val": REAL_VAL[1]}
    pruned = vtree.prune(model, method=method, **rows)
    assert 1 < pruned.get_n_leaves() < model.get_n_leaves()
    deviance = model._criteria[criterion].deviance

    def loss(predicted: Any) -> float:
        return float(deviance(REAL_VAL[1], predicted).sum())

    stump = np.full(80, model.grown_.value[0, 0])
    worst = stump if method == "pre_pruning" else model.predict(REAL_VAL[0])
    assert loss(pruned.predict(REAL_VAL[0])) < loss(worst)


def test_chosen_subtrees() -> None:
    model = vtree.DecisionTreeClassifier().fit(X, Y)
    pruned = vtree.prune(model, method="cost_complexity", **VALIDATION)
    found = pruned.subtrees_
    errors = 1.0 - found.unseen_risks * 0 - pruned.score(X_VAL, Y_VAL)
    assert errors[0] == pytest.approx(found.unseen_risks.min())
    for alpha, n_leaves, risk, unseen in zip(*found[:4], strict=True):
        each = vtree.prune(model, method="cost_complexity", alpha=float(alpha))
        assert each.get_n_leaves() == n_leaves
        assert 1.0 - each.score(X, Y) == pytest.approx(risk)
        assert 1.0 - each.score(X_VAL, Y_VAL) == pytest.approx(unseen)
    p = found.unseen_risks
    np.testing.assert_allclose(found.standard_errors, np.sqrt(p * (1 - p) / 80), rtol=1e-9)
    smaller = vtree.prune(model, method="cost_complexity", rule="one_standard_error", **VALIDATION)
    assert smaller.get_n_leaves() <= pruned.get_n_leaves()
    again = vtree.prune(pruned, method="pessimistic")
    assert not hasattr(again, "subtrees_")


@pytest.mark.parametrize("weighted", [False, True])
def test_parts_grown_together_are_those_grown_alone(weighted: bool) -> None:
    weight = np.random.default_rng(0).integers(0, 4, 200).astype(float) if weighted else None
    model = vtree.DecisionTreeClassifier(min_samples_leaf=3).fit(X, Y, weight)
    pruned = vtree.prune(model, method="cost_complexity", cv=5, X=X, y=Y, sample_weight=weight)
    total = np.zeros(pruned.subtrees_.alphas.size)
    alphas = pruned.subtrees_.alphas
    between = np.sqrt(alphas * np.append(alphas[1:], 100 * alphas[-1]))
    own = np.ones(200) if weight is None else weight
    from sklearn.model_selection import StratifiedKFold

    for train, test in StratifiedKFold(5).split(X, Y):
        part = vtree.DecisionTreeClassifier(min_samples_leaf=3).fit(X[train], Y[train], own[train])
        for place, alpha in enumerate(between):
            each = vtree.prune(part, method="cost_complexity", alpha=float(alpha))
            total[place] += own[test] @ (each.predict(X[test]) != Y[test])
    np.testing.assert_allclose(pruned.subtrees_.unseen_risks, total / own.sum(), rtol=1e-12)


def test_given_priors_hold_in_each_part() -> None:
    """As in rpart, where the trees of the parts and the loss of a row know their shares alone."""
    priors = [0.5, 0.3, 0.2]
    settings: dict[str, Any] = {"min_samples_leaf": 5, "priors": priors}
    model = vtree.DecisionTreeClassifier(**settings).fit(X, Y)
    parts = np.arange(200) % 3
    pruned = vtree.prune(model, method="cost_complexity", cv=parts, X=X, y=Y)
    alphas = pruned.subtrees_.alphas
    between = np.sqrt(alphas * np.append(alphas[1:], 100 * alphas[-1]))
    total, whole = np.zeros(alphas.size), 0.0
    for k in range(3):
        train, test = parts != k, parts == k
        part = vtree.DecisionTreeClassifier(**settings).fit(X[train], Y[train])
        share = np.bincount(Y[train], minlength=3) / train.sum()
        weight = (np.array(priors) / share)[Y[test]]
        whole += weight.sum()
        for place, alpha in enumerate(between):
            each = vtree.prune(part, method="cost_complexity", alpha=float(alpha))
            total[place] += weight @ (each.predict(X[test]) != Y[test])
    np.testing.assert_allclose(pruned.subtrees_.unseen_risks, total / whole, rtol=1e-9)


def test_ways_to_name_the_parts() -> None:
    model = vtree.DecisionTreeClassifier().fit(X, Y)
    numbers = np.arange(200) // 50
    splits = [(np.flatnonzero(numbers != p), np.flatnonzero(numbers == p)) for p in range(4)]
    how = {"method": "cost_complexity", "X": X, "y": Y}
    by_number = vtree.prune(model, cv=numbers, **how).subtrees_
    by_rows = vtree.prune(model, cv=splits, **how).subtrees_
    assert by_number.unseen_risks.tolist() == by_rows.unseen_risks.tolist()
    names = np.array(["a", "b", "c"])[Y]
    named = vtree.DecisionTreeClassifier().fit(X, names)
    by_name = vtree.prune(named, method="cost_complexity", X=X, y=names, cv=numbers).subtrees_
    assert by_name.unseen_risks.tolist() == by_number.unseen_risks.tolist()


def test_categories_and_missing_values() -> None:
    table, y = columns(300)
    half = {name: values[::2] for name, values in table.items()}
    other = {name: values[1::2] for name, values in table.items()}
    model = vtree.DecisionTreeClassifier().fit(half, y[::2])
    for method in ("reduced_error", "cost_complexity"):
        pruned = vtree.prune(model, method=method, X_val=other, y_val=y[1::2])
        assert pruned.score(other, y[1::2]) >= model.score(other, y[1::2])
        assert pruned.get_n_leaves() < model.get_n_leaves()


def test_several_outputs() -> None:
    y = np.stack([Y, Y[::-1] > 0], axis=1)
    model = vtree.DecisionTreeClassifier(max_depth=6).fit(X, y)
    y_val = np.stack([Y_VAL, Y_VAL > 1], axis=1)
    for method in ("reduced_error", "pre_pruning", "cost_complexity"):
        pruned = vtree.prune(model, method=method, X_val=X_VAL, y_val=y_val)
        assert pruned.get_n_leaves() < model.get_n_leaves()
    with pytest.raises(InputError, match="y_val has 1 columns, but the model was fitted to 2"):
        vtree.prune(model, method="reduced_error", **VALIDATION)


def test_weights_are_copies_of_validation_rows() -> None:
    model = vtree.DecisionTreeClassifier().fit(X, Y)
    weight = np.random.default_rng(0).integers(0, 4, 80)
    for method in ("reduced_error", "pre_pruning", "cost_complexity"):
        weighed = vtree.prune(model, method=method, sample_weight_val=weight, **VALIDATION)
        copies = np.repeat(np.arange(80), weight)
        copied = vtree.prune(model, method=method, X_val=X_VAL[copies], y_val=Y_VAL[copies])
        assert vtree.digest(weighed) == vtree.digest(copied)


def test_costs_decide_what_is_an_error() -> None:
    y, y_val = (Y == 2).astype(int), (Y_VAL == 2).astype(int)
    costs = [[0, 1], [8, 0]]
    model = vtree.DecisionTreeClassifier(costs=costs).fit(X, y)
    pruned = vtree.prune(model, method="reduced_error", X_val=X_VAL, y_val=y_val)

    def cost(each: Any) -> float:
        return float(np.array(costs)[y_val, each.predict(X_VAL)].sum())

    assert cost(pruned) < cost(model)


def test_priors_and_class_weights_weigh_validation_rows() -> None:
    y, y_val = (Y == 2).astype(int), (Y_VAL == 2).astype(int)
    share = y_val.mean()
    weight = np.where(y_val == 1, 0.5 / share, 0.5 / (1 - share))
    rows = {"X_val": X_VAL, "y_val": y_val, "method": "reduced_error"}
    by_hand = vtree.DecisionTreeClassifier(class_weight="balanced").fit(X, y)
    by_priors = vtree.DecisionTreeClassifier(priors="equal").fit(X, y)
    assert vtree.digest(by_priors) == vtree.digest(by_hand)
    pruned = vtree.prune(by_priors, **rows)
    assert vtree.digest(pruned) == vtree.digest(vtree.prune(by_hand, **rows))
    plain = vtree.DecisionTreeClassifier().fit(X, y)
    plain.grown_ = by_hand.grown_
    weighed = vtree.prune(plain, sample_weight_val=weight, **rows)
    assert vtree.digest(pruned) == vtree.digest(weighed)
    one_class = y_val == 0
    named = vtree.DecisionTreeClassifier(class_weight={1: 4.0}).fit(X, y)
    rows |= {"X_val": X_VAL[one_class], "y_val": y_val[one_class]}
    pruned = vtree.prune(named, **rows)
    assert pruned.score(X_VAL[one_class], y_val[one_class]) > 0.9


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"method": "best"}, "method='best' is not one of 'reduced_error', .*'minimum_error'"),
    ({"method": "reduced_error"}, "X_val is None, and method='reduced_error' judges by rows"),
    ({"method": "pre_pruning", "X_val": X_VAL}, "y_val is None"),
    ({"method": "cost_complexity", "alpha": 0.1, "y_val": Y_VAL}, "X_val is None"),
    ({"method": "pessimistic", **VALIDATION}, "uses the training rows alone"),
    ({"method": "pessimistic", "ties": "keep"}, "takes no options, not ties"),
    ({"method": "reduced_error", "alpha": 0.1, **VALIDATION}, "takes ties, not alpha"),
    ({"method": "reduced_error", "ties": "toss", **VALIDATION}, "ties='toss' is not one of"),
    ({"method": "minimum_error", "m": -1.0}, "m=-1.0 is not a number from 0 up"),
    ({"method": "cost_complexity", "alpha": np.nan}, "alpha=nan is not a number from 0 up"),
    ({"method": "cost_complexity"}, "needs alpha, or cv with X and y, or X_val and y_val"),
    ({"method": "cost_complexity", "rule": "minimum", "alpha": 0.1}, "rule chooses among"),
    ({"method": "cost_complexity", "cv": 3, "X": X}, "y is None, and cv grows trees"),
    ({"method": "cost_complexity", "cv": 3, **VALIDATION}, "cv and X_val both choose"),
    ({"method": "cost_complexity", "alpha": 0.1, "X": X, "y": Y}, "X, y without cv"),
    ({"method": "cost_complexity", "cv": 1, "X": X, "y": Y}, "cv"),
    ({"method": "cost_complexity", "cv": 3, "X": X[:, :2], "y": Y}, "X and y have other columns"),
    ({"method": "cost_complexity", "cv": 3, "X": X, "y": Y + 1}, "X and y have other .*classes"),
    ({"method": "cost_complexity", "cv": 3, "X": X[:90], "y": Y[:90]}, "on had 200"),
    (
        {"method": "cost_complexity", "cv": [(np.arange(200), [])], "X": X, "y": Y},
        "leaves no rows to grow a tree on, or none to judge it by",
    ),
    (
        {"method": "reduced_error", "X_val": X_VAL, "y_val": Y_VAL + 2},
        r"y_val holds the classes \[4, 3\], which training did not see; .* \[0, 1, 2\]",
    ),
    ({"method": "reduced_error", "X_val": X_VAL[:, :3], "y_val": Y_VAL}, "X_val has 3 features"),
    ({"method": "reduced_error", "X_val": X_VAL[:9], "y_val": Y_VAL}, "X_val and y_val"),
    ({"method": "reduced_error", "X_val": X_VAL, "y_val": [np.nan] * 80}, "y_val contains NaN"),
    (
        {"method": "reduced_error", **VALIDATION, "sample_weight_val": -np.ones(80)},
        "sample_weight_val must not be negative",
    ),
]


@pytest.mark.parametrize(("request_", "message"), REFUSED)
def test_what_is_refused(request_: dict[str, Any], message: str) -> None:
    model = vtree.DecisionTreeClassifier().fit(X, Y)
    before = dict(vars(model))
    with pytest.raises(VTreeError, match=f"(?s){message}") as caught:
        vtree.prune(model, **request_)
    assert isinstance(caught.value, ValueError | TypeError)
    assert vars(model) == before


@pytest.mark.parametrize("method", ["pessimistic", "minimum_error"])
def test_methods_for_classes_alone(method: str) -> None:
    model = vtree.DecisionTreeRegressor().fit(REAL_X, REAL_Y)
    with pytest.raises(InputError, match="counts wrong classes, and a DecisionTreeRegressor"):
        vtree.prune(model, method=method)


def test_only_trees_of_ours() -> None:
    with pytest.raises(InputTypeError, match="model is a list; prune takes a fitted tree"):
        vtree.prune([], method="pessimistic")
    with pytest.raises(ValueError, match="not fitted"):
        vtree.prune(vtree.DecisionTreeClassifier(), method="pessimistic")
    with pytest.raises(InputError, match="rules come from the unpruned tree.*prune a C45Class"):
        vtree.prune(vtree.RuleListClassifier().fit(X, Y), method="pessimistic")


def test_columns_of_other_names() -> None:
    table, y = columns(60)
    model = vtree.DecisionTreeClassifier().fit(table, y)
    renamed = {"weight" if name == "size" else name: value for name, value in table.items()}
    with pytest.raises(InputError, match="names should match"):
        vtree.prune(model, method="reduced_error", X_val=renamed, y_val=y)


def test_one_model_on_every_backend() -> None:
    model = vtree.DecisionTreeClassifier().fit(X, Y)
    calls: list[dict[str, Any]] = [
        {"method": method, **options} for method, options in METHODS.items()
    ]
    calls.append({"method": "cost_complexity", "cv": 4, "X": X, "y": Y})
    for call in calls:
        native = vtree.digest(vtree.prune(model, **call))
        with vtree.kernels("reference"):
            assert vtree.digest(vtree.prune(model, **call)) == native


def _mixed(n_rows: int, missing: float) -> tuple[Any, Any]:
    random = np.random.default_rng(4)
    X = np.column_stack([random.normal(size=n_rows).round(1), random.integers(0, 4, n_rows)])
    y = ((X[:, 0] > 0) ^ (X[:, 1] == 2) ^ (random.random(n_rows) < 0.1)).astype(int)
    X[random.random(X.shape) < missing] = np.nan
    return X, y


@pytest.mark.parametrize("prune", [False, True])
def test_trees_of_a_cross_validation_of_c45_are_those_of_its_parts(prune: bool) -> None:
    X, y = _mixed(150, 0.0)
    model = vtree.C45Classifier(categorical_features=[False, True], prune=prune).fit(X, y)
    smaller = vtree.prune(model, method="cost_complexity", cv=5, X=X, y=y)
    wrong = cross_val_predict(model, X, y, cv=5) != y
    assert smaller.subtrees_.unseen_risks[0] == pytest.approx(wrong.mean(), abs=1e-12)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("reduced_error", {"ties": "prune"}),
        ("reduced_error", {"ties": "keep"}),
        ("pre_pruning", {}),
        ("cost_complexity", {}),
    ],
)
def test_validation_rows_without_a_value_judge_all_branches(
    method: str, options: dict[str, Any]
) -> None:
    X, y = _mixed(300, 0.2)
    model = vtree.C45Classifier(
        categorical_features=[False, True], prune=False, min_objects=1, mdl_correction=False
    ).fit(X[:200], y[:200])
    pruned = vtree.prune(model, method=method, X_val=X[200:], y_val=y[200:], **options)
    assert 1 < pruned.get_n_leaves() <= model.get_n_leaves()
    assert pruned.predicted_errors_.shape == pruned.grown_.weight.shape
    # Wrong shares of all parts of the rows, at the leaves of one tree and the other.
    wrong = []
    for each in (model, pruned):
        row, node, share = parts_in_leaves(each.grown_, X[200:])
        wrong.append(share[each.grown_.value[node].argmax(axis=1) != y[200:][row]].sum())
    # A tree that stops growing too early may be worse.
    assert wrong[1] <= wrong[0] + 1e-9 or method == "pre_pruning"
    if method == "reduced_error":
        assert pruned.get_n_leaves() < model.get_n_leaves()


def test_a_leaf_in_place_of_a_split_by_the_parts_of_a_row() -> None:
    # x splits 6 rows against 2; the only validation row lacks x and is of class 1: the split is
    # wrong by 6/8 of it, a leaf by all of it.
    X, y = np.repeat([[0.0], [1.0]], [6, 2], axis=0), np.repeat([0, 1], [6, 2])
    model = vtree.C45Classifier(categorical_features=[True], prune=False).fit(X, y)
    for label, leaves in ((1, 2), (0, 1)):
        pruned = vtree.prune(model, method="reduced_error", X_val=[[np.nan]], y_val=[label])
        assert pruned.get_n_leaves() == leaves
