import numpy as np
import pytest

from vtree import draws


def test_known_words_stay_what_they_are() -> None:
    # These numbers are part of every saved seed: a change here changes published models.
    assert int(draws.mix(7, 1, 2)) == 2642789070547244005
    expected = [0.7285528603361534, 0.41312212738605103, 0.28855436816454183]
    assert draws.uniform(3, np.arange(3)).tolist() == expected


def test_arrays_are_many_scalars() -> None:
    rows, columns = np.arange(4)[:, None], np.arange(3)[None, :]
    table = draws.mix(5, rows, columns)
    assert table.shape == (4, 3)
    assert table.dtype == np.uint64
    assert all(int(table[i, j]) == int(draws.mix(5, i, j)) for i, j in np.ndindex(4, 3))


def test_no_two_of_many_words_collide_and_order_counts() -> None:
    words = draws.mix(np.arange(300)[:, None], np.arange(300)[None, :])
    assert np.unique(words).size == words.size


def test_negative_and_large_words_are_taken() -> None:
    assert int(draws.mix(-1)) == int(draws.mix(np.uint64(2**64 - 1)))


def test_uniform_numbers_are_uniform() -> None:
    numbers = draws.uniform(1, np.arange(100_000))
    assert numbers.min() >= 0.0
    assert numbers.max() < 1.0
    counts = np.histogram(numbers, bins=20, range=(0.0, 1.0))[0]
    assert abs(counts - 5000).max() < 5 * np.sqrt(5000)
    assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 0.02


def test_a_childs_key_is_its_path() -> None:
    root = draws.mix(np.zeros(1, dtype=np.int64))
    children = draws.child_key(np.repeat(root, 2), np.array([0, 1]))
    grandchildren = draws.child_key(np.repeat(children, 2), np.array([0, 1, 0, 1]))
    keys = np.concatenate([root, children, grandchildren])
    assert np.unique(keys).size == 7
    again = draws.child_key(children[1:], np.array([0]))
    assert again[0] == grandchildren[2]


@pytest.mark.parametrize("size", [1, 500, 9_000])
def test_samples_are_ascending_and_about_as_large_as_asked(size: int) -> None:
    rows = draws.sample_rows(10_000, size)
    assert (np.diff(rows) > 0).all()
    assert abs(rows.size - size) <= 5 * np.sqrt(size) + 5
    np.testing.assert_array_equal(rows, draws.sample_rows(10_000, size))


def test_a_small_table_is_its_own_sample() -> None:
    np.testing.assert_array_equal(draws.sample_rows(10, 10), np.arange(10))
    assert draws.sample_rows(0, 5).size == 0


def test_bells_are_nearly_normal() -> None:
    numbers = draws.nearly_normal(1, np.arange(100_000))
    assert abs(numbers.mean()) < 0.015
    assert abs(numbers.std() - 1.0) < 0.01
    assert abs(numbers).max() < 4.9
    inside = [(abs(numbers) < width).mean() for width in (1.0, 2.0, 3.0)]
    np.testing.assert_allclose(inside, [0.683, 0.954, 0.997], atol=0.01)
    assert draws.nearly_normal(1, 2).shape == (1,)
