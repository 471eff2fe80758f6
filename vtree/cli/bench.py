"""`vtree bench`: how fast trees grow and predict on this machine, on every backend."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

import vtree
from vtree.cli.bundled import Sample, synthetic
from vtree.cli.mistakes import as_mistakes, check_output
from vtree.cli.report import count, print_json, print_table, progress
from vtree.cli.trial import fit_on, is_native, kernels_of, score_of, start_and_fit
from vtree.cli.usable import find_backends
from vtree.errors import InputError

if TYPE_CHECKING:
    from vtree.machine import Backend

# Backends without compiled kernels define the result and are not made for speed: fewer rows.
_REFERENCE_ROWS = 2_000
_SHORT = 12  # so much of a digest is printed


class Measured(NamedTuple):
    """One backend on one table."""

    backend: str
    rows: int
    features: int
    cold_seconds: float  # a fresh process from its start to the first tree
    fit_seconds: float  # the median of warm fits
    predict_seconds: float  # likewise
    metric: str
    score: float  # on the rows of the fit
    leaves: int
    digest: str


@click.command()
@click.argument("data", required=False, type=click.Path(path_type=Path))
@click.option("--target", metavar="COL", help="The column of DATA to predict.")
@click.option(
    "--rows",
    type=click.IntRange(min=10),
    multiple=True,
    metavar="N",
    help="Rows of a table made up for this, 20 numbers each. Repeatable.  [default: 100000]",
)
@click.option("--depth", type=click.IntRange(min=1), default=8, show_default=True, metavar="N")
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True, metavar="N")
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    metavar="OUT.png",
    help="Draw rows per second to this file (needs matplotlib).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def bench(
    data: Path | None,
    target: str | None,
    rows: tuple[int, ...],
    depth: int,
    repeats: int,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Time fits and predictions on every usable backend, cold and warm.

    On a table of yours (CSV, Parquet or Arrow, with --target), or on one made up. Backends without
    compiled kernels are timed on 2,000 rows at most; their trees are the same.
    """
    if plot is not None:
        _check_plot(plot)
    samples = _samples(data, target, rows, depth)
    usable = [backend for backend in find_backends() if backend.usable]
    found = []
    for number, sample in enumerate(samples):
        for backend in usable:
            if number > 0 and _cut(sample, backend) is not sample:
                continue  # its 2,000 rows were timed already
            with progress(f"Timing {backend.name} on {count(sample.target.size, 'row')}"):
                found.append(measure(backend, _cut(sample, backend), repeats))
    if plot is not None:
        draw(found, plot)
    if as_json:
        print_json({"version": vtree.__version__, "depth": depth, "measured": _documents(found)})
        return
    _print(found)
    if plot is not None:
        click.echo(f"Rows per second are drawn in {plot}")


def _samples(
    data: Path | None, target: str | None, rows: tuple[int, ...], depth: int
) -> list[Sample]:
    settings = {"max_depth": depth}
    if data is None:
        if target is not None:
            raise InputError("--target names a column of DATA, but no DATA is given")
        return [synthetic(n)._replace(settings=settings) for n in rows or (100_000,)]
    if target is None:
        raise InputError("--target: which column of DATA is to be predicted?")
    if rows:
        raise InputError("--rows is for tables that are made up; leave it out with DATA")
    # Here, for it reads tables, which the made-up ones need not wait for.
    from vtree.cli.fit import read_data

    read = read_data(data, target, "tree", (), None)
    return [Sample(data.name, read.table, read.target.values, settings)]


def _cut(sample: Sample, backend: Backend) -> Sample:
    if is_native(backend) or sample.target.size <= _REFERENCE_ROWS:
        return sample
    return sample.part(np.arange(_REFERENCE_ROWS))


def measure(backend: Backend, sample: Sample, repeats: int) -> Measured:
    """Time one backend on one table: a fresh process, then warm fits and predictions here."""
    cold = start_and_fit(backend, sample)
    with as_mistakes():
        model = fit_on(backend, sample)
    fit_seconds = _median_of(lambda: fit_on(backend, sample), repeats)
    with as_mistakes(), kernels_of(backend):
        model.predict(sample.table)
        predict_seconds = _median_of(lambda: model.predict(sample.table), repeats)
    return Measured(
        backend=backend.name,
        rows=sample.target.size,
        features=model.n_features_in_,
        cold_seconds=cold,
        fit_seconds=fit_seconds,
        predict_seconds=predict_seconds,
        metric="R2" if sample.is_regression else "accuracy",
        score=score_of(model, sample),
        leaves=model.get_n_leaves(),
        digest=vtree.digest(model),
    )


def _median_of(task: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = perf_counter()
        task()
        times.append(perf_counter() - start)
    return statistics.median(times)


def _documents(found: list[Measured]) -> list[dict[str, Any]]:
    return [
        {
            **each._asdict(),
            "fit_rows_per_second": each.rows / each.fit_seconds,
            "predict_rows_per_second": each.rows / each.predict_seconds,
        }
        for each in found
    ]


def _print(found: list[Measured]) -> None:
    times = [
        (
            each.backend,
            f"{each.rows:,}",
            f"{each.cold_seconds:.2f}",
            f"{each.fit_seconds:.4f}",
            f"{each.rows / each.fit_seconds:,.0f}",
            f"{each.rows / each.predict_seconds:,.0f}",
        )
        for each in found
    ]
    print_table(("backend", "rows", "cold s", "fit s", "fit rows/s", "predict rows/s"), times)
    click.echo("cold: a fresh process from its start to its first tree; the rest: medians, warm\n")
    models = [
        (
            each.backend,
            f"{each.rows:,}",
            each.leaves,
            f"{each.metric} {each.score:.3f}",
            each.digest[:_SHORT],
        )
        for each in found
    ]
    print_table(("backend", "rows", "leaves", "on these rows", "digest"), models)


def draw(found: list[Measured], path: Path) -> None:
    """Draw rows per second of each backend over the number of rows, fits and predictions.

    Raises
    ------
    NotAvailableError
        If matplotlib is not installed.
    """
    figure = _figure()
    tasks = (("fit", "fit_seconds"), ("predict", "predict_seconds"))
    figure.set_layout_engine("constrained")
    for panel, (title, field) in zip(figure.subplots(1, 2), tasks, strict=True):
        for name in dict.fromkeys(each.backend for each in found):
            own = sorted((e.rows, e.rows / getattr(e, field)) for e in found if e.backend == name)
            panel.plot(*zip(*own, strict=True), marker="o", label=name)
        panel.set(title=title, xlabel="rows", ylabel="rows per second", xscale="log", yscale="log")
        sizes = sorted({each.rows for each in found})
        panel.set_xticks([], minor=True)  # their labels would stand one over another
        panel.set_xticks(sizes, [f"{rows:,}" for rows in sizes])
        panel.grid(visible=True, alpha=0.3)
        panel.legend()
    figure.savefig(path, dpi=120)


def _check_plot(path: Path) -> None:
    check_output(path, "--plot")
    if path.suffix.lower() != ".png":
        raise InputError(f"--plot: {str(path)!r} must end in .png")
    _figure()  # without matplotlib an error now, not when all is measured


def _figure() -> Any:
    from vtree.explain.picture import matplotlib_figure

    return matplotlib_figure(9.0, 4.0)
