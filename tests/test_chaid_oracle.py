"""Whole CHAID trees beside those of a plain recursion over the oracle of one predictor."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.chaid.oracle import Case, judge
from vtree import CHAIDClassifier, CHAIDRegressor

Table = NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """The estimators' parameters, and the kinds of the columns."""

    kinds: list[str]
    numeric: bool
    parameters: dict[str, Any]

    def model(self) -> Any:
        own = dict(self.parameters)
        if self.numeric:
            own.pop("statistic")
        nominal = [kind == "nominal" for kind in self.kinds]
        own["categorical_features"], own["ordinal_features"] = nominal, [not k for k in nominal]
        return (CHAIDRegressor if self.numeric else CHAIDClassifier)(**own)

    def case(self, kind: str, rows: list[Any], least: float) -> Case:
        own = self.parameters
        return Case(
            tuple(rows),
            kind,
            "f_test" if self.numeric else own["statistic"],
            own["alpha_merge"],
            own["alpha_resplit"],
            own["exhaustive"],
            own["small_groups"] == "first",
            own["missing"] == "late",
            least,
        )


def _best(X: Table, y: Any, how: Settings) -> tuple[float, int, list[NDArray[np.bool_]]]:
    """Return (adjusted p, predictor, rows of each group) of the most significant predictor."""
    own = how.parameters
    least = min(math.ceil(own["min_leaf_share"] * len(y)), own["min_samples_leaf"])
    found: list[tuple[float, int, list[NDArray[np.bool_]]]] = []
    for feature, kind in enumerate(how.kinds):
        column = X[:, feature]
        masks = [column == level for level in np.unique(column[~np.isnan(column)])]
        if np.isnan(column).any():
            kind = "floating" if kind == "ordinal" and masks else kind
            masks.append(np.isnan(column))
        if len(masks) < 2:
            continue
        rows = [y[m] if how.numeric else np.bincount(y[m], minlength=4) for m in masks]
        groups, p = judge(how.case(kind, rows, least))
        found.append((p, feature, [np.any([masks[v] for v in group], axis=0) for group in groups]))
    return min(found, key=lambda each: each[0], default=(1.0, 0, []))


def _sizes(X: Table, y: Any, how: Settings) -> list[tuple[int, int]]:
    """Return (rows, predictor or −1) of each node, breadth first."""
    own, nodes = how.parameters, []
    level = [(X, y)]
    for depth in range(99):
        below = []
        for part, target in level:
            p, feature = 1.0, -1
            groups: list[NDArray[np.bool_]] = []
            deep = own["max_depth"] is not None and depth >= own["max_depth"]
            if not deep and len(target) >= own["min_samples_split"] and np.unique(target).size > 1:
                p, feature, groups = _best(part, target, how)
            split = p <= own["alpha_split"] and len(groups) > 1
            nodes.append((len(target), feature if split else -1))
            below += [(part[rows], target[rows]) for rows in groups if split]
        level = below
    return nodes


def _drawn(seed: int) -> tuple[Table, Any, Settings]:
    random = np.random.default_rng(seed)
    n_rows, n_features = int(random.integers(40, 400)), int(random.integers(1, 4))
    classes, numeric = int(random.integers(2, 5)), bool(random.random() < 0.3)
    X = random.integers(0, random.integers(2, 8, n_features), (n_rows, n_features)).astype(float)
    effect = random.normal(size=(n_features, 8))
    score = effect[np.arange(n_features), X.astype(int)].sum(axis=1) + random.normal(size=n_rows)
    edges = np.quantile(score, np.linspace(0.0, 1.0, classes + 1)[1:-1])
    if random.random() < 0.5:
        X[random.random(X.shape) < 0.1] = np.nan
    parameters = {
        "max_depth": (None, 1, 3)[random.integers(3)],
        "min_samples_split": int(random.choice([2, 20, 100])),
        "min_samples_leaf": int(random.choice([1, 7, 50])),
        "min_leaf_share": float(random.choice([1.0, 0.01, 0.1])),
        "alpha_merge": float(random.choice([0.05, 0.2])),
        "alpha_split": float(random.choice([0.05, 0.3])),
        "alpha_resplit": (None, None, 0.049)[random.integers(3)],
        "exhaustive": False,
        "statistic": str(random.choice(["pearson", "likelihood_ratio"])),
        "small_groups": str(random.choice(["first", "after"])),
        "missing": str(random.choice(["floating", "late"])),
    }
    if parameters["alpha_resplit"] is None:
        parameters["exhaustive"] = bool(random.random() < 0.4)
    kinds = [str(kind) for kind in random.choice(["nominal", "ordinal"], n_features)]
    y = score.round(2) if numeric else np.digitize(score, edges)
    return X, y, Settings(kinds, numeric, parameters)


@pytest.mark.parametrize("seed", range(24))
def test_the_tree_of_the_oracle(seed: int) -> None:
    X, y, how = _drawn(seed)
    tree = how.model().fit(X, y).grown_
    assert list(zip(tree.n_rows.tolist(), tree.feature.tolist(), strict=True)) == _sizes(X, y, how)
