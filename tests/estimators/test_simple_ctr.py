"""What a category stands for, as a parameter says it."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import vtree
from vtree import OrderedBoostingClassifier, OrderedBoostingRegressor
from vtree.ensembles.target_statistics import Kind, Prior
from vtree.errors import InputError, InputTypeError
from vtree.estimators.simple_ctr import OF_CLASSES, OF_NUMBERS, kinds_of

DRAW = np.random.default_rng(3)
FRAME = pd.DataFrame({"place": DRAW.integers(0, 12, 300).astype(str), "size": DRAW.random(300)})
Y = FRAME["place"].astype(int).to_numpy() % 3


def test_catboosts_words() -> None:
    shares, counts = kinds_of(None, classes=True)
    assert shares == Kind((Prior(0.0), Prior(0.5), Prior(1.0)), above=True, even=True)
    assert counts == Kind((Prior(0.0),), counts=True, even=True)
    assert kinds_of(OF_CLASSES, classes=True) == (shares, counts)
    assert kinds_of(["Borders", "Counter"], classes=True) == (shares, counts)
    assert kinds_of(None, classes=False) == kinds_of(OF_NUMBERS, classes=False) == (Kind(), counts)
    (own,) = kinds_of("Buckets:CtrBorderCount=7:Prior=1/4:Prior=0.5", classes=True)
    assert own == Kind((Prior(0.25, 4.0), Prior(0.5)), even=True, borders=7)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("Border", "begins with 'Border'; of classes there are Borders, Buckets, Counter"),
        ("FloatTargetMeanValue", "of classes there are"),
        ("Borders:Prior", "'Prior=' in 'Borders:Prior'; it is a number"),
        ("Borders:Prior=nan", "it is a number"),
        ("Borders:Prior=1/0", "the second one above 0"),
        ("Borders:Prior=a/b", "it is a number"),
        ("Counter:CtrBorderCount=0", "a whole number from 1 to 255"),
        ("Counter:CtrBorderCount=256", "a whole number from 1 to 255"),
        ("Counter:CtrBorderType=Uniform", "'CtrBorderType=Uniform' in"),
        ([], "simple_ctr is empty"),
    ],
)
def test_what_it_cannot_be_is_said_before_anything_else(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        kinds_of(given, classes=True)
    with pytest.raises(InputError, match=said):
        OrderedBoostingClassifier(simple_ctr=given).fit([[0.0], [1.0]], [0, 1])


def test_texts_only() -> None:
    with pytest.raises(InputTypeError, match="a sequence of texts like 'Type'"):
        kinds_of([1, 2], classes=True)
    with pytest.raises(InputError, match="of numbers there are FloatTargetMeanValue, Counter"):
        OrderedBoostingRegressor(simple_ctr="Borders").fit(FRAME, Y)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("Borders:Prior=0.5", ["share above 0 by place, prior 0.5", "share above 1 by place"]),
        ("Buckets:Prior=0", ["share of 0 by place, prior 0", "share of 1 by place", "share of 2"]),
        ("Counter", ["rows by place"]),
    ],
)
def test_statistics_have_names_and_files(kind: str, names: list[str], tmp_path: Path) -> None:
    model = OrderedBoostingClassifier(n_estimators=5, simple_ctr=[kind], random_state=0)
    model.fit(FRAME, Y)
    assert len(model.derived_names_) == len(names)
    for own, start in zip(model.derived_names_, names, strict=True):
        assert own.startswith(start)
    assert model.feature_importances_[0] > 0.5
    vtree.save(model, tmp_path / "model.vtree")
    again = vtree.load(tmp_path / "model.vtree")
    np.testing.assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))
    with vtree.kernels("reference"):
        same = OrderedBoostingClassifier(n_estimators=5, simple_ctr=[kind], random_state=0)
        assert vtree.digest(same.fit(FRAME, Y)) == vtree.digest(model)


def test_counts_tell_what_shares_do_not() -> None:
    """Rare categories are of one class, and each of the others as often of both."""
    place = np.where(np.arange(600) < 400, np.arange(600) % 4, np.arange(600))
    y = np.where(np.arange(600) < 400, np.arange(600) // 4 % 2, 1)
    frame = pd.DataFrame({"place": place.astype(str)})
    how = {"n_estimators": 20, "depth": 2, "learning_rate": 0.3, "random_state": 0}
    found = {}
    for kind in ("Counter", "Borders:Prior=0.5"):
        model = OrderedBoostingClassifier(simple_ctr=[kind], **how).fit(frame, y)
        found[kind] = model.predict_proba(pd.DataFrame({"place": ["unheard of"]}))[0, 1]
    assert found["Counter"] > 0.9  # as rare as the rare ones
    assert found["Borders:Prior=0.5"] < 0.9
