"""What C4.5 release 8, J48 and Id3 made of small tables, and those tables."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tests.golden_tables import rpart_table

GOLDEN = Path(__file__).with_name("golden")


@cache
def facts() -> Any:
    return json.loads((GOLDEN / "c45_trees.json").read_text())


@cache
def whole_table(name: str) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Return (columns, nominal ones with their declared levels; labels)."""
    schema = facts()["schemas"][name]
    if name in ("iris", "breast_cancer"):
        table, codes = rpart_table(name)
        labels = np.asarray(schema["levels"][schema["target"]])[codes]
    else:
        table = pd.read_csv(GOLDEN / f"{name}.csv", na_values="?", dtype={"windy": str})
        if "count" in table:
            table = table.loc[table.index.repeat(table["count"])].drop(columns="count")
        labels = table.pop(schema["target"]).to_numpy()
    for column, levels in schema["levels"].items():
        if levels is not None and column != schema["target"]:
            table[column] = pd.Categorical(table[column].astype(str), levels)
    return table.reset_index(drop=True), labels


def split_table(key: str) -> tuple[Any, Any, Any, Any]:
    """Return (X, y, X of the test, y of the test) of a key such as "iris.third.m5"."""
    name, part = key.split(".")[:2]
    X, y = whole_table(name)
    held_out = (np.arange(len(y)) % 3 == 2) & (part == "third")
    return X[~held_out], y[~held_out], X[held_out], y[held_out]


def difference(  # noqa: C901  (a list of ways to differ)
    model: Any, golden: Any, errors: NDArray[np.float64] | None = None
) -> str | None:
    """Say where a fitted tree is not the golden one, or None.

    errors: the predicted errors of the nodes, for a pruned tree.
    """
    tree, waiting = model.grown_, [(0, golden)]
    while waiting:
        node, own = waiting.pop()
        order = [list(model.classes_).index(each) for each in golden["classes"]]
        weights = (tree.value[node] * tree.weight[node])[order]
        if not np.allclose(weights, own["dist"], rtol=0, atol=1e-4 * max(1.0, own["n"] / 10)) and (
            own["n"] > 0
        ):
            return f"node {node}: {weights} and not {own['dist']}"
        if errors is not None and abs(errors[node] - own["errors"]) > 1e-4 * max(1, own["errors"]):
            return f"node {node}: {errors[node]} errors and not {own['errors']}"
        first = int(tree.first_child[node])
        if (first >= 0) != ("children" in own):
            return f"node {node} is {'a split' if first >= 0 else 'a leaf'}"
        if first < 0:
            continue
        feature = int(tree.feature[node])
        if model.feature_names_in_[feature] != own["attr"]:
            return f"node {node} asks for {model.feature_names_in_[feature]}, not {own['attr']}"
        if "cut" in own and abs(tree.threshold[node] - own["cut"]) > 1e-5 * abs(own["cut"]):
            return f"node {node} cuts at {tree.threshold[node]}, not {own['cut']}"
        levels = model.schema_.levels[feature]
        for place, below in enumerate(own["children"]):
            child = place
            if levels is not None:
                branch = np.atleast_1d(own["branches"][place])
                start = int(tree.map_offset[node]) + 1
                children = tree.branch_map[start : start + len(levels)][np.isin(levels, branch)]
                if len(set(children)) != 1:
                    return f"node {node} sends {branch} to {children}"
                child = int(children[0])
            waiting.append((first + child, below))
    return None
