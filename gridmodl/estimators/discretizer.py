"""A supervised transformer: for each value the part that it lies in, or what that part says of the class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_consistent_length, check_is_fitted

from gridmodl.estimators.encodings import log_odds_rows, onehot_rows, sparse_onehot, unique_names
from gridmodl.estimators.inputs import read_classes, read_inputs, read_weights
from gridmodl.frames import Name
from gridmodl.model import Model
from gridmodl.partition import Partition, checked_unknown
from gridmodl.pipeline import optimize_each
from gridmodl.plugins import get_criterion
from gridmodl.search import Search
from gridmodl.terms import Criterion

ENCODINGS = ("ordinal", "onehot", "log-odds")


class GridDiscretizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Partition every column on its own, as the classes of the target say.

    Numbers, dates and durations are cut into intervals, text, categories and booleans are put into groups of values; as
    many as the criterion finds worth their cost, so there is no number of parts to choose. Missing values need no
    imputation: they are a part of their own or lie in the part that suits them. See `gridmodl.optimize_each`.

    Parameters
    ----------
    criterion : str or Criterion, default="modl"
        What the best partition is: a name out of `gridmodl.list_criteria`, or a criterion.
    criterion_options : dict, optional
        Options of the criterion that is named, as `gridmodl.get_criterion` takes them. A grid search can search over
        them, and no value of theirs compiles anything anew.
    search : {"auto", "exact", "merge"} or Search, default="auto"
        How partitions are searched, see `gridmodl.optimize`.
    encode : {"ordinal", "onehot", "log-odds"}, default="ordinal"
        What `transform` makes of a column.

        - ``"ordinal"``: the number of the part, from 0, as int64. Intervals are in ascending order.
        - ``"onehot"``: for each part a column that is 1.0 in its rows and 0.0 elsewhere.
        - ``"log-odds"``: what the part says of the class, also called the weight of evidence: with n1 rows of the
          second class and n0 of the first in the part, N1 and N0 in all, the number
          ``log((n1 + 1/2) / (n0 + 1/2)) - log((N1 + 1/2) / (N0 + 1/2))``. With more than two classes there is one
          column for each, of this class against all others. A part without rows has 0.0, and so has everything when
          there is one class only.
    sparse_output : bool, default=False
        Whether ``"onehot"`` gives a `scipy.sparse.csr_matrix`; other encodings are never sparse.
    unknown : {"default", -1, "error"}, default="default"
        What becomes of a category that was not seen in `fit`: the group ``Partition.default`` of its column; -1, which
        is the part number -1 for ``"ordinal"``, all 0.0 for ``"onehot"`` and 0.0 for ``"log-odds"``; or a ValueError.
        A missing value is such a category where `fit` saw none. A number is never unknown: if missing values are new,
        they go to the lowest interval.
    kinds : dict, optional
        ``"numerical"`` or ``"categorical"`` by column name, where it is not what the column's type says.
    special : dict, optional
        By column name, numbers that are codes and no quantities, such as ``{"age": [-999, -1]}``; each is a part.
    monotone : {"increasing", "decreasing", "auto"}, optional
        For two classes: the share of the second never falls (rises) from interval to interval of a numerical column.
    max_parts : int, optional
        Each column has at most so many parts.
    min_rows : int or float, optional
        Each part has at least so many rows, or this share of all rows if it is a float below 1.
    time_limit : float, optional
        Seconds for all columns together, after which they keep the best partitions so far.
    n_jobs : int, optional
        Threads; None means 1, and -1 one per core.

    Attributes
    ----------
    models_ : dict of str to Model
        By column name, in the order of the columns: the partition of each, its cost, its level, its table. They hold no
        training data. Columns of arrays, and of frames whose names are no strings, are called ``x0``, ``x1``, ...
    classes_ : ndarray
        The classes of the target.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray
        Their names, if the data had names that are strings.

    See Also
    --------
    gridmodl.optimize_each : The models of all columns, without scikit-learn.

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
    ['x0=]-inf, 4.75]', 'x0=]4.75, inf[', 'x1={blue, red}']
    """

    def __init__(
        self,
        *,
        criterion: str | Criterion = "modl",
        criterion_options: Mapping[str, Any] | None = None,
        search: str | Search = "auto",
        encode: str = "ordinal",
        sparse_output: bool = False,
        unknown: str | int = "default",
        kinds: Mapping[Name, str] | None = None,
        special: Mapping[Name, Any] | None = None,
        monotone: str | None = None,
        max_parts: int | None = None,
        min_rows: int | float | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.criterion_options = criterion_options
        self.search = search
        self.encode = encode
        self.sparse_output = sparse_output
        self.unknown = unknown
        self.kinds = kinds
        self.special = special
        self.monotone = monotone
        self.max_parts = max_parts
        self.min_rows = min_rows
        self.time_limit = time_limit
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> GridDiscretizer:
        """Find the best partition of each column.

        Parameters
        ----------
        X : array-like or frame of shape (n, k)
            Numbers, or columns of any kinds: a frame of pandas, polars, pyarrow or another library that narwhals reads,
            or an array of objects.
        y : array-like of shape (n,)
            The class of each row.
        sample_weight : array-like of shape (n,), optional
            Whole numbers: a row of weight w is w rows.

        Returns
        -------
        GridDiscretizer
            This one.
        """
        criterion = _criterion(self.criterion, self.criterion_options)
        _check_encoding(self.encode)
        checked_unknown(self.unknown)
        inputs = read_inputs(self, X, reset=True)
        classes = read_classes(self, y)
        check_consistent_length(X, classes)
        models = optimize_each(
            inputs.columns,
            classes,
            criterion=criterion,
            search=self.search,
            weights=read_weights(sample_weight, inputs.n_rows),
            kinds=self.kinds,
            target_kind="classes",
            special=self.special,
            monotone=self.monotone,
            max_parts=self.max_parts,
            min_rows=self.min_rows,
            time_limit=self.time_limit,
            n_jobs=1 if self.n_jobs is None else self.n_jobs,
            on_error="ignore",  # a column without a model is an error, below
        )
        for name, error in models.errors.items():
            _refuse(name, error)
        if any(model.stopped == "interrupted" for model in models.values()):
            raise KeyboardInterrupt  # a grid search must stop, not go on with its next candidate
        self.models_ = {name: replace(models[name], _source=None, frame=inputs.kind) for name in inputs.columns}
        self.classes_ = next(iter(self.models_.values())).classes
        return self

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
        check_is_fitted(self, "models_")
        _check_encoding(self.encode)
        columns = read_inputs(self, X, reset=False).columns.values()
        pairs = list(zip(self._partitions(), columns, strict=True))
        parts = [partition.part_of_column(raw, self.unknown) for partition, raw in pairs]
        if self.encode == "ordinal":
            return np.column_stack(parts)
        if self.encode == "onehot" and self.sparse_output:
            return sparse_onehot(parts, [partition.n_parts for partition, _ in pairs])
        rows_of = onehot_rows if self.encode == "onehot" else log_odds_rows
        return np.hstack([rows_of(partition)[part] for (partition, _), part in zip(pairs, parts, strict=True)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns that `transform` gives.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns of X, if it had none in `fit`; else they must be the same.

        Returns
        -------
        ndarray of str
            The name of the column; for ``encode="onehot"`` with the label of the part, ``size=]2.5, 4.75]``; for
            ``"log-odds"`` of more than two classes with the class, ``size_setosa``. A name that is taken gets a number.
        """
        check_is_fitted(self, "models_")
        _check_encoding(self.encode)
        names = _check_feature_names_in(self, input_features)
        if self.encode == "onehot":
            pairs = zip(names, self._partitions(), strict=True)
            return unique_names(f"{name}={label}" for name, partition in pairs for label in partition.labels)
        if self.encode == "log-odds" and len(self.classes_) > 2:
            return unique_names(f"{name}_{label}" for name in names for label in self.classes_.tolist())
        return np.array(names, dtype=object)

    def _partitions(self) -> list[Partition]:
        return [_partition(model) for model in self.models_.values()]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        # Text is welcome, but input_tags.string stays False: it would promise to take any object, such as a dict.
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _criterion(criterion: Any, options: Any) -> str | Criterion:
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"criterion_options must be a dict of options by name, got {options!r}")
    if not options:
        return criterion
    if not isinstance(criterion, str):
        raise TypeError(f"criterion_options are for a criterion that is named; {criterion!r} has its options already")
    return get_criterion(criterion, **options)


def _check_encoding(encode: Any) -> None:
    if encode not in ENCODINGS:
        raise ValueError(f"encode must be one of {', '.join(map(repr, ENCODINGS))}, got {encode!r}")


def _refuse(name: Name, error: Exception) -> None:
    """A transformer may not drop a column silently."""
    text = str(error) if repr(name) in str(error) else f"column {name!r}: {error}"
    if isinstance(error, TypeError):
        raise TypeError(f"{text}. Each entry of this argument must be missing, a string, a date or a number") from error
    raise ValueError(text) from error


def _partition(model: Model) -> Partition:
    (partition,) = model.partitions.values()
    return partition
