"""`vtree fit`: a table from a file, a tree to a file, and what it is worth on rows held out."""

import ast
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

import vtree
from vtree.cli.columns import (
    check_names,
    labels_of_rows,
    missing_in,
    names_of,
    select,
    strays_in,
    take,
    values_in,
)
from vtree.cli.mistakes import as_mistakes, check_output
from vtree.cli.report import count, decimals, print_facts, print_json, progress
from vtree.cli.target import (
    SYSTEMS,
    WITHOUT_TARGET,
    Target,
    knows_no_target,
    no_target,
    numbers_in,
    read_target,
)
from vtree.errors import InputError
from vtree.interop.table_file import read_file
from vtree.tree import depth

_OF_SYSTEMS = dict.fromkeys(name for pair in SYSTEMS.values() for name in pair)
_KINDS = [*SYSTEMS, *WITHOUT_TARGET, *_OF_SYSTEMS, *WITHOUT_TARGET.values()]

_SPLIT_SEED = 0  # the same rows are held out each time


class Data(NamedTuple):
    """What a file holds for a fit; rows whose target is missing left out."""

    table: Any  # the features, (N, F)
    target: Target
    weight: NDArray[np.float64] | None  # (N,)
    n_read: int  # rows of the file
    seconds: float


class Part(NamedTuple):
    """Rows to fit on, or to test on."""

    table: Any
    labels: NDArray[Any]
    weight: NDArray[np.float64] | None


class Result(NamedTuple):
    """What a fitted tree scores and how long that took."""

    n_fit: int
    n_test: int
    score_fit: float | None
    score_test: float | None
    seconds_fit: float
    seconds_test: float


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", metavar="COL", help="The column to predict.")
@click.option(
    "--model",
    "kind",
    type=click.Choice(_KINDS),
    default="tree",
    show_default=True,
    help="A system takes its classifier or its regressor, as the target suggests; "
    "isolation_forest looks for outliers and takes no target.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PARAM=VALUE",
    help="A parameter of the model, such as max_depth=4. May be repeated.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="MODEL.vtree", help="Save the model here."
)
@click.option(
    "--test-size",
    type=click.FloatRange(0.0, 1.0, max_open=True),
    default=0.25,
    show_default=True,
    help="The share of rows to hold out and to test on; 0 for none.",
)
@click.option("--drop", multiple=True, metavar="COL", help="A column to leave out. Repeatable.")
@click.option("--weight", metavar="COL", help="The column of sample weights.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def fit(
    data: Path,
    target: str | None,
    kind: str,
    settings: tuple[str, ...],
    output: Path | None,
    test_size: float,
    drop: tuple[str, ...],
    weight: str | None,
    as_json: bool,
) -> None:
    """Fit a tree to a table: CSV, Parquet or Arrow.

    Strings are categories and empty fields are missing values; neither needs preparation. Rows
    whose target is missing are left out. The model is the one fitted without the held-out rows.
    """
    check_output(output)
    with progress(f"Reading {data}"):
        read = read_data(data, target, kind, drop, weight)
    model = build_model(read.target.model, settings)
    with progress("Fitting"), as_mistakes():
        result = _measure(model, read, test_size)
    if output is not None:
        vtree.save(model, output)
    asked = {"data": data, "target": target, "set": list(settings), "output": output}
    summary = {**asked, **_summary(model, read, result)}
    if as_json:
        print_json(summary)
    else:
        print_facts(_facts(summary))


def build_model(name: str, settings: tuple[str, ...]) -> Any:
    """Return an estimator with the parameters of `--set name=value`, read as Python or strings."""
    model = getattr(vtree, name)()
    allowed = model.get_params()
    chosen = {}
    for setting in settings:
        parameter, equals, text = setting.partition("=")
        parameter = parameter.strip()
        if not equals:
            raise InputError(f"--set {setting}: write it as PARAM=VALUE, such as max_depth=4")
        if parameter not in allowed:
            raise InputError(
                f"--set: {name} has no parameter {parameter!r}. It has {', '.join(allowed)}."
            )
        chosen[parameter] = _literal(text.strip())
    return model.set_params(**chosen)


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def read_data(
    data: Path, target: str | None, kind: str, drop: tuple[str, ...], weight: str | None
) -> Data:
    """Read a file for a fit, kind being the name of an estimator or a system."""
    start = perf_counter()
    table = read_file(data)
    names = names_of(table)
    _check_target(target, kind, names)
    check_names(drop, names, "--drop")
    check_names([weight] if weight else [], names, "--weight")
    if target is not None and (target == weight or target in drop):
        raise InputError(f"--target: {target!r} is also given to --weight or --drop")
    features = [name for name in names if name not in {target, weight, *drop}]
    if not features:
        raise InputError(f"no column is left to predict {target!r} from; the table has {names}")
    values = values_in(table, names[0] if target is None else target)
    known = no_target(len(values), kind) if target is None else read_target(values, target, kind)
    weights = None
    if weight is not None:
        weights = numbers_in(values_in(table, weight), weight, "--weight")[known.rows]
    inputs = select(table, features)
    used = features if target is None else [*features, target]
    strays = strays_in(select(table, used))
    for name, stray in strays.items():
        click.echo(
            f"Note: column {name!r} is read as strings, for {stray!r} is no number. Leave the "
            "field empty, or write NA, where a value is missing.",
            err=True,
        )
    for name in labels_of_rows(inputs):
        if name not in strays:
            click.echo(
                f"Note: column {name!r} has another string in each row, which says nothing of "
                f"other rows. Leave it out by --drop {name!r}.",
                err=True,
            )
    if known.rows.size < len(values):
        inputs = take(inputs, known.rows)
    return Data(inputs, known, weights, len(values), perf_counter() - start)


def _check_target(target: str | None, kind: str, names: list[str]) -> None:
    """Raise InputError for a target that is not there, is missing or is not asked for."""
    if target is not None:
        if knows_no_target(kind):
            raise InputError(f"--target: {kind} takes none; leave a column out by --drop {target}")
        check_names([target], names, "--target")
    elif not knows_no_target(kind):
        raise InputError("--target: name the column to predict, as in --target price")


def _measure(model: Any, data: Data, test_size: float) -> Result:
    """Fit on the rows not held out; score on both parts."""
    shuffled = np.random.default_rng(_SPLIT_SEED).permutation(data.target.values.size)
    n_test = int(test_size * shuffled.size)
    test, train = _part(data, np.sort(shuffled[:n_test])), _part(data, np.sort(shuffled[n_test:]))
    start = perf_counter()
    model.fit(train.table, train.labels, sample_weight=train.weight)
    seconds_fit = perf_counter() - start
    score_fit = _score(model, train)
    start = perf_counter()
    score_test = _score(model, test)
    seconds_test = perf_counter() - start
    sizes = train.labels.size, test.labels.size
    return Result(*sizes, score_fit, score_test, seconds_fit, seconds_test)


def _part(data: Data, rows: NDArray[np.int64]) -> Part:
    weight = None if data.weight is None else data.weight[rows]
    return Part(take(data.table, rows), data.target.values[rows], weight)


def _score(model: Any, part: Part) -> float | None:
    """Return accuracy, R2 or the share of outliers; None where rows are few or weigh nothing."""
    if _finds_outliers(model):
        outliers = np.asarray(model.predict(part.table)) < 0 if part.labels.size else None
        return None if outliers is None else float(np.mean(outliers))
    enough = 1 if hasattr(model, "classes_") else 2
    if part.labels.size < enough or (part.weight is not None and not part.weight.any()):
        return None
    return float(model.score(part.table, part.labels, sample_weight=part.weight))


def _finds_outliers(model: Any) -> bool:
    return type(model).__name__ in WITHOUT_TARGET.values()


def _metric(model: Any) -> str:
    if _finds_outliers(model):
        return "outliers"
    return "accuracy" if hasattr(model, "classes_") else "R2"


def _summary(model: Any, data: Data, result: Result) -> dict[str, Any]:
    levels = model.schema_.levels
    classes = {"classes": model.classes_} if hasattr(model, "classes_") else {}
    return {
        "model": data.target.model,
        "chosen": data.target.why,
        **classes,
        "rows": {
            "read": data.n_read,
            "target_missing": data.n_read - data.target.rows.size,
            "fit": result.n_fit,
            "test": result.n_test,
        },
        "features": len(levels),
        "categorical": sum(each is not None for each in levels),
        "missing_values": missing_in(data.table),
        "seconds": {
            "read": data.seconds,
            "fit": result.seconds_fit,
            "test": result.seconds_test,
        },
        "metric": {
            "name": _metric(model),
            "fit": result.score_fit,
            "test": result.score_test,
        },
        "trees": int(model.grown_.root.size),
        "depth": int(depth(model.grown_).max()),
        "leaves": int((model.grown_.first_child < 0).sum()),
        "digest": vtree.digest(model),
    }


def _facts(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Write a summary as lines for people."""
    rows, seconds, metric = summary["rows"], summary["seconds"], summary["metric"]
    left_out = rows["target_missing"]
    read = f"{rows['read']:,} read, {rows['fit']:,} to fit, {rows['test']:,} to test"
    held_out = f"{decimals(metric['test'])} on the rows held out"
    facts = [
        ("data", str(summary["data"])),
        ("target", summary["target"]),
        ("model", f"{summary['model']} ({summary['chosen']})"),
        ("rows", read + (f"; {left_out:,} left out, their target is missing" if left_out else "")),
        ("features", f"{summary['features']:,}, of which {summary['categorical']:,} categorical"),
        ("missing", count(summary["missing_values"], "value")),
        (metric["name"], f"{held_out}, {decimals(metric['fit'])} on those to fit"),
        _trees_fact(summary),
        ("digest", summary["digest"]),
        ("seconds", ", ".join(f"{name} {spent:.3f}" for name, spent in seconds.items())),
    ]
    if summary["output"] is not None:
        facts.append(("saved", str(summary["output"])))
    return facts


def _trees_fact(summary: dict[str, Any]) -> tuple[str, str]:
    leaves = count(summary["leaves"], "leaf")
    if summary["trees"] == 1:
        return "tree", f"depth {summary['depth']}, {leaves}"
    return "trees", f"{summary['trees']:,}, depth up to {summary['depth']}, {leaves} in all"
