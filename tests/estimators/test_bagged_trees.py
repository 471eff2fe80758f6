"""Which trees share a table."""

from vtree import CHAIDClassifier, DecisionTreeClassifier, DecisionTreeRegressor
from vtree.estimators.bagged_trees import shares_a_table


def test_only_trees_that_weigh_and_draw_alike_share_a_table() -> None:
    assert shares_a_table(DecisionTreeRegressor(max_features=2))
    assert not shares_a_table(DecisionTreeClassifier(class_weight="balanced"))
    assert not shares_a_table(DecisionTreeClassifier(surrogates=3))
    assert not shares_a_table(CHAIDClassifier())
