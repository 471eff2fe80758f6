"""Held-out metrics of boosting beside its peers, at equal rounds and leaves.

    python bench/bench_parity.py                         all tables, 5 seeds, 20,000 rows at most
    python bench/bench_parity.py --tables diabetes digits --seeds 3 --rows 5000

A seed draws rows where a table has more, and parts them: three quarters to fit, a quarter to score.
Four pairs: vtree's Newton and XGBoost (hist, depth 6), vtree's leaf-wise and LightGBM (31 leaves),
vtree's ordered and CatBoost (depth 6, plain mode), vtree's GBM and scikit-learn's (depth 3, tables
of numbers only). A table says by how much vtree's mean metric is the worse one, in standard
deviations of the peer's over the seeds.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from measure import Row, installed, new_parser, positive, table, write_rows
from numpy.typing import NDArray
from sklearn.metrics import log_loss, roc_auc_score
from tables import TABLES, Task

# Of each kind of task: (name, larger is better).
METRICS = {
    "two": (("AUC", True), ("log-loss", False)),
    "several": (("log-loss", False),),
    "real": (("RMSE", False),),
}


class Pair(NamedTuple):
    """Two learners that shall be equally good."""

    ours: Callable[[bool, int], Any]  # (classifier?, rounds) → unfitted
    theirs: Callable[[bool, int], Any]
    numbers_only: bool = False


def _newton(classes: bool, rounds: int) -> Any:
    from vtree import NewtonBoostingClassifier, NewtonBoostingRegressor

    kind = NewtonBoostingClassifier if classes else NewtonBoostingRegressor
    return kind(n_estimators=rounds, learning_rate=0.1, max_depth=6)


def _xgboost(classes: bool, rounds: int) -> Any:
    from xgboost import XGBClassifier, XGBRegressor

    kind = XGBClassifier if classes else XGBRegressor
    how = {"tree_method": "hist", "enable_categorical": True, "n_jobs": 2}
    return kind(n_estimators=rounds, learning_rate=0.1, max_depth=6, **how)


def _leafwise(classes: bool, rounds: int) -> Any:
    from vtree import LeafwiseBoostingClassifier, LeafwiseBoostingRegressor

    kind = LeafwiseBoostingClassifier if classes else LeafwiseBoostingRegressor
    return kind(n_estimators=rounds, num_leaves=31)


def _lightgbm(classes: bool, rounds: int) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMClassifier if classes else LGBMRegressor
    return kind(n_estimators=rounds, num_leaves=31, n_jobs=2, verbose=-1)


def _ordered(classes: bool, rounds: int) -> Any:
    from vtree import OrderedBoostingClassifier, OrderedBoostingRegressor

    kind = OrderedBoostingClassifier if classes else OrderedBoostingRegressor
    return kind(n_estimators=rounds, learning_rate=0.1, random_state=0)


class _Named:
    """CatBoost with the columns of categories named, as it wants them."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, table: pd.DataFrame, y: Any) -> None:
        own = self._plain(table)
        named = [name for name in own if not pd.api.types.is_numeric_dtype(own[name])]
        self.model.fit(own, y, cat_features=named)

    def predict(self, table: pd.DataFrame) -> Any:
        return self.model.predict(self._plain(table))

    def predict_proba(self, table: pd.DataFrame) -> Any:
        return self.model.predict_proba(self._plain(table))

    def _plain(self, table: pd.DataFrame) -> pd.DataFrame:
        own = table.copy()
        for name in own:
            if not pd.api.types.is_numeric_dtype(own[name]):
                own[name] = own[name].astype(object).fillna("missing").astype(str)
        return own


def _catboost(classes: bool, rounds: int) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostClassifier if classes else CatBoostRegressor
    how = {"boosting_type": "Plain", "bootstrap_type": "Bayesian", "thread_count": 2}
    quiet = {"verbose": 0, "allow_writing_files": False}
    # One step a leaf, and no combinations of categories, as ours has by default.
    how |= {"max_ctr_complexity": 1, "leaf_estimation_iterations": 1}
    return _Named(kind(iterations=rounds, learning_rate=0.1, random_seed=0, **how, **quiet))


def _friedman(classes: bool, rounds: int) -> Any:
    from vtree import GradientBoostingClassifier, GradientBoostingRegressor

    kind = GradientBoostingClassifier if classes else GradientBoostingRegressor
    return kind(n_estimators=rounds, random_state=0)


def _sklearn(classes: bool, rounds: int) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    kind = GradientBoostingClassifier if classes else GradientBoostingRegressor
    return kind(n_estimators=rounds, random_state=0)


PAIRS = {
    "xgboost": Pair(_newton, _xgboost),
    "lightgbm": Pair(_leafwise, _lightgbm),
    "catboost": Pair(_ordered, _catboost),
    "sklearn": Pair(_friedman, _sklearn, numbers_only=True),
}


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__, repeats=1)
    parser.add_argument("--rows", type=positive, default=20_000)
    parser.add_argument("--rounds", type=positive, default=100)
    parser.add_argument("--seeds", type=positive, default=5)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--peers", nargs="+", choices=PAIRS)
    return parser.parse_args()


def _parts(task: Task, seed: int, rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (rows to fit, rows to score); every class is among the former."""
    order = np.random.default_rng(seed).permutation(len(task.y))[:rows]
    cut = 3 * len(order) // 4
    return order[:cut], order[cut:]


def _scores(model: Any, task: Task, parts: Any) -> dict[str, float]:
    train, held = parts
    classes = task.kind != "real"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of peers about names of columns
        model.fit(task.table.iloc[train], task.y[train])
        found = (model.predict_proba if classes else model.predict)(task.table.iloc[held])
    y = task.y[held]
    if not classes:
        return {"RMSE": float(np.sqrt(np.mean((np.asarray(found) - y) ** 2)))}
    loss = log_loss(y, np.asarray(found, dtype=np.float64), labels=np.unique(task.y))
    if task.kind == "several":
        return {"log-loss": float(loss)}
    return {"log-loss": float(loss), "AUC": float(roc_auc_score(y, np.asarray(found)[:, 1]))}


def _rows(name: str, peers: list[str], options: argparse.Namespace) -> Iterator[Row]:
    """Yield what each learner scores on a table with each seed."""
    task = TABLES[name](options.rows)
    numeric = all(map(pd.api.types.is_numeric_dtype, task.table.dtypes))
    complete = not task.table.isna().to_numpy().any()
    for peer in peers:
        pair = PAIRS[peer]
        if pair.numbers_only and not (numeric and complete):
            continue
        for seed in range(options.seeds):
            parts = _parts(task, seed, options.rows)
            for whose, build in (("vtree", pair.ours), (peer, pair.theirs)):
                model = build(task.kind != "real", options.rounds)
                scores = _scores(model, task, parts)
                what = {"rows": options.rows, "rounds": options.rounds, "table": name}
                yield {**what, "peer": peer, "who": whose, "seed": seed, **scores}


def _lines(rows: list[Row], names: list[str]) -> Iterator[list[str]]:
    for name in names:
        kind = TABLES[name](0).kind
        for peer in dict.fromkeys(row["peer"] for row in rows if row["table"] == name):
            own = [row for row in rows if (row["table"], row["peer"]) == (name, peer)]
            for metric, larger in METRICS[kind]:
                ours = np.array([row[metric] for row in own if row["who"] == "vtree"])
                theirs = np.array([row[metric] for row in own if row["who"] == peer])
                worse = (theirs - ours if larger else ours - theirs).mean()
                spread = theirs.std(ddof=1) if theirs.size > 1 else np.nan
                yield [
                    name,
                    metric,
                    peer,
                    f"{ours.mean():.4f}",
                    f"{theirs.mean():.4f}",
                    f"{spread:.4f}",
                    f"{worse / spread:+.2f}",
                ]


def main() -> None:
    """Parse the command line, measure, print a table and keep the rows."""
    options = _options()
    peers = options.peers or installed({name: name for name in PAIRS})
    rows: list[Row] = []
    for name in options.tables:
        for row in _rows(name, peers, options):
            write_rows("parity", [row], options.results)
            rows.append(row)
    heads = ["table", "metric", "peer", "vtree", "peer's", "its spread", "worse by, in spreads"]
    print(table(heads, list(_lines(rows, options.tables))))


if __name__ == "__main__":
    main()
