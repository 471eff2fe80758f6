"""Compiled code that does not count who holds an array.

Where one compiled function hands an array, or a view of it, to another, Numba counts one holder
more and later one less, each by an atomic operation of some nanoseconds. Row by row nobody does
that, but node by node it was more than half of the time of small nodes. A kernel's arrays are held
by its caller for as long as it runs.
"""

from __future__ import annotations

from typing import Any

# For `njit`: a function, and all that is compiled into it, makes no array and returns none.
UNCOUNTED: dict[str, Any] = {"_nrt": False}
