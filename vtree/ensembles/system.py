"""`System`: what tells one boosting system from another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.constraints import Together
from vtree.histogram import DEFAULT_BUDGET
from vtree.sampling import Columns


class Goss(NamedTuple):
    """Gradient-based one-side sampling (Ke et al. 2017, algorithm 2)."""

    top: float = 0.2  # share of the rows with the largest derivatives, all kept
    other: float = 0.1  # rows drawn of the rest, as a share of all
    warm_up: int = 0  # rounds before


class Categories(NamedTuple):
    """LightGBM's regularisation of splits by categories, see `vtree_kernels.level_subsets`."""

    smooth: float = 10.0  # rows that a level needs, and what its sum of second derivatives gains
    shrink: float = 10.0  # added to reg_lambda below a split by more than one level
    most_levels: int = 32
    group_rows: int = 100
    one_against_rest: int = 4


class System(NamedTuple):
    """What tells one boosting system from another, and its parameters."""

    learning_rate: float
    reg_lambda: float = 0.0
    reg_alpha: float = 0.0
    gamma: float = 0.0  # splits must gain more, once growth is done
    ccp_alpha: float = 0.0  # a leaf costs that share of a tree's weight, once growth is done
    min_weight: float = 0.0  # least sum of second derivatives in a leaf
    least_alone: float = 0.0  # and in a root without a split, for it to answer anything
    min_gain: float = 0.0  # of a split, while growing
    min_rows: int = 1
    min_rows_split: int = 2
    max_depth: int | None = None
    max_leaves: int | None = None  # best first, where given
    max_step: float = 0.0  # what a leaf may answer by its sums at most, 0 for no bound
    first_order: bool = False  # grow on gradients alone, as if all second derivatives were one
    curvature: float = 1.0  # factor of the second derivatives
    subsample: float = 1.0
    subsample_every: int = 1  # rounds that share a sample
    goss: Goss | None = None
    columns: Columns = Columns()
    together: Together | None = None  # interaction constraints
    categories: Categories | None = None  # None: the best subset, or XGBoost's rule
    most_levels: int = 64  # of XGBoost's rule, fewer on one side of a split
    path_smooth: float = 0.0  # rows by which a node's answer leans on its parent's
    max_features: int | None = None  # drawn a node, until one varies (scikit-learn's rule)
    random_threshold: bool = False
    monotone: NDArray[np.int8] | None = None
    min_level_rows: int = 1
    seed: int = 0
    budget: int = DEFAULT_BUDGET

    @property
    def bounded(self) -> bool:
        """Whether answers have bounds that splits are judged by."""
        return self.max_step > 0.0 or self.monotone is not None

    @property
    def leaning(self) -> float:
        """By how many rows splits are judged by answers that lean, 0 where they are not."""
        return 0.0 if self.bounded else self.path_smooth
