"""`vtree demo`: trees on small tables, grown on every backend, which must all be the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

import vtree
from vtree.cli.bundled import SAMPLES, Sample, synthetic
from vtree.cli.report import count, decimals, print_json, print_table, progress
from vtree.cli.trial import Speed, fit_on, held_out_score, is_native, score_of, speed_of
from vtree.cli.usable import find_backends, print_backends

if TYPE_CHECKING:
    from vtree.machine import Backend

# Backends without compiled kernels are timed on fewer rows, and all are compared on these.
_REFERENCE_ROWS = 2_000
_SHORT = 12  # so much of a digest is printed


class Grown(NamedTuple):
    """A sample's tree as it came from each backend."""

    sample: Sample
    model: Any  # of the first backend
    held_out: float
    digests: dict[str, str]  # by the name of the backend

    @property
    def agree(self) -> bool:
        """Tell whether all backends grew the same tree."""
        return len(set(self.digests.values())) == 1


@click.command()
@click.option(
    "--rows",
    type=click.IntRange(min=10),
    default=100_000,
    show_default=True,
    metavar="N",
    help="Rows of the table on which backends with compiled kernels are timed.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def demo(context: click.Context, rows: int, as_json: bool) -> None:
    """Fit trees to small tables on every usable backend.

    Prints each tree, how well it predicts, rows per second, and digests: the exit code is 1 if
    two backends did not grow the same tree. Needs no network and no other library.
    """
    with progress("Looking for backends"):
        found = find_backends()
    usable = [backend for backend in found if backend.usable]
    if not as_json:
        click.echo(f"vtree {vtree.__version__}: the same tree on every backend\n")
        print_backends(found)
        click.echo()
    results = []
    for make in SAMPLES:
        results.append(_grow(make(), usable))
        if not as_json:
            _print_tree(results[-1])
    results.append(_grow(synthetic(min(rows, _REFERENCE_ROWS)), usable))
    speeds = {}
    for backend in usable:
        with progress(f"Timing {backend.name}"):
            speeds[backend.name] = speed_of(backend, synthetic(_timed_rows(backend, rows)))
    agree = all(result.agree for result in results)
    if as_json:
        print_json(_document(found, results, speeds, agree))
    else:
        _print_results(results, speeds)
        click.echo(_verdict(results, usable))
    context.exit(0 if agree else 1)


def _timed_rows(backend: Backend, rows: int) -> int:
    return rows if is_native(backend) else min(rows, _REFERENCE_ROWS)


def _grow(sample: Sample, usable: list[Backend]) -> Grown:
    models = {}
    for backend in usable:
        with progress(f"{sample.name} on {backend.name}"):
            models[backend.name] = fit_on(backend, sample)
    digests = {name: vtree.digest(model) for name, model in models.items()}
    first = models[usable[0].name]
    return Grown(sample, first, held_out_score(usable[0], sample), digests)


def _metric(result: Grown) -> tuple[str, float]:
    """Return the name and the value of the metric on all rows."""
    sample = result.sample
    name = "R2" if sample.is_regression else "accuracy"
    return name, score_of(result.model, sample)


def _print_tree(result: Grown) -> None:
    sample = result.sample
    levels = result.model.schema_.levels
    categorical = sum(each is not None for each in levels)
    size = f"{count(sample.target.size, 'row')}, {count(len(levels), 'feature')}"
    click.echo(f"{sample.name}: {size}, {categorical} of them categorical")
    click.echo(f"{vtree.export_text(result.model)}\n")


def _print_results(results: list[Grown], speeds: dict[str, Speed]) -> None:
    rows = []
    for result in results:
        name, score = _metric(result)
        digest = next(iter(result.digests.values()))[:_SHORT] if result.agree else "DIFFERENT"
        leaves = result.model.get_n_leaves()
        scores = decimals(score), decimals(result.held_out)
        rows.append((result.sample.name, leaves, name, *scores, digest))
    print_table(("table", "leaves", "metric", "all rows", "held out", "digest"), rows)
    click.echo("held out: each third row, of a tree grown from the others\n")
    timed = [
        (name, f"{each.n_rows:,} x {each.n_features}", f"{each.seconds:.3f}", _rate(each))
        for name, each in speeds.items()
    ]
    print_table(("backend", "warm fit", "seconds", "rows per second"), timed)
    click.echo()


def _rate(speed: Speed) -> str:
    return f"{speed.n_rows / speed.seconds:,.0f}"


def _verdict(results: list[Grown], usable: list[Backend]) -> str:
    names = ", ".join(backend.name for backend in usable)
    if all(result.agree for result in results):
        same = f"All {len(usable)} backends gave the same digest on all {len(results)} tables"
        return f"{same}:\n{names}."
    lines = ["BACKENDS DISAGREE:"]
    for result in results:
        if not result.agree:
            lines.append(f"  {result.sample.name}")
            lines.extend(f"    {name:<18}{digest}" for name, digest in result.digests.items())
    return "\n".join(lines)


def _document(
    found: list[Backend], results: list[Grown], speeds: dict[str, Speed], agree: bool
) -> dict[str, Any]:
    tables = []
    for result in results:
        name, score = _metric(result)
        tables.append(
            {
                "name": result.sample.name,
                "rows": result.sample.target.size,
                "features": result.model.n_features_in_,
                "leaves": result.model.get_n_leaves(),
                "metric": {"name": name, "all_rows": score, "held_out": result.held_out},
                "digests": result.digests,
                "tree": vtree.export_text(result.model),
            }
        )
    timed = {
        name: {**each._asdict(), "rows_per_second": each.n_rows / each.seconds}
        for name, each in speeds.items()
    }
    return {
        "version": vtree.__version__,
        "backends": [backend._asdict() for backend in found],
        "tables": tables,
        "speed": timed,
        "same_digest": agree,
    }
