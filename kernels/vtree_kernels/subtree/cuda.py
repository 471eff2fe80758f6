"""`subtree` on CUDA: a block a given node; what all of them made comes to the host in one copy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Device, Program, Variant, blocks_for, c_type, device_of, numpy_dtype
from vtree_kernels._translate import TranslationError, c_gain
from vtree_kernels.scan.cuda import macros as scan_macros
from vtree_kernels.scan.cuda import packed
from vtree_kernels.search.cuda import MOST_WARPS, Place, added, place
from vtree_kernels.subtree.reference import ALWAYS, KINDS, Rule, Starts, Statistics, Subtrees, Table

BLOCKS_PER_PROCESSOR = 8  # where each has cells of its own in global memory
MARGIN = 2_048  # bytes of shared memory for what the kernel declares itself
MOST_ORDER = 16_384  # bytes of shared memory for the order of drawn features
SHARE = 4  # of the free memory that the nodes of one launch may take

# None without a criterion: tests/kernels/test_subtree.py compiles them.
VARIANTS: tuple[dict[str, object], ...] = ()

_program = Program("subtree")

_NODE = np.dtype(
    [
        *((name, np.int32) for name in ("first_child", "start", "stop", "depth", "feature")),
        *((name, np.int32) for name in ("bin", "next", "missing", "missing_left")),
        *(("gain", np.float64), ("threshold", np.float64), ("key", np.uint64)),
    ],
    align=True,  # as the compiler lays them out
)
_WORDS = _NODE.itemsize // 8


def takes(rows: Any, rule: Rule) -> bool:
    """Tell whether there is a kernel for a rule: its gain has a form in C, its statistics fit."""
    held = (rule.answer, rule.usable, rule.levels)
    if rule.max_leaves or any(each is not None for each in held):
        return False
    try:
        c_gain(rule.gain)
    except TranslationError:
        return False
    return _place(device_of(rows), rule, most_codes=0, n_features=1)[0].warps > 0


class Block(NamedTuple):
    """A block, and how its shared memory is used."""

    warps: int  # 0: not one has room
    width: int  # columns of a scan
    most_codes: int  # of a feature
    cells_shared: bool
    order_shared: bool  # of drawn features
    copied: bool
    shared: int  # bytes
    item: np.dtype[Any]


def _place(here: Device, rule: Rule, most_codes: int, n_features: int) -> tuple[Place, int]:
    """Return what the warps of a block need, and the bytes of shared memory that are left."""
    wanted = MOST_WARPS
    while wanted > max(1, min(rule.max_features, n_features)):
        wanted //= 2
    slot = 8 * (4 + rule.layout.n_statistics)
    room, own = 0, Place(0, 0, 0, 0)
    while wanted and not own.warps:
        room = here.shared_bytes - MARGIN - (wanted + 1) * slot
        own = place(room, rule.layout, most_codes, wanted)
        if 2 * own.warps < wanted:
            own = place(room, rule.layout, 0, wanted)  # the cells lie in global memory
        wanted //= 2
    return own, room - own.warps * (own.scan_bytes + own.cell_bytes)


def _whole(n_bytes: int) -> int:
    return -(-n_bytes // 8) * 8


def _drawn(rule: Rule, n_features: int) -> bool:
    return rule.max_features < n_features


def _block(here: Device, most_rows: int, table: Table, own: Statistics, rule: Rule) -> Block:
    """Decide how a block works at given nodes of at most `most_rows` rows."""
    n_features = table.n_codes.size
    most_codes = 3 if rule.raw else int(table.n_codes.max(initial=1))
    found, left = _place(here, rule, most_codes, n_features)
    order = _whole(4 * n_features) if _drawn(rule, n_features) else 0
    order_shared = order <= min(left, MOST_ORDER)
    left -= order * order_shared
    sources: Any = (table.values,) if rule.raw else table.codes
    item = np.result_type(*(numpy_dtype(source.dtype) for source in sources))
    words = int(own.weight is not None) + own.sums.shape[1]
    rows = 8 * words * most_rows + 2 * _whole(4 * most_rows)
    rows += _whole(4 * own.label.shape[1] * most_rows)
    rows += _whole(item.itemsize * n_features * most_rows)
    shared = found.warps * (found.scan_bytes + found.cell_bytes)
    shared += (found.warps + 1) * 8 * (4 + rule.layout.n_statistics) + order * order_shared
    copied = rows <= left
    return Block(
        found.warps,
        found.width,
        most_codes,
        found.cell_bytes > 0,
        order_shared,
        copied,
        shared + rows * copied,
        item,
    )


def program(
    block: Block, own: Statistics, rule: Rule, n_features: int
) -> tuple[str, dict[str, object]]:
    """Return what the kernels are compiled from: the criterion's C, and the macros."""
    counted = rule.layout.implied == 0
    return c_gain(rule.gain), {
        **scan_macros(rule.layout, "long long" if counted else "int"),
        **added(own.label, own.weight, own.sums, counted),
        "THREADS": 32 * block.warps,
        "ITEM": c_type(block.item),
        "RAW": int(rule.raw),
        "DRAWN": int(_drawn(rule, n_features)),
        "COPIED": int(block.copied),
        "CELLS_SHARED": int(block.cells_shared),
    }


def _sources(here: Device, table: Table, raw: bool) -> NDArray[np.int64]:
    """Return where each feature begins, and the bytes from row to row and of an item, (F, 3)."""
    where = np.zeros((table.n_codes.size, 3), dtype=np.int64)
    sources: list[Any] = list(zip(table.codes, table.features, strict=True))
    if raw:
        sources = [(table.values, np.arange(table.n_codes.size))]
    for array, features in sources:
        size = numpy_dtype(array.dtype).itemsize
        pitch, step = here.strides(array)
        where[features, 0] = here.address(array) + np.arange(features.size) * step * size
        where[features, 1:] = pitch * size, size
    return where


def _given(nodes: Starts) -> NDArray[np.int64]:
    """Return the given nodes as the kernel keeps nodes, (L, 8 + S)."""
    head = np.zeros(nodes.key.size, dtype=_NODE)
    for name in ("start", "stop", "depth", "key"):
        head[name] = getattr(nodes, name)
    for name in ("first_child", "feature"):
        head[name] = -1
    head["gain"] = -np.inf
    return np.concatenate([head.view(np.int64).reshape(-1, _WORDS), nodes.total], axis=1)


def _most_nodes(nodes: Starts, rule: Rule) -> NDArray[np.int64]:
    """Return how many nodes there can be below and including each given one."""
    leaves = np.maximum((nodes.stop - nodes.start) // max(1, rule.limits.min_rows), 1)
    if rule.max_depth >= 0:
        leaves = np.minimum(leaves, 1 << np.clip(rule.max_depth - nodes.depth, 0, 40))
    most: NDArray[np.int64] = 2 * leaves - 1
    return most


def subtree(rows: Any, nodes: Starts, table: Table, statistics: Statistics, rule: Rule) -> Subtrees:
    """Return the nodes and all below them; see the package for the contract."""
    here = device_of(rows)
    n_rows, rows = rows.shape[0], here.contiguous(rows)
    moved = here.empty(n_rows, np.int32)
    # Words have been taken apart where they came to the device.
    fields: Any = (None if each is None else here.contiguous(each) for each in statistics[:4])
    own = Statistics(*fields)
    most_rows = int((nodes.stop - nodes.start).max(initial=0))
    block = _block(here, most_rows, table, own, rule)
    prelude, macros = program(block, own, rule, table.n_codes.size)
    kernels = _program.on(here, prelude, **macros)
    kernels.launch("copy", blocks_for(n_rows, 256), 256, rows, np.int64(n_rows), moved)
    room = _most_nodes(nodes, rule)
    bytes_before = np.cumsum(room) * (_WORDS + nodes.total.shape[1]) * 8
    parts, first = [], 0
    while first < room.size:  # once, but where memory is scarce
        spent = bytes_before[first - 1] if first else 0
        limit = spent + here.free_bytes() // SHARE
        last = max(first + 1, int(np.searchsorted(bytes_before, limit, side="right")))
        some: Any = (field if field is None else field[first:last] for field in nodes)
        parts.append(_grown(here, kernels, block, moved, Starts(*some), table, own, rule))
        first = last
    return _unpacked(moved, parts, nodes)


def _grown(
    here: Device,
    kernels: Variant,
    block: Block,
    moved: Any,
    nodes: Starts,
    table: Table,
    own: Statistics,
    rule: Rule,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (nodes (M, 8 + S), how many were made below each given one (L,))."""
    n_given, layout = nodes.key.size, rule.layout
    given, most = _given(nodes), _most_nodes(nodes, rule)
    room = here.upload(np.cumsum(most) - most)
    made = here.empty((int(most.sum()), given.shape[1]), np.int64)
    counts = here.empty(n_given, np.int64)
    blocks, cells = n_given, here.empty(0, np.int32 if layout.implied else np.int64)
    if not (block.cells_shared and block.order_shared):
        blocks = min(n_given, here.processors * BLOCKS_PER_PROCESSOR)
    if not block.cells_shared:
        wanted = blocks * block.warps * block.most_codes * layout.n_stored
        cells = here.empty(wanted, np.int32 if layout.implied else np.int64)
    kernels.launch(
        "grow",
        blocks,
        32 * block.warps,
        here.upload(given),
        room,
        np.int32(n_given),
        moved,
        here.empty(0 if block.copied else moved.shape[0], np.int32),
        *_data(here, table, own, rule, block),
        np.int32(int((nodes.stop - nodes.start).max(initial=0))),
        packed(here, layout),
        *_terms(here, rule, block),
        here.empty(0 if block.order_shared else blocks * table.n_codes.size, np.int32),
        np.int32(block.order_shared),
        cells,
        made,
        counts,
        shared=block.shared,
    )
    new = here.download(counts) - 1
    before = np.concatenate([[0], np.cumsum(new)])
    out = here.empty((n_given + int(before[-1]), given.shape[1]), np.int64)
    own_words = np.int32(given.shape[1])
    kernels.launch("gather", n_given, 256, made, room, here.upload(before), own_words, out)
    return here.download(out), new


def _data(here: Device, table: Table, own: Statistics, rule: Rule, block: Block) -> list[Any]:
    """Return the arguments that say what the rows are and add."""
    identity = own.identity
    return [
        here.upload(_sources(here, table, rule.raw)),
        here.upload(table.n_codes.astype(np.int32)),
        np.int32(table.n_codes.size),
        np.int32(block.most_codes),
        own.label,
        here.empty(0, np.int64) if own.weight is None else own.weight,
        own.sums,
        here.empty(0, np.float64) if identity is None else identity,
        np.int32(-1 if identity is None else identity.shape[1]),
    ]


def _terms(here: Device, rule: Rule, block: Block) -> list[Any]:
    """Return the arguments that say what nodes and their splits are held to."""
    least = max(1, rule.limits.min_rows)
    return [
        np.int64(least),
        np.float64(rule.limits.min_weight),
        np.int32(block.width),
        np.int32(rule.max_depth),
        np.int32(min(max(rule.min_rows_split, 2 * least), 2**31 - 1)),
        np.float64(rule.min_gain),
        here.upload(np.empty(0) if rule.costs is None else rule.costs),
        np.int32(rule.costs is not None),
        np.int32(rule.max_features),
        rule.order_state,
        rule.cut_state,
    ]


def _unpacked(
    moved: Any, parts: list[tuple[NDArray[np.int64], NDArray[np.int64]]], nodes: Starts
) -> Subtrees:
    """Return the nodes of all parts, the given ones first, with numbers among all of them."""
    n_given = nodes.key.size
    new = np.concatenate([np.empty(0, dtype=np.int64), *(made for _, made in parts)])
    empty = np.empty((0, _WORDS + nodes.total.shape[1]), dtype=np.int64)
    heads = [found[: made.size] for found, made in parts]
    tails = [found[made.size :] for found, made in parts]
    found = np.ascontiguousarray(np.concatenate([empty, *heads, *tails]))
    node = np.ascontiguousarray(found[:, :_WORDS]).view(_NODE).reshape(-1)
    owner = np.concatenate([np.arange(n_given), np.repeat(np.arange(n_given), new)])
    before = (n_given + np.cumsum(new) - new - 1)[owner]

    def placed(number: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.where(number > 0, before + number, np.where(number == 0, owner, -1))

    fields: dict[str, Any] = {
        name: placed(node[name]) if name == "first_child" else node[name]
        for name in ALWAYS
        if name != "total"
    }
    fields = {name: own.astype(KINDS.get(name, np.int32)) for name, own in fields.items()}
    return Subtrees(rows=moved, total=found[:, _WORDS:], **fields)
