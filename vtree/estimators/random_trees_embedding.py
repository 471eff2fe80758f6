"""`RandomTreesEmbedding`: a row as the leaves it comes to in trees grown at random."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin, _fit_context
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from vtree.estimators.base import keep
from vtree.estimators.forest import FOREST_CONSTRAINTS
from vtree.estimators.prepared import Prepared
from vtree.estimators.random_trees import RandomTrees
from vtree.histogram import DEFAULT_BUDGET
from vtree.tree import Tree, one_tree

_OWN = frozenset(
    ("criterion", "max_features", "ccp_alpha", "monotonic_cst", "max_bins", "bootstrap")
    + ("oob_score", "max_samples", "feature_costs", "surrogates", "use_surrogates")
    + ("surrogate_counts", "min_samples_category")
)


class RandomTreesEmbedding(TransformerMixin, RandomTrees):
    """A transformer: one column a leaf of trees grown at random, 1 where a row comes to it.

    All trees grow as one frontier. Missing values and categories need no preparation.

    Parameters
    ----------
    n_estimators, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf,
    max_leaf_nodes, min_impurity_decrease, sparse_output, random_state, verbose, warm_start
        As in scikit-learn.
    categorical_features, unknown_categories, device, n_jobs, histogram_budget
        As in `DecisionTreeClassifier`. None of the last three changes the model.

    Attributes
    ----------
    estimators_ : list of T fitted `DecisionTreeRegressor`
    one_hot_encoder_ : `sklearn.preprocessing.OneHotEncoder` of leaf numbers (N, T)
    n_outputs_, n_features_in_, feature_names_in_, feature_importances_
        As in scikit-learn.
    grown_ : `vtree.tree.Tree`, all trees in one

    References
    ----------
    Geurts, Ernst and Wehenkel, Extremely randomized trees, Machine Learning 63, 2006; Moosmann,
    Triggs and Jurie, Fast discriminative visual codebooks, NIPS 2006.

    Examples
    --------
    >>> from vtree import RandomTreesEmbedding
    >>> X = [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1]]
    >>> embedded = RandomTreesEmbedding(5, max_depth=1, random_state=0).fit_transform(X)
    >>> embedded.shape, embedded.sum(axis=1).ravel()
    ((5, 10), matrix([[5., 5., 5., 5., 5.]]))
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **{name: rule for name, rule in FOREST_CONSTRAINTS.items() if name not in _OWN},
        "sparse_output": ["boolean"],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int | None = 5,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        sparse_output: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
        unknown_categories: str = "missing",
        device: str = "auto",
        histogram_budget: int = DEFAULT_BUDGET,
    ) -> None:
        keep(self, locals())

    fit = _fit_context(prefer_skip_nested_validation=True)(RandomTrees.fit)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Grow trees on the rows of X, and return which leaves they come to.

        Parameters
        ----------
        X : (N, F) table
            As for `DecisionTreeClassifier.fit`; NaN marks missing values.
        y : ignored
        sample_weight : (N,), optional
            Weights, not negative; a row of weight 0 is absent from the trees.

        Returns
        -------
        (N, leaves) sparse matrix, or array without `sparse_output`, of zeros and ones
        """
        return self.fit(X, y, sample_weight).transform(X)

    def transform(self, X: Any) -> Any:
        """Return which leaves the rows of X come to, (N, leaves), zeros and ones."""
        leaf = self._leaves(X)
        return self.one_hot_encoder_.transform(leaf)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns, `randomtreesembedding_TREE_LEAF`, (leaves,)."""
        check_is_fitted(self)
        _check_feature_names_in(self, input_features=input_features, generate_names=False)
        names = [
            f"randomtreesembedding_{tree}_{leaf}"
            for tree, leaves in enumerate(self.one_hot_encoder_.categories_)
            for leaf in leaves.tolist()
        ]
        return np.asarray(names, dtype=object)

    @property
    def _n_features_out(self) -> int:
        return sum(leaves.size for leaves in self.one_hot_encoder_.categories_)

    def _so_far(self, grown: Tree) -> dict[str, Any]:
        encoder = _encoder(grown, self.sparse_output)
        return {**super()._so_far(grown), "one_hot_encoder_": encoder}

    def _conclude(self, data: Prepared, y: Any, *, grew: bool) -> None:
        self.one_hot_encoder_ = _encoder(self.grown_, self.sparse_output)

    def _take_saved(self, header: dict[str, Any], extra: dict[str, NDArray[Any]]) -> None:
        super()._take_saved(header, extra)
        self.one_hot_encoder_ = _encoder(self.grown_, self.sparse_output)

    def _set_oob_score_and_attributes(self, *arguments: Any, **named: Any) -> NoReturn:
        raise NotImplementedError("OOB score not supported by tree embedding")


def _encoder(grown: Tree, sparse_output: bool) -> OneHotEncoder:
    """Return an encoder of the leaf numbers of each tree; every leaf has rows."""
    trees = [one_tree(grown, number) for number in range(grown.root.size)]
    leaves = [np.flatnonzero(tree.first_child < 0) for tree in trees]
    encoder = OneHotEncoder(categories=leaves, sparse_output=sparse_output)
    return encoder.fit(np.array([[own[0] for own in leaves]]))
