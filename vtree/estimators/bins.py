"""`Bins`: a table read and binned once, for as many fits as one likes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints

from vtree import arrays, binning
from vtree.arrays import Array
from vtree.errors import InputError, InputTypeError
from vtree.estimators.devices import place, working
from vtree.estimators.limits import CONSTRAINTS, ParameterError
from vtree.tables import Schema, Table, read_table
from vtree.tables.columns import column_labels

Integers = NDArray[np.int64]


class Bins:
    """A table that was read and binned once; fits and predictions take it in place of X.

    `bins[rows]` is the table of these rows with the same bins, at the cost of a copy; so searches
    and cross-validation of scikit-learn take it, too. Where a feature has at most `max_bins`
    distinct values, a model of `bins[rows]` is that of the rows themselves but for the numbers of
    its bins. Elsewhere its candidates for thresholds are the quantiles of the whole table, of rows
    that count once, as in LightGBM's `Dataset.subset`; no target has a part in them.

    Parameters
    ----------
    X : (N, F) table
        As for `DecisionTreeClassifier.fit`. Later changes of it are not seen.
    max_bins, categorical_features, device
        As in the estimators, whose own must agree with these.

    Attributes
    ----------
    shape : (N, F)

    Raises
    ------
    InputError, InputTypeError
        What the door for tables refuses, see `vtree.errors`; parameters out of range.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import cross_val_score
    >>> import vtree
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bins = vtree.Bins(X)
    >>> model = vtree.NewtonBoostingRegressor(n_estimators=10)
    >>> vtree.digest(model.fit(bins, y)) == vtree.digest(model.fit(X, y))
    True
    >>> cross_val_score(model, bins, y, cv=3).shape
    (3,)
    """

    _labels: tuple[Any, ...] = ()  # what its columns were called, of Bins that know it

    def __init__(
        self,
        X: Any,
        *,
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        device: str = "auto",
    ) -> None:
        given = {
            "max_bins": max_bins,
            "categorical_features": categorical_features,
            "device": device,
        }
        rules = {name: CONSTRAINTS[name] for name in given}
        try:
            validate_parameter_constraints(rules, given, "Bins")
        except InvalidParameterError as error:
            raise ParameterError(str(error)) from None
        if isinstance(X, Bins):
            raise InputTypeError("X is binned already; pass it to fit, or the table it was made of")
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        with working(device, X):
            table = read_table(X, categorical_features=categorical_features)
            values = place(table.values, device)
            if arrays.is_array(X):  # whose memory may be its user's
                values = arrays.namespace(values).asarray(values, copy=True)
            levels = [-1 if own is None else own.size for own in table.schema.levels]
            self._codes = binning.bin_table(
                values,
                np.asarray(levels, dtype=np.int64),
                max_bins=max_bins,
                names=table.schema.names,
            )
        self._table = table._replace(values=values)
        self._labels = tuple(column_labels(X))

    @property
    def shape(self) -> tuple[int, int]:
        """(N, F)."""
        n_rows, n_features = self._table.values.shape
        return int(n_rows), int(n_features)

    def __len__(self) -> int:
        """Return N."""
        return self.shape[0]

    def __repr__(self) -> str:
        """Say how large it is."""
        return f"<vtree.Bins of {self.shape[0]:,} × {self.shape[1]}, max_bins={self.max_bins}>"

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        """Refuse: nothing that needs an array knows what codes of levels are."""
        raise InputTypeError(
            "X is vtree.Bins, which this estimator cannot use; pass it the table itself"
        )

    def __getitem__(self, rows: Any) -> Bins:
        """Return the table of some rows: a mask (N,), their numbers, or a slice."""
        if isinstance(rows, tuple) and rows and _is_all(rows[1:]):
            rows = rows[0]  # scikit-learn asks for bins[rows, ...]
        chosen = np.asarray(arrays.to_numpy(rows) if arrays.is_array(rows) else rows)
        if isinstance(rows, slice):
            chosen = np.arange(len(self))[rows]
        if chosen.ndim != 1 or chosen.dtype.kind not in "biu":
            raise InputTypeError(
                "Bins are indexed by rows: a slice, their numbers or a mask, each (N,). "
                f"Got {rows!r}."
            )
        part = object.__new__(Bins)
        part.max_bins, part.categorical_features = self.max_bins, self.categorical_features
        own = np.arange(len(self))[chosen]
        part._table = self._table._replace(values=_take(self._table.values, own))
        part._codes = _rows_of(self._codes, own)
        part._labels = self._labels
        return part


def columns_of_bins(
    bins: Bins, features: Integers, own_names: Callable[[list[str]], list[str]]
) -> Bins:
    """Return the table of some columns (G,), which may be repeated; own_names: makes theirs."""
    table, names = bins._table, bins._table.schema.names
    if names is not None:
        names = tuple(own_names([names[feature] for feature in features.tolist()]))
    values = table.values
    with arrays.at_home(values):
        own = arrays.namespace(values).take(values, arrays.like(features, values), axis=1)
    schema = Schema(names, tuple(table.schema.levels[feature] for feature in features.tolist()))
    part = object.__new__(Bins)
    part.max_bins, part.categorical_features = bins.max_bins, bins.categorical_features
    if not isinstance(bins.categorical_features, str | None):
        part.categorical_features = [levels is not None for levels in schema.levels]
    part._table = Table(own, schema, table.ordinal[features])
    part._codes = binning.of_columns(bins._codes, features)
    return part


def labels_of(X: Any) -> list[Any]:
    """Return what the columns of a table or of `Bins` are called; none where nothing says."""
    return list(X._labels) if isinstance(X, Bins) else column_labels(X)


def table_of(bins: Bins, categorical_features: Any) -> Table:
    """Return what `read_table` made of X; raise InputError for other `categorical_features`."""
    asked = isinstance(categorical_features, str)  # "from_dtype", the default
    if not asked and not np.array_equal(categorical_features, bins.categorical_features):
        raise InputError(
            f"categorical_features={categorical_features!r}, but X is vtree.Bins with "
            f"{bins.categorical_features!r}; give it there"
        )
    return bins._table


def values_for(bins: Bins, schema: Schema, owner: str) -> Array:
    """Return the values (N, F) to predict from, by a model of the columns in `schema`."""
    own = bins._table.schema
    same = own.names == schema.names and len(own.levels) == len(schema.levels)
    if not same or not all(map(_equal, own.levels, schema.levels)):
        raise InputError(
            f"X is vtree.Bins of other columns or categories than those {owner} was fitted to; "
            "pass the table itself, or a part of the Bins of training, bins[rows]"
        )
    return bins._table.values


def ready_codes(
    X: Any, kept: Integers | slice, max_bins: int | None, device: str
) -> binning.Bins | None:
    """Return the codes of X without rows of no weight if X is `Bins`, or None.

    Raises
    ------
    InputError
        If they are of another number of bins.
    """
    if not isinstance(X, Bins):
        return None
    if X.max_bins != max_bins:
        raise InputError(
            f"max_bins={max_bins}, but X is vtree.Bins with max_bins={X.max_bins}; make both equal"
        )
    codes = X._codes if isinstance(kept, slice) else _rows_of(X._codes, kept)
    groups = [group.of(place(group.codes, device)) for group in codes.groups]
    return codes._replace(groups=tuple(groups))


def _rows_of(codes: binning.Bins, rows: Integers) -> binning.Bins:
    groups = [group.of(_take(group.codes, rows)) for group in codes.groups]
    return codes._replace(groups=tuple(groups))


def _take(array: Array, rows: Integers) -> Array:
    with arrays.at_home(array):
        return arrays.namespace(array).take(array, arrays.like(rows, array), axis=0)


def _is_all(rest: tuple[Any, ...]) -> bool:
    return all(each is Ellipsis or each == slice(None) for each in rest)


def _equal(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))
