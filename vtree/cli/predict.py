"""`vtree predict`: a saved model and a table from a file to a column of predictions."""

import csv
import importlib
import sys
from pathlib import Path
from typing import Any, TextIO

import click
import numpy as np

import vtree
from vtree.cli.columns import names_of, select
from vtree.cli.mistakes import as_mistakes, check_output
from vtree.cli.report import count, print_json, progress
from vtree.errors import InputError, NotAvailableError
from vtree.interop.table_file import read_file

_PARQUET = {".parquet", ".pq"}


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Write to this .csv or .parquet file; left out: CSV to the standard output.",
)
@click.option("--proba", is_flag=True, help="The share of each class, not the class.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def predict(model: Path, data: Path, output: Path | None, proba: bool, as_json: bool) -> None:
    """Predict the rows of a table with a saved tree.

    DATA is CSV, Parquet or Arrow. Columns are found by their names; those that the model does not
    know are left alone.
    """
    check_output(output)
    if output is not None and output.suffix.lower() not in {".csv", *_PARQUET}:
        raise InputError(f"--output: {str(output)!r} must end in .csv or .parquet")
    with progress(f"Predicting {data}"):
        fitted = vtree.load(model)
        columns = _predictions(fitted, read_file(data, labels=labels_of(fitted)), proba)
    if output is not None:
        _write(columns, output)
    n_rows = next(iter(columns.values())).size
    if as_json:
        results = columns if output is None else {}
        print_json({"model": model, "data": data, "output": output, "rows": n_rows, **results})
    elif output is None:
        _write_csv(columns, sys.stdout)
    else:
        click.echo(f"{count(n_rows, 'row')} predicted, written to {output}")


def labels_of(model: Any) -> list[str]:
    """List the columns that held strings in training, as far as they had names."""
    names, levels = model.schema_.names, model.schema_.levels
    return [
        name
        for name, own in zip(names or (), levels if names else (), strict=True)
        if own is not None and any(isinstance(level, str) for level in own.tolist())
    ]


def inputs_for(model: Any, table: Any) -> Any:
    """Return the columns that a model was trained on; raise InputError if some are not there."""
    trained = getattr(model, "feature_names_in_", None)
    if trained is None:
        return table
    names = names_of(table)
    absent = [name for name in trained if name not in names]
    if absent:
        raise InputError(
            f"the data has no column {', '.join(map(repr, absent))}, which the model was trained "
            f"on; it has {', '.join(map(repr, names))}"
        )
    return select(table, list(trained))


def _predictions(model: Any, table: Any, proba: bool) -> dict[str, Any]:
    """Return columns to write, each (N,)."""
    inputs = inputs_for(model, table)
    if proba and not hasattr(model, "predict_proba"):
        kind = type(model).__name__
        said = "tells no shares of classes" if hasattr(model, "classes_") else "predicts numbers"
        raise InputError(f"--proba: {kind} {said}; leave it out")
    with as_mistakes():
        if not proba:
            return _numbered("prediction", np.asarray(model.predict(inputs)))
        shares = model.predict_proba(inputs)
    if not isinstance(shares, list):
        return _of_classes("", model.classes_, shares)
    columns: dict[str, Any] = {}
    for output, (classes, share) in enumerate(zip(model.classes_, shares, strict=True)):
        columns |= _of_classes(f"{output}_", classes, share)
    return columns


def _numbered(name: str, values: Any) -> dict[str, Any]:
    if values.ndim == 1:
        return {name: values}
    return {f"{name}_{output}": values[:, output] for output in range(values.shape[1])}


def _of_classes(output: str, classes: Any, shares: Any) -> dict[str, Any]:
    named = zip(classes.tolist(), np.asarray(shares).T, strict=True)
    return {f"probability_{output}{label}": share for label, share in named}


def _write(columns: dict[str, Any], output: Path) -> None:
    if output.suffix.lower() in _PARQUET:
        _write_parquet(columns, output)
        return
    with output.open("w", encoding="utf-8", newline="") as stream:
        _write_csv(columns, stream)


def _write_csv(columns: dict[str, Any], stream: TextIO) -> None:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


def _write_parquet(columns: dict[str, Any], output: Path) -> None:
    lists = {name: column.tolist() for name, column in columns.items()}
    try:
        arrow = importlib.import_module("pyarrow")
        importlib.import_module("pyarrow.parquet").write_table(arrow.table(lists), output)
    except ImportError as error:
        raise NotAvailableError(
            f"Writing Parquet files needs pyarrow: pip install pyarrow ({error})"
        ) from error
