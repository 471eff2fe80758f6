"""Squared error, (raw − y)² / 2."""

from __future__ import annotations

from typing import Any

from vtree.losses.exact import exact_mean


def terms(raw: Any, y: Any) -> Any:
    """Return the derivatives raw − y and 1 of (raw − y)² / 2, and it."""
    difference = raw - y
    return difference, 1.0, 0.5 * difference * difference


def start(y: Any, weight: Any, numbers: tuple[float, ...]) -> float:
    """Return the mean."""
    return exact_mean(y, weight)
