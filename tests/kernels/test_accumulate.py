from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import on_device, to_host
from tests.fitting import Setting, fit
from vtree.predict import leaves
from vtree.tree import Tree
from vtree_kernels._threads import threads
from vtree_kernels.accumulate import accumulate
from vtree_kernels.accumulate import cpu as accumulate_cpu
from vtree_kernels.accumulate import cuda as accumulate_cuda


def _forest(n_trees: int) -> tuple[NDArray[np.float64], Tree]:
    random = np.random.default_rng(0)
    X = np.round(random.normal(size=(700, 3)), 1)
    X[:, 2] = random.integers(0, 6, 700)
    X[random.random(X.shape) < 0.1] = np.nan
    y = (np.rint(np.nan_to_num(X).sum(axis=1)) % 3).astype(np.int64)
    roots = [np.arange(t, 700, 2 + t) for t in range(n_trees)]
    return X, fit(X, y, Setting("gini", levels=(-1, -1, 6)), roots=roots)


def _arguments(tree: Tree) -> tuple[Any, ...]:
    rule = (tree.feature, tree.kind, tree.threshold, tree.first_child)
    return (tree.root, *rule, tree.missing_child, tree.map_offset, tree.branch_map)


# values a node, column of each tree, columns
LAYOUTS = {
    "a forest": (3, [0, 0, 0, 0, 0], 3),
    "rounds of boosting": (1, [0, 1, 0, 1, 0], 2),
    "one output": (1, [0] * 5, 1),
    "more values than are added one by one": (accumulate_cpu._FEW + 1, [0] * 5, 5),
    "no trees": (2, [], 2),
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("n_rows", [0, 1, 700])
def test_twins_and_definition_agree(name: str, n_rows: int, xp: Namespace) -> None:
    n_values, place, n_columns = LAYOUTS[name]
    X, tree = _forest(5)
    X, tree = X[:n_rows], tree._replace(root=tree.root[: len(place)])
    value = np.random.default_rng(1).normal(size=(tree.feature.size, n_values))
    column = np.array(place, dtype=np.int64)
    expected = np.zeros((n_rows, n_columns))
    for t, leaf in enumerate(leaves(tree, X).T if place else []):
        expected[:, place[t] : place[t] + n_values] += value[leaf]
    nodes = (*_arguments(tree), value, column, n_columns)
    found = accumulate.reference(xp.asarray(X), *nodes)
    assert_same_bits(xp.to_numpy(found), expected)
    for count in (1, 4):
        with threads(count):
            assert_same_bits(accumulate.twin("cpu")(X, *nodes), expected)


@pytest.mark.parametrize("kinds", [1, 3, 200, 400])
def test_few_kinds_of_answers_are_added_alike(kinds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulate_cpu, "_FAR", 1)
    draw = np.random.default_rng(kinds)
    X, tree = _forest(5)
    some = np.concatenate([draw.normal(size=(kinds, 2)), [[0.0, 1.0], [-0.0, 1.0]]])
    stays = draw.random(tree.feature.size) < 0.05
    tree = tree._replace(missing_child=np.where(stays, -1, tree.missing_child))
    ends = tree.missing_child < 0
    value = some[draw.integers(0, len(some), ends.size)]
    value[~ends] = draw.normal(size=(int((~ends).sum()), 2))
    found, answers = accumulate_cpu.kinds_of_answers(value, tree.missing_child, 5, 700)
    distinct = np.unique(value[ends].view(np.uint64), axis=0)
    assert len(answers) == (len(distinct) if len(distinct) <= 256 else len(value))
    assert found.size == (len(value) if len(distinct) <= 256 else 0)
    arguments = (*_arguments(tree), value, np.zeros(5, dtype=np.int64), 2)
    assert_same_bits(accumulate.twin("cpu")(X, *arguments), accumulate.reference(X, *arguments))


@pytest.mark.parametrize("rows_at_once", [1, 300, 1 << 24])
@pytest.mark.parametrize("name", LAYOUTS)
def test_cuda_agrees(
    name: str, rows_at_once: int, cuda: str | int, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_values, place, n_columns = LAYOUTS[name]
    X, tree = _forest(5)
    X, tree = X[: 7 if rows_at_once == 1 else 700], tree._replace(root=tree.root[: len(place)])
    monkeypatch.setattr(accumulate_cuda, "LEAVES", 5 * rows_at_once)
    value = np.random.default_rng(1).normal(size=(tree.feature.size, n_values))
    nodes = (*_arguments(tree), value, np.array(place, dtype=np.int64), n_columns)
    for rows in (X, X[:0]):
        found = to_host(accumulate.twin("cuda")(on_device(rows), *nodes))
        assert_same_bits(found, accumulate.twin("cpu")(rows, *nodes))
