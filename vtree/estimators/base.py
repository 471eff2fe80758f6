"""What all single-tree estimators share: the way from a user's table to a `Tree` and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import _check_feature_names, _get_feature_names, check_is_fitted

from vtree import arrays, binning
from vtree.arrays import Array
from vtree.best_first import BestFirst
from vtree.binning import bin_table, by_column
from vtree.criteria import Criterion
from vtree.draws import tree_keys
from vtree.errors import InputError, own_errors
from vtree.estimators.absent import surrogate_router
from vtree.estimators.bins import Bins, ready_codes, table_of, values_for
from vtree.estimators.devices import answer, place, working
from vtree.estimators.feature_constraints import refuse_other_numbers
from vtree.estimators.limits import (
    Amounts,
    ChecksParameters,
    amounts,
    feature_costs,
    feature_count,
)
from vtree.estimators.prepared import Prepared, of_known_levels
from vtree.estimators.view import TreeView, importances, paths
from vtree.finish import finish
from vtree.growth import grow
from vtree.plan import Plan, Stops, level_order
from vtree.predict import Parts, leaves
from vtree.pruning import cost_complexity_path, prune_cost_complexity
from vtree.routing import Router, by_branch, by_value
from vtree.sampling import Draw
from vtree.splits import Search
from vtree.surrogates import (
    KnownRows,
    Rules,
    as_arrays,
    come_to_rest,
    follow,
    from_arrays,
    without_marks,
)
from vtree.tables import Schema, Table, Unknown, encode_table, read_table
from vtree.targets import Targets
from vtree.tree import Tree
from vtree_kernels import available_threads, threads
from vtree_kernels.scan import Limits

Floats = NDArray[np.float64]

_EPSILON = float(np.finfo(np.float64).eps)  # how far a decrease may fall short of its minimum


class TableEstimator(ChecksParameters, BaseEstimator):
    """Base of all estimators: how tables are read and their columns remembered."""

    def _remember(self, X: Any, schema: Schema) -> None:
        with own_errors("X"):
            _check_feature_names(self, X, reset=True)
        if not hasattr(self, "feature_names_in_") and schema.names is not None:
            self.feature_names_in_ = np.asarray(schema.names, dtype=object)
        refuse_other_numbers(self, X)
        self.n_features_in_ = len(schema.levels)
        self.schema_ = schema
        self.max_features_ = feature_count(self.max_features, self.n_features_in_)

    def _read(self, X: Any) -> tuple[Array, Schema]:
        table = self._table(X)
        if sparse.issparse(X) and np.isnan(table.values).any():
            raise InputError(
                "Input X contains NaN. Missing values are accepted in dense tables only: "
                "pass X.toarray()."
            )
        return place(table.values, self.device), table.schema

    def _table(self, X: Any) -> Table:
        if isinstance(X, Bins):
            return table_of(X, self.categorical_features)
        return read_table(X, categorical_features=self.categorical_features)

    def _encode(self, X: Any) -> Array:
        """Read a table to predict from; where the engine works."""
        check_is_fitted(self)
        return self._encode_known(X)

    def _encode_known(self, X: Any, unknown: Unknown | None = None) -> Array:
        """Read a table by the schema of the training one, fitted or not yet.

        unknown: what levels are that it lacks, None: as `unknown_categories` says.
        """
        if isinstance(X, Bins):
            return place(values_for(X, self.schema_, type(self).__name__), self.device)
        self._check_names(X)
        values = encode_table(
            X,
            self.schema_,
            unknown=unknown or self.unknown_categories,
            owner=type(self).__name__,
        )
        return place(values, self.device)

    def _check_names(self, X: Any) -> None:
        """Raise InputError if the columns of X have other names, or another order, than in fit."""
        if isinstance(X, Bins):  # whose schema is compared where its values are read
            return
        known = getattr(self, "feature_names_in_", None)
        # Of mappings and of what hands Arrow's streams scikit-learn sees no names. Those are
        # compared where the table is read, for some streams can be read only once.
        named = isinstance(X, Mapping) or hasattr(X, "__arrow_c_stream__")
        named = named and not sparse.issparse(X)
        with own_errors("X"):
            if known is None or not named or _get_feature_names(X) is not None:
                _check_feature_names(self, X, reset=False)

    def __sklearn_is_fitted__(self) -> bool:  # noqa: D105
        return "grown_" in vars(self)

    def __sklearn_tags__(self) -> Any:  # noqa: D105
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def __setstate__(self, state: dict[str, Any]) -> None:  # noqa: D105
        # Arrays pickled on a machine of the other byte order are made native, for kernels ask it.
        super().__setstate__({name: _native(value) for name, value in state.items()})


class TreeEstimator(TableEstimator):
    """Base of the estimators that fit one tree; use a derived class."""

    _criteria: Any
    surrogates_: Rules | None = None  # of models pickled before there were any

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        raise NotImplementedError

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True
    ) -> TreeEstimator:
        """Grow a tree on the rows of X.

        Parameters
        ----------
        X : (N, F) table
            NumPy and other arrays, pandas, polars or Arrow frames, lists of rows, sparse matrices.
            NaN and other marks of missing values are welcome, infinities are ordinary numbers.
        y : (N,) or (N, outputs)
            Labels, or real targets.
        sample_weight : (N,), optional
            Weights, not negative. A weight of 0 is an absent row; a whole weight acts like that
            many copies of the row.
        check_input : bool
            Accepted for scikit-learn's sake; input is always checked.

        Returns
        -------
        self

        Raises
        ------
        InputError, InputTypeError
            Whatever cannot be used, see `vtree.errors`. The estimator then stays what it was.
        """
        return self._fit(X, y, sample_weight)

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, *, all_levels: bool = False
    ) -> TreeEstimator:
        """Do what `fit` does; with `all_levels` those of rows of weight zero are known, too."""
        with (
            unchanged_on_error(self),
            threads(thread_count(self.n_jobs)),
            working(self.device, X, release=True),
        ):
            data = self._prepare(X, y, sample_weight)
            data = data if all_levels else of_known_levels(X, data)
            self._remember(X, data.schema)
            tree, rules = self._planted(data)
            # 0 is scikit-learn's "off": splits that gain nothing stay, too.
            self.grown_ = prune_cost_complexity(tree, self.ccp_alpha) if self.ccp_alpha else tree
            self.surrogates_ = None if rules is None else follow(rules, tree, self.grown_)
            del data  # it holds memory of the device
        return self

    def _more_to_save(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file holds of this estimator besides: header entries, and arrays."""
        return {}, {} if self.surrogates_ is None else as_arrays(self.surrogates_)

    def _take_saved(self, header: dict[str, Any], extra: dict[str, NDArray[Any]]) -> None:
        """Set what `_more_to_save` returned; raise ValueError, KeyError or TypeError for less."""
        if "edges" in header:  # with which splits by bins of numbers count as checked
            raise ValueError("its kind of estimator has no edges")
        if self.grown_.root.size != 1:
            raise ValueError(f"it holds {self.grown_.root.size} trees where one belongs")
        self.surrogates_ = from_arrays(extra, self.grown_, n_levels_of(self.schema_))

    def _planted(
        self, data: Prepared, roots: list[NDArray[np.int64]] | None = None
    ) -> tuple[Tree, Rules | None]:
        """Return what `_grow` does, and the trees' surrogates, of systems that have them."""
        if hasattr(self, "surrogates"):
            return self._grow_binned(self._by_column(data), data, roots)
        return self._grow(data, roots), None

    def _grow(self, data: Prepared, roots: list[NDArray[np.int64]] | None = None) -> Tree:
        """Bin, grow and finish a tree, or one a root (ascending rows of `data`), all at once."""
        return self._grow_binned(self._by_column(data), data, roots)[0]

    def _by_column(self, data: Prepared) -> binning.Bins:
        """Bin, for one tree or few: of more, a table is held for long and costs less than they."""
        bins = self._bin(data)
        return bins if self._draw().raw else binning.with_columns(bins)

    def _grow_binned(
        self,
        bins: binning.Bins,
        data: Prepared,
        roots: list[NDArray[np.int64]] | None = None,
        router: Router | None = None,
    ) -> tuple[Tree, Rules | None]:
        criterion: Criterion = self._criteria[self.criterion]
        targets, plan = data.targets, self._plan(data)
        search: Any = plan.search
        surrogates = surrogate_router(self, search)
        if surrogates is not None:
            plan = plan._replace(search=KnownRows(search), router=surrogates)
        elif router is not None:
            plan = plan._replace(router=router)
        keys = None
        if self._draw().chance:
            keys = np.repeat(root_keys([self.random_state]), 1 if roots is None else len(roots))
        if self.max_leaf_nodes is None:
            grown, rows, branch_map = grow(bins, targets, plan, level_order, roots, keys)
        else:
            order = BestFirst(self.max_leaf_nodes)
            grown, rows, branch_map = grow(bins, targets, plan, order, roots, keys)
            grown = order.trim(grown)
        gains_add_up = surrogates is None
        tree = finish(grown, rows, branch_map, targets, criterion, gains_add_up=gains_add_up)
        if surrogates is None:
            return self._finished(tree), None
        return self._finished(without_marks(tree)), surrogates.rules(grown, tree)

    def _finished(self, tree: Tree) -> Tree:
        """Return a grown tree with the values that the estimator answers."""
        return tree

    def _plan(self, data: Prepared) -> Plan:
        """Return what to search and when to stop."""
        criterion: Criterion = self._criteria[self.criterion]
        limits = amounts(self, data.n_rows, data.total_weight)
        monotone = self._monotone(data)
        draw = self._draw()
        targets = data.targets
        least = limits.min_weight / targets.weight_unit
        search = Search(
            criterion,
            targets.layout,
            Limits(limits.min_leaf, least),
            draw,
            monotone,
            self.min_samples_category,
            feature_costs=feature_costs(self.feature_costs, self.n_features_in_),
        )
        stops = Stops(limits.max_depth, limits.min_split, _least_gain(limits, targets, criterion))
        router = by_value if draw.raw else by_branch
        return Plan(search, stops, self.histogram_budget, router)

    def _bin(self, data: Prepared) -> binning.Bins:
        bins = ready_codes(data.given, data.kept, self.max_bins, self.device)
        if bins is None:
            bins = bin_table(
                data.values,
                n_levels_of(data.schema),
                max_bins=self.max_bins,
                weight=data.targets.weight,
                names=data.schema.names,
            )
        if not self._draw().raw:
            return bins
        values = data.values
        # Cuts are drawn in one column after another.
        return bins._replace(values=by_column(values) if arrays.is_numpy(values) else values)

    def _monotone(self, data: Prepared) -> NDArray[np.int8] | None:
        return None

    def _draw(self) -> Draw:
        random_threshold = getattr(self, "splitter", "best") == "random"
        if not random_threshold and self.max_features_ >= self.n_features_in_:
            return Draw()
        # Medians and surrogates are looked for in the order of the codes.
        by_code = self._criteria[self.criterion].by_rows or getattr(self, "surrogates", 0)
        raw = random_threshold and not by_code
        return Draw(0, self.max_features_, random_threshold, raw)

    def _leaves(self, X: Any) -> NDArray[np.int32]:
        with threads(thread_count(self.n_jobs)), working(self.device, X):
            values = self._encode(X)  # first, for it tells whether there is a tree
            return self._rest(self.grown_, self.surrogates_, values)

    def _rest(self, tree: Tree, rules: Rules | None, values: Array) -> NDArray[np.int32]:
        """Return the node where each encoded row comes to rest in one tree, (N,)."""
        found = leaves(tree, values) if rules is None else come_to_rest(tree, rules, values)
        return found[:, 0]

    def _follow_pruning(self) -> None:
        """Bring fitted attributes in line with `grown_`, which `vtree.prune` made smaller."""

    def _parts(self, tree: Tree, rules: Rules | None, values: Array) -> Parts:
        """Return the same where rows may come to rest in parts, in several leaves."""
        node = self._rest(tree, rules, values).astype(np.int64)
        return Parts(np.arange(node.size), node, np.ones(node.size))

    def apply(self, X: Any, check_input: bool = True) -> Array:
        """Return the number of the leaf that each row comes to, (N,) int64."""
        return answer(self._leaves(X).astype(np.int64), X)

    def decision_path(self, X: Any, check_input: bool = True) -> sparse.csr_matrix:
        """Return which nodes each row passes, a sparse matrix (N, nodes) of zeros and ones."""
        leaf = self._leaves(X).astype(np.int64)
        return paths(self.grown_, leaf)

    def get_depth(self) -> int:
        """Return the distance from the root to the farthest leaf."""
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.tree_.n_leaves

    @property
    def tree_(self) -> TreeView:
        """The fitted tree with the attributes of scikit-learn's, see `TreeView`."""
        check_is_fitted(self)
        return TreeView(self.grown_, self.n_features_in_, self._class_counts())

    def _class_counts(self) -> NDArray[np.int64]:
        return np.ones(self.n_outputs_, dtype=np.int64)

    @property
    def feature_importances_(self) -> Floats:
        """Each feature's share of the decrease of impurity, (F,), summing to one (or all zero)."""
        check_is_fitted(self)
        return importances(self.grown_, self.n_features_in_)

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Return the subtrees of minimal cost-complexity pruning for a tree grown on X and y.

        Returns
        -------
        Bunch with `ccp_alphas` and `impurities`, each (subtrees,): the alpha from which a subtree
        is the best one, and the total impurity of its leaves.
        """
        whole = type(self)(**{**self.get_params(deep=False), "ccp_alpha": 0.0})
        path = cost_complexity_path(whole.fit(X, y, sample_weight).grown_)
        return Bunch(ccp_alphas=path.alphas, impurities=path.risks)

    def to_sklearn(self) -> Any:
        """Return scikit-learn's own estimator with this tree, for its plots and exports."""
        # Here, for scikit-learn's trees take a tenth of a second to import.
        from vtree.interop.scikit_learn import to_sklearn

        return to_sklearn(self)


def root_keys(random_states: Sequence[Any]) -> NDArray[np.uint64]:
    """Return the keys of the roots of trees with these `random_state`s, (T,).

    All that is left to chance in a tree follows from its key.
    """
    most = np.iinfo(np.int32).max
    seeds = [int(check_random_state(state).randint(most)) for state in random_states]
    return tree_keys(np.asarray(seeds))


def n_levels_of(schema: Schema) -> NDArray[np.int64]:
    """Return the levels of each categorical feature, −1 for numeric ones, (F,)."""
    return np.array([-1 if each is None else each.size for each in schema.levels], dtype=np.int64)


def _native(value: Any) -> Any:
    if isinstance(value, np.ndarray) and not value.dtype.isnative:
        return value.astype(value.dtype.newbyteorder("="))
    if isinstance(value, tuple) and hasattr(value, "_make"):
        fields = [tuple(map(_native, f)) if type(f) is tuple else _as_native(f) for f in value]
        return value._make(fields)
    return value


def _as_native(field: Any) -> Any:
    if isinstance(field, np.ndarray) and not field.dtype.isnative:
        return field.astype(field.dtype.newbyteorder("="))
    return field


def _least_gain(limits: Amounts, targets: Targets, criterion: Criterion) -> float:
    """Return the least total decrease that reaches `min_impurity_decrease`."""
    wanted = limits.min_decrease - _EPSILON
    if wanted <= 0.0:
        return -np.inf
    unit = float(targets.scale.max()) ** criterion.degree
    if unit == 0.0:  # of targets so small that every decrease of their squares is zero
        return np.inf
    return wanted * (limits.total_weight / targets.weight_unit) / unit


def thread_count(n_jobs: int | None) -> int | None:
    """Return the most threads to use: −1 stands for all cores, −2 for all but one, and so on."""
    if n_jobs is None or n_jobs > 0:
        return n_jobs
    return max(1, available_threads() + 1 + n_jobs)


def keep(estimator: BaseEstimator, parameters: dict[str, Any]) -> None:
    """Store the parameters of `__init__`, its `locals()`, under their own names."""
    for name, value in parameters.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


@contextmanager
def unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Give back all attributes if what is inside fails."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
