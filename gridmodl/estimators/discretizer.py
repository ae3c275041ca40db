"""A transformer: the part of each value, or a statistic of the target in that part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_consistent_length, check_is_fitted

from gridmodl.data.frames import Frame, Name
from gridmodl.data.targets import NOT_GIVEN, TARGET_KINDS
from gridmodl.estimators.base import ColumnsEstimatorBase, estimator
from gridmodl.estimators.columns import models_of_each, parts_of_each
from gridmodl.estimators.inputs import read_inputs, read_target, read_weights
from gridmodl.model.counts import part_counts
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition, checked_unknown
from gridmodl.report.tables import log_odds
from gridmodl.search import AUTO, Search
from gridmodl.spelling import check_choice
from gridmodl.terms import PROBLEMS

ENCODINGS = ("ordinal", "onehot", "log-odds", "mean")
TARGETS_OF = {"log-odds": ("classes", "grouped"), "mean": ("numerical",)}  # other encodings need no target


@estimator
class GridDiscretizer(TransformerMixin, ColumnsEstimatorBase):  # type: ignore[misc]
    """Partition each column on its own (optimal binning): by the target, or by its density if there is no target.

    Numbers, dates and durations are cut into intervals; text, categories and booleans are put into groups of values.
    The criterion decides how many, so there is no number of parts (bins) to choose. Missing values need no imputation:
    they are a part of their own or join the part that fits best. See `gridmodl.optimize_each`.

    Without ``y``, each numerical column is cut where the density of its rows changes, see `gridmodl.optimize_density`:
    missing values are a part of their own, and infinite values lie in the outermost parts. Each value of a categorical
    column is a part, as nothing tells which belong together; with `max_parts` or `min_rows`, the rarest values share
    the last part. No criterion is used, and parameters that need a target are an error: a criterion other than
    ``"modl"``, `criterion_options`, `search`, `target_kind`, `unlabelled`, `placement`, `monotone`,
    ``encode="log-odds"`` or ``encode="mean"``.

    Parameters
    ----------
    %(criterion)s
    %(criterion_options)s
        A grid search can search over them; no value compiles anything anew.
    search : {"auto", "exact", "merge"} or Search, default="auto"
        How partitions are searched, see `gridmodl.optimize`.
    encode : {"ordinal", "onehot", "log-odds", "mean"}, default="ordinal"
        What `transform` returns for a column.

        - ``"ordinal"``: the number of the part, from 0, as int64. Intervals are in ascending order.
        - ``"onehot"``: for each part a column that is 1.0 in its rows and 0.0 elsewhere.
        - ``"log-odds"``: the log-odds of the class in the part, also called weight of evidence: with n1 rows of the
          second class and n0 of the first in the part, N1 and N0 in all, the number
          ``log((n1 + 1/2) / (n0 + 1/2)) - log((N1 + 1/2) / (N0 + 1/2))``. With more than two classes there is one
          column per class, of this class against all others. A part without rows has 0.0, and so has every part if
          there is one class only. Rows without a class are not counted. If classes are grouped, the groups found for
          the column take the place of the classes.
        - ``"mean"``: the mean of a numerical target in the part, also called target encoding; the mean of all rows for
          a part without rows.
    sparse_output : bool, default=False
        Whether ``"onehot"`` returns a `scipy.sparse.csr_matrix`; other encodings are never sparse.
    %(unknown)s
        With -1, the encoded value is -1 for ``"ordinal"``, all 0.0 for ``"onehot"``, 0.0 for ``"log-odds"`` and the
        mean of all rows for ``"mean"``.
    target_kind : {"classes", "grouped", "numerical"}, optional
        Kind of ``y``; by default classes. Real numbers are then an error, and so are whole numbers with more than 20
        distinct values, if these are more than a tenth of the rows: state whether they are quantities or classes.

        - ``"classes"``: each value is a class, real numbers too.
        - ``"grouped"``: many classes, put into groups together with the partition of each column.
        - ``"numerical"``: real or whole numbers, cut into intervals together with each column.
    unlabelled : optional, default=()
        Value of ``y`` that marks rows without a class, such as ``-1``; None or NaN mean missing values. These rows only
        tell where the data lie, see `gridmodl.optimize`. By default every row has a class.
    placement : {"median"}, optional
        With `unlabelled`: find the partitions from the labelled rows alone, then move each bound to the median of the
        unlabelled rows around it.
    %(kinds)s
    %(special)s
    monotone : {"increasing", "decreasing", "auto"}, optional
        For two classes: the share of the second never falls (rises) from interval to interval of a numerical column.
    %(max_parts)s
    %(min_rows)s
    %(time_limit)s
        The limit is for all columns together.
    %(random_state)s
        Only the search for a grouped or numerical target and the folds of a density draw random numbers.
    %(n_jobs)s

    Attributes
    ----------
    %(models_)s
        Without ``y``, the `DensityModel` of each numerical column with two distinct numbers or more.
    partitions_ : dict of str to Partition
        By column name, in the order of the columns: the parts that `transform` returns.
    classes_ : ndarray
        The classes of the target, if it has classes.
    target_kind_ : {"classes", "grouped", "numerical"} or None
        Kind of the target; None without a target.
    %(features_in)s

    See Also
    --------
    gridmodl.optimize_each : The models of all columns, without scikit-learn.
    gridmodl.optimize_density : The density of one column.

    Examples
    --------
    >>> from gridmodl.estimators import GridDiscretizer
    >>> X = [[1.0, "red"], [1.5, "blue"], [2.0, "red"], [2.5, "blue"], [7.0, "red"], [7.5, "blue"], [8.0, "red"]]
    >>> y = ["no", "no", "no", "no", "yes", "yes", "yes"]
    >>> discretizer = GridDiscretizer().fit(X, y)
    >>> discretizer.transform([[3.0, "red"], [5.0, "blue"]])
    array([[0, 0],
           [1, 0]])
    >>> discretizer.set_params(encode="onehot").get_feature_names_out().tolist()
    ['x0=(-inf, 4.75]', 'x0=(4.75, inf)', 'x1={blue, red}']

    A target of numbers:

    >>> import numpy as np
    >>> sizes = np.arange(40.0)
    >>> prices = np.where(sizes < 20, 100.0, 300.0) + sizes % 4
    >>> by_price = GridDiscretizer(target_kind="numerical", encode="mean").fit(sizes[:, None], prices)
    >>> by_price.transform([[3.0], [33.0]])
    array([[101.5],
           [301.5]])

    No target:

    >>> waits = np.append(np.arange(100), np.arange(100, 1000, 50))
    >>> GridDiscretizer().fit(waits[:, None]).partitions_["x0"].labels
    ['(-inf, 99.5]', '(99.5, inf)']
    """

    encode: str = "ordinal"
    sparse_output: bool = False
    target_kind: str | None = None
    unlabelled: Any = ()
    placement: str | None = None
    special: Mapping[Name, Any] | None = None
    monotone: str | None = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> GridDiscretizer:
        """Find the best partition of each column.

        Parameters
        ----------
        %(X)s
        y : array-like of shape (n,), optional
            The class of each row, or its number with ``target_kind="numerical"``; without ``y``, columns are cut by
            density.
        %(sample_weight)s

        Returns
        -------
        self
        """
        check_choice("target_kind", self.target_kind, (*TARGET_KINDS, None))
        if y is None:
            self._refuse_no_target()
        target_kind = None if y is None else self.target_kind or "classes"
        check_encoding(self.encode, target_kind)
        checked_unknown(self.unknown)
        inputs = read_inputs(self, X, reset=True)
        weights = read_weights(sample_weight, inputs.n_rows)
        if y is None:
            self._fit_densities(inputs, weights)
        else:
            target = read_target(self, y, self.target_kind, self._has_mark)
            check_consistent_length(X, target)
            self._fit_models(inputs, target, weights)
        self.target_kind_ = target_kind
        self.__dict__.pop("classes_", None)  # of an earlier target
        if target_kind is not None and PROBLEMS[target_kind].names_classes:
            self.classes_ = next(iter(self.models_.values())).classes
        return self

    def _fit_models(self, inputs: Frame, target: NDArray[Any], weights: NDArray[np.int64] | None) -> None:
        """Partition the columns by the target."""
        models = models_of_each(
            self,
            inputs,
            target,
            weights,
            target_kind=self.target_kind,
            unlabelled=self.unlabelled if self._has_mark else NOT_GIVEN,
            placement=self.placement,
            monotone=self.monotone,
        )
        self.models_: dict[Name, Any] = {name: models[name] for name in inputs.columns}
        self.partitions_ = {name: model.partitions[name] for name, model in self.models_.items()}

    def _fit_densities(self, inputs: Frame, weights: NDArray[np.int64] | None) -> None:
        """Partition the columns without a target."""
        found = parts_of_each(self, inputs, weights)
        self.models_ = {name: parts.model for name, parts in found.items() if parts.model is not None}
        self.partitions_ = {name: parts.partition for name, parts in found.items()}

    def transform(self, X: Any) -> Any:
        """Encode the part of each value.

        Parameters
        ----------
        %(X_again)s

        Returns
        -------
        ndarray or csr_matrix of shape (n, number of output columns)
            int64 for ``encode="ordinal"``, else float64; or a frame, as `set_output` says.
        """
        check_is_fitted(self, "partitions_")
        check_encoding(self.encode, self.target_kind_)
        columns = read_inputs(self, X, reset=False).columns.values()
        partitions = self.partitions_.values()
        parts = [
            partition.part_of_column(raw, self.unknown) for partition, raw in zip(partitions, columns, strict=True)
        ]
        if self.encode == "ordinal":
            return np.column_stack(parts)
        if self.encode == "onehot" and self.sparse_output:
            return sparse_onehot(parts, [partition.n_parts for partition in partitions])
        rows = [rows_of_parts(self.encode, self.models_.get(name), of) for name, of in self.partitions_.items()]
        return np.hstack([of_part[part] for of_part, part in zip(rows, parts, strict=True)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns of X, if X had none in `fit`; else they must be the same.

        Returns
        -------
        ndarray of str
            The name of the column; for ``encode="onehot"`` with the label of the part, ``size=(2.5, 4.75]``; for
            ``"log-odds"`` of more than two classes with the class, ``size_setosa``, and of groups of classes with the
            group. A name that is taken gets a number.
        """
        check_is_fitted(self, "partitions_")
        check_encoding(self.encode, self.target_kind_)
        names = _check_feature_names_in(self, input_features)
        if self.encode == "onehot":
            pairs = zip(names, self.partitions_.values(), strict=True)
            return unique_names(f"{name}={label}" for name, partition in pairs for label in partition.labels)
        if self.encode == "log-odds":
            models = zip(names, self.models_.values(), strict=True)
            return unique_names(label for name, model in models for label in names_of_log_odds(name, model))
        return np.array(names, dtype=object)

    @property
    def _has_mark(self) -> bool:
        """Whether a value of y marks rows without a class; an empty tuple is not a value."""
        return self.unlabelled is not NOT_GIVEN and not (isinstance(self.unlabelled, tuple) and not self.unlabelled)

    def _needs_target(self) -> list[str]:
        """Names of the parameters whose values need a target."""
        is_other = {
            "criterion": getattr(self.criterion, "name", self.criterion) != "modl",
            "criterion_options": bool(self.criterion_options),
            "search": self.search not in (AUTO, Search()),
            "encode": self.encode in tuple(TARGETS_OF),
            "target_kind": self.target_kind is not None,
            "unlabelled": self._has_mark,
            "placement": self.placement is not None,
            "monotone": self.monotone is not None,
        }
        return [name for name, needs in is_other.items() if needs]

    def _refuse_no_target(self) -> None:
        names = self._needs_target()
        if names:
            listed = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None: {listed} "
                "would mean nothing; without y, columns are cut by density, and these parameters keep their defaults"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = bool(self._needs_target())
        tags.transformer_tags.preserves_dtype = []
        return tags


def check_encoding(encode: Any, target_kind: str | None) -> None:
    """Check that the encoding exists, and that it suits the target; `target_kind` is None without a target."""
    check_choice("encode", encode, ENCODINGS)
    if encode not in TARGETS_OF or target_kind in TARGETS_OF[encode]:
        return
    if target_kind is None:
        raise ValueError(f"encode={encode!r} needs a target, and the discretizer was fitted without y")
    if encode == "mean":
        raise ValueError(
            "encode='mean' is for target_kind='numerical', and the target has classes; use encode='log-odds'"
        )
    raise ValueError(f"encode={encode!r} is for classes, and the target is numerical; use encode='mean'")


def rows_of_parts(encode: str, model: Any, partition: Partition) -> NDArray[np.float64]:
    """The encoded row of each part; the last row is that of part -1, of unknown values."""
    if encode == "onehot":
        return np.eye(partition.n_parts + 1, partition.n_parts)
    if encode == "mean":
        means: NDArray[np.float64] = model._target_quantiles.means[:, None]
        return means
    counts = partition.counts if model.target is None else part_counts(model, partition)
    return _log_odds_rows(counts)


def _log_odds_rows(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Log-odds of each class, or group of classes; with two classes, only of the second."""
    n_classes = counts.shape[1]
    columns = log_odds(counts)[:, 1:] if n_classes == 2 else log_odds(counts) * (n_classes > 1)
    columns[counts.sum(axis=1) == 0] = 0.0
    return np.concatenate([columns, np.zeros((1, columns.shape[1]))])


def sparse_onehot(parts: list[NDArray[np.int64]], n_parts: list[int]) -> Any:
    offsets = np.cumsum([0, *n_parts])
    columns = np.column_stack(parts)
    is_known = columns >= 0
    ends = np.append(0, np.cumsum(is_known.sum(axis=1)))
    indices = (columns + offsets[:-1])[is_known]
    return csr_matrix((np.ones(len(indices)), indices, ends), shape=(len(columns), int(offsets[-1])))


def names_of_log_odds(name: str, model: Model) -> list[str]:
    """Names of the log-odds of a column: its own name for two classes, else with the class or group of classes."""
    if model.target is None:
        labels = [str(label) for label in model.classes.tolist()]
        return [f"{name}_{label}" for label in labels] if len(labels) > 2 else [name]
    labels = model.target.labels
    return [f"{name}_{label}" for label in (labels[1:] if len(labels) == 2 else labels)]


def unique_names(names: Iterable[str]) -> NDArray[np.object_]:
    taken: dict[str, None] = {}
    for name in names:
        free, number = name, 2
        while free in taken:
            free, number = f"{name} ({number})", number + 1
        taken[free] = None
    return np.array(list(taken), dtype=object)
