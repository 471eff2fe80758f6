"""Small tables that estimators learn something from."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Data = tuple[NDArray[np.float64], NDArray[Any]]


def classes(n_rows: int = 200, n_classes: int = 3, n_features: int = 4, seed: int = 0) -> Data:
    """Return numbers without ties and classes that follow from them, roughly."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n_rows, n_features))
    score = X[:, 0] + np.abs(X[:, 1]) + draw.normal(scale=0.3, size=n_rows)
    cuts = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    return X, np.searchsorted(cuts, score)


def reals(n_rows: int = 200, n_features: int = 4, seed: int = 0) -> Data:
    """Return numbers without ties and a positive target that follows from them, roughly."""
    X, level = classes(n_rows, 5, n_features, seed)
    return X, level + np.random.default_rng(seed).random(n_rows)


def columns(n_rows: int = 120, seed: int = 0) -> tuple[dict[str, list[Any]], NDArray[np.int64]]:
    """Return columns of numbers, strings and booleans, with gaps, and two classes."""
    draw = np.random.default_rng(seed)
    size = draw.normal(size=n_rows)
    colour = draw.choice(["red", "green", "blue", "grey"], n_rows)
    is_new = draw.random(n_rows) < 0.5
    y = (size + 2.0 * np.isin(colour, ["red", "grey"]) + is_new > 1.5).astype(np.int64)
    table: dict[str, list[Any]] = {
        "size": size.tolist(),
        "colour": colour.tolist(),
        "is_new": is_new.tolist(),
    }
    for offset, values in enumerate(table.values()):
        values[offset::17] = [None] * len(values[offset::17])
    return table, y


def survey(n_rows: int = 2_000) -> tuple[pd.DataFrame, Any]:
    """Return numbers with gaps, nominal and ordinal levels, and a score they add up to."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 90, n_rows).astype(float),
            "colour": random.choice(["red", "green", "blue", "grey"], n_rows),
            "size": pd.Categorical(
                random.choice(["S", "M", "L", "XL"], n_rows), ["S", "M", "L", "XL"], ordered=True
            ),
        }
    )
    frame.loc[random.random(n_rows) < 0.1, "age"] = np.nan
    score = (frame["age"].fillna(30) > 50) * 2 + frame["colour"].isin(["red", "grey"])
    score += frame["size"].cat.codes > 1
    return frame, score + random.normal(size=n_rows)
