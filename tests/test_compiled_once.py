"""What one process has compiled, the next one finds on disk."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def _compiled() -> set[str]:
    """Fit every system in a process of its own; return the names of what it compiled."""
    packages = os.pathsep.join([str(ROOT), str(ROOT / "kernels")])
    command = [sys.executable, "-m", "tests.systems"]
    environment = os.environ | {"PYTHONPATH": packages, "PYTHONHASHSEED": "random"}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return set(json.loads(run.stdout))


@pytest.mark.timeout(600)
def test_a_later_process_compiles_nothing() -> None:
    # The cache is the one that all tests fill. Another process that fills it at the same time may
    # push out an entry, but not the same one again and again.
    again = _compiled()
    for _ in range(3):
        again &= _compiled() if again else set()
    assert not again
