"""CHAID for one predictor in one node, one pair at a time, on lists: slow and plain."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial, inf
from typing import Any

import numpy as np
from scipy import stats

Group = tuple[int, ...]  # levels, ascending; the missing category is the last level


@dataclass(frozen=True)
class Case:
    rows: tuple[Any, ...]  # of each level: class counts, or the targets themselves
    kind: str  # "nominal", "ordinal", or "floating"
    target: str = "pearson"  # or "likelihood_ratio", "f_test"
    alpha: float = 0.05
    resplit: float | None = None
    exhaustive: bool = False
    small_first: bool = False
    late: bool = False
    least: float = 0.0

    @property
    def floating(self) -> int:
        return len(self.rows) - 1 if self.kind == "floating" else -1


def p_value(groups: Sequence[Group], case: Case) -> float:
    if case.target == "f_test":
        return _p_of_means([np.concatenate([case.rows[v] for v in group]) for group in groups])
    table = np.array([np.sum([case.rows[v] for v in group], axis=0) for group in groups])
    table = table[:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return 1.0
    power = 1.0 if case.target == "pearson" else 0.0
    answer = stats.chi2_contingency(table, correction=False, lambda_=power)
    return float(answer.pvalue)


def _p_of_means(samples: list[Any]) -> float:
    if len(samples) < 2:
        return 1.0
    whole = np.concatenate(samples)
    within = sum(((each - each.mean()) ** 2).sum() for each in samples)
    between = sum(len(each) * (each.mean() - whole.mean()) ** 2 for each in samples)
    df = len(whole) - len(samples)
    if df <= 0 or between < 1e-12:
        return 1.0
    if within < 1e-12:
        return 0.0
    value = (between / (len(samples) - 1)) / (within / df)
    return float(stats.f.sf(value, len(samples) - 1, df))


def size(group: Group, case: Case) -> float:
    return float(sum(len(r) if case.target == "f_test" else sum(r) for r in _of(group, case)))


def _of(group: Group, case: Case) -> list[Any]:
    return [case.rows[v] for v in group]


def allowed(groups: list[Group], case: Case) -> list[tuple[Group, Group]]:
    pairs = list(combinations(groups, 2))
    if case.kind == "nominal":
        return pairs
    line = [group for group in groups if group != (case.floating,)]
    near = [set(pair) for pair in zip(line, line[1:], strict=False)]
    return [pair for pair in pairs if set(pair) in near or (case.floating,) in pair]


def merged(groups: list[Group], pair: tuple[Group, Group]) -> list[Group]:
    rest = [group for group in groups if group not in pair]
    return sorted([*rest, tuple(sorted(pair[0] + pair[1]))])


def most_similar(pairs: list[tuple[Group, Group]], case: Case) -> tuple[float, tuple[Group, Group]]:
    best, chosen = -inf, pairs[0]
    for pair in pairs:
        p = p_value(pair, case)
        if p > best:
            best, chosen = p, pair
    return best, chosen


def halves(group: Group, case: Case) -> list[tuple[Group, Group]]:
    line = [level for level in group if level != case.floating]
    has_floating = len(line) < len(group)
    if case.kind == "nominal":
        lefts = [c for k in range(1, len(group)) for c in combinations(group[:-1], k)]
    else:
        lefts = [tuple(line[:k]) for k in range(1, len(line))]
        if has_floating:
            lefts += [(*left, case.floating) for left in lefts]
            lefts.append(tuple(line))
    return [(left, tuple(sorted(set(group) - set(left)))) for left in lefts]


def resplit(groups: list[Group], pair: tuple[Group, Group], case: Case) -> list[Group]:
    joined = merged(groups, pair)
    new = tuple(sorted(pair[0] + pair[1]))
    if case.resplit is None or len(new) < 3:
        return joined
    p, best = min(
        ((p_value(cut, case), cut) for cut in halves(new, case)), key=lambda each: each[0]
    )
    if p > case.resplit:
        return joined
    return sorted([group for group in joined if group != new] + list(best))


def merge(case: Case) -> list[Group]:
    groups: list[Group] = [(level,) for level in range(len(case.rows))]
    if case.late and case.kind == "floating":
        groups.pop()
    stages = [(p_value(groups, case), groups)]
    while len(groups) > 2:
        p, pair = most_similar(allowed(groups, case), case)
        forced = case.small_first and any(size(group, case) < case.least for group in groups)
        if not (case.exhaustive or forced or p > case.alpha):
            break
        groups = resplit(groups, pair, case) if p > case.alpha else merged(groups, pair)
        stages.append((p_value(groups, case), groups))
    if case.exhaustive:
        groups = min(stages, key=lambda stage: stage[0])[1]
    if not case.small_first or case.exhaustive:
        groups = absorb(groups, case)
    return groups


def absorb(groups: list[Group], case: Case) -> list[Group]:
    while len(groups) > 1:
        smallest = min(groups, key=lambda group: size(group, case))
        if size(smallest, case) >= case.least:
            break
        pairs = [pair for pair in allowed(groups, case) if smallest in pair]
        groups = merged(groups, most_similar(pairs, case)[1])
    return groups


def multiplier(groups: list[Group], case: Case) -> float:
    c, r = len(case.rows), len(groups)
    if case.exhaustive:
        return c * (c * c - 1) / 6 if case.kind == "nominal" else c * (c - 1) / 2
    if case.kind == "ordinal":
        return comb(c - 1, r - 1)
    if case.kind == "floating":
        return comb(c - 2, r - 2) + r * comb(c - 2, r - 1)
    terms = [(-1.0) ** i * (r - i) ** c / (factorial(i) * factorial(r - i)) for i in range(r)]
    return float(sum(terms))


def adjusted(groups: list[Group], case: Case) -> float:
    if len(groups) < 2 or any(size(group, case) < case.least for group in groups):
        return 1.0
    return p_value(groups, case) * multiplier(groups, case)


def judge(case: Case) -> tuple[list[Group], float]:
    """Return (the groups, the adjusted p-value)."""
    groups = merge(case)
    if not (case.late and case.kind == "floating"):
        return groups, adjusted(groups, case)
    own = (case.floating,)
    alone = sorted([*groups, own])
    pairs = [pair for pair in allowed(alone, case) if own in pair]
    within = merged(alone, most_similar(pairs, case)[1])
    apart, joined = adjusted(alone, case), adjusted(within, case)
    return (alone, apart) if apart < joined else (within, joined)
