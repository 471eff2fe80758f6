"""Going on from trees that there are: `warm_start`, saved models, and checkpoints.

A checkpoint is a model file (`vtree.load` reads it) with one more entry in its header,
"checkpoint": fingerprints of what the run is fitted to, and what its rounds told so far. The raw
predictions are not in it: trees say them again, to the bit.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from vtree import arrays
from vtree.arrays import Array
from vtree.ensembles.training import Training
from vtree.errors import InputError, InputTypeError
from vtree.estimators.boosting_metrics import unwrapped
from vtree.estimators.early_stopping import EvalSet, Watch
from vtree.estimators.persistence import header_of
from vtree.interop.json_values import encode, to_text
from vtree.interop.model_file import read_model, write_model
from vtree.tables import Schema
from vtree.tables.columns import place_of
from vtree.tree import Tree, fingerprint, joined

Floats = NDArray[np.float64]

# What may be another in the run that goes on: none of it changes a round.
_FREE = frozenset(("n_estimators", "n_jobs", "device", "verbose", "histogram_budget"))

# Parameters that may be functions, and what a file says instead.
_OF_FUNCTIONS = {"objective": "squared_error", "eval_metric": None}


class Rounds(NamedTuple):
    """What rounds of boosting start from."""

    training: Training
    start: Floats  # (K,) or (N, K) the raw predictions before all trees
    sums: Array  # (N, K) what `before` says of the training rows; the rounds to come add to it
    watch: Watch
    before: Tree | None  # trees of earlier rounds
    scores: list[float]  # the mean loss after each of them, where it is kept
    checkpoint: Checkpoint | None


class Checkpoint:
    """A file that holds a run as it was after its latest `every` rounds.

    Raises
    ------
    InputError, InputTypeError
        A path that is none, `every` < 1, or parameters that a file cannot hold.
    """

    def __init__(self, model: Any, path: Any, every: Any) -> None:
        if not isinstance(path, str | os.PathLike):
            raise InputTypeError(f"checkpoint={path!r} is no path; pass that of a file, or None")
        if not isinstance(every, int | np.integer) or isinstance(every, bool) or every < 1:
            raise InputError(f"checkpoint_every={every!r} is no number of rounds from 1 up")
        self.path = path
        self.every = int(every)
        # Of functions a file holds the names alone.
        self._parameters, self._functions = _without_functions(model.get_params(deep=False))
        self._own = {**_bound(self._parameters), **self._functions}
        self._data: dict[str, str] = {}

    def resume(
        self,
        model: Any,
        training: Training,
        watch: Watch,
        before: Tree | None,
        scores: list[float],
    ) -> tuple[Tree | None, list[float]]:
        """Return (trees, mean losses) of the rounds in the file, and tell `watch` of them.

        Without a file they are those there were `before`.

        Raises
        ------
        InputError
            A file that is no checkpoint, or is one of another run: data, parameters, rounds.
        ModelFileError
            A damaged file.
        """
        self._data = _fingerprints(training, watch.sets, before)
        if not os.path.exists(self.path):  # noqa: PTH110
            _check_folder(self.path)
            return before, scores
        header, tree, extra = read_model(self.path)
        saved = header.get("checkpoint")
        if saved is None or header["estimator"] != type(model).__name__:
            raise InputError(
                f"checkpoint: {str(self.path)!r} holds a {header['estimator']} that is no "
                f"checkpoint of a {type(model).__name__}. Pass another path."
            )
        self._check(saved, header["parameters"])
        if saved["rounds"] > model._rounds_wanted():
            raise InputError(
                f"checkpoint: {str(self.path)!r} holds {saved['rounds']} rounds, more than "
                f"n_estimators={model.n_estimators}. Ask for more rounds, or pass another path."
            )
        model.grown_ = tree
        model._take_saved(header, extra)
        watch.go_on(saved["watch"])
        return tree, list(saved["scores"])

    def _check(self, saved: dict[str, Any], parameters: dict[str, Any]) -> None:
        """Raise InputError for a checkpoint of another run."""
        other = [name for name, own in self._data.items() if saved["data"].get(name) != own]
        if other:
            raise InputError(
                f"checkpoint: {str(self.path)!r} is a checkpoint of other data: "
                f"{', '.join(other)} changed since. Go on with what it was written for, or pass "
                "another path, or delete the file to start anew."
            )
        theirs = {**_bound(parameters), **saved.get("functions", {})}
        changed = [name for name, own in self._own.items() if theirs.get(name) != own]
        if changed:
            raise InputError(
                f"checkpoint: {str(self.path)!r} is a checkpoint of a run with other parameters: "
                f"{', '.join(changed)}. Only {', '.join(sorted(_FREE))} may change; pass another "
                "path, or delete the file to start anew."
            )

    def keep(
        self, model: Any, trees: list[Tree], n_rounds: int, watch: Watch, scores: list[float]
    ) -> None:
        """Write the file if it is time to."""
        if n_rounds % self.every:
            return
        own = {
            "data": self._data,
            "rounds": n_rounds,
            "watch": watch.so_far(),
            "scores": scores,
            "functions": self._functions,
        }
        header, extra = header_of(model, self._parameters)
        trees[:] = [joined(trees)]  # once: later ones join less
        write_model(self.path, {**header, "checkpoint": own}, trees[0], extra)


def _check_folder(path: str | os.PathLike[str]) -> None:
    """Raise InputError if no file can be written there: before any work that would be lost."""
    folder = Path(path).parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(
            f"checkpoint: nothing can be written at {str(path)!r}, for {str(folder)!r} is no "
            "folder that is there and may be written to. Make it, or pass another path."
        )


def set_loss(model: Any, before: Tree | None) -> None:
    """Let a model's parameters say what its loss is; trees to go on `before` keep their link.

    Raises
    ------
    InputError
        If these trees' raw predictions would mean something else to the loss that is set now.
    """
    earlier = None if before is None else model._loss()
    model._fitted_loss = None
    if earlier is None:
        return
    raw = np.linspace(-2.0, 2.0, 7)[:, None] + np.arange(float(model.start_.size))
    pair = [loss.link(raw) for loss in (earlier, model._loss())]
    if pair[0].shape != pair[1].shape or not np.array_equal(*pair):
        raise InputError(
            f"{' and '.join(model._of_loss)} are of another loss than the trees that there are "
            "(warm_start=True) were grown for: raw predictions mean something else to it (the "
            "logarithm of the mean, say). Set them back, or set warm_start=False."
        )


def check_same_classes(model: Any, earlier: Any) -> None:
    """Raise InputError if rows that trees shall go on with have other classes than theirs."""
    if not is_classifier(model):
        return
    own, known = (
        [each.tolist() for each in classes] if isinstance(classes, list) else classes.tolist()
        for classes in (model.classes_, earlier)
    )
    if own != known:
        raise InputError(
            f"y holds the classes {own}, but the trees that there are (warm_start=True) know "
            f"{known}. Pass rows of all of these classes and no others, or set warm_start=False."
        )


def check_same_table(model: Any, earlier: Schema, earlier_outputs: int) -> None:
    """Raise InputError if a table that trees shall go on with has other columns than theirs.

    model: that read the table. Columns without names may go on from some with.
    """
    own, outputs = model.schema_, model.n_outputs_
    if outputs != earlier_outputs:
        raise InputError(
            f"y has {outputs} columns, but the trees that there are (warm_start=True) answer "
            f"{earlier_outputs}. Pass as many, or set warm_start=False."
        )
    unnamed = own.names is None or earlier.names is None
    if len(own.levels) != len(earlier.levels) or not (unnamed or own.names == earlier.names):
        raise InputError(
            f"X has the columns {_columns(own)}, but the trees that there are (warm_start=True) "
            f"know {_columns(earlier)}. Pass the same ones, or set warm_start=False."
        )
    for place, pair in enumerate(zip(own.levels, earlier.levels, strict=True)):
        one, other = (None if each is None else each.tolist() for each in pair)
        if one != other:
            raise InputError(
                f"X: {place_of(place, own.names)} has other categories than the trees that there "
                "are (warm_start=True) know. Pass rows with all of theirs and no others, or set "
                "warm_start=False."
            )


def _columns(schema: Schema) -> str:
    return str(len(schema.levels)) if schema.names is None else str(list(schema.names))


def _without_functions(parameters: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return parameters with the loss's default in place of functions, and these functions' names.

    What trees predict does not depend on them: a model read from the file goes on predicting.
    """
    plain, functions = dict(parameters), {}
    for name, value in parameters.items():
        several = value if isinstance(value, list | tuple) else [value]
        if name in _OF_FUNCTIONS and any(callable(own) for own in several):
            plain[name] = _OF_FUNCTIONS[name]
            functions[name] = ", ".join(
                _name_of(own) if callable(own) else str(own) for own in several
            )
    return plain, functions


def _name_of(function: Any) -> str:
    inner = unwrapped(function)
    inner = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{inner.__module__}.{inner.__qualname__}"


def _bound(parameters: dict[str, Any]) -> dict[str, str]:
    """Return the text of each parameter that a run is bound to."""
    return {
        name: to_text(encode(value, f"checkpoint: parameter {name}"))
        for name, value in parameters.items()
        if name not in _FREE
    }


def _fingerprints(training: Training, sets: list[EvalSet], before: Tree | None) -> dict[str, str]:
    """Return what tells the data of one run from another's, by argument of `fit`."""
    values, weights = training.values, training.weights
    numbers = [weights.unit, weights.n_rows, weights.total]
    own = [] if weights.whole is None else [weights.whole]
    return {
        "X": _digest(values[:, feature] for feature in range(values.shape[1])),
        "y": _digest([training.y]),
        "sample_weight": _digest([np.asarray(numbers, dtype=np.float64), *own]),
        "eval_set": _digest(_parts(sets)),
        "the trees to go on from": "" if before is None else fingerprint(before),
    }


def _parts(sets: list[EvalSet]) -> Iterator[Any]:
    for each in sets:
        yield from (each.values, each.y)
        if each.weight is not None:
            yield each.weight


def _digest(parts: Iterable[Any]) -> str:
    """Return the SHA-256 of arrays: shapes, kinds of numbers, and numbers."""
    found = hashlib.sha256()
    for part in parts:
        own = np.ascontiguousarray(arrays.to_numpy(part))
        if own.dtype.kind == "f":
            own = own.astype(np.float64) + 0.0
        found.update(f"{own.dtype.kind}{own.shape}".encode())
        found.update(own.view(np.uint8).data if own.size else b"")
    return found.hexdigest()
