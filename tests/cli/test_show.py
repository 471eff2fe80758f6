"""`vtree show`: text, a picture, JSON, and its mistakes."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import vtree

Run = Callable[..., Result]
Refused = Callable[..., str]


def test_text(run: Run, model: Path) -> None:
    assert run("show", model).stdout == vtree.export_text(vtree.load(model)) + "\n"
    short = run("show", model, "--depth", 1).stdout
    assert short == vtree.export_text(vtree.load(model), max_depth=1) + "\n"


def test_a_picture(run: Run, regressor: Path, tmp_path: Path) -> None:
    picture = tmp_path / "tree.png"
    result = run("show", regressor, "--png", picture, "--depth", 2)
    assert result.stdout == f"The first 2 of 8 levels are drawn in {picture}\n"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_whole_picture(run: Run, model: Path, tmp_path: Path) -> None:
    picture = tmp_path / "tree.png"
    assert "The whole tree is drawn" in run("show", model, "--png", picture).stdout


def test_json(run: Run, model: Path) -> None:
    document = json.loads(run("show", model, "--json").stdout)
    loaded = vtree.load(model)
    assert document["estimator"] == "DecisionTreeClassifier"
    assert document["digest"] == vtree.digest(loaded)
    assert document["text"] == vtree.export_text(loaded)


def test_mistakes(refused: Refused, model: Path, regressor: Path, tmp_path: Path) -> None:
    assert "--depth" in refused("show", model, "--depth", 0)
    assert "must end in .png" in refused("show", model, "--png", tmp_path / "tree.svg")
    assert "does not exist" in refused("show", model, "--png", tmp_path / "no" / "tree.png")
    assert "a picture holds 64" in refused(
        "show", regressor, "--png", tmp_path / "tree.png", "--depth", 8
    )
    truncated = tmp_path / "truncated.vtree"
    truncated.write_bytes(model.read_bytes()[:20])
    assert "truncated.vtree" in refused("show", truncated)


def test_without_matplotlib(
    refused: Refused, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    message = refused("show", model, "--png", tmp_path / "tree.png")
    assert "pip install 'vtree[plot]'" in message


def test_one_tree_of_many(run: Run, refused: Refused, penguins: Path, tmp_path: Path) -> None:
    """Ordered boosting: islands stand for their targets, in the file as well."""
    path, picture = tmp_path / "ordered.vtree", tmp_path / "tree.png"
    settings = [f"--set={own}" for own in ("n_estimators=3", "depth=2", "learning_rate=0.5")]
    words = ("--target", "species", "--model", "ordered", *settings, "--output", path)
    assert run("fit", penguins, *words).exit_code == 0
    loaded = vtree.load(path)
    assert run("show", path, "--tree", 2).stdout == vtree.export_text(loaded, number=2) + "\n"
    assert "The whole tree is" in run("show", path, "--tree", 2, "--png", picture).stdout
    assert "trees are 0 … 2" in refused("show", path, "--tree", 3)
    lines = run("predict", path, penguins).stdout.splitlines()
    assert lines[0] == "prediction"
    assert set(lines[1:]) == set(loaded.classes_)
