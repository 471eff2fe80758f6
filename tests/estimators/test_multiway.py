"""What trees with more than two branches a split have, and have not."""

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning

import vtree
from vtree.errors import InputError
from vtree.estimators.multiway import one_column

TABLE = {"colour": ["red", "red", "blue", "blue", "green"] * 6}
Y = ["a", "a", "b", "c", "b"] * 6
KINDS: list[Any] = [
    vtree.ID3Classifier(),
    vtree.C45Classifier(),
    vtree.CHAIDClassifier(min_samples_split=4, min_samples_leaf=2),
]


@pytest.mark.parametrize("model", KINDS)
def test_one_target_of_classes(model: Any) -> None:
    model.fit(TABLE, Y)
    assert (model.get_depth(), model.get_n_leaves()) == (1, 3)
    assert (model.n_classes_, model.n_outputs_) == (3, 1)
    shares = model.predict_proba(TABLE)
    assert shares[:5].tolist() == [[1.0, 0.0, 0.0]] * 2 + [[0.0, 0.5, 0.5]] * 2 + [[0.0, 1.0, 0.0]]
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(TABLE), np.log(shares))
    assert model.predict(TABLE)[:5].tolist() == ["a", "a", "b", "b", "b"]
    with pytest.raises(InputError, match=f"cannot hold those of {type(model).__name__}"):
        model.to_sklearn()
    with pytest.raises(AttributeError, match="has no tree_.*export_text"):
        _ = model.tree_


def test_a_column_is_a_target_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning, match="ravel"):
        assert one_column(np.ones((3, 1)), "Owner", numeric=True).shape == (3, 1)
    with pytest.raises(InputError, match="y has 2 columns, but Owner predicts one target"):
        one_column(np.ones((3, 2)), "Owner", numeric=True)
