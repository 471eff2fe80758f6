"""Groups and adjusted p-values of random problems, beside a merger that works on lists."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.chaid.oracle import Case, judge
from vtree.chaid import adjusting, association
from vtree.chaid.association import AssociationTest
from vtree.chaid.merging import Problems, Rules


def _test_of(case: Case) -> AssociationTest:
    test: AssociationTest = getattr(
        association, "pearson" if case.target == "pearson" else case.target
    )(1.0)
    return test


def _stats(case: Case) -> NDArray[np.float64]:
    if case.target != "f_test":
        return np.array(case.rows, dtype=np.float64)
    rows = [np.asarray(row) for row in case.rows]
    return np.array([[r.size, r.sum(), ((r - r.mean()) ** 2).sum()] for r in rows])


def _judged(cases: list[Case]) -> list[tuple[list[tuple[int, ...]], float]]:
    """Judge cases of one target and one set of rules together, padded to one width."""
    own = [_stats(case) for case in cases]
    width = max(len(each) for each in own)
    stats = np.stack([np.pad(each, ((0, width - len(each)), (0, 0))) for each in own])
    problems = Problems(
        stats,
        np.array([len(each) for each in own]),
        np.array([case.kind != "nominal" for case in cases]),
        np.array([case.kind == "floating" for case in cases]),
        np.array([case.least for case in cases]),
    )
    case = cases[0]
    rules = Rules(
        math.log(case.alpha),
        None if case.resplit is None else math.log(case.resplit),
        case.exhaustive,
        case.small_first,
        case.late,
    )
    verdict = adjusting.judge(problems, _test_of(case), rules, bonferroni=True)
    answers = []
    for number, each in enumerate(own):
        label = verdict.groups.label[number, : len(each)]
        names = np.flatnonzero(verdict.groups.alive[number])
        groups = [tuple(np.flatnonzero(label == name).tolist()) for name in names]
        answers.append((groups, float(np.exp(verdict.log_p[number]))))
    return answers


@st.composite
def cases(draw: Any) -> list[Case]:
    random = np.random.default_rng(draw(st.integers(0, 1 << 20)))
    target = draw(st.sampled_from(["pearson", "likelihood_ratio", "f_test"]))
    resplit = draw(st.sampled_from([None, None, 0.049, 0.2]))
    setting: Any = {
        "target": target,
        "alpha": draw(st.sampled_from([0.05, 0.3])),
        "exhaustive": draw(st.booleans()),
        "small_first": draw(st.booleans()),
        "late": draw(st.booleans()),
    }
    setting["resplit"] = resplit if resplit and resplit < setting["alpha"] else None
    if setting["exhaustive"]:
        setting["resplit"] = None
    drawn = []
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["nominal", "ordinal", "floating"]))
        n_levels = draw(st.integers(2, 7))
        least = draw(st.sampled_from([0.0, 0.0, 8.0, 30.0]))
        drawn.append(Case(_rows(target, n_levels, random), kind, least=least, **setting))
    return drawn


def _rows(target: str, n_levels: int, random: Any) -> tuple[Any, ...]:
    answers = random.integers(0, 3, n_levels)  # levels of like answers, and chance
    if target == "f_test":
        return tuple(a + random.normal(size=random.integers(2, 25)) for a in answers.astype(float))
    shares = random.dirichlet(np.ones(3) * 2.0, size=3)
    return tuple(random.multinomial(random.integers(3, 60), shares[a]) for a in answers)


@given(cases())
def test_like_one_pair_at_a_time(drawn: list[Case]) -> None:
    for (groups, p), case in zip(_judged(drawn), drawn, strict=True):
        expected, expected_p = judge(case)
        assert p == pytest.approx(expected_p, rel=1e-9), case
        assert groups == expected, case


def test_padding_changes_no_bit() -> None:
    random = np.random.default_rng(5)
    small = Case(_rows("pearson", 4, random), "nominal")
    wide = Case(_rows("pearson", 40, random), "ordinal")
    together, alone = _judged([small, wide])[0], _judged([small])[0]
    assert together == alone
