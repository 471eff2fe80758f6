"""A tree as text: one line a branch, nested by indentation."""

from __future__ import annotations

from typing import Any

import numpy as np

from vtree.costs import cheapest_class
from vtree.errors import InputError
from vtree.explain.features import check_model, feature_levels, feature_name, named, on_one_line
from vtree.explain.intervals import interval_ends, with_own_bins
from vtree.explain.words import listed, number_text, surrogate_conditions
from vtree.tree import MULTIWAY, Tree, depth


def export_text(
    model: Any,
    *,
    max_depth: int | None = None,
    decimals: int = 2,
    number: int = 0,
    feature_names: Any = None,
    class_names: Any = None,
) -> str:
    """Return the splits of a fitted tree, indented, with what each leaf predicts.

    Above a split by a test of significance stands its adjusted p-value. Of a list of rules the
    rules are returned, for it answers by these.

    Parameters
    ----------
    model : a fitted tree estimator
    max_depth : levels to show; None for all
    decimals : of thresholds and values; below a tenth, significant digits
    number : which tree of a model of many, from 0; a first line says so
    feature_names : F names in place of those of the training table; None for these
    class_names : K names in place of the classes, in the order of `classes_`; None for these

    Raises
    ------
    InputError
        There is no tree of that number; a depth or a number of decimals below 0; another number of
        names.
    InputTypeError
        The model is another library's.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vtree import DecisionTreeClassifier, export_text
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(export_text(DecisionTreeClassifier(max_depth=1).fit(X, y)))
    petal length (cm) <= 2.45: class 0 (50 of 50 rows)
    petal length (cm) >  2.45 or missing: class 1 (50 of 100 rows)
    """
    check_model(model, "export_text", max_depth=max_depth, decimals=decimals)
    model = named(model, feature_names, class_names)
    if hasattr(model, "rule_list_"):
        return str(model.to_text(decimals=decimals))
    n_trees = model.grown_.root.size
    model, tree, root = chosen_tree(model, number)
    lines = [f"tree {number} of {n_trees}:"] if n_trees > 1 else []
    depths = depth(tree)
    p_values = getattr(model, "p_values_", None)
    waiting = [(root, "")]  # (node, the condition on its branch), the next one last
    while waiting:
        node, condition = waiting.pop()
        level = int(depths[node])
        indent = "|   " * (level - 1)
        cut = max_depth is not None and level >= max_depth
        if tree.first_child[node] < 0 or cut:
            more = "" if tree.first_child[node] < 0 else ", further splits not shown"
            said = on_one_line(f"{condition}{answer(model, tree, node, decimals)}")
            lines.append(f"{indent}{said}{more}")
            continue
        if condition:
            lines.append(f"{indent}{on_one_line(condition.removesuffix(' '))}")
        if p_values is not None:
            inner = indent + "|   " * bool(condition)
            p = p_values[node, tree.feature[node]]
            name = on_one_line(_name(model, tree, node))
            lines.append(f"{inner}{name}: adjusted p = {p:.3g}")
        first = int(tree.first_child[node])
        branches = conditions(model, tree, node, decimals)
        waiting.extend((first + child, text + ": ") for child, text in reversed(branches))
    return "\n".join(lines)


def chosen_tree(model: Any, number: int) -> tuple[Any, Tree, int]:
    """Return (the model a tree belongs to, its trees, the root) of tree `number` of a model.

    A member with bins of its own tells its thresholds itself.
    """
    n_trees = model.grown_.root.size
    if not 0 <= number < n_trees:
        raise InputError(f"number={number}: the model's {n_trees} trees are 0 … {n_trees - 1}")
    if (member := with_own_bins(model, number)) is not None:
        model, number = member, 0
    return model, model.grown_, int(model.grown_.root[number])


def conditions(model: Any, tree: Tree, node: int, decimals: int) -> list[tuple[int, str]]:
    """Return (child, condition) of each branch of a node."""
    feature = int(tree.feature[node])
    name = _name(model, tree, node)
    missing = int(tree.missing_child[node])
    marks = [" or missing" if child == missing else "" for child in range(tree.n_children[node])]
    levels = feature_levels(model, feature)
    if tree.kind[node] == MULTIWAY and levels is None:
        ends = enumerate(interval_ends(model, tree, node))
        return [
            (c, f"{name} is missing" if own is None else _interval(name, *own, decimals) + marks[c])
            for c, own in ends
        ]
    instead = surrogate_conditions(model, node, decimals)
    if instead:
        marks[0] = f" (missing: {', then '.join(instead)}){marks[0]}"
    if levels is None:
        threshold = tree.threshold[node]
        if np.isposinf(threshold):
            return [(0, f"{name} is present"), (1, f"{name} is missing")]
        text = number_text(threshold, decimals)
        return [(0, f"{name} <= {text}{marks[0]}"), (1, f"{name} >  {text}{marks[1]}")]
    offset = int(tree.map_offset[node])
    child_of_level = tree.branch_map[offset + 1 : offset + 1 + levels.size]
    taken = [levels[child_of_level == child] for child in range(len(marks))]
    return [
        (child, f"{name} in {listed(own)}{mark}" if own.size else f"{name} is missing")
        for child, (own, mark) in enumerate(zip(taken, marks, strict=True))
    ]


def _interval(name: str, above: float, up_to: float, decimals: int) -> str:
    if above == -np.inf:
        return (
            f"{name} is present" if up_to == np.inf else f"{name} <= {number_text(up_to, decimals)}"
        )
    if up_to == np.inf:
        return f"{name} >  {number_text(above, decimals)}"
    return f"{number_text(above, decimals)} < {name} <= {number_text(up_to, decimals)}"


def _name(model: Any, tree: Tree, node: int) -> str:
    """Return the name of the feature that a node splits on."""
    return feature_name(model, int(tree.feature[node]))


def answer(model: Any, tree: Tree, node: int, decimals: int) -> str:
    """Return what a node predicts, and on how many rows that rests."""
    n_rows = int(tree.n_rows[node])
    classes = getattr(model, "classes_", None)
    value = tree.value[node]
    rows = "row" if n_rows == 1 else "rows"
    if classes is None or hasattr(model, "start_"):  # boosting adds up scores
        numbers = ", ".join(number_text(float(each), decimals) for each in value)
        return f"{numbers} ({n_rows} {rows})"
    if isinstance(classes, list):
        shares = value.reshape(len(classes), -1)
        chosen = [str(own[np.argmax(share)]) for own, share in zip(classes, shares, strict=True)]
        return f"classes {', '.join(chosen)} ({n_rows} {rows})"
    best = int(cheapest_class(value[None], getattr(model, "costs_", None))[0])
    weight = tree.weight[node]
    own = round(float(value[best]) * n_rows) if weight == n_rows else None
    share = (
        f"{own} of {n_rows} {rows}" if own is not None else f"{value[best]:.0%} of {n_rows} {rows}"
    )
    return f"class {classes[best]} ({share})"
