"""Rows and columns of a matrix in groups that explain each other."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from sklearn.base import BaseEstimator, BiclusterMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from gridmodl.analysis.hierarchy import Hierarchy
from gridmodl.analysis.new_values import groups_of_new
from gridmodl.data.frames import ARRAYS, EXACT_FLOAT, NAMES, Name, read_entries
from gridmodl.estimators.inputs import NotebookMixin, heed_stop, read_criterion, read_inputs, read_seed
from gridmodl.model.model import Model
from gridmodl.pipeline import optimize
from gridmodl.plugins import criterion_for
from gridmodl.search import Search
from gridmodl.spelling import check_choice
from gridmodl.terms import Criterion

ROW, COLUMN = NAMES
NO_ENTRIES = -1  # the label of a row or column without entries
COUNTS = ("binary", "frequency")


class GridCoclustering(NotebookMixin, BiclusterMixin, BaseEstimator):  # type: ignore[misc]
    """Cocluster the rows and columns of a matrix: groups of rows and of columns that occur together.

    Every entry that is not zero says that its row and its column occur together. The groups are those of the joint grid
    of rows and columns that describes all entries at the lowest cost. Their numbers are found with them, so there are
    none to choose; where the entries tell nothing, there is one group of each. See `gridmodl.optimize`.

    Parameters
    ----------
    criterion : str or Criterion, default="modl"
        What the best grid is: a name out of `gridmodl.list_criteria` that prices data without a target, or a criterion.
    criterion_options : dict, optional
        Options of the criterion that is named, as `gridmodl.get_criterion` takes them.
    search : {"auto", "vns", "merge"} or Search, default="auto"
        How the grid is searched, see `gridmodl.optimize`; ``gridmodl.Search(effort=...)`` says for how long.
    counts : {"binary", "frequency"}, default="binary"
        What an entry is: with ``"binary"`` any other than 0 is present, once, so a matrix without zeros is one group;
        with ``"frequency"`` one of n, which must be a whole number of 0 or more, counts n times.
    max_parts : int, optional
        Largest number of groups of rows, and of groups of columns. See also `coarsen`.
    time_limit : float, optional
        Seconds, after which the best grid so far is kept.
    random_state : int, optional
        Seed of the search, 0 by default; None draws a fresh one.
    n_jobs : int, optional
        Threads of those searches that use several; None means 1, and -1 one per core.

    Attributes
    ----------
    model_ : Model
        The joint grid of the variables ``"row"`` and ``"column"``, whose values are the numbers of rows and columns:
        its cost, level, cells, most typical rows and columns. Groups with most entries come first.
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
        column group ``i % n_column_clusters_``. Made when asked for, which may take much memory: `get_indices`,
        `get_shape` and `get_submatrix` do without.
    columns_ : ndarray of shape (number of biclusters, k)
        Whether each column is in each bicluster.
    criterion_ : Criterion
        The criterion with its options.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray
        Their names, if the data had names that are strings.

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

    def __init__(
        self,
        *,
        criterion: str | Criterion = "modl",
        criterion_options: Mapping[str, Any] | None = None,
        search: str | Search = "auto",
        counts: str = "binary",
        max_parts: int | None = None,
        time_limit: float | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.criterion_options = criterion_options
        self.search = search
        self.counts = counts
        self.max_parts = max_parts
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> GridCoclustering:
        """Find the groups of rows and of columns.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n, k)
            Numbers, of which none may be missing. A sparse matrix of any format is never made dense.
        y : None
            Not looked at.

        Returns
        -------
        GridCoclustering
            This one.
        """
        check_counts(self.counts)
        criterion = criterion_for(read_criterion(self.criterion, self.criterion_options), "joint")
        matrix = read_matrix(self, X, self.counts, reset=True)
        if len(matrix.row) == 0:
            n, k = matrix.shape
            raise ValueError(f"all entries of X, {n} rows by {k} columns, are 0: there is nothing to make groups of")
        model = optimize(
            matrix.as_sparse(),
            criterion=criterion,
            search=self.search,
            max_parts=self.max_parts,
            time_limit=self.time_limit,
            random_state=read_seed(self.random_state),
            n_jobs=1 if self.n_jobs is None else self.n_jobs,
        )
        heed_stop(self, model.stopped)
        self.criterion_ = criterion
        self._take(replace(model, _source=None, frame=ARRAYS), matrix.shape)
        return self

    def _take(self, model: Model, shape: tuple[int, int]) -> None:
        self.model_ = model
        self.row_labels_, self.column_labels_ = (
            np.asarray(model.part_of(name, np.arange(n), NO_ENTRIES)) for name, n in zip(NAMES, shape, strict=True)
        )

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The group of rows that each row of X belongs to, most likely.

        A row joins the group where the grid then costs least: that of the data with this row, and no other of X, added.
        So what it says of a row is the same whatever other rows there are. For a row that was in `fit` it can differ
        from ``row_labels_``, as it is priced as if it came a second time, and as a search may leave a row elsewhere.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n, k)
            The same columns as in `fit`. Those that had no entries there are not looked at.

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
        """For each group of columns its `n` most typical ones, the most typical first, by name if they have names.

        Typical of a group are those that moving to another would cost most.
        """
        check_is_fitted(self, "model_")
        names = getattr(self, "feature_names_in_", np.arange(len(self.column_labels_)))
        return [names[list(group)] for group in self.model_.typical_values(COLUMN, n)]

    def typical_rows(self, n: int = 5) -> list[NDArray[Any]]:
        """For each group of rows the numbers of its `n` most typical ones, the most typical first."""
        check_is_fitted(self, "model_")
        return [np.array(group) for group in self.model_.typical_values(ROW, n)]

    def hierarchy(self) -> Hierarchy:
        """The merges of groups that lead from the grid to a single cell, the cheapest first; see `Model.hierarchy`."""
        check_is_fitted(self, "model_")
        return self.model_.hierarchy()

    def coarsen(
        self,
        max_cells: int | None = None,
        max_parts: int | Mapping[Name, int] | None = None,
        information: float | None = None,
    ) -> GridCoclustering:
        """A coclustering like this one with fewer groups, made of these by the cheapest merges; see `Model.coarsen`.

        Parameters
        ----------
        max_cells : int, optional
            Largest number of biclusters.
        max_parts : int or dict of str to int, optional
            Largest number of groups of rows and of groups of columns, or of those named: ``{"row": 10}``.
        information : float, optional
            At least this share, from 0 to 1, of what the grid saves against one of a single cell.

        Returns
        -------
        GridCoclustering
            A fitted one; this one stays as it is.
        """
        check_is_fitted(self, "model_")
        coarse = copy.copy(self)
        shape = len(self.row_labels_), len(self.column_labels_)
        coarse._take(self.model_.coarsen(max_cells, max_parts, information), shape)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.counts == "frequency"
        return tags


class Matrix(NamedTuple):
    """The entries of a matrix that are not zero, row by row."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    rows: NDArray[np.int64]  # how often each counts
    shape: tuple[int, int]

    def as_sparse(self) -> Any:
        """The matrix as `gridmodl.optimize` takes it."""
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
