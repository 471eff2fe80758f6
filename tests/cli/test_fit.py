"""`vtree fit`: what it prints and saves, and every mistake that can be made with it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

import vtree
from vtree.cli.fit import build_model
from vtree.errors import InputError
from vtree.interop import table_file

Run = Callable[..., Result]
Refused = Callable[..., str]
Write = Callable[..., Path]


def _json(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert isinstance(document, dict)
    return document


def test_the_summary(run: Run, penguins: Path, tmp_path: Path) -> None:
    saved = tmp_path / "model.vtree"
    result = run("fit", penguins, "--target", "species", "--set", "max_depth=3", "--output", saved)
    assert result.exit_code == 0
    facts = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert facts["rows"] == "344 read, 258 to fit, 86 to test"
    assert facts["features"] == "6, of which 2 categorical"
    assert facts["missing"] == "19 values"
    assert facts["model"] == "DecisionTreeClassifier (the target holds labels)"
    assert facts["digest"] == vtree.digest(vtree.load(saved))
    assert all(len(line) <= 80 for line in result.stdout.splitlines() if "/" not in line)


@pytest.mark.parametrize("form", ["csv", "csv without pyarrow", "parquet", "feather"])
def test_every_form_of_a_table_gives_the_same_tree(
    form: str, run: Run, penguins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _json(run("fit", penguins, "--target", "species", "--json"))
    path = penguins
    if form == "csv without pyarrow":
        monkeypatch.setattr(table_file, "_read_csv_by_arrow", lambda *arguments: None)
    elif form != "csv":
        path = tmp_path / f"penguins.{form}"
        frame = pd.read_csv(penguins)
        (frame.to_parquet if form == "parquet" else frame.to_feather)(path)
    found = _json(run("fit", path, "--target", "species", "--json"))
    assert found["digest"] == expected["digest"]
    assert found["metric"] == expected["metric"]
    assert found["missing_values"] == expected["missing_values"]


def test_the_metric_is_that_of_the_rows_held_out(run: Run, write: Write, tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    x = generator.standard_normal(400)
    path = write("noise.csv", {"x": x, "y": generator.integers(0, 2, 400)})
    metric = _json(run("fit", path, "--target", "y", "--json"))["metric"]
    assert metric["name"] == "accuracy"
    assert metric["fit"] > 0.9
    assert metric["test"] < 0.7


def test_nothing_held_out(run: Run, penguins: Path) -> None:
    summary = _json(run("fit", penguins, "--target", "species", "--test-size", 0, "--json"))
    assert summary["rows"]["fit"] == 344
    assert summary["metric"]["test"] is None
    assert (
        "- on the rows held out"
        in run("fit", penguins, "--target", "species", "--test-size", 0).stdout
    )


def test_rows_without_a_target_are_counted_and_left_out(run: Run, write: Write) -> None:
    path = write("gaps.csv", {"x": range(8), "y": ["a", "", "b", "a", "NA", "b", "a", "b"]})
    assert "2 left out, their target is missing" in run("fit", path, "--target", "y").stdout
    rows = _json(run("fit", path, "--target", "y", "--json"))["rows"]
    assert rows == {"read": 8, "target_missing": 2, "fit": 5, "test": 1}


def test_columns_dropped_and_weights(run: Run, write: Write, tmp_path: Path) -> None:
    saved = tmp_path / "model.vtree"
    columns = {"x": range(6), "name": list("abcdef"), "w": [1, 1, 0, 1, 2, 1], "y": list("aabbbb")}
    words = ("--target", "y", "--drop", "name", "--weight", "w", "--test-size", 0)
    run("fit", write("t.csv", columns), *words, "--output", saved)
    model = vtree.load(saved)
    assert model.feature_names_in_.tolist() == ["x"]
    assert model.grown_.weight[0] == 6.0
    assert model.grown_.n_rows[0] == 5


def test_one_row(run: Run, write: Write) -> None:
    assert (
        _json(run("fit", write("t.csv", {"x": [1], "y": ["a"]}), "--target", "y", "--json"))[
            "leaves"
        ]
        == 1
    )


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("max_depth=4", 4),
        ("max_depth=None", None),
        ("criterion=entropy", "entropy"),
        ("criterion='entropy'", "entropy"),
        ("class_weight={'a': 2, 'b': 0.5}", {"a": 2, "b": 0.5}),
        ("max_features=0.5", 0.5),
        (" max_depth = 4", 4),
    ],
)
def test_settings(setting: str, expected: object) -> None:
    parameter = setting.partition("=")[0].strip()
    model = build_model("DecisionTreeClassifier", (setting,))
    assert model.get_params()[parameter] == expected


def test_settings_that_cannot_be(refused: Refused, penguins: Path) -> None:
    words = ("fit", penguins, "--target", "species", "--set")
    message = refused(*words, "depth=3")
    assert "no parameter 'depth'" in message and "max_depth" in message
    assert "PARAM=VALUE" in refused(*words, "max_depth")
    assert "'max_depth' parameter" in refused(*words, "max_depth=0")
    assert "device='tpu'" in refused(*words, "device=tpu")
    with pytest.raises(InputError, match="no parameter 'class_weight'"):
        build_model("DecisionTreeRegressor", ("class_weight=balanced",))


def test_columns_that_are_not_there(refused: Refused, penguins: Path) -> None:
    assert "Did you mean 'species'?" in refused("fit", penguins, "--target", "spices")
    words = ("fit", penguins, "--target", "species")
    assert "--drop" in refused(*words, "--drop", "isle")
    assert "--weight" in refused(*words, "--weight", "isle")
    assert "also given" in refused(*words, "--drop", "species")
    assert "must hold numbers" in refused(*words, "--weight", "island")


def test_no_feature_left(refused: Refused, write: Write) -> None:
    assert "no column is left" in refused("fit", write("t.csv", {"y": [1, 2]}), "--target", "y")


def test_files_that_cannot_be_read(refused: Refused, tmp_path: Path) -> None:
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("x,y\n1,a\n2,b,c\n")
    assert "line 3: found 3 fields, expected 2" in refused("fit", ragged, "--target", "y")
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    assert "is empty" in refused("fit", empty, "--target", "y")
    names = tmp_path / "names.csv"
    names.write_text("x,y\n")
    assert "no rows" in refused("fit", names, "--target", "y")
    assert "does not exist" in refused("fit", tmp_path / "none.csv", "--target", "y")
    assert "folder" in refused("fit", tmp_path, "--target", "y")
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(b"PAR1 but not really")
    assert "damaged.parquet" in refused("fit", damaged, "--target", "y")
    other = tmp_path / "table.xlsx"
    other.write_bytes(b"PK")
    assert "ending '.xlsx'" in refused("fit", other, "--target", "y")


def test_too_many_levels(refused: Refused, write: Write) -> None:
    columns = {"id": [f"row {row}" for row in range(70_000)], "y": [0, 1] * 35_000}
    message = refused("fit", write("ids.csv", columns), "--target", "y", "--test-size", 0)
    assert "column 'id' holds 70,000 categories; at most 65,535" in message


def test_targets_and_weights_that_cannot_be_used(refused: Refused, write: Write) -> None:
    columns = {
        "x": range(4),
        "infinite": [1.5, 2.5, "inf", 3.5],
        "nothing": [None] * 4,
        "negative": [1, -1, 1, 1],
        "zero": [0] * 4,
        "gap": [1, None, 1, 1],
        "real": [0.5, 1.5, 2.5, 3.5],
    }
    words = ("fit", write("t.csv", columns), "--test-size", 0, "--target")
    assert "infinity" in refused(*words, "infinite")
    assert "has no values" in refused(*words, "nothing")
    assert "negative" in refused(*words, "real", "--weight", "negative")
    assert "zero" in refused(*words, "real", "--weight", "zero")
    assert "a missing value" in refused(*words, "real", "--weight", "gap")
    assert "continuous" in refused(*words, "real", "--model", "DecisionTreeClassifier")


def test_times_are_refused_by_name(refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / "times.parquet"
    days = pd.date_range("2020-01-01", periods=4)
    pd.DataFrame({"day": days, "x": range(4), "y": list("abab")}).to_parquet(path)
    assert "column 'day' holds times" in refused("fit", path, "--target", "y")
    assert "target must be of numbers" in refused("fit", path, "--target", "day")


def test_an_output_that_cannot_be_written(refused: Refused, penguins: Path, tmp_path: Path) -> None:
    words = ("fit", penguins, "--target", "species", "--output")
    assert "does not exist" in refused(*words, tmp_path / "nowhere" / "model.vtree")
    assert "is a folder" in refused(*words, tmp_path)


@pytest.mark.parametrize("size", ["1", "-0.1", "half"])
def test_a_test_size_that_cannot_be(refused: Refused, penguins: Path, size: str) -> None:
    message = refused("fit", penguins, "--target", "species", "--test-size", size)
    assert "--test-size" in message


@pytest.mark.parametrize(
    ("target", "model"), [("species", "CHAIDClassifier"), ("body_mass_g", "CHAIDRegressor")]
)
def test_chaid(run: Run, penguins: Path, tmp_path: Path, target: str, model: str) -> None:
    path = tmp_path / "model.vtree"
    words = ("fit", penguins, "--target", target, "--model", "chaid", "--json")
    fitted = json.loads(run(*words, "--set", "min_samples_leaf=20", "--output", path).stdout)
    assert fitted["model"] == model
    assert fitted["metric"]["test"] > 0.6
    assert "adjusted p = " in run("show", path).stdout
    assert type(vtree.load(path)).__name__ == model


@pytest.mark.parametrize("system", ["random_forest", "extra_trees", "bagging", "adaboost"])
@pytest.mark.parametrize("target", ["species", "body_mass_g"])
def test_many_trees(run: Run, penguins: Path, tmp_path: Path, target: str, system: str) -> None:
    saved = tmp_path / "model.vtree"
    words = ("fit", penguins, "--target", target, "--model", system, "--set", "n_estimators=5")
    summary = _json(run(*words, "--output", saved, "--json"))
    assert summary["model"].endswith("Classifier" if target == "species" else "Regressor")
    assert summary["trees"] <= 5
    assert summary["metric"]["test"] > 0.6
    assert summary["digest"] == vtree.digest(vtree.load(saved))
    assert "trees" in run(*words).stdout
    answers = run("predict", saved, penguins)
    assert answers.exit_code == 0 and len(answers.stdout.splitlines()) == 345
    shown = run("show", saved, "--depth", 1)
    assert shown.exit_code == 0 and shown.stdout.startswith("tree 0 of")


def test_an_isolation_forest_takes_no_target(
    run: Run, refused: Refused, penguins: Path, tmp_path: Path
) -> None:
    saved = tmp_path / "model.vtree"
    words = ("fit", penguins, "--model", "isolation_forest", "--drop", "species")
    settings = ("--set", "contamination=0.1", "--set", "random_state=0")
    summary = _json(run(*words, *settings, "--output", saved, "--json"))
    assert summary["features"] == 6
    assert summary["metric"]["name"] == "outliers"
    assert summary["metric"]["fit"] == pytest.approx(0.1, abs=0.01)
    answers = run("predict", saved, penguins).stdout.splitlines()
    assert set(answers[1:]) == {"1", "-1"}
    assert "takes none" in refused(*words, "--target", "species")
    assert "name the column to predict" in refused("fit", penguins)


def test_a_stray_sign_in_a_column_of_numbers_is_told(run: Run, write: Write) -> None:
    x = [str(place) for place in range(40)]
    path = write("stray.csv", {"x": [*x, "-"], "y": [place % 2 for place in range(41)]})
    result = run("fit", path, "--target", "y", "--json")
    assert _json(result)["categorical"] == 1
    assert "Note: column 'x' is read as strings, for '-' is no number" in result.stderr
    assert result.stderr.count("Note") == 1
    assert "Note" not in run("fit", write("x.csv", {"x": x, "y": x}), "--target", "y").stderr


def test_a_column_that_names_the_rows_is_told(run: Run, write: Write) -> None:
    y = [place % 2 for place in range(20)]
    path = write("named.csv", {"who": [f"k{place}" for place in range(20)], "x": y, "y": y})
    words = "Note: column 'who' has another string in each row"
    assert words in run("fit", path, "--target", "y").stderr
    assert "Note" not in run("fit", path, "--target", "y", "--drop", "who").stderr
    twice = write("twice.csv", {"who": [f"k{place % 19}" for place in range(20)], "x": y, "y": y})
    assert "Note" not in run("fit", twice, "--target", "y").stderr
