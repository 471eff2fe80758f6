import numpy as np

from tests.bits import assert_same_bits
from vtree import draws
from vtree.sampling import between
from vtree_kernels import mixing


def test_one_draw_is_one_of_many() -> None:
    keys = draws.mix(3, np.arange(50))
    state = np.uint64(draws.mix(11, draws.THRESHOLD))
    found = [mixing.mixed(mixing.mixed(state, key), np.uint64(6)) for key in keys]
    assert_same_bits(np.array(found), draws.mix(11, draws.THRESHOLD, keys, 6))
    shares = np.array([mixing.share(word) for word in found])
    assert_same_bits(shares, draws.uniform(11, draws.THRESHOLD, keys, 6))
    low = np.array([0.0, -1e308, 5e-324, -0.5, -np.inf])
    high = np.array([1.0, 1e308, 1e-323, 7.5, 3.0])
    for u in (0.0, 0.25, 1.0 - 2.0**-53):
        each = [mixing.between(a, z, u) for a, z in zip(low.tolist(), high.tolist(), strict=True)]
        assert_same_bits(np.array(each), between(low, high, np.full(5, u)))
