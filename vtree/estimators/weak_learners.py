"""The learners that AdaBoost asks round by round, each an `ensembles.adaboost.Fit`.

Trees that differ by their rows' weights alone share a table that is read and binned once. Others
of this library's are fitted anew in every round, on the table as it came: so it may hold what they
take, categories and missing values included.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from vtree import arrays
from vtree.ensembles.adaboost import Weights
from vtree.estimators.bagged_trees import shares_a_table
from vtree.estimators.base import TreeEstimator
from vtree.estimators.prepared import Prepared
from vtree.estimators.progress import Report
from vtree.predict import leaves
from vtree.pruning import prune_cost_complexity
from vtree.routing import unmoved
from vtree.targets import class_targets, real_targets
from vtree.tree import Tree

Floats = NDArray[np.float64]

_MOST_SEED = np.iinfo(np.int32).max


def tree_of(estimator: Any) -> TreeEstimator | None:
    """Return the weak learner if it is one of this library's trees and takes weights of rows."""
    is_ours = isinstance(estimator, TreeEstimator) and has_fit_parameter(estimator, "sample_weight")
    return estimator if is_ours else None


class Learner:
    """Grows a tree on new weights, round after round; use a derived class."""

    def __init__(self, template: Any, data: Prepared, random: Any, report: Report) -> None:
        self.template, self.data, self.random, self.report = template, data, random, report
        self.members: list[Any] = []  # the fitted trees

    def _seed(self) -> int:
        self.report.begin()
        return int(self.random.randint(_MOST_SEED))


class OneTable(Learner):
    """Grows trees of one binned table."""

    def __init__(self, template: Any, data: Prepared, random: Any, report: Report) -> None:
        super().__init__(template, data, random, report)
        self.bins = template._bin(data)

    def __call__(self, weights: Weights) -> tuple[Tree, NDArray[Any]]:
        """Return (a tree, what it answers for each training row)."""
        tree, targets = copy.copy(self.template), self.data.targets
        tree.random_state = self._seed()
        if targets.sums.shape[1] == 0:
            counts = [targets.layout.classes]
            targets = class_targets(targets.classes, counts, *weights)
        else:
            centred, ranked = tree.criterion != "poisson", targets.ranks is not None
            targets = real_targets(
                targets.identity, weights.case, centred=centred, ranked=ranked, times=weights.times
            )
        data = self.data._replace(targets=targets, total_weight=weights.total)
        stump = tree.max_depth == 1 and targets.sums.shape[1] == 0 and tree.max_leaf_nodes is None
        grown, _ = tree._grow_binned(self.bins, data, router=unmoved if stump else None)
        if tree.ccp_alpha:
            grown = prune_cost_complexity(grown, tree.ccp_alpha)
        tree.grown_, tree.surrogates_ = grown, None
        self.members.append(tree)
        value = grown.value[leaves(grown, data.values)[:, 0]]
        is_class = targets.sums.shape[1] == 0
        return grown, np.argmax(value, axis=1) if is_class else value[:, 0]


class WholeFits(Learner):
    """Fits trees on the table as it came, with weights whose sum stays what it was.

    So limits that count cases mean what they do without boosting (Quinlan, Bagging, boosting, and
    C4.5, AAAI 1996), and a row of weight two is two rows.
    """

    def __init__(
        self,
        template: Any,
        data: Prepared,
        random: Any,
        report: Report,
        given: tuple[Any, Any],
        total: float,
    ) -> None:
        super().__init__(template, data, random, report)
        self.given = given  # X, y
        self.total = total

    def __call__(self, weights: Weights) -> tuple[Tree, NDArray[Any]]:
        """Return (a tree, what it answers for each training row)."""
        seed, tree = self._seed(), clone(self.template)
        if "random_state" in tree.get_params(deep=False):
            tree.set_params(random_state=seed)
        X, y = self.given
        of_all = np.zeros(self.data.n_rows)
        of_all[self.data.kept] = weights.of_rows * (self.total / weights.total)
        tree.fit(X, y, sample_weight=of_all)
        self.members.append(tree)
        answers = arrays.to_numpy(tree.predict(X))[self.data.kept]
        if is_classifier(tree):
            answers = np.searchsorted(tree.classes_, answers)
        return tree.grown_, answers


def learner_of(
    template: Any,
    data: Prepared,
    random: Any,
    report: Report,
    given: tuple[Any, Any],
    total: float,
) -> OneTable | WholeFits:
    """Return the learner for trees like the template; given: X and y; total: of all weights."""
    if shares_a_table(template):
        return OneTable(template, data, random, report)
    return WholeFits(template, data, random, report, given, total)
