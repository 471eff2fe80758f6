"""Tables in files: CSV, Parquet and Arrow.

A CSV file reads the same whatever is installed. `_typed` and Python's `csv` say what
a file means; pyarrow, where it is installed, only says it faster. pandas and polars
would fill rows that are too short, each by rules of its own, so they read no CSV here.
"""

import bz2
import csv
import gzip
import importlib
import lzma
import os
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from vtree.errors import InputError, NotAvailableError

# What stands for "no value" in CSV, besides blanks: what pandas and R write, and "?",
# which the files of C4.5 and Weka use. "None" is a category in too many tables.
MISSING = frozenset({"", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "?"})

_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False}
_BOOLEANS["FALSE"] = False

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}

_PARQUET = (("pyarrow.parquet", "read_table"), ("polars", "read_parquet"))
_ARROW = (("pyarrow.feather", "read_table"), ("polars", "read_ipc"))
_BINARY = {
    ".parquet": ("Parquet", (*_PARQUET, ("pandas", "read_parquet"))),
    ".pq": ("Parquet", (*_PARQUET, ("pandas", "read_parquet"))),
    ".arrow": ("Arrow", _ARROW),
    ".feather": ("Arrow", _ARROW),
    ".ipc": ("Arrow", _ARROW),
}


def read_file(path: str | os.PathLike[str], *, labels: Collection[str] = ()) -> Any:
    """Read a table from a file.

    Parameters
    ----------
    path : path
        By its ending: .csv (commas), .tsv or .tab (tabs), each also with .gz, .bz2 or
        .xz behind it; .parquet or .pq; .arrow, .feather or .ipc. CSV is UTF-8, has
        its names in the first line, and as many fields in each line. A column is of
        integers, numbers or booleans (true, false) if all its values are, else of
        strings; a value in `MISSING` is missing.
    labels : names of columns
        Those of CSV that are of strings whatever they hold, as a larger file's were: the few rows
        of a smaller one may all look like numbers.

    Returns
    -------
    pyarrow.Table, or what reads the file where pyarrow is not installed: a polars or
    pandas frame; for CSV a dict from each name to the list of its column's values,
    None where missing. `vtree.tables.read_table` takes them all.

    Raises
    ------
    InputError
        No such file, another ending, or a file that is empty or damaged, with the line
        where there is one.
    NotAvailableError
        Parquet or Arrow, and no library that reads it.
    """
    file = Path(path)
    if not file.is_file():
        state = "is a folder" if file.is_dir() else "does not exist"
        raise InputError(f"path: {str(file)!r} {state}. Pass the path of a file.")
    ending = file.suffix.lower()
    if ending in _BINARY:
        return _read_binary(file, *_BINARY[ending])
    if ending in _COMPRESSED:
        ending = Path(file.stem).suffix.lower()
    if ending not in _DELIMITERS:
        allowed = ", ".join([*_DELIMITERS, *_BINARY])
        raise InputError(
            f"path: {str(file)!r} has the ending {file.suffix!r}, but a table's must be one of "
            f"{allowed}. Rename or convert the file."
        )
    return _read_csv(file, _DELIMITERS[ending], labels)


def _read_binary(file: Path, form: str, readers: tuple[tuple[str, str], ...]) -> Any:
    for module, function in readers:
        try:
            return getattr(importlib.import_module(module), function)(file)
        except ImportError:
            continue
        except Exception as error:  # each library has errors of its own
            raise InputError(f"{str(file)!r} cannot be read as {form}: {error}") from error
    raise NotAvailableError(f"Reading {form} files needs pyarrow: pip install pyarrow.")


def _read_csv(file: Path, delimiter: str, labels: Collection[str]) -> Any:
    # Both readers take what stands behind a quote that nobody closes for one value, so
    # where quotes do not pair off, Python's strict reader decides: it finds the fault,
    # or a lone inch sign.
    strict = _count_quotes(file) % 2 == 1
    names = next(_rows(file, delimiter, strict))
    table = None if strict else _read_csv_by_arrow(file, delimiter, names, labels)
    if table is None:
        table = _read_csv_by_python(file, delimiter, strict, labels)
    if len(table[names[0]]) == 0:
        raise InputError(f"{str(file)!r} holds the names of columns, but no rows.")
    return table


def _read_csv_by_python(
    file: Path, delimiter: str, strict: bool, labels: Collection[str]
) -> dict[str, list[Any]]:
    rows = _rows(file, delimiter, strict)
    names = next(rows)
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return {
        name: _typed(texts, are_labels=name in labels)
        for name, texts in zip(names, columns, strict=True)
    }


def _rows(file: Path, delimiter: str, strict: bool) -> Iterator[list[str]]:
    """Yield the names, then the fields of each row; raise InputError where a row is bad."""
    names: list[str] = []
    with _named_faults(file), _open_text(file) as stream:
        reader = csv.reader(stream, delimiter=delimiter, strict=strict)
        try:
            # An empty line is no row.
            for row in filter(None, reader):
                names = names or _checked_names(row, file)
                if len(row) != len(names):
                    raise InputError(_ragged(file, reader.line_num, len(row), names))
                yield row
        except csv.Error as error:
            raise InputError(f"{str(file)!r}, line {reader.line_num}: {error}.") from error
    if not names:
        raise InputError(f"{str(file)!r} is empty. Its first line must name the columns.")


@contextmanager
def _named_faults(file: Path) -> Iterator[None]:
    """Turn what goes wrong in reading a file into InputError that names it."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(_not_utf8(file)) from error
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"{str(file)!r} cannot be read: {error}") from error


def _open_text(file: Path) -> TextIO:
    # newline="": the csv module tells ends of lines from line breaks in quotes itself.
    opener = _COMPRESSED.get(file.suffix.lower(), open)
    stream: TextIO = opener(file, "rt", encoding="utf-8-sig", newline="")
    return stream


def _checked_names(names: list[str], file: Path) -> list[str]:
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise InputError(
            f"{str(file)!r}: the first line names {repeated} more than once. Each column needs "
            "a name of its own."
        )
    other = next((sign for sign in ";\t|" if len(names) == 1 and sign in names[0]), None)
    if other is not None:
        raise InputError(
            f"{str(file)!r}: the first line is one name, {names[0]!r}, with {other!r} between its "
            "parts. Save the table with commas, or with tabs as a .tsv file."
        )
    return names


def _ragged(file: Path, line: int, found: int, names: list[str]) -> str:
    return (
        f"{str(file)!r}, line {line}: found {found} fields, expected {len(names)}, as many as the "
        "first line names. Correct the line; a field that holds the delimiter must stand in "
        "double quotes."
    )


def _not_utf8(file: Path) -> str:
    with _COMPRESSED.get(file.suffix.lower(), open)(file, "rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                wrong = f"byte 0x{line[error.start]:02x} at position {error.start + 1}"
                return f"{str(file)!r}, line {number}: {wrong} is not UTF-8. Save it as UTF-8."
    return f"{str(file)!r} is not UTF-8. Save it as UTF-8."


def _typed(texts: Sequence[str], *, are_labels: bool) -> list[Any]:
    """Give the values that a column's texts stand for, None where missing."""
    value: dict[str, Any] = {text: None if text.strip() in MISSING else text for text in texts}
    present = [text for text in value if value[text] is not None]
    for read in () if are_labels else (_integers, _floats, _booleans):
        try:
            value |= zip(present, read(present), strict=True)
            break
        except (ValueError, KeyError):
            continue
    return [value[text] for text in texts]


def _integers(texts: list[str]) -> list[int]:
    values = [int(_without_underscore(text)) for text in texts]
    if values and not -(2**63) <= min(values) <= max(values) < 2**63:
        raise ValueError("beyond int64")
    return values


def _floats(texts: list[str]) -> list[float]:
    return [float(_without_underscore(text)) for text in texts]


def _booleans(texts: list[str]) -> list[bool]:
    return [_BOOLEANS[text.strip()] for text in texts]


def _without_underscore(text: str) -> str:
    # Python's own notation, 1_000, is a label to everyone else.
    if "_" in text:
        raise ValueError(text)
    return text


def _read_csv_by_arrow(
    file: Path, delimiter: str, names: list[str], labels: Collection[str]
) -> Any | None:
    """Read by pyarrow, or give None where it is not installed or finds fault with the file."""
    try:
        import pyarrow
        import pyarrow.csv
    except ImportError:
        return None
    try:
        table = pyarrow.csv.read_csv(
            file,
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            # Left alone, Arrow guesses types from the first block and fails in a later one.
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pyarrow.string()),
                null_values=sorted(MISSING),
                strings_can_be_null=True,
            ),
        )
    except (pyarrow.ArrowException, OSError):
        return None  # Python's reader says what and where
    if table.column_names != names:
        return None
    columns = [
        _typed_by_arrow(column, are_labels=name in labels)
        for name, column in zip(names, table.itercolumns(), strict=True)
    ]
    return pyarrow.table(columns, names=names)


def _count_quotes(file: Path) -> int:
    opener = _COMPRESSED.get(file.suffix.lower(), open)
    with _named_faults(file), opener(file, "rb") as stream:
        return sum(block.count(b'"') for block in iter(lambda: stream.read(1 << 20), b""))


def _typed_by_arrow(texts: Any, *, are_labels: bool) -> Any:
    """Do what `_typed` does to a chunked array of strings."""
    import pyarrow
    import pyarrow.compute

    try:
        # Integers second: Arrow reads 0x1F as one.
        numbers = None if are_labels else texts.cast(pyarrow.float64())
    except pyarrow.ArrowInvalid:
        numbers = None
    if numbers is None:
        coded = texts.dictionary_encode().combine_chunks()
        distinct = _typed(coded.dictionary.to_pylist(), are_labels=are_labels)
        kind = pyarrow.string() if are_labels else None
        return pyarrow.array(distinct, kind).take(coded.indices)
    try:
        # Arrow's integers take no plus, its floats do.
        return pyarrow.compute.utf8_ltrim(texts, "+").cast(pyarrow.int64())
    except pyarrow.ArrowInvalid:
        return numbers
