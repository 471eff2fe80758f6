"""Rules: from the paths of a tree to a short list of them (Quinlan 1993, chapter 5)."""

from vtree.rules.conditions import ABOVE, EQUALS, UP_TO, Conditions, Rules, fires, path_rules
from vtree.rules.deciding import decide, default_class, dropped, in_class_order
from vtree.rules.description import condition_bits, select_rules
from vtree.rules.simplifying import simplified

__all__ = [
    "ABOVE",
    "EQUALS",
    "UP_TO",
    "Conditions",
    "Rules",
    "condition_bits",
    "decide",
    "default_class",
    "dropped",
    "fires",
    "in_class_order",
    "path_rules",
    "select_rules",
    "simplified",
]
