"""Freed memory: pages are not asked for again."""

import os
import platform
import subprocess
import sys

import pytest

_SCRIPT = """
import resource
import numpy as np
from vtree_kernels import keep_freed

def pages(rounds):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(rounds):
        kept = np.zeros(1 << 18)
        np.ones(1 << 18).sum() + np.ones(1 << 17).sum() + kept.sum()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

keep_freed()
first, later = pages(1), pages(20)
print(later < 4 * first)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is glibc that is told")
def test_pages_are_used_again() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ran.stdout.strip() == "True"
