import pytest

from vtree import errors
from vtree.errors import InputError, InputTypeError, VTreeError, own_errors, renamed

FAMILY = {
    "InputError": ValueError,
    "InputTypeError": TypeError,
    "MemoryBudgetError": ValueError,
    "ModelFileError": ValueError,
    "NotAvailableError": RuntimeError,
}


@pytest.mark.parametrize("name", FAMILY)
def test_each_is_ours_and_the_builtin(name: str) -> None:
    kind = getattr(errors, name)
    assert issubclass(kind, VTreeError)
    assert issubclass(kind, FAMILY[name])
    assert f"{name} " in str(errors.__doc__)


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (ValueError("too long"), InputError, "weight: too long"),
        (TypeError("weight is a list"), InputTypeError, "weight is a list"),
        (ValueError("weighty"), InputError, "weight: weighty"),
        (IndexError("no such place"), InputError, "weight: no such place"),
        (OverflowError("too large"), InputError, "weight: too large"),
    ],
)
def test_errors_of_others_get_a_name(error: Exception, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught, own_errors("weight", "Pass numbers."):
        raise error
    assert str(caught.value) == f"{message}\nPass numbers."
    assert caught.value.__cause__ is error


def test_what_is_ours_or_no_mistake_passes() -> None:
    for error in (InputTypeError("as it is"), AssertionError("a")):
        with pytest.raises(type(error)) as caught, own_errors("weight"):
            raise error
        assert caught.value is error


def test_an_argument_by_another_name() -> None:
    before = "X has 2 columns, not 'X';\nX lacks:\n- X\nsee X_old"
    with pytest.raises(InputError) as caught, renamed("X", "X_val"):
        raise InputError(before)
    assert str(caught.value) == "X_val has 2 columns, not 'X';\nX_val lacks:\n- X\nsee X_old"
