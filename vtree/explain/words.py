"""Numbers, levels and surrogates in words, for texts and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree.explain.features import feature_levels, feature_name

MOST_LEVELS = 8  # category names written out per branch before the rest is counted


def number_text(value: float, decimals: int) -> str:
    """Write a number with `decimals`, or below a tenth with as many significant digits.

    >>> number_text(2.4512, 2), number_text(0.01512, 2), number_text(0.0004321, 2)
    ('2.45', '0.015', '0.00043')
    """
    is_small = value != 0.0 and abs(value) < (0.1 if decimals else 0.5)
    if is_small or abs(value) >= 1e15:
        return f"{value:.{max(1, decimals)}g}"
    return f"{value:.{decimals}f}"


def listed(levels: NDArray[Any]) -> str:
    """Write some levels in braces, those in quotes that would read as several or as none.

    >>> listed(np.array(["red", "blue"]))
    '{red, blue}'
    >>> listed(np.array(["Doe, Jane", "Roe", ""]))
    '{"Doe, Jane", Roe, ""}'
    """
    shown = [_quoted_where_needed(str(level)) for level in levels[:MOST_LEVELS]]
    if levels.size > MOST_LEVELS:
        shown.append(f"… {levels.size - MOST_LEVELS} more")
    return "{" + ", ".join(shown) + "}"


def _quoted_where_needed(level: str) -> str:
    is_plain = level and level == level.strip() and not set(level) & set(',{}"')
    return level if is_plain else f'"{level}"'


def surrogate_conditions(model: Any, node: int, decimals: int) -> list[str]:
    """Return what sends a row to the first child where the node's own answer is missing.

    In the order in which they are asked; none for a model without surrogates.
    """
    rules = getattr(model, "surrogates_", None)
    if rules is None:
        return []
    texts = []
    for rule in np.flatnonzero(rules.node == node)[1:].tolist():
        feature = int(rules.feature[rule])
        name, levels = feature_name(model, feature), feature_levels(model, feature)
        if levels is None:
            sign = "<=" if rules.low_child[rule] == 0 else ">"
            texts.append(f"{name} {sign} {number_text(float(rules.threshold[rule]), decimals)}")
        else:
            start = int(rules.map_offset[rule]) + 1
            own = rules.branch_map[start : start + levels.size] == 0
            texts.append(f"{name} in {listed(levels[own])}")
    return texts
