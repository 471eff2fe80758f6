"""Plain functions that compiled code may call, each told to Numba once.

Told a second time, a function is of another type to Numba, and all that was compiled around it is
compiled again for the next kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numba.extending import register_jitable


@functools.cache
def register_once(function: Callable[..., Any], forceinline: bool = False) -> None:
    """Let compiled code call `function`, as `register_jitable` does, whoever asks for it again."""
    register_jitable(forceinline=forceinline)(function)
