import numpy as np
import pytest

import vtree
from tests.samples import classes, reals
from vtree.errors import InputError, InputTypeError

X, Y = reals()
LABELS = classes()[1]


@pytest.mark.parametrize("name", ["Gradient", "Newton", "Leafwise", "Ordered"])
def test_some_rounds_alone(name: str) -> None:
    for target in (LABELS, Y):
        kind = "Classifier" if target is LABELS else "Regressor"
        model = getattr(vtree, f"{name}Boosting{kind}")(n_estimators=5, random_state=0)
        model.fit(X, target)
        stages = list(model.staged_predict(X))
        for rounds in (1, 3, 5):
            found = model.predict(X, iteration_range=(0, rounds))
            np.testing.assert_array_equal(found, stages[rounds - 1])
        for every in ((0, 0), None):
            np.testing.assert_array_equal(model.predict(X, iteration_range=every), stages[-1])
        ask = model.decision_function if kind == "Classifier" else model.predict
        parts = [ask(X, iteration_range=own) - model.start_[0] for own in ((0, 2), (2, 5))]
        if ask(X).ndim == 1:
            np.testing.assert_allclose(sum(parts) + model.start_[0], ask(X), rtol=1e-12)
        for wrong in ((0, 6), (-1, 2), (3, 3)):
            with pytest.raises(InputError, match="within the 5 rounds there are"):
                ask(X, iteration_range=wrong)
        with pytest.raises(InputTypeError, match="a pair of rounds"):
            ask(X, iteration_range=3)
