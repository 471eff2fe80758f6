"""A tree in DOT, the language of Graphviz."""

from __future__ import annotations

from typing import Any

from vtree.errors import InputTypeError
from vtree.explain.features import check_model, feature_name, named
from vtree.explain.text import answer, chosen_tree, conditions
from vtree.tree import depth

_ESCAPED = {ord("\\"): "\\\\", ord('"'): '\\"', ord("\n"): "\\n"}


def export_graphviz(
    model: Any,
    *,
    max_depth: int | None = None,
    decimals: int = 2,
    number: int = 0,
    feature_names: Any = None,
    class_names: Any = None,
) -> str:
    """Return a fitted tree as a graph in DOT, which Graphviz and many editors draw.

    A split bears the name of its feature, each arrow what rows take it, and a leaf what it
    predicts, as in `export_text`. Names may hold any characters.

    Parameters
    ----------
    model : a fitted tree estimator, or one of many trees
    max_depth : levels to show; None for all
    decimals : of thresholds and values; below a tenth, significant digits
    number : which tree of a model of many, from 0
    feature_names : F names in place of those of the training table; None for these
    class_names : K names in place of the classes, in the order of `classes_`; None for these

    Raises
    ------
    InputError
        There is no tree of that number; another number of names.
    InputTypeError
        The model is a list of rules, which has no tree, or another library's.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vtree import DecisionTreeClassifier, export_graphviz
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(export_graphviz(DecisionTreeClassifier(max_depth=1).fit(X, y)))
    digraph tree {
        node [shape=box, style=rounded]
        0 [label="petal length (cm)"]
        0 -> 1 [label="petal length (cm) <= 2.45"]
        0 -> 2 [label="petal length (cm) >  2.45 or missing"]
        1 [label="class 0 (50 of 50 rows)"]
        2 [label="class 1 (50 of 100 rows)"]
    }
    """
    check_model(model, "export_graphviz", max_depth=max_depth, decimals=decimals)
    model = named(model, feature_names, class_names)
    if hasattr(model, "rule_list_"):
        raise InputTypeError("model is a list of rules, no tree; see export_text")
    model, tree, root = chosen_tree(model, number)
    depths = depth(tree)
    lines = ["digraph tree {", "    node [shape=box, style=rounded]"]
    waiting = [root]  # the next one last
    while waiting:
        node = waiting.pop()
        first = int(tree.first_child[node])
        if first < 0 or (max_depth is not None and depths[node] >= max_depth):
            more = "" if first < 0 else "\nfurther splits not shown"
            lines.append(
                f"    {node} [label={_quoted(answer(model, tree, node, decimals) + more)}]"
            )
            continue
        lines.append(f"    {node} [label={_quoted(feature_name(model, int(tree.feature[node])))}]")
        branches = conditions(model, tree, node, decimals)
        lines += [f"    {node} -> {first + c} [label={_quoted(text)}]" for c, text in branches]
        waiting.extend(first + child for child, _ in reversed(branches))
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPED)}"'
