"""The errors vtree raises on purpose.

::

    VTreeError                            whatever vtree itself reports
    ├── InputError         ValueError     a value that cannot be used: shape, range, content
    ├── InputTypeError     TypeError      an argument of a kind that cannot be used
    ├── MemoryBudgetError  ValueError     the work asked for does not fit the byte budget
    ├── ModelFileError     ValueError     a file that is not a model, is damaged or is hostile
    └── NotAvailableError  RuntimeError   a device or library that this machine does not have

Each derives from the builtin beside it, so code that knows nothing of vtree can
catch it too. A message names the argument, what came, what is allowed and what
to do next.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager


class VTreeError(Exception):
    """Base of every error that vtree raises on purpose."""


class InputError(VTreeError, ValueError):
    """A value cannot be used: its shape, its range or its content."""


class InputTypeError(VTreeError, TypeError):
    """An argument is of a kind that cannot be used."""


class MemoryBudgetError(VTreeError, ValueError):
    """The work asked for does not fit the byte budget; raised before it starts."""


class ModelFileError(VTreeError, ValueError):
    """A file is not a vtree model, is damaged, or was made to do harm."""


class NotAvailableError(VTreeError, RuntimeError):
    """A device or an optional library is not available on this machine."""


@contextmanager
def own_errors(argument: str, allowed: str = "") -> Iterator[None]:
    """Turn what other libraries say of `argument` into errors of this family.

    The message keeps their words; the argument's name goes in front where they lack it, and what
    is `allowed` behind.
    """
    try:
        yield
    except VTreeError:
        raise
    except (TypeError, ValueError, LookupError, ArithmeticError) as error:
        is_named = re.search(rf"\b{argument}\b", str(error)) is not None
        text = str(error) if is_named else f"{argument}: {error}"
        kind = InputTypeError if isinstance(error, TypeError) else InputError
        raise kind(f"{text.rstrip()}\n{allowed}".rstrip()) from error


@contextmanager
def renamed(argument: str, name: str) -> Iterator[None]:
    """Let errors of this family that speak of `argument` say `name`, for it came by that."""
    try:
        yield
    except VTreeError as error:
        # Not in quotes and lists, where columns and labels stand.
        word = rf"(?<![\w'\"])(?<!- ){argument}(?![\w'\"])"
        error.args = (re.sub(word, name, str(error)), *error.args[1:])
        raise
