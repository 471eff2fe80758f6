"""`Kernel`: one name, several implementations; the only place that asks which array is in hand."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")

MODES = ("native", "reference")
_mode: ContextVar[str] = ContextVar("vtree_kernels_mode", default="native")

# The module that defines an array's type decides which twin may take it.
_TWIN_OF_MODULE = {"numpy": "cpu", "cupy": "cuda"}


@contextmanager
def kernels(mode: str) -> Iterator[None]:
    """Run what is inside with compiled kernels or, to the same bits, with plain array code.

    Parameters
    ----------
    mode : "native", the default outside, or "reference"

    Raises
    ------
    ValueError
        Another mode.

    Examples
    --------
    >>> import vtree
    >>> X, y = [[1.0], [2.0]], [0, 1]
    >>> with vtree.kernels("reference"):
    ...     plain = vtree.DecisionTreeClassifier().fit(X, y)
    >>> vtree.digest(plain) == vtree.digest(vtree.DecisionTreeClassifier().fit(X, y))
    True
    """
    if mode not in MODES:
        raise ValueError(f"kernels: mode must be one of {MODES}, got {mode!r}")
    token = _mode.set(mode)
    try:
        yield
    finally:
        _mode.reset(token)


def mode() -> str:
    """Name the mode in force: "native" or "reference"."""
    return _mode.get()


class Kernel(Generic[P, Result]):
    """A function with twins. The first argument's array type and the mode choose among them.

    Twins are named as "package.module" and imported at the first call that needs them, so that
    defining a kernel loads neither Numba nor CuPy. A twin's function bears the reference's name.
    """

    def __init__(
        self,
        reference: Callable[P, Result],
        *,
        cpu: str | None = None,
        cuda: str | None = None,
    ) -> None:
        self.reference = reference
        self._modules = {"cpu": cpu, "cuda": cuda}
        functools.update_wrapper(self, reference)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result:
        twin = self._twin_for(args[0])
        implementation = self.reference if twin is None else self.twin(twin)
        return implementation(*args, **kwargs)

    def is_native(self, array: Any, *asked: Any) -> bool:
        """Tell whether a native twin would take a call with this array.

        asked : what else it turns on, if the twin's module has a function `takes(array, *asked)`
        """
        name = self._twin_for(array)
        if name is None or not asked:
            return name is not None
        takes = getattr(_module(str(self._modules[name])), "takes", None)
        return takes is None or bool(takes(array, *asked))

    def _twin_for(self, array: Any) -> str | None:
        if _mode.get() == "reference":
            return None
        twin = _TWIN_OF_MODULE.get(type(array).__module__.partition(".")[0])
        return twin if twin is not None and self._modules[twin] is not None else None

    def twin(self, name: str) -> Callable[P, Result]:
        """Return the native twin "cpu" or "cuda"; LookupError where the kernel has none."""
        module = self._modules.get(name)
        if module is None:
            raise LookupError(f"{self.__name__} has no {name!r} twin")
        function: Callable[P, Result] = getattr(_module(module), self.__name__)
        return function

    __name__: str


@functools.cache
def _module(name: str) -> ModuleType:
    """Import a twin's module; to ask the import system again takes longer than some calls."""
    return importlib.import_module(name)
