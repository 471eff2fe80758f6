"""Names of functions that are compiled around other functions.

Numba finds compiled code, on disk and when it links, by the names of functions and the types of
their arguments, told apart by a number that only counts within a process. What two processes
compiled around different criteria can bear the same name then, and whichever is loaded first
serves for both. So each such function is named after all that it is made from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def named_after(*parts: Any) -> Callable[[Function], Function]:
    """Return a decorator that adds a digest of `parts`, plain values and functions, to a name.

    >>> @named_after(3, min)
    ... def least(): ...
    >>> least.__name__ == "least", least.__name__.startswith("least_")
    (False, True)
    """
    digest = hashlib.sha256(repr([_identity(part) for part in parts]).encode()).hexdigest()[:16]

    def rename(function: Function) -> Function:
        function.__qualname__ = f"{function.__qualname__}_{digest}"
        function.__name__ = f"{function.__name__}_{digest}"
        return function

    return rename


def _identity(part: Any) -> Any:
    """Return what tells a function from all others, of another version of its file, too."""
    code = getattr(part, "__code__", None)
    if code is None:
        return part if not callable(part) else part.__qualname__
    constants = [value for value in code.co_consts if not hasattr(value, "co_code")]
    return part.__module__, part.__qualname__, code.co_code, constants, code.co_names
