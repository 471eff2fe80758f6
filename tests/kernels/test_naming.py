from typing import Any

import numpy as np
import pytest

from vtree.criteria import CLASSIFICATION, REGRESSION, newton, regression
from vtree_kernels._naming import named_after
from vtree_kernels.scan import cpu as scan_cpu
from vtree_kernels.search import cpu as search_cpu
from vtree_kernels.subtree import growing
from vtree_kernels.subtree.holding import Kind

GAINS = {name: each.gain for name, each in {**CLASSIFICATION, **REGRESSION}.items()}
SHAPES = [(0, 1, 1, 2, 2, 1), (1, 2, 1, 2, 3, 0), (0, 1, 1, 1, 1, 0)]


def _made(version: int) -> Any:
    if version == 0:

        def rule(left: float) -> float:
            return left + 1.0
    else:

        def rule(left: float) -> float:
            return left + 2.0

    return rule


def test_other_code_under_the_same_name_has_another_name() -> None:
    names = set()
    for version in (0, 1):

        @named_after(_made(version), (1, 2))
        def loop() -> None: ...

        names.add((loop.__name__, loop.__qualname__))
    assert len(names) == 2


def test_names_are_the_same_in_every_process() -> None:
    @named_after(1, "two", (3.0, None))
    def loop() -> None: ...

    assert loop.__name__ == "loop_" + NAME


NAME = "5911c0a7ca5a77f9"


@pytest.mark.parametrize("factory", [scan_cpu._kernel, search_cpu._kernel])
def test_loops_around_criteria_have_names_of_their_own(factory: Any) -> None:
    made = [factory(gain, shape) for gain in set(GAINS.values()) for shape in SHAPES]
    assert np.unique([each.py_func.__qualname__ for each in made]).size == len(made)


def test_loops_of_subtrees_have_names_of_their_own() -> None:
    kinds = [
        (gain, shape, raw, kind)
        for gain in set(GAINS.values())
        for shape in SHAPES
        for raw in (False, True)  # as of a rule: caches tell no 0 from False, their names do
        for kind in (Kind(), Kind(regression.mean), Kind(newton.step))
    ]
    made = [growing.grower(*kind) for kind in kinds]
    assert np.unique([each.py_func.__qualname__ for each in made]).size == len(made)
