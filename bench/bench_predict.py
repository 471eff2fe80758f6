"""Prediction by one tree, of a float32 array: vtree beside scikit-learn and LightGBM.

    python bench/bench_predict.py                    1,000,000 × 28, depth 10

Each learner fits on 200,000 rows in a process of its own, then predicts the classes of other rows.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from learners import (
    MODELS,
    MODULES,
    accuracy,
    child_threads,
    in_turns,
    load_data,
    make,
    print_row,
)
from measure import (
    Row,
    installed,
    median,
    new_parser,
    table,
    timed,
    write_rows,
)

LEARNERS = ("vtree", "sklearn", "lightgbm")
TRAIN_ROWS = 200_000
RUNS = 5  # predictions in each process, of which the median counts


def child(learner: str, folder: Path, depth: int) -> Row:
    """Fit one learner in this process and measure its prediction."""
    train, test = load_data(folder)
    threads = child_threads()
    model = MODELS[learner](depth, threads).fit(*train)
    time = timed({0: lambda: model.predict(test[0])}, RUNS)[0]
    return {
        "learner": learner,
        "rows": test[0].shape[0],
        "features": test[0].shape[1],
        "depth": depth,
        "threads": threads,
        "predict_seconds": time.median,
        "best_predict_seconds": time.best,
        "accuracy": accuracy(model, test),
    }


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__, repeats=3)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=28)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--learners", nargs="+", choices=MODELS)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def _measure(options: argparse.Namespace) -> dict[str, list[Row]]:
    learners = options.learners or installed({name: MODULES[name] for name in LEARNERS})
    train = make(min(TRAIN_ROWS, options.rows), options.features, 0)
    data = train, make(options.rows, options.features, 1)
    return in_turns(__file__, learners, options, ("depth",), data)


def main() -> None:
    """Parse the command line, measure, print a table and keep the rows."""
    options = _options()
    if options.child:
        learner, folder = options.child
        print_row(child(learner, Path(folder), options.depth))
        return
    found = _measure(options)
    write_rows("predict", [row for rows in found.values() for row in rows], options.results)
    own = median(found["vtree"], "predict_seconds") if "vtree" in found else None
    lines = []
    for learner, rows in found.items():
        seconds = median(rows, "predict_seconds")
        times = "-" if own is None else f"{seconds / own:.1f}"
        lines.append([learner, f"{seconds:.4f}", times, f"{median(rows, 'accuracy'):.4f}"])
    print(
        f"predict {options.rows:,} × {options.features}, one tree of depth {options.depth}, "
        f"{options.threads} threads"
    )
    print(table(["learner", "seconds", "× vtree", "accuracy"], lines))


if __name__ == "__main__":
    main()
