"""Functions of scipy.special in compiled code have the bits of those for arrays."""

from typing import Any

import numba
import numpy as np
import pytest
from scipy import special

from tests.bits import assert_same_bits
from vtree.chaid.association import pearson
from vtree_kernels import _special
from vtree_kernels._special import Addresses, addresses, value_of, value_of_two
from vtree_kernels.merging import cpu, merging


@numba.njit
def _values(own, x, df, found):  # type: ignore[no-untyped-def]
    for i in range(x.size):
        found[0, i] = value_of(own.erfc, x[i])
        found[1, i] = value_of_two(own.chdtrc, df[i], x[i])
        found[2, i] = value_of(own.gammaln, df[i])


def test_the_bits_of_scipy() -> None:
    random = np.random.default_rng(0)
    x = np.append(np.abs(random.standard_cauchy(20_000)) * 10.0, [0.0, 1e-300, 1e300, np.inf])
    df = random.integers(1, 300, x.size) / 2.0
    found: Any = np.empty((3, x.size))
    own = addresses()
    assert own is not None
    _values(own, x, df, found)
    expected = special.erfc(x), special.chdtrc(df, x), special.gammaln(df)
    for name, own, theirs in zip(Addresses._fields, found, expected, strict=True):
        assert_same_bits(own, theirs, name)


def test_a_scipy_with_other_names_leaves_its_functions_to_the_reference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_special, "_NAMES", ("erfc_of_another_release", "chdtrc", "gammaln"))
    assert addresses() is None
    monkeypatch.setattr(cpu, "_addresses", addresses)
    assert not merging.is_native(np.empty((1, 3, 2)), pearson(1.0), None)
