"""log, log2, exp and choose, with the same bits on every backend.

The array forms stand in `reference`; `cpu` teaches Numba the scalar forms, so that one line of a
criterion, `log2(left / total)`, serves whole arrays and, compiled, single numbers.
"""

from vtree_kernels.elementary.reference import choose, exp, log, log2

__all__ = ["choose", "exp", "log", "log2"]
