"""What the commands print: tables, JSON documents, progress. Plain text where no terminal is."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON document on stdout. NumPy's numbers and arrays may be in it."""
    click.echo(json.dumps(document, indent=2, default=_plain, allow_nan=False))


def print_table(headings: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Print rows under headings; columns whose cells are all numbers stand to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title or None, title_justify="left")
    for place, heading in enumerate(headings):
        is_number = all(_is_number(row[place]) for row in cells)
        # A folded word can still be read; one cut short cannot.
        table.add_column(heading, justify="right" if is_number else "left", overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    _print(table)


def print_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Print names with what they are, one a line."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, fact in facts:
        table.add_row(Text(name, style="bold"), Text(str(fact)))
    _print(table)


def _print(table: Table) -> None:
    # The stdout of now: tests put another in its place. rich fills lines up with blanks.
    console = Console(file=sys.stdout, highlight=False)
    with console.capture() as capture:
        console.print(table)
    lines = [line.rstrip() for line in capture.get().splitlines()]
    click.echo("\n".join(line for line in lines if line))


@contextmanager
def progress(message: str) -> Iterator[None]:
    """Show that work goes on, if there is a terminal to show it on."""
    terminal = Console(stderr=True)
    if not terminal.is_terminal:
        yield
        return
    with terminal.status(Text(message)):
        yield


def count(number: int, noun: str) -> str:
    """Say how many: "1 row", "1,234 rows"."""
    plural = {"leaf": "leaves"}.get(noun, noun + "s")
    return f"{number:,} {noun if number == 1 else plural}"


def decimals(value: float | None) -> str:
    """Write a metric, or that there is none."""
    return "-" if value is None else f"{value:.3f}"


def _is_number(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "").replace("-", "").isdigit() or cell == "-"


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value)
