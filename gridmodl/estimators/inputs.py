"""Read the arguments of scikit-learn's users: columns, classes, weights, seeds."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _get_feature_names,
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from gridmodl.data.columns import levels_in
from gridmodl.data.frames import Frame, Name, array_of, as_array, as_series, read_column, read_frame, table_of_batch
from gridmodl.data.numbers import is_missing, types_in
from gridmodl.data.table import name_of_target
from gridmodl.data.targets import DefaultEvent, encode_weights
from gridmodl.plugins import get_criterion
from gridmodl.terms import PROBLEMS, Criterion

ENTRIES = "Each entry of this argument must be missing, a string, a date or a number"


@dataclass
class _Names:
    """Shape and column names of a frame: all that scikit-learn needs to see."""

    shape: tuple[int, int]
    names: list[Any]

    def __dataframe__(self) -> _Names:
        return self

    def column_names(self) -> list[Any]:
        return self.names


def read_inputs(estimator: Any, X: Any, reset: bool) -> Frame:
    """Read the columns of X, in order, by the names that scikit-learn knows, else x0, x1, ...

    Columns of a frame keep their types; anything else becomes one array.
    """
    X = nw.to_native(X, pass_through=True)
    if type(X).__name__ == "RecordBatch":
        X = table_of_batch(X)
    if nw.dependencies.is_into_dataframe(X) or hasattr(X, "collect_schema"):
        frame = read_frame(X, "X")
        if frame.n_rows == 0 or not frame.columns:
            raise ValueError(
                f"X has {frame.n_rows} rows and {len(frame.columns)} columns; it needs one of each at least"
            )
        known = _get_feature_names(X)
        if known is None and all(isinstance(name, str) for name in frame.columns):
            # Polars no longer has the protocol by which scikit-learn before 1.9 finds names.
            X = _Names((frame.n_rows, len(frame.columns)), list(frame.columns))
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    else:
        X = as_array(X, "X") if isinstance(X, np.ma.MaskedArray) else X  # scikit-learn takes what is under the mask
        array = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)
        if array.dtype.kind in "US" and not hasattr(X, "dtype"):  # a list of rows: numbers beside text stay numbers
            array = check_array(X, dtype=object, ensure_all_finite=False)
        frame = read_frame(array, "X")
    names = getattr(estimator, "feature_names_in_", [f"x{i}" for i in range(len(frame.columns))])
    return frame._replace(columns=dict(zip(names, frame.columns.values(), strict=True)))


def read_labels(y: Any) -> NDArray[Any]:
    """Read y as an array of one dimension, with its values unchanged.

    Scikit-learn would make floats of nullable integers, and text of numbers in a list beside text.
    """
    if isinstance(y, str):
        raise TypeError(
            f"y must be the column of the target, one entry for each row of X, got the text {y!r}; if that is a column "
            f"of X, pass X without it and y=X[{y!r}]"
        )
    y = nw.to_native(y, pass_through=True)
    series = as_series(y)
    if isinstance(y, (list, tuple)) and len(set(map(type, y))) > 1:
        y = as_array(y, "y")
    elif series is not None:
        y = array_of(series)
    return np.asarray(column_or_1d(y, warn=True))


def labels_of_one_type(labels: NDArray[Any]) -> NDArray[Any]:
    """Convert labels stored as objects to numbers if all are; ValueError for numbers beside text. None is missing."""
    if labels.dtype.kind != "O":
        return labels
    types = types_in(labels)
    text = {kind for kind in types if issubclass(kind, (str, bytes))}
    if text and types - text:
        names = ", ".join(sorted(kind.__name__ for kind in types))
        raise ValueError(f"y mixes labels of the types {names}; give them one type: all text, or all numbers")
    numbers = labels if text else np.asarray(labels.tolist())
    return numbers if numbers.dtype.kind in "biuf" else labels


def read_classes(estimator: Any, y: Any) -> NDArray[Any]:
    """Read y as classes, with the checks and messages that scikit-learn expects; a missing class is an error."""
    estimator._target_name = name_of_target(y)
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    classes = read_labels(y)
    check_all_have_classes(classes)
    classes = labels_of_one_type(classes)
    if classes.dtype.kind == "f" and not np.all(np.isfinite(classes)):
        raise ValueError("Input y contains infinity; a class is a string, a whole number or a boolean")
    check_classification_targets(classes)
    return classes


def check_all_have_classes(classes: NDArray[Any]) -> None:
    """Raise ValueError if a class is missing."""
    n_missing = np.count_nonzero(is_missing(classes))
    if n_missing:
        raise ValueError(f"Input y contains NaN or None: {n_missing} of {len(classes)} rows have no class; drop them")


class TrainingData(NamedTuple):
    """Arguments of `fit` of a classifier."""

    inputs: Frame
    classes: NDArray[Any]
    weights: NDArray[np.int64] | None


def read_training(estimator: Any, X: Any, y: Any, sample_weight: Any) -> TrainingData:
    """Read columns of any kind, the class of each row, and the weights of the rows."""
    estimator._policy  # noqa: B018  checked before all work
    inputs = read_inputs(estimator, X, reset=True)
    classes = read_classes(estimator, y)
    check_consistent_length(X, classes)
    return TrainingData(inputs, classes, read_weights(sample_weight, inputs.n_rows))


def read_target(estimator: Any, y: Any, target_kind: str | None, has_mark: bool) -> NDArray[Any]:
    """Read y as `target_kind` says; None: as classes that scikit-learn checks.

    With `has_mark`, a value of y marks rows without a class, and scikit-learn does not check y. Models that
    the estimator keeps have the name of y.
    """
    estimator._target_name = name_of_target(y)
    if target_kind is not None and PROBLEMS[target_kind].target_is_numerical:
        quantities = read_labels(y)
        if quantities.dtype.kind == "O" and any(issubclass(kind, (str, bytes)) for kind in types_in(quantities)):
            raise ValueError("y holds text, and target_kind='numerical' takes numbers")
        return np.asarray(check_array(quantities, ensure_2d=False, dtype="numeric", input_name="y"))
    if target_kind is not None or has_mark:
        return read_labels(y)
    try:
        return read_classes(estimator, y)
    except ValueError as error:
        if "continuous" not in str(error):
            raise
        raise ValueError(
            f"{error} target_kind='numerical' takes real numbers as they are, 'classes' as names of classes"
        ) from error


def read_event(y: Any, event: Any, mark: Any) -> Any:
    """The event: that of the user, or by default the last class of an ordered categorical y; None for the last sorted.

    Labels are read into arrays, which have no order. Rows that hold `mark` have no class.
    """
    raw = as_series(nw.to_native(y, pass_through=True))
    if event is not None or raw is None:
        return event
    order = levels_in(raw) or ()
    found = set(raw.unique().to_list()) - {mark} if order else set()
    classes = [name for name in order if name in found]
    return DefaultEvent(classes[-1]) if len(classes) > 1 else None


def read_weights(sample_weight: Any, n_rows: int) -> NDArray[np.int64] | None:
    """Read the weight of each row, a whole number; ValueError if all weights are 0."""
    if sample_weight is None:
        return None
    weights = encode_weights(read_column(sample_weight, "sample_weight"), n_rows, "sample_weight")
    if not np.any(weights):
        raise ValueError("every row has a sample_weight of zero: there is nothing to learn from")
    return weights


def read_criterion(criterion: Any, options: Any) -> str | Criterion:
    """The criterion, built with `options` if there are any."""
    if options is not None and not isinstance(options, Mapping):
        only = "; GridDiscretizer alone takes 'auto'" if isinstance(options, str) and options == "auto" else ""
        raise TypeError(f"criterion_options must be a dict of options by name, got {options!r}{only}")
    if not options:
        return criterion
    if not isinstance(criterion, str):
        raise TypeError(f"criterion_options need the name of a criterion; {criterion!r} already has its options")
    return get_criterion(criterion, **options)


def refuse_column(name: Name, error: Exception) -> None:
    """Raise the error of a column again, with the name of the column: no estimator drops a column silently."""
    text = str(error) if repr(name) in str(error) else f"column {name!r}: {error}"
    if isinstance(error, TypeError):
        raise TypeError(f"{text}. {ENTRIES}") from error
    raise ValueError(text) from error


def report_stop(estimator: Any, stopped: str | None) -> None:
    """Raise after Ctrl-C, so that a grid search does not try its next candidate; warn if the time limit was reached."""
    if stopped == "interrupted":
        raise KeyboardInterrupt
    if stopped is not None:
        warnings.warn(
            f"{type(estimator).__name__} was stopped by time_limit={estimator.time_limit!r} before its search ended; "
            "the best result so far is kept",
            ConvergenceWarning,
            stacklevel=3,
        )


def read_seed(random_state: Any) -> Any:
    """The seed; drawn from `random_state` if that is a generator of random numbers."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state.integers(2**31 - 1)) if isinstance(random_state, np.random.Generator) else random_state


@contextmanager
def reading_columns() -> Iterator[None]:
    """Add to a TypeError of a column which entries are allowed, in the words that scikit-learn's checks look for."""
    try:
        yield
    except TypeError as error:
        if not str(error).startswith("column "):
            raise
        raise TypeError(f"{error}. {ENTRIES}") from error
