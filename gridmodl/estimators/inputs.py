"""What scikit-learn's users pass to an estimator, as columns, classes and weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _get_feature_names, check_array, column_or_1d, validate_data

from gridmodl.frames import Frame, Name, as_array, read_column, read_frame, table_of_batch
from gridmodl.missing import is_missing
from gridmodl.plugins import get_criterion
from gridmodl.targets import TARGET_KINDS, encode_weights
from gridmodl.terms import Criterion

ENTRIES = "Each entry of this argument must be missing, a string, a date or a number"


@dataclass
class _Names:
    """What scikit-learn must see of a frame: its shape and its names."""

    shape: tuple[int, int]
    names: list[Any]

    def __dataframe__(self) -> _Names:
        return self

    def column_names(self) -> list[Any]:
        return self.names


def read_inputs(estimator: Any, X: Any, reset: bool) -> Frame:
    """The columns of X, in order, by the names that scikit-learn knows them by, else x0, x1, ...

    Those of a frame stay as they are, with their types; anything else becomes one array.
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


def read_classes(estimator: Any, y: Any) -> NDArray[Any]:
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    classes = column_or_1d(y, warn=True)
    n_missing = np.count_nonzero(is_missing(classes))
    if n_missing:
        raise ValueError(f"Input y contains NaN or None: {n_missing} of {len(classes)} rows have no class; drop them")
    if classes.dtype.kind == "f" and not np.all(np.isfinite(classes)):
        raise ValueError("Input y contains infinity; a class is a string, a whole number or a boolean")
    check_classification_targets(classes)
    return classes


def check_target_kind(target_kind: Any) -> None:
    if target_kind is not None and target_kind not in TARGET_KINDS:
        allowed = ", ".join(map(repr, TARGET_KINDS))
        raise ValueError(f"target_kind must be None or one of {allowed}, got {target_kind!r}")


def read_target(estimator: Any, y: Any, target_kind: str | None, has_mark: bool) -> NDArray[Any]:
    """What the kind of target says that y is; classes are scikit-learn's where nothing is said.

    `has_mark`: some value of y marks rows without a class, so that what y holds besides is not scikit-learn's to judge.
    """
    if target_kind == "numerical":
        quantities = column_or_1d(y, warn=True)
        return np.asarray(check_array(quantities, ensure_2d=False, dtype="numeric", input_name="y"))
    if target_kind is not None or has_mark:
        return np.asarray(column_or_1d(y, warn=True))
    try:
        return read_classes(estimator, y)
    except ValueError as error:
        if "continuous" not in str(error):
            raise
        raise ValueError(
            f"{error} target_kind='numerical' takes real numbers as they are, 'classes' as names of classes"
        ) from error


def read_weights(sample_weight: Any, n_rows: int) -> NDArray[np.int64] | None:
    if sample_weight is None:
        return None
    weights = encode_weights(read_column(sample_weight, "sample_weight"), n_rows)
    if not np.any(weights):
        raise ValueError("every row has a sample_weight of zero: there is nothing to learn from")
    return weights


def read_criterion(criterion: Any, options: Any) -> str | Criterion:
    """The criterion with its options, where these are given apart."""
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"criterion_options must be a dict of options by name, got {options!r}")
    if not options:
        return criterion
    if not isinstance(criterion, str):
        raise TypeError(f"criterion_options are for a criterion that is named; {criterion!r} has its options already")
    return get_criterion(criterion, **options)


def refuse_column(name: Name, error: Exception) -> None:
    """No estimator drops a column silently."""
    text = str(error) if repr(name) in str(error) else f"column {name!r}: {error}"
    if isinstance(error, TypeError):
        raise TypeError(f"{text}. {ENTRIES}") from error
    raise ValueError(text) from error


@contextmanager
def reading_columns() -> Iterator[None]:
    """Say of a column that cannot be read what it may hold, as scikit-learn wants it said."""
    try:
        yield
    except TypeError as error:
        if not str(error).startswith("column "):
            raise
        raise TypeError(f"{error}. {ENTRIES}") from error
