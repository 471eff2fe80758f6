"""The command line in this process, and files to give to it."""

import csv
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from vtree.cli.program import program

Run = Callable[..., Result]
Write = Callable[[str, Mapping[str, Sequence[Any]]], Path]


@pytest.fixture
def run() -> Run:
    def run(*words: object) -> Result:
        result = CliRunner().invoke(program, [str(word) for word in words])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def refused(run: Run) -> Callable[..., str]:
    """Run a command that must fail as a user's mistake does, and give the message."""

    def refused(*words: object) -> str:
        result = run(*words)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        return result.stderr

    return refused


@pytest.fixture
def penguins() -> Path:
    return Path(str(files("vtree") / "data" / "penguins.csv"))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write columns to a CSV file, None as an empty field."""

    def write(name: str, columns: Mapping[str, Sequence[Any]]) -> Path:
        path = tmp_path / name
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        return path

    return write


@pytest.fixture
def model(run: Run, penguins: Path, tmp_path: Path) -> Path:
    """A saved classifier of penguins."""
    path = tmp_path / "penguins.vtree"
    words = ("--target", "species", "--set", "max_depth=3", "--output", path)
    assert run("fit", penguins, *words).exit_code == 0
    return path


@pytest.fixture
def regressor(run: Run, penguins: Path, tmp_path: Path) -> Path:
    """A saved regressor of the mass of penguins."""
    path = tmp_path / "mass.vtree"
    words = ("--target", "body_mass_g", "--set", "max_depth=8", "--output", path)
    assert run("fit", penguins, *words).exit_code == 0
    return path
