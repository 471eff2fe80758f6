"""Logarithms and exponentials of + − × ÷, the same bits on every backend (within 4 ulp)."""

from vtree_kernels.elementary import choose, exp, log, log2

__all__ = ["choose", "exp", "log", "log2"]
