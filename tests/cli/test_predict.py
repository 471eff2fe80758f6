"""`vtree predict`: columns by name, answers as CSV, Parquet or JSON, and its mistakes."""

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

import vtree
from vtree.cli.predict import inputs_for

Run = Callable[..., Result]
Refused = Callable[..., str]


def _expected(model: Path, data: Path) -> list[object]:
    frame = pd.read_csv(data)
    loaded = vtree.load(model)
    answers: list[object] = loaded.predict(frame[list(loaded.feature_names_in_)]).tolist()
    return answers


def test_to_the_standard_output(run: Run, model: Path, penguins: Path) -> None:
    lines = run("predict", model, penguins).stdout.splitlines()
    assert lines[0] == "prediction"
    assert lines[1:] == _expected(model, penguins)


def test_columns_are_found_by_name(run: Run, model: Path, penguins: Path, tmp_path: Path) -> None:
    shuffled = tmp_path / "shuffled.csv"
    frame = pd.read_csv(penguins)
    frame.assign(more=1)[[*reversed(frame.columns), "more"]].to_csv(shuffled, index=False)
    assert run("predict", model, shuffled).stdout == run("predict", model, penguins).stdout


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_to_a_file(run: Run, regressor: Path, penguins: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"out.{ending}"
    result = run("predict", regressor, penguins, "--output", path)
    assert result.stdout == f"344 rows predicted, written to {path}\n"
    written = pd.read_csv(path) if ending == "csv" else pd.read_parquet(path)
    assert written["prediction"].tolist() == _expected(regressor, penguins)


def test_shares_of_the_classes(run: Run, model: Path, penguins: Path) -> None:
    rows = list(csv.reader(run("predict", model, penguins, "--proba").stdout.splitlines()))
    assert rows[0] == ["probability_Adelie", "probability_Chinstrap", "probability_Gentoo"]
    shares = np.array(rows[1:], dtype=float)
    assert shares.shape == (344, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_json(run: Run, model: Path, penguins: Path, tmp_path: Path) -> None:
    document = json.loads(run("predict", model, penguins, "--json").stdout)
    assert document["rows"] == 344
    assert document["prediction"] == _expected(model, penguins)
    path = tmp_path / "out.csv"
    document = json.loads(run("predict", model, penguins, "--json", "--output", path).stdout)
    assert document["output"] == str(path)
    assert "prediction" not in document


def test_labels_that_look_like_numbers(run: Run, tmp_path: Path) -> None:
    table, few, saved = tmp_path / "t.csv", tmp_path / "few.csv", tmp_path / "m.vtree"
    table.write_text("code,y\n" + "007,a\n8,b\ntrue,c\nx,a\n" * 3)
    words = ("--target", "y", "--test-size", 0, "--output", saved)
    assert run("fit", table, *words).exit_code == 0
    for code, label in {"007": "a", "8": "b", "true": "c"}.items():
        few.write_text(f"code\n{code}\n")
        assert run("predict", saved, few).stdout.splitlines()[1:] == [label]


def test_several_outputs_and_no_names(run: Run, tmp_path: Path) -> None:
    saved = tmp_path / "two.vtree"
    y = np.array([["a", "x"], ["b", "x"], ["b", "z"], ["b", "z"]])
    vtree.save(vtree.DecisionTreeClassifier().fit(np.arange(4.0)[:, None], y), saved)
    table = tmp_path / "any.csv"
    table.write_text("anything\n0\n3\n")
    lines = run("predict", saved, table).stdout.splitlines()
    assert lines == ["prediction_0,prediction_1", "a,x", "b,z"]
    names = run("predict", saved, table, "--proba").stdout.splitlines()[0]
    assert names == "probability_0_a,probability_0_b,probability_1_x,probability_1_z"
    assert inputs_for(vtree.load(saved), "as it is") == "as it is"


def test_columns_that_are_missing(refused: Refused, model: Path, tmp_path: Path) -> None:
    table = tmp_path / "other.csv"
    table.write_text("island,width\nBiscoe,1\n")
    message = refused("predict", model, table)
    assert "no column 'bill_length_mm'" in message
    assert "'island', 'width'" in message


def test_strings_where_training_had_numbers(
    refused: Refused, model: Path, penguins: Path, tmp_path: Path
) -> None:
    table = tmp_path / "strings.csv"
    pd.read_csv(penguins).assign(bill_length_mm="long").to_csv(table, index=False)
    assert "column 'bill_length_mm' holds 'long'" in refused("predict", model, table)


def test_model_files_that_cannot_be_read(
    refused: Refused, model: Path, penguins: Path, tmp_path: Path
) -> None:
    truncated = tmp_path / "truncated.vtree"
    truncated.write_bytes(model.read_bytes()[:-100])
    assert "truncated.vtree" in refused("predict", truncated, penguins)
    assert "penguins.csv" in refused("predict", penguins, penguins)
    assert "none.vtree" in refused("predict", tmp_path / "none.vtree", penguins)
    assert refused("predict", tmp_path, penguins)


def test_outputs_that_cannot_be_written(
    refused: Refused, model: Path, regressor: Path, penguins: Path, tmp_path: Path
) -> None:
    words = ("predict", model, penguins, "--output")
    assert "must end in" in refused(*words, tmp_path / "out.xlsx")
    assert "does not exist" in refused(*words, tmp_path / "nowhere" / "out.csv")
    assert "predicts numbers" in refused("predict", regressor, penguins, "--proba")
    rules = tmp_path / "rules.vtree"
    frame = pd.read_csv(penguins)
    vtree.save(vtree.RuleListClassifier().fit(frame.drop(columns="species"), frame.species), rules)
    assert "tells no shares of classes" in refused("predict", rules, penguins, "--proba")


def test_parquet_without_a_library(
    refused: Refused,
    model: Path,
    penguins: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = refused("predict", model, penguins, "--output", tmp_path / "out.parquet")
    assert "pip install pyarrow" in message
