"""One tree of equal depth: vtree and its peers over sizes, classes, depths and missing values.

    python bench/compare.py                          one axis at a time around the first values
    python bench/compare.py --rows 100000 1000 1000000 10000000 --plot scaling.png
    python bench/compare.py --grid --features 20 100 --classes 2 7

The first value of each axis makes the base; every other value is measured with the rest of the
base, or, with --grid, in all combinations. Each learner fits in a process of its own, in turns,
and tells its accuracy on 50,000 other rows. Learners that are not installed are left out, and so
are those on a GPU where there is none.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kernel_bench import find_gpu
from learners import MODELS, MODULES, fit_row, in_turns, make, n_classes, n_features, print_row
from measure import Row, exit_naming, installed, median, new_parser, positive, table

TEST_ROWS = 50_000
FEW_ROWS, FITS = 20_000, 5  # up to so many rows, a process fits so many times


class Point(NamedTuple):
    """What is learnt."""

    rows: int
    features: int
    classes: int
    depth: int
    missing: float


def _share(text: str) -> float:
    """Parse a share of missing values, for argparse."""
    share = float(text)
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share: 0 or more, below 1")
    return share


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__, repeats=3)
    kinds = {"features": n_features, "classes": n_classes, "missing": _share}
    axes: dict[str, list[float]] = {
        "rows": [100_000, 1000, 10_000, 1_000_000],
        "features": [20, 100],
        "classes": [2, 7],
        "depth": [8, 12],
        "missing": [0.0, 0.3],
    }
    for name, values in axes.items():
        kind = kinds.get(name, positive)
        parser.add_argument(f"--{name}", type=kind, nargs="+", default=values)
    parser.add_argument("--grid", action="store_true", help="all combinations of the axes")
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("--learners", nargs="+", choices=MODELS)
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="draw time over each axis")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def points(options: argparse.Namespace) -> list[Point]:
    """Return the points to measure, the base first."""
    axes = [getattr(options, name) for name in Point._fields]
    if options.grid:
        return [Point(*values) for values in itertools.product(*axes)]
    base = Point(*(values[0] for values in axes))
    others = [
        base._replace(**{name: value})
        for name, values in zip(Point._fields, axes, strict=True)
        for value in values[1:]
    ]
    return [base, *others]


def measure(
    point: Point, learners: Sequence[str], options: argparse.Namespace
) -> tuple[list[Row], list[str]]:
    """Run every learner on one point, in turns, and return (its rows, what failed)."""
    kind = (point.classes, point.missing)
    data = make(point.rows, point.features, 0, *kind), make(TEST_ROWS, point.features, 1, *kind)
    sized = argparse.Namespace(**{**vars(options), "rows": point.rows, "depth": point.depth})
    facts = point._asdict()
    found, failed = in_turns(__file__, learners, sized, ("rows", "depth"), data, facts)
    where = ", ".join(f"{name} {value:,}" for name, value in facts.items())
    return [row for rows in found.values() for row in rows], [f"{where}: {why}" for why in failed]


def lines_of(rows: Sequence[Row], learners: Sequence[str]) -> list[list[object]]:
    """Return a table's lines for the rows of one point, a line a learner."""
    of_all = {name: [row for row in rows if row["learner"] == name] for name in learners}
    own = {name: found for name, found in of_all.items() if found}
    fastest = median(own["vtree"], "seconds") if "vtree" in own else None
    lines = []
    for learner, each in own.items():
        point = [each[0][name] for name in Point._fields]
        seconds = median(each, "seconds")
        times = "-" if fastest is None else f"{seconds / fastest:.1f}"
        figures = [median(each, field) for field in ("accuracy", "peak_over_input")]
        what = [f"{point[0]:,}", *point[1:], learner]
        lines.append([*what, f"{seconds:.4f}", times, f"{figures[0]:.4f}", f"{figures[1]:.1f}"])
    return lines


def plot(found: Sequence[Row], base: Point, path: Path) -> None:
    """Draw seconds over each axis that has several values, the rest as in `base`."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    axes = [name for name in Point._fields if len({row[name] for row in found}) > 1] or ["rows"]
    figure, panels = pyplot.subplots(
        1, len(axes), figsize=(4 * len(axes), 4), squeeze=False, layout="constrained"
    )
    for name, panel in zip(axes, panels[0], strict=True):
        _draw(panel, name, [row for row in found if _differs_in(row, base) <= {name}])
    panels[0][0].set_ylabel("seconds")
    panels[0][0].legend()
    figure.savefig(path)
    pyplot.close(figure)


def _differs_in(row: Row, base: Point) -> set[str]:
    return {name for name, value in base._asdict().items() if row[name] != value}


def _draw(panel: Any, name: str, rows: Sequence[Row]) -> None:
    for learner in dict.fromkeys(row["learner"] for row in rows):
        own = [row for row in rows if row["learner"] == learner]
        values = sorted({row[name] for row in own})
        seconds = [median([row for row in own if row[name] == v], "seconds") for v in values]
        panel.plot(values, seconds, marker="o", label=learner)
    panel.set_yscale("log")
    if name != "missing":
        panel.set_xscale("log")
    panel.set_xlabel("share of missing values" if name == "missing" else name)


def _usable() -> list[str]:
    """Return the learners that can run here."""
    gpu = find_gpu() is not None
    return installed({k: v for k, v in MODULES.items() if gpu or not k.endswith("_cuda")})


def main() -> None:
    """Parse the command line, measure, print a table and keep the rows."""
    options = _options()
    if options.child:
        learner, folder = options.child
        fits = FITS if options.rows[0] <= FEW_ROWS else 1
        print_row(fit_row(learner, MODELS[learner], Path(folder), options.depth[0], fits))
        return
    learners = options.learners or _usable()
    found: list[Row] = []
    lines: list[list[object]] = []
    failed: list[str] = []
    wanted = points(options)
    for point in wanted:
        rows, wrong = measure(point, learners, options)
        failed += wrong
        lines += lines_of(rows, learners)
        found += rows
    print(f"one tree of equal depth, {options.threads} threads")
    header = [*Point._fields, "learner", "seconds", "× vtree", "accuracy", "peak memory / input"]
    print(table(header, lines))
    if options.plot and found:
        plot(found, wanted[0], options.plot)
    exit_naming(failed)


if __name__ == "__main__":
    main()
