"""Freed memory: pages are not asked for again, or given back at once."""

import os
import platform
import subprocess
import sys
from pathlib import Path

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


_GIVING = """
from pathlib import Path
import numpy as np
from vtree_kernels import freed_memory_kept, give_back

def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

with freed_memory_kept():
    before = held()
    many = [np.ones(1 << 16) for _ in range(200)]  # 100 MB
    last = np.ones(1 << 10)
    del many
    kept = held() - before
    give_back()
    print(kept > 2e7, held() - before < 1e7)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is glibc that is told")
def test_pages_are_used_again() -> None:
    assert _told(_SCRIPT) == "True"


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system must tell")
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is glibc that is told")
def test_pages_of_freed_arrays_go_back() -> None:
    assert _told(_GIVING) == "True True"


def _told(script: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return ran.stdout.strip()
