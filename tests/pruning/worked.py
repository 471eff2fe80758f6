"""Nominal tables with the figures that textbooks and reference programs give for pruning them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tests.id3 import id3
from vtree.predict import leaves
from vtree.pruning import Losses, class_losses
from vtree.tree import Tree

GOLDEN = Path(__file__).parent.parent / "golden"
NOMINAL = ("watermelon", "titanic", "ucb", "haireye")
FACTS: dict[str, dict[str, Any]] = json.loads((GOLDEN / "validation_pruning.json").read_text())


@dataclass(frozen=True)
class Case:
    """A multiway tree and rows held out."""

    facts: dict[str, Any]
    tree: Tree
    X: NDArray[np.float64]
    y: NDArray[np.int64]

    def losses(self) -> Losses:
        return class_losses(self.tree, self.leaf(self.tree), self.y[:, None], self.labels())

    def labels(self) -> NDArray[np.int64]:
        labels: NDArray[np.int64] = self.tree.value.argmax(axis=1)[:, None]
        return labels

    def leaf(self, tree: Tree) -> NDArray[np.int64]:
        return leaves(tree, self.X)[:, 0].astype(np.int64)

    def figures(self, tree: Tree) -> list[int]:
        """Return [leaves, errors on the rows held out]."""
        label = tree.value.argmax(axis=1)
        errors = int((label[self.leaf(tree)] != self.y).sum())
        return [int((tree.first_child < 0).sum()), errors]


def _watermelon() -> tuple[pd.DataFrame, NDArray[np.int64], NDArray[np.int64]]:
    facts = FACTS["watermelon"]
    table = pd.DataFrame(facts["rows"], columns=facts["columns"])
    # The book breaks ties of features by navel first, and of classes by "good".
    order = ["navel", "colour", "root", "sound", "texture", "touch", "label"]
    table["label"] = pd.Categorical(table["label"], ["good", "bad"])
    train, held_out = (np.array(facts[name]) - 1 for name in ("train", "validation"))
    return table[order], train, held_out


def _counted(name: str) -> tuple[pd.DataFrame, NDArray[np.int64], NDArray[np.int64]]:
    counts = pd.read_csv(GOLDEN / f"{name}.csv")
    table = counts.loc[counts.index.repeat(counts["count"])].drop(columns="count")
    number = np.arange(len(table))
    return table, np.flatnonzero(number % 3 != 2), np.flatnonzero(number % 3 == 2)


def nominal_case(name: str) -> Case:
    table, train, held_out = _watermelon() if name == "watermelon" else _counted(name)
    columns = [pd.Categorical(table[column]) for column in table]
    codes = np.stack([column.codes for column in columns], axis=1).astype(np.int64)
    n_levels = [column.categories.size for column in columns]
    X, y = codes[:, :-1], codes[:, -1]
    tree = id3(X[train], n_levels[:-1], y[train], n_levels[-1])
    facts = FACTS[name].get("facts", FACTS[name])
    return Case(facts, tree, X[held_out].astype(np.float64), y[held_out])
