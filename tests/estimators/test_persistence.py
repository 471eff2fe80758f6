"""Models that come back from a file as they were, and files that are none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.tree
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import vtree
from tests.samples import classes, columns, reals
from vtree import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    CHAIDClassifier,
    CHAIDRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from vtree.errors import InputError, InputTypeError, ModelFileError
from vtree.interop.model_file import read_model, write_model

X, Y = classes()
TABLE, TWO = columns()
NAMES = np.array(["ant", "bee", "水"])

MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "classes": lambda: (DecisionTreeClassifier(class_weight={0: 2.0}).fit(X, Y), X),
    "strings": lambda: (DecisionTreeClassifier(max_depth=3).fit(X, NAMES[Y]), X),
    "objects": lambda: (DecisionTreeClassifier().fit(X, NAMES[Y].astype(object)), X),
    "booleans": lambda: (DecisionTreeClassifier(criterion="twoing").fit(X, Y > 0), X),
    "one class": lambda: (DecisionTreeClassifier().fit(X, Y * 0), X),
    "several outputs": lambda: (
        DecisionTreeClassifier().fit(X, np.stack([NAMES[Y], NAMES[(Y > 0).astype(int)]], 1)),
        X,
    ),
    "reals": lambda: (DecisionTreeRegressor(monotonic_cst=[1, 0, 0, -1]).fit(*reals()), X),
    "several reals": lambda: (DecisionTreeRegressor(max_leaf_nodes=9).fit(X, X[:, :2]), X),
    "counts": lambda: (DecisionTreeRegressor(criterion="poisson").fit(X, Y), X),
    "pandas": lambda: (
        DecisionTreeClassifier(min_samples_category=np.int64(2)).fit(pd.DataFrame(TABLE), TWO),
        pd.DataFrame(TABLE),
    ),
    "polars": lambda: (
        DecisionTreeRegressor(categorical_features=["colour", "is_new"]).fit(
            pl.DataFrame(TABLE), TWO
        ),
        pl.DataFrame(TABLE),
    ),
    "random forest": lambda: (RandomForestClassifier(5, random_state=1).fit(X, NAMES[Y]), X),
    "weighted forest": lambda: (
        RandomForestRegressor(3, random_state=1, oob_score=False).fit(X, Y, Y + 1.0),
        X,
    ),
    "bagging": lambda: (BaggingClassifier(n_estimators=3, random_state=1).fit(X, NAMES[Y]), X),
    "bagging of some features": lambda: (
        BaggingRegressor(n_estimators=3, max_features=2, random_state=1).fit(X, Y, Y + 1.0),
        X,
    ),
    "bagging of a frame": lambda: (
        BaggingClassifier(C45Classifier(), 4, max_features=2, random_state=1).fit(
            pd.DataFrame(TABLE), TWO
        ),
        pd.DataFrame(TABLE),
    ),
    "bagging of bins": lambda: (
        BaggingClassifier(
            CHAIDClassifier(min_samples_split=9, min_samples_leaf=3),
            3,
            max_features=2,
            bootstrap_features=True,
            random_state=1,
        ).fit(X, NAMES[Y]),
        X,
    ),
    "AdaBoost of bins": lambda: (
        AdaBoostRegressor(
            CHAIDRegressor(min_samples_split=9, min_samples_leaf=3), n_estimators=3
        ).fit(X, X[:, 0]),
        X,
    ),
    "AdaBoost of a frame": lambda: (
        AdaBoostClassifier(C45Classifier(), n_estimators=3).fit(pd.DataFrame(TABLE), TWO),
        pd.DataFrame(TABLE),
    ),
    "AdaBoost": lambda: (
        AdaBoostClassifier(n_estimators=5).fit(pd.DataFrame(TABLE), TWO),
        pd.DataFrame(TABLE),
    ),
    "AdaBoost of reals": lambda: (
        AdaBoostRegressor(DecisionTreeRegressor(max_depth=2), n_estimators=4).fit(*reals()),
        X,
    ),
    "extra trees": lambda: (ExtraTreesClassifier(4, random_state=1).fit(X, Y), X),
    "categories in arrays": lambda: (
        DecisionTreeClassifier(categorical_features=np.array([0])).fit(np.round(X), Y),
        np.round(X),
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_come_back(name: str, tmp_path: Path) -> None:
    model, table = MODELS[name]()
    path = tmp_path / "model.vtree"
    vtree.save(model, path)
    loaded = vtree.load(str(path))
    assert type(loaded) is type(model)
    assert vtree.digest(loaded) == vtree.digest(model)
    assert repr(loaded) == repr(model)
    assert [vtree.digest(one) for one in getattr(loaded, "estimators_", [])] == [
        vtree.digest(one) for one in getattr(model, "estimators_", [])
    ]
    methods = [
        "predict",
        *(["apply"] if hasattr(model, "apply") else []),
        *(["predict_proba"] if hasattr(model, "predict_proba") else []),
    ]
    for method in methods:
        found, expected = getattr(loaded, method)(table), getattr(model, method)(table)
        for one, other in zip(_listed(found), _listed(expected), strict=True):
            np.testing.assert_array_equal(one, other, strict=True)
    kept, had = vars(loaded), vars(model)
    assert kept.keys() == had.keys()
    for field in ("n_features_in_", "n_outputs_", "max_features_", "feature_names_in_"):
        assert np.array_equal(kept.get(field), had.get(field))
    assert vtree.export_text(loaded) == vtree.export_text(model)
    again = tmp_path / "again.vtree"
    vtree.save(loaded, again)
    assert again.read_bytes() == path.read_bytes()


def _listed(answer: Any) -> list[NDArray[Any]]:
    return answer if isinstance(answer, list) else [answer]


def test_loaded_models_check_names_and_fit_again(tmp_path: Path) -> None:
    model, table = MODELS["pandas"]()
    vtree.save(model, tmp_path / "m.vtree")
    loaded = vtree.load(tmp_path / "m.vtree")
    with pytest.raises(vtree.errors.InputError, match="feature names should match"):
        loaded.predict(table.rename(columns={"size": "weight"}))
    assert vtree.digest(loaded.fit(table, TWO)) == vtree.digest(model)


SLIM = ["classes", "pandas", "random forest", "weighted forest", "bagging", "AdaBoost", "reals"]


@pytest.mark.parametrize("name", SLIM)
def test_slim_models_predict_the_same_bits(name: str, tmp_path: Path) -> None:
    model, table = MODELS[name]()
    whole, slim, narrow = (tmp_path / each for each in ("whole", "slim", "narrow"))
    vtree.save(model, whole)
    vtree.save(model, slim, slim=True)
    vtree.save(model, narrow, slim=True, leaves="float32")
    assert narrow.stat().st_size <= slim.stat().st_size < whole.stat().st_size
    for method in ("predict", "predict_proba"):
        if hasattr(model, method):
            expected = getattr(model, method)(table)
            np.testing.assert_array_equal(getattr(vtree.load(slim), method)(table), expected)
    answers = vtree.load(narrow).predict(table)
    if np.asarray(answers).dtype.kind == "f":
        np.testing.assert_allclose(answers, model.predict(table), rtol=1e-6)
    else:
        assert (answers == model.predict(table)).mean() > 0.95
    with pytest.raises(InputError, match="slim=True"):
        loaded = vtree.load(slim)
        np.sum(getattr(loaded, "estimators_", [loaded])[0].feature_importances_)
    again = tmp_path / "again"
    vtree.save(vtree.load(slim), again, slim=True)
    assert again.read_bytes() == slim.read_bytes()


def test_models_that_cannot_be_slim_say_so(tmp_path: Path) -> None:
    path = tmp_path / "m.vtree"
    tree = C45Classifier().fit(X, Y)
    for model in (
        tree,
        BaggingClassifier(C45Classifier(), 2).fit(X, Y),
        DecisionTreeClassifier(surrogates=1).fit(X, Y),
    ):
        with pytest.raises(InputTypeError, match="answer by what training knew"):
            vtree.save(model, path, slim=True)
    for leaves in ("float16", "float32"):
        with pytest.raises(InputError, match="leaves="):
            vtree.save(tree, path, leaves=leaves)
    assert not path.exists()


def test_ensembles_of_others_are_not_saved(tmp_path: Path) -> None:
    for model in (
        BaggingClassifier(KNeighborsClassifier()).fit(X, Y),
        AdaBoostClassifier(GaussianNB(), n_estimators=2).fit(X, Y),
        AdaBoostClassifier(sklearn.tree.DecisionTreeClassifier(), n_estimators=2).fit(X, Y),
        BaggingClassifier(RandomForestClassifier(2), 2).fit(X, Y),
    ):
        for slim in (False, True):
            with pytest.raises(InputTypeError, match=r"of \w+, whose trees a file cannot hold"):
                vtree.save(model, tmp_path / "m.vtree", slim=slim)
    with pytest.raises(NotFittedError):
        vtree.save(BaggingClassifier(), tmp_path / "m.vtree", slim=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header["members"].pop(),
        lambda header: header["own"]["features"].pop(),
        lambda header: header["own"].update(features=[np.array([7])] * 3),
        lambda header: header["own"].update(seeds=np.array([7])),
        lambda header: header["own"].update(seeds=np.zeros(3)),
        lambda header: header["own"]["samplings"].pop(),
        lambda header: header["own"].update(features=[np.array([0])] * 3),
        lambda header: header["members"][0].update(estimator="BaggingClassifier"),
        lambda header: header["members"][0].update(estimator="os"),
        lambda header: header["members"][1].update(classes=None),
    ],
)
def test_bags_that_do_not_fit_together_are_refused(change: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.vtree"
    vtree.save(BaggingClassifier(n_estimators=3, max_features=2, random_state=1).fit(X, Y), path)
    header, tree, extra = read_model(path)
    header.pop("schema_version", None)
    change(header)
    write_model(path, header, tree, extra)
    with pytest.raises(ModelFileError):
        vtree.load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header["edges_of_trees"].pop(),
        lambda header: header.pop("edges_of_trees"),
        lambda header: header.update(edges_of_trees=[]),
        lambda header: header.update(edges_of_trees=7),
        lambda header: header["edges_of_trees"][0].pop(),
        lambda header: header["members"][1].update(edges=[None, None]),
        lambda header: header["members"][1]["edges"].pop(),
    ],
)
def test_edges_that_do_not_fit_their_trees_are_refused(change: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.vtree"
    vtree.save(MODELS["bagging of bins"]()[0], path)
    header, tree, extra = read_model(path)
    header.pop("schema_version", None)
    change(header)
    with pytest.raises((ModelFileError, InputError)):
        write_model(path, header, tree, extra)
        vtree.load(path)


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    path = tmp_path / "m.vtree"

    class Own(DecisionTreeClassifier):
        pass

    for model in (sklearn.tree.DecisionTreeClassifier().fit(X, Y), Own().fit(X, Y), None, "name"):
        with pytest.raises(InputTypeError, match="save takes fitted estimators of vtree"):
            vtree.save(model, path)
    with pytest.raises(NotFittedError):
        vtree.save(DecisionTreeClassifier(), path)
    assert not path.exists()


def test_a_generator_comes_back_with_its_state(tmp_path: Path) -> None:
    random = np.random.RandomState(0)
    model = RandomForestClassifier(3, random_state=random).fit(X, Y)
    random.normal()
    vtree.save(model, tmp_path / "model.vtree")
    again = vtree.load(tmp_path / "model.vtree")
    assert vtree.digest(again) == vtree.digest(model)
    assert vtree.digest(again.fit(X, Y)) == vtree.digest(model.fit(X, Y))
    assert again.random_state.normal() == random.normal()


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        vtree.load(tmp_path / "none.vtree")


CHANGES: dict[str, dict[str, Any]] = {
    "a foreign class": {"estimator": "Pipeline"},
    "a path to code": {"estimator": "os.system"},
    "no name": {"estimator": 3},
    "the other kind": {"estimator": "DecisionTreeRegressor"},
    "an unknown parameter": {"parameters": {"shape": "round"}},
    "a parameter of no use": {"parameters": {"max_depth": -5}},
    "no parameters": {"parameters": None},
    "no classes": {"classes": None},
    "a class too many": {"classes": np.arange(4)},
    "classes in a text": {"classes": "abc"},
    "outputs": {"n_outputs": 2},
    "no outputs": {"n_outputs": 0},
    "features": {"n_features": 2},
    "no levels": {"levels": []},
    "other levels": {"levels": [None, None, None, "a"]},
    "names": {"feature_names": 7},
    "max_features": {"max_features": "all"},
}


@pytest.mark.parametrize("name", CHANGES)
def test_headers_that_do_not_fit_the_tree(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.vtree"
    vtree.save(DecisionTreeClassifier().fit(X, Y), path)
    header, tree, _ = read_model(path)
    # Some of these are not even written; tests/interop/test_model_file.py forges the files.
    with pytest.raises((ModelFileError, InputError)):
        write_model(path, {**header, **CHANGES[name]}, tree)
        vtree.load(path)


@pytest.mark.parametrize("field", ["estimator", "parameters", "classes", "levels", "n_features"])
def test_headers_with_a_gap(field: str, tmp_path: Path) -> None:
    path = tmp_path / "m.vtree"
    vtree.save(DecisionTreeClassifier().fit(X, Y), path)
    header, tree, _ = read_model(path)
    del header[field]
    with pytest.raises((ModelFileError, InputError)):
        write_model(path, header, tree)
        vtree.load(path)


def test_damage_never_goes_unnoticed_or_crashes(tmp_path: Path) -> None:
    """Flipped bits and cut ends: an error of ours, or a model that predicts something."""
    path = tmp_path / "m.vtree"
    vtree.save(DecisionTreeClassifier(max_depth=3).fit(pd.DataFrame(TABLE), TWO), path)
    content = path.read_bytes()
    draw = np.random.default_rng(0)
    refused = 0
    for trial in range(300):
        damaged = bytearray(content)
        if trial % 3:
            for place in draw.integers(0, len(content), 1 + trial % 4):
                damaged[place] ^= 1 << draw.integers(0, 8)
        else:
            damaged = damaged[: draw.integers(0, len(content))]
        path.write_bytes(damaged)
        try:
            vtree.load(path).predict_proba(pd.DataFrame(TABLE))
        except vtree.errors.VTreeError:
            refused += 1
    assert refused > 100


def test_digests() -> None:
    model = DecisionTreeClassifier().fit(X, Y)
    assert vtree.digest(model) == vtree.digest(model.grown_)
    assert len(vtree.digest(model)) == 64
    assert vtree.digest(model) != vtree.digest(DecisionTreeClassifier(max_depth=2).fit(X, Y))
    with pytest.raises(NotFittedError):
        vtree.digest(DecisionTreeClassifier())


OWN: dict[str, dict[str, Any]] = {
    "no seeds": {"seeds": []},
    "seeds in a text": {"seeds": "1, 2, 3"},
    "no size": {"n_samples": None},
    "draws": {"n_samples_bootstrap": 2.5},
    "weights": {"sample_weight": np.ones(3)},
}


@pytest.mark.parametrize("name", OWN)
def test_headers_that_do_not_fit_the_forest(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.vtree"
    vtree.save(RandomForestClassifier(3).fit(X, Y), path)
    header, tree, _ = read_model(path)
    write_model(path, {**header, "own": {**header["own"], **OWN[name]}}, tree)
    with pytest.raises(ModelFileError):
        vtree.load(path)


def test_a_forest_comes_back_with_its_samples(tmp_path: Path) -> None:
    model = RandomForestClassifier(3, random_state=0).fit(X, Y, Y + 1.0)
    vtree.save(model, tmp_path / "m.vtree")
    loaded = vtree.load(tmp_path / "m.vtree")
    assert [vtree.digest(tree) for tree in loaded] == [vtree.digest(tree) for tree in model]
    np.testing.assert_array_equal(loaded.estimators_samples_, model.estimators_samples_)


def test_a_tree_with_several_roots_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.vtree"
    vtree.save(RandomForestClassifier(3).fit(X, Y), path)
    header, tree, _ = read_model(path)
    lone = read_model(_saved(DecisionTreeClassifier().fit(X, Y), tmp_path / "one.vtree"))[0]
    write_model(path, lone, tree)
    with pytest.raises(ModelFileError, match="3 trees"):
        vtree.load(path)


def _saved(model: Any, path: Path) -> Path:
    vtree.save(model, path)
    return path
