"""Surrogate splits: where rows go that miss the feature a node asks for.

For each split the other features are searched for splits that send rows the same way; a row
without the first answer is sent by the best surrogate that it has an answer to (Breiman, Friedman,
Olshen and Stone, Classification and Regression Trees, 1984, §5.3). Rows that miss a feature take
no part in judging its splits.
"""

from vtree.surrogates.agreement import COUNTS
from vtree.surrogates.credit import credit
from vtree.surrogates.descent import come_to_rest
from vtree.surrogates.known_rows import KnownRows
from vtree.surrogates.router import SurrogateRouter
from vtree.surrogates.rules import (
    Rules,
    as_arrays,
    fingerprint,
    follow,
    from_arrays,
    without_marks,
)

__all__ = [
    "COUNTS",
    "KnownRows",
    "Rules",
    "SurrogateRouter",
    "as_arrays",
    "come_to_rest",
    "credit",
    "fingerprint",
    "follow",
    "from_arrays",
    "without_marks",
]
