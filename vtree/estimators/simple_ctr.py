"""What a category stands for, in CatBoost's words: `simple_ctr`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from vtree.ensembles.target_statistics import Kind, Prior
from vtree.errors import InputError, InputTypeError

OF_CLASSES = ("Borders:Prior=0:Prior=0.5:Prior=1", "Counter:Prior=0")
OF_NUMBERS = ("FloatTargetMeanValue", "Counter:Prior=0")

_KINDS = {
    "Borders": Kind((Prior(0.0), Prior(0.5), Prior(1.0)), above=True, even=True),
    "Buckets": Kind((Prior(0.0), Prior(0.5), Prior(1.0)), even=True),
    "FloatTargetMeanValue": Kind(),
    "Counter": Kind((Prior(0.0),), counts=True, even=True),
}
_ALLOWED = {
    True: ("Borders", "Buckets", "Counter"),
    False: ("FloatTargetMeanValue", "Counter"),
}
_FORM = "'Type', or 'Type:Prior=0:Prior=0.5:CtrBorderCount=15'"


def kinds_of(simple_ctr: Any, *, classes: bool) -> tuple[Kind, ...]:
    """Return the kinds of statistics that a parameter asks for; classes: whether targets are those.

    Raises
    ------
    InputError, InputTypeError
        If it is not what `OrderedBoostingRegressor` describes.
    """
    if simple_ctr is None:
        simple_ctr = OF_CLASSES if classes else OF_NUMBERS
    given = [simple_ctr] if isinstance(simple_ctr, str) else simple_ctr
    if not isinstance(given, Sequence) or not all(isinstance(each, str) for each in given):
        raise InputTypeError(f"simple_ctr={simple_ctr!r}: it is a sequence of texts like {_FORM}")
    if not given:
        raise InputError(
            "simple_ctr is empty, and categories would stand for nothing. Name one statistic, or "
            "let all columns of categories split by themselves: one_hot_max_size=65535"
        )
    return tuple(_kind(text, classes=classes) for text in given)


def _kind(text: str, *, classes: bool) -> Kind:
    name, *settings = text.split(":")
    if name not in _ALLOWED[classes]:
        whats = "classes" if classes else "numbers"
        raise InputError(
            f"simple_ctr: {text!r} begins with {name!r}; of {whats} there are "
            f"{', '.join(_ALLOWED[classes])}. Write {_FORM}."
        )
    kind, priors = _KINDS[name], []
    for setting in settings:
        key, _, value = setting.partition("=")
        if key == "Prior":
            priors.append(_prior(text, value))
        elif key == "CtrBorderCount" and value.isdecimal() and 1 <= int(value) <= 255:
            kind = kind._replace(borders=int(value))
        else:
            raise InputError(
                f"simple_ctr: {setting!r} in {text!r}; it is Prior=NUMBER, as often as you like, "
                "or CtrBorderCount= a whole number from 1 to 255"
            )
    return kind._replace(priors=tuple(priors)) if priors else kind


def _prior(text: str, value: str) -> Prior:
    above, slash, below = value.partition("/")
    try:
        share, weight = float(above), float(below) if slash else 1.0
    except ValueError:
        share = weight = math.nan
    if not math.isfinite(share) or not 0.0 < weight < math.inf:
        raise InputError(
            f"simple_ctr: {'Prior=' + value!r} in {text!r}; it is a number, or two like 1/2, the "
            "second one above 0, for what rows' sum and weight begin with"
        )
    return Prior(share / weight, weight)
