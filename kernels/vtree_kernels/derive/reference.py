"""The definition of `derive` over the array API."""

from __future__ import annotations

from typing import Any, NamedTuple

from array_api_compat import array_namespace, device


class Derived(NamedTuple):
    """Nodes, the last ones of a level, whose histogram is their parent's less their sibling's."""

    parent: Any  # (P, G, B, S) histograms of the level above
    slot: Any  # (D,) int64 NumPy, a node's parent among the P
    built: Any  # (U, G, B, S) histograms of this level that were built
    sibling: Any  # (D,) int64 NumPy, a node's sibling among the U


def derive(hist: Any, derived: Derived) -> None:
    """Write the histograms of the last D nodes; see the package for the contract."""
    xp, place = array_namespace(hist), device(hist)
    parent = xp.take(derived.parent, xp.asarray(derived.slot, device=place), axis=0)
    sibling = xp.take(derived.built, xp.asarray(derived.sibling, device=place), axis=0)
    hist[hist.shape[0] - derived.slot.size :, ...] = parent - sibling
