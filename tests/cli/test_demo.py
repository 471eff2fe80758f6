"""`vtree demo`: all backends agree, and if they did not it would say so."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

import vtree
from vtree.cli import demo as module
from vtree.cli.bundled import SAMPLES
from vtree.cli.usable import find_backends

Run = Callable[..., Result]


def test_the_demo(run: Run) -> None:
    result = run("demo", "--rows", 300)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    usable = [backend.name for backend in find_backends() if backend.usable]
    assert lines[-2:] == [
        f"All {len(usable)} backends gave the same digest on all {len(SAMPLES) + 1} tables:",
        ", ".join(usable) + ".",
    ]
    for make in SAMPLES:
        assert any(line.startswith(f"{make.__name__}: ") for line in lines)
    assert "rows per second" in result.stdout
    assert "\x1b" not in result.stdout
    assert all(len(line) <= 80 for line in lines)


@pytest.fixture
def numba_and_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the backends that take long."""
    two = [each for each in find_backends() if each.name in {"numba", "numpy"}]
    monkeypatch.setattr(module, "find_backends", lambda: two)
    monkeypatch.setattr(module, "SAMPLES", SAMPLES[:2])


@pytest.mark.usefixtures("numba_and_numpy")
def test_json(run: Run) -> None:
    document = json.loads(run("demo", "--rows", 200, "--json").stdout)
    assert document["same_digest"] is True
    assert [each["name"] for each in document["tables"]] == ["play_tennis", "iris", "synthetic"]
    for table in document["tables"]:
        assert len(set(table["digests"].values())) == 1
        assert table["tree"]
    assert {each["n_rows"] for each in document["speed"].values()} == {200}


@pytest.mark.usefixtures("numba_and_numpy")
def test_a_difference_is_told_and_exits_with_1(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = vtree.digest
    seen: list[str] = []

    def digest(model: Any) -> str:
        seen.append(honest(model))
        return "0" * 64 if len(seen) == 4 else seen[-1]  # iris on numpy

    monkeypatch.setattr(vtree, "digest", digest)
    result = run("demo", "--rows", 200)
    assert result.exit_code == 1
    assert "DIFFERENT" in result.stdout
    told = result.stdout[result.stdout.index("BACKENDS DISAGREE") :].splitlines()
    assert [line.split()[0] for line in told[1:]] == ["iris", "numba", "numpy"]
    seen.clear()
    document = json.loads(run("demo", "--rows", 200, "--json").stdout)
    assert document["same_digest"] is False


def test_rows_that_cannot_be(refused: Callable[..., str]) -> None:
    assert "--rows" in refused("demo", "--rows", 0)
