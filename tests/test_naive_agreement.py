"""Trees of the engine against the slow oracle, and against scikit-learn's, node by node.

Ties. The oracle's gains are fractions (or logarithms); the engine's are float64, and where two
candidates are equal on paper, rounding may part them. So the oracle hands over the candidates
within 1e-10 of the best, in the order of ties, and the engine's own formula is asked, one candidate
at a time, which of them is the first largest. Nothing else is left open: every node must agree.

scikit-learn visits features in random order, so that its ties fall anyhow: where it chose another
split, both must gain the same within 1e-10, and what is below is not compared.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.fitting import Setting, fit
from tests.naive import Naive, Node, Split, breadth_first
from vtree.criteria import REGRESSION
from vtree.targets import Targets
from vtree.tree import Tree

Data = tuple[NDArray[np.float64], NDArray[Any]]


def _missing(X: NDArray[np.float64], share: float, seed: int) -> NDArray[np.float64]:
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def _numbers(n_rows: int, n_classes: int = 2, seed: int = 0, ties: bool = True) -> Data:
    """Draw two numbers that matter, one that does not, and a class that follows them roughly."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n_rows, 3))
    score = X[:, 0] + np.abs(X[:, 1]) + draw.normal(scale=0.3, size=n_rows)
    cuts = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    return np.round(X, 1) if ties else X, np.searchsorted(cuts, score)


def _mixed(n_rows: int, levels: tuple[int, ...], n_classes: int = 2, seed: int = 0) -> Data:
    """Draw a number and categories, −1 and their counts of levels as `levels` says."""
    draw = np.random.default_rng(seed)
    columns = [
        np.round(draw.normal(size=n_rows), 1) if n < 0 else draw.integers(0, n, n_rows)
        for n in levels
    ]
    X = np.stack(columns, axis=1).astype(np.float64)
    score = sum(np.sin(3.0 * (i + 1) * column) for i, column in enumerate(X.T))
    score = score + draw.normal(scale=0.4, size=n_rows)
    cuts = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    return X, np.searchsorted(cuts, score)


def _counts(data: Data, seed: int = 0) -> Data:
    """Exchange classes for whole numbers that grow with them."""
    X, y = data
    return X, y * 2 + np.random.default_rng(seed).integers(0, 3, y.size)


def _two_outputs(data: Data, seed: int = 0) -> Data:
    X, y = data
    return X, np.stack([y, np.random.default_rng(seed).permutation(y)], axis=1)


@dataclass(frozen=True)
class Table:
    data: Data
    setting: Setting
    weighted: bool = False

    @property
    def weight(self) -> NDArray[np.int64]:
        n_rows = len(self.data[0])
        drawn = np.random.default_rng(n_rows).integers(1, 6, n_rows)
        return drawn if self.weighted else np.ones(n_rows, dtype=np.int64)


LEVELS = (-1, 3, 5)
WITH_MISSING = (_missing(_numbers(60, 3, 5)[0], 0.2, 1), _numbers(60, 3, 5)[1])
MIXED_MISSING = (_missing(_mixed(60, LEVELS, 2, 3)[0], 0.15, 2), _mixed(60, LEVELS, 2, 3)[1])
MIXED_THREE = (_missing(_mixed(50, LEVELS, 3, 8)[0], 0.15, 4), _mixed(50, LEVELS, 3, 8)[1])
DUPLICATES = (np.repeat(_numbers(60)[0][:, :1], 3, axis=1), _numbers(60)[1])

TABLES = {
    "gini": Table(_numbers(80), Setting("gini")),
    "entropy of 3 classes": Table(_numbers(60, 3), Setting("entropy")),
    "twoing of 4 classes": Table(_numbers(60, 4, 2), Setting("twoing")),
    "weights": Table(_numbers(60, 3, 3), Setting("gini", min_weight=6.5), weighted=True),
    "duplicate columns": Table(DUPLICATES, Setting("gini")),
    "missing": Table(WITH_MISSING, Setting("gini")),
    "missing, twoing": Table(WITH_MISSING, Setting("twoing", min_rows=3)),
    "missing, weighted entropy": Table(WITH_MISSING, Setting("entropy"), weighted=True),
    "limits": Table(_numbers(80, 3, 4), Setting("gini", max_depth=4, min_rows_split=9, min_rows=3)),
    "classes, two outputs": Table(_two_outputs(_numbers(50, 3)), Setting("gini")),
    "levels of 2 classes": Table(MIXED_MISSING, Setting("gini", levels=LEVELS)),
    "levels, entropy": Table(MIXED_MISSING, Setting("entropy", levels=LEVELS), weighted=True),
    "levels of 3 classes": Table(MIXED_THREE, Setting("gini", levels=LEVELS)),
    "levels, two outputs": Table(_two_outputs(MIXED_MISSING), Setting("gini", levels=LEVELS)),
    "many levels": Table(_mixed(60, (14, -1), 3, 6), Setting("gini", levels=(14, -1))),
    "few and many levels": Table(_mixed(60, (14, 4), 3, 6), Setting("gini", levels=(14, 4))),
    "squared error": Table(_counts(_numbers(60, 4, 7)), Setting("squared_error")),
    "reals, missing": Table(_counts(WITH_MISSING), Setting("squared_error"), weighted=True),
    "reals, levels": Table(_counts(MIXED_MISSING), Setting("squared_error", levels=LEVELS)),
    "reals, two outputs": Table(_two_outputs(_counts(_numbers(50))), Setting("squared_error")),
    "poisson": Table(_counts(_numbers(60, 3, 8)), Setting("poisson")),
    "poisson, missing": Table(_counts(WITH_MISSING), Setting("poisson", min_rows=2), weighted=True),
    "rising": Table(_counts(_numbers(60, 4, 9)), Setting("squared_error", monotone=(1, 0, -1))),
    "rising, classes": Table(_numbers(60, 2, 9), Setting("gini", monotone=(1, -1, 0))),
    "best first": Table(_counts(_numbers(60, 4, 5)), Setting("squared_error", max_leaves=7)),
    "best first, levels": Table(MIXED_THREE, Setting("gini", levels=LEVELS, max_leaves=6)),
}


def _statistics(targets: Targets, rows: tuple[int, ...]) -> NDArray[np.float64]:
    """Return what the engine adds up for these rows, (S, 1)."""
    weight = np.ones(len(targets.identity)) if targets.weight is None else targets.weight
    total = np.zeros(targets.layout.n_statistics)
    total[0] = len(rows)
    for row in rows:
        if targets.weight is not None:
            total[1] += weight[row]
        total[targets.label[row]] += weight[row]
        total[total.size - targets.sums.shape[1] :] += targets.sums[row]
    return total[:, None]


def _oracle(table: Table) -> Naive:
    X, y = table.data
    setting = table.setting
    targets = setting.targets(y, table.weight if table.weighted else None)
    gain = setting.rule.gain
    assert gain is not None

    def pick(splits: list[Split]) -> int:
        gains = []
        for split in splits:
            left, right = _statistics(targets, split.left), _statistics(targets, split.right)
            gains.append(float(gain(left, right, targets.layout)[0]))
        return gains.index(max(gains))

    return Naive(
        X,
        y.reshape(len(y), -1),
        setting.criterion,
        setting.levels or (-1,) * X.shape[1],
        table.weight,
        max_depth=setting.max_depth,
        min_rows_split=setting.min_rows_split,
        min_rows=setting.min_rows,
        min_weight=setting.min_weight,
        max_leaves=setting.max_leaves,
        monotone=setting.monotone,
        pick=pick,
    )


def _assert_same_split(tree: Tree, m: int, node: Node, oracle: Naive) -> None:
    split = node.split
    if split is None:
        assert tree.feature[m] == -1, f"node {m} is a leaf"
        return
    assert tree.feature[m] == split.feature, f"node {m}: {split}"
    assert tree.missing_child[m] == node.missing_child
    gain = tree.gain[m] * oracle.weight.sum()
    assert gain == pytest.approx(float(split.gain), rel=1e-9, abs=1e-9)
    if split.threshold is not None:
        assert tree.threshold[m] == split.threshold
        return
    n_levels = oracle.levels[split.feature]
    present = set(oracle.X[list(node.rows), split.feature].tolist())
    sides = [
        (0 if level in split.levels else 1) if level in present else node.missing_child
        for level in range(n_levels)
    ]
    start = tree.map_offset[m]
    branch_map = tree.branch_map[start : start + n_levels + 1]
    assert branch_map.tolist() == [node.missing_child, *sides]


@pytest.mark.parametrize("name", TABLES)
def test_every_node_is_the_oracles(name: str) -> None:
    table = TABLES[name]
    tree = fit(*table.data, table.setting, table.weight if table.weighted else None)
    oracle = _oracle(table)
    nodes = breadth_first(oracle.grow())
    assert len(nodes) > 5
    assert tree.feature.size == len(nodes)
    for m, node in enumerate(nodes):
        _assert_same_split(tree, m, node, oracle)
        assert tree.n_rows[m] == len(node.rows)
        assert tree.weight[m] == node.weight
        assert tree.value[m].tolist() == pytest.approx(node.value, rel=1e-12, abs=1e-15)
        assert tree.impurity[m] == pytest.approx(node.impurity, rel=1e-9, abs=1e-12)


def _walk(ours: Tree, theirs: Any, *, gaps: bool) -> int:
    """Compare split by split from the root and return how many agreed.

    gaps: whether values are missing. Where none are, they go with more weight here, and with more
    rows in scikit-learn.
    """
    same, pairs = 0, [(0, 0)]
    for m, k in pairs:
        assert ours.n_rows[m] == theirs.n_node_samples[k]
        np.testing.assert_allclose(ours.value[m], theirs.value[k].reshape(-1), rtol=1e-9)
        assert ours.impurity[m] == pytest.approx(theirs.impurity[k], rel=1e-7, abs=1e-9)
        first, left = ours.first_child[m], theirs.children_left[k]
        assert (first < 0) == (left < 0), f"only one of nodes {m} and {k} is a leaf"
        if first < 0:
            continue
        right = theirs.children_right[k]
        children = [theirs.impurity[c] * theirs.weighted_n_node_samples[c] for c in (left, right)]
        gain = theirs.impurity[k] * theirs.weighted_n_node_samples[k] - sum(children)
        gain /= theirs.weighted_n_node_samples[0]
        assert ours.gain[m] == pytest.approx(gain, rel=1e-10, abs=1e-10)
        if ours.feature[m] != theirs.feature[k] or ours.threshold[m] != theirs.threshold[k]:
            continue  # a tie
        weight = theirs.weighted_n_node_samples
        goes_left = theirs.missing_go_to_left[k] if gaps else weight[left] > weight[right]
        if (ours.missing_child[m] == 0) != bool(goes_left):
            assert gaps
            continue  # a tie too
        same += 1
        pairs += [(first, left), (first + 1, right)]
    return same


PEERS = {
    name: table
    for name, table in TABLES.items()
    if table.setting.levels is None
    and table.setting.criterion != "twoing"
    and table.setting.max_leaves is None
    and name != "duplicate columns"  # all of whose splits are ties
    and not (table.setting.monotone and table.setting.criterion == "gini")
}


def _peer(table: Table) -> Any:
    setting = table.setting
    estimator = DecisionTreeRegressor if setting.criterion in REGRESSION else DecisionTreeClassifier
    X, y = table.data
    peer = estimator(
        criterion=setting.criterion,
        max_depth=setting.max_depth,
        min_samples_split=setting.min_rows_split,
        min_samples_leaf=setting.min_rows,
        min_weight_fraction_leaf=setting.min_weight / table.weight.sum(),
        monotonic_cst=setting.monotone,
        random_state=0,
    )
    return peer.fit(X, y, sample_weight=table.weight).tree_


def _large(table: Table) -> Table:
    """Ask the same of a table without ties, in float32, which is what scikit-learn reads."""
    y = table.data[1]
    X, codes = _numbers(1500, 3, seed=11, ties=False)
    X = X.astype(np.float32).astype(np.float64)
    if np.isnan(table.data[0]).any():
        X = _missing(X, 0.2, seed=12)
    if table.setting.criterion in REGRESSION:
        codes = _counts((X, codes))[1]
    data = _two_outputs((X, codes)) if y.ndim == 2 else (X, codes)
    return replace(table, data=data, setting=replace(table.setting, max_depth=9))


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("name", PEERS)
def test_scikit_learn_agrees_up_to_ties(name: str, size: str) -> None:
    table = PEERS[name] if size == "small" else _large(PEERS[name])
    X, y = table.data
    X = X.astype(np.float32).astype(np.float64)
    table = replace(table, data=(X, y))
    tree = fit(X, y, table.setting, table.weight if table.weighted else None)
    same = _walk(tree, _peer(table), gaps=bool(np.isnan(X).any()))
    assert same >= (20 if size == "large" else 1)
