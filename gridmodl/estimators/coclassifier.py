"""Classes of rows from groups of rows that were found without them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from gridmodl.analysis.new_values import merged_until_labelled
from gridmodl.data.numbers import is_missing, is_missing_value
from gridmodl.data.targets import Classes, encode_labelled, marked_rows
from gridmodl.estimators.coclustering import ROW, GridCoclustering
from gridmodl.estimators.decisions import balanced_factors, check_threshold, decide, plain_factors
from gridmodl.estimators.inputs import NotebookMixin, labels_of_one_type, read_labels
from gridmodl.search import Search
from gridmodl.terms import Criterion


class CoclusteringClassifier(NotebookMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predict the class of a row from the rows of its group, where groups are found without any class.

    The rows and columns of X are coclustered, rows without a class too; then each row gets the shares of the classes
    among the labelled rows of its group. A group without labelled rows is merged into another, the cheapest merge
    first, until each group has labelled rows. So the classifier learns from few labelled rows among many others, and
    from any number of columns.

    To predict rows as the reference does, give them to `fit`, marked as unlabelled: they then help to find the groups,
    and ``transduction_`` holds their classes. `predict` is for rows that come later.

    Parameters
    ----------
    criterion : str or Criterion, default="modl"
        What the best grid is, see `GridCoclustering`.
    criterion_options : dict, optional
        Options of the criterion that is named, as `gridmodl.get_criterion` takes them.
    search : {"auto", "vns", "merge"} or Search, default="auto"
        How the grid is searched, see `gridmodl.optimize`; ``gridmodl.Search(effort=...)`` says for how long.
    counts : {"binary", "frequency"}, default="binary"
        Whether entries other than 0 are present once, or an entry of n counts n times.
    unlabelled : optional
        The value of y that marks rows without a class, such as ``-1`` or ``"?"``. None, as by default, and NaN stand
        for missing values; so -1 is a class like any other unless it is given here.
    threshold : {None, "balanced"}, default=None
        How a class is chosen: the most frequent one of the group, or so that the balanced error, the mean of the error
        rates of the classes, is lowest on the labelled rows.
    max_parts : int, optional
        Largest number of groups of rows, and of groups of columns.
    time_limit : float, optional
        Seconds, after which the best grid so far is kept.
    random_state : int, optional
        Seed of the search, 0 by default; None draws a fresh one.
    n_jobs : int, optional
        Threads of those searches that use several; None means 1, and -1 one per core.

    Attributes
    ----------
    coclustering_ : GridCoclustering
        The groups of rows and of columns, before any merge for want of labelled rows.
    classes_ : ndarray
        The classes.
    group_counts_ : ndarray of shape (number of row groups + 1, n_classes)
        Labelled rows of each class in each group of rows, or in what it was merged into; last of rows without entries,
        which are in no group. Where none of these is labelled, those of all rows; and so for the groups, where only
        rows without entries are labelled.
    class_factors_ : ndarray
        Factor of the share of each class before the largest is taken; 1 without a threshold.
    transduction_ : ndarray of shape (n,)
        The class predicted for each row in `fit`: that of its group, for labelled rows too.
    label_distributions_ : ndarray of shape (n, n_classes)
        The shares of the classes in the group of each row in `fit`.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray
        Their names, if the data had names that are strings.

    See Also
    --------
    GridCoclustering : The groups alone.

    References
    ----------
    M. Boullé, "Data grid models for preparation and modeling in supervised learning", 2011, 7.2.3.

    Examples
    --------
    >>> import numpy as np
    >>> from gridmodl.estimators import CoclusteringClassifier
    >>> X = np.kron(np.eye(2, dtype=int), np.ones((4, 3), dtype=int))
    >>> y = ["cat", None, None, None, "dog", None, None, None]
    >>> classifier = CoclusteringClassifier().fit(X, y)
    >>> classifier.transduction_.tolist()
    ['cat', 'cat', 'cat', 'cat', 'dog', 'dog', 'dog', 'dog']
    >>> classifier.predict([[0, 0, 0, 1, 0, 1]]).tolist()
    ['dog']
    """

    def __init__(
        self,
        *,
        criterion: str | Criterion = "modl",
        criterion_options: Mapping[str, Any] | None = None,
        search: str | Search = "auto",
        counts: str = "binary",
        unlabelled: Any = None,
        threshold: str | None = None,
        max_parts: int | None = None,
        time_limit: float | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.criterion_options = criterion_options
        self.search = search
        self.counts = counts
        self.unlabelled = unlabelled
        self.threshold = threshold
        self.max_parts = max_parts
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> CoclusteringClassifier:
        """Find the groups of all rows, and the shares of the classes in each.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n, k)
            Numbers, of which none may be missing.
        y : array-like of shape (n,)
            The class of each row, or the mark of those without one.

        Returns
        -------
        CoclusteringClassifier
            This one.
        """
        check_threshold(self.threshold)
        classes, codes = self._read_classes(y)
        check_consistent_length(X, codes)
        own = ("unlabelled", "threshold")
        options = {name: value for name, value in self.get_params(deep=False).items() if name not in own}
        found = GridCoclustering(**options).fit(X)
        is_labelled = codes < len(classes)
        counts = np.zeros((found.n_row_clusters_ + 1, len(classes)), dtype=np.int64)
        np.add.at(counts, (found.row_labels_[is_labelled], codes[is_labelled]), 1)
        self.coclustering_, self.classes_ = found, classes
        self.group_counts_ = _merged_counts(found, counts)
        self.class_factors_ = plain_factors(len(classes))
        if self.threshold == "balanced":
            shares = _shares(self.group_counts_)[found.row_labels_[is_labelled]]
            self.class_factors_ = balanced_factors(shares, codes[is_labelled], None)
        self.n_features_in_ = found.n_features_in_
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if hasattr(found, "feature_names_in_"):
            self.feature_names_in_ = found.feature_names_in_
        return self

    def _read_classes(self, y: Any) -> Classes:
        """The classes, and their codes; rows without one have a code beyond all."""
        if y is None:
            raise ValueError(
                "This CoclusteringClassifier estimator requires y to be passed, but the target y is None; rows may be "
                "unlabelled, but not all"
            )
        raw = read_labels(y)
        is_marked = marked_rows(raw, self.unlabelled)
        if is_marked.all():
            what = (
                "Input y contains NaN or None only" if is_missing_value(self.unlabelled) else "All rows have the mark"
            )
            raise ValueError(
                f"{what}: no row of {len(raw)} has a class, as unlabelled={self.unlabelled!r}; label some, or use "
                "GridCoclustering, which needs none"
            )
        n_missing = np.count_nonzero(is_missing(raw[~is_marked]))
        if n_missing:
            raise ValueError(
                f"Input y contains NaN or None in {n_missing} of {len(raw)} rows, beside the mark unlabelled="
                f"{self.unlabelled!r} of rows without a class; drop them, or give them the mark too"
            )
        labelled = labels_of_one_type(raw[~is_marked])
        assert_all_finite(labelled, input_name="y")
        check_classification_targets(labelled)
        (names, codes), _ = encode_labelled(raw, self.unlabelled, "classes")
        names = labels_of_one_type(names)
        if names.dtype.kind == "i" and len(names) > 2 and names[0] == -1 and names[1] >= 0 and not is_marked.any():
            warnings.warn(
                "y holds -1 beside other whole numbers, which is taken for a class; if it marks rows without one, as "
                "in scikit-learn, say unlabelled=-1",
                stacklevel=3,
            )
        return Classes(names, codes)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The shares of the classes in the group of rows that each row joins, see `GridCoclustering.predict`.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n, k)
            The same columns as in `fit`.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of ``classes_``, as they were counted, without smoothing.
        """
        check_is_fitted(self, "group_counts_")
        return _shares(self.group_counts_)[self.coclustering_.predict(X)]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba` of `X`, minus infinity for a share of 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the group of rows that each row joins: the most frequent one, unless a threshold says otherwise.

        Of equals the first in ``classes_``.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n, k)
            The same columns as in `fit`.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self, "group_counts_")
        return self._class_of(self.coclustering_.predict(X))

    def _class_of(self, groups: NDArray[np.int64]) -> NDArray[Any]:
        return np.asarray(self.classes_[decide(_shares(self.group_counts_), self.class_factors_)[groups]])

    @property
    def transduction_(self) -> NDArray[Any]:
        """The class predicted for each row in `fit`."""
        check_is_fitted(self, "group_counts_")
        return self._class_of(self.coclustering_.row_labels_)

    @property
    def label_distributions_(self) -> NDArray[np.float64]:
        """The shares of the classes in the group of each row in `fit`."""
        check_is_fitted(self, "group_counts_")
        return _shares(self.group_counts_)[self.coclustering_.row_labels_]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.counts == "frequency"
        # Which entries are 0 tells nothing of numbers that never are, such as those of scikit-learn's checks.
        tags.classifier_tags.poor_score = True
        return tags


def _merged_counts(found: GridCoclustering, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Labelled rows by class of what each group is merged into; the last are those of rows without entries."""
    of_groups, of_all = counts[:-1], counts.sum(axis=0)
    is_labelled = np.asarray(of_groups.any(axis=1))
    if is_labelled.any():
        into = merged_until_labelled(found.model_, found.criterion_, ROW, is_labelled)
        merged = np.zeros_like(of_groups)
        np.add.at(merged, into, of_groups)
        of_groups = merged[into]
    else:
        of_groups = np.tile(of_all, (len(of_groups), 1))
    return np.vstack([of_groups, counts[-1] if counts[-1].any() else of_all])


def _shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    return counts / counts.sum(axis=1, keepdims=True)
