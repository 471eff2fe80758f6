"""`scan` on CUDA: a warp for each (node, feature), compiled once per criterion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Device, Program, blocks_for, c_type, device_of, numpy_dtype
from vtree_kernels._translate import TranslationError, c_gain
from vtree_kernels.derive.reference import Derived
from vtree_kernels.scan import reference
from vtree_kernels.scan.reference import Best, Layout, Limits

_SMALL = 4  # statistics that stay in registers: two classes or one target, weighted or not
_WARPS = 4  # of a block, where shared memory is not needed
_FIELDS = ("WEIGHT", "FIRST", "OUTPUTS", "CLASSES", "ORDERED", "IMPLIED")

# None without a criterion: tests/kernels/test_scan.py compiles them all.
VARIANTS: tuple[dict[str, object], ...] = ()

_program = Program("scan")


def scan(
    hist: Any,
    total: Any,
    allowed: Any | None,
    monotone: Any | None,
    lower: Any | None,
    upper: Any | None,
    limits: Limits,
    gain: Callable[[Any, Any, Any], Any],
    layout: Any,
    derived: Derived | None = None,
) -> Best:
    """Return the best split of each node and feature, on the host, in one copy.

    See the package for the contract. A gain that cannot be put in C is left to the reference.
    """
    here = device_of(hist)
    n_nodes, n_features, n_codes, n_stored = hist.shape
    n_statistics = total.shape[1]
    layout = layout._replace(implied=n_statistics - n_stored)
    width = _columns(here, n_statistics)
    own = (hist, total, allowed, monotone, lower, upper)
    try:
        prelude = c_gain(gain)
    except TranslationError:
        return reference.scan(*own, limits, gain, layout, derived)
    if not width:
        return reference.scan(*own, limits, gain, layout, derived)
    small = n_statistics <= _SMALL
    kernels = _program.on(here, prelude, **macros(layout, c_type(hist.dtype)))
    found = here.empty((n_nodes, n_features, 4 + n_statistics), np.int64)
    pairs = n_nodes * n_features
    if pairs:
        kernels.launch(
            "scan",
            blocks_for(pairs, _WARPS if small else 1),
            32 * (_WARPS if small else 1),
            *_on_histograms(here, hist, derived, layout),
            here.empty(0, np.int32) if allowed is None else here.contiguous(allowed),
            np.int32(allowed is not None),
            np.int64(pairs),
            np.int32(n_features),
            np.int32(n_codes),
            *on_nodes(here, total, monotone, lower, upper),
            np.int64(max(1, limits.min_rows)),
            np.float64(limits.min_weight),
            np.int32(32 if small else width),
            found,
            shared=0 if small else n_statistics * (width + 3) * 8,
        )
    return unpacked(here.download(found))


def macros(layout: Layout, cell: str) -> dict[str, object]:
    """Return what the kernel is compiled with: for few statistics, one layout."""
    if layout.n_statistics > _SMALL:
        return {"CELL": cell, "SMALL": 0}
    fields = dict(zip(_FIELDS, (*layout[:5], layout.implied), strict=True))
    return {"CELL": cell, "SMALL": 1, **fields}


def on_nodes(
    here: Device, total: Any, monotone: Any | None, lower: Any | None, upper: Any | None
) -> list[Any]:
    """Return the arguments that say what nodes are held to."""
    free = here.empty(0, np.float64)
    return [
        here.contiguous(total),
        here.empty(1, np.int8) if monotone is None else here.contiguous(monotone),
        np.int32(monotone is not None),
        *(free if bound is None else here.contiguous(bound) for bound in (lower, upper)),
        np.int32(lower is not None),
    ]


def _on_histograms(here: Device, hist: Any, derived: Derived | None, layout: Layout) -> list[Any]:
    """Return the arguments that say where histograms lie, and their layout.

    Slots and siblings of derived nodes and the layout go to the device in one copy.
    """
    words = _words(layout).view(np.int64)
    if derived is None:
        none = here.empty(0, numpy_dtype(hist.dtype))
        return [here.contiguous(hist), none, none, here.upload(words), np.int64(0)]
    return [
        hist,  # in C order, or what is written would be lost
        here.contiguous(derived.parent),
        here.contiguous(derived.built),
        here.upload(np.concatenate([derived.slot, derived.sibling, words])),
        np.int64(derived.slot.size),
    ]


def packed(here: Device, layout: Layout) -> Any:
    """Return a layout on the device, as `layout_of` takes it."""
    return here.upload(_words(layout))


def _words(layout: Layout) -> NDArray[np.float64]:
    integers = [*layout[:5], layout.implied, int(layout.confined)]
    numbers = [layout.center, layout.scale, layout.shrink, layout.clip, *layout.unit]
    return np.asarray([*integers, *numbers], dtype=np.float64)


def _columns(here: Device, n_statistics: int) -> int:
    """Return how many codes' statistics fit into shared memory beside three columns more."""
    return max(0, min(32, here.shared_bytes // (8 * n_statistics) - 3))


def unpacked(found: NDArray[np.int64]) -> Best:
    """Return the fields of the kernel's words (L, G, 4 + S)."""
    return Best(
        gain=np.ascontiguousarray(found[..., 0]).view(np.float64),
        bin=(found[..., 1] & 0xFFFFFFFF).astype(np.int32),
        next=(found[..., 1] >> 32).astype(np.int32),
        missing_left=(found[..., 2] & 1).astype(np.bool_),
        missing=found[..., 3],
        varies=(found[..., 2] >> 1).astype(np.bool_),
        left=found[..., 4:],
    )
