"""The CART estimators as their users see them."""

from collections.abc import Callable
from typing import Any

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
import sklearn.tree
import torch
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import vtree
from tests.samples import classes, columns, reals
from vtree import DecisionTreeClassifier, DecisionTreeRegressor
from vtree.errors import InputError

ESTIMATORS = [DecisionTreeClassifier, DecisionTreeRegressor]

FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda table: pd.DataFrame(table).convert_dtypes(),
    "pandas, categories": lambda table: pd.DataFrame(table).astype({"colour": "category"}),
    "polars": pl.DataFrame,
    "polars, categories": lambda table: pl.DataFrame(table).cast({"colour": pl.Categorical}),
    "pyarrow": pa.table,
    "mapping": lambda table: table,
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([DecisionTreeClassifier(), DecisionTreeRegressor()])  # type: ignore[untyped-decorator]
def test_sklearn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


# ---------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize("name", ["DecisionTreeClassifier", "DecisionTreeRegressor"])
def test_parameters_are_sklearns_and_ours(name: str) -> None:
    ours, theirs = getattr(vtree, name)().get_params(), getattr(sklearn.tree, name)().get_params()
    assert theirs.items() <= ours.items()
    of_classes = {"priors", "costs"} if name == "DecisionTreeClassifier" else set()
    assert ours.keys() - theirs.keys() == of_classes | {
        "feature_costs",
        "surrogates",
        "use_surrogates",
        "surrogate_counts",
        "max_bins",
        "categorical_features",
        "unknown_categories",
        "min_samples_category",
        "device",
        "n_jobs",
        "histogram_budget",
    }


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_clones_and_printing(estimator: Any) -> None:
    model = estimator(max_depth=3, categorical_features=[0], device="cpu")
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert repr(copy) == (
        f"{estimator.__name__}(categorical_features=[0], device='cpu', max_depth=3)"
    )


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    "method", ["predict", "apply", "decision_path", "get_depth", "get_n_leaves", "to_sklearn"]
)
def test_nothing_before_fit(estimator: Any, method: str) -> None:
    arguments = [np.zeros((2, 2))] if method in ("predict", "apply", "decision_path") else []
    with pytest.raises(NotFittedError):
        getattr(estimator(), method)(*arguments)
    for attribute in ("tree_", "feature_importances_"):
        with pytest.raises(NotFittedError):
            getattr(estimator(), attribute)


def test_tags() -> None:
    for estimator in ESTIMATORS:
        tags = get_tags(estimator())
        assert tags.input_tags.allow_nan and tags.input_tags.sparse
        assert tags.target_tags.multi_output and tags.target_tags.required
    assert is_classifier(DecisionTreeClassifier()) and is_regressor(DecisionTreeRegressor())
    assert get_tags(DecisionTreeClassifier()).classifier_tags.multi_label


def test_max_features_in_all_forms() -> None:
    X, y = classes(n_features=9)
    forms = {None: 9, "sqrt": 3, "log2": 3, 5: 5, 0.5: 4, np.float64(0.25): 2, 1.0: 9, 0.01: 1}
    for form, count in forms.items():
        assert DecisionTreeClassifier(max_features=form).fit(X, y).max_features_ == count


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss", "twoing"])
def test_criteria_of_classes(criterion: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(criterion=criterion).fit(X, y)
    assert model.score(X, y) == 1.0
    impurity = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y).tree_.impurity
    bits = criterion in ("entropy", "log_loss")
    assert impurity[0] == pytest.approx(np.log2(3) if bits else 2 / 3)


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_criteria_of_reals(criterion: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    ours = DecisionTreeRegressor(criterion=criterion, max_bins=None, min_samples_leaf=10)
    theirs = sklearn.tree.DecisionTreeRegressor(criterion=criterion, min_samples_leaf=10)
    ours.fit(X, y)
    theirs.fit(X, y)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=0.02)
    assert ours.tree_.impurity[0] == pytest.approx(theirs.tree_.impurity[0])
    assert ours.predict(X).mean() == pytest.approx(y.mean())


def test_friedmans_criterion_is_squared_error() -> None:
    X, y = reals()
    with pytest.warns(FutureWarning, match="friedman_mse"):
        model = DecisionTreeRegressor(criterion="friedman_mse").fit(X, y)
    assert vtree.digest(model) == vtree.digest(DecisionTreeRegressor().fit(X, y))


# ------------------------------------------------------------------------------------- answers


def test_answers_of_a_classifier() -> None:
    X, y = classes()
    names = np.array(["ant", "bee", "cat"])[y]
    model = DecisionTreeClassifier(max_depth=3).fit(X, names)
    share = model.predict_proba(X)
    assert share.shape == (200, 3)
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[share.argmax(axis=1)])
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(X), np.log(share))
    leaf = model.apply(X)
    assert leaf.dtype == np.int64
    for each in np.unique(leaf):
        np.testing.assert_allclose(
            share[leaf == each],
            [[np.mean(names[leaf == each] == own) for own in model.classes_]]
            * (leaf == each).sum(),
        )
    path = model.decision_path(X)
    assert path.shape == (200, model.tree_.node_count)
    np.testing.assert_array_equal(path.sum(axis=0).A1, model.tree_.n_node_samples)
    assert (path[np.arange(200), leaf] == 1).all()
    assert model.get_n_leaves() == len(np.unique(leaf))
    assert model.get_depth() == path.sum(axis=1).max() - 1 == 3
    assert model.score(X, names) == np.mean(model.predict(X) == names)
    assert (model.n_classes_, model.n_outputs_, model.n_features_in_) == (3, 1, 4)


def test_answers_of_a_regressor() -> None:
    X, y = reals()
    model = DecisionTreeRegressor(max_leaf_nodes=10).fit(X, y)
    leaf = model.apply(X)
    for each in np.unique(leaf):
        np.testing.assert_allclose(model.predict(X)[leaf == each], y[leaf == each].mean())
    assert model.get_n_leaves() == 10
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_[0] > 0.3


def test_several_outputs_of_labels() -> None:
    X, y = classes()
    both = np.stack(
        [np.array(["a", "b", "c"])[y], np.array(["x", "y"])[(X[:, 2] > 0).astype(int)]], 1
    )
    model = DecisionTreeClassifier().fit(X, both)
    assert [own.tolist() for own in model.classes_] == [["a", "b", "c"], ["x", "y"]]
    assert (model.n_classes_.tolist(), model.n_outputs_) == ([3, 2], 2)
    np.testing.assert_array_equal(model.predict(X), both)
    shares = model.predict_proba(X)
    assert [share.shape for share in shares] == [(200, 3), (200, 2)]
    assert len(model.predict_log_proba(X)) == 2
    assert model.tree_.value.shape == (model.tree_.node_count, 2, 3)
    single = DecisionTreeClassifier().fit(X, np.stack([y, y], axis=1))
    one = DecisionTreeClassifier().fit(X, y)
    np.testing.assert_array_equal(single.predict(X)[:, 0], one.predict(X))
    np.testing.assert_array_equal(single.tree_.threshold, one.tree_.threshold)


def test_several_outputs_of_reals() -> None:
    X, y = reals()
    both = np.stack([y, 100.0 * X[:, 1]], axis=1)
    model = DecisionTreeRegressor().fit(X, both)
    np.testing.assert_allclose(model.predict(X), both, atol=1e-12)
    copies = DecisionTreeRegressor(max_depth=3).fit(X, np.stack([y] * 3, axis=1))
    one = DecisionTreeRegressor(max_depth=3).fit(X, y[:, None])
    np.testing.assert_array_equal(copies.predict(X)[:, 2], one.predict(X))


# ------------------------------------------------------------------------------------- weights


def test_class_weight_in_all_forms() -> None:
    X, y = classes(n_classes=3)
    y = np.where(np.arange(200) % 5 > 0, 0, y)
    by_class = {0: 0.5, 1: 2.0, 2: 3.0}
    counts = np.bincount(y)
    pairs: list[tuple[Any, NDArray[np.float64]]] = [
        (by_class, np.array([by_class[label] for label in y])),
        ({1: 4.0}, np.where(y == 1, 4.0, 1.0)),
        ("balanced", (200 / (3 * counts))[y]),
    ]
    for class_weight, weight in pairs:
        model = DecisionTreeClassifier(class_weight=class_weight, max_depth=4).fit(X, y)
        plain = DecisionTreeClassifier(max_depth=4).fit(X, y, weight)
        assert vtree.digest(model) == vtree.digest(plain)
        own = np.random.default_rng(0).integers(1, 5, 200).astype(float)
        model.fit(X, y, own)
        product = DecisionTreeClassifier(max_depth=4)
        if class_weight != "balanced":
            assert vtree.digest(model) == vtree.digest(product.fit(X, y, own * weight))


def test_class_weight_of_several_outputs() -> None:
    X, y = classes(n_classes=2)
    both = np.stack([y, (X[:, 2] > 0).astype(int)], axis=1)
    model = DecisionTreeClassifier(class_weight=[{0: 1.0, 1: 3.0}, {0: 0.5, 1: 1.0}]).fit(X, both)
    weight = np.where(y == 1, 3.0, 1.0) * np.where(both[:, 1] == 1, 1.0, 0.5)
    assert vtree.digest(model) == vtree.digest(DecisionTreeClassifier().fit(X, both, weight))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_whole_weights_are_copies(estimator: Any) -> None:
    X, y = classes()
    weight = np.random.default_rng(1).integers(0, 4, 200)
    rows = np.repeat(np.arange(200), weight)
    model = estimator(max_depth=5).fit(X, y, weight)
    copies = estimator(max_depth=5).fit(X[rows], y[rows])
    np.testing.assert_array_equal(model.tree_.threshold, copies.tree_.threshold)
    np.testing.assert_array_equal(model.predict(X), copies.predict(X))


# --------------------------------------------------------------------- scikit-learn's machinery


def test_metadata_routing() -> None:
    X, y = classes()
    weight = np.random.default_rng(0).random(200) + 0.1
    with sklearn.config_context(enable_metadata_routing=True):
        model = DecisionTreeClassifier(max_depth=4).set_fit_request(sample_weight=True)
        request = model.get_metadata_routing()
        assert request.fit.requests["sample_weight"] is True
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model)
        pipeline.fit(X, y, sample_weight=weight)
        direct = DecisionTreeClassifier(max_depth=4).fit(
            StandardScaler().fit_transform(X), y, weight
        )
        assert vtree.digest(pipeline[-1]) == vtree.digest(direct)
        model.set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"max_depth": [1, 3], "criterion": ["gini", "entropy"]}, cv=3)
        search.fit(X, y, sample_weight=weight)
        assert vtree.digest(search.best_estimator_) == vtree.digest(
            clone(search.best_estimator_).fit(X, y, weight)
        )


def test_cross_validation_and_wrappers() -> None:
    X, y = classes(n_classes=2)
    found = cross_validate(DecisionTreeClassifier(max_depth=3), X, y, cv=3, scoring="roc_auc")
    assert (found["test_score"] > 0.8).all()
    both = np.stack([y, 1 - y], axis=1)
    wrapped = MultiOutputClassifier(DecisionTreeClassifier(max_depth=3)).fit(X, both)
    for output, own in enumerate(wrapped.estimators_):
        plain = DecisionTreeClassifier(max_depth=3).fit(X, both[:, output])
        assert vtree.digest(own) == vtree.digest(plain)


def test_feature_names() -> None:
    table, y = columns()
    model = DecisionTreeClassifier().fit(pd.DataFrame(table), y)
    assert model.feature_names_in_.tolist() == ["size", "colour", "is_new"]
    assert model.feature_names_in_.dtype == object
    model.fit(*classes())
    assert not hasattr(model, "feature_names_in_")


# -------------------------------------------------------------------------------------- frames


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_frames_of_every_library_give_one_model(estimator: Any, name: str) -> None:
    table, y = columns()
    plain = estimator().fit(pd.DataFrame(table), y)
    frame = FRAMES[name](table)
    model = estimator().fit(frame, y)
    assert vtree.digest(model) == vtree.digest(plain)
    assert model.schema_.levels[1] is not None
    assert model.schema_.levels[1].tolist() == ["blue", "green", "grey", "red"]
    assert model.feature_names_in_.tolist() == list(table)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(pd.DataFrame(table)))
    assert model.score(frame, y) > 0.9


def test_names_of_mappings_are_checked_too() -> None:
    table, y = columns()
    model = DecisionTreeClassifier().fit(table, y)
    swapped = {name: table[name] for name in ("colour", "size", "is_new")}
    with pytest.raises(InputError, match="(?s)feature names should match.*same order"):
        model.predict(swapped)


def test_missing_values_are_learnt_from() -> None:
    X, y = classes()
    table = np.where(y[:, None] == 1, np.nan, X)[:, 2:3]
    model = DecisionTreeClassifier(max_depth=1).fit(table, y == 1)
    np.testing.assert_array_equal(model.predict(table), y == 1)
    assert np.isposinf(model.tree_.threshold[0])


def test_missing_only_at_predict_follows_the_larger_child() -> None:
    X = np.arange(10.0)[:, None]
    model = DecisionTreeClassifier(max_depth=1).fit(X, X[:, 0] > 2)
    assert model.predict([[np.nan]]).tolist() == [True]
    model.fit(X, X[:, 0] > 6)
    assert model.predict([[np.nan]]).tolist() == [False]
    model.fit(X, X[:, 0] > 4)
    assert model.predict([[np.nan]]).tolist() == [True]


def test_categories_by_mask_numbers_and_names() -> None:
    draw = np.random.default_rng(0)
    codes = draw.integers(0, 6, 200).astype(float)
    X = np.stack([draw.normal(size=200), codes], axis=1)
    y = np.isin(codes, [0, 2, 5])
    plain = DecisionTreeClassifier(categorical_features=[1]).fit(X, y)
    assert plain.get_depth() == 1
    frame = pd.DataFrame(X, columns=["x", "code"])
    for chosen, table in (
        ([False, True], X),
        (np.array([False, True]), X),
        (np.array([1]), X),
        (["code"], frame),
        ([1], frame),
        ([False, True], frame),
    ):
        model = DecisionTreeClassifier(categorical_features=chosen).fit(table, y)
        assert vtree.digest(model) == vtree.digest(plain)
    assert DecisionTreeClassifier(categorical_features=None).fit(frame, y).get_depth() > 1
    with pytest.raises(InputError, match="'colour' holds .*not a number"):
        DecisionTreeClassifier(categorical_features=None).fit(*columns())


def test_unknown_levels_go_with_the_missing_or_are_refused() -> None:
    table, y = columns()
    model = DecisionTreeClassifier().fit(table, y)
    rows = pd.DataFrame(table).head(40)
    gone = rows.assign(colour=None)
    np.testing.assert_array_equal(
        model.predict_proba(rows.assign(colour="pink")), model.predict_proba(gone)
    )
    model.set_params(unknown_categories="error")
    message = "'colour' holds 'pink', not seen in training.*'blue'"
    with pytest.raises(InputError, match=message):
        model.predict(rows.assign(colour="pink"))
    model.predict(rows)
    model.predict(gone)


def test_rare_categories_go_with_the_missing() -> None:
    names = ["common"] * 50 + ["other"] * 50 + ["rare"] * 3
    y = [0] * 50 + [1] * 50 + [0, 0, 0]
    frame = pd.DataFrame({"name": names})
    exact = DecisionTreeClassifier().fit(frame, y)
    assert exact.score(frame, y) == 1.0
    blurred = DecisionTreeClassifier(min_samples_category=4).fit(frame, y)
    rare, missing = pd.DataFrame({"name": ["rare"]}), pd.DataFrame({"name": [None]})
    np.testing.assert_array_equal(blurred.apply(rare), blurred.apply(missing.astype("str")))
    assert blurred.apply(rare) != blurred.apply(pd.DataFrame({"name": ["other"]}))
    assert DecisionTreeClassifier(min_samples_category=51).fit(frame, y).get_depth() == 0


# ---------------------------------------------------------------------------- arrays and memory

NAMESPACES: dict[str, Callable[[Any], Any]] = {
    "numpy": np.asarray,
    "torch": torch.tensor,
    "array-api-strict": array_api_strict.asarray,
}


@pytest.mark.parametrize("mode", ["native", "reference"])
@pytest.mark.parametrize("name", NAMESPACES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_answers_come_in_the_library_of_the_question(name: str, mode: str, dtype: Any) -> None:
    X, y = classes(100)
    X = X.astype(dtype)
    X[::7, 0] = np.nan
    plain = DecisionTreeClassifier(max_depth=4).fit(X, y)
    means = DecisionTreeRegressor(max_depth=4).fit(X, y)
    bring = NAMESPACES[name]
    kind = type(bring([1.0]))
    with vtree.kernels(mode):
        model = DecisionTreeClassifier(max_depth=4).fit(bring(X), bring(y))
        regressor = DecisionTreeRegressor(max_depth=4).fit(bring(X), bring(y))
        answers = [
            (model.predict(bring(X)), plain.predict(X)),
            (model.predict_proba(bring(X)), plain.predict_proba(X)),
            (model.apply(bring(X)), plain.apply(X)),
            (regressor.predict(bring(X)), means.predict(X)),
        ]
    assert vtree.digest(model) == vtree.digest(plain)
    assert vtree.digest(regressor) == vtree.digest(means)
    for ours, expected in answers:
        assert isinstance(ours, kind)
        np.testing.assert_array_equal(np.asarray(ours), expected)


def test_labels_that_a_library_lacks_come_as_numpy() -> None:
    X, y = classes(50)
    names = np.array(["ant", "bee", "cat"])[y]
    model = DecisionTreeClassifier().fit(torch.tensor(X), names)
    assert isinstance(model.predict(torch.tensor(X)), np.ndarray)
    assert isinstance(model.predict_proba(torch.tensor(X)), torch.Tensor)


@pytest.mark.parametrize("n_jobs", [1, 2, 5, None, -1, -9])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_threads_never_change_the_model(estimator: Any, n_jobs: int | None) -> None:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(30_000, 8)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + draw.normal(size=30_000) > 0).astype(int)
    plain = estimator(max_depth=6, n_jobs=1).fit(X, y)
    model = estimator(max_depth=6, n_jobs=n_jobs).fit(X, y)
    assert vtree.digest(model) == vtree.digest(plain)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def test_inputs_stay_as_they_are() -> None:
    X, y = classes()
    weight = np.ones(200)
    weight[::5] = 0.0
    copies = X.copy(), y.copy(), weight.copy()
    DecisionTreeClassifier(categorical_features=[]).fit(X, y, weight).predict(X)
    for array, copy in zip((X, y, weight), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


# ------------------------------------------------------------------------------------- chance


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("parameters", [{"splitter": "random"}, {"max_features": 2}])
def test_chance_follows_the_seed(estimator: Any, parameters: dict[str, Any]) -> None:
    X, y = classes()
    X[::9, 1] = np.nan

    def digest(seed: Any, mode: str = "native") -> str:
        with vtree.kernels(mode):
            model = estimator(random_state=seed, **parameters).fit(X, y)
            return str(vtree.digest(model))

    assert digest(0) == digest(0) == digest(0, "reference")
    assert len({digest(seed) for seed in range(5)}) == 5
    shared = np.random.RandomState(0)
    assert digest(shared) != digest(shared)
    assert digest(np.random.RandomState(0)) == digest(np.random.RandomState(0))


def test_no_chance_where_none_is_asked_for() -> None:
    X, y = classes()
    digests = {vtree.digest(DecisionTreeClassifier(random_state=s).fit(X, y)) for s in range(3)}
    assert len(digests) == 1


def test_random_thresholds_lie_between_the_values() -> None:
    X, y = classes(500)
    column = X[:, 0]
    model = DecisionTreeClassifier(splitter="random", max_depth=1, max_bins=None)
    drawn = set()
    for seed in range(40):
        model.set_params(random_state=seed).fit(column[:, None], y)
        drawn.add(float(model.tree_.threshold[0]))
    assert len(drawn) == 40
    assert not drawn & set(column)
    assert column.min() < min(drawn) and max(drawn) < column.max()
    assert min(drawn) < np.quantile(X[:, 0], 0.1) and max(drawn) > np.quantile(X[:, 0], 0.9)


def test_max_features_tries_some_features_only() -> None:
    X, y = classes(400, n_features=6)
    roots = [
        int(DecisionTreeClassifier(max_features=1, random_state=seed).fit(X, y).tree_.feature[0])
        for seed in range(60)
    ]
    assert set(roots) == set(range(6))
    X[:, 1:] = 0.0  # constant features do not count
    only = DecisionTreeClassifier(max_features=1, random_state=0, max_bins=None).fit(X, y)
    assert only.score(X, y) == 1.0


# ----------------------------------------------------------------------------- limits of growth


def test_monotone_predictions() -> None:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(400, 2))
    y = 2.0 * X[:, 0] - X[:, 1] + draw.normal(size=400)
    grid = np.linspace(-3, 3, 50)
    for target, estimator in (
        (y, DecisionTreeRegressor),
        ((y > 0).astype(int), DecisionTreeClassifier),
    ):
        for parameters in ({}, {"max_leaf_nodes": 30}, {"splitter": "random", "random_state": 0}):
            model = estimator(monotonic_cst=[1, -1], **parameters).fit(X, target)
            assert model.get_n_leaves() > 2
            answers = (
                model.predict
                if estimator is DecisionTreeRegressor
                else (lambda rows, model=model: model.predict_proba(rows)[:, 1])
            )
            for other in (-1.0, 0.0, 1.0):
                rising = answers(np.stack([grid, np.full(50, other)], axis=1))
                falling = answers(np.stack([np.full(50, other), grid], axis=1))
                assert (np.diff(rising) >= 0).all() and (np.diff(falling) <= 0).all()


@pytest.mark.parametrize("names", [None, ["a", "b", "c", "d"]])
def test_monotone_constraints_by_name_are_those_by_column(names: list[str] | None) -> None:
    X, y = reals(200)
    table: Any = X if names is None else dict(zip(names, X.T, strict=True))
    own = {1: -1, 3: 1} if names is None else {"b": -1, "d": 1}
    for model in (
        DecisionTreeRegressor(),
        vtree.RandomForestRegressor(3, random_state=0),
        vtree.BaggingRegressor(
            DecisionTreeRegressor(), n_estimators=3, max_features=0.5, random_state=0
        ),
    ):
        key = "estimator__monotonic_cst" if "estimator" in model.get_params() else "monotonic_cst"
        named = clone(model).set_params(**{key: own}).fit(table, y)
        listed = clone(model).set_params(**{key: [0, -1, 0, 1]}).fit(table, y)
        assert vtree.digest(named) == vtree.digest(listed)
        assert vtree.digest(named) != vtree.digest(clone(model).fit(table, y))
        with pytest.raises(InputError, match=r"monotonic_cst names \['z'\], which X does not"):
            clone(model).set_params(**{key: {"z": 1}}).fit(table, y)


def test_monotone_constraints_that_cannot_be() -> None:
    X, y = classes(60, 3)
    cases: list[tuple[Any, Any, str]] = [
        (np.stack([y, y], axis=1), [1, 0, 0, 0], "not supported with multiple outputs"),
        (y, [1, 0, 0, 0], "not supported with multiclass classification"),
        (y > 0, [1, 0], "monotonic_cst has shape 2 but the input data X has 4 features"),
        (y > 0, 1, "must be an array-like, an instance of 'dict' or None"),
        (y > 0, [0.8, -1.0, 0, 0], r"array-like of -1, 0 or 1, but got \[-1. *0. *0.8\]"),
    ]
    for target, cst, message in cases:
        with pytest.raises(InputError, match=message):
            DecisionTreeClassifier(monotonic_cst=cst).fit(X, target)
    with pytest.raises(
        InputError, match=r"monotonic_cst\[1\] is -1, but column 1 holds categories"
    ):
        DecisionTreeRegressor(monotonic_cst=[0, -1, 0]).fit(*columns())
    with pytest.raises(InputError, match="multiple outputs"):
        DecisionTreeRegressor(monotonic_cst=[1, 0, 0, 0]).fit(X, np.stack([y, y], axis=1))


@pytest.mark.parametrize("max_leaf_nodes", [2, 5, 12, 40])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_best_first_leaves_are_sklearns(estimator: Any, max_leaf_nodes: int) -> None:
    X, y = classes(3000) if estimator is DecisionTreeClassifier else reals(300)
    theirs = getattr(sklearn.tree, estimator.__name__)(max_leaf_nodes=max_leaf_nodes)
    theirs.fit(X.astype(np.float32), y)
    ours = estimator(max_leaf_nodes=max_leaf_nodes, max_bins=None).fit(X.astype(np.float32), y)
    assert ours.get_n_leaves() == theirs.get_n_leaves() == max_leaf_nodes
    leaves = ours.apply(X.astype(np.float32)), theirs.apply(X.astype(np.float32))
    assert len(set(zip(*leaves, strict=True))) == max_leaf_nodes


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 3},
        {"min_samples_split": 30},
        {"min_samples_split": 0.2},
        {"min_samples_leaf": 12},
        {"min_samples_leaf": 0.07},
        {"min_weight_fraction_leaf": 0.1},
        {"min_impurity_decrease": 0.01},
        {"ccp_alpha": 0.01},
    ],
)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_limits_are_sklearns(estimator: Any, parameters: dict[str, Any]) -> None:
    X, y = classes(300)
    weight = np.random.default_rng(0).integers(1, 4, 300).astype(float)
    X = X.astype(np.float32)
    ours = estimator(max_bins=None, **parameters).fit(X, y, weight)
    theirs = getattr(sklearn.tree, estimator.__name__)(**parameters).fit(X, y, weight)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))


def test_binned_trees_are_nearly_as_good() -> None:
    X, y = classes(3000, 2)
    scores = [
        DecisionTreeClassifier(max_depth=6, max_bins=bins)
        .fit(X[:2000], y[:2000])
        .score(X[2000:], y[2000:])
        for bins in (None, 255, 32)
    ]
    assert min(scores) > max(scores) - 0.03


def test_pruning_path_gives_nested_trees() -> None:
    X, y = classes()
    path = DecisionTreeClassifier().cost_complexity_pruning_path(X, y)
    assert path.ccp_alphas[0] == 0.0
    assert (np.diff(path.ccp_alphas) > 0).all() and (np.diff(path.impurities) > 0).all()
    leaves = [
        DecisionTreeClassifier(ccp_alpha=alpha).fit(X, y).get_n_leaves()
        for alpha in path.ccp_alphas
    ]
    assert leaves == sorted(leaves, reverse=True) and leaves[-1] == 1
    assert len(set(leaves)) == len(leaves)
