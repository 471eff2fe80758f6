"""Pruning: functions from a `Tree` and losses at its nodes to a smaller `Tree`."""

from vtree.pruning.cost_complexity import Path, cost_complexity_path, prune_cost_complexity
from vtree.pruning.honest import Judged, Part, judge
from vtree.pruning.losses import (
    Losses,
    class_losses,
    class_weights,
    impurities,
    real_losses,
    training_losses,
)
from vtree.pruning.minimum_error import prune_minimum_error
from vtree.pruning.pessimistic import prune_pessimistic
from vtree.pruning.pre_pruning import prune_before_growth
from vtree.pruning.reduced_error import prune_reduced_error

__all__ = [
    "Judged",
    "Losses",
    "Part",
    "Path",
    "class_losses",
    "class_weights",
    "cost_complexity_path",
    "impurities",
    "judge",
    "prune_before_growth",
    "prune_cost_complexity",
    "prune_minimum_error",
    "prune_pessimistic",
    "prune_reduced_error",
    "real_losses",
    "training_losses",
]
