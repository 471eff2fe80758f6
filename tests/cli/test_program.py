"""The program as a user runs it: exit codes, one message, one JSON document."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import vtree
from vtree.cli.program import Commands

ROOT = Path(__file__).resolve().parents[2]


def _as_a_user(*words: object, program: str = "") -> subprocess.CompletedProcess[str]:
    """Run `python -m vtree`, or a program in its place, in a process of its own."""
    packages = os.pathsep.join([str(ROOT), str(ROOT / "kernels")])
    start = ["-c", program] if program else ["-m", "vtree"]
    return subprocess.run(
        [sys.executable, *start, *map(str, words)],
        env=os.environ | {"PYTHONPATH": packages, "FORCE_COLOR": "", "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def test_version() -> None:
    done = _as_a_user("--version")
    assert (done.returncode, done.stdout) == (0, f"vtree {vtree.__version__}\n")


def test_help_names_the_commands(run: Callable[..., Result]) -> None:
    result = run("--help")
    assert result.exit_code == 0
    for command in ("demo", "fit", "predict", "show", "backends"):
        assert f"\n  {command} " in result.stdout
    assert not any(line.endswith("...") for line in result.stdout.splitlines()[1:])  # cut short


def test_help_does_not_wait_for_the_engine() -> None:
    program = """
import sys
from vtree.cli.program import program
print(sorted({"numba", "sklearn", "torch"} & set(sys.modules)))
"""
    assert _as_a_user(program=program).stdout == "[]\n"


def test_a_fit_and_a_mistake_as_a_user_runs_them(tmp_path: Path, penguins: Path) -> None:
    saved = tmp_path / "penguins.vtree"
    done = _as_a_user("fit", penguins, "--target", "species", "--output", saved)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert saved.is_file()
    done = _as_a_user("fit", penguins, "--target", "kind")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: --target: the table has no column 'kind'.")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("library", ["click", "rich"])
def test_without_the_extra_it_says_what_to_install(library: str) -> None:
    program = f"""
import sys
sys.modules[{library!r}] = None
from vtree.__main__ import main
main()
"""
    done = _as_a_user(program=program)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"The command line needs {library}: pip install 'vtree[cli]'\n"


def test_another_missing_library_is_not_hidden() -> None:
    program = """
import sys
sys.modules["narwhals"] = None
from vtree.__main__ import main
main()
"""
    done = _as_a_user(program=program)
    assert done.returncode == 1
    assert "narwhals" in done.stderr


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["fit", "none.csv", "--target", "x", "--json"], "InputError"),
        (["fit", "none.csv", "--targte", "x", "--json"], "NoSuchOption"),
        (["fit", "--json"], "MissingParameter"),
        (["show", "none.vtree", "--json"], "FileNotFoundError"),
        (["nothing", "--json"], "NoSuchCommand"),
    ],
)
def test_errors_are_one_json_document_too(
    run: Callable[..., Result], words: list[str], kind: str
) -> None:
    result = run(*words)
    assert result.exit_code == 2
    error = json.loads(result.stdout)["error"]
    assert error["message"] and error["type"] in {kind, "UsageError"}
    assert result.stderr


def _one_command(fault: BaseException) -> Commands:
    group = Commands()

    @group.command()
    @click.option("--json", is_flag=True)
    def work(json: bool) -> None:
        raise fault

    return group


def test_a_fault_of_our_own_keeps_its_traceback() -> None:
    result = CliRunner().invoke(_one_command(KeyError("lost")), ["work", "--json"])
    assert isinstance(result.exception, KeyError)
    assert json.loads(result.stdout) == {"error": {"type": "KeyError", "message": "'lost'"}}


def test_an_interrupt_exits_with_1() -> None:
    result = CliRunner().invoke(_one_command(KeyboardInterrupt()), ["work"])
    assert result.exit_code == 1


def test_a_file_that_may_not_be_read_is_a_mistake() -> None:
    fault = PermissionError(13, "Permission denied", "model.vtree")
    result = CliRunner().invoke(_one_command(fault), ["work"])
    assert (result.exit_code, result.stderr) == (2, "Error: model.vtree: Permission denied\n")
