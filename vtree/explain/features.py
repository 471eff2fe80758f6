"""What a tree's features are called, and their levels: columns of the table, or made of them."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray


def feature_name(model: Any, feature: int) -> str:
    """Return the name of a feature that a node of a fitted model splits on."""
    names = getattr(model, "feature_names_in_", None)
    if feature >= model.n_features_in_:
        return str(model.derived_names_[feature - model.n_features_in_])
    return f"feature {feature}" if names is None else str(names[feature])


def feature_levels(model: Any, feature: int) -> NDArray[Any] | None:
    """Return the levels of a feature, None of one that holds numbers."""
    if feature >= model.n_features_in_:
        return None
    levels: NDArray[Any] | None = model.schema_.levels[feature]
    return levels
