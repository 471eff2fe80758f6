"""What the header of a model file must say, and what its trees must be for it."""

import reprlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree.interop.tree_checks import fault_of_tree
from vtree.tree import Tree

_MOST_LEVELS = 65_535


def fault_of_model(header: dict[str, Any], tree: Tree) -> str | None:
    """Say what is wrong with a decoded header or its trees, or None."""
    fault = fault_of_header(header)
    if fault is not None:
        return fault
    fault = fault_of_tree(tree, n_levels_of(header))
    return None if fault is None else f"of its tree, {fault}"


def fault_of_header(header: dict[str, Any]) -> str | None:
    """Say what is wrong with a decoded header, or None."""
    fault = next((rule for holds, rule in _header_rules(header) if not holds), None)
    return None if fault is None else f"in the header, {fault}"


def n_levels_of(header: Mapping[str, Any]) -> NDArray[np.int64]:
    """Return the levels of each feature that trees may split by, −1 for numeric ones.

    (F,), or (T, F) of trees that have their own.
    """
    of_trees = header.get("edges_of_trees")
    if of_trees is not None:
        return np.stack([_n_codes(header["levels"], edges) for edges in of_trees])
    n_levels = _n_codes(header["levels"], header.get("edges"))
    return np.append(n_levels, np.full(header.get("n_derived", 0), -1))


def _n_codes(levels: Any, edges: Any) -> NDArray[np.int64]:
    n_levels = [-1 if each is None else each.size for each in levels]
    for feature, own in enumerate(edges or ()):
        if own is not None:  # a tree that splits bins of numbers like categories
            n_levels[feature] = own.size + 1
    return np.array(n_levels, dtype=np.int64)


def _header_rules(header: dict[str, Any]) -> Iterator[tuple[bool, str]]:
    """Yield what must hold, one after another: a rule may rely on those before it."""
    width = header.get("n_features")
    yield _is_count(width), f"n_features is an int of 1 or more, not {reprlib.repr(width)}"
    levels = header.get("levels")
    yield _is_row(levels, width), f"levels is a list of n_features = {reprlib.repr(width)} entries"
    yield (
        all(each is None or _is_labels(each, 0, _MOST_LEVELS) for each in levels or ()),
        f"levels are None or a 1-D array of at most {_MOST_LEVELS:,} labels",
    )
    derived = header.get("n_derived", 0)
    yield (
        type(derived) is int and 0 <= derived <= _MOST_LEVELS,
        f"n_derived is an int from 0 to {_MOST_LEVELS:,}, not {reprlib.repr(derived)}",
    )
    edges = header.get("edges")
    yield (
        edges is None or (_is_row(edges, width) and all(map(_are_edges, edges, levels or ()))),
        f"edges is None or has None or ascending numbers for {reprlib.repr(width)} features",
    )
    of_trees = header.get("edges_of_trees")
    rows = () if of_trees is None else of_trees
    yield (
        isinstance(rows, list | tuple)
        and (of_trees is None or len(rows) > 0)
        and all(_is_row(row, width) and all(map(_are_edges, row, levels or ())) for row in rows),
        "edges_of_trees is None or has edges for each tree",
    )
    names = header.get("feature_names")
    yield (
        names is None or (_is_row(names, width) and all(isinstance(name, str) for name in names)),
        f"feature_names is None or {reprlib.repr(width)} strings",
    )
    outputs = header.get("n_outputs", 1)
    yield _is_count(outputs), f"n_outputs is an int of 1 or more, not {reprlib.repr(outputs)}"
    classes = header.get("classes")
    rows = (classes,) if classes is None or isinstance(classes, np.ndarray) else classes
    yield (
        classes is None
        or (_is_row(rows, outputs) and all(_is_labels(row, 1, 1 << 31) for row in rows)),
        "classes is None or has an array of labels for each of n_outputs",
    )
    yield isinstance(header.get("estimator", ""), str), "estimator is a string"
    parameters = header.get("parameters", {})
    yield (
        isinstance(parameters, dict) and all(isinstance(name, str) for name in parameters),
        "parameters is a dict of names and values",
    )


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value < 1 << 31


def _is_row(value: Any, length: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == length


def _are_edges(edges: Any, levels: Any) -> bool:
    """Tell whether `edges` may belong to a feature with these levels."""
    if edges is None:
        return True
    if levels is not None or not _is_labels(edges, 0, _MOST_LEVELS - 1):
        return False
    # Minus infinity stands between itself and all other numbers.
    is_real = edges.dtype == np.float64 and not np.isnan(edges).any()
    return bool(is_real and (edges[1:] > edges[:-1]).all())


def _is_labels(value: Any, least: int, most: int) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and least <= value.size <= most
