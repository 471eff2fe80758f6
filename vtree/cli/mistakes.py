"""A user's mistakes: what is refused before the work begins, and faults that libraries find."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vtree.errors import InputError, VTreeError


def check_output(output: Path | None, option: str = "--output") -> None:
    """Refuse a place where no file can be written, before the work and not after it."""
    if output is None:
        return
    if output.is_dir():
        raise InputError(f"{option}: {str(output)!r} is a folder; name a file in it")
    if not output.absolute().parent.is_dir():
        raise InputError(f"{option}: the folder {str(output.parent)!r} does not exist")


@contextmanager
def as_mistakes() -> Iterator[None]:
    """Turn a ValueError into InputError: scikit-learn checks parameters and targets with it."""
    try:
        with warnings.catch_warnings():
            # The commands match columns themselves: by name, or by place if training had no names.
            # scikit-learn sees no names in a mapping, which is what CSV is read to without pyarrow.
            warnings.filterwarnings("ignore", "X (does not have valid|has) feature names")
            yield
    except VTreeError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error
