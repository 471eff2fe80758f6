"""Looking until another thread has counted up."""

import threading
import time

import numpy as np

from vtree_kernels._spinning import spin


def test_it_ends_when_the_number_is_there_or_after_so_many_looks() -> None:
    number = np.array([3])
    assert spin(number, 3, 100) == 0
    assert spin(number, 4, 100) == 100


def test_what_another_thread_writes_is_seen() -> None:
    number = np.zeros(1, dtype=np.int64)

    def count() -> None:
        time.sleep(0.05)
        number[0] += 1

    other = threading.Thread(target=count)
    other.start()
    assert 0 < spin(number, 1, 1 << 40) < 1 << 40
    other.join()
