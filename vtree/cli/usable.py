"""`vtree backends`: what can be used on this machine, and why the rest cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vtree.cli.report import print_json, print_table

if TYPE_CHECKING:
    from vtree.machine import Backend


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def backends(as_json: bool) -> None:
    """Say which backends are usable, and why others are not."""
    found = find_backends()
    if as_json:
        print_json({"backends": [backend._asdict() for backend in found]})
        return
    print_backends(found)


def find_backends() -> list[Backend]:
    """Return every backend, usable or not."""
    # Here, for it loads scikit-learn, which `vtree --help` need not wait for.
    from vtree.machine import backends

    return backends()


def print_backends(found: list[Backend]) -> None:
    """Print one line a backend."""
    rows = [(each.name, "yes" if each.usable else "no", each.reason) for each in found]
    print_table(("backend", "usable", "reason"), rows)
