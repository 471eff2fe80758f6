"""Memory that is asked for and freed again and again."""

from __future__ import annotations

import numpy as np

_BLOCK = (1 << 25) - (1 << 16)  # bytes: the most that moves the limit


def keep_freed() -> None:
    """Let the process keep memory that arrays of up to 32 MiB free, for those that come next.

    glibc gives large blocks back to the system, which clears every page that it hands out again:
    a third of the time of symmetric trees on small tables. What counts as large is at least as much
    as has been freed at once so far; so a block is freed here that nobody has touched, which takes
    no time and no memory. Other allocators do not care.
    """
    np.empty(_BLOCK, dtype=np.uint8)
