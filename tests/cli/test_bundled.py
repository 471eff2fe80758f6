"""The demo's tables: what they hold is what their sources say."""

import sys

import numpy as np
import pytest

from vtree.cli.bundled import diabetes, iris, penguins, play_tennis, synthetic, titanic
from vtree.tables import read_table


def test_play_tennis() -> None:
    sample = play_tennis()
    assert list(sample.table) == ["outlook", "temperature", "humidity", "wind"]
    assert np.unique(sample.target, return_counts=True)[1].tolist() == [5, 9]


def test_iris() -> None:
    sample = iris()
    assert list(sample.table)[2] == "petal_length"
    assert read_table(sample.table).values.shape == (150, 4)
    assert not sample.is_regression


def test_penguins() -> None:
    sample = penguins()
    values, schema, _ = read_table(sample.table)
    assert values.shape == (344, 6)
    assert [each is not None for each in schema.levels] == [True, False, False, False, False, True]
    assert int(np.isnan(values).sum()) == 19
    names, counts = np.unique(sample.target, return_counts=True)
    assert dict(zip(names, counts, strict=True)) == {"Adelie": 152, "Chinstrap": 68, "Gentoo": 124}


def test_titanic_has_a_row_for_each_person() -> None:
    sample = titanic()
    assert list(sample.table) == ["class", "sex", "age"]
    assert np.unique(sample.target, return_counts=True)[1].tolist() == [1490, 711]
    aboard = {name: sample.table["class"].count(name) for name in ("first", "second", "crew")}
    assert aboard == {"first": 325, "second": 285, "crew": 885}
    assert sample.table["sex"].count("female") == 470
    assert sample.table["age"].count("child") == 109


def test_diabetes() -> None:
    sample = diabetes()
    assert sample.is_regression
    assert read_table(sample.table).values.shape == (442, 10)


def test_synthetic() -> None:
    sample = synthetic(100)
    assert sample.table.shape == (100, 20)
    assert set(sample.target.tolist()) == {0, 1}
    part = sample.part(np.array([3, 1]))
    np.testing.assert_array_equal(part.table, sample.table[[3, 1]])


def test_no_frame_library_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = read_table(penguins().table)
    for library in ("pyarrow", "pandas", "polars"):
        monkeypatch.setitem(sys.modules, library, None)
    found = read_table(penguins().table)
    np.testing.assert_array_equal(found.values, expected.values)
