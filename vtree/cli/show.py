"""`vtree show`: a saved model as text or as a picture."""

from pathlib import Path
from typing import Any

import click

import vtree
from vtree.cli.mistakes import check_output
from vtree.cli.report import print_json
from vtree.errors import InputError
from vtree.tree import depth as depth_of
from vtree.tree import one_tree


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Levels to show.")
@click.option(
    "--tree",
    "number",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Which tree of a model of many.",
)
@click.option(
    "--png",
    type=click.Path(path_type=Path),
    metavar="OUT.png",
    help="Draw the tree to this file (needs matplotlib).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def show(model: Path, depth: int | None, number: int, png: Path | None, as_json: bool) -> None:
    """Show a saved tree as text or as a picture."""
    check_output(png, "--png")
    if png is not None and png.suffix.lower() != ".png":
        raise InputError(f"--png: {str(png)!r} must end in .png")
    loaded = vtree.load(model)
    text = vtree.export_text(loaded, max_depth=depth, number=number)
    levels = int(depth_of(loaded.grown_).max())
    # Here, for it loads scikit-learn, which `vtree --help` need not wait for.
    from vtree.explain.picture import draw_tree

    shown = None if png is None else draw_tree(loaded, png, max_depth=depth, number=number)
    if as_json:
        facts: dict[str, Any] = {
            "depth": levels,
            "leaves": int((loaded.grown_.first_child < 0).sum()),
        }
        facts |= {"digest": vtree.digest(loaded), "text": text, "picture": png}
        print_json({"model": model, "estimator": type(loaded).__name__, **facts})
    elif png is None:
        click.echo(text)
    else:
        levels = int(depth_of(one_tree(loaded.grown_, number)).max())
        some = f"The first {shown} of {levels} levels are"
        click.echo(f"{'The whole tree is' if shown == levels else some} drawn in {png}")
