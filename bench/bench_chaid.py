"""CHAID of nominal predictors, end to end from an array of level numbers, beside PyPI's CHAID.

    python bench/bench_chaid.py                   100,000 rows, 10 predictors of 20 levels
    python bench/bench_chaid.py --rows 1000000 --learners vtree id3

Both merge and split at 0.05, with 100 rows to split and children of 50. PyPI's CHAID adjusts no
p-values, so its trees are larger where that matters: its own time by a node is told beside.
"id3" is vtree's ID3Classifier on the same table, to depth 3.
Each fit runs in a process of its own, after a fit on 2,000 rows. Processor seconds stand beside:
a busy machine changes them least.
"""

from __future__ import annotations

import argparse
import importlib
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from learners import child_threads, print_row
from measure import (
    Row,
    at_least,
    exit_naming,
    in_child,
    installed,
    interleaved,
    median,
    new_parser,
    positive,
    table,
)
from numpy.typing import NDArray

Codes = NDArray[np.int64]

MODULES = {"vtree": "vtree", "chaid": "CHAID", "id3": "vtree"}


def make(rows: int, features: int, levels: int) -> tuple[Codes, Codes]:
    """Return (X, y): level numbers, and three classes that follow from the first two columns."""
    random = np.random.default_rng(0)
    X = random.integers(0, levels, (rows, features))
    score = (X[:, 0] > levels // 2) + (X[:, 1] % 3 == 0) + 1.5 * random.random(rows)
    return X, score.astype(np.int64)


def _fit_vtree(X: Codes, y: Codes) -> int:
    from vtree import CHAIDClassifier

    nominal = [True] * X.shape[1]
    model = CHAIDClassifier(categorical_features=nominal, n_jobs=child_threads()).fit(X, y)
    return int(model.grown_.feature.size)


def _fit_id3(X: Codes, y: Codes) -> int:
    from vtree import ID3Classifier

    nominal = [True] * X.shape[1]
    model = ID3Classifier(categorical_features=nominal, max_depth=3, n_jobs=child_threads())
    return int(model.fit(X, y).grown_.feature.size)


def _fit_chaid(X: Codes, y: Codes) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its optional plots
        chaid = importlib.import_module("CHAID")
    tree = chaid.Tree.from_numpy(
        X,
        y,
        split_titles=[f"c{j}" for j in range(X.shape[1])],
        variable_types=["nominal"] * X.shape[1],
        max_depth=3,
        alpha_merge=0.05,
        min_parent_node_size=100,
        min_child_node_size=50,
    )
    return len(list(tree.tree_store))


FITS: dict[str, Callable[[Codes, Codes], int]] = {
    "vtree": _fit_vtree,
    "chaid": _fit_chaid,
    "id3": _fit_id3,
}


def _child(learner: str, folder: Path) -> Row:
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    FITS[learner](X[:2_000], y[:2_000])
    start, processor = time.perf_counter(), time.process_time()
    nodes = FITS[learner](X, y)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    return {
        "learner": learner,
        "rows": X.shape[0],
        "features": X.shape[1],
        "levels": int(X.max()) + 1,
        "threads": child_threads(),
        "seconds": seconds,
        "processor_seconds": processor,
        "nodes": nodes,
    }


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__, repeats=3)
    parser.add_argument("--rows", type=positive, default=100_000)
    parser.add_argument("--features", type=at_least(2), default=10)
    parser.add_argument("--levels", type=positive, default=20)
    parser.add_argument("--threads", type=positive, default=2)
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
        X, y = make(options.rows, options.features, options.levels)
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "y.npy", y)

        def run(learner: str) -> Row:
            return in_child(__file__, "--child", learner, folder, threads=options.threads)

        learners = options.learners or installed(MODULES)
        found, failed = interleaved(__file__, learners, run, options)
    own = {learner: median(rows, "seconds") for learner, rows in found.items()}
    lines = [
        [
            learner,
            f"{own[learner]:.3f}",
            f"{own[learner] / own['vtree']:.0f}" if "vtree" in own else "-",
            f"{rows[0]['nodes']:,}",
            f"{1e3 * own[learner] / rows[0]['nodes']:.1f}",
            f"{median(rows, 'processor_seconds'):.3f}",
        ]
        for learner, rows in found.items()
    ]
    shape = f"{options.rows:,} × {options.features} nominal of {options.levels} levels"
    print(f"{shape}, depth 3, {options.threads} threads")
    print(table(["learner", "seconds", "× vtree", "nodes", "ms a node", "processor"], lines))
    exit_naming(failed)


if __name__ == "__main__":
    main()
