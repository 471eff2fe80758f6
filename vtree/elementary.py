"""Logarithms made of + − × ÷, so that every backend gives the same bits (within 4 ulp)."""

from vtree_kernels.elementary import choose, log, log2

__all__ = ["choose", "log", "log2"]
