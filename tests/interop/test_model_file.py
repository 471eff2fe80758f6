import errno
import json
import os
import socket
import stat
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save

from vtree.errors import InputError, InputTypeError, ModelFileError
from vtree.interop.model_file import SCHEMA_VERSION, Model, read_model, write_model
from vtree.tree import Tree
from vtree_kernels.traverse import traverse

HEADER: dict[str, Any] = {
    "estimator": "DecisionTreeClassifier",
    "parameters": {"max_depth": None, "criterion": "gini", "ccp_alpha": 0.0, "priors": (0.5,)},
    "n_features": 3,
    "n_outputs": 1,
    "feature_names": ("number", "pair", "żółć"),
    "levels": (
        None,
        np.array([False, True]),
        np.array(["a", "b\x00", "漢"], dtype=object),
    ),
    "classes": np.array([-1, 7]),
}
EXTRA: dict[str, np.ndarray[Any, Any]] = {
    "edges": np.array([0.5, np.inf, np.nan]),
    "codes": np.arange(6, dtype=np.uint16).reshape(2, 3),
    "mask": np.array([True, False]),
    "scalar": np.array(2.5, dtype=np.float32),
    "nothing": np.empty((0, 3), dtype=np.int8),
}

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, hand_made: Tree) -> Write:
    """Give a function that writes a model with some fields of its header changed."""

    def with_changes(name: str = "model.vtree", **changes: Any) -> Path:
        write_model(tmp_path / name, HEADER | changes, hand_made, EXTRA)
        return tmp_path / name

    return with_changes


def _assert_same(one: Tree, other: Tree) -> None:
    for name, left, right in zip(Tree._fields, one, other, strict=True):
        np.testing.assert_array_equal(left, right, name, strict=True)


def test_models_come_back(write: Write, hand_made: Tree) -> None:
    model = read_model(write())
    _assert_same(model.tree, hand_made)
    assert model.header.keys() == HEADER.keys()
    for key in HEADER.keys() - {"levels", "classes"}:
        assert model.header[key] == HEADER[key]
    assert model.header["levels"][0] is None
    for place in (1, 2):
        old, new = HEADER["levels"][place], model.header["levels"][place]
        np.testing.assert_array_equal(new, old, strict=True)
    np.testing.assert_array_equal(model.header["classes"], HEADER["classes"], strict=True)
    assert model.extra.keys() == EXTRA.keys()
    for name, array in EXTRA.items():
        np.testing.assert_array_equal(model.extra[name], array, strict=True)
        assert model.extra[name].shape == array.shape and model.extra[name].flags.writeable


def test_grown_trees_come_back(tmp_path: Path, grown: Tree) -> None:
    header = {"n_features": 3, "levels": [None, None, np.arange(5)]}
    write_model(tmp_path / "m", header, grown)
    model = read_model(str(tmp_path / "m"))
    _assert_same(model.tree, grown)
    assert model.extra == {}


def test_arrays_of_any_order_come_back(tmp_path: Path, hand_made: Tree) -> None:
    tree = hand_made._replace(
        value=np.asfortranarray(hand_made.value), gain=np.repeat(hand_made.gain, 2)[::2]
    )
    extra: dict[str, Any] = {
        "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "reversed": np.arange(4)[::-1],
        "transposed": np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
        "big": np.arange(3, dtype=">i4"),
        "read-only": np.broadcast_to(np.float64(1), (2, 2)),
    }
    write_model(tmp_path / "m", HEADER, tree, extra)
    model = read_model(tmp_path / "m")
    _assert_same(model.tree, hand_made)
    for name, array in extra.items():
        np.testing.assert_array_equal(model.extra[name], array)
        assert model.extra[name].flags.c_contiguous and model.extra[name].dtype.isnative


def test_a_thousand_arrays_come_back(tmp_path: Path, hand_made: Tree) -> None:
    extra = {f"array {i}": np.full((1,) * 32, i) for i in range(1000)}
    write_model(tmp_path / "m", HEADER, hand_made, extra)
    assert read_model(tmp_path / "m").extra == extra


def test_other_programs_can_open_the_container(write: Write) -> None:
    with safe_open(write(), framework="np") as file:
        assert json.loads(file.metadata()["vtree"])["schema_version"] == SCHEMA_VERSION
        assert file.get_slice("tree.value").get_shape() == [9, 2]


def test_equal_models_give_equal_files(write: Write, tmp_path: Path, hand_made: Tree) -> None:
    other = dict(reversed(HEADER.items()))
    other["parameters"] = dict(reversed(HEADER["parameters"].items()))
    extra = dict(reversed(EXTRA.items()))
    write_model(tmp_path / "other", other, hand_made, extra)
    assert write().read_bytes() == (tmp_path / "other").read_bytes()
    again = read_model(tmp_path / "other")
    write_model(tmp_path / "again", again.header, again.tree, again.extra)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "other").read_bytes()
    assert write(n_outputs=1, estimator="Other").read_bytes() != write("b").read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_features": 0}, "n_features is an int of 1 or more, not 0"),
        ({"n_features": True}, "n_features is an int"),
        ({"n_features": np.int64(3)}, "n_features is an int"),
        ({"n_features": None}, "n_features is an int"),
        ({"n_features": 2}, "levels is a list of n_features = 2"),
        ({"levels": None}, "levels is a list"),
        ({"levels": [None, None, np.arange(3)]}, "only splits by categories"),
        ({"levels": [None, np.arange(2), ["a", "b", "c"]]}, "levels are None or a 1-D"),
        ({"levels": [None, np.arange(2), np.zeros((3, 1))]}, "levels are None or a 1-D"),
        ({"levels": [np.arange(65_536), np.arange(2), np.arange(3)]}, "at most 65,535"),
        ({"feature_names": ["a", "b"]}, "feature_names is None or 3 strings"),
        ({"feature_names": ["a", "b", 3]}, "feature_names is None or 3 strings"),
        ({"n_outputs": 0}, "n_outputs is an int of 1 or more, not 0"),
        ({"n_outputs": 2}, "classes is None or"),
        ({"classes": [np.arange(2), np.arange(2)]}, "classes is None or"),
        ({"classes": np.empty(0)}, "classes is None or"),
        ({"classes": ["a", "b"]}, "classes is None or"),
        ({"estimator": 1}, "estimator is a string"),
        ({"parameters": [1]}, "parameters is a dict"),
        ({"parameters": {1: 2}}, "parameters is a dict"),
        ({"schema_version": 1}, "Leave it out"),
        ({"$a": 1}, "without \\$ in front"),
        ({"classes": np.array(["a", "b" * 10**7])}, "too much memory"),
    ],
)
def test_headers_that_do_not_fit_are_not_written(
    write: Write, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        write(**changes)
    assert list(tmp_path.iterdir()) == []


def test_what_a_file_cannot_hold_is_named(write: Write, tmp_path: Path, hand_made: Tree) -> None:
    with pytest.raises(InputTypeError, match=r"parameters\.random_state is .*Generator"):
        write(parameters={"random_state": np.random.default_rng(0)})
    with pytest.raises(InputTypeError, match=r"parameters\.loss is .*function"):
        write(parameters={"loss": len})
    with pytest.raises(InputTypeError, match=r"classes\[1\] is 1j"):
        write(classes=np.array([1, 1j], dtype=object))
    one = np.zeros(1)
    for dtype in ("U3", "O", "c16", "M8[s]"):
        with pytest.raises(InputTypeError, match="'odd' is of dtype"):
            write_model(tmp_path / "m", HEADER, hand_made, {"odd": np.empty(2, dtype=dtype)})
    with pytest.raises(InputError, match="extra has 1,001 arrays"):
        write_model(tmp_path / "m", HEADER, hand_made, dict.fromkeys(map(str, range(1001)), one))
    with pytest.raises(InputError, match="printable"):
        write_model(tmp_path / "m", HEADER, hand_made, {"\ud800": np.empty(2)})
    assert list(tmp_path.iterdir()) == []


def test_trees_that_are_none_are_not_written(tmp_path: Path, hand_made: Tree) -> None:
    tree = hand_made._replace(weight=-hand_made.weight)
    with pytest.raises(InputError, match="cannot be saved: of its tree, weight is"):
        write_model(tmp_path / "m", HEADER, tree)
    assert list(tmp_path.iterdir()) == []


def test_files_are_replaced_and_keep_their_permissions(write: Write) -> None:
    path = write(estimator="Old")
    path.chmod(0o640)
    assert write(estimator="New") == path
    assert read_model(path).header["estimator"] == "New"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640 or os.name != "posix"
    assert [entry.name for entry in path.parent.iterdir()] == ["model.vtree"]


@pytest.mark.skipif(os.name != "posix", reason="symbolic links need rights elsewhere")
def test_links_are_followed(write: Write, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "model.vtree")
    write("link")  # dangling so far
    assert (tmp_path / "link").is_symlink()
    assert read_model(tmp_path / "link").header["n_features"] == 3


@pytest.mark.parametrize("call", ["write", "fsync", "replace", "chmod"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_the_old_file_stays_when_writing_fails(
    write: Write, monkeypatch: pytest.MonkeyPatch, call: str, error: BaseException
) -> None:
    path = write(estimator="Old")
    before = path.read_bytes()

    def fail(*args: Any, **options: Any) -> Any:
        raise error

    with monkeypatch.context() as patch:
        if call == "write":
            patch.setattr("vtree.interop.model_file.Path.open", fail)
        elif call == "fsync":
            patch.setattr("os.fsync", fail)
        else:
            patch.setattr(f"vtree.interop.model_file.Path.{call}", fail)
        with pytest.raises(type(error)) as caught:
            write(estimator="New")
    if isinstance(caught.value, OSError):
        assert caught.value.errno == errno.ENOSPC
        assert caught.value.filename == str(path)
        assert "The model was not saved: No space left" in str(caught.value)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def _failing_for_folders(number: int) -> Callable[[int], None]:
    fsync = os.fsync

    def replacement(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))
        fsync(descriptor)

    return replacement


@pytest.mark.skipif(os.name != "posix", reason="folders are not synchronised elsewhere")
def test_folders_that_cannot_be_synchronised_do_no_harm(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", _failing_for_folders(errno.EINVAL))
        path = write()
    assert read_model(path).header["n_features"] == 3
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", _failing_for_folders(errno.EIO))
        with pytest.raises(OSError, match="The model was not saved"):
            write(estimator="New")
    assert read_model(path).header["estimator"] == "New"


def test_paths_that_cannot_be_written(write: Write, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="not saved.*absent"):
        write("absent/model.vtree")
    with pytest.raises(InputError, match="is not a file"):
        write(".")
    if os.name == "posix":
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match="is not a file"):
            write("pipe")


def test_paths_that_are_no_model(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such model file.*absent"):
        read_model(tmp_path / "absent")
    with pytest.raises(ModelFileError, match="it is a folder"):
        read_model(tmp_path)
    (tmp_path / "text").write_text("a,b\n1,2\n")
    with pytest.raises(ModelFileError, match="text' cannot be read as a model.*save the model"):
        read_model(tmp_path / "text")
    with pytest.raises(ModelFileError):
        read_model(tmp_path / "text" / "below")


@pytest.mark.skipif(os.name != "posix", reason="pipes and sockets in folders are POSIX")
def test_pipes_and_sockets_are_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        for path in ("pipe", "socket"):
            with pytest.raises(ModelFileError, match="no regular file"):
                read_model(path)


def test_files_without_permission(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write()

    def refuse(*args: Any) -> Any:  # since the tests may run as root, who may read anything
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("vtree.interop.model_file.Path.open", refuse)
    with pytest.raises(ModelFileError, match="Permission denied"):
        read_model(path)


def _container(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def _tensor(dtype: str, shape: Any, begin: Any, end: Any) -> dict[str, Any]:
    return {"a": {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}}


HOSTILE = {
    "empty": b"",
    "short": b"\x00" * 7,
    "no header": bytes(8),
    "length beyond the file": (2**63 - 1).to_bytes(8, "little") + b"{}",
    "length of all ones": b"\xff" * 8 + b"{}",
    "nothing in it": _container({}),
    "deep lists": _container(b"[" * 100_000),
    "deep objects": _container(b'{"a":' * 100_000),
    "deep header": _container({"__metadata__": {"vtree": "[" * 100_000}}),
    "deep objects in the header": _container({"__metadata__": {"vtree": '{"a":' * 100_000}}),
    "not UTF-8": _container(b'{"\xff":1}'),
    "twice": _container(b'{"__metadata__":{"vtree":"{}"},"__metadata__":{"vtree":"{}"}}'),
    "no text": _container({"__metadata__": {"vtree": 1}}),
    "no object": _container({"__metadata__": {"vtree": "[]"}}),
    "no version": _container({"__metadata__": {"vtree": "{}"}}),
    "tag": _container({"__metadata__": {"vtree": '{"schema_version":1,"$tuple":[]}'}}),
    "huge number": _container({"__metadata__": {"vtree": '{"schema_version":' + "9" * 10**6}}),
    "huge shape": _container(_tensor("F64", [2**62], 0, 2**63), bytes(8)),
    "shape that overflows": _container(_tensor("F64", [2**62], 0, 8), bytes(8)),
    "shape that wraps": _container(_tensor("F64", [2**61, 2], 0, 0)),
    "endless and empty": _container(_tensor("F64", [2**62, 0], 0, 0)),
    "negative shape": _container(_tensor("F64", [-1], 0, 8), bytes(8)),
    "fractional shape": _container(_tensor("F64", [1.5], 0, 8), bytes(8)),
    "many axes": _container(_tensor("F64", [1] * 100_000, 0, 8), bytes(8)),
    "offsets beyond": _container(_tensor("U8", [10**9], 0, 10**9), bytes(8)),
    "offsets backwards": _container(_tensor("U8", [8], 8, 0), bytes(8)),
    "unknown type": _container(_tensor("OBJECT", [1], 0, 8), bytes(8)),
    "type without NumPy": _container(_tensor("BF16", [1], 0, 2), bytes(2)),
    "many arrays": _container({str(i): _tensor("U8", [0], 0, 0)["a"] for i in range(30_000)}),
    "much metadata": _container({"__metadata__": {str(i): "" for i in range(100_000)}}),
    "zip": b"PK\x03\x04" + bytes(100),
    "pickle": b"\x80\x04cposix\nsystem\n(S'false'\ntR.",
}


@pytest.fixture
def peak() -> Iterator[Callable[[], int]]:
    """Give a function that says how much Python has allocated at once since the test began."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(name: str, tmp_path: Path, peak: Callable[[], int]) -> None:
    path = tmp_path / "hostile.vtree"
    path.write_bytes(HOSTILE[name])
    with pytest.raises(ModelFileError, match="hostile.vtree' cannot be read as a model"):
        read_model(path)
    assert peak() < 16 * len(HOSTILE[name]) + 2**20


def _arrays(tree: Tree) -> dict[str, Any]:
    return {f"tree.{name}": array for name, array in tree._asdict().items()}


def _rewritten(path: Path, tree: Tree, change: Callable[[dict[str, Any], Any], None]) -> None:
    """Change the JSON header and the arrays of a model file, past the checks of writing."""
    with safe_open(path, framework="np") as file:
        header = json.loads(file.metadata()["vtree"])
    arrays = _arrays(tree)
    change(arrays, header)
    path.write_bytes(save(arrays, {"vtree": json.dumps(header)}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays, header: header.update(schema_version=2), "newer vtree wrote it"),
        (lambda arrays, header: header.update(schema_version=0), "its schema_version is 0"),
        (lambda arrays, header: header.update(schema_version=True), "its schema_version is True"),
        (lambda arrays, header: header.pop("schema_version"), "its schema_version is None"),
        (lambda arrays, header: header.pop("levels"), "levels is a list"),
        (lambda arrays, header: header.update(n_features=2**70), "n_features is an int"),
        (lambda arrays, header: header.update(n_features=2**30), "levels is a list"),
        (lambda arrays, header: header.update(classes={"$float": "x"}), "is not nan, inf or -inf"),
        (lambda arrays, header: arrays.pop("tree.gain"), "it lacks tree.gain"),
        (lambda arrays, header: arrays.update(other=np.zeros(1)), "'other', which has no meaning"),
        (
            lambda arrays, header: arrays.update({"tree.kind": np.zeros(9, dtype=np.int16)}),
            "kind is an array of int8, not int16",
        ),
        (
            lambda arrays, header: arrays.update({"tree.value": np.full((9, 2), np.nan)}),
            "of its tree, value is finite; number 0",
        ),
    ],
)
def test_files_that_are_no_model_say_why(
    write: Write, hand_made: Tree, change: Any, message: str
) -> None:
    path = write()
    _rewritten(path, hand_made, change)
    with pytest.raises(ModelFileError, match=message):
        read_model(path)


def test_a_table_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("size,colour\n1.5,red\n")
    with pytest.raises(ModelFileError, match="it does not begin as model files do"):
        read_model(path)


def test_booleans_of_other_bytes_are_refused(write: Write) -> None:
    path = write()
    with safe_open(path, framework="np") as file:
        assert file.get_slice("extra.mask").get_dtype() == "BOOL"
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    place = header["extra.mask"]["data_offsets"][0] - len(data)
    place += max(entry["data_offsets"][1] for name, entry in header.items() if name[0] != "_")
    changed = bytearray(data)
    changed[place] = 97
    path.write_bytes(changed)
    with pytest.raises(ModelFileError, match="booleans"):
        read_model(path)


def test_reading_takes_less_than_twice_the_file(tmp_path: Path, peak: Callable[[], int]) -> None:
    n_trees = 50_000
    rows = np.arange(3 * n_trees)
    top = rows % 3 == 0
    tree = Tree(
        feature=np.where(top, 0, -1).astype(np.int32),
        kind=np.zeros(rows.size, dtype=np.int8),
        bin=np.zeros(rows.size, dtype=np.int32),
        threshold=np.zeros(rows.size),
        first_child=np.where(top, rows + 1, -1).astype(np.int32),
        n_children=np.where(top, 2, 0).astype(np.int32),
        missing_child=np.full(rows.size, -1, dtype=np.int32),
        map_offset=np.full(rows.size, -1),
        branch_map=np.empty(0, dtype=np.uint8),
        value=np.zeros((rows.size, 3)),
        weight=np.zeros(rows.size),
        n_rows=np.zeros(rows.size, dtype=np.int64),
        impurity=np.zeros(rows.size),
        gain=np.zeros(rows.size),
        root=rows[top].astype(np.int32),
    )
    write_model(tmp_path / "m", {"n_features": 1, "levels": [None]}, tree)
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    read_model(tmp_path / "m")
    assert peak() - before < 2 * (tmp_path / "m").stat().st_size


def _without_sum(path: Path) -> bytes:
    """Return a model file as it was before files had a check sum, which would refuse nearly all."""
    with safe_open(path, framework="np") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        del arrays["check_sum"]
        return save(arrays, file.metadata())


def test_files_without_a_sum_are_read(write: Write, hand_made: Tree) -> None:
    path = write()
    path.write_bytes(_without_sum(path))
    _assert_same(read_model(path).tree, hand_made)


# Mutants: none may crash, hang or allocate without bound, and what still loads must be safe to
# walk on, though its numbers may be others.

NASTY_NUMBERS = (0, 1, -1, 2, 3, 127, 255, -(2**31), 2**31 - 1, 2**53, 2**62, 2**63, 2**64, 10**30)
NASTY_JSON = (
    *(str(number) for number in NASTY_NUMBERS),
    *("null", "true", '""', "[]", "{}", "[[]]", "1e400", "-1e400", "NaN", "Infinity", "1.5"),
    *('"' + "x" * 1000 + '"', "9" * 5000, "[" * 10_000, '{"a":' * 10_000, '{"a":1,"a":2}'),
    *('{"$tuple":[]}', '{"$float":"nan"}', '"<U100000000"', '"|O"', "[4611686018427387904,0]"),
)

Rng = np.random.Generator
Mutate = Callable[[bytes, Rng], bytes]


def _ends_of_header(data: bytes) -> int:
    return 8 + int.from_bytes(data[:8], "little")


def _flipped(data: bytes, rng: Rng) -> bytes:
    mutant = bytearray(data)
    reach = len(data) if rng.random() < 0.5 else _ends_of_header(data)
    for place in rng.integers(0, reach, size=rng.integers(1, 4)):
        mutant[place] ^= 1 << int(rng.integers(8))
    return bytes(mutant)


def _cut(data: bytes, rng: Rng) -> bytes:
    return data[: rng.integers(len(data))] + bytes(int(rng.integers(2)) * 8)


def _inserted(data: bytes, rng: Rng) -> bytes:
    place, length = int(rng.integers(len(data))), int(rng.integers(1, 20))
    return data[:place] + rng.bytes(length) + data[place + int(rng.integers(2)) * length :]


def _copied(data: bytes, rng: Rng) -> bytes:
    start, place = rng.integers(len(data), size=2).tolist()
    piece = data[start : start + int(rng.integers(1, 64))]
    return data[:place] + piece + data[place + int(rng.integers(2)) * len(piece) :]


@pytest.mark.parametrize("mutate", [_flipped, _copied, _inserted])
def test_damage_is_refused(write: Write, mutate: Mutate) -> None:
    path = write()
    data = path.read_bytes()
    rng = np.random.default_rng(13)
    for _ in range(500):
        path.write_bytes(mutate(data, rng))
        try:
            model = read_model(path)
        except ModelFileError:
            continue
        # What the container may say otherwise: blanks, and the order of its entries.
        write_model(path, model.header, model.tree, model.extra)
        assert path.read_bytes() == data


def _spliced(text: str, rng: Rng) -> str:
    """Put nasty JSON in the place of a few characters, or of one value between delimiters."""
    start = int(rng.integers(len(text)))
    stop = start + int(rng.integers(0, 4))
    if rng.random() < 0.7:
        start = max(text.rfind(mark, 0, start) for mark in ":,[") + 1
        stop = min(
            (found for mark in ",]}" if (found := text.find(mark, start)) >= 0), default=stop
        )
    return text[:start] + NASTY_JSON[int(rng.integers(len(NASTY_JSON)))] + text[stop:]


def _with_nasty_container(data: bytes, rng: Rng) -> bytes:
    text = data[8 : _ends_of_header(data)].decode()
    return _container(_spliced(text, rng).encode(), data[_ends_of_header(data) :])


def _with_nasty_header(data: bytes, rng: Rng) -> bytes:
    header = json.loads(data[8 : _ends_of_header(data)])
    header["__metadata__"]["vtree"] = _spliced(header["__metadata__"]["vtree"], rng)
    return _container(header, data[_ends_of_header(data) :])


def _with_nasty_arrays(data: bytes, rng: Rng) -> bytes:
    header = json.loads(data[8 : _ends_of_header(data)])
    mutant = bytearray(data)
    entries = [entry for name, entry in header.items() if name.startswith("tree.")]
    entry = entries[int(rng.integers(len(entries)))]
    begin, end = entry["data_offsets"]
    width = {"I8": 1, "U8": 1, "I32": 4, "I64": 8, "F64": 8}[entry["dtype"]]
    for _ in range(int(rng.integers(1, 3))):
        place = _ends_of_header(data) + begin + width * int(rng.integers((end - begin) // width))
        nasty = NASTY_NUMBERS[int(rng.integers(len(NASTY_NUMBERS)))] % (1 << 8 * width)
        if entry["dtype"] == "F64" and rng.random() < 0.7:
            odd = np.array([np.nan, np.inf, -np.inf, -1.0, -0.0, 1e308])[rng.integers(6)]
            nasty = int(odd.view(np.uint64))
        mutant[place : place + width] = nasty.to_bytes(width, "little")
    return bytes(mutant)


def _walk(model: Model, rng: Rng) -> None:
    """Predict a few rows, and see that each ends at a node of the tree that it began in."""
    tree = model.tree
    values = rng.normal(size=(8, model.header["n_features"])) * 1e3
    for feature, levels in enumerate(model.header["levels"]):
        if levels is not None and levels.size:
            values[:, feature] = rng.integers(0, levels.size, size=8)
        elif levels is not None:
            values[:, feature] = np.nan
    values[rng.random(values.shape) < 0.2] = np.nan
    nodes = (tree.feature, tree.kind, tree.threshold, tree.first_child, tree.missing_child)
    leaf = traverse(values, tree.root, *nodes, tree.map_offset, tree.branch_map)
    assert (leaf >= tree.root).all()
    assert (leaf < np.append(tree.root[1:], tree.feature.size)).all()
    assert np.isfinite(tree.value[leaf]).all()


@pytest.mark.parametrize(
    ("mutate", "count"),
    [
        (_flipped, 3000),
        (_cut, 1000),
        (_inserted, 1000),
        (_copied, 1000),
        (_with_nasty_container, 1000),
        (_with_nasty_header, 1000),
        (_with_nasty_arrays, 2000),
    ],
)
def test_mutants_are_refused_or_safe(
    write: Write, peak: Callable[[], int], mutate: Mutate, count: int
) -> None:
    path = write()
    data = _without_sum(path)
    rng = np.random.default_rng(11)
    n_loaded = 0
    _walk(read_model(path), rng)  # compiles what it needs to
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(count):
        path.write_bytes(mutate(data, rng))
        try:
            model = read_model(path)
        except ModelFileError as error:
            assert len(str(error)) < 2000
        else:
            n_loaded += 1
            _walk(model, rng)
    assert peak() - before < 2**20
    assert n_loaded < count


def test_mutants_of_grown_trees(tmp_path: Path, grown: Tree) -> None:
    header = {"n_features": 3, "levels": [None, None, np.arange(5)]}
    path = tmp_path / "m"
    write_model(path, header, grown)
    data = _without_sum(path)
    rng = np.random.default_rng(12)
    for _ in range(1000):
        path.write_bytes(_with_nasty_arrays(data, rng))
        try:
            _walk(read_model(path), rng)
        except ModelFileError:
            continue
