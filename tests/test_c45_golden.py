"""Trees of C4.5 release 8, J48 3.9.7 and Id3, node by node."""

import re
from typing import Any

import numpy as np
import pytest

from tests.c45_golden import difference, facts, split_table
from vtree import C45Classifier, ID3Classifier

R8: dict[str, dict[str, Any]] = {
    "default": {},
    "m5": {"min_objects": 5},
    "c10": {"confidence": 0.1},
    "gain": {"criterion": "gain"},
    "subset": {"subset": True},
}
J48: dict[str, dict[str, Any]] = {
    "default": {},
    "m5": {"min_objects": 5},
    "c10": {"confidence": 0.1},
    "nomdl": {"mdl_correction": False},
    "noraise": {"subtree_raising": False},
    "unpruned": {"prune": False},
}
OF_R8 = [key for key in facts()["c45r8"] if key.split(".")[-1] in R8]


@pytest.mark.parametrize("key", OF_R8)
def test_the_trees_of_release_8(key: str) -> None:
    golden = facts()["c45r8"][key]
    schema = facts()["schemas"][key.split(".")[0]]
    classes = {"classes": schema["levels"][schema["target"]]}
    X, y, X_test, y_test = split_table(key)
    settings = R8[key.split(".")[-1]]
    unpruned = C45Classifier(prune=False, **settings).fit(X, y)
    assert difference(unpruned, {**golden["unpruned"], **classes}) is None
    model = C45Classifier(**settings).fit(X, y)
    pruned = {**golden["pruned"], **classes}
    assert difference(model, pruned, model.predicted_errors_) is None
    percent = 100.0 * model.predicted_errors_[0] / len(y)
    assert percent == pytest.approx(golden["estimate_pct"], abs=0.0501)
    for each, errors in zip((unpruned, model), golden["errors"], strict=True):
        assert (each.predict(X) != y).sum() == errors
    if len(y_test):
        for each, errors in zip((unpruned, model), golden["test_errors"], strict=True):
            assert (each.predict(X_test) != y_test).sum() == errors


_LEAF = re.compile(r": (\S.*?) \((\d+\.?\d*)(?:/(\d+\.?\d*))?\)$")


@pytest.mark.parametrize("key", facts()["j48"])
def test_the_trees_of_j48(key: str) -> None:
    golden = facts()["j48"][key]
    X, y, X_test, y_test = split_table(key)
    model = C45Classifier(reference="j48", **J48[key.split(".")[-1]]).fit(X, y)
    tree = model.grown_
    leaf = np.flatnonzero(tree.first_child < 0)
    assert (tree.feature.size, leaf.size) == (golden["size"], golden["leaves"])
    assert (model.predict(X) == y).sum() == golden["train_correct"]
    if len(y_test):
        assert (model.predict(X_test) == y_test).sum() == golden["test_correct"]
    written = [_LEAF.search(line) for line in golden["text"]]
    # J48 prints weights with two decimals: label, weight, errors of every leaf.
    expected = sorted((m[1], float(m[2]), float(m[3] or 0)) for m in written if m)
    wrong = tree.weight * (1.0 - tree.value.max(axis=1))
    label = model.classes_[tree.value.argmax(axis=1)]
    found = sorted((str(label[i]), float(tree.weight[i]), float(wrong[i])) for i in leaf)
    assert [each[0] for each in found] == [each[0] for each in expected]
    got = np.array([each[1:] for each in found])
    np.testing.assert_allclose(got, [each[1:] for each in expected], atol=0.00501)


@pytest.mark.parametrize("key", facts()["id3"])
def test_the_trees_of_id3(key: str) -> None:
    golden = facts()["id3"][key]
    X, y, X_test, y_test = split_table(key)
    model = ID3Classifier().fit(X, y)
    assert (model.predict(X) == y).sum() == golden["train_correct"]
    if len(y_test):
        assert (model.predict(X_test) == y_test).sum() == golden["test_correct"]
    assert model.get_n_leaves() == sum(": " in line for line in golden["text"])
