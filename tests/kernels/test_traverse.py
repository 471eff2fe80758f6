from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import emulated, on_device, strict, to_host
from vtree_kernels._threads import threads
from vtree_kernels.traverse import cpu, traverse

N_LEVELS = 6
SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, -5e-324, 1.7e308, 0.5, 1.0]

Nodes = tuple[NDArray[Any], ...]


def _forest(n_trees: int, n_splits: int, seed: int = 0) -> Nodes:
    """Draw trees over features 0, 1 (numbers) and 2 (levels), any kind of split."""
    draw = np.random.default_rng(seed)
    nodes: list[list[float]] = []  # feature, kind, threshold, first_child, missing_child, offset
    roots: list[int] = []
    maps: list[int] = []
    leaf = [-1, 0, 0.0, -1, -1, -1]
    for _ in range(n_trees):
        roots.append(len(nodes))
        nodes.append(leaf.copy())
        leaves = [len(nodes) - 1]
        for _ in range(n_splits):
            node = leaves.pop(draw.integers(len(leaves)))
            kind = int(draw.integers(3))
            n_children = 2 if kind < 2 else 4
            first, missing = len(nodes), int(draw.integers(-1, n_children))
            feature = int(draw.integers(2)) if kind == 0 else 2
            offset = -1 if kind == 0 else len(maps)
            if kind:
                maps += draw.integers(0, n_children, N_LEVELS + 1).tolist()
            nodes[node] = [feature, kind, draw.choice(SPECIAL[1:]), first, missing, offset]
            nodes += [leaf.copy() for _ in range(n_children)]
            leaves += range(first, first + n_children)
    table = np.array(nodes)
    dtypes = (np.int32, np.int8, np.float64, np.int32, np.int32, np.int64)
    arrays = [table[:, i].astype(dtype) for i, dtype in enumerate(dtypes)]
    return (np.array(roots, np.int32), *arrays, np.array(maps, dtype=np.uint8))


def _thresholds_only(n_trees: int, n_splits: int) -> Nodes:
    """Draw trees whose rows go down together: numbers only, missing values left or right."""
    draw = np.random.default_rng(n_splits)
    per_tree = 2 * n_splits + 1
    root = (np.arange(n_trees) * per_tree).astype(np.int32)
    size = n_trees * per_tree
    feature, first_child = np.full((2, size), -1, dtype=np.int32)
    for start in root.tolist():
        leaves = [start]
        for split in range(n_splits):
            node = leaves.pop(draw.integers(len(leaves)))
            feature[node], first_child[node] = draw.integers(3), start + 1 + 2 * split
            leaves += [first_child[node], first_child[node] + 1]
    missing_child = np.where(feature < 0, -1, draw.integers(0, 2, size)).astype(np.int32)
    threshold = draw.choice(SPECIAL[1:], size)
    nothing = (np.full(size, -1), np.empty(0, dtype=np.uint8))
    return root, feature, np.zeros(size, np.int8), threshold, first_child, missing_child, *nothing


def _values(n_rows: int, dtype: Any = np.float64, seed: int = 1) -> NDArray[Any]:
    draw = np.random.default_rng(seed)
    numbers = draw.choice(SPECIAL, (n_rows, 2))
    levels = draw.choice([*range(N_LEVELS), np.nan], (n_rows, 1))
    with np.errstate(over="ignore"):
        return np.concatenate([numbers, levels], axis=1).astype(dtype)


def _definition(values: NDArray[Any], nodes: Nodes) -> NDArray[np.int32]:
    root, feature, kind, threshold, first_child, missing_child, offset, table = nodes
    out = np.empty((values.shape[0], root.size), dtype=np.int32)
    for row, numbers in enumerate(values):
        for t, node in enumerate(root):
            while feature[node] >= 0:
                x = float(numbers[feature[node]])
                if np.isnan(x):
                    child = missing_child[node]
                elif kind[node] == 0:
                    child = 0 if x <= threshold[node] else 1
                else:
                    child = table[offset[node] + int(x) + 1]
                if child < 0:
                    break
                node = first_child[node] + child
            out[row, t] = node
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n_rows", "n_trees", "n_splits"),
    [(200, 3, 20), (0, 2, 5), (1, 1, 8), (30, 1, 0), (60, 40, 1)],
)
def test_twins_and_definition_agree(
    n_rows: int, n_trees: int, n_splits: int, dtype: Any, xp: Namespace
) -> None:
    nodes, values = _forest(n_trees, n_splits), _values(n_rows, dtype)
    expected = _definition(values, nodes)
    leaves = traverse.reference(xp.asarray(values), *nodes)
    assert leaves.dtype == xp.xp.int32
    assert_same_bits(xp.to_numpy(leaves), expected)
    native = traverse.twin("cpu")(values, *nodes)
    assert native.dtype == np.int32
    assert_same_bits(native, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n_rows", "n_trees", "n_splits"), [(1001, 3, 40), (7, 1, 3), (8, 2, 1), (600, 20, 5)]
)
def test_rows_that_go_down_together_end_where_they_would_alone(
    n_rows: int, n_trees: int, n_splits: int, dtype: Any
) -> None:
    nodes, values = _thresholds_only(n_trees, n_splits), _values(n_rows, dtype)
    assert_same_bits(traverse.twin("cpu")(values, *nodes), _definition(values, nodes))


def test_float32_values_are_compared_as_float64_would_be() -> None:
    draw = np.random.default_rng(0)
    nodes = list(_thresholds_only(1, 30))
    some = np.concatenate([draw.normal(size=10), [0.0, 1e-45, 3e38]]).astype(np.float32)
    around = [np.nextafter(some, np.float32(limit)) for limit in (-np.inf, np.inf)]
    wide = np.concatenate([some, *around]).astype(np.float64)
    between = np.concatenate([wide, np.nextafter(wide, -np.inf), np.nextafter(wide, np.inf)])
    nodes[3] = draw.choice([*between, 1e300, -1e300, np.inf, -np.inf, 1e-300, -1e-300], 61)
    values = draw.choice([*some, *around[0], *around[1], np.inf, -np.inf], (600, 3))
    values = values.astype(np.float32)
    assert_same_bits(traverse.twin("cpu")(values, *nodes), _definition(values, tuple(nodes)))


@pytest.mark.parametrize("missing", ["nowhere", "late", "stay"])
def test_each_block_is_asked_as_little_as_it_needs(missing: str) -> None:
    draw = np.random.default_rng(2)
    nodes, values = list(_thresholds_only(5, 40)), draw.normal(size=(1500, 3))
    if missing != "nowhere":
        values[1100:][draw.random((400, 3)) < 0.3] = np.nan
    if missing == "stay":
        nodes[5] = np.where(draw.random(nodes[5].size) < 0.3, -1, nodes[5]).astype(np.int32)
    assert_same_bits(traverse.twin("cpu")(values, *nodes), _definition(values, tuple(nodes)))


@pytest.mark.parametrize("width", [3, 300_000])
def test_large_trees_and_wide_tables(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(width)
    monkeypatch.setattr(cpu, "_PAYS_AFAR", 1 << 20)
    nodes = list(_thresholds_only(2, 9000))
    nodes[1] = np.where(nodes[1] >= 0, draw.integers(0, width, nodes[1].size), -1).astype(np.int32)
    values = draw.normal(size=(3000 if width == 3 else 9, width)).astype(np.float32)
    with threads(1):
        forest = cpu.prepared(values, *nodes)
    assert forest.packed is not None
    assert forest.packed.word.dtype == (np.uint32 if width == 3 else np.uint64)
    assert (forest.by_key, forest.block) == ((True, 1500) if width == 3 else (False, cpu.LEAST))
    assert_same_bits(traverse.twin("cpu")(values, *nodes), traverse.reference(values, *nodes))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kinds", ["numbers", "maps", "stays"])
@pytest.mark.parametrize("by_key", [True, False])
def test_values_become_keys_before_or_on_the_way(
    by_key: bool, kinds: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu, "_COLUMNS_A_STEP", 1 << 20 if by_key else 0)
    nodes = list(_forest(7, 20) if kinds == "maps" else _thresholds_only(7, 20))
    if kinds == "stays":
        nodes[5] = np.where(np.arange(nodes[5].size) % 3, -1, nodes[5]).astype(np.int32)
    values = _values(600, dtype)
    values[::3] = -values[::3] if kinds != "maps" else values[::3]  # with a sign: NaN, too
    assert cpu.prepared(values, *nodes).by_key == by_key
    assert_same_bits(traverse.twin("cpu")(values, *nodes), _definition(values, tuple(nodes)))


@pytest.mark.parametrize("n_rows", [1, 7, 8, 63, 64, 65, 511, 513])
def test_blocks_of_a_wide_table_hold_few_rows(n_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "_KEY_BYTES", 1)
    nodes, values = _thresholds_only(7, 20), _values(n_rows, np.float32)
    block = cpu.prepared(values, *nodes).block
    assert block == (cpu._FEWEST if n_rows >= 8 else cpu.LEAST)
    assert_same_bits(traverse.twin("cpu")(values, *nodes), _definition(values, nodes))


def test_trees_end_where_the_next_one_begins() -> None:
    root = np.array([7, 0, 3, 3], dtype=np.int32)
    assert cpu._ends(root, 12).tolist() == [12, 3, 7, 7]
    assert cpu._ends(root[:0], 12).tolist() == []


def test_some_trees_of_a_forest_in_any_order() -> None:
    root, *nodes = _thresholds_only(6, 20)
    values = _values(600)
    whole = traverse.twin("cpu")(values, root, *nodes)
    for chosen in ([5, 0, 3], [2], [4, 4]):
        assert_same_bits(traverse.twin("cpu")(values, root[chosen], *nodes), whole[:, chosen])


def _symmetric(n_trees: int, n_levels: int) -> list[NDArray[Any]]:
    """Draw trees with one question a level, to numbers or level numbers."""
    draw = np.random.default_rng(n_levels)
    inner = 2**n_levels - 1
    level = np.concatenate([np.full(2**n, n) for n in range(n_levels)]).astype(np.int64)
    size = 2 * inner + 1
    trees = []
    for tree in range(n_trees):
        feature, missing = draw.integers(3, size=n_levels), draw.integers(0, 2, n_levels)
        threshold = draw.choice(SPECIAL[1:], n_levels)
        leaf = np.full(inner + 1, -1)
        below = tree * size + 1 + 2 * np.arange(inner)
        questions = (feature[level], threshold[level], below, missing[level])
        trees.append([np.concatenate([own, leaf]) for own in questions])
    columns = [np.concatenate(own) for own in zip(*trees, strict=True)]
    dtypes = (np.int32, np.float64, np.int32, np.int32)
    joined = [own.astype(dtype) for own, dtype in zip(columns, dtypes, strict=True)]
    feature, threshold, first_child, missing_child = joined
    root = (np.arange(n_trees) * size).astype(np.int32)
    nothing = (np.full(feature.size, -1), np.empty(0, dtype=np.uint8))
    kind = np.zeros(feature.size, np.int8)
    return [root, feature, kind, threshold, first_child, missing_child, *nothing]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_levels", [1, 3, 6])
def test_symmetric_trees_are_asked_level_by_level(n_levels: int, dtype: Any) -> None:
    nodes, values = _symmetric(9, n_levels), _values(1001, dtype)
    prepared = cpu.prepared(values, *nodes)
    assert prepared.levels.tolist() == [n_levels] * 9
    expected = _definition(values, tuple(nodes))
    assert_same_bits(traverse.twin("cpu")(values, *nodes), expected)


@pytest.mark.parametrize("field", [1, 2, 3, 4, 5])
def test_almost_symmetric_trees_are_not_taken_for_it(field: int) -> None:
    nodes, values = _symmetric(4, 3), _values(300)
    other = nodes[field].copy()
    node = int(nodes[0][1]) + 6  # the last node of the last level that asks
    other[node] = {2: 1, 3: 0.25, 4: other[node] - 4}.get(field, (other[node] + 1) % 2)
    nodes[field] = other
    if field == 2:  # by a map of the levels
        nodes[1][node], nodes[6][node] = 2, 0
        nodes[7] = np.arange(N_LEVELS + 1, dtype=np.uint8) % 2
    prepared = cpu.prepared(values, *nodes)
    assert prepared.levels.tolist() == [3, -1, 3, 3]
    expected = _definition(values, tuple(nodes))
    assert_same_bits(traverse.twin("cpu")(values, *nodes), expected)


def test_few_questions_to_a_wide_table_are_asked_node_by_node() -> None:
    nodes, values = _symmetric(1, 2), np.tile(_values(50), (1, 4))
    assert cpu.prepared(values, *nodes).levels.tolist() == [-1]
    assert_same_bits(traverse.twin("cpu")(values, *nodes), _definition(values, tuple(nodes)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_layout_of_values(dtype: Any) -> None:
    nodes, values = _forest(2, 15), _values(100, dtype)
    expected = traverse.reference(values, *nodes)
    strided = np.repeat(np.repeat(values, 2, axis=0), 3, axis=1)[::2, ::3]
    for layout in (np.asfortranarray(values), strided):
        assert_same_bits(traverse.twin("cpu")(layout, *nodes), expected)
        assert_same_bits(traverse.reference(layout, *nodes), expected)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_threads_do_not_matter(count: int) -> None:
    nodes, values = _forest(3, 30), _values(20_000)
    with threads(count):
        assert_same_bits(traverse.twin("cpu")(values, *nodes), traverse.reference(values, *nodes))


def _chain(depth: int) -> Nodes:
    """Return one tree whose inner nodes are all right children."""
    inner = np.arange(2 * depth + 1) % 2 == 0
    inner[-1] = False
    feature = np.where(inner, 0, -1).astype(np.int32)
    kind = np.zeros(feature.size, dtype=np.int8)
    threshold = np.where(inner, np.arange(feature.size) / 2.0, 0.0)
    first = np.where(inner, np.arange(feature.size) + 1, -1).astype(np.int32)
    nothing = np.full(feature.size, -1)
    rest = (nothing.astype(np.int32), nothing.astype(np.int64), np.empty(0, dtype=np.uint8))
    return (np.zeros(1, dtype=np.int32), feature, kind, threshold, first, *rest)


def test_a_deep_chain_needs_no_stack() -> None:
    depth = 5000
    nodes = _chain(depth)
    values = np.array([[0.0], [depth / 2], [np.inf], [np.nan]])
    expected = [[1], [depth + 1], [2 * depth], [0]]
    np.testing.assert_array_equal(traverse.twin("cpu")(values, *nodes), expected)
    np.testing.assert_array_equal(traverse.reference(values, *nodes), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n_rows", "n_trees", "n_splits"),
    [(200, 3, 20), (0, 2, 5), (1, 1, 8), (30, 1, 0), (60, 40, 1), (1, 300, 3), (257, 30, 7)],
)
@pytest.mark.usefixtures("cuda")
def test_cuda_agrees(n_rows: int, n_trees: int, n_splits: int, dtype: Any) -> None:
    nodes, values = _forest(n_trees, n_splits), _values(n_rows, dtype)
    leaves = to_host(traverse.twin("cuda")(on_device(values), *nodes))
    assert leaves.dtype == np.int32
    assert_same_bits(leaves, traverse.reference(values, *nodes))


@pytest.mark.parametrize("layout", ["fortran", "strided", "reversed"])
@pytest.mark.usefixtures("cuda")
def test_cuda_takes_any_layout_of_values(layout: str) -> None:
    nodes, values = _forest(2, 15), _values(100, np.float32)
    own = {
        "fortran": lambda: on_device(np.ascontiguousarray(values.T)).T,
        "strided": lambda: on_device(np.repeat(np.repeat(values, 2, axis=0), 3, axis=1))[::2, ::3],
        "reversed": lambda: on_device(np.ascontiguousarray(values[::-1, ::-1]))[::-1, ::-1],
    }[layout]()
    expected = traverse.reference(values, *nodes)
    assert_same_bits(to_host(traverse.twin("cuda")(own, *nodes)), expected)


@pytest.mark.cuda_host
@pytest.mark.parametrize("shared_bytes", [0, 20, 100])
def test_cuda_walks_with_whatever_shared_memory_there_is(shared_bytes: int) -> None:
    nodes, values = _forest(5, 20), _values(90)
    with emulated(shared_bytes=shared_bytes):
        leaves = to_host(traverse.twin("cuda")(on_device(values), *nodes))
    assert_same_bits(leaves, traverse.reference(values, *nodes))


@pytest.mark.parametrize(("n_rows", "n_columns"), [(300, 20), (3, 700), (100, 3000)])
@pytest.mark.usefixtures("cuda")
def test_cuda_walks_wide_tables(n_rows: int, n_columns: int) -> None:
    draw = np.random.default_rng(n_columns)
    nodes = list(_forest(9, 31, seed=n_rows))
    nodes[1] = np.where(nodes[1] >= 0, draw.integers(0, n_columns, nodes[1].size), -1).astype("i4")
    values = draw.integers(0, N_LEVELS, (n_rows, n_columns)).astype(np.float32)
    leaves = to_host(traverse.twin("cuda")(on_device(values), *nodes))
    assert_same_bits(leaves, traverse.reference(values, *nodes))


@pytest.mark.usefixtures("cuda")
def test_cuda_walks_a_chain_and_no_trees() -> None:
    values, nodes = np.array([[0.0], [77.0], [np.inf], [np.nan]]), _chain(200)
    leaves = to_host(traverse.twin("cuda")(on_device(values), *nodes))
    assert leaves.tolist() == [[1], [155], [400], [0]]
    no_root = (np.empty(0, dtype=np.int32), *nodes[1:])
    assert traverse.twin("cuda")(on_device(values), *no_root).shape == (4, 0)


@pytest.mark.cuda_host
def test_cuda_reads_values_beyond_two_to_the_31(tmp_path: Path) -> None:
    far = 2**27 - 1
    values = np.memmap(tmp_path / "values", np.float32, "w+", shape=(20, 2**27))  # sparse
    values[[3, 17, 19], far] = [0.5, np.nan, 7.0]
    nodes = list(_chain(3))
    nodes[1] = np.where(nodes[1] >= 0, far, -1).astype(np.int32)
    with emulated():
        leaves = to_host(traverse.twin("cuda")(strict(values), *nodes))
    assert leaves.ravel().tolist() == [1, 1, 1, 3, *[1] * 13, 0, 1, 6]
