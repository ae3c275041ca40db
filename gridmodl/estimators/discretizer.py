"""A transformer: the part that each value lies in, or what that part says of the target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_consistent_length, check_is_fitted

from gridmodl.data.frames import Frame, Name
from gridmodl.data.targets import NOT_GIVEN, TARGET_KINDS
from gridmodl.estimators.columns import models_of_each, parts_of_each
from gridmodl.estimators.inputs import AnyColumnsMixin, NotebookMixin, read_inputs, read_target, read_weights
from gridmodl.model.counts import part_counts
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition, checked_unknown
from gridmodl.report.tables import log_odds
from gridmodl.search import AUTO, Search
from gridmodl.spelling import check_choice
from gridmodl.terms import PROBLEMS, Criterion

ENCODINGS = ("ordinal", "onehot", "log-odds", "mean")
OF_TARGETS = {"log-odds": ("classes", "grouped"), "mean": ("numerical",)}  # other encodings need no target


class GridDiscretizer(AnyColumnsMixin, NotebookMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Partition every column on its own, as the target says, or its own density where there is none.

    Numbers, dates and durations are cut into intervals, text, categories and booleans are put into groups of values; as
    many as the criterion finds worth their cost, so there is no number of parts to choose. Missing values need no
    imputation: they are a part of their own or lie in the part that suits them. See `gridmodl.optimize_each`.

    Without ``y``, each numerical column is cut where its rows change in density, see `gridmodl.optimize_density`:
    missing values are a part of their own, and infinite ones lie in the outermost. Of a categorical column each value
    is a part, as nothing says which belong together; with `max_parts` or `min_rows` the rarest share the last part. No
    criterion is used then, and what asks for a target is an error: another criterion than ``"modl"``,
    `criterion_options`, `search`, `target_kind`, `unlabelled`, `placement`, `monotone`, ``encode="log-odds"`` or
    ``encode="mean"``.

    Parameters
    ----------
    criterion : str or Criterion, default="modl"
        What the best partition is: a name out of `gridmodl.list_criteria`, or a criterion.
    criterion_options : dict, optional
        Options of the criterion that is named, as `gridmodl.get_criterion` takes them. A grid search can search over
        them, and no value of theirs compiles anything anew.
    search : {"auto", "exact", "merge"} or Search, default="auto"
        How partitions are searched, see `gridmodl.optimize`.
    encode : {"ordinal", "onehot", "log-odds", "mean"}, default="ordinal"
        What `transform` makes of a column.

        - ``"ordinal"``: the number of the part, from 0, as int64. Intervals are in ascending order.
        - ``"onehot"``: for each part a column that is 1.0 in its rows and 0.0 elsewhere.
        - ``"log-odds"``: what the part says of the class, also called the weight of evidence: with n1 rows of the
          second class and n0 of the first in the part, N1 and N0 in all, the number
          ``log((n1 + 1/2) / (n0 + 1/2)) - log((N1 + 1/2) / (N0 + 1/2))``. With more than two classes there is one
          column for each, of this class against all others. A part without rows has 0.0, and so has everything when
          there is one class only. Rows without a class are not counted. Where classes are grouped, the groups that
          were found for the column stand for the classes: in a group all have the same log-odds but for the halves.
        - ``"mean"``: of a numerical target, its mean in the part, also called target encoding; that of all rows for a
          part without any.
    sparse_output : bool, default=False
        Whether ``"onehot"`` gives a `scipy.sparse.csr_matrix`; other encodings are never sparse.
    unknown : {"default", -1, "error"}, default="default"
        What becomes of a category that was not seen in `fit`: the group ``Partition.default`` of its column; -1, which
        is the part number -1 for ``"ordinal"``, all 0.0 for ``"onehot"``, 0.0 for ``"log-odds"`` and the mean of all
        rows for ``"mean"``; or a ValueError.
        A missing value is such a category where `fit` saw none. A number is never unknown: if missing values are new,
        they go to the lowest interval.
    target_kind : {"classes", "grouped", "numerical"}, optional
        What ``y`` is; by default classes, and real numbers are refused. So are whole numbers of which more than 20
        differ, and more than a tenth of the rows: they may be quantities or classes, so say which.

        - ``"classes"``: each value is a class, real numbers too.
        - ``"grouped"``: many classes, of which groups are found together with the parts of each column.
        - ``"numerical"``: real or whole numbers, which are cut into intervals together with each column.
    unlabelled : optional, default=()
        The value of ``y`` that marks rows without a class, such as ``-1``; None or NaN stand for missing ones. These
        rows say where the data lie and no more, see `gridmodl.optimize`. By default every row has a class.
    placement : {"median"}, optional
        With `unlabelled`: the partitions are those of the rows with a class alone, and each bound is put at the median
        of the others around it.
    kinds : dict, optional
        ``"numerical"`` or ``"categorical"`` by column name, where it is not what the column's type says.
    special : dict, optional
        By column name, numbers that are codes and no quantities, such as ``{"age": [-999, -1]}``; each is a part.
    monotone : {"increasing", "decreasing", "auto"}, optional
        For two classes: the share of the second never falls (rises) from interval to interval of a numerical column.
    max_parts : int, optional
        Largest number of parts of a column.
    min_rows : int or float, optional
        Smallest number of rows of a part, or below 1 their share of all rows.
    time_limit : float, optional
        Seconds for all columns together, after which they keep the best partitions so far.
    random_state : int, optional, default=0
        Seed of the search where the target is grouped or numerical, and of the folds of a density; all else draws no
        random numbers. None draws a fresh one.
    n_jobs : int, optional
        Threads; None means 1, and -1 one per core.

    Attributes
    ----------
    models_ : dict of str to Model or DensityModel
        By column name, in the order of the columns: the partition of each, its cost, its level, its table. They hold no
        training data. Columns of arrays, and of frames whose names are no strings, are called ``x0``, ``x1``, ...
        Without ``y``, the densities; categorical columns and those of a single number have none.
    partitions_ : dict of str to Partition
        By column name, in the order of the columns: the parts that `transform` knows.
    classes_ : ndarray
        The classes of the target, if it has classes.
    target_kind_ : {"classes", "grouped", "numerical"} or None
        What the target was; None if there was none.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray
        Their names, if the data had names that are strings.

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

    models_: dict[Name, Any]  # Model, or DensityModel without a target

    def __init__(
        self,
        *,
        criterion: str | Criterion = "modl",
        criterion_options: Mapping[str, Any] | None = None,
        search: str | Search = "auto",
        encode: str = "ordinal",
        sparse_output: bool = False,
        unknown: str | int = "default",
        target_kind: str | None = None,
        unlabelled: Any = (),
        placement: str | None = None,
        kinds: Mapping[Name, str] | None = None,
        special: Mapping[Name, Any] | None = None,
        monotone: str | None = None,
        max_parts: int | None = None,
        min_rows: int | float | None = None,
        time_limit: float | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.criterion_options = criterion_options
        self.search = search
        self.encode = encode
        self.sparse_output = sparse_output
        self.unknown = unknown
        self.target_kind = target_kind
        self.unlabelled = unlabelled
        self.placement = placement
        self.kinds = kinds
        self.special = special
        self.monotone = monotone
        self.max_parts = max_parts
        self.min_rows = min_rows
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> GridDiscretizer:
        """Find the best partition of each column.

        Parameters
        ----------
        X : array-like or frame of shape (n, k)
            Numbers, or columns of any kinds: a frame of pandas, polars, pyarrow or another library that narwhals reads,
            or an array of objects.
        y : array-like of shape (n,), optional
            The class of each row, or a number for each with ``target_kind="numerical"``; without it columns are cut by
            their density.
        sample_weight : array-like of shape (n,), optional
            Whole numbers: a row of weight w is w rows.

        Returns
        -------
        GridDiscretizer
            This one.
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
            self._keep_densities(inputs, weights)
        else:
            target = read_target(self, y, self.target_kind, self._has_mark)
            check_consistent_length(X, target)
            self._keep_models(inputs, target, weights)
        self.target_kind_ = target_kind
        self.__dict__.pop("classes_", None)  # of an earlier target
        if target_kind is not None and PROBLEMS[target_kind].names_classes:
            self.classes_ = next(iter(self.models_.values())).classes
        return self

    def _keep_models(self, inputs: Frame, target: NDArray[Any], weights: NDArray[np.int64] | None) -> None:
        """Partition with a target in view."""
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
        self.models_ = {name: models[name] for name in inputs.columns}
        self.partitions_ = {name: model.partitions[name] for name, model in self.models_.items()}

    def _keep_densities(self, inputs: Frame, weights: NDArray[np.int64] | None) -> None:
        """Partition without a target."""
        found = parts_of_each(self, inputs, weights)
        self.models_ = {name: parts.model for name, parts in found.items() if parts.model is not None}
        self.partitions_ = {name: parts.partition for name, parts in found.items()}

    def transform(self, X: Any) -> Any:
        """The part of each value, encoded.

        Parameters
        ----------
        X : array-like or frame of shape (n, k)
            The same columns as in `fit`.

        Returns
        -------
        ndarray or csr_matrix of shape (n, number of columns out)
            int64 for ``encode="ordinal"``, else float64; or a frame, if `set_output` asks for one.
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
        """The names of the columns that `transform` gives.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns of X, if it had none in `fit`; else they must be the same.

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
        """Whether some value of y marks rows without a class: an empty tuple is no value."""
        return self.unlabelled is not NOT_GIVEN and not (isinstance(self.unlabelled, tuple) and not self.unlabelled)

    def _asks_for_target(self) -> list[str]:
        """The parameters whose values mean nothing without a target."""
        is_other = {
            "criterion": getattr(self.criterion, "name", self.criterion) != "modl",
            "criterion_options": bool(self.criterion_options),
            "search": self.search not in (AUTO, Search()),
            "encode": self.encode in tuple(OF_TARGETS),
            "target_kind": self.target_kind is not None,
            "unlabelled": self._has_mark,
            "placement": self.placement is not None,
            "monotone": self.monotone is not None,
        }
        return [name for name, asks in is_other.items() if asks]

    def _refuse_no_target(self) -> None:
        asking = self._asks_for_target()
        if asking:
            given = ", ".join(f"{name}={getattr(self, name)!r}" for name in asking)
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None: {given} "
                "would mean nothing; without y, columns are cut by their density, with the defaults of what is named"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = bool(self._asks_for_target())
        tags.transformer_tags.preserves_dtype = []
        return tags


def check_encoding(encode: Any, target_kind: str | None) -> None:
    """Check that the encoding exists, and that it suits the target; `target_kind` is None without a target."""
    check_choice("encode", encode, ENCODINGS)
    if encode not in OF_TARGETS or target_kind in OF_TARGETS[encode]:
        return
    if target_kind is None:
        raise ValueError(f"encode={encode!r} is what a part says of a target, and it was fitted without y")
    if encode == "mean":
        raise ValueError(
            "encode='mean' is for target_kind='numerical', and the target is of classes; encode='log-odds' is what a "
            "part says of these"
        )
    raise ValueError(
        f"encode={encode!r} is what a part says of classes, and the target is numerical; encode='mean' is its mean in "
        "a part"
    )


def rows_of_parts(encode: str, model: Any, partition: Partition) -> NDArray[np.float64]:
    """The encoded row of each part, and last that of part -1, of unknown values, which says nothing."""
    if encode == "onehot":
        return np.eye(partition.n_parts + 1, partition.n_parts)
    if encode == "mean":
        means: NDArray[np.float64] = model._spread.means[:, None]
        return means
    counts = partition.counts if model.target is None else part_counts(model, partition)
    return _log_odds_rows(counts)


def _log_odds_rows(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Log-odds by class, or by group of classes; of two classes only those of the second."""
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
    """The names of the log-odds of a column: its own name for two classes, else with the class or group of classes."""
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
