"""A pytest plugin that runs scikit-learn's own test modules against vtree's trees.

    PYTHONPATH=tests pytest -p sklearn_dropin -c FOLDER/pytest.ini --rootdir FOLDER \
        --pyargs sklearn.tree.tests.test_tree

where pytest.ini is an empty file, so that this project's own switches stay out.
What vtree is excused from stands in sklearn_excused.toml beside this file.
"""

import importlib
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

EXCUSED = Path(__file__).with_name("sklearn_excused.toml")
# Home of each name in scikit-learn.
SWAPPED = {
    "AdaBoostClassifier": "sklearn.ensemble",
    "AdaBoostRegressor": "sklearn.ensemble",
    "BaggingClassifier": "sklearn.ensemble",
    "BaggingRegressor": "sklearn.ensemble",
    "DecisionTreeClassifier": "sklearn.tree",
    "DecisionTreeRegressor": "sklearn.tree",
    "ExtraTreesClassifier": "sklearn.ensemble",
    "ExtraTreesRegressor": "sklearn.ensemble",
    "IsolationForest": "sklearn.ensemble",
    "RandomForestClassifier": "sklearn.ensemble",
    "RandomForestRegressor": "sklearn.ensemble",
    "RandomTreesEmbedding": "sklearn.ensemble",
}

# What in scikit-learn builds on its trees. These reach into Cython objects that
# only scikit-learn's classes have, so they are imported first and keep them.
BYSTANDERS = (
    "sklearn.ensemble",
    "sklearn.inspection",
    "sklearn.model_selection",
    "sklearn.tree",
    "sklearn.utils.estimator_checks",
)


def pytest_configure() -> None:
    """Swap the names, before collection imports the test modules that bind them.

    This hook and not pytest_load_initial_conftests, since the workers of
    pytest-xdist import plugins too late for that one.
    """
    vtree = importlib.import_module("vtree")
    for name in BYSTANDERS:
        importlib.import_module(name)
    for name, home in SWAPPED.items():
        setattr(importlib.import_module(home), name, getattr(vtree, name))


@pytest.hookimpl(tryfirst=True)  # before -k takes items away, which are not stale
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the excused items, and refuse a table or a swap that has come loose."""
    vtree = importlib.import_module("vtree")
    excuses: dict[str, dict[str, str]] = tomllib.loads(EXCUSED.read_text(encoding="utf-8"))
    collected: dict[Any, list[pytest.Item]] = {}
    for item in items:
        if isinstance(item, pytest.Function):
            collected.setdefault(item.module, []).append(item)
    for module, its_items in collected.items():
        for name in SWAPPED:
            if getattr(module, name, None) not in (None, getattr(vtree, name)):
                raise pytest.UsageError(f"{module.__name__} still has scikit-learn's {name}")
        excused = excuses.get(module.__name__.rpartition(".")[2], {})
        _mark(its_items, excused)
        # `module::test` asks for some ids only, and the others are then not stale.
        if not any("::" in argument for argument in config.args):
            _refuse_stale(module.__name__, its_items, excused)


def _mark(items: Sequence[pytest.Item], excused: dict[str, str]) -> None:
    for item in items:
        if item.name in excused:
            item.add_marker(pytest.mark.xfail(reason=excused[item.name], strict=True))


def _refuse_stale(module: str, items: Sequence[pytest.Item], excused: dict[str, str]) -> None:
    stale = sorted(excused.keys() - {item.name for item in items})
    if stale:
        raise pytest.UsageError(
            f"{EXCUSED.name} excuses ids that {module} does not have: {', '.join(stale)}; "
            "take them out, or give them the names that scikit-learn now uses"
        )
