"""Splits by bins of numbers, in texts and pictures."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.explain.test_picture import _texts
from vtree import CHAIDClassifier, CHAIDRegressor, export_text
from vtree.explain.intervals import interval_ends


def _model() -> CHAIDClassifier:
    x = np.repeat([1.0, 2.0, 3.0, 4.0, np.nan], 60)
    y = np.repeat([0, 1, 0, 1, 2], 60)
    return CHAIDClassifier().fit({"x": x}, y)


def test_ends() -> None:
    model = _model()
    assert model.grown_.n_children[0] == 5
    ends = interval_ends(model, model.grown_, 0)
    assert ends == [(-math.inf, 1.5), (1.5, 2.5), (2.5, 3.5), (3.5, math.inf), None]


def test_text() -> None:
    assert export_text(_model()).splitlines() == [
        f"x: adjusted p = {stats.chi2.sf(600.0, 8):.3g}",  # of a pure table of 300 rows
        "x <= 1.50: class 0 (60 of 60 rows)",
        "1.50 < x <= 2.50: class 1 (60 of 60 rows)",
        "2.50 < x <= 3.50: class 0 (60 of 60 rows)",
        "x >  3.50: class 1 (60 of 60 rows)",
        "x is missing: class 2 (60 of 60 rows)",
    ]


def test_two_levels_of_text() -> None:
    random = np.random.default_rng(0)
    table = {
        "size": random.integers(0, 3, 900).astype(float),
        "colour": random.choice(["red", "blue", "grey"], 900).tolist(),
    }
    y = np.where(np.array(table["colour"]) == "red", table["size"] * 10.0, 5.0)
    lines = export_text(CHAIDRegressor().fit(table, y + random.normal(size=900))).splitlines()
    assert lines[0].startswith("size: adjusted p = ") or lines[0].startswith("colour: adjusted p")
    inner = [line for line in lines if line.startswith("|   ")]
    assert any(": adjusted p = " in line for line in inner)
    assert (
        sum(": adjusted p = " in line for line in lines)
        == sum(line.endswith(":") for line in lines) + 1
    )


def test_missing_values_alone() -> None:
    colour = np.repeat(["red", "blue", None], 60).tolist()
    model = CHAIDClassifier().fit({"colour": colour}, np.repeat([0, 1, 2], 60))
    assert "colour is missing: class 2 (60 of 60 rows)" in export_text(model).splitlines()
    present = np.repeat([1.0, np.nan], 60)
    text = export_text(CHAIDClassifier().fit({"x": present}, np.repeat([0, 1], 60)))
    assert text.splitlines()[1:] == [
        "x is present: class 0 (60 of 60 rows)",
        "x is missing: class 1 (60 of 60 rows)",
    ]


def test_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = _texts(_model(), tmp_path / "many.png", monkeypatch)
    assert "x\n0 40%\n300 rows" in texts
    assert {"≤ 1.5", "1.5 … 2.5", "> 3.5", "missing"} <= set(texts)
    two = CHAIDClassifier().fit({"x": np.repeat([1.0, 2.0], 60)}, np.repeat([0, 1], 60))
    texts = _texts(two, tmp_path / "two.png", monkeypatch)
    assert "x\n≤ 1.5\n0 50%\n120 rows" in texts
    assert "yes" in texts
