"""What both CHAID estimators share: parameters, the way to a `Tree`, p-values, files."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from vtree.arrays import Array
from vtree.binning import level_numbers
from vtree.chaid.association import AssociationTest
from vtree.chaid.merging import Rules
from vtree.chaid.search import (
    ChaidSearch,
    NodeTests,
    Sizes,
    joined_tests,
    log_p_of_nodes,
)
from vtree.criteria import Criterion
from vtree.errors import InputError
from vtree.estimators.limits import CONSTRAINTS
from vtree.estimators.multiway import MultiwayTree
from vtree.estimators.prepared import Prepared
from vtree.finish import finish
from vtree.growth import grow
from vtree.plan import Plan, Stops
from vtree.predict import leaves
from vtree.tables import Table, read_table
from vtree.targets import Targets
from vtree.tree import Tree
from vtree_kernels.scan import Limits

Floats = NDArray[np.float64]

# All pairs of levels are compared: 8 million of them.
MOST_LEVELS = 4_096

# What the package CHAID of R has where SPSS, whose defaults are ours, has other values.
_OF_R = {
    "max_depth": None,
    "min_samples_split": 20,
    "min_samples_leaf": 7,
    "min_leaf_share": 0.01,
    "small_groups": "first",
    "missing": "floating",
}

_SHARED = ("max_depth", "unknown_categories", "device", "n_jobs", "histogram_budget")
CHAID_CONSTRAINTS: dict[str, list[Any]] = {
    **{name: CONSTRAINTS[name] for name in _SHARED},
    "alpha_merge": [Interval(Real, 0.0, 1.0, closed="neither")],
    "alpha_split": [Interval(Real, 0.0, 1.0, closed="neither")],
    "alpha_resplit": [Interval(Real, 0.0, 1.0, closed="neither"), None],
    "bonferroni": ["boolean"],
    "exhaustive": ["boolean"],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
    ],
    "min_samples_leaf": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="neither"),
    ],
    "min_leaf_share": [Interval(Real, 0.0, 1.0, closed="right")],
    "small_groups": [StrOptions({"first", "after"})],
    "missing": [StrOptions({"floating", "late"})],
    "max_bins": [Interval(Integral, 2, MOST_LEVELS - 1, closed="both")],
    "categorical_features": CONSTRAINTS["categorical_features"],
    "ordinal_features": [StrOptions({"from_dtype"}), "array-like", dict, None],
}


class ChaidEstimator(MultiwayTree):
    """What both CHAID estimators share; use a derived class."""

    criterion: str  # what importances and impurities are of

    @classmethod
    def r_compatible(cls, **parameters: Any) -> Self:
        """Return an estimator that grows the trees of the package CHAID of R.

        Its limits are other than those of SPSS: no maximum of depth, 20 rows to split, children of
        7 rows or a hundredth of their parent, if that is less, and small groups merge first.
        `parameters` are set besides.
        """
        return cls(**{**_OF_R, **parameters})

    def _tests(self, targets: Targets) -> tuple[Targets, AssociationTest, Any]:
        """Return (targets to grow by, test, what it reads from their tables)."""
        raise NotImplementedError

    def _table(self, X: Any) -> Table:
        self._check_alphas()
        table = read_table(
            X,
            categorical_features=self.categorical_features,
            ordinal_features=self.ordinal_features,
            nominal_booleans=True,
        )
        names = table.schema.names
        for feature, own in enumerate(table.schema.levels):
            if own is not None and own.size > MOST_LEVELS:
                name = f"column {feature}" if names is None else f"column {names[feature]!r}"
                raise InputError(
                    f"X: {name} holds {own.size:,} levels, and CHAID compares all pairs of up to "
                    f"{MOST_LEVELS:,}. Merge rare levels, or drop the column"
                )
        self.ordinal_ = table.ordinal | np.array([own is None for own in table.schema.levels])
        return table

    def _check_alphas(self) -> None:
        resplit, merge = self.alpha_resplit, self.alpha_merge
        if resplit is None:
            return
        if self.exhaustive:
            raise InputError(
                f"alpha_resplit={resplit} and exhaustive=True: the exhaustive search splits no "
                "group again; leave one of them out"
            )
        if resplit >= merge:
            raise InputError(
                f"alpha_resplit={resplit} must be below alpha_merge={merge}, or groups would be "
                "merged and split in turns; 0.049 beside 0.05 is usual"
            )

    def _grow(self, data: Prepared, roots: list[NDArray[np.int64]] | None = None) -> Tree:
        """Bin, grow and finish a tree, or one a root (ascending rows of `data`), all at once."""
        criterion: Criterion = self._criteria[self.criterion]
        bins = self._bin(data)
        self.edges_ = tuple(
            None if own is not None else edges
            for own, edges in zip(data.schema.levels, bins.edges, strict=True)
        )
        targets, test, statistics = self._tests(data.targets)
        search = self._search(data, targets, test, statistics)
        plan = Plan(search, Stops(self.max_depth), self.histogram_budget)
        grown, rows, branch_map = grow(bins, targets, plan, roots=roots)
        self.tested_ = joined_tests(search.record, self.n_features_in_)
        grown = grown._replace(total=grown.total[:, : data.targets.layout.n_statistics])
        return finish(grown, rows, branch_map, data.targets, criterion)

    def _search(
        self, data: Prepared, targets: Targets, test: AssociationTest, statistics: Any
    ) -> ChaidSearch:
        unit = targets.weight_unit
        least_split = _amount(self.min_samples_split, data.total_weight)
        rules = Rules(
            math.log(self.alpha_merge),
            None if self.alpha_resplit is None else math.log(self.alpha_resplit),
            self.exhaustive,
            self.small_groups == "first",
            self.missing == "late",
        )
        least = float(_amount(self.min_samples_leaf, data.total_weight))
        return ChaidSearch(
            criterion=self._criteria[self.criterion],
            layout=targets.layout,
            # Growth looks no further at nodes below twice the least weight of a child.
            limits=Limits(1, least_split / 2.0 / unit),
            test=test,
            statistics=statistics,
            rules=rules,
            sizes=Sizes(least, float(self.min_leaf_share), unit),
            bonferroni=self.bonferroni,
            log_alpha_split=math.log(self.alpha_split),
            ordinal=self.ordinal_,
            record=[],
        )

    def _rest(self, tree: Tree, rules: Any, values: Array) -> NDArray[np.int32]:
        return leaves(tree, level_numbers(values, self.edges_))[:, 0]

    def _more_to_save(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        tested = {"tested.key": self.tested_.key, "tested.log_p": self.tested_.log_p}
        return {"edges": list(self.edges_)}, {**tested, "ordinal": self.ordinal_}

    def _take_saved(self, header: dict[str, Any], extra: dict[str, NDArray[Any]]) -> None:
        self.edges_ = tuple(header["edges"])
        key, log_p, ordinal = (extra[name] for name in ("tested.key", "tested.log_p", "ordinal"))
        shapes = key.shape, log_p.shape, ordinal.shape
        n_features = self.n_features_in_
        if shapes != ((key.size,), (key.size, n_features), (n_features,)):
            raise ValueError(f"its tests have the shapes {shapes}")
        if [each.dtype.str[1:] for each in (key, log_p, ordinal)] != ["u8", "f8", "b1"]:
            raise TypeError("its tests are of other types")
        if (key[1:] <= key[:-1]).any():
            raise ValueError("the keys of its tests do not ascend")
        self.tested_, self.ordinal_ = NodeTests(key, log_p), ordinal

    @property
    def log_p_values_(self) -> Floats:
        """Logarithm of the adjusted p-value of each predictor in each node, (M, F).

        NaN where none was tested; above 0 where Bonferroni's adjustment passes 1.
        """
        return log_p_of_nodes(self.grown_, self.tested_)

    @property
    def p_values_(self) -> Floats:
        """The adjusted p-value, at most 1, of each predictor in each node, (M, F); NaN: none."""
        return np.minimum(np.exp(self.log_p_values_), 1.0)


def _amount(least: int | float, total_weight: float) -> float:
    """Return a number of rows, given as such or as a share of all."""
    return float(least) if isinstance(least, Integral) else math.ceil(least * total_weight)
