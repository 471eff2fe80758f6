"""Model files (`.vtree`): trees and what belongs to them, without pickle.

A file is a safetensors container: the arrays of the `Tree` as "tree.<field>" (or fewer, as
"slim.<field>", see `vtree.interop.slim`), further arrays as
"extra.<name>", one text in the metadata, "vtree", which is the header as JSON
(`vtree.interop.json_values`), and a sum over all of them (`vtree.interop.check_sum`). Equal models
give equal bytes. Reading runs nothing that the file
says, and checks all of it before anything is built on it.
"""

import contextlib
import errno
import os
import reprlib
import secrets
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from vtree.errors import InputError, InputTypeError, ModelFileError
from vtree.interop.check_sum import check_sum
from vtree.interop.json_values import check_size, decode, encode, from_text, to_text
from vtree.interop.model_checks import fault_of_header, fault_of_model, n_levels_of
from vtree.interop.slim import FIELDS as SLIM_FIELDS
from vtree.interop.slim import packed, unpacked
from vtree.tree import Tree

SCHEMA_VERSION = 1

_METADATA = "vtree"
_VERSION = "schema_version"
_CHECK_SUM = "check_sum"
_HEADER_BYTES = 100_000_000  # the most that safetensors reads
_MOST_IN_CONTAINER = 1 << 16  # as json_values counts; an array there takes about ten
_MOST_EXTRA = 1_000

_STORED = {
    "BOOL": np.bool_,
    "I8": np.int8,
    "U8": np.uint8,
    "I16": np.int16,
    "U16": np.uint16,
    "I32": np.int32,
    "U32": np.uint32,
    "I64": np.int64,
    "U64": np.uint64,
    "F16": np.float16,
    "F32": np.float32,
    "F64": np.float64,
}
_STORED_DTYPES = {np.dtype(dtype) for dtype in _STORED.values()}

_Path = str | os.PathLike[str]
_NO_EXTRA: Mapping[str, NDArray[Any]] = MappingProxyType({})


class Model(NamedTuple):
    """What a model file holds."""

    header: dict[str, Any]
    tree: Tree
    extra: dict[str, NDArray[Any]]


def write_model(
    path: _Path,
    header: Mapping[str, Any],
    tree: Tree,
    extra: Mapping[str, NDArray[Any]] = _NO_EXTRA,
    *,
    slim: Any = None,
) -> None:
    """Write a model, all of it or nothing: until it is complete, the old file stays.

    Parameters
    ----------
    path : path of the file; an existing file is replaced and lends its permissions
    header : mapping from str
        Values as `vtree.interop.json_values.encode` takes them; no "schema_version", which is
        written here. It must have

        - n_features: int, F >= 1
        - levels: list or tuple of F: None for a numeric feature, or the 1-D array of its levels

        and where it has these they must be

        - feature_names: None, or list or tuple of F str
        - edges: None, or list or tuple of F: None, or the edges, ascending float64, of the bins
          that a numeric feature is split by like a category
        - edges_of_trees: None, or such a list for each tree of those that have their own
        - n_derived: int >= 0, how many numeric columns stand behind the F features in the tree's
          eyes, made of them by the estimator
        - n_outputs: int >= 1
        - classes: None, 1-D array, or list or tuple of n_outputs 1-D arrays; none of them empty
        - estimator: str
        - parameters: dict from str
    tree : Tree, any number of roots, canonical
    extra : at most 1,000 further arrays by name: booleans, integers, float16/32/64, any shape
    slim : None, or the dtype of leaves' values in a file without what training knew of each node

    Raises
    ------
    InputTypeError
        A parameter, a label or an array of a kind that a file cannot hold; named in the message.
    InputError
        A model that `read_model` would not accept; a path that is not a file's.
    OSError
        The system's, with `path` as its file name.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise InputError(f"path: {str(path)!r} is not a file. Pass the path of a file.")
    text = _header_text(header)
    fault = fault_of_model(decode(from_text(text)), tree)
    if fault is not None:
        raise InputError(f"The model cannot be saved: {fault}.")
    if len(extra) > _MOST_EXTRA:
        raise InputError(f"extra has {len(extra):,} arrays, at most {_MOST_EXTRA:,}. Join some.")
    kind, fields = ("tree", tree._asdict()) if slim is None else ("slim", packed(tree, slim))
    arrays = {f"{kind}.{name}": _storable(array, name) for name, array in fields.items()}
    arrays |= {f"extra.{_name(name)}": _storable(array, name) for name, array in extra.items()}
    data = save({**arrays, _CHECK_SUM: check_sum(arrays, text)}, {_METADATA: text})
    if int.from_bytes(data[:8], "little") > _HEADER_BYTES:
        raise InputError(
            f"header: its labels, parameters and names are more than {_HEADER_BYTES:,} bytes as "
            "JSON. Merge rare categories, or shorten the labels."
        )
    try:
        _replace(target, data)
    except OSError as error:
        # The system's message would name the temporary file.
        message = f"The model was not saved: {error.strerror or error}"
        raise OSError(error.errno or errno.EIO, message, str(path)) from error


def read_model(path: _Path) -> Model:
    """Read a model from a file that nobody vouches for.

    Parameters
    ----------
    path : path of a file that `write_model` wrote

    Returns
    -------
    (header, tree, extra), as they were given to `write_model`, the arrays C-contiguous. Checked:
    what `write_model` says of the header, what `vtree.interop.tree_checks` says of the tree. Not
    checked: that tree.value (M, K) has the K that the estimator needs, and anything about `extra`.

    Memory: the arrays, checks that need less than these, and the header as Python objects, at
    most four million. Time: in proportion to the size of the file.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ModelFileError
        Anything else: a folder, no permission, no model, damaged, hostile, or of a newer version.
    """
    try:
        _check_container(Path(path))
        # The library checks that its own header, offsets and sizes fit each other and the file.
        with safe_open(os.fspath(path), framework="np") as file:
            text = _text_of(file.metadata())
            header = _header_of(text)
            arrays = dict(_arrays(file))
        said = arrays.pop(_CHECK_SUM, None)  # files from before have none
        model = _assembled(header, arrays)  # whose checks say more
        if said is not None and not np.array_equal(said, check_sum(arrays, text)):
            raise InputError("it is not what its check sum was made of")
        return model
    except FileNotFoundError as error:
        message = "There is no such model file; check the path"
        raise FileNotFoundError(errno.ENOENT, message, str(path)) from error
    except (InputError, SafetensorError, OSError) as error:
        raise ModelFileError(
            f"{str(path)!r} cannot be read as a model: {error}. Pass a file that vtree wrote; if "
            "it did write this one, the file has been damaged: copy it again, or save the model "
            "again."
        ) from error


def _header_text(header: Mapping[str, Any]) -> str:
    if _VERSION in header:
        raise InputError(f"header: {_VERSION!r} is written by write_model. Leave it out.")
    forms = {_header_key(key): encode(value, key) for key, value in header.items()}
    return to_text({**forms, _VERSION: SCHEMA_VERSION})


def _header_key(key: Any) -> str:
    if type(key) is not str or key.startswith("$"):
        raise InputError(f"header: the key {key!r} is not a string without $ in front.")
    return key


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name.isprintable():  # lone surrogates are not printable
        raise InputError(f"extra: the name {name!r} is not a printable string.")
    return name


def _storable(array: Any, name: str) -> NDArray[Any]:
    """Return the array in row-major order, which safetensors takes for granted, little-endian."""
    stored = np.asarray(array, order="C")
    stored = stored.astype(stored.dtype.newbyteorder("<"), copy=False)
    if stored.dtype.newbyteorder("=") not in _STORED_DTYPES:
        allowed = ", ".join(sorted(map(str, _STORED_DTYPES)))
        raise InputTypeError(
            f"The array {name!r} is of dtype {stored.dtype}; a model file holds {allowed}. "
            "Convert it, or put labels into the header."
        )
    return stored


def _replace(target: Path, data: bytes) -> None:
    """Write a file under another name, and rename it when it is safely on the disk."""
    temporary = target.with_name(f".{secrets.token_hex(8)}.vtree-part")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut, where folders can be synchronised."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems refuse it for folders, and there is nothing else to do.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _check_container(path: Path) -> None:
    """Refuse what the library would wait for, or build millions of objects from."""
    # Pipes and devices first: opening one may wait for ever.
    if not stat.S_ISREG(path.stat().st_mode):
        raise InputError("it is a folder, or else no regular file")
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > _HEADER_BYTES:  # a table, say, where the paths were swapped
            raise InputError("it does not begin as model files do")
        if length > path.stat().st_size - 8:
            raise InputError(f"its first bytes say that a header of {length:,} bytes follows")
        check_size(file.read(length), _MOST_IN_CONTAINER, _MOST_IN_CONTAINER)


def _text_of(metadata: dict[str, str] | None) -> str:
    if not metadata or _METADATA not in metadata:
        raise InputError("it has no vtree header")
    return metadata[_METADATA]


def _header_of(text: str) -> dict[str, Any]:
    form = from_text(text)
    if not isinstance(form, dict):
        raise InputError("its header is not an object")
    version = form.pop(_VERSION, None)
    if type(version) is not int or version < 1:
        raise InputError(f"its {_VERSION} is {reprlib.repr(version)}")
    if version > SCHEMA_VERSION:
        raise InputError(
            f"its {_VERSION} is {version} and this vtree reads up to {SCHEMA_VERSION}; a newer "
            "vtree wrote it, and reads it"
        )
    header = decode(form)
    if not isinstance(header, dict):
        raise InputError("its header is not an object")
    return header


def _arrays(file: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield names and arrays; each array is read when its type is known to be one of ours."""
    for name in file.keys():  # noqa: SIM118 (not a dict)
        part = file.get_slice(name)
        dtype, shape = part.get_dtype(), part.get_shape()
        if dtype not in _STORED:
            raise InputError(f"array {reprlib.repr(name)} has the unknown type {dtype}")
        try:
            array = np.asarray(file.get_tensor(name)).reshape(shape)
        except ValueError as error:  # too many axes; an axis of length 0 beside an endless one
            raise InputError(f"array {reprlib.repr(name)}: {error}") from error
        # A byte that is neither 0 nor 1 is no bool: NumPy may then take it for both.
        if dtype == "BOOL" and (array.view(np.uint8) > 1).any():
            raise InputError(f"array {reprlib.repr(name)} has booleans that are neither")
        yield name, array


def _assembled(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Model:
    is_slim = "slim.feature" in arrays
    of_tree = {f"tree.{field}": field for field in Tree._fields}
    if is_slim:
        of_tree = {f"slim.{field}": field for field in SLIM_FIELDS}
    missing = sorted(of_tree.keys() - arrays.keys())
    if missing:
        raise InputError(f"it lacks {', '.join(missing)}")
    extra = {}
    for name in sorted(arrays.keys() - of_tree.keys()):
        if not name.startswith("extra."):
            raise InputError(f"it has an array {reprlib.repr(name)}, which has no meaning")
        extra[name.removeprefix("extra.")] = arrays[name]
    fields = {field: arrays[name] for name, field in of_tree.items()}
    # The header first, for a slim tree is unpacked by the levels in it.
    fault = fault_of_header(header)
    if fault is not None:
        raise InputError(fault)
    if is_slim and header.get("edges_of_trees") is not None:
        raise InputError("slim trees have no edges of their own")
    tree = unpacked(fields, n_levels_of(header)) if is_slim else Tree(**fields)
    fault = fault_of_model(header, tree)
    if fault is not None:
        raise InputError(fault)
    return Model(header, tree, extra)
