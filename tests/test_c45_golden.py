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


_LINE = re.compile(r"((?:\|  +)*)(.+?)(?:: (\S.*?)(?: \((\d+\.?\d*)(?:/(\d+\.?\d*))?\))?)?$")
Leaves = dict[tuple[str, ...], tuple[str, float, float]]  # conditions: label, weight, errors


def _printed(lines: list[str]) -> Leaves:
    """Read the leaves of a tree as Weka prints it."""
    leaves: Leaves = {}
    path: list[str] = []
    for line in lines:
        match = _LINE.match(line)
        assert match is not None
        bars, condition, label, weight, errors = match.groups()
        path = [*path[: bars.count("|")], condition]
        if label is not None:
            leaves[tuple(path)] = (label, float(weight or 0), float(errors or 0))
    return leaves


def _grown(model: Any) -> Leaves:
    tree, leaves = model.grown_, {}
    waiting: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    for node, path in waiting:
        first, feature = int(tree.first_child[node]), int(tree.feature[node])
        if first < 0:
            weight, value = float(tree.weight[node]), tree.value[node]
            label = str(model.classes_[value.argmax()])
            leaves[path] = (label, weight, weight * float(1.0 - value.max()))
            continue
        name, levels = model.feature_names_in_[feature], model.schema_.levels[feature]
        if levels is None:
            cut = f"{tree.threshold[node]:.6g}"
            waiting += [
                (first, (*path, f"{name} <= {cut}")),
                (first + 1, (*path, f"{name} > {cut}")),
            ]
            continue
        start = int(tree.map_offset[node]) + 1
        below = first + tree.branch_map[start : start + len(levels)].astype(int)
        for child, level in zip(below.tolist(), levels, strict=True):
            waiting.append((child, (*path, f"{name} = {level}")))
    return leaves


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
    # J48 prints weights with two decimals; a tree of one leaf has no condition before them.
    text = [line if line[0] != ":" else f"root{line}" for line in golden["text"]]
    expected, found = _printed(text), _grown(model)
    if len(found) == 1:
        found = {("root",): found[()]}
    assert found.keys() == expected.keys()
    assert [found[path][0] for path in expected] == [own[0] for own in expected.values()]
    got = [found[path][1:] for path in expected]
    np.testing.assert_allclose(got, [own[1:] for own in expected.values()], atol=0.00501)


@pytest.mark.parametrize("key", facts()["id3"])
def test_the_trees_of_id3(key: str) -> None:
    golden = facts()["id3"][key]
    X, y, X_test, y_test = split_table(key)
    model = ID3Classifier().fit(X, y)
    assert (model.predict(X) == y).sum() == golden["train_correct"]
    if len(y_test):
        assert (model.predict(X_test) == y_test).sum() == golden["test_correct"]
    expected, found = _printed(golden["text"][3:]), _grown(model)  # below a title
    assert {path: own[0] for path, own in found.items()} == {
        path: own[0] for path, own in expected.items()
    }
