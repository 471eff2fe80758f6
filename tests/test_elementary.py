import numpy as np

import vtree_kernels.elementary
from vtree import elementary


def test_the_kernels_functions_are_the_ones() -> None:
    for name in elementary.__all__:
        assert getattr(elementary, name) is getattr(vtree_kernels.elementary, name)


def test_worked_numbers() -> None:
    assert elementary.log2(np.array([8.0]))[0] == 3.0
    np.testing.assert_allclose(elementary.log(np.array([np.e])), [1.0], rtol=1e-15)
    assert elementary.choose(np.array([False]), 1.0, 2.0)[0] == 2.0
