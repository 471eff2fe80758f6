"""A tree as a picture: leaves side by side, each node above the middle of its children."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.costs import cheapest_class
from vtree.errors import InputError, NotAvailableError
from vtree.explain.features import check_model, feature_levels, feature_name, named, on_one_line
from vtree.explain.intervals import interval_ends, with_own_bins
from vtree.explain.words import number_text, surrogate_conditions
from vtree.tree import THRESHOLD, Tree, collapse, depth, levels, one_tree

# Wider pictures are cut at a lower depth: no screen shows them, and no image holds them.
MOST_LEAVES = 64

_FORMS = ("png", "svg", "pdf", "jpg", "jpeg")

_WIDTH, _HEIGHT = 1.7, 1.15  # inches that a leaf takes, and a level
_DPI = 120
_LONGEST = 26  # characters of a line in a box
_LEVELS_NAMED = 3  # categories named in a box before the rest is counted
_SURROGATES_NAMED = 2


class Layout(NamedTuple):
    """Where the nodes of a picture stand; one unit is a leaf's width and a level's height."""

    x: NDArray[np.float64]  # (M,)
    y: NDArray[np.float64]  # (M,) 0 at the root, then downwards 1, 2, …


def draw_tree(
    model: Any,
    path: str | os.PathLike[str],
    *,
    max_depth: int | None = None,
    number: int = 0,
    feature_names: Any = None,
    class_names: Any = None,
) -> int:
    """Draw a fitted tree to a file: PNG, or what the path ends in.

    A left branch is "yes" to the condition in the box above it; "…" stands for splits that are not
    drawn. Behind "or" stand the first surrogates, which a row is asked where the value is missing.
    Which branch missing values take at last is not shown: `vtree.export_text` tells.

    Parameters
    ----------
    model : a fitted tree estimator
    path : path of the file; .png, .svg, .pdf, .jpg or .jpeg, PNG without an ending
    max_depth : levels to draw; None for as many as have at most 64 leaves
    number : which tree of a model of many, from 0
    feature_names : F names in place of those of the training table; None for these
    class_names : K names in place of the classes, in the order of `classes_`; None for these

    Returns
    -------
    int
        How many levels below the root are drawn.

    Raises
    ------
    InputError
        `max_depth` levels have more than 64 leaves, there is no tree of that number, the path has
        another ending, or there is another number of names.
    InputTypeError
        The model is another library's.
    NotAvailableError
        matplotlib is not installed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from vtree import DecisionTreeClassifier, draw_tree
    >>> model = DecisionTreeClassifier(max_depth=2).fit(*load_iris(return_X_y=True))
    >>> with TemporaryDirectory() as folder:
    ...     draw_tree(model, Path(folder) / "iris.png")
    2
    """
    check_model(model, "draw_tree", max_depth=max_depth)
    model = named(model, feature_names, class_names)
    form = _form(path)
    n_trees = model.grown_.root.size
    if not 0 <= number < n_trees:
        raise InputError(f"number={number}: the model's {n_trees} trees are 0 … {n_trees - 1}")
    if (member := with_own_bins(model, number)) is not None:
        model, number = member, 0
    tree = one_tree(model.grown_, number)
    shown = _levels_to_draw(tree, max_depth)
    drawn = collapse(tree, (tree.first_child >= 0) & (depth(tree) < shown))
    # Breadth first, so the nodes that are drawn keep their numbers.
    is_cut = (drawn.first_child < 0) & (tree.first_child[: drawn.first_child.size] >= 0)
    boxes = [_lines(model, drawn, node) for node in range(is_cut.size)]
    for node in np.flatnonzero(is_cut).tolist():
        boxes[node].append("…")
    figure = _figure(model, drawn, lay_out(drawn), boxes)
    figure.savefig(path, dpi=_DPI, format=form)
    return shown


def _form(path: str | os.PathLike[str]) -> str:
    """Return the format of a picture by the ending of its path."""
    form = Path(path).suffix.lower().removeprefix(".") or _FORMS[0]
    if form not in _FORMS:
        raise InputError(
            f"path: {str(path)!r} ends in .{form}, but a picture's must be one of "
            f"{', '.join('.' + each for each in _FORMS)}"
        )
    return form


def lay_out(tree: Tree) -> Layout:
    """Place the nodes of one tree: leaves at 0, 1, 2, … from left to right.

    Nodes are numbered breadth first, so widths come from a sweep upwards, places from one
    downwards.
    """
    n_nodes = tree.feature.size
    width = np.ones(n_nodes, dtype=np.int64)  # leaves below, itself included
    left = np.zeros(n_nodes, dtype=np.int64)  # leaves to the left of all of them
    x = np.zeros(n_nodes)
    internal: NDArray[np.int64] = np.flatnonzero(tree.first_child >= 0)
    for node in internal[::-1].tolist():
        width[node] = width[_children(tree, node)].sum()
    for node in internal.tolist():
        below = _children(tree, node)
        left[below] = left[node] + np.cumsum(width[below]) - width[below]
    x[:] = left
    for node in internal[::-1].tolist():
        below = _children(tree, node)
        x[node] = (x[below[0]] + x[below[-1]]) / 2
    return Layout(x, depth(tree).astype(np.float64))


def _children(tree: Tree, node: int) -> NDArray[np.int64]:
    first = int(tree.first_child[node])
    return np.arange(first, first + int(tree.n_children[node]))


def _levels_to_draw(tree: Tree, max_depth: int | None) -> int:
    """Return the deepest level that is drawn."""
    by_level = levels(tree.first_child, tree.n_children, tree.root)
    deepest = len(by_level) - 1
    is_leaf = [int((tree.first_child[nodes] < 0).sum()) for nodes in by_level]
    # Leaves of the tree cut at each level: those above it, and all nodes on it.
    ends = [sum(is_leaf[:level]) + by_level[level].size for level in range(deepest + 1)]
    fitting = max(level for level in range(deepest + 1) if level == 0 or ends[level] <= MOST_LEAVES)
    if max_depth is None:
        return fitting
    if min(max_depth, deepest) > fitting:
        raise InputError(
            f"max_depth: {max_depth} levels of this tree have {ends[min(max_depth, deepest)]:,} "
            f"leaves, and a picture holds {MOST_LEAVES}. Draw at most {fitting} levels."
        )
    return min(max_depth, deepest)


def matplotlib_figure(width: float, height: float) -> Any:
    """Return an empty figure of so many inches.

    Raises
    ------
    NotAvailableError
        matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise NotAvailableError(
            f"Drawing needs matplotlib: pip install 'vtree[plot]' ({error})"
        ) from error
    # Figure without pyplot: no window system, and no state is left behind.
    return Figure(figsize=(width, height))


def _figure(model: Any, tree: Tree, layout: Layout, boxes: list[list[str]]) -> Any:
    columns, rows = layout.x.max() + 1, layout.y.max() + 1
    figure = matplotlib_figure(max(2, columns) * _WIDTH, max(1.5, rows) * _HEIGHT)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(min(-0.5, columns / 2 - 1.5), max(columns - 0.5, columns / 2 + 0.5))
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_axis_off()
    _draw_edges(axes, model, tree, layout)
    colours = _colours(model, tree)
    for node, lines in enumerate(boxes):
        axes.text(
            layout.x[node],
            layout.y[node],
            "\n".join(lines),
            ha="center",
            va="center",
            fontsize=8,
            linespacing=1.3,
            zorder=3,
            bbox={
                "boxstyle": "round,pad=0.45,rounding_size=0.25",
                "facecolor": colours[node],
                "edgecolor": "#555555",
                "linewidth": 0.8,
            },
        )
    return figure


def _draw_edges(axes: Any, model: Any, tree: Tree, layout: Layout) -> None:
    for node in np.flatnonzero(tree.first_child >= 0).tolist():
        below = _children(tree, node)
        words = _edge_words(model, tree, node)
        for child, word in zip(below.tolist(), words, strict=True):
            ends = layout.x[[node, child]], layout.y[[node, child]]
            axes.plot(*ends, color="#888888", linewidth=1.0, zorder=1)
            middle = [end.mean() for end in ends]
            axes.text(
                *middle,
                word,
                ha="center",
                va="center",
                fontsize=7,
                color="#555555",
                zorder=2,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
            )


def _lines(model: Any, tree: Tree, node: int) -> list[str]:
    """Return what stands in a node's box."""
    rows = f"{int(tree.n_rows[node]):,} row{'' if tree.n_rows[node] == 1 else 's'}"
    answer = _answer(model, tree, node)
    if tree.first_child[node] < 0:
        return [answer, rows]
    instead = [f"or {text}" for text in surrogate_conditions(model, node, 2)]
    shown = [_short(text.replace(" <= ", " ≤ "), _LONGEST) for text in instead[:_SURROGATES_NAMED]]
    if len(instead) > len(shown):
        shown[-1] += " …"
    return [_condition(model, tree, node), *shown, answer, rows]


def _condition(model: Any, tree: Tree, node: int) -> str:
    feature = int(tree.feature[node])
    name = feature_name(model, feature)
    if tree.kind[node] == THRESHOLD:
        threshold = float(tree.threshold[node])
        if np.isposinf(threshold):
            return f"{_short(name, _LONGEST - 11)} is present"
        return f"{_short(name, _LONGEST - 9)} ≤ {_number(threshold)}"
    if tree.n_children[node] > 2:
        return _short(name, _LONGEST)
    chosen = _branch_levels(model, tree, node, 0)
    if feature_levels(model, feature) is None:
        return f"{_short(name, _LONGEST)}\n{chosen}"
    gap = " " if len(name) + len(chosen) < _LONGEST else "\n"
    return f"{_short(name, _LONGEST)}{gap}in {chosen}"


def _edge_words(model: Any, tree: Tree, node: int) -> list[str]:
    if tree.n_children[node] == 2:
        return ["yes", "no"]
    return [_branch_levels(model, tree, node, child) for child in range(tree.n_children[node])]


def _branch_levels(model: Any, tree: Tree, node: int, child: int) -> str:
    """Name the categories of a branch, as many as there is room for."""
    names = feature_levels(model, int(tree.feature[node]))
    if names is None:
        return _interval(interval_ends(model, tree, node)[child])
    start = int(tree.map_offset[node]) + 1  # the first code of a branch map is "missing"
    chosen = names[tree.branch_map[start : start + names.size] == child]
    if chosen.size == 0:
        return "missing"
    shown = [_short(str(name), 12) for name in chosen[:_LEVELS_NAMED]]
    if chosen.size > _LEVELS_NAMED:
        shown.append(f"{chosen.size - _LEVELS_NAMED} more")
    return ", ".join(shown)


def _interval(ends: tuple[float, float] | None) -> str:
    if ends is None:
        return "missing"
    above, up_to = ends
    if above == -np.inf:
        return "any" if up_to == np.inf else f"≤ {_number(up_to)}"
    if up_to == np.inf:
        return f"> {_number(above)}"
    return f"{_number(above)} … {_number(up_to)}"


def _number(value: float) -> str:
    # Four digits would make 2020 of 2019.5, and one of all dates that are written as numbers.
    return number_text(value, 1) if abs(value) >= 1000 else f"{value:.4g}"


def _short(text: str, length: int) -> str:
    # A dollar sign would start mathematics.
    text = on_one_line(text)
    text = text if len(text) <= length else text[: length - 1] + "…"
    return text.replace("$", r"\$")


def _answer(model: Any, tree: Tree, node: int) -> str:
    classes: Any = getattr(model, "classes_", None)
    value = tree.value[node]
    if _adds_up(model):
        return ", ".join(f"{number:.4g}" for number in value[:3])
    if isinstance(classes, list):
        shares = value.reshape(len(classes), -1)
        chosen = [str(own[np.argmax(share)]) for own, share in zip(classes, shares, strict=True)]
        return _short(", ".join(chosen), _LONGEST)
    best = int(cheapest_class(value[None], getattr(model, "costs_", None))[0])
    return f"{_short(str(classes[best]), _LONGEST - 5)} {value[best]:.0%}"


def _adds_up(model: Any) -> bool:
    """Tell whether leaves hold numbers to add up, of which no class can be read off."""
    return not hasattr(model, "classes_") or hasattr(model, "start_")


def _colours(model: Any, tree: Tree) -> list[Any]:
    """Return a colour for each node: by class and its share, or by the value."""
    from matplotlib import colormaps

    first = tree.value[:, 0]
    classes: Any = getattr(model, "classes_", None)
    if _adds_up(model):
        span = float(np.ptp(first)) or 1.0
        return [colormaps["YlOrBr"](0.05 + 0.5 * share) for share in (first - first.min()) / span]
    n_classes = len(classes[0]) if isinstance(classes, list) else len(classes)
    shares = tree.value[:, :n_classes]
    best = cheapest_class(shares, getattr(model, "costs_", None))
    least = 1.0 / n_classes
    own = np.take_along_axis(shares, best[:, None], axis=1)[:, 0]
    purity = np.maximum(0.0, own - least) / (1.0 - least) if n_classes > 1 else np.ones(best.size)
    palette = np.asarray([colormaps["Set2"](number)[:3] for number in range(8)])[best % 8]
    strength = (0.15 + 0.75 * purity)[:, np.newaxis]
    return list(1.0 - strength * (1.0 - palette))
