"""The order of rules, the default class, and rules that do more harm than good (Quinlan 1993)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


def in_class_order(
    fired: Booleans, rule_label: Integers, error: Floats, label: Integers, weight: Floats
) -> Integers:
    """Return the rules (R,) in the order in which they are asked.

    Class by class, that with the fewest false positives among rows not yet covered first; in a
    class, rules that err less come first. fired (N, R); rule_label, error (R,); label, weight (N,).
    """
    uncovered = np.ones(label.size, dtype=np.bool_)
    remaining = np.unique(rule_label).tolist()
    order: list[Integers] = []
    while remaining:
        covers = [fired[:, rule_label == c].any(axis=1) & uncovered for c in remaining]
        false = [float(weight[own & (label != c)].sum())
                 for c, own in zip(remaining, covers, strict=True)]  # fmt: skip
        best = int(np.argmin(false))
        own = np.flatnonzero(rule_label == remaining.pop(best))
        order.append(own[np.argsort(error[own], kind="stable")])
        uncovered &= ~covers[best]
    return np.concatenate([*order, np.empty(0, dtype=np.int64)])


def default_class(covered: Booleans, label: Integers, weight: Floats, n_classes: int) -> int:
    """Return the most frequent class among rows not covered, on ties the more frequent of all."""
    left = np.bincount(label[~covered], weight[~covered], n_classes)
    overall = np.bincount(label, weight, n_classes)
    return int(np.lexsort((-np.arange(n_classes), overall, left))[-1])


def decide(fired: Booleans, rule_label: Integers, default: int) -> Integers:
    """Return the class of each row, (N,): that of the first rule that fires, or the default."""
    labels = np.append(rule_label, default)
    found: Integers = labels[first_rule(fired)]
    return found


def first_rule(fired: Booleans) -> Integers:
    """Return the first rule that fires in each row, (N,), R where none does."""
    padded = np.concatenate([fired, np.ones((fired.shape[0], 1), dtype=np.bool_)], axis=1)
    found: Integers = padded.argmax(axis=1)
    return found


def dropped(
    fired: Booleans, rule_label: Integers, default: int, label: Integers, weight: Floats
) -> Integers:
    """Return the rules to keep (ascending), without those that do more harm than good.

    A rule harms rows that it gets wrong and the next rule to fire, or the default, right. The
    first such rule goes, then all are looked at again.
    """
    kept = np.arange(rule_label.size)
    while kept.size:
        own, labels = fired[:, kept], np.append(rule_label[kept], default)
        first = first_rule(own)
        behind = own.copy()
        decided = np.flatnonzero(first < kept.size)
        behind[decided, first[decided]] = False
        right = labels[first] == label
        otherwise = labels[first_rule(behind)] == label
        harm = np.bincount(first, weight * (~right & otherwise), kept.size + 1)[:-1]
        good = np.bincount(first, weight * (right & ~otherwise), kept.size + 1)[:-1]
        bad = np.flatnonzero(harm > good)
        if bad.size == 0:
            break
        kept = np.delete(kept, bad[0])
    return kept
