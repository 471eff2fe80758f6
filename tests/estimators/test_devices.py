import sys
from types import SimpleNamespace
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch

import vtree
from vtree.errors import InputError, NotAvailableError
from vtree.estimators.devices import answer, place

TABLE = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    ("device", "bring"),
    [
        ("auto", np.asarray),
        ("auto", torch.tensor),
        ("cpu", torch.tensor),
        ("cpu", array_api_strict.asarray),
    ],
)
def test_the_host_works_in_numpy(device: str, bring: Any) -> None:
    placed = place(bring(TABLE), device)
    assert type(placed) is np.ndarray
    np.testing.assert_array_equal(placed, TABLE)


@pytest.mark.parametrize("bring", [np.asarray, torch.tensor, array_api_strict.asarray])
def test_the_reference_works_where_the_data_is(bring: Any) -> None:
    table = bring(TABLE)
    with vtree.kernels("reference"):
        assert place(table, "auto") is table


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "CPU", " cpu", "cuda:-1", 0, None])
def test_devices_of_other_names(device: Any) -> None:
    with pytest.raises(InputError, match="is not one of 'auto', 'cpu', 'cuda' and 'cuda:N'"):
        place(TABLE, device)


def test_without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(NotAvailableError, match="needs CuPy.*device='cpu'.*the same model"):
        place(TABLE, "cuda")


def _cupy(count: Any) -> Any:
    return SimpleNamespace(cuda=SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=count)))


def test_a_device_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", _cupy(lambda: 2))
    with pytest.raises(NotAvailableError, match="'cuda:2': this machine has 2 CUDA devices"):
        place(TABLE, "cuda:2")


def test_a_broken_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def count() -> int:
        raise OSError("driver too old")

    monkeypatch.setitem(sys.modules, "cupy", _cupy(count))
    with pytest.raises(NotAvailableError, match="OSError: driver too old"):
        place(TABLE, "cuda")


def test_answers() -> None:
    numbers, names = np.array([1.5, 2.5]), np.array(["a", "b"])
    far = array_api_strict.asarray(TABLE, device=array_api_strict.Device("device1"))
    for example, kind in ((torch.tensor(TABLE), torch.Tensor), (far, type(far))):
        answered = answer(numbers, example)
        assert isinstance(answered, kind)
        assert answered.device == example.device
        assert answer(names, example) is names
    for example in (TABLE, TABLE.tolist(), None):
        assert answer(numbers, example) is numbers
