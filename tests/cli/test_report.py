"""What is printed is plain text in 80 columns where no terminal is."""

import json

import numpy as np
import pytest

from vtree.cli.report import count, decimals, print_facts, print_json, print_table, progress


def test_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "rows"), [("iris", "1,150"), ("[red]", "5")])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in (lines[0], *lines[2:])] == [
        ["name", "rows"],
        ["iris", "1,150"],
        ["[red]", "5"],
    ]
    assert lines[3].endswith("     5")  # numbers stand to the right
    assert all(line == line.rstrip() for line in lines)


def test_long_words_are_folded_and_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    print_facts([("path", "x" * 200), ("b", 1)])
    out = capsys.readouterr().out
    assert out.count("x") == 200
    assert max(map(len, out.splitlines())) <= 80


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"array": np.arange(2), "number": np.float64(0.5), "text": "köln"})
    document = json.loads(capsys.readouterr().out)
    assert document == {"array": [0, 1], "number": 0.5, "text": "köln"}


def test_words() -> None:
    assert count(1, "row") == "1 row"
    assert count(1234, "row") == "1,234 rows"
    assert count(2, "leaf") == "2 leaves"
    assert decimals(0.5) == "0.500"
    assert decimals(None) == "-"


def test_progress_is_for_terminals(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("Fitting"):
        pass
    assert capsys.readouterr() == ("", "")
