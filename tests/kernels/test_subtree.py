import re
from pathlib import Path
from typing import Any
from unittest import mock

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.cuda_host import nvrtc
from tests.cuda_host.emulation import emulated, on_device, strict, to_host
from tests.nodes import totals
from vtree import draws
from vtree.criteria import CLASSIFICATION, REGRESSION
from vtree.criteria.regression import mean
from vtree.histogram import rows_of
from vtree.targets import Targets, class_targets, real_targets
from vtree_kernels import _cuda
from vtree_kernels._threads import threads
from vtree_kernels.level_subsets import Prefixes, Sorted
from vtree_kernels.scan import Limits
from vtree_kernels.subtree import (
    Levels,
    Rule,
    Starts,
    Statistics,
    Subtrees,
    Table,
    Usable,
    choosing,
    cpu,
    cuts,
    places,
    subtree,
)
from vtree_kernels.subtree import cuda as cuda_twin

N_ROWS = 120
# ends of the nodes in the order of rows: empty ones, single rows, most of them
ENDS = np.array([3, 3, 4, 30, 115])


def _targets(kind: str) -> Targets:
    draw = np.random.default_rng(3)
    weight = draw.integers(1, 9, N_ROWS) / 4.0 if "weights" in kind else None
    if "targets" in kind:
        y = draw.normal(size=(N_ROWS, 2 if "two" in kind else 1))
        return real_targets(np.round(y, 1), weight)
    classes = [3, 2] if "outputs" in kind else [int(kind.split()[0])]
    codes = np.stack([draw.integers(0, k, N_ROWS) for k in classes], axis=1)
    return class_targets(codes, classes, weight)


# Each is a compilation of seconds, twice where cuts are drawn, too.
KINDS = ["2 classes", "two outputs, weights", "targets, weights", "two targets"]
HELD_KINDS = ["targets, weights"]
CUT_KINDS = ["2 classes", "two outputs, weights", "two targets"]


def _table(kind: str) -> Table:
    draw = np.random.default_rng(len(kind))
    n_codes = np.array([200, 6, 2, 40, 1])
    codes = np.stack([draw.integers(0, c, N_ROWS) for c in n_codes], axis=1)
    values = np.round(draw.normal(size=(N_ROWS, 5)), 1).astype(np.float32)
    values[draw.random(values.shape) < 0.1] = np.nan
    values[:, 4] = 2.0
    wide, narrow = np.array([0, 3]), np.array([1, 2, 4])
    parts = (codes[:, wide].astype(np.uint8), codes[:, narrow].astype(np.uint8))
    return Table(parts, (wide, narrow), n_codes, values)


def _nodes(rows: NDArray[np.int32], targets: Targets) -> Starts:
    start, stop = ENDS[:-1], ENDS[1:]
    total = totals(targets, rows, start, stop)
    return Starts(start, stop, np.array([0, 3, 1, 2]), draws.mix(5, np.arange(4)), total)


def _arguments(kind: str, criterion: str, **given: Any) -> tuple[Any, ...]:
    targets = _targets(kind)
    rows = np.random.default_rng(1).permutation(N_ROWS).astype(np.int32)
    for a, z in zip(ENDS[:-1], ENDS[1:], strict=True):
        rows[a:z].sort()
    own = rows_of(targets, rows)
    identity = own.identity
    if given.pop("unknown", False):
        identity = np.zeros((N_ROWS, 0))
    rule = Rule(
        gain={**CLASSIFICATION, **REGRESSION}[criterion].gain,
        layout=targets.layout,
        limits=Limits(),
        max_depth=-1,
        min_rows_split=2,
        min_gain=-np.inf,
        costs=None,
        max_features=5,
        order_state=np.uint64(draws.mix(7, draws.FEATURE_ORDER)),
        cut_state=np.uint64(draws.mix(7, draws.THRESHOLD)),
        raw=False,
    )._replace(**given)
    nodes = _nodes(rows, targets)
    if rule.monotone is not None:
        rule = rule._replace(answer=mean)
        middle = mean(nodes.total[3], targets.layout)
        upper = np.array([np.inf, 1.0, np.inf, middle + 0.3])
        nodes = nodes._replace(lower=np.array([-np.inf, 0.0, -np.inf, middle - 0.4]), upper=upper)
    if rule.usable is not None:
        words = rule.usable.sets.shape[1]
        sets = np.array([[1, 0], [3, 0], [3, 0], [3, (1 << 63) + 1]], dtype=np.uint64)
        nodes = nodes._replace(sets=sets[:, :words])
    statistics = Statistics(own.label, own.weight, own.sums, identity)
    return rows, nodes, _table(kind), statistics, rule


# A block of 64 threads with all it needs in shared memory.
_BLOCK = cuda_twin.Block(2, 16, 201, True, True, True, 0, np.dtype(np.uint8))


def _ordered(found: Subtrees) -> Subtrees:
    """Return the nodes in an order that does not depend on when they were made."""
    reached = places(found, ENDS.size - 1)
    order = reached[np.lexsort((found.depth[reached], found.stop[reached], found.start[reached]))]
    place = np.full(found.key.size + 1, -1)
    place[order] = np.arange(order.size)
    fields: Any = [None if field is None else field[order] for field in found[1:]]
    moved = Subtrees(found.rows, *fields)
    return moved._replace(first_child=place[moved.first_child])


def _assert_same(found: Subtrees, expected: Subtrees) -> None:
    _assert_same_places(_ordered(found), _ordered(expected))


def _assert_same_places(found: Subtrees, expected: Subtrees) -> None:
    split = expected.first_child >= 0
    absent = {name for name in ("lower", "upper", "ways") if getattr(expected, name) is None}
    assert all(getattr(found, name) is None for name in absent)
    if expected.ways is not None and found.ways is not None:
        by_levels = split & CATEGORICAL[expected.feature]
        assert by_levels.any()
        assert_same_bits(found.ways[by_levels], expected.ways[by_levels])
    for name in [name for name in Subtrees._fields if name not in absent | {"ways"}]:
        of_splits = name in ("bin", "next", "missing_left", "missing", "threshold")
        own = split if of_splits else slice(None)
        assert_same_bits(getattr(found, name)[own], getattr(expected, name)[own], name)


def _nothing_lost(node: Any, layout: Any, children: Any) -> Any:
    return 0.0 * node[layout.first]


CATEGORICAL = np.array([True, True, False, True, False])
FLAVOURS: dict[str, dict[str, Any]] = {
    "plain": {},
    "limits": {"limits": Limits(3, 4.0), "max_depth": 4, "min_rows_split": 9, "min_gain": 0.5},
    "draws": {"max_features": 2},
    "costs": {"costs": np.array([3.0, 1.0, 1.0, 2.0, 1.0]), "unknown": True},
    "shallow": {"max_depth": 2},
    "leaves": {"max_leaves": 7, "limits": Limits(2, 0.0)},
    "leaves, costs": {"max_leaves": 30, "costs": np.array([3.0, 1.0, 1.0, 2.0, 1.0])},
    "monotone": {"monotone": np.array([1, 0, 0, -1, 1], dtype=np.int8)},
    "monotone, leaves": {
        **{"max_leaves": 9, "max_depth": 6, "limits": Limits(2, 0.0)},
        **{"monotone": np.array([-1, 1, 0, 1, 0], dtype=np.int8), "max_features": 5},
    },
    "levels": {"levels": Levels(Prefixes((2,)), CATEGORICAL, 1), "max_features": 3},
    "levels, few rows": {
        **{"levels": Levels(Prefixes((2,), light=True, reach=5), CATEGORICAL, 3)},
        **{"max_leaves": 12, "limits": Limits(2, 3.0)},
    },
    "levels, sorted": {
        "levels": Levels(Sorted(1.0, 2.0, 3.0, 8, 4, 3, _nothing_lost), CATEGORICAL, 1)
    },
    "draws by node": {
        "usable": Usable(
            *(np.array([0, 2, 3, 7, 9], dtype=np.uint64), (4, 2)),
            *((np.uint64(11), np.uint64(12)), np.empty((5, 0), dtype=np.uint64)),
        )
    },
    "paths, leaves": {
        **{"max_leaves": 9, "limits": Limits(2, 0.0)},
        "usable": Usable(
            *(np.arange(5, dtype=np.uint64), (0, 0), (np.uint64(11), np.uint64(12))),
            np.array([[1, 0], [3, 0], [2, 1], [2, 1 << 63], [0, 0]], dtype=np.uint64),
        ),
    },
    "cuts": {"raw": True},
    "cuts, draws": {"raw": True, "max_features": 1},
}


def _kinds_of(flavour: str) -> list[str]:
    """Return the targets to grow from; each is one more compilation."""
    if "levels" in flavour:
        return ["2 classes" if flavour == "levels" else "targets, weights"]
    if "monotone" in flavour:
        return ["two outputs, weights" if "leaves" in flavour else "targets, weights"]
    if "usable" in FLAVOURS[flavour]:
        return HELD_KINDS
    return CUT_KINDS if "cuts" in flavour else KINDS


@pytest.mark.parametrize(
    ("kind", "flavour"),
    [
        (kind, flavour)
        for flavour in FLAVOURS
        if flavour != "shallow"
        for kind in _kinds_of(flavour)
    ],
)
def test_twin_and_reference_agree(kind: str, flavour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    criterion = "squared_error" if "targets" in kind else "gini"
    given = dict(FLAVOURS[flavour])
    if "targets" not in kind:
        given.pop("unknown", None)
    arguments = _arguments(kind, criterion, **given)
    expected = subtree.reference(*arguments)
    assert (expected.first_child >= 0).sum() > 3
    _assert_same(subtree.twin("cpu")(*arguments), expected)
    # every node by itself, in two stages, cuts searched feature by feature in large nodes alone
    monkeypatch.setattr(cuts, "FEW", 20)
    monkeypatch.setattr(cpu, "ROWS", 1)
    monkeypatch.setattr(cpu, "LEAST", 20)
    with threads(4):
        _assert_same(subtree.twin("cpu")(*arguments), expected)
    # sums by code kept in all but the smallest nodes, where all features are looked at
    monkeypatch.setattr(cpu, "FROM", 20)
    monkeypatch.setattr(cpu, "FEW", 8)
    for bytes_of_a_node in (1 << 20, 100):
        monkeypatch.setattr(cpu, "MOST_BYTES", bytes_of_a_node)
        _assert_same(subtree.twin("cpu")(*arguments), expected)


@pytest.mark.parametrize("kind", ["40 classes", "40 classes, weights"])
@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("criterion", sorted(CLASSIFICATION))
def test_classes_that_a_node_lacks(
    criterion: str, raw: bool, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = _arguments(kind, criterion, raw=raw)
    assert (arguments[1].total == 0).any(axis=1).all()
    expected = subtree.reference(*arguments)
    assert (expected.first_child >= 0).sum() > 3
    for few in (cuts.FEW, 20):
        monkeypatch.setattr(cuts, "FEW", few)
        _assert_same(subtree.twin("cpu")(*arguments), expected)


@pytest.mark.parametrize("max_features", [3, 11, 30])
def test_cuts_of_more_features_than_are_looked_at_side_by_side(max_features: int) -> None:
    draw = np.random.default_rng(2)
    rows, nodes, table, *rest = _arguments("2 classes", "gini", raw=True)
    rule = rest[-1]._replace(max_features=max_features, costs=draw.integers(1, 3, 25) / 2.0)
    values = np.round(draw.normal(size=(N_ROWS, 25)), 1)
    values[draw.random(values.shape) < 0.05] = np.nan
    values[draw.random(values.shape) < 0.02] = -0.0
    values[:2, 7], values[2:4, 7] = np.inf, -np.inf
    values[:, 3:6], values[:, 9], values[:, 11] = 1.0, np.nan, -np.inf
    values[50:, 10] = np.nan
    for own in (values, values.astype(np.float32)):
        wide = Table(table.codes, table.features, np.full(25, 9), own)
        arguments = (rows, nodes, wide, rest[0], rule)
        _assert_same(subtree.twin("cpu")(*arguments), subtree.reference(*arguments))


@pytest.mark.parametrize("in_columns", [True, False])
def test_one_node_alone_makes_nodes_in_the_order_of_the_reference(in_columns: bool) -> None:
    rows, nodes, table, statistics, rule = _arguments("targets, weights", "squared_error")
    codes = np.concatenate(table.codes, axis=1)[:, [0, 2, 3, 1, 4]]
    codes = np.asfortranarray(codes) if in_columns else codes
    whole = Table((codes,), (np.arange(5),), table.n_codes)
    some: Any = (field if field is None else field[-1:] for field in nodes)
    last = Starts(*some)
    before = codes.copy()
    found = subtree.twin("cpu")(rows, last, whole, statistics, rule)
    expected = subtree.reference(rows, last, whole, statistics, rule)
    assert expected.first_child.max() > 9
    _assert_same_places(found, expected)
    assert_same_bits(codes, before)


def _cuda_subtree(arguments: tuple[Any, ...]) -> Subtrees:
    """Call the twin for CUDA with the rows, the codes and the statistics on the device."""
    rows, nodes, table, statistics, rule = arguments
    there = table._replace(codes=tuple(map(on_device, table.codes)), values=on_device(table.values))
    found = subtree.twin("cuda")(on_device(rows), nodes, there, on_device(statistics), rule)
    return found._replace(rows=to_host(found.rows))


# Thrifty: each kind is a compilation of a second for the host, twice where features are drawn.
CUDA_CASES = [
    *(("2 classes", flavour) for flavour in ("plain", "limits")),
    *(("targets, weights", flavour) for flavour in ("limits", "costs")),
    *(("two outputs, weights", "draws"), ("two targets", "cuts, draws")),
    ("100 classes", "shallow"),
]


@pytest.mark.parametrize(("kind", "flavour"), CUDA_CASES)
def test_cuda_agrees(kind: str, flavour: str, cuda: str | int) -> None:
    criterion = "squared_error" if "targets" in kind else "gini"
    arguments = _arguments(kind, criterion, **FLAVOURS[flavour])
    _assert_same(_cuda_subtree(arguments), subtree.reference(*arguments))


@pytest.mark.usefixtures("cuda")
def test_cuda_leaves_nodes_whose_rows_are_all_in_one_bin() -> None:
    rows, nodes, table, *rest = _arguments("2 classes", "gini")
    alike = table._replace(codes=tuple(np.full_like(codes, 1) for codes in table.codes))
    found = _cuda_subtree((rows, nodes, alike, *rest))
    assert (found.feature == -1).all()
    assert_same_bits(found.rows, rows)


@pytest.mark.cuda_host
def test_cuda_reads_codes_beyond_two_to_the_31(tmp_path: Path) -> None:
    rows, nodes, table, *rest = _arguments("2 classes", "gini")
    pitch = 2**25  # bytes from row to row of a sparse file, whose last columns are the table
    wide = np.memmap(tmp_path / "codes", np.uint8, "w+", shape=(N_ROWS, pitch))
    wide[:, -2:] = table.codes[0]
    one = Table((table.codes[0],), (np.arange(2),), table.n_codes[[0, 3]])
    expected = subtree.reference(rows, nodes, one, *rest)
    with emulated():
        own = one._replace(codes=(strict(wide)[:, -2:],))
        statistics, rule = rest
        found = subtree.twin("cuda")(on_device(rows), nodes, own, on_device(statistics), rule)
        _assert_same(found._replace(rows=to_host(found.rows)), expected)


@pytest.mark.cuda_host
@pytest.mark.parametrize("flavour", ["draws", "cuts"])
def test_cuda_with_little_shared_memory(flavour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are not copied, cells and orders lie in global memory, nodes take several launches."""
    monkeypatch.setattr(cuda_twin, "MOST_ORDER", 0)
    arguments = _arguments("two outputs, weights", "gini", **FLAVOURS[flavour])
    expected = subtree.reference(*arguments)
    with emulated("backward", shared_bytes=cuda_twin.MARGIN + 1_200) as device:
        _assert_same(_cuda_subtree(arguments), expected)
        assert device.launches == ["copy", "grow", "gather"]
        with mock.patch.object(type(device), "free_bytes", lambda _: 4 * 50 * 8 * 14):
            _assert_same(_cuda_subtree(arguments), expected)
        assert device.launches.count("grow") > 2


def test_cuda_says_which_rules_it_takes() -> None:
    *_, rule = _arguments("2 classes", "gini")
    with emulated(shared_bytes=cuda_twin.MARGIN + 500):
        rows = on_device(np.zeros(3, np.int32))
        assert subtree.is_native(rows, rule)
        assert not subtree.is_native(rows, rule._replace(gain=lambda left, right, layout: 0.0))
        wide = rule._replace(layout=rule.layout._replace(classes=100))
        assert not subtree.is_native(rows, wide)
    for classes in (2, 100, 900, 1500, 3000):
        wide = rule._replace(layout=rule.layout._replace(classes=classes))
        with emulated() as device:
            taken = subtree.is_native(on_device(np.zeros(3, np.int32)), wide)
        warps = [cuda_twin._place(device, wide, 256, n)[0].warps for n in (1, 5, 28)]
        assert all(warps) if taken else not any(warps)


@pytest.mark.skipif(nvrtc.missing() is not None, reason=str(nvrtc.missing()))
@pytest.mark.parametrize(("kind", "flavour"), [CUDA_CASES[0], *CUDA_CASES[4:6]])
def test_the_source_compiles(kind: str, flavour: str) -> None:
    criterion = "squared_error" if "targets" in kind else "gini"
    _, _, table, own, rule = _arguments(kind, criterion, **FLAVOURS[flavour])
    prelude, macros = cuda_twin.program(_BLOCK, own, rule, table.n_codes.size)
    options = (*_cuda.OPTIONS, *(f"-D{name}={value}" for name, value in macros.items()))
    text = _cuda.source_of("subtree", prelude)
    for architecture in nvrtc.ARCHITECTURES if flavour == "plain" else ("sm_90",):
        assert nvrtc.compiled(text, options, architecture)[:4] == b"\x7fELF"
    # Those of 64 bits are loops of compare-and-swap.
    found = re.findall(r"\batom[\w.]*", nvrtc.compiled(text, options, "compute_80").decode())
    assert set(found) == {"atom.shared.add.u32"}


def test_draws_of_features_and_bounds_together() -> None:
    given = {**FLAVOURS["draws by node"], **FLAVOURS["monotone, leaves"]}
    arguments = _arguments("two targets", "squared_error", **given)
    expected = subtree.reference(*arguments)
    assert (expected.first_child >= 0).sum() > 3
    _assert_same(subtree.twin("cpu")(*arguments), expected)


@pytest.mark.parametrize("count", [1, 7, 299, 300])
def test_features_of_the_least_words_are_drawn(count: int) -> None:
    number, none = np.arange(300, dtype=np.uint64), np.empty((300, 0), dtype=np.uint64)
    usable = Usable(number, (300, count), (np.uint64(1), np.uint64(2)), none)
    keys, depth = draws.mix(np.arange(9)), np.arange(9, dtype=np.int32)
    held = choosing.usable_work(usable, np.empty((9, 0), np.uint64), depth, keys)
    for node in range(9):  # of an order that the nodes before have left
        (found,) = _usable_by(held, node)
        assert found.sum() == count
        assert_same_bits(found, usable.of_node(node, keys[node], none[0]))


@numba.njit
def _usable_by(held: Any, node: int) -> Any:
    return choosing.usable_by(held, node)


def test_cuda_takes_no_rule_that_holds_nodes() -> None:
    *_, rule = _arguments("2 classes", "gini")
    with emulated():
        rows = on_device(np.zeros(3, np.int32))
        assert subtree.is_native(rows, rule)
        for name in ("max_leaves", "monotone", "usable"):
            own = next(each for each in FLAVOURS.values() if name in each)
            *_, held = _arguments("2 classes", "gini", **own)
            assert not subtree.is_native(rows, held), name


def test_given_nodes_come_first_and_rows_stay_in_their_segments() -> None:
    arguments = _arguments("2 classes", "gini")
    rows, nodes = arguments[:2]
    found = subtree(*arguments)
    assert_same_bits(found.start[:4], nodes.start)
    assert_same_bits(found.key[:4], nodes.key)
    for a, z in zip(nodes.start, nodes.stop, strict=True):
        assert_same_bits(np.sort(found.rows[a:z]), rows[a:z])
    outside = np.r_[: ENDS[0], ENDS[-1] : N_ROWS]
    assert_same_bits(found.rows[outside], rows[outside])
    reached = places(found, ENDS.size - 1)
    above = reached[found.first_child[reached] >= 0]
    first = found.first_child[above]
    assert_same_bits(found.depth[first], found.depth[above] + 1)
    assert_same_bits(found.start[first], found.start[above])
    assert_same_bits(found.stop[first], found.start[first + 1])
    assert_same_bits(found.stop[first + 1], found.stop[above])


def test_codes_of_several_widths() -> None:
    rows, nodes, table, *rest = _arguments("2 classes", "gini")
    wide, narrow = table.codes
    mixed = table._replace(codes=(wide.astype(np.int32), narrow))
    same = table._replace(codes=(wide.astype(np.int32), narrow.astype(np.int32)))
    expected = subtree.reference(rows, nodes, table, *rest)
    for each in (mixed, same):
        _assert_same(subtree(rows, nodes, each, *rest), expected)


@pytest.mark.parametrize("raw", [False, True])
def test_weights_of_32_bits(raw: bool) -> None:
    rows, nodes, table, statistics, rule = _arguments("two outputs, weights", "gini", raw=raw)
    narrow = statistics._replace(weight=statistics.weight.astype(np.int32))
    expected = subtree.reference(rows, nodes, table, statistics, rule)
    _assert_same(subtree(rows, nodes, table, narrow, rule), expected)
    _assert_same(subtree.reference(rows, nodes, table, narrow, rule), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tables_of_columns(dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, nodes, table, *rest = _arguments("2 classes", "gini", raw=True, max_features=2)
    values = table.values.astype(dtype)
    expected = subtree.reference(rows, nodes, table._replace(values=values), *rest)
    by_column = table._replace(values=np.asfortranarray(values))
    for least in (cpu.LEAST, 20):  # copied, and where they are
        monkeypatch.setattr(cpu, "LEAST", least)
        _assert_same(subtree(rows, nodes, by_column, *rest), expected)


def test_no_nodes() -> None:
    rows, nodes, *rest = _arguments("2 classes", "gini")
    some: Any = (field if field is None else field[:0] for field in nodes)
    none = Starts(*some)
    assert subtree(rows, none, *rest).key.size == 0
