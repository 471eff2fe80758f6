"""Pruning: functions from a `Tree` to a smaller one."""

from vtree.pruning.cost_complexity import Path, cost_complexity_path, prune_cost_complexity

__all__ = ["Path", "cost_complexity_path", "prune_cost_complexity"]
