"""What counts as a user's mistake."""

import warnings
from pathlib import Path

import pytest

from vtree.cli.mistakes import as_mistakes, check_output
from vtree.errors import InputError, ModelFileError


def test_a_value_error_is_a_mistake() -> None:
    with pytest.raises(InputError, match="of y"), as_mistakes():
        raise ValueError("of y")
    with pytest.raises(ModelFileError), as_mistakes():
        raise ModelFileError("as it was")
    with pytest.raises(KeyError), as_mistakes():
        raise KeyError("a fault of our own")


def test_names_that_the_commands_matched_are_not_warned_of() -> None:
    with as_mistakes():
        warnings.warn("X does not have valid feature names, but …", UserWarning, stacklevel=1)


def test_places_to_write(tmp_path: Path) -> None:
    check_output(None)
    check_output(tmp_path / "new.vtree")
    check_output(Path("here.vtree"))
    with pytest.raises(InputError, match="is a folder"):
        check_output(tmp_path)
    with pytest.raises(InputError, match="--png: the folder .* does not exist"):
        check_output(tmp_path / "no" / "new.png", "--png")
