"""Coclustering of the rows and columns of a matrix."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from sklearn.base import BiclusterMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from gridmodl.analysis.hierarchy import Hierarchy
from gridmodl.analysis.new_values import groups_of_new
from gridmodl.data.frames import ARRAYS, EXACT_FLOAT, NAMES, Name, read_entries
from gridmodl.estimators.base import EstimatorBase, estimator
from gridmodl.estimators.inputs import read_inputs, report_stop
from gridmodl.model.model import Model
from gridmodl.pipeline import optimize
from gridmodl.plugins import criterion_for
from gridmodl.spelling import check_choice

ROW, COLUMN = NAMES
NO_ENTRIES = -1  # the label of a row or column without entries
COUNTS = ("binary", "frequency")


@estimator
class CoclusteringBase(EstimatorBase):
    """Estimator that coclusters the entries of a matrix."""

    counts: str = "binary"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.counts == "frequency"
        return tags


@estimator
class GridCoclustering(BiclusterMixin, CoclusteringBase):  # type: ignore[misc]
    """Cocluster the rows and columns of a matrix: groups of rows and of columns that occur together.

    Every entry that is not zero says that its row and its column occur together. The groups are those of the joint grid
    of rows and columns that describes all entries at the lowest cost. The numbers of groups are found too; if rows and
    columns are independent, there is one group of each. See `gridmodl.optimize`.

    Parameters
    ----------
    %(criterion)s
        It must price data without a target.
    %(criterion_options)s
    search : {"auto", "vns", "merge"} or Search, default="auto"
        How the grid is searched, see `gridmodl.optimize`; ``gridmodl.Search(effort=...)`` says for how long.
    %(counts)s
    %(max_groups)s
        See also `coarsen`.
    %(time_limit)s
    %(random_state)s
    %(n_jobs)s

    Attributes
    ----------
    model_ : Model
        The joint grid of the variables ``"row"`` and ``"column"``, whose values are the numbers of rows and columns:
        its cost, level, cells, and most typical rows and columns. Groups with the most entries come first.
    row_labels_ : ndarray of shape (n,)
        The group of each row; -1 for a row without entries, which is in no group, like noise in scikit-learn's
        clusterers.
    column_labels_ : ndarray of shape (k,)
        The group of each column, -1 for one without entries.
    n_row_clusters_ : int
        The number of groups of rows.
    n_column_clusters_ : int
        The number of groups of columns.
    rows_ : ndarray of shape (number of biclusters, n)
        Whether each row is in each bicluster; bicluster ``i`` is made of row group ``i // n_column_clusters_`` and
        column group ``i % n_column_clusters_``. Computed at each access, which may take much memory; `get_indices`,
        `get_shape` and `get_submatrix` do not need it.
    columns_ : ndarray of shape (number of biclusters, k)
        Whether each column is in each bicluster.
    criterion_ : Criterion
        The criterion with its options.
    %(features_in)s

    See Also
    --------
    gridmodl.optimize : Joint grids of two or more columns of any kind, without scikit-learn.
    CoclusteringClassifier : Classes of the rows from their groups.

    References
    ----------
    M. Boullé, "Data grid models for preparation and modeling in supervised learning", 2011, 4.2 and 7.4.

    Examples
    --------
    >>> import numpy as np
    >>> from gridmodl.estimators import GridCoclustering
    >>> X = np.kron(np.eye(2, dtype=int), np.ones((4, 3), dtype=int))
    >>> coclustering = GridCoclustering().fit(X)
    >>> coclustering.row_labels_
    array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> coclustering.column_labels_
    array([0, 0, 0, 1, 1, 1])
    >>> coclustering.predict([[0, 0, 0, 1, 0, 1], [1, 0, 0, 0, 0, 0]])
    array([1, 0])
    >>> coclustering.typical_columns(n=2)
    [array([0, 1]), array([3, 4])]
    """

    def fit(self, X: Any, y: Any = None) -> GridCoclustering:
        """Find the groups of rows and of columns.

        Parameters
        ----------
        %(matrix)s
        y : None
            Ignored.

        Returns
        -------
        self
        """
        check_counts(self.counts)
        options = self._options()
        options["criterion"] = criterion_for(options["criterion"], "joint")
        matrix = read_matrix(self, X, self.counts, reset=True)
        if len(matrix.row) == 0:
            n, k = matrix.shape
            raise ValueError(f"all entries of X, {n} rows by {k} columns, are 0: there is nothing to group")
        model = optimize(matrix.as_sparse(), **options)
        report_stop(self, model.stopped)
        self.criterion_ = options["criterion"]
        self._set_model(replace(model, _source=None, frame=ARRAYS), matrix.shape)
        return self

    def _set_model(self, model: Model, shape: tuple[int, int]) -> None:
        self.model_ = model
        self.row_labels_, self.column_labels_ = (
            np.asarray(model.part_of(name, np.arange(n), "neutral")) for name, n in zip(NAMES, shape, strict=True)
        )

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The most likely group of rows for each row of X.

        Each row is added to the data of `fit` alone, and joins the group for which the grid then costs least; so its
        group does not depend on other rows of X. For a row that was in `fit`, the group can differ from
        ``row_labels_``: the row is priced as if it came a second time, and a search may have left it elsewhere.

        Parameters
        ----------
        %(matrix_again)s
            Columns without entries in `fit` are ignored.

        Returns
        -------
        ndarray of shape (n,)
            Labels as in ``row_labels_``; -1 for a row without entries in the columns that had some in `fit`.
        """
        check_is_fitted(self, "model_")
        matrix = read_matrix(self, X, self.counts, reset=False)
        part = self.column_labels_[matrix.column]
        is_known = part != NO_ENTRIES
        first = np.searchsorted(matrix.row[is_known], np.arange(matrix.shape[0] + 1))
        return groups_of_new(self.model_, self.criterion_, ROW, first, part[is_known], matrix.rows[is_known])

    def typical_columns(self, n: int = 5) -> list[NDArray[Any]]:
        """The `n` most typical columns of each group, the most typical first, by name if they have names.

        The most typical column of a group is the one that would cost most to move to another group.
        """
        check_is_fitted(self, "model_")
        names = getattr(self, "feature_names_in_", np.arange(len(self.column_labels_)))
        return [names[list(group)] for group in self.model_.typical_values(COLUMN, n)]

    def typical_rows(self, n: int = 5) -> list[NDArray[Any]]:
        """The numbers of the `n` most typical rows of each group, the most typical first."""
        check_is_fitted(self, "model_")
        return [np.array(group) for group in self.model_.typical_values(ROW, n)]

    def hierarchy(self) -> Hierarchy:
        """The merges of groups from the grid to a single cell, the cheapest first; see `Model.hierarchy`."""
        check_is_fitted(self, "model_")
        return self.model_.hierarchy()

    def coarsen(
        self,
        max_cells: int | None = None,
        max_parts: int | Mapping[Name, int] | None = None,
        information: float | None = None,
    ) -> GridCoclustering:
        """The coclustering with fewer groups, by the cheapest merges of its groups; see `Model.coarsen`.

        Parameters
        ----------
        max_cells : int, optional
            Largest number of biclusters.
        max_parts : int or dict of str to int, optional
            Largest number of groups of rows and of groups of columns, or of those named: ``{"row": 10}``.
        information : float, optional
            Smallest share, from 0 to 1, of what the grid saves against a single cell.

        Returns
        -------
        GridCoclustering
            A new fitted estimator; this one stays unchanged.
        """
        check_is_fitted(self, "model_")
        coarse = copy.copy(self)
        shape = len(self.row_labels_), len(self.column_labels_)
        coarse._set_model(self.model_.coarsen(max_cells, max_parts, information), shape)
        return coarse

    @property
    def n_row_clusters_(self) -> int:
        """The number of groups of rows."""
        check_is_fitted(self, "model_")
        return self.model_.partitions[ROW].n_parts

    @property
    def n_column_clusters_(self) -> int:
        """The number of groups of columns."""
        check_is_fitted(self, "model_")
        return self.model_.partitions[COLUMN].n_parts

    @property
    def rows_(self) -> NDArray[np.bool_]:
        """Whether each row is in each bicluster."""
        is_in = self.row_labels_ == np.arange(self.n_row_clusters_)[:, None]
        return np.repeat(is_in, self.n_column_clusters_, axis=0)

    @property
    def columns_(self) -> NDArray[np.bool_]:
        """Whether each column is in each bicluster."""
        is_in = self.column_labels_ == np.arange(self.n_column_clusters_)[:, None]
        return np.tile(is_in, (self.n_row_clusters_, 1))

    def get_indices(self, i: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of the rows and of the columns of bicluster `i`.

        Parameters
        ----------
        i : int
            From 0 to ``n_row_clusters_ * n_column_clusters_ - 1``.

        Returns
        -------
        tuple of two ndarrays
        """
        check_is_fitted(self, "model_")
        n = self.n_row_clusters_ * self.n_column_clusters_
        if not isinstance(i, (int, np.integer)) or not 0 <= i < n:
            raise IndexError(f"i must be the number of a bicluster, from 0 to {n - 1}, got {i!r}")
        row, column = divmod(int(i), self.n_column_clusters_)
        return np.flatnonzero(self.row_labels_ == row), np.flatnonzero(self.column_labels_ == column)


class Matrix(NamedTuple):
    """The entries of a matrix that are not zero, row by row."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    rows: NDArray[np.int64]  # rows that each entry counts as
    shape: tuple[int, int]

    def as_sparse(self) -> Any:
        """The matrix in the form that `gridmodl.optimize` takes."""
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
            f"{what}, such as {values[is_wrong].min()}: counts='frequency' takes whole numbers of 0 or more, and "
            "counts an entry n as n rows; counts='binary' counts every entry other than 0 once"
        )
    if float(values.sum(dtype=np.float64)) >= EXACT_FLOAT:
        raise ValueError(f"the entries of X sum to more than {EXACT_FLOAT}; scale them down")
