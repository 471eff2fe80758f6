"""Gains in CUDA C give the bits that they give in Python, or are refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.cuda_host.emulation import on_device, to_host
from vtree.criteria import CLASSIFICATION, REGRESSION
from vtree_kernels import _cuda
from vtree_kernels._translate import TranslationError, c_gain, c_terms
from vtree_kernels.elementary import choose, log, log2
from vtree_kernels.scan import Layout

LAYOUT = Layout(1, 2, 3, 2, 3, 0.1, 0.7, (1.0, 0.3, 0.1))
N_STATISTICS = LAYOUT.n_statistics

JUDGE = """
struct Plan {
    int weight, first, outputs, classes, ordered, implied;
    double center, scale;
    const double *unit;
};
extern "C" __global__ void judge(
    const double *left, const double *right, const double *unit, int n, int planes, double *out) {
    const Plan layout = {1, 2, 3, 2, 3, 0, 0.1, 0.7, unit};
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = gain(left + i * planes, right + i * planes, layout);
}
"""


def whole_numbers(left: Any, right: Any, layout: Any) -> Any:
    """Divide, negate and mix whole numbers with others."""
    third = layout.outputs / (layout.classes * 2)
    step = -layout.first + 3 * layout.weight
    return left[step - 1] * third - -2 * right[layout.ordered] / 3


def nested_loops(left: Any, right: Any, layout: Any) -> Any:
    total = 0.0
    for output in range(layout.outputs):
        for c in range(1, layout.classes):
            k = layout.first + output * layout.classes + c
            part = left[k] * right[k - 1] * layout.unit[output]
            total = total + choose(part >= 100.0, 0.1 + part, -part)
        total = total * layout.scale + layout.center
    return total


def logarithms(left: Any, right: Any, layout: Any) -> Any:
    both, share = left[0] + right[0] + 1.0, 1e-300
    value = log(both) * 1.1 + log2(share / both)
    return choose(left[2] != right[2], value, -float("inf"))


GAINS: list[Callable[[Any, Any, Any], Any]] = [whole_numbers, nested_loops, logarithms]
GAINS += [each.gain for each in (CLASSIFICATION | REGRESSION).values()]  # type: ignore[operator]


@pytest.mark.parametrize("gain", GAINS, ids=lambda gain: gain.__name__)
def test_the_same_bits(gain: Callable[[Any, Any, Any], Any], cuda: str | int) -> None:
    draw = np.random.default_rng(0)
    sides = draw.integers(0, 1000, (2, 500, N_STATISTICS)).astype(np.float64)
    sides[..., 1] += 1.0  # a weight
    text = _cuda.joined(c_gain(gain) + JUDGE)
    kernels = _cuda.device(0).compiled("judge", text, _cuda.OPTIONS)
    out = on_device(np.zeros(500))
    unit = on_device(np.array(LAYOUT.unit))
    sizes = (np.int32(500), np.int32(N_STATISTICS))
    kernels.launch("judge", 4, 128, *map(on_device, sides), unit, *sizes, out)
    assert_same_bits(to_host(out), gain(sides[0].T, sides[1].T, LAYOUT) + np.zeros(500))


def squares(left: Any, right: Any, layout: Any) -> Any:
    return left[0] ** 2


def a_list(left: Any, right: Any, layout: Any) -> Any:
    return sum([left[0], right[0]])


def an_unknown_name(left: Any, right: Any, layout: Any) -> Any:
    return left[0] * N_STATISTICS


def a_branch(left: Any, right: Any, layout: Any) -> Any:
    if layout.first > 1:
        return left[0]
    return right[0]


def a_swap(left: Any, right: Any, layout: Any) -> Any:
    low, high = left[0], right[0]
    low, high = high, low
    return low


def another_type(left: Any, right: Any, layout: Any) -> Any:
    total = 0
    total = total + left[0]
    return total * 2.0


def a_float_loop(left: Any, right: Any, layout: Any) -> Any:
    total = 0.0
    for k in range(layout.center):
        total = total + left[k]
    return total


def a_step(left: Any, right: Any, layout: Any) -> Any:
    total = 0.0
    for k in range(0, layout.first, 2):
        total = total + left[k]
    return total


def two_comparisons(left: Any, right: Any, layout: Any) -> Any:
    return choose(0.0 < left[0] < 1.0, left[0], right[0])


def other_arguments(a: Any, b: Any, layout: Any) -> Any:
    return a[0]


REFUSED = {
    squares: r"squares: no CUDA C for `left\[0\] \*\* 2`",
    a_list: r"no CUDA C for `\[left",
    an_unknown_name: "no CUDA C for `N_STATISTICS`",
    a_branch: "no CUDA C for `if layout.first > 1:",
    a_swap: "no CUDA C for `low, high = ",
    another_type: r"no CUDA C for `total = total \+ left\[0\]`",
    a_float_loop: r"no CUDA C for `range\(layout.center\)`",
    a_step: r"no CUDA C for `range\(0, layout.first, 2\)`",
    two_comparisons: "no CUDA C for `0.0 < left",
    other_arguments: r"the arguments are \['a', 'b', 'layout'\]",
    min: "the source of .* cannot be read",
    (lambda left, right, layout: left[0]): "cannot be read|is not a function with a name",
}


@pytest.mark.parametrize("gain", REFUSED, ids=lambda gain: gain.__name__)
def test_what_has_no_form_in_c_is_refused(gain: Callable[[Any, Any, Any], Any]) -> None:
    with pytest.raises(TranslationError, match=REFUSED[gain]):
        c_gain(gain)


def two_terms(x: Any, y: Any) -> Any:
    """Return what a loss may."""
    difference = x - y
    return difference, 1.0, difference * difference


def test_only_the_terms_that_are_asked_for_are_put_in_c() -> None:
    text = c_terms(two_terms, 2)
    assert "terms(\n    double x, double y, double *result_)" in text
    assert "result_[1] = 1.0;" in text
    assert "result_[2]" not in text


def one_number(x: Any, y: Any) -> Any:
    return x


def few_terms(x: Any, y: Any) -> Any:
    return x, y


def of_sides(x: Any, left: Any) -> Any:
    return x, left[0], layout.first  # type: ignore[name-defined]  # noqa: F821


def of_layout(x: Any, layout: Any) -> Any:
    return x, layout.center, x


def an_argument_anew(x: Any, y: Any) -> Any:
    x = x + y
    return x, x, x


@pytest.mark.parametrize(
    "function", [one_number, few_terms, of_sides, of_layout, an_argument_anew, a_branch]
)
def test_terms_that_have_no_form_in_c_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(TranslationError, match="no CUDA C for"):
        c_terms(function, 3)
