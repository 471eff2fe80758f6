"""scikit-learn's own tests of its trees, run with vtree's classes in their place."""

import os
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

import pytest

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent

# {module: {id: reason}}; what the plugin marks is held against it here once more.
EXCUSED: dict[str, dict[str, str]] = tomllib.loads(
    TESTS.joinpath("sklearn_excused.toml").read_text(encoding="utf-8")
)

# The least number of ids that must pass: a module that scikit-learn empties, or a
# table of excuses that grows, must not look like success.
LEAST_PASSED = {
    "test_tree": 519,
    "test_monotonic_tree": 224,
    "test_forest": 326,
    "test_iforest": 29,
    "test_bagging": 124,
    "test_weight_boosting": 43,
}
_ENSEMBLES = ("test_forest", "test_iforest", "test_bagging", "test_weight_boosting")
HOME = dict.fromkeys(_ENSEMBLES, "sklearn.ensemble.tests")

# Seconds for one module, which takes scikit-learn's own classes five; most of the
# rest is compiling on a fresh clone.
LIMIT = 900


def _environment() -> dict[str, str]:
    """Drop what steers this pytest or scikit-learn's; put vtree and the plugin on the path."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "SKLEARN_"))
    }
    path = [str(ROOT), str(ROOT / "kernels"), str(TESTS), kept.get("PYTHONPATH", "")]
    # One process each: the modules already run beside each other when these tests do.
    return kept | {
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def _run(module: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one of scikit-learn's modules, away from this project's pytest settings."""
    empty = folder / "pytest.ini"
    empty.write_text("[pytest]\n", encoding="utf-8")
    flags = [
        "-p",
        "sklearn_dropin",
        "-p",
        "no:cacheprovider",
        "-q",
        "--tb=short",
        "--disable-warnings",
    ]
    where = ["-c", str(empty), "--rootdir", str(folder), f"--junitxml={folder / 'report.xml'}"]
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *flags,
            *where,
            "--pyargs",
            f"{HOME.get(module, 'sklearn.tree.tests')}.{module}",
        ],
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT,
    )


def _outcomes(report: Path) -> dict[str, set[str]]:
    """Read which ids passed, failed (errors too), were skipped or failed as excused."""
    outcomes = defaultdict(set)
    for case in ElementTree.parse(report).iter("testcase"):
        outcome = "passed"
        for child in case:
            if child.tag in {"failure", "error"}:
                outcome = "failed"
            elif child.tag == "skipped" and outcome == "passed":
                outcome = "excused" if child.get("type") == "pytest.xfail" else "skipped"
        outcomes[outcome].add(case.attrib["name"])
    return outcomes


@pytest.mark.timeout(LIMIT + 60)  # the inner limit speaks first, with the module's output
@pytest.mark.parametrize("module", LEAST_PASSED)
def test_sklearn_module(module: str, tmp_path: Path) -> None:
    run = _run(module, tmp_path)
    report = tmp_path / "report.xml"
    # 0: all passed; 1: some failed. Anything else, and no id below has a meaning.
    if run.returncode not in (0, 1) or not report.is_file():
        pytest.fail(run.stdout, pytrace=False)
    outcomes = _outcomes(report)
    if outcomes["failed"]:
        # An excused id among these passed, and has to leave the table.
        listed = "\n".join(sorted(outcomes["failed"]))
        pytest.fail(f"{run.stdout}\n{module}: failed unexpectedly\n{listed}", pytrace=False)
    assert run.returncode == 0, run.stdout
    assert outcomes["excused"] == EXCUSED.get(module, {}).keys()
    assert len(outcomes["passed"]) >= LEAST_PASSED[module], run.stdout


def test_every_excuse_is_of_a_module_that_runs() -> None:
    assert EXCUSED.keys() <= LEAST_PASSED.keys()
