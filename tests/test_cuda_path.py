"""`device="cuda"` as a whole, launchers and kernels: the CPU's model, bit for bit."""

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from numpy.typing import NDArray

from tests.cuda_host.emulation import emulated, on_device
from tests.test_digests import Problem, problems
from vtree import (
    C45Classifier,
    CHAIDClassifier,
    CHAIDRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ID3Classifier,
    IsolationForest,
    LeafwiseBoostingClassifier,
    LeafwiseBoostingRegressor,
    NewtonBoostingClassifier,
    NewtonBoostingRegressor,
    OrderedBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    arrays,
    digest,
    frontier,
    subtrees,
)
from vtree.ensembles import derivatives
from vtree.tree import depth
from vtree_kernels.histogram import cuda as histogram

Table = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]

CLASSES, REALS = DecisionTreeClassifier, DecisionTreeRegressor
SETTINGS: dict[str, tuple[Any, dict[str, Any]]] = {
    "gini": (CLASSES, {}),
    "entropy": (CLASSES, {"criterion": "entropy", "max_depth": 6}),
    "twoing": (CLASSES, {"criterion": "twoing", "min_samples_leaf": 5}),
    "categories": (CLASSES, {"categorical_features": [3], "max_depth": 5}),
    "drawn thresholds": (CLASSES, {"splitter": "random", "random_state": 0}),
    "drawn features": (CLASSES, {"max_features": 2, "random_state": 1}),
    "quantiles": (CLASSES, {"max_bins": 7}),
    "wide codes": (CLASSES, {"max_bins": 700, "max_depth": 4}),
    "best-first": (CLASSES, {"max_leaf_nodes": 9}),
    "least memory": (CLASSES, {"histogram_budget": 20_000}),
    "squared error": (REALS, {"max_depth": 7}),
    "poisson": (REALS, {"criterion": "poisson", "max_depth": 5}),
    "absolute error": (REALS, {"criterion": "absolute_error", "max_depth": 4}),
    "monotone": (REALS, {"monotonic_cst": [1, 0, -1, 0], "max_depth": 5}),
    "surrogates": (CLASSES, {"surrogates": 3, "categorical_features": [3], "max_depth": 4}),
    "surrogates of numbers": (REALS, {"surrogates": 2, "use_surrogates": 1, "max_depth": 4}),
    "costs": (CLASSES, {"costs": [[0, 1, 2], [3, 0, 1], [1, 4, 0]], "priors": [0.2, 0.3, 0.5]}),
    "pruned": (REALS, {"ccp_alpha": 0.05, "max_bins": 20}),
}

# Each kernel's own tests go through every order of threads.
DEVICES = [
    pytest.param("backward", marks=pytest.mark.cuda_host),
    pytest.param(2, marks=pytest.mark.cuda_host),
    pytest.param("a real one", marks=pytest.mark.cuda),
]
on_each = pytest.mark.parametrize("cuda", DEVICES, indirect=True)


# Nodes that are few rows: how many of them grow alone, and how many are searched without histograms
# where Plan.few_rows are on the host.
REGIMES = {"levels": (0, 0), "some alone": (40, 0), "no histograms": (20, 32)}


@pytest.fixture(params=REGIMES)
def regime(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    few, more = REGIMES[request.param]
    monkeypatch.setattr(subtrees, "FEW_ON_DEVICE", few)
    monkeypatch.setattr(frontier, "MORE_ROWS", more)


def _table(estimator: Any, n_classes: int = 3, n_rows: int = 150) -> Table:
    draw = np.random.default_rng(n_classes)
    X = np.round(draw.normal(size=(n_rows, 4)), 2)
    y = np.rint(X[:, 0] + np.abs(X[:, 1]) + draw.normal(scale=0.4, size=n_rows)).astype(int)
    X[draw.random(X.shape) < 0.1] = np.nan
    X[:, 3] = draw.integers(0, 5, n_rows)
    if estimator is REALS:
        return X, np.abs(y) + draw.random(n_rows), draw.random(n_rows)
    return X, (y + 3 * draw.integers(0, 40, n_rows)) % n_classes, draw.random(n_rows)


def _same(estimator: Any, parameters: dict[str, Any], table: Table, weighted: bool) -> None:
    X, y, weight = table
    weights = weight if weighted else None
    here = estimator(device="cpu", **parameters).fit(X, y, weights)
    there = estimator(device="cuda", **parameters).fit(X, y, weights)
    assert digest(there) == digest(here)
    np.testing.assert_array_equal(there.predict(X), here.predict(X))


@on_each
@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_model(name: str, cuda: str | int) -> None:
    estimator, parameters = SETTINGS[name]
    _same(
        estimator,
        parameters,
        _table(estimator),
        weighted=name in ("entropy", "squared error", "surrogates of numbers"),
    )


@pytest.mark.usefixtures("regime")
@pytest.mark.parametrize("name", ["gini", "entropy", "drawn features", "squared error", "monotone"])
@pytest.mark.parametrize("cuda", [DEVICES[1]], indirect=True)
def test_the_same_model_whatever_few_rows_are(name: str, cuda: str | int) -> None:
    estimator, parameters = SETTINGS[name]
    _same(estimator, parameters, _table(estimator), weighted=name == "squared error")


@on_each
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 100])
def test_any_number_of_classes(n_classes: int, weighted: bool, cuda: str | int) -> None:
    parameters = {"max_depth": 3, "max_bins": 9}
    _same(CLASSES, parameters, _table(CLASSES, n_classes, n_rows=300), weighted)


GOSS = {"data_sample_strategy": "goss", "learning_rate": 1.0, "num_leaves": 5}
BOOSTED: dict[str, tuple[Any, dict[str, Any]]] = {
    "squared": (NewtonBoostingRegressor, {"max_depth": 3, "reg_lambda": 0.5}),
    "squared, with scores": (GradientBoostingRegressor, {"subsample": 0.6, "max_depth": 2}),
    "quantiles": (GradientBoostingRegressor, {"loss": "quantile", "alpha": [0.2, 0.8]}),
    "counts": (NewtonBoostingRegressor, {"objective": "poisson", "max_depth": 3}),
    "three classes": (NewtonBoostingClassifier, {"max_depth": 3, "subsample": 0.7}),
    "goss": (LeafwiseBoostingClassifier, GOSS),
    "newton": (NewtonBoostingClassifier, {"max_depth": 3, "reg_alpha": 0.1}),
    "newton of reals": (NewtonBoostingRegressor, {"max_depth": 3, "subsample": 0.7}),
    "first order": (GradientBoostingRegressor, {"loss": "huber"}),
    "first order, classes": (GradientBoostingClassifier, {"subsample": 0.6}),
    "ordered": (OrderedBoostingRegressor, {"depth": 3, "boosting_type": "Ordered"}),
    "monotone, symmetric": (
        OrderedBoostingRegressor,
        {"depth": 3, "monotone_constraints": [1, -1, 0, 0], "categorical_features": [3]},
    ),
    "leaf by leaf": (LeafwiseBoostingClassifier, {"num_leaves": 5, "min_child_samples": 5}),
    "smoothed": (
        LeafwiseBoostingRegressor,
        {"path_smooth": 5.0, "min_child_samples": 5, "categorical_features": [3], "cat_smooth": 1},
    ),
}


@on_each
@pytest.mark.parametrize("name", BOOSTED)
def test_the_same_boosted_model(name: str, cuda: str | int) -> None:
    estimator, parameters = BOOSTED[name]
    kind = REALS if estimator.__name__.endswith("Regressor") else CLASSES
    own = {"n_estimators": 2, "random_state": 1, **parameters}
    _same(estimator, own, _table(kind), weighted=name == "newton")


@on_each
@pytest.mark.parametrize("estimator", [NewtonBoostingClassifier, LeafwiseBoostingClassifier])
def test_the_same_boosted_model_of_few_digits(
    estimator: Any, cuda: str | int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(derivatives, "MANY_ROWS", 100)
    monkeypatch.setattr(subtrees, "FEW_ON_DEVICE", 0)
    monkeypatch.setattr(frontier, "MORE_ROWS", 0)
    own = {"n_estimators": 2, "max_depth": 3, "random_state": 1}
    told, narrow = histogram._tiles, []

    def tiles(here: Any, n_features: int, n_codes: int, words: list[int]) -> Any:
        narrow.append(max(words) == 1)
        return told(here, n_features, n_codes, words)

    monkeypatch.setattr(histogram, "_tiles", tiles)
    _same(estimator, own, _table(CLASSES, n_classes=2, n_rows=400), weighted=False)
    assert all(narrow) and narrow  # numbers of 32 bits in shared memory


@on_each
def test_the_same_isolation_forest(cuda: str | int) -> None:
    X = np.delete(_table(CLASSES)[0], 3, axis=1)
    setting: dict[str, Any] = {"n_estimators": 4, "max_features": 2, "random_state": 0}
    here = IsolationForest(device="cpu", **setting).fit(X)
    there = IsolationForest(device="cuda", **setting).fit(X)
    assert digest(there) == digest(here)
    np.testing.assert_array_equal(there.score_samples(X), here.score_samples(X))


LEVELS_ONLY: dict[str, Any] = {"categorical_features": [0, 1, 2, 3]}
OTHERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "c4.5": (C45Classifier, {"categorical_features": [3]}),
    "c4.5, levels grouped": (C45Classifier, {**LEVELS_ONLY, "subset": True}),
    "id3": (ID3Classifier, LEVELS_ONLY),
    "chaid": (CHAIDClassifier, {"min_samples_split": 20, "min_samples_leaf": 5}),
    "chaid of reals": (CHAIDRegressor, {"min_samples_split": 20, "min_samples_leaf": 5}),
    "extra trees": (ExtraTreesClassifier, {"n_estimators": 2, "random_state": 0}),
    "forest": (RandomForestRegressor, {"n_estimators": 2, "random_state": 0}),
}


@pytest.mark.parametrize("cuda", DEVICES[1:], indirect=True)
@pytest.mark.parametrize("name", OTHERS)
def test_the_same_model_of_other_systems(name: str, cuda: str | int) -> None:
    estimator, parameters = OTHERS[name]
    kind = REALS if estimator.__name__.endswith("Regressor") else CLASSES
    X, y, weight = _table(kind)
    if name in ("id3", "c4.5, levels grouped") or name.startswith("chaid"):
        X = np.abs(np.nan_to_num(X)).round()  # levels
    _same(estimator, parameters, (X, y, weight), weighted=False)


@on_each
@pytest.mark.parametrize("case", ["one row", "constant", "all missing", "float32", "33 features"])
def test_odd_tables(case: str, cuda: str | int) -> None:
    X, y, weight = _table(CLASSES)
    if case == "one row":
        X, y, weight = X[:1], y[:1], weight[:1]
    elif case == "constant":
        X = np.full_like(X, 3.0)
    elif case == "all missing":
        X[:, 1] = np.nan
    elif case == "float32":
        X = X.astype(np.float32)
    else:
        X = np.tile(X, (1, 9))[:, :33]
    _same(CLASSES, {"max_depth": 4}, (X, y, weight), weighted=False)


@pytest.mark.cuda_host
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(problems())
def test_any_problem(problem: Problem) -> None:
    expected = problem.fingerprint()
    with emulated(7):
        assert problem.fingerprint(asarray=on_device) == expected


# Launches of a level: its histograms or its rows, their scan, and the way of each row.
BUILT = ["tiles", "direct", "scan"]
ROUTED = ["decide", "mark", "add_up", "move"]
LEVELS: dict[str, tuple[list[str], dict[str, int]]] = {
    "levels": ([*BUILT, *ROUTED], {}),
    "no histograms": (["search", *ROUTED], {}),
    "some alone": ([*BUILT, *ROUTED], {"copy": 1, "grow": 1, "gather": 1}),
}


@pytest.mark.cuda_host
@pytest.mark.parametrize("estimator", [CLASSES, REALS])
@pytest.mark.parametrize("name", LEVELS)
def test_launches_a_level_do_not_grow_with_its_nodes(
    name: str, estimator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subtrees, "FEW_ON_DEVICE", 25 if name == "some alone" else 0)
    monkeypatch.setattr(frontier, "MORE_ROWS", 32 if name == "no histograms" else 0)
    X, y, _ = _table(estimator, n_rows=2000)
    X = X.round(0)  # one group of features
    with emulated() as device:
        model = estimator(device="cuda", max_depth=8).fit(X, y)
    assert model.get_n_leaves() > 100
    each_level, once = LEVELS[name]
    each_level = each_level + ["differ"] * (estimator is REALS)
    assert set(device.launches) == {*each_level, *once, "encode", "release"}
    assert max(map(device.launches.count, each_level)) <= 8 + (estimator is REALS)
    assert all(device.launches.count(launch) == count for launch, count in once.items())


@pytest.mark.cuda_host
@pytest.mark.parametrize("more_rows", [0, 32])
def test_wider_levels_have_the_same_launches_and_reads(
    more_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subtrees, "FEW_ON_DEVICE", 0)
    monkeypatch.setattr(frontier, "MORE_ROWS", more_rows)
    levels, found = 2, []
    for trees in (1, 12):  # all of whose nodes are one frontier
        own = {"n_rows": 600, "n_estimators": trees, "random_state": 0}
        shallow, deep = (
            Counter(_calls(RandomForestClassifier, depth, **own)) for depth in (2, 2 + levels)
        )
        found.append(deep - shallow)
        # Which rows are added up in tiles and which in global memory is a matter of nodes' sizes.
        built = found[-1].pop("tiles", 0) + found[-1].pop("direct", 0)
        assert built == 0 if more_rows else levels <= built <= 2 * levels
    assert found[0] == found[1]
    assert set(found[0].values()) <= {levels, 4 * levels}
    assert found[0]["in"] == 4 * levels
    assert {*ROUTED, "out"} < set(found[0])


def _calls(
    estimator: Any, max_depth: int, n_classes: int = 3, n_rows: int = 2000, **parameters: Any
) -> list[str]:
    """Return, in their order, what a fit level by level launches and copies ("in", "out")."""
    kind = REALS if estimator.__name__.endswith("Regressor") else CLASSES
    X, y, _ = _table(kind, n_classes, n_rows)
    read = arrays.to_numpy
    with emulated() as device, pytest.MonkeyPatch.context() as patch:
        own = device.launches
        for module, name, what in ((device, "upload", "in"), (device, "download", "out")):
            patch.setattr(module, name, _told(getattr(module, name), own, what))

        def to_numpy(array: Any) -> Any:
            own.extend([] if isinstance(array, np.ndarray) else ["out"])
            return read(array)

        patch.setattr(arrays, "to_numpy", to_numpy)
        estimator(device="cuda", max_depth=max_depth, **parameters).fit(X.round(0), y)
    return own


def _told(function: Any, calls: list[str], what: str) -> Any:
    def call(values: Any) -> Any:
        calls.append(what)
        return function(values)

    return call


# Levels with and without histograms. Of a boosted or bagged tree, whatever it is embedded in.
ONE_TREE = {"n_estimators": 1, "random_state": 0}
WAITING: dict[str, tuple[Any, dict[str, Any]]] = {
    "classes": (CLASSES, {}),
    "reals": (REALS, {}),
    "forest": (RandomForestClassifier, ONE_TREE),
    "newton": (NewtonBoostingClassifier, ONE_TREE),
    "newton of reals": (NewtonBoostingRegressor, ONE_TREE),
    "first order": (GradientBoostingRegressor, ONE_TREE),
}


@pytest.mark.cuda_host
@pytest.mark.parametrize(("more_rows", "launched"), [(0, 7), (32, 5)])
@pytest.mark.parametrize("name", WAITING)
def test_the_host_waits_for_a_level_once(
    name: str, more_rows: int, launched: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subtrees, "FEW_ON_DEVICE", 0)
    monkeypatch.setattr(frontier, "MORE_ROWS", more_rows)
    estimator, parameters = WAITING[name]
    shallow, deep = (_calls(estimator, max_depth, **parameters) for max_depth in (3, 6))
    # A copy right behind another one waits for nothing.
    pairs = [list(itertools.pairwise(["in", *calls])) for calls in (shallow, deep)]
    waits = [sum(own != "out" and then == "out" for own, then in each) for each in pairs]
    assert waits[1] - waits[0] == 3
    # Whose targets are real is asked and answered, too, which of them differ.
    own = 1 if estimator.__name__.endswith("Regressor") else 0
    assert deep.count("out") - shallow.count("out") == 3 * (1 + own)
    assert deep.count("in") - shallow.count("in") == 3 * (4 + own)
    launches = len(deep) - len(shallow) - 3 * (5 + 2 * own)
    assert launches <= 3 * (launched + own)


CROSSING: dict[str, tuple[Any, int, dict[str, Any]]] = {
    "squared": (NewtonBoostingRegressor, 2, {}),
    "two classes": (NewtonBoostingClassifier, 2, {}),
    "three classes": (NewtonBoostingClassifier, 3, {}),
    "leaf by leaf": (LeafwiseBoostingClassifier, 2, {"num_leaves": 9}),
    "first order": (GradientBoostingRegressor, 2, {"loss": "squared_error"}),
    "absolute": (NewtonBoostingRegressor, 2, {"objective": "absolute_error"}),
    "first order, two classes": (GradientBoostingClassifier, 2, {}),
    "first order, classes": (GradientBoostingClassifier, 3, {}),
    "a share of the rows": (NewtonBoostingClassifier, 2, {"subsample": 0.7}),
}


@pytest.mark.cuda_host
@pytest.mark.parametrize("many_rows", [5000, 100])
@pytest.mark.parametrize("name", CROSSING)
def test_what_crosses_the_bus_in_a_round_of_boosting(
    name: str, many_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(derivatives, "MANY_ROWS", many_rows)
    estimator, n_classes, parameters = CROSSING[name]
    X, y, _ = _table(CLASSES, n_classes=n_classes, n_rows=2000)
    read, crossed = arrays.to_numpy, {"in": 0, "out": 0}
    with emulated() as device:
        bring, back = device.upload, device.download

        def moved(array: Any, what: str) -> Any:
            crossed[what] += max(array.shape, default=0) >= 1000 and 0 not in array.shape
            return array

        monkeypatch.setattr(device, "upload", lambda values: bring(moved(values, "in")))
        monkeypatch.setattr(device, "download", lambda array: back(moved(array, "out")))
        monkeypatch.setattr(
            arrays,
            "to_numpy",
            lambda own: read(own if isinstance(own, np.ndarray) else moved(own, "out")),
        )
        counts = []
        for rounds in (1, 3):
            estimator(device="cuda", n_estimators=rounds, **parameters).fit(X, y)
            counts.append(crossed.copy())
    grown = {what: counts[1][what] - 2 * counts[0][what] for what in crossed}
    assert grown == {"in": 0, "out": 0}


# For the reach of derivatives and roots; with few digits for the sums of these and of leaves.
@pytest.mark.cuda_host
@pytest.mark.parametrize(("many_rows", "waits"), [(5000, 2), (100, 4)])
def test_what_the_host_waits_for_in_a_round_besides_its_levels(
    many_rows: int, waits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(derivatives, "MANY_ROWS", many_rows)
    monkeypatch.setattr(subtrees, "FEW_ON_DEVICE", 0)
    few, more = (
        _calls(NewtonBoostingClassifier, 3, n_estimators=rounds, n_classes=2) for rounds in (1, 3)
    )
    assert more.count("out") - few.count("out") == 2 * (3 + waits)


@pytest.mark.cuda_host
def test_the_host_waits_for_cuts_by_extremes_and_by_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subtrees, "FEW_ON_DEVICE", 0)
    shallow, deep = (_calls(ExtraTreesClassifier, depth, **ONE_TREE) for depth in (3, 6))
    levels, copied = 3, ("in", "out")
    # Nodes in which nothing of the draw varies are asked for the extremes of all the rest.
    assert deep.count("out") - shallow.count("out") <= levels * 3
    launches = [sum(each not in copied for each in calls) for calls in (shallow, deep)]
    assert launches[1] - launches[0] <= levels * 9


@pytest.mark.cuda_host
@pytest.mark.parametrize("estimator", [ID3Classifier, C45Classifier])
def test_histograms_of_levels_stay_on_the_device(
    estimator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = np.abs(np.nan_to_num(_table(CLASSES)[0])).round()
    read, brought = arrays.to_numpy, []

    def to_numpy(array: Any) -> Any:
        brought.extend([] if isinstance(array, np.ndarray) else [array.ndim])
        return read(array)

    monkeypatch.setattr(arrays, "to_numpy", to_numpy)
    with emulated() as device:
        estimator(device="cuda", **LEVELS_ONLY).fit(X, _table(CLASSES)[1])
    assert device.launches.count("judge") > 1
    assert max(brought) == 3  # the cells (n, B, S) of what nodes are split by


@pytest.mark.cuda_host
def test_levels_in_slices_of_the_whole_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subtrees, "FEW_ON_DEVICE", 0)
    monkeypatch.setattr(frontier, "MORE_ROWS", 0)
    X, y, _ = _table(CLASSES, n_rows=800)
    X = X[:, :3].round(1)  # one group of features
    bins = max(len(np.unique(column)) for column in X.T) + 2
    node = 3 * bins * 3 * 4  # bytes: features, codes, classes
    with emulated() as device:
        model = CLASSES(device="cuda", histogram_budget=60 * node).fit(X, y)
    widest = np.bincount(depth(model.grown_)).max()
    assert widest > 60
    assert device.launches.count("scan") <= 2 * model.get_depth()


@pytest.mark.cuda_host
def test_memory_is_released_after_a_fit_and_not_after_a_prediction() -> None:
    X, y, _ = _table(CLASSES)
    with emulated() as device:
        model = CLASSES(device="cuda", max_depth=2).fit(X, y)
        assert device.launches[-1] == "release"
        assert not device.held()
        model.predict(X)
        assert device.launches.count("release") == 1
