"""What scikit-learn's users pass as a matrix whose rows and columns are coclustered: as its entries."""

from __future__ import annotations

from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from sklearn.utils.validation import check_array, validate_data

from gridmodl.estimators.inputs import read_inputs
from gridmodl.matrix import EXACT_FLOAT, read_entries
from gridmodl.spelling import check_choice

COUNTS = ("binary", "frequency")


class Matrix(NamedTuple):
    """The entries of a matrix that are not zero, row by row."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    rows: NDArray[np.int64]  # how often each counts
    shape: tuple[int, int]

    def as_sparse(self) -> Any:
        """What `gridmodl.optimize` takes."""
        return coo_array((self.rows, (self.row, self.column)), shape=self.shape)


def check_counts(counts: Any) -> None:
    check_choice("counts", counts, COUNTS)


def read_matrix(estimator: Any, X: Any, counts: str, reset: bool) -> Matrix:
    """The entries of X, a matrix of numbers: an array, a sparse matrix of any format or a frame."""
    found = _read_numbers(estimator, X, reset)
    row, column, values = read_entries(found if hasattr(found, "tocoo") else coo_array(found), "X")
    if counts == "binary":
        rows = np.ones(len(values), dtype=np.int64)
    else:
        _check_frequencies(values)
        rows = values.astype(np.int64)
    return Matrix(row.astype(np.int64), column.astype(np.int64), rows, found.shape)


def _read_numbers(estimator: Any, X: Any, reset: bool) -> Any:
    """X as scikit-learn checks it: two dimensions, numbers, none missing or infinite."""
    X = nw.to_native(X, pass_through=True)
    is_frame = nw.dependencies.is_into_dataframe(X) and not nw.dependencies.is_pandas_dataframe(X)
    if is_frame or hasattr(X, "collect_schema"):  # pandas' own, which may be sparse, scikit-learn reads itself
        columns = read_inputs(estimator, X, reset).columns.values()
        return check_array(np.column_stack([np.asarray(column) for column in columns]), input_name="X")
    return validate_data(estimator, X, reset=reset, accept_sparse=["csr", "csc", "coo"])


def _check_frequencies(values: NDArray[Any]) -> None:
    is_wrong = (values < 0) | (values != np.floor(values))
    if np.any(is_wrong):
        what = "Negative values in data" if np.any(values < 0) else "Fractions in data"
        raise ValueError(
            f"{what}, such as {values[is_wrong].min()}: counts='frequency' takes whole numbers of 0 or more, an entry "
            "of n as n rows; counts='binary' takes every entry other than 0 as present, once"
        )
    if float(values.sum(dtype=np.float64)) >= EXACT_FLOAT:
        raise ValueError(f"the entries of X sum to more than {EXACT_FLOAT}; scale them down")
