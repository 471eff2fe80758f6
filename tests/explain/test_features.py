import pandas as pd

from vtree import OrderedBoostingRegressor
from vtree.explain.features import feature_levels, feature_name


def test_columns_of_the_table_and_those_made_of_them() -> None:
    table = pd.DataFrame({"size": [1.0, 2.0] * 6, "colour": ["a", "b", "c"] * 4})
    model = OrderedBoostingRegressor(n_estimators=2).fit(table, [float(n) for n in range(12)])
    assert [feature_name(model, f) for f in range(3)] == ["size", "colour", "mean target by colour"]
    levels = feature_levels(model, 1)
    assert levels is not None
    assert levels.tolist() == ["a", "b", "c"]
    assert feature_levels(model, 0) is None
    assert feature_levels(model, 2) is None
    bare = OrderedBoostingRegressor(n_estimators=2).fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 4.0])
    assert feature_name(bare, 0) == "feature 0"
