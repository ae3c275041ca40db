"""A classifier that counts classes in groups of rows, which are found without the classes."""

from __future__ import annotations

import warnings
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from gridmodl.analysis.new_values import merged_until_labelled
from gridmodl.data.numbers import is_missing, is_missing_value
from gridmodl.data.targets import Classes, encode_labelled, marked_rows
from gridmodl.estimators.base import ThresholdClassifierMixin, estimator
from gridmodl.estimators.coclustering import ROW, CoclusteringBase, GridCoclustering
from gridmodl.estimators.inputs import labels_of_one_type, read_labels
from gridmodl.evidence.decisions import balanced_factors, check_threshold, decide, plain_factors


@estimator
class CoclusteringClassifier(ThresholdClassifierMixin, CoclusteringBase):
    """Predict the class of a row from the rows of its group, where groups are found without any class.

    The rows and columns of X are coclustered, including rows without a class; then each row gets the shares of the
    classes among the labelled rows of its group. Groups without labelled rows are merged into others, the cheapest
    merge first, until each group has labelled rows. So the classifier learns from few labelled rows among many
    unlabelled ones, and from any number of columns.

    To predict rows as in the reference, pass them to `fit`, marked as unlabelled: they then help to find the groups,
    and ``transduction_`` holds their classes. `predict` is for rows that come later.

    Parameters
    ----------
    %(criterion)s
        It must price data without a target.
    %(criterion_options)s
    search : {"auto", "vns", "merge"} or Search, default="auto"
        How the grid is searched, see `gridmodl.optimize`; ``gridmodl.Search(effort=...)`` says for how long.
    %(counts)s
    unlabelled : optional
        Value of y that marks rows without a class, such as ``-1`` or ``"?"``. None, the default, and NaN mean missing
        values; -1 is a class like any other unless it is passed here.
    %(threshold)s
    %(max_groups)s
    %(time_limit)s
    %(random_state)s
    %(n_jobs)s

    Attributes
    ----------
    coclustering_ : GridCoclustering
        The groups of rows and of columns, before groups without labelled rows are merged.
    %(classes_)s
    group_counts_ : ndarray of shape (number of row groups + 1, n_classes)
        Labelled rows of each class in each group of rows, after merges; the last line is for rows without entries,
        which are in no group. If no row without entries is labelled, the last line counts all labelled rows; if only
        such rows are labelled, so does every line.
    %(class_factors_)s
    transduction_ : ndarray of shape (n,)
        The class predicted for each row in `fit`: that of its group, for labelled rows too.
    label_distributions_ : ndarray of shape (n, n_classes)
        The shares of the classes in the group of each row in `fit`.
    %(features_in)s

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

    unlabelled: Any = None

    def fit(self, X: Any, y: Any) -> CoclusteringClassifier:
        """Find the groups of all rows, and the shares of the classes in each.

        Parameters
        ----------
        %(matrix)s
        y : array-like of shape (n,)
            The class of each row; `unlabelled` for rows without a class.

        Returns
        -------
        self
        """
        check_threshold(self.threshold)
        classes, codes, *_ = self._read_classes(y)
        check_consistent_length(X, codes)
        shared = {field.name: getattr(self, field.name) for field in fields(CoclusteringBase)}
        found = GridCoclustering(**shared).fit(X)
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
        """The classes, and the code of each row; rows without a class have a code beyond all classes."""
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
                f"{what}: none of the {len(raw)} rows has a class, as unlabelled={self.unlabelled!r}; label some, "
                "or use GridCoclustering, which needs no classes"
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
        (names, codes, *_), _ = encode_labelled(raw, self.unlabelled, "classes")
        names = labels_of_one_type(names)
        if names.dtype.kind == "i" and len(names) > 2 and names[0] == -1 and names[1] >= 0 and not is_marked.any():
            warnings.warn(
                "y holds -1 beside other whole numbers, and -1 is taken as a class; if it marks rows without a class, "
                "as in scikit-learn, pass unlabelled=-1",
                stacklevel=3,
            )
        return Classes(names, codes)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The shares of the classes in the group of rows that each row joins, see `GridCoclustering.predict`.

        Parameters
        ----------
        %(matrix_again)s

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of ``classes_``, as they were counted, without smoothing.
        """
        check_is_fitted(self, "group_counts_")
        return _shares(self.group_counts_)[self.coclustering_.predict(X)]

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the group of rows that each row joins: the most frequent class, or by `threshold`.

        Ties: first in ``classes_``.

        Parameters
        ----------
        %(matrix_again)s

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
        # Numbers that are never 0, such as those of scikit-learn's checks, say nothing about the groups.
        tags.classifier_tags.poor_score = True
        return tags


def _merged_counts(found: GridCoclustering, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Labelled rows by class of each group after merges; the last line is for rows without entries."""
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
