"""`vtree backends`: what can be used on this machine, and why the rest cannot."""

import click

import vtree
from vtree.cli.report import print_json, print_table


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def backends(as_json: bool) -> None:
    """Say which array backends are usable here, and why the others are not."""
    found = vtree.backends()
    if as_json:
        print_json({"backends": [backend._asdict() for backend in found]})
        return
    rows = [(each.name, "yes" if each.usable else "no", each.reason) for each in found]
    print_table(("backend", "usable", "reason"), rows)
