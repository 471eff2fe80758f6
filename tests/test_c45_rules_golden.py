"""Rules of C4.5 release 8, in its order, wherever its search is not a random one."""

from typing import Any

import numpy as np
import pytest

from tests.c45_golden import facts, split_table
from vtree import RuleListClassifier

# Its rule program always worked at a confidence of 0.25, whatever the tree's.
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "m5": {"min_objects": 5},
    "gain": {"criterion": "gain"},
    "c10": {},
}
KEYS = [key for key in facts()["c45r8"] if key.split(".")[-1] in VARIANTS]


def _rules(model: RuleListClassifier) -> list[tuple[set[str], int, float]]:
    found = []
    for rule in range(model.rule_list_.label.size):
        own = model.rule_list_.of(rule)
        texts = {model._condition(own, c, 6) for c in range(own.feature.size)}
        short = {t if " = " in t else t.rstrip("0").rstrip(".") for t in texts}
        right = 100.0 * (1.0 - float(model.rule_list_.error[rule]))
        found.append((short, int(model.rule_list_.label[rule]), round(right, 1)))
    return found


@pytest.mark.parametrize("key", KEYS)
def test_the_rules_of_release_8(key: str) -> None:
    golden = facts()["c45r8"][key]["rules"]
    schema = facts()["schemas"][key.split(".")[0]]
    classes = schema["levels"][schema["target"]]
    X, y, X_test, y_test = split_table(key)
    # Ties go to the class that was declared first.
    model = RuleListClassifier(**VARIANTS[key.split(".")[-1]])
    model.fit(X, np.array([classes.index(label) for label in y]))
    expected = [
        (set(rule["if"]), classes.index(rule["then"]), rule["accuracy_pct"])
        for rule in golden["ordered"]
    ]
    assert _rules(model) == expected
    assert classes[model.default_] == golden["default"]
    found = [(X, y), (X_test, y_test)][: len(golden["errors"])]
    for (table, labels), (n_rows, errors) in zip(found, golden["errors"], strict=True):
        predicted = np.array(classes)[model.predict(table)]
        assert (len(labels), (predicted != labels).sum()) == (n_rows, errors)
