"""Plain functions that compiled code may call, each told to Numba once.

Told a second time, a function is of another type to Numba, and all that was compiled around it is
compiled again for the next kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, overload

from numba import extending

from vtree_kernels._parts import InlinePartCompiler, PartCompiler

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def register_jitable(function: Function) -> Function: ...
@overload
def register_jitable(*, forceinline: bool = False) -> Callable[[Function], Function]: ...
def register_jitable(function: Any = None, *, forceinline: bool = False) -> Any:
    """Let compiled code call `function`, as Numba's decorator of this name does, as a part of it.

    forceinline: copy it to each place that calls it.

    >>> import numba
    >>> @register_jitable
    ... def twice(x):
    ...     return 2 * x
    >>> numba.njit(lambda x: twice(x) + 1)(20)
    41
    """
    if function is None:
        return functools.partial(register_jitable, forceinline=forceinline)
    return extending.register_jitable(**part_options(forceinline))(function)


def part_options(forceinline: bool = False) -> Any:
    """Return Numba's options of a part, as its `overload` takes them for `jit_options`, too."""
    compiler = InlinePartCompiler if forceinline else PartCompiler
    return {"pipeline_class": compiler, "no_cfunc_wrapper": True}


@functools.cache
def register_once(function: Callable[..., Any], forceinline: bool = False) -> None:
    """Let compiled code call `function`, as `register_jitable` does, whoever asks for it again."""
    register_jitable(forceinline=forceinline)(function)
