"""DOT: every split and leaf once, any characters in names, what a tree cannot be."""

import re
from typing import Any

import numpy as np
import pytest

from vtree import (
    CHAIDClassifier,
    DecisionTreeClassifier,
    RandomForestClassifier,
    export_graphviz,
    export_text,
)
from vtree.errors import InputError, InputTypeError

_STRING = r'"(?:[^"\\]|\\.)*"'  # ends at a quote that no backslash escapes
_LINE = re.compile(rf" +(?:node \[shape=box, style=rounded\]|\d+(?: -> \d+)? \[label={_STRING}\])")

NAMES = ['say "a"', "back\\slash\\", "<b> & c", "line\nbreak", "水 {|}"]


def _table(n_rows: int = 200) -> tuple[dict[str, Any], Any]:
    draw = np.random.default_rng(0)
    columns: dict[str, Any] = {name: draw.normal(size=n_rows) for name in NAMES[:4]}
    columns[NAMES[4]] = draw.choice(['re"d', "blu\\", "gr\nn"], n_rows)
    total = columns[NAMES[0]] + columns[NAMES[3]] + 2.0 * (columns[NAMES[4]] == "blu\\")
    return columns, np.where(total > 1.0, 'ye"s', "no\\")


def _checked(text: str) -> list[str]:
    first, *lines, last = text.split("\n")
    assert (first, last) == ("digraph tree {", "}")
    assert all(_LINE.fullmatch(line) for line in lines)
    return lines[1:]


@pytest.mark.parametrize(
    "model", [DecisionTreeClassifier(max_depth=4), CHAIDClassifier(max_depth=3)]
)
def test_names_of_any_characters(model: Any) -> None:
    X, y = _table()
    if isinstance(model, CHAIDClassifier):
        X = {NAMES[4]: X[NAMES[4]], NAMES[0]: np.where(X[NAMES[0]] > 0, '"', "\\")}
    lines = _checked(export_graphviz(model.fit(X, y)))
    tree = model.grown_
    arrows = [line for line in lines if " -> " in line]
    assert len(arrows) == tree.feature.size - 1 > 2  # each node but the root has one to it
    targets = sorted(int(re.findall(r"-> (\d+)", line)[0]) for line in arrows)
    assert targets == list(range(1, tree.feature.size))
    assert len(lines) - len(arrows) == tree.feature.size
    assert sum(r"class ye\"s" in line for line in lines) > 0


def test_words_are_those_of_the_text() -> None:
    X, y = _table()
    model = DecisionTreeClassifier(max_depth=2).fit(
        {"a": X[NAMES[0]], "b": X[NAMES[3]]}, y == "no\\"
    )
    labels = re.findall(r'label="(.*)"', export_graphviz(model))
    text = export_text(model)
    assert all(label in text for label in labels)


def test_a_tree_of_many_and_levels_left_out() -> None:
    X, y = _table()
    model = RandomForestClassifier(3, random_state=0).fit(X, y)
    one = _checked(export_graphviz(model, number=2, max_depth=1))
    assert sum("->" in line for line in one) == 2
    assert any("further splits not shown" in line for line in one)
    with pytest.raises(InputError, match="0 … 2"):
        export_graphviz(model, number=3)


def test_a_list_of_rules_is_no_tree() -> None:
    from vtree import C45Classifier

    X, y = _table()
    rules = C45Classifier().fit(X, y).to_rules(X, y)
    with pytest.raises(InputTypeError, match="export_text"):
        export_graphviz(rules)
