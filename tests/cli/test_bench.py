"""`vtree bench`: figures with their metric, from a table made up or a file; and its mistakes."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from vtree.cli import bench as module
from vtree.cli.usable import find_backends

Run = Callable[..., Result]
Refused = Callable[..., str]


@pytest.fixture(autouse=True)
def numba_and_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the backends that take long."""
    two = [each for each in find_backends() if each.name in {"numba", "numpy"}]
    monkeypatch.setattr(module, "find_backends", lambda: two)


def test_a_table_made_up(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "speed.png"
    result = run("bench", "--rows", 200, "--rows", 2500, "--depth", 3, "--plot", picture)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == f"Rows per second are drawn in {picture}"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "2,500" in result.stdout
    assert all(len(line) <= 80 for line in result.stdout.splitlines()[:-1])


def test_a_file(run: Run, penguins: Path) -> None:
    result = run("bench", penguins, "--target", "species", "--repeats", 1, "--json")
    document = json.loads(result.stdout)
    assert document["depth"] == 8
    numba, numpy = document["measured"]
    assert (numba["backend"], numpy["backend"]) == ("numba", "numpy")
    assert numba["digest"] == numpy["digest"]
    assert numba["metric"] == "accuracy"
    assert numba["score"] > 0.95
    assert numba["rows"] == 344
    assert numba["fit_rows_per_second"] == pytest.approx(344 / numba["fit_seconds"])
    assert numba["cold_seconds"] > numba["fit_seconds"] > 0.0


def test_mistakes(refused: Refused, penguins: Path, tmp_path: Path) -> None:
    assert "no DATA is given" in refused("bench", "--target", "species")
    assert "which column of DATA" in refused("bench", penguins)
    assert "leave it out" in refused("bench", penguins, "--target", "species", "--rows", 20)
    assert "must end in .png" in refused("bench", "--plot", tmp_path / "speed.svg")
    assert "does not exist" in refused("bench", "--plot", tmp_path / "no" / "speed.png")
    assert "nowhere.csv" in refused("bench", tmp_path / "nowhere.csv", "--target", "y")


def test_without_matplotlib_nothing_is_measured(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(module, "measure", lambda *_: pytest.fail("measured"))
    assert "Drawing needs matplotlib" in refused("bench", "--plot", tmp_path / "speed.png")
