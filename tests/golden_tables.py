"""The tables that reference programs were run on, and estimators set as these programs were."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from vtree import DecisionTreeClassifier, DecisionTreeRegressor

GOLDEN = Path(__file__).with_name("golden")
BUNDLED = Path(__file__).resolve().parent.parent / "vtree" / "data"

Data = tuple[NDArray[np.float64], NDArray[Any]]


def _mtcars() -> Data:
    table = pd.read_csv(GOLDEN / "mtcars.csv")
    return table.drop(columns="mpg").to_numpy(np.float64), table["mpg"].to_numpy()


def numbers(name: str) -> Data:
    if name == "mtcars":
        return _mtcars()
    if name == "diabetes":
        return load_diabetes(return_X_y=True, scaled=False)  # type: ignore[no-any-return]
    load = {"iris": load_iris, "breast_cancer": load_breast_cancer}[name]
    return load(return_X_y=True)  # type: ignore[no-any-return]


def estimator(criterion: str, **parameters: Any) -> Any:
    if criterion in ("mse", "anova"):
        return DecisionTreeRegressor(max_bins=None, **parameters)
    criterion = {"info": "entropy"}.get(criterion, criterion)
    return DecisionTreeClassifier(criterion=criterion, max_bins=None, **parameters)


def _expanded(name: str) -> pd.DataFrame:
    """Return one row a person from a table of counts."""
    counts = pd.read_csv(GOLDEN / f"{name}.csv")
    return counts.loc[counts.index.repeat(counts["count"])].drop(columns="count")


def rpart_table(name: str) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Return (columns as rpart saw them, target)."""
    if name in ("haireye", "titanic"):
        table = _expanded(name)
        target = table.columns[-1]
    elif name == "weather_nominal":
        table = pd.read_csv(BUNDLED / "play_tennis.csv")
        table = table.rename(columns={"wind": "windy"})
        table["windy"] = table["windy"].map({"weak": "FALSE", "strong": "TRUE"})
        target = "play"
    elif name == "penguins":
        table, target = pd.read_csv(GOLDEN / "penguins.csv"), "species"
    elif name == "mtcars":
        table, target = pd.read_csv(GOLDEN / "mtcars.csv"), "mpg"
    else:
        X, y = numbers(name)
        names = {
            "iris": ["sepal_length", "sepal_width", "petal_length", "petal_width"],
            "diabetes": ["age", "sex", "bmi", "bp", *(f"s{i}" for i in range(1, 7))],
        }
        plain = [str(each).replace(" ", "_") for each in load_breast_cancer().feature_names]
        return pd.DataFrame(X, columns=names.get(name, plain)), y
    return table.drop(columns=target), table[target].to_numpy()


def rpart_limits(name: str) -> dict[str, int]:
    if name.endswith("full"):
        return {}
    return {"min_samples_split": 20, "min_samples_leaf": 7}  # rpart's defaults


def kyphosis() -> tuple[pd.DataFrame, NDArray[Any]]:
    table = pd.read_csv(GOLDEN / "kyphosis.csv")
    return table.drop(columns="Kyphosis"), table["Kyphosis"].to_numpy()


def stagec() -> tuple[pd.DataFrame, NDArray[Any]]:
    table = pd.read_csv(GOLDEN / "stagec.csv")
    return table.drop(columns=["pgtime", "pgstat"]), table["pgstat"].to_numpy()
