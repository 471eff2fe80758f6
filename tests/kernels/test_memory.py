"""Freed memory: pages are not asked for again."""

import os
import platform
import subprocess
import sys

import pytest

_SCRIPT = """
import resource, threading
import numpy as np
from vtree_kernels import freed_memory_kept

def pages(rounds):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(rounds):
        kept = np.zeros(1 << 18)
        np.ones(1 << 18).sum() + np.ones(1 << 17).sum() + kept.sum()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

def inside():
    with freed_memory_kept():
        large = [np.ones(1 << 23) for _ in range(4)]  # 64 MiB each
        del large
        first, later = pages(1), pages(20)
        assert later < 4 * max(first, 10), (first, later)

before = resident()
with freed_memory_kept():
    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    inside()
    assert resident() > before + (200 << 20)
    assert pages(20) < 40
assert resident() < before + (20 << 20), (before, resident())
print(True)
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
