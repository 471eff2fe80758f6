"""Parameters, class labels and category levels as JSON, exactly, and back.

Null, booleans, integers, finite floats, strings, lists, and objects whose keys do not begin with
"$" stand for themselves. All else is an object with one key, a tag:

    {"$float": "inf"}            nan, inf, -inf        {"$bytes": "..."}    one character a byte
    {"$tuple": [...]}                                  {"$dict": [[keys], [values]]}
    {"$array": {"dtype": "<i8", "shape": [2], "values": [0, 1]}}    {"$scalar": the same}
    {"$random": {"key": [...], "pos": 624, ...}}           the state of a RandomState

Both ways go by lists of work instead of recursion, so nesting costs no stack.
"""

import json
import math
import re
import reprlib
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vtree.errors import InputError, InputTypeError
from vtree.interop.random_states import from_numbers, to_numbers

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"

DEEPEST = 64  # brackets within brackets in a text
_DEEPEST_VALUE = 16  # a dict in a dict takes three brackets: 16 of them and a header fit in 64

# Text of three bytes can become an object of a hundred, so the number of objects is what bounds
# the memory. Four million values are sixty columns of 65,535 levels each; a column of categories
# takes four lists and objects and four members.
MOST_VALUES = 1 << 22
MOST_PARTS = 1 << 18  # lists, objects, and members of objects

# "<U1000000" and one short string: a width that the text does not pay for.
MOST_PADDED_BYTES = 1 << 26
# Integers with equal hashes are easily made, and a dict of n of them takes n² steps.
MOST_PAIRS = 10_000

_PIECE = 1 << 16  # bytes

_DTYPE = re.compile(r"\|b1|\|O|\|[iu]1|[<>][iu][248]|[<>]f[248]|[<>]U\d{1,9}|\|S\d{1,9}")
_LABELS: set[type] = {type(None), bool, int, float, str, bytes}
_KEPT_TYPES: dict[str, set[type]] = {
    "b": {bool},
    "i": {int},
    "u": {int},
    "f": {float},
    "U": {str},
    "S": {str},
    "O": _LABELS,
}
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_ALLOWED = (
    "A model file holds None, booleans, integers, floats, strings, bytes, lists, tuples, dicts, "
    "NumPy scalars and arrays of these, and np.random.RandomState; change it to one of them before "
    "saving."
)


class _Work(NamedTuple):
    """A value that is still to be encoded, and the slot of the list or dict that it goes to."""

    value: Any
    where: str
    depth: int
    into: Any
    slot: Any


def encode(value: Any, where: str = "value") -> Json:
    """Turn a value into JSON.

    Parameters
    ----------
    value : None, bool, int, float, str, bytes, list, tuple, dict, NumPy scalar, array, RandomState
        Within one another up to 16 deep. Arrays of booleans, integers, float16/32/64, fixed-width
        strings and bytes, or objects that are None, bool, int, float, str or bytes. Instances of
        subclasses count as the builtin that they derive from.
    where : str
        The value as messages name it.

    Returns
    -------
    JSON value that shares nothing mutable with `value`. Equal values give equal JSON text when
    keys are sorted in writing.

    Raises
    ------
    InputTypeError
        A value of another kind; the message names its place, as in "parameters.random_state".
    InputError
        Nested too deep, as a list that contains itself is.

    Examples
    --------
    >>> encode({"max_depth": None, "weights": (1, float("inf"))})
    {'max_depth': None, 'weights': {'$tuple': [1, {'$float': 'inf'}]}}
    """
    result: list[Json] = [None]
    todo = [_Work(value, where, 0, result, 0)]
    while todo:
        work = todo.pop()
        if work.depth > _DEEPEST_VALUE:
            raise InputError(
                f"{where} is nested more than {_DEEPEST_VALUE} levels deep, which a model file "
                "cannot hold. Flatten it, and see that it does not contain itself."
            )
        form, parts = _shell(work)
        work.into[work.slot] = form
        todo.extend(parts)
    return result[0]


def encode_labels(labels: NDArray[Any], where: str = "labels") -> Json:
    """Turn an array of class labels or category levels into JSON; see `encode`."""
    return {"$array": _array_form(labels, where)}


def _shell(work: _Work) -> tuple[Json, list[_Work]]:
    """Return a value's form with empty slots, and what goes into them."""
    value, where, depth = work.value, work.where, work.depth + 1
    if isinstance(value, np.ndarray):
        return encode_labels(value, where), []
    if isinstance(value, np.generic):
        return {"$scalar": _array_form(np.asarray(value), where)}, []
    if isinstance(value, np.random.RandomState) and (state := to_numbers(value)):
        return {"$random": state}, []
    if isinstance(value, list | tuple):
        slots: list[Json] = [None] * len(value)
        parts = [_Work(v, f"{where}[{i}]", depth, slots, i) for i, v in enumerate(value)]
        return ({"$tuple": slots} if isinstance(value, tuple) else slots), parts
    if not isinstance(value, dict):
        return _scalar_form(value, where), []
    if all(type(key) is str and not key.startswith("$") for key in value):
        form: dict[str, Json] = dict.fromkeys(value)
        return form, [_Work(v, f"{where}.{key}", depth, form, key) for key, v in value.items()]
    if len(value) > MOST_PAIRS:
        raise InputError(
            f"{where} has {len(value):,} entries; a model file holds at most {MOST_PAIRS:,} of a "
            "dict whose keys are not all strings. Pass an array instead."
        )
    pairs = sorted(value.items(), key=lambda pair: (type(pair[0]).__name__, repr(pair[0])))
    keys: list[Json] = [None] * len(pairs)
    values: list[Json] = [None] * len(pairs)
    parts = [_Work(k, f"{where} key {k!r}", depth, keys, i) for i, (k, _) in enumerate(pairs)]
    parts += [_Work(v, f"{where}[{k!r}]", depth, values, i) for i, (k, v) in enumerate(pairs)]
    return {"$dict": [keys, values]}, parts


def _scalar_form(value: Any, where: str) -> Json:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # str(value) of an enumeration's member is something else
    if isinstance(value, bytes):
        return {"$bytes": value.decode("latin-1")}
    if isinstance(value, int):
        return _digits_fit(int(value), where)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": repr(float(value))}
    shown = reprlib.repr(value)
    raise InputTypeError(f"{where} is {shown}, of type {type(value).__name__}. {_ALLOWED}")


def _digits_fit(value: int, where: str) -> int:
    # Python refuses to read integers of more digits than this, unless told otherwise.
    if value.bit_length() > 14_000:
        raise InputError(f"{where} is an integer of more than 4,200 digits. Make it a string.")
    return value


def _array_form(array: NDArray[Any], where: str) -> dict[str, Json]:
    name = array.dtype.str
    if array.dtype.fields is not None or not _DTYPE.fullmatch(name):
        raise InputTypeError(f"{where} is an array of dtype {array.dtype}. {_ALLOWED}")
    values = array.ravel(order="C").tolist()
    kind = array.dtype.kind
    if kind == "f":
        values = [v if math.isfinite(v) else repr(v) for v in values]
    elif kind == "S":
        values = [v.decode("latin-1") for v in values]
    elif kind == "O":
        labels = (v.item() if isinstance(v, np.generic) else v for v in values)
        values = [_scalar_form(v, f"{where}[{i}]") for i, v in enumerate(labels)]
    return {"dtype": name, "shape": list(array.shape), "values": values}


def to_text(form: Json) -> str:
    """Write JSON as ASCII, keys sorted: equal values give equal texts."""
    return json.dumps(form, sort_keys=True, allow_nan=False, separators=(",", ":"))


def from_text(text: str) -> Json:
    """Read JSON that nobody vouches for.

    Raises
    ------
    InputError
        Not JSON, a key twice in an object, NaN and infinities as bare words, nested deeper than
        64 brackets, more than 4,194,304 values, or 262,144 lists, objects and their members.
    """
    check_size(text.encode("utf-8", "surrogatepass"), MOST_VALUES, MOST_PARTS)
    try:
        form: Json = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except ValueError as error:
        raise InputError(f"not JSON of a model: {error}") from error
    return form


def check_size(text: bytes, most_values: int, most_parts: int) -> None:
    """Raise InputError if JSON text would become too many objects, before there are any.

    `text` is UTF-8, whose bytes above 127 are no brackets, quotes, colons or commas.
    """
    # Without these pairs each quote begins or ends a string.
    plain = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    n_parts = n_values = depth = quoted = 0
    for start in range(0, len(plain), _PIECE):  # in pieces, so that masks take no memory
        byte = np.frombuffer(plain, np.uint8, min(_PIECE, len(plain) - start), start)
        inside = np.bitwise_xor.accumulate(byte == ord('"')) ^ (quoted == 1)
        quoted = int(inside[-1])
        byte = byte[~inside]
        opens = (byte == ord("[")) | (byte == ord("{"))
        closes = (byte == ord("]")) | (byte == ord("}"))
        depths = depth + np.cumsum(opens.astype(np.int64) - closes)
        n_parts += int(np.count_nonzero(opens | (byte == ord(":"))))
        n_values += int(np.count_nonzero(opens | (byte == ord(","))))
        if n_parts > most_parts or n_values > most_values:
            raise InputError(
                f"more than {most_values:,} values, or {most_parts:,} lists, objects and members"
            )
        if depths.max(initial=0) > DEEPEST:
            raise InputError(f"nested more than {DEEPEST} brackets deep")
        depth = int(depths[-1]) if depths.size else depth


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise InputError("an object has a key twice")
    return result


def _refuse(name: str) -> Json:
    raise InputError(f"{name} is not JSON")


def decode(form: Json) -> Any:
    """Turn JSON that `encode` made back into the value.

    Raises
    ------
    InputError
        Not what `encode` makes, or made to take much more memory or time than its size.
    """
    found: list[Any] = [[form]]
    for container in found:  # grows while it is read: all lists and objects, parents first
        inner = container.values() if isinstance(container, dict) else container
        found.extend(each for each in inner if isinstance(each, list | dict))
    decoder = _Decoder()
    built: dict[int, Any] = {}
    for container in reversed(found):
        inner = container.values() if isinstance(container, dict) else container
        parts = [built[id(v)] if isinstance(v, list | dict) else v for v in inner]
        is_object = isinstance(container, dict)
        built[id(container)] = decoder.object_of(list(container), parts) if is_object else parts
    return built[id(found[0])][0]


def decode_labels(form: Json) -> NDArray[Any]:
    """Turn JSON that `encode_labels` made back into the array; raises as `decode`."""
    labels = decode(form)
    if not isinstance(labels, np.ndarray):
        raise InputError(f"expected an array of labels, not {reprlib.repr(labels)}")
    return labels


class _Decoder:
    """Builds one value, and counts what it could be made to waste."""

    def __init__(self) -> None:
        self.padded_bytes = 0
        self.pairs = 0

    def object_of(self, keys: list[str], parts: list[Any]) -> Any:
        tags = [key for key in keys if key.startswith("$")]
        if not tags:
            return dict(zip(keys, parts, strict=True))
        build: dict[str, Callable[[Any], Any]] = {
            "$float": self._float,
            "$bytes": self._bytes,
            "$tuple": self._tuple,
            "$dict": self._dict,
            "$array": self._array,
            "$scalar": self._scalar,
            "$random": from_numbers,
        }
        if len(keys) != 1 or tags[0] not in build:
            raise InputError(f"{reprlib.repr(keys)} is no tag of a value")
        return build[tags[0]](parts[0])

    def _float(self, name: Any) -> float:
        if not isinstance(name, str) or name not in _NOT_FINITE:
            raise InputError(f"{reprlib.repr(name)} is not nan, inf or -inf")
        return _NOT_FINITE[name]

    def _bytes(self, text: Any) -> bytes:
        if not isinstance(text, str):
            raise InputError(f"{reprlib.repr(text)} does not stand for bytes")
        return _latin(text)

    def _tuple(self, parts: Any) -> tuple[Any, ...]:
        if not isinstance(parts, list):
            raise InputError(f"{reprlib.repr(parts)} does not stand for a tuple")
        return tuple(parts)

    def _dict(self, pairs: Any) -> dict[Any, Any]:
        ok = isinstance(pairs, list) and len(pairs) == 2
        if not (ok and all(isinstance(p, list) for p in pairs) and len(pairs[0]) == len(pairs[1])):
            raise InputError("a dict is not a list of keys and a list of as many values")
        self.pairs += len(pairs[0])
        if self.pairs > MOST_PAIRS:
            raise InputError(f"more than {MOST_PAIRS:,} entries of dicts")
        try:
            result = dict(zip(*pairs, strict=True))
        except TypeError as error:
            raise InputError(f"a key of a dict cannot be one: {error}") from error
        if len(result) != len(pairs[0]):
            raise InputError("a dict has a key twice")
        return result

    def _scalar(self, form: Any) -> Any:
        array = self._array(form)
        if array.shape != () or array.dtype == object:
            raise InputError(f"{reprlib.repr(form)} does not stand for a NumPy scalar")
        return array[()]

    def _array(self, form: Any) -> NDArray[Any]:
        if not isinstance(form, dict) or form.keys() != {"dtype", "shape", "values"}:
            raise InputError("an array is not dtype, shape and values")
        name, shape, values = form["dtype"], form["shape"], form["values"]
        if not isinstance(name, str) or not _DTYPE.fullmatch(name):
            raise InputError(f"{reprlib.repr(name)} is no dtype of labels")
        if not isinstance(values, list) or not _is_shape(shape, len(values)):
            raise InputError(f"shape {reprlib.repr(shape)} does not fit the values of an array")
        try:
            dtype = np.dtype(name)
            if dtype.kind in "US":
                self.padded_bytes += dtype.itemsize * max(1, len(values))
                if self.padded_bytes > MOST_PADDED_BYTES:
                    raise InputError(f"arrays of {name} and alike need too much memory")
            return _filled(values, dtype).reshape(shape)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"an array of {name} cannot be built: {error}") from error


def _latin(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError as error:
        raise InputError(f"{reprlib.repr(text)} does not stand for bytes") from error


def _is_shape(shape: Any, size: int) -> bool:
    if not isinstance(shape, list) or len(shape) > 32:
        return False
    # Each length is bounded first: a product of 32 integers of any length takes no time then.
    if any(type(n) is not int or not 0 <= n < 1 << 62 for n in shape):
        return False
    return math.prod(shape) == size


def _filled(values: list[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return values as a new array (n,), each of exactly the type that the dtype stands for."""
    if dtype.kind == "f":
        values = [_NOT_FINITE.get(v, v) if type(v) is str else v for v in values]
    types = set(map(type, values))
    if not types <= _KEPT_TYPES[dtype.kind]:
        raise InputError(f"an array of {dtype.str} holds {sorted(t.__name__ for t in types)}")
    if dtype.kind == "S":
        values = [_latin(v) for v in values]
    _check_fit(values, dtype)
    array = np.empty(len(values), dtype=dtype)
    with np.errstate(over="ignore"):  # float16 of a number that it does not hold is infinite
        array[:] = values
    return array


def _check_fit(values: list[Any], dtype: np.dtype[Any]) -> None:
    """Refuse what NumPy would cut or, in some versions, wrap around."""
    if dtype.kind in "iu" and values:
        limits = np.iinfo(dtype)
        if min(values) < limits.min or max(values) > limits.max:
            raise InputError(f"an integer does not fit in {dtype.str}")
    if dtype.kind in "US":
        width = dtype.itemsize // (4 if dtype.kind == "U" else 1)
        if max(map(len, values), default=0) > width:
            raise InputError(f"a label is longer than {dtype.str}")
