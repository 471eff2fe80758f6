"""The format, lint, type and layers checks, so that `pytest` alone is all of CI."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# lint-imports has no `python -m` form: take it from the environment that runs the
# tests, whether or not that environment is on the PATH.
LINT_IMPORTS = shutil.which("lint-imports", path=sysconfig.get_path("scripts"))

CHECKS = {
    "format": [sys.executable, "-m", "ruff", "format", "--check", "--diff", "."],
    "lint": [sys.executable, "-m", "ruff", "check", "."],
    "types": [sys.executable, "-m", "mypy"],
    "layers": [str(LINT_IMPORTS), "--no-logo", "--verbose"],
}


@pytest.mark.timeout(600)  # mypy without its cache reads NumPy's stubs first
@pytest.mark.parametrize("check", CHECKS)
def test_style(check: str) -> None:
    packages = os.pathsep.join([str(ROOT), str(ROOT / "kernels")])
    run = subprocess.run(
        CHECKS[check],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": packages},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    command = " ".join(Path(word).name for word in CHECKS[check])
    if run.returncode != 0:
        # The tool's own words are the message; a traceback of this file adds nothing.
        pytest.fail(f"{command}\n{run.stdout}{run.stderr}", pytrace=False)
