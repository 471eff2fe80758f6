"""What comes in wrong: it gets its right answer, or a clear error that breaks nothing."""

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import torch
from numpy.typing import NDArray

import vtree
from tests.samples import classes, columns, reals
from vtree import DecisionTreeClassifier, DecisionTreeRegressor
from vtree.errors import InputError, InputTypeError, NotAvailableError, VTreeError

ESTIMATORS = [DecisionTreeClassifier, DecisionTreeRegressor]

N = 20
X, Y = classes(N, 2, 3)
COUNTS = Y + 1


def _refuses(
    model: Any, call: Callable[[], Any], kind: type[Exception], message: str, table: Any = X
) -> None:
    """Assert the error, and that the model is what it was."""
    digest, before = vtree.digest(model), np.asarray(model.predict(table))
    attributes = set(vars(model))
    with pytest.raises(kind, match=message) as caught:
        call()
    assert isinstance(caught.value, VTreeError)
    assert vtree.digest(model) == digest
    assert set(vars(model)) == attributes
    np.testing.assert_array_equal(model.predict(table), before)


TABLES: dict[str, tuple[Any, type[Exception], str]] = {
    "nothing": (None, InputError, "2D array, got scalar"),
    "a number": (3.0, InputError, "2D array, got scalar"),
    "a text": ("abc", InputError, "2D array, got scalar"),
    "a set": ({1, 2}, InputError, "2D array, got scalar"),
    "a generator": (iter(range(N)), InputError, "2D array, got scalar"),
    "one axis": (X[:, 0], InputError, r"2D array, got 1D array .*\(20,\).*\s+Reshape"),
    "three axes": (np.zeros((N, 2, 2)), InputError, "dim 3.*dim <= 2 is required"),
    "no rows": (np.zeros((0, 3)), InputError, r"0 sample\(s\).*minimum of 1"),
    "no columns": (np.zeros((N, 0)), InputError, r"0 feature\(s\).*minimum of 1"),
    "ragged rows": ([[1, 2], [3]] * 10, InputError, "X .*rows must be of one length"),
    "complex": (X * 1j, InputError, "Complex data not supported: X is of type complex128"),
    "strings": (np.array([["1", "x"]] * N), InputError, "column 0 holds '1'.*not a number"),
    "objects": (
        np.array([[1.5, "a"]] * N, dtype=object),
        InputError,
        "column 1 holds 'a'.*categorical_features",
    ),
    "bytes": (np.array([[b"a"]] * N), InputTypeError, "column 0 holds a value of type 'bytes'"),
    "times": (np.zeros((N, 2), "M8[D]"), InputTypeError, r"X holds times \(datetime64\[D\]\)"),
    "spans": (np.zeros((N, 2), "m8[s]"), InputTypeError, "X holds times.*seconds since"),
    "a structured array": (np.zeros(N, [("a", float)]), InputTypeError, "must hold numbers"),
    "numbers beyond float64": (
        np.array([[10**400]] * N, dtype=object),
        InputError,
        "column 0 holds an integer beyond what float64 can hold",
    ),
    "sparse NaN": (scipy.sparse.csr_matrix(np.full((N, 3), np.nan)), InputError, "contains NaN"),
    "other rows than y": (X[:7], InputError, r"y: .*inconsistent.*\[20, 7\]"),
    "a series": (pd.Series(X[:, 0]), InputError, "2-dimensional container"),
    "two columns of one name": (
        pd.DataFrame(X[:, :2], columns=["a", "a"]),
        InputError,
        "names of columns must differ",
    ),
    "names of mixed kinds": (
        pd.DataFrame({"a": X[:, 0], 1: X[:, 1]}),
        InputTypeError,
        r"all input features have string names.*\['int', 'str'\]",
    ),
    "a frame without rows": (pd.DataFrame({"a": []}), InputError, r"0 sample\(s\)"),
    "a column of times": (
        pd.DataFrame({"day": pd.date_range("2020", periods=N)}),
        InputTypeError,
        "column 'day' holds times.*numbers and categories",
    ),
    "a column of dates": (
        pl.DataFrame({"day": [datetime.date(2020, 1, 1 + day) for day in range(N)]}),
        InputTypeError,
        "column 'day' holds times",
    ),
    "a column of lists": (
        pl.DataFrame({"a": [[1]] * N}),
        InputTypeError,
        "column 'a' holds a value of type 'list'",
    ),
    "a column of objects": (
        pd.DataFrame({"a": [object()] * N}),
        InputTypeError,
        "column 'a' holds a value of type 'object'",
    ),
    "a lazy frame": (pl.DataFrame({"a": Y}).lazy(), InputTypeError, "X is lazy.*collect"),
    "columns of two lengths": ({"a": [1], "b": [1, 2]}, InputError, "must have one length"),
    "complex tensors": (torch.tensor(X * 1j), InputError, "Complex data not supported: X"),
    "empty tensors": (torch.zeros((0, 3)), InputError, r"0 sample\(s\)"),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_tables_that_are_refused(estimator: Any, name: str) -> None:
    table, kind, message = TABLES[name]
    model = estimator().fit(X, COUNTS)
    _refuses(model, lambda: model.fit(table, COUNTS), kind, f"(?s){message}")


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_numpy_matrices_are_refused(estimator: Any) -> None:
    model = estimator().fit(X, Y)
    _refuses(model, lambda: model.fit(np.matrix(X), Y), InputTypeError, "np.matrix.*np.asarray")
    _refuses(model, lambda: model.predict(np.matrix(X)), InputTypeError, "np.matrix")
    _refuses(model, lambda: model.fit(X, np.matrix(Y)), InputTypeError, "y: np.matrix")


TARGETS: dict[str, tuple[Any, type[Exception], str]] = {
    "nothing": (None, InputError, "requires y to be passed.*y is None"),
    "a number": (3, InputTypeError, "y: .*at least 1 dimension"),
    "NaN": (np.where(Y == 0, np.nan, Y), InputError, "Input y contains NaN.*y may hold"),
    "infinity": (np.where(Y == 0, np.inf, Y), InputError, "y contains infinity.*y may hold"),
    "None": ([None, *Y[1:].tolist()], InputError, r"y contains NaN.*(None in row 0|y may hold)"),
    "pandas' NA": (pd.Series([None, *Y[1:]], dtype="Int64"), InputError, "y contains NaN"),
    "null": (pl.Series([None, *Y[1:].tolist()]), InputError, "y contains NaN"),
    "Arrow's null": (pa.array([None, *Y[1:].tolist()]), InputError, "y contains NaN"),
    "a missing string": (
        pd.Series(["a"] * (N - 1) + [None]),
        InputError,
        f"y contains NaN.*in row {N - 1}",
    ),
    "complex": (Y * 1j, InputError, "Complex data not supported: y is of type complex128"),
    "three axes": (np.zeros((N, 2, 2)), InputError, "y: .*dim 3.*y may hold"),
    "no outputs": (np.zeros((N, 0)), InputError, r"y: .*0 feature\(s\)"),
    "too short": (Y[:5], InputError, r"y: .*inconsistent.*\[5, 20\]"),
    "sparse": (scipy.sparse.csr_matrix(Y[:, None]), InputTypeError, r"y is a sparse.*toarray"),
    "ragged": ([[1], [1, 2]] * 10, InputError, "y: .*inhomogeneous.*y may hold"),
    "a mapping": ({"a": 1}, InputTypeError, "(?s)y: .*y may hold"),
    "masked": (np.ma.masked_array(Y, mask=Y > 0), InputError, r"y is masked in row \d+"),
}

LABELS: dict[str, tuple[Any, type[Exception], str]] = {
    "NaN beside strings": (["a", "b", math.nan, "a"] * 5, InputError, "NaN.*nan in row 2"),
    "fractions": (X[:, 0], InputError, "Unknown label type: continuous.*whole numbers"),
    "two kinds": (
        np.array(["a", 1] * 10, dtype=object),
        InputTypeError,
        "y: .*'int' and 'str'.*one kind",
    ),
    "decimals": ([Decimal(1), Decimal(2)] * 10, InputError, "Unknown label type.*y may hold"),
    "integers beyond int64": (
        np.array([2**70, 1] * 10, dtype=object),
        InputError,
        "Unknown label type.*y may hold",
    ),
}

REALS: dict[str, tuple[Any, type[Exception], str]] = {
    "strings": (["a", "b"] * 10, InputError, "y: could not convert.*finite real numbers"),
    "bytes": ([b"a", b"b"] * 10, InputError, "y: could not convert"),
    "times": (np.arange(N).astype("M8[s]"), InputTypeError, r"y holds times \(datetime64\[s\]\)"),
    "categories": (pd.Series(["a", "b"] * 10, dtype="category"), InputError, "y: could not"),
}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_targets_that_are_refused(estimator: Any, name: str) -> None:
    y, kind, message = TARGETS[name]
    model = estimator().fit(X, COUNTS)
    _refuses(model, lambda: model.fit(X, y), kind, f"(?s){message}")


@pytest.mark.parametrize("name", LABELS)
def test_labels_that_are_refused(name: str) -> None:
    y, kind, message = LABELS[name]
    model = DecisionTreeClassifier().fit(X, Y)
    _refuses(model, lambda: model.fit(X, y), kind, f"(?s){message}")


@pytest.mark.parametrize("name", REALS)
def test_real_targets_that_are_refused(name: str) -> None:
    y, kind, message = REALS[name]
    model = DecisionTreeRegressor().fit(X, Y)
    _refuses(model, lambda: model.fit(X, y), kind, f"(?s){message}")


@pytest.mark.parametrize(
    ("y", "message"), [(-Y - 1.0, "y are negative"), (Y * 0.0, "Sum of y is not positive")]
)
def test_poisson_takes_counts_only(y: NDArray[Any], message: str) -> None:
    model = DecisionTreeRegressor(criterion="poisson").fit(X, COUNTS)
    _refuses(model, lambda: model.fit(X, y), InputError, message)


def _one(value: float) -> NDArray[np.float64]:
    weight = np.ones(N)
    weight[4] = value
    return weight


WEIGHTS: dict[str, tuple[Any, type[Exception], str]] = {
    "a negative one": (_one(-1.0), InputError, "sample_weight .*got -1.0 for row 4; use 0"),
    "NaN": (_one(np.nan), InputError, "sample_weight contains NaN"),
    "infinity": (_one(np.inf), InputError, "sample_weight contains infinity"),
    "None among them": ([None] * N, InputError, "sample_weight contains NaN.*None in row 0"),
    "all zero": (np.zeros(N), InputError, "sample_weight: .*at least one non-zero"),
    "too few": (np.ones(3), InputError, r"sample_weight.shape == \(3,\), expected \(20,\)"),
    "two axes": (np.ones((N, 1)), InputError, "sample_weight: .*1D array.*one a row"),
    "strings": (["a"] * N, InputError, "sample_weight: could not convert.*finite numbers"),
    "complex": (np.ones(N) * 1j, InputError, "not supported: sample_weight is of type complex"),
    "masked": (np.ma.masked_array(np.ones(N), mask=Y > 0), InputError, "sample_weight is masked"),
    "too much together": (np.full(N, 1e308), InputError, "sample_weight adds up to more"),
}


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_weights_that_are_refused(estimator: Any, name: str) -> None:
    weight, kind, message = WEIGHTS[name]
    model = estimator().fit(X, COUNTS)
    _refuses(model, lambda: model.fit(X, COUNTS, weight), kind, f"(?s){message}")


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({0: -1.0}, "class_weight must not be negative, got -1.0"),
        ({0: np.nan, 1: 1.0}, "class_weight must not be negative, got nan"),
        ({0: 0.0, 1: 0.0}, "all weights are zero"),
        ([{0: 1}, {0: 2}], "class_weight"),
        ([1], "class_weight"),
        ("even", "'class_weight' parameter"),
    ],
)
def test_class_weights_that_are_refused(class_weight: Any, message: str) -> None:
    model = DecisionTreeClassifier().fit(X, Y)
    model.set_params(class_weight=class_weight)
    _refuses(model, lambda: model.fit(X, Y), InputError, message)


PARAMETERS: list[tuple[str, Any, str]] = [
    ("criterion", "best", "'criterion' parameter.*must be a str among"),
    ("splitter", "worst", "'splitter' parameter"),
    ("max_depth", 0, r"'max_depth' parameter.*\[1, inf\).*Got 0"),
    ("min_samples_split", 1, r"'min_samples_split' parameter.*\[2, inf\)"),
    ("min_samples_leaf", 1.5, "'min_samples_leaf' parameter"),
    ("min_weight_fraction_leaf", 0.6, r"\[0.0, 0.5\].*Got 0.6"),
    ("max_features", "all", "'max_features' parameter"),
    ("random_state", "seed", "'random_state' parameter"),
    ("max_leaf_nodes", 1, r"'max_leaf_nodes' parameter.*\[2, inf\)"),
    ("min_impurity_decrease", math.nan, "'min_impurity_decrease' parameter"),
    ("ccp_alpha", -1.0, "'ccp_alpha' parameter"),
    ("max_bins", 1, r"'max_bins' parameter.*\[2, 65535\]"),
    ("max_bins", 100_000, r"'max_bins' parameter.*\[2, 65535\]"),
    ("unknown_categories", "guess", "'unknown_categories' parameter"),
    ("min_samples_category", 0, "'min_samples_category' parameter"),
    ("n_jobs", "all", "'n_jobs' parameter"),
    ("n_jobs", 0, "'n_jobs' parameter"),
    ("histogram_budget", 0, "'histogram_budget' parameter"),
    ("histogram_budget", 1, r"(?s)needs .* bytes .*budget of 1.*max_bins"),
    ("device", "gpu", "device='gpu' is not one of 'auto', 'cpu', 'cuda'"),
    ("device", 0, "'device' parameter"),
    ("categorical_features", "colour", "'categorical_features' parameter.*array-like"),
    ("categorical_features", [3], r"columns \[3\].*numbered from 0 to 2"),
    ("categorical_features", [True], "mask of 1 booleans, but X has 3 columns"),
    ("categorical_features", ["colour"], "have no names"),
    ("monotonic_cst", [1, 0], "monotonic_cst has shape 2 but the input data X has 3 features"),
    ("monotonic_cst", [1, 0, 2], "array-like of -1, 0 or 1, but got"),
    ("monotonic_cst", [[1], [0, 1]], "monotonic_cst"),
]


@pytest.mark.parametrize(("name", "value", "message"), PARAMETERS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_parameters_that_are_refused(estimator: Any, name: str, value: Any, message: str) -> None:
    model = estimator().fit(X, Y)
    model.set_params(**{name: value})
    kind = InputError | VTreeError
    with pytest.raises(VTreeError, match=f"(?s){message}") as caught:
        model.fit(X, Y)
    assert isinstance(caught.value, kind)
    assert isinstance(caught.value, ValueError | TypeError)
    model.set_params(**{name: estimator().get_params()[name]})
    assert vtree.digest(model) == vtree.digest(estimator().fit(X, Y))


@pytest.mark.parametrize("device", ["cuda", "cuda:7"])
def test_a_device_that_is_not_there(device: str) -> None:
    if vtree.backends()[-1].usable:
        pytest.skip("this machine has a CUDA device")
    model = DecisionTreeClassifier().fit(X, Y)
    model.set_params(device=device)
    with pytest.raises(NotAvailableError, match="needs CuPy.*device='cpu'.*same model"):
        model.fit(X, Y)
    model.set_params(device="auto")
    assert vtree.digest(model) == vtree.digest(DecisionTreeClassifier().fit(X, Y))


def test_too_many_levels() -> None:
    model = DecisionTreeClassifier().fit(X, Y)
    names = pd.DataFrame({"name": [f"row {row}" for row in range(70_000)]})
    target = np.arange(70_000) % 2
    _refuses(model, lambda: model.fit(names, target), InputError, "'name' holds 70,000 categories")
    numbers = np.arange(70_000.0)[:, None]
    model.set_params(max_bins=None)
    _refuses(
        model,
        lambda: model.fit(numbers, target),
        InputError,
        "'column 0' has .* the limit is 65,535.*max_bins",
    )
    assert model.set_params(max_bins=255, max_depth=1).fit(numbers, target).n_features_in_ == 1


# ------------------------------------------------------------------------------ at predict time

METHODS = ["predict", "apply", "decision_path"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_rows_that_cannot_be_predicted(estimator: Any, method: str) -> None:
    model = estimator().fit(X, COUNTS)
    refused: list[tuple[Any, type[Exception], str]] = [
        (X[:, :2], InputError, f"X has 2 features, but {estimator.__name__} is expecting 3"),
        (np.c_[X, X], InputError, "X has 6 features"),
        (X[0], InputError, "2D array, got 1D"),
        (X[:0], InputError, r"0 sample\(s\)"),
        (X * 1j, InputError, "Complex"),
        (np.full((2, 3), "a"), InputError, "In training this column held numbers"),
        (np.zeros((2, 3), "M8[D]"), InputTypeError, "times"),
        (None, InputError, "2D array"),
    ]
    for table, kind, message in refused:
        _refuses(model, partial(getattr(model, method), table), kind, f"(?s){message}")


def test_names_in_another_order() -> None:
    table, y = columns()
    frame = pd.DataFrame(table)
    model = DecisionTreeClassifier().fit(frame, y)
    message = "(?s)X: The feature names should match.*same order"
    reversed_frame = frame[frame.columns[::-1]]
    _refuses(model, lambda: model.predict(reversed_frame), InputError, message, frame)
    renamed = frame.rename(columns={"size": "weight"})
    message = "(?s)unseen at fit time:\n- weight.*now missing:\n- size"
    _refuses(model, lambda: model.predict(renamed), InputError, message, frame)
    fewer = frame.drop(columns="size")
    _refuses(model, lambda: model.predict(fewer), InputError, "now missing", frame)
    strings = frame.assign(size="large")
    message = "column 'size' holds 'large'.*held numbers"
    _refuses(model, lambda: model.predict(strings), InputError, message, frame)


def test_predicting_without_names_warns_only() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = DecisionTreeClassifier().fit(frame, Y)
    with pytest.warns(UserWarning, match="valid feature names"):
        np.testing.assert_array_equal(model.predict(X), model.predict(frame))


# -------------------------------------------------------------------- what has a right answer


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_one_row(estimator: Any) -> None:
    model = estimator().fit([[1.0, np.nan]], [3])
    assert model.predict([[7.0, 8.0], [np.nan, np.nan]]).tolist() == [3, 3]
    assert (model.get_depth(), model.get_n_leaves()) == (0, 1)
    assert model.feature_importances_.tolist() == [0.0, 0.0]
    assert model.tree_.impurity.tolist() == [0.0]


def test_one_class() -> None:
    model = DecisionTreeClassifier().fit(X, ["only"] * N)
    assert set(model.predict(X)) == {"only"}
    assert model.predict_proba(X).tolist() == [[1.0]] * N
    assert model.n_classes_ == 1


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_columns_that_say_nothing(estimator: Any) -> None:
    """They change no split, whatever they hold, and cost no error."""
    plain = estimator().fit(X, Y)
    for value in (np.nan, 0.0, -0.0, 1e308, np.inf, -np.inf):
        padded = np.c_[np.full(N, value), X, np.full(N, value)]
        model = estimator().fit(padded, Y)
        assert model.feature_importances_.tolist() == [0.0, *plain.feature_importances_, 0.0]
        np.testing.assert_array_equal(model.predict(padded), plain.predict(X))
        padded[:, 0] = 5.0
        np.testing.assert_array_equal(model.predict(padded), plain.predict(X))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_nothing_but_missing_values(estimator: Any) -> None:
    nothing = np.full((N, 2), np.nan)
    model = estimator().fit(nothing, Y)
    assert model.get_n_leaves() == 1
    frame = pd.DataFrame({"gone": pd.Series([None] * N, dtype="str"), "x": X[:, 0]})
    assert estimator().fit(frame, Y).feature_importances_[0] == 0.0


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def _strided(array: NDArray[Any]) -> NDArray[Any]:
    return np.repeat(array, 2, axis=0)[::2]


MEMORY: dict[str, Callable[[NDArray[Any]], Any]] = {
    "read-only": _read_only,
    "strided": _strided,
    "backwards": lambda array: array[::-1].copy()[::-1],
    "Fortran": np.asfortranarray,
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "object": lambda array: array.astype(object),
    "list": lambda array: array.tolist(),
    "long double": lambda array: array.astype(np.longdouble) if array.dtype.kind == "f" else array,
    "sparse": lambda array: scipy.sparse.csc_array(array) if array.ndim == 2 else array,
    "pandas": lambda array: pd.DataFrame(array) if array.ndim == 2 else pd.Series(array),
    "masked": lambda array: np.ma.masked_array(array, mask=False),
    "array-api-strict": array_api_strict.asarray,
    "torch": torch.tensor,
    "torch with gradients": lambda array: (
        torch.tensor(array, requires_grad=True) if array.dtype.kind == "f" else torch.tensor(array)
    ),
}


@pytest.mark.parametrize("name", MEMORY)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_kind_of_memory(estimator: Any, name: str) -> None:
    bring = MEMORY[name]
    weight = np.arange(1.0, N + 1)
    plain = estimator().fit(X, Y, weight)
    table, y, own_weight = bring(X), bring(Y), bring(weight)
    model = estimator().fit(table, y, own_weight)
    assert vtree.digest(model) == vtree.digest(plain)
    predicted = np.asarray(model.predict(table))
    np.testing.assert_array_equal(predicted, plain.predict(X))


def test_target_and_weights_may_come_from_another_library() -> None:
    """X decides in which library the answers come."""
    weight = np.arange(1.0, N + 1)
    plain = DecisionTreeClassifier().fit(X, Y, weight)
    others = [np.asarray, torch.tensor, array_api_strict.asarray, pl.Series, pa.array, list]
    for bring in others:
        for bring_weight in others:
            model = DecisionTreeClassifier().fit(torch.tensor(X), bring(Y), bring_weight(weight))
            assert vtree.digest(model) == vtree.digest(plain)
            assert isinstance(model.predict(torch.tensor(X)), torch.Tensor)


def test_arrays_of_several_devices() -> None:
    far = array_api_strict.Device("device1")
    plain = DecisionTreeClassifier().fit(X, Y)
    there = array_api_strict.asarray(X, device=far)
    for y in (Y, array_api_strict.asarray(Y), array_api_strict.asarray(Y, device=far)):
        weight = array_api_strict.asarray(np.full(N, 2.0), device=far)
        model = DecisionTreeClassifier().fit(there, y, weight)
        assert model.predict(there).device == far
        np.testing.assert_array_equal(model.grown_.value, plain.grown_.value)
        np.testing.assert_array_equal(model.predict(X), plain.predict(X))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_weight_of_zero_is_an_absent_row(estimator: Any) -> None:
    table = X.copy()
    table[::3, 1] = np.nan
    weight = np.arange(N) % 3.0
    kept = weight > 0.0
    model = estimator().fit(table, Y, weight)
    assert vtree.digest(model) == vtree.digest(estimator().fit(table[kept], Y[kept], weight[kept]))
    repeated = np.repeat(np.arange(N), weight.astype(int))
    copies = estimator().fit(table[repeated], Y[repeated])
    np.testing.assert_array_equal(model.tree_.threshold, copies.tree_.threshold)
    np.testing.assert_array_equal(model.tree_.value, copies.tree_.value)


def test_classes_of_rows_without_weight_stay_known() -> None:
    model = DecisionTreeClassifier().fit(X, Y, (Y == 1).astype(float))
    assert model.classes_.tolist() == [0, 1]
    assert model.predict_proba(X).tolist() == [[0.0, 1.0]] * N


LABEL_KINDS: dict[str, list[Any]] = {
    "integers": [-7, 10**15],
    "floats": [-1.0, 1.0],
    "booleans": [False, True],
    "strings": ["no", "yes"],
    "empty and other strings": ["", "é 水"],
    "bytes": [b"no", b"yes"],
    "unsigned": [np.uint64(1), np.uint64(2**64 - 1)],
    "dates": [np.datetime64("2020-01-01"), np.datetime64("2021-01-01")],
}


@pytest.mark.parametrize("name", LABEL_KINDS)
def test_labels_of_any_kind(name: str) -> None:
    labels = np.array(LABEL_KINDS[name])
    model = DecisionTreeClassifier().fit(X, labels[Y])
    np.testing.assert_array_equal(model.classes_, labels)
    predicted = model.predict(X)
    assert predicted.dtype == labels.dtype
    np.testing.assert_array_equal(predicted, labels[Y])
    plain = DecisionTreeClassifier().fit(X, Y)
    assert vtree.digest(model) == vtree.digest(plain)


@pytest.mark.parametrize(
    "bring",
    [
        lambda names: pd.Series(names, dtype="category"),
        lambda names: pd.Series(names, dtype="string"),
        lambda names: np.array(names, dtype=object),
        pl.Series,
        lambda names: pl.Series(names, dtype=pl.Categorical),
        pa.array,
        list,
        tuple,
        lambda names: pd.DataFrame({"y": names}),
    ],
)
def test_strings_from_any_library(bring: Any) -> None:
    names = [["ant", "bee"][label] for label in Y]
    model = DecisionTreeClassifier().fit(X, bring(names))
    assert list(model.classes_) == ["ant", "bee"]
    assert list(model.predict(X)) == names


# Two values of one column that a tree must tell apart.
PAIRS = [
    (-1e308, 1e308),
    (-np.inf, np.inf),
    (1e308, np.inf),
    (-np.inf, -1e308),
    (0.0, 5e-324),
    (-5e-324, -0.0),
    (5e-324, 1e-323),
    (1.0, np.nextafter(1.0, 2.0)),
    (np.nextafter(1e308, 0.0), 1e308),
]


@pytest.mark.parametrize(("low", "high"), PAIRS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_neighbours_and_extremes_are_told_apart(estimator: Any, low: float, high: float) -> None:
    column = np.where(Y == 1, high, low)[:, None]
    model = estimator().fit(column, Y)
    np.testing.assert_array_equal(model.predict(column), Y)
    assert model.predict([[-np.inf], [np.inf]]).tolist() == [0, 1]
    assert model.predict([[low], [high]]).tolist() == [0, 1]


def test_minus_zero_is_zero() -> None:
    column = np.where(Y == 1, 0.0, -0.0)[:, None]
    assert DecisionTreeClassifier().fit(column, Y).get_n_leaves() == 1
    signs = np.array([-1.0, -0.0, 0.0, 1.0])[np.arange(N) % 4][:, None]
    plus = DecisionTreeRegressor().fit(np.abs(signs) * np.sign(signs), COUNTS)
    assert vtree.digest(DecisionTreeRegressor().fit(signs, COUNTS)) == vtree.digest(plus)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64", "float16"])
def test_numbers_of_every_width(dtype: str) -> None:
    whole = (np.abs(X) * 3).astype(np.int64)
    table = whole.astype(dtype)
    plain = DecisionTreeClassifier().fit(table.astype(np.float64), Y)
    assert vtree.digest(DecisionTreeClassifier().fit(table, Y)) == vtree.digest(plain)
    if dtype not in ("float16", "uint64"):
        tensor = torch.tensor(table)
        assert vtree.digest(DecisionTreeClassifier().fit(tensor, Y)) == vtree.digest(plain)


def test_huge_integers() -> None:
    column = np.array([-(2**70), 2**70], dtype=object)[Y][:, None]
    model = DecisionTreeClassifier().fit(column, Y)
    np.testing.assert_array_equal(model.predict(column), Y)


@pytest.mark.parametrize("y", [[1e144, -1e144], [5e-324, 0.0], [1e-300, 1e140], [1e308, 1e308]])
def test_targets_large_and_small(y: list[float]) -> None:
    X, _ = reals(N)
    target = np.array(y)[(X[:, 0] > 0).astype(int)]
    model = DecisionTreeRegressor().fit(X, target)
    predicted = model.predict(X)
    assert np.isfinite(predicted).all()
    np.testing.assert_allclose(predicted, target, rtol=1e-6, atol=2e-15 * max(map(abs, y)))
    assert np.isfinite(model.tree_.impurity).all()


@pytest.mark.parametrize("y", [[1e308, -1e308], [0.0, 1e150]])
@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_targets_whose_squares_are_beyond_float64(criterion: str, y: list[float]) -> None:
    target = np.array(y)[Y]
    model = DecisionTreeRegressor(criterion=criterion).fit(X, COUNTS)
    _refuses(model, lambda: model.fit(X, target), InputError, "y reaches from .* may span 3e.144")


@pytest.mark.parametrize("weight", [5e-324, 1e-300, 1e300])
def test_weights_of_any_size(weight: float) -> None:
    plain = DecisionTreeClassifier().fit(X, Y)
    model = DecisionTreeClassifier().fit(X, Y, np.full(N, weight))
    np.testing.assert_array_equal(model.tree_.threshold, plain.tree_.threshold)
    np.testing.assert_array_equal(model.tree_.value, plain.tree_.value)


def test_masked_entries_are_missing() -> None:
    masked = np.ma.masked_array(X, mask=X > 1.0)
    plain = DecisionTreeClassifier().fit(np.where(X > 1.0, np.nan, X), Y)
    assert vtree.digest(DecisionTreeClassifier().fit(masked, Y)) == vtree.digest(plain)
    np.testing.assert_array_equal(plain.predict(masked), plain.predict(masked.filled(np.nan)))
