"""Bases of the estimators: shared parameters, their documentation, and the fitted model in notebooks.

An estimator is a dataclass: each field is a parameter of its constructor. Its docstrings, and those of its methods,
take shared entries from `DOCUMENTATION`: a line ``%(n_jobs)s`` stands for the entry of ``n_jobs``.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from gridmodl.data.frames import Name
from gridmodl.estimators.inputs import read_criterion, read_seed
from gridmodl.fit.options import RULES
from gridmodl.model.policy import Policy, checked_policy
from gridmodl.report.notebook import model_html, models_html
from gridmodl.report.pictures import left_out_fold
from gridmodl.report.scorecard import scorecard_html
from gridmodl.search import Search
from gridmodl.spelling import names_arguments
from gridmodl.terms import Criterion

DOCUMENTATION = {
    "criterion": """
criterion : str or Criterion, default="modl"
    The cost to minimise: a name from `gridmodl.list_criteria`, or a criterion.""",
    "criterion_options": """
criterion_options : dict, optional
    Options of the named criterion, as `gridmodl.get_criterion` takes them.""",
    "threshold": """
threshold : {None, "balanced"}, default=None
    How `predict` chooses a class: the most probable one; or, with ``"balanced"``, so that the balanced error (the mean
    of the error rates of the classes) is lowest on the training rows with a class.""",
    "unknown": """
unknown : {"neutral", "largest", "error"}, default="neutral"
    Part of a category that `fit` did not see: none, so that it tells nothing; the group of its column with the most
    rows; or a ValueError.""",
    "new_missing": """
new_missing : {"neutral", "error"}, default="neutral"
    Part of a missing value in a column in which `fit` saw none: none, so that it tells nothing, or a ValueError.""",
    "event": """
event : optional
    The class that weights of evidence, event rates and monotone limits speak of, see `gridmodl.optimize`: by default
    the last in sorted order (True, 1), or the last of an ordered categorical ``y``; with more than two classes, weights
    of evidence are then of each class against the rest. ``classes_`` is always sorted.""",
    "partitions": """
partitions : dict by column name or Models, optional
    Parts that `fit` takes as given, such as edited ones, instead of a search: for each named column a `Model` (with a
    grouped or numerical target, always), a `Partition`, the bounds of intervals, or the groups of values. Their rows
    are counted anew in every `fit`, and columns that are not named are searched. A category of no group is an
    error.""",
    "averaged": """
averaged : {"auto", True, False}, default="auto"
    Whether columns of numbers have the average over all partitions (see `gridmodl.average`) or the best partition. With
    ``"auto"``, the average, but for columns with `partitions`, `min_rows`, `missing` or a limit from `monotone` on, and
    under criteria that cannot be averaged; there, True is an error. Text, categories and ordered levels have parts.""",
    "unlabelled": """
unlabelled : optional, default=()
    Value of ``y`` that marks rows without a class, such as ``-1``; None or NaN mean missing values. They tell where the
    data lie: averages average over their classes too; for parts, the best partition of the labelled rows has its bounds
    at medians of the unlabelled rows (``placement="median"`` of `gridmodl.optimize`). By default every row has a
    class.""",
    "interactions": """
interactions : int, "auto" or None, default=None
    Largest number of grids of two or more columns to use beside the columns, where classes depend on combinations of
    values; None or 0 for none, ``"auto"`` for as many as pay. Grids are searched on the training rows, over all columns
    without limits of their own (`partitions`, `special`, `missing`, `monotone` and the others up to `allowed`); a grid
    is used if what it says beyond the columns is worth its construction.""",
    "importances_of_evidence": """
feature_importances_ : ndarray of shape (number of columns,)
    Share of each column in what is used, of sum 1: its weight times the mean evidence of the training rows for their
    own classes. What a grid tells is shared among its columns, by the information on the classes that it loses without
    each. 0 for columns of weight 0.""",
    "importances_of_grids": """
feature_importances_ : ndarray of shape (number of columns,)
    Share of each column, of sum 1, in the information on the target that the cells of the grid lose if the parts of
    that column are joined; of several grids, times their weights. 0 for columns in no grid.""",
    "grids_": """
grids_ : dict of str to Model
    The grids in use, by names such as ``"age x town"``, with their cells, rules (`Model.rules`) and plots.
grid_weights_ : dict of str to float
    Weight of each grid; of a `GridLogistic` for more than two classes, an array with one weight for each class.""",
    "evidence_": """
evidence_ : WeightedEvidence
    What predicts: for each column in use its lines (parts, or knots of an average), their evidence
    log P(class | line) - log P(class), and its weight; with JSON, SQL and `explain`.""",
    "left_out_": """
left_out_ : dict of str to str
    Columns that are not used, and why: copies of an earlier column, of the same values or of others in the same or
    reverse order, are among them. They stay columns of ``X``.""",
    "kinds": """
kinds : dict, optional
    ``"numerical"``, ``"categorical"`` or ``"ordinal"`` by column name, where the column's type says otherwise.""",
    "order": """
order : dict, optional
    By column name, the levels of an ordinal column from low to high; by default those of the column's type.""",
    "special": """
special : list of numbers or dict by column name, optional
    Numbers that are codes, not quantities, such as ``[-999]`` for all columns of numbers or ``{"age": [-999, -1]}``, or
    categories that are grouped with no others; each is a part, and those of a nested list share one.""",
    "counts": """
counts : {"binary", "frequency"}, default="binary"
    Meaning of an entry: with ``"binary"`` every entry other than 0 counts once, so a matrix without zeros is one group;
    with ``"frequency"`` an entry n, a whole number of 0 or more, counts n times.""",
    "max_parts": """
max_parts : int or dict by column name, optional
    Largest number of parts (bins) of a column; those of special codes, and of missing values alone, do not count.""",
    "max_groups": """
max_parts : int, optional
    Largest number of groups of rows, and of groups of columns.""",
    "min_rows": """
min_rows : int, float or dict by column name, optional
    Smallest number of rows of a part; below 1, the smallest share of all rows.""",
    "missing": """
missing : {"auto", "apart"} or dict by column name, default="auto"
    Where missing values of a numerical column go: to a part of their own or to the lowest interval, whichever is
    cheaper; with ``"apart"``, always to a part of their own.""",
    "limits": """
monotone : {"increasing", "decreasing", "peak", "valley", "auto"} or dict by column name, optional
    Order of the shares of the event in the intervals of a numerical column, see `gridmodl.optimize`.
min_events : int, float, ("event", int or float) or dict of these by column name, optional
    Smallest number of rows of every class in a part, or of the event alone; below 1, the smallest share of the rows of
    that class.
min_difference : float or dict by column name, optional
    Smallest difference of the shares of the event in two neighbouring parts.""",
    "bounds": """
fixed : list or dict of lists by column name, optional
    Bounds that the partition of a numerical column must have.
allowed : list or dict of lists by column name, optional
    The only bounds that the partition of a numerical column may have, besides the fixed ones.""",
    "time_limit": """
time_limit : float, optional
    Seconds after which the search stops and the best result so far is kept.""",
    "random_state": """
random_state : int, optional, default=0
    Seed of the search; None draws a fresh one.""",
    "n_jobs": """
n_jobs : int, optional
    Number of threads; None means 1, and -1 one per core. It does not change the result.""",
    "models_": """
models_ : Models
    By column name, in the order of the columns: the model of each, with its partition, cost, level and table, without
    training data; with `Models.table`, `Models.edit` and so on. Columns of arrays, and of frames whose names are not
    strings, are called ``x0``, ``x1``, ...""",
    "classes_": """
classes_ : ndarray
    The classes of the target.""",
    "class_factors_": """
class_factors_ : ndarray
    Factor of the probability of each class, before the largest product is taken; 1 without a threshold.""",
    "features_in": """
n_features_in_ : int
    Number of columns.
feature_names_in_ : ndarray
    Names of the columns, if the data had names that are strings.""",
    "X": """
X : array-like or frame of shape (n, k)
    Numbers, or columns of any kind: a frame of pandas, polars, pyarrow or another library that narwhals reads, or an
    array of objects.""",
    "X_again": """
X : array-like or frame of shape (n, k)
    The same columns as in `fit`.""",
    "matrix": """
X : array-like, sparse matrix or frame of shape (n, k)
    Numbers, none of them missing. A sparse matrix of any format is never made dense.""",
    "matrix_again": """
X : array-like, sparse matrix or frame of shape (n, k)
    The same columns as in `fit`.""",
    "y": """
y : array-like of shape (n,)
    The class of each row.""",
    "sample_weight": """
sample_weight : array-like of shape (n,), optional
    Whole numbers: a row of weight w counts as w rows.""",
    "probabilities": """
ndarray of shape (n, n_classes)
    Classes are in the order of ``classes_``.""",
}

Class = TypeVar("Class", bound=type)


@dataclass_transform(kw_only_default=True, eq_default=False)
def estimator(cls: Class) -> Class:
    """Make the class a dataclass of keyword parameters, and fill in the shared entries of its docstrings."""
    dataclass(kw_only=True, repr=False, eq=False)(cls)
    for field in fields(cls):
        if field.name in vars(cls):
            delattr(cls, field.name)  # the constructor has the default; a parameter is no class attribute
    cls.__init__ = names_arguments(cls.__init__)  # type: ignore[misc]
    methods = [member for member in vars(cls).values() if inspect.isfunction(inspect.unwrap(member))]
    for one in (cls, *methods, *map(inspect.unwrap, methods)):
        one.__doc__ = one.__doc__ and _filled(one.__doc__)
    return cls


def _filled(docstring: str) -> str:
    def entry(line: re.Match[str]) -> str:
        indent, name = line.groups()
        return textwrap.indent(DOCUMENTATION[name].strip(), indent)

    return re.sub(r"^( *)%\((\w+)\)s$", entry, docstring, flags=re.MULTILINE)


@estimator
class EstimatorBase(BaseEstimator):  # type: ignore[misc]
    """Parameters of every estimator; notebooks show its fitted model below scikit-learn's diagram."""

    criterion: str | Criterion = "modl"
    criterion_options: Mapping[str, Any] | str | None = None
    search: str | Search = "auto"
    max_parts: int | Mapping[Name, int] | None = None
    time_limit: float | None = None
    random_state: int | None = 0
    n_jobs: int | None = None

    _target_name: ClassVar[str | None] = None  # of y, if it is a series with a name; of each estimator from `fit` on

    def _options(self) -> dict[str, Any]:
        """The parameters as keyword arguments of `gridmodl.optimize`."""
        return {
            "criterion": self._criterion(),
            "search": self.search,
            "max_parts": self.max_parts,
            "time_limit": self.time_limit,
            "random_state": read_seed(self.random_state),
            "n_jobs": 1 if self.n_jobs is None else self.n_jobs,
        }

    def _criterion(self) -> str | Criterion:
        """The criterion with its options."""
        return read_criterion(self.criterion, self.criterion_options)

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + _fitted_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in shown:  # not with scikit-learn's option display="text"
            shown["text/html"] += _fitted_html(self)
        return shown


def _fitted_html(fitted: EstimatorBase) -> str:
    """The model or models of an estimator; nothing before it is fitted."""
    attributes = vars(getattr(fitted, "coclustering_", fitted))
    if "scorecard_" in attributes:
        return scorecard_html(attributes["scorecard_"])
    if "model_" in attributes:
        return model_html(attributes["model_"])
    if "models_" in attributes:
        evidence = attributes.get("evidence_")
        return models_html(attributes["models_"]) + ("" if evidence is None else left_out_fold(evidence.left_out))
    return ""


@estimator
class ColumnsEstimatorBase(EstimatorBase):
    """Estimator that takes columns of any kind, with missing values."""

    kinds: Mapping[Name, str] | None = None
    order: Mapping[Name, Any] | None = None
    min_rows: int | float | Mapping[Name, int | float] | None = None
    unknown: str = "neutral"
    new_missing: str = "neutral"

    def _options(self) -> dict[str, Any]:
        return {**super()._options(), "kinds": self.kinds, "order": self.order, "min_rows": self.min_rows}

    @property
    def _policy(self) -> Policy:
        """What `transform` and `predict` do with values that no part holds."""
        return checked_policy(self.unknown, self.new_missing, "new_missing")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        # Text is welcome, but input_tags.string stays False: it would promise to take any object, such as a dict.
        tags.input_tags.categorical = True
        return tags


@estimator
class EachColumnEstimatorBase(ColumnsEstimatorBase):
    """Estimator that partitions each column on its own, as `gridmodl.optimize_each` does."""

    event: Any = None
    partitions: Mapping[Name, Any] | None = None
    special: Any = None
    missing: str | Mapping[Name, str] = "auto"
    monotone: str | Mapping[Name, str] | None = None
    min_events: Any = None
    min_difference: float | Mapping[Name, float] | None = None
    fixed: Any = None
    allowed: Any = None

    def _options(self) -> dict[str, Any]:
        own = ("partitions", "special", "missing", *RULES)
        return {**super()._options(), **{name: getattr(self, name) for name in own}}


@estimator
class ThresholdClassifierMixin(ClassifierMixin):  # type: ignore[misc]
    """Classifier that chooses a class by probabilities times factors; the class must have `predict_proba`."""

    threshold: str | None = None

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba` of `X`; minus infinity for a probability of 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
