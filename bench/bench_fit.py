"""One tree, end to end from a float32 array: vtree beside scikit-learn and LightGBM.

    python bench/bench_fit.py                        1,000,000 × 28, two classes, depth 10
    python bench/bench_fit.py --rows 100000 --repeats 5 --learners vtree sklearn

Each learner runs in a process of its own: one fit to warm up (compiled code is loaded from the
disk cache), then one measured fit, its peak memory, and the accuracy on 200,000 other rows.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from learners import (
    MODELS,
    MODULES,
    fit_row,
    in_turns,
    lightgbm_by_leaf,
    make,
    n_features,
    print_row,
)
from measure import Outcome, exit_naming, installed, median, new_parser, positive, table

# LightGBM grows leaf by leaf to 2^depth leaves here.
BUILDERS = {name: MODELS[name] for name in ("vtree", "sklearn")} | {"lightgbm": lightgbm_by_leaf}
TEST_ROWS = 200_000


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__, repeats=3)
    parser.add_argument("--rows", type=positive, default=1_000_000)
    parser.add_argument("--features", type=n_features, default=28)
    parser.add_argument("--depth", type=positive, default=10)
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("--learners", nargs="+", choices=BUILDERS)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def _measure(options: argparse.Namespace) -> Outcome[str]:
    learners = options.learners or installed({name: MODULES[name] for name in BUILDERS})
    data = make(options.rows, options.features, 0), make(TEST_ROWS, options.features, 1)
    return in_turns(__file__, learners, options, ("depth",), data)


def main() -> None:
    """Parse the command line, measure, print a table and keep the rows."""
    options = _options()
    if options.child:
        learner, folder = options.child
        print_row(fit_row(learner, BUILDERS[learner], Path(folder), options.depth))
        return
    found, failed = _measure(options)
    fastest = median(found["vtree"], "seconds") if "vtree" in found else None
    lines = [
        [
            learner,
            f"{median(rows, 'seconds'):.2f}",
            "-" if fastest is None else f"{median(rows, 'seconds') / fastest:.1f}",
            f"{median(rows, 'accuracy'):.4f}",
            f"{median(rows, 'peak_over_input'):.2f}",
        ]
        for learner, rows in found.items()
    ]
    print(
        f"{options.rows:,} × {options.features}, depth {options.depth}, {options.threads} threads"
    )
    print(table(["learner", "seconds", "× vtree", "accuracy", "peak memory / input"], lines))
    exit_naming(failed)


if __name__ == "__main__":
    main()
