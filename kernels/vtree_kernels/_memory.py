"""Memory that is asked for and freed again and again."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# glibc's own numbers, and what it does by itself once a block of 32 MiB has been freed.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_USUAL = ((_MMAP_THRESHOLD, 1 << 25), (_TRIM_THRESHOLD, 1 << 26))
_ALL = ((_MMAP_THRESHOLD, 1 << 27), (_TRIM_THRESHOLD, 1 << 30))  # bytes

_lock = threading.Lock()
_inside = 0


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Let the process keep memory that arrays free inside, for those that come next.

    glibc gives large blocks back to the system, which clears every page that it hands out again:
    a third of the time of symmetric trees on small tables, a tenth of that of 255 leaves of large
    ones. At the end, when no other thread is inside either, what is free is given back. Other
    allocators do not care.
    """
    _enter(1)
    try:
        yield
    finally:
        _enter(-1)


def _enter(step: int) -> None:
    global _inside
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    set_option = getattr(library, "mallopt", None)
    with _lock:
        before, _inside = _inside, _inside + step
        if set_option is None or min(before, _inside):
            return
        for option in _ALL if _inside else _USUAL:
            set_option(*option)
        give_back = getattr(library, "malloc_trim", None)
        if not _inside and give_back is not None:
            give_back(ctypes.c_size_t(0))
