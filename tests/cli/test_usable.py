"""`vtree backends`: each with a word on why or why not."""

import json
from collections.abc import Callable

from click.testing import Result

from vtree.cli.usable import find_backends


def test_backends(run: Callable[..., Result]) -> None:
    result = run("backends")
    assert result.exit_code == 0
    for backend in find_backends():
        assert backend.name in result.stdout
    assert all(len(line) <= 80 for line in result.stdout.splitlines())


def test_json(run: Callable[..., Result]) -> None:
    found = json.loads(run("backends", "--json").stdout)["backends"]
    assert [each["name"] for each in found] == [each.name for each in find_backends()]
    assert {"numba", "numpy"} <= {each["name"] for each in found if each["usable"]}
    assert all(each["reason"] for each in found)
