"""CHAID of nominal predictors, end to end from a data frame of strings: vtree beside PyPI's CHAID.

    python bench/bench_chaid.py                   100,000 rows, 10 predictors of 6 levels, depth 3
    python bench/bench_chaid.py --rows 1000000 --learners vtree

Both merge and split at 0.05, with 100 rows to split and children of 50. PyPI's CHAID adjusts no
p-values, so its trees are larger where that matters: its own time by a node is told beside.
Each fit runs in a process of its own, after a fit on 2,000 rows.
"""

from __future__ import annotations

import argparse
import importlib
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from learners import print_row
from measure import Row, in_child, installed, interleaved, median, new_parser, table, write_rows

MODULES = {"vtree": "vtree", "chaid": "CHAID"}


def make(rows: int, features: int) -> Any:
    """Return a frame of strings: the predictors c0, c1, … and the target y of three classes."""
    pandas = importlib.import_module("pandas")
    random = np.random.default_rng(0)
    codes = random.integers(0, 6, (rows, features))
    names = np.array(["red", "green", "blue", "grey", "pink", "white"])
    frame = pandas.DataFrame({f"c{j}": names[codes[:, j]] for j in range(features)})
    score = (codes[:, 0] > 2) + (codes[:, 1] % 3 == 0) + 1.5 * random.random(rows)
    return frame.assign(y=np.array(["low", "mid", "high", "top"])[score.astype(int)])


def _fit_vtree(frame: Any) -> tuple[int, Any]:
    from vtree import CHAIDClassifier

    model = CHAIDClassifier(n_jobs=int(os.environ["VTREE_BENCH_THREADS"]))
    model.fit(frame.drop(columns="y"), frame["y"])
    return model.grown_.feature.size, model


def _fit_chaid(frame: Any) -> tuple[int, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its optional plots
        chaid = importlib.import_module("CHAID")
    predictors = dict.fromkeys(frame.columns[:-1], "nominal")
    tree = chaid.Tree.from_pandas_df(
        frame,
        predictors,
        "y",
        max_depth=3,
        alpha_merge=0.05,
        split_threshold=0,
        min_parent_node_size=100,
        min_child_node_size=50,
    )
    return len(list(tree.tree_store)), tree


FITS: dict[str, Callable[[Any], tuple[int, Any]]] = {"vtree": _fit_vtree, "chaid": _fit_chaid}


def _child(learner: str, folder: Path) -> Row:
    frame = importlib.import_module("pandas").read_pickle(folder / "frame.pkl")
    FITS[learner](frame.head(2_000))
    start = time.perf_counter()
    nodes, _ = FITS[learner](frame)
    seconds = time.perf_counter() - start
    rows, columns = frame.shape
    return {
        "learner": learner,
        "rows": rows,
        "features": columns - 1,
        "seconds": seconds,
        "nodes": nodes,
    }


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__, repeats=3)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--learners", nargs="+", choices=MODULES)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Parse the command line, measure, print a table and keep the rows."""
    options = _options()
    if options.child:
        learner, folder = options.child
        print_row(_child(learner, Path(folder)))
        return
    with tempfile.TemporaryDirectory() as folder:
        make(options.rows, options.features).to_pickle(Path(folder) / "frame.pkl")

        def run(learner: str) -> Row:
            return in_child(__file__, "--child", learner, folder, threads=options.threads)

        found = interleaved(options.learners or installed(MODULES), run, options.repeats)
    write_rows("chaid", [row for rows in found.values() for row in rows], options.results)
    own = {learner: median(rows, "seconds") for learner, rows in found.items()}
    lines = [
        [
            learner,
            f"{own[learner]:.3f}",
            f"{own[learner] / own['vtree']:.0f}" if "vtree" in own else "-",
            f"{rows[0]['nodes']:,}",
            f"{1e3 * own[learner] / rows[0]['nodes']:.1f}",
        ]
        for learner, rows in found.items()
    ]
    print(f"{options.rows:,} × {options.features} nominal, depth 3, {options.threads} threads")
    print(table(["learner", "seconds", "× vtree", "nodes", "ms a node"], lines))


if __name__ == "__main__":
    main()
