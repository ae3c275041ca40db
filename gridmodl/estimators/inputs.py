"""What scikit-learn's users pass to an estimator, as columns, classes and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _get_feature_names, check_array, column_or_1d, validate_data

from gridmodl.frames import Frame, as_array, read_column, read_frame, table_of_batch
from gridmodl.missing import is_missing
from gridmodl.targets import encode_weights


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
    check_classification_targets(classes)
    return classes


def read_weights(sample_weight: Any, n_rows: int) -> NDArray[np.int64] | None:
    if sample_weight is None:
        return None
    weights = encode_weights(read_column(sample_weight, "sample_weight"), n_rows)
    if not np.any(weights):
        raise ValueError("every row has a sample_weight of zero: there is nothing to learn from")
    return weights
