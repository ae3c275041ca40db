"""A supervised transformer: for each value the part that it lies in, or what that part says of the class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names_in,
    _get_feature_names,
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from gridmodl.frames import Frame, Name, as_array, read_column, read_frame
from gridmodl.missing import is_missing
from gridmodl.model import Model
from gridmodl.partition import Partition, checked_unknown
from gridmodl.pipeline import optimize_each
from gridmodl.plugins import get_criterion
from gridmodl.report.parts import log_odds
from gridmodl.search import Search
from gridmodl.targets import encode_weights
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
        inputs = _read_inputs(self, X, reset=True)
        classes = _read_classes(self, y)
        check_consistent_length(X, classes)
        models = optimize_each(
            inputs.columns,
            classes,
            criterion=criterion,
            search=self.search,
            weights=_read_weights(sample_weight, inputs.n_rows),
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
        columns = _read_inputs(self, X, reset=False).columns.values()
        pairs = list(zip(self._partitions(), columns, strict=True))
        parts = [partition.part_of_column(raw, self.unknown) for partition, raw in pairs]
        if self.encode == "ordinal":
            return np.column_stack(parts)
        if self.encode == "onehot" and self.sparse_output:
            return _sparse_onehot(parts, [partition.n_parts for partition, _ in pairs])
        rows_of = _onehot_rows if self.encode == "onehot" else _log_odds_rows
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
            return _unique(f"{name}={label}" for name, partition in pairs for label in partition.labels)
        if self.encode == "log-odds" and len(self.classes_) > 2:
            return _unique(f"{name}_{label}" for name in names for label in self.classes_.tolist())
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


# Data in


@dataclass
class _Names:
    """What scikit-learn must see of a frame: its shape and its names."""

    shape: tuple[int, int]
    names: list[Any]

    def __dataframe__(self) -> _Names:
        return self

    def column_names(self) -> list[Any]:
        return self.names


def _read_inputs(estimator: Any, X: Any, reset: bool) -> Frame:
    """The columns of X, in order, by the names that scikit-learn knows them by, else x0, x1, ...

    Those of a frame stay as they are, with their types; anything else becomes one array.
    """
    X = nw.to_native(X, pass_through=True)
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


def _read_classes(estimator: Any, y: Any) -> NDArray[Any]:
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    classes = column_or_1d(y, warn=True)
    n_missing = np.count_nonzero(is_missing(classes))
    if n_missing:
        raise ValueError(f"Input y contains NaN or None: {n_missing} of {len(classes)} rows have no class; drop them")
    check_classification_targets(classes)
    return classes


def _read_weights(sample_weight: Any, n_rows: int) -> NDArray[np.int64] | None:
    if sample_weight is None:
        return None
    weights = encode_weights(read_column(sample_weight, "sample_weight"), n_rows)
    if not np.any(weights):
        raise ValueError("every row has a sample_weight of zero: there is nothing to learn from")
    return weights


# Columns out


def _partition(model: Model) -> Partition:
    (partition,) = model.partitions.values()
    return partition


def _onehot_rows(partition: Partition) -> NDArray[np.float64]:
    """A row for each part, and a last one, that of part -1: zeros."""
    return np.eye(partition.n_parts + 1, partition.n_parts)


def _log_odds_rows(partition: Partition) -> NDArray[np.float64]:
    """A row for each part, and a last one, that of part -1: zeros."""
    counts = partition.counts
    n_classes = counts.shape[1]
    columns = log_odds(counts)[:, 1:] if n_classes == 2 else log_odds(counts) * (n_classes > 1)
    columns[counts.sum(axis=1) == 0] = 0.0
    return np.concatenate([columns, np.zeros((1, columns.shape[1]))])


def _sparse_onehot(parts: list[NDArray[np.int64]], n_parts: list[int]) -> Any:
    offsets = np.cumsum([0, *n_parts])
    columns = np.column_stack(parts)
    is_known = columns >= 0
    ends = np.append(0, np.cumsum(is_known.sum(axis=1)))
    indices = (columns + offsets[:-1])[is_known]
    return csr_matrix((np.ones(len(indices)), indices, ends), shape=(len(columns), int(offsets[-1])))


def _unique(names: Iterable[str]) -> NDArray[np.object_]:
    taken: dict[str, None] = {}
    for name in names:
        free, number = name, 2
        while free in taken:
            free, number = f"{name} ({number})", number + 1
        taken[free] = None
    return np.array(list(taken), dtype=object)
