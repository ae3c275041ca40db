"""A transformer: the part of each value, or a statistic of the target in that part."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names_in, check_consistent_length, check_is_fitted

from gridmodl.averaging.evidence import woe_of_groups
from gridmodl.data.counts import Counts
from gridmodl.data.frames import Frame, Name, Raw
from gridmodl.data.numbers import is_missing_value
from gridmodl.data.remote.counting import MAX_GROUPS
from gridmodl.data.targets import NOT_GIVEN, TARGET_KINDS
from gridmodl.estimators.base import EachColumnEstimatorBase, estimator
from gridmodl.estimators.columns import (
    averages_of_each,
    choices_of_each,
    models_of_counts,
    models_of_each,
    parts_of_each,
)
from gridmodl.estimators.crossfit import (
    check_averaged,
    check_cross_fitting,
    cross_fitted,
    time_left,
)
from gridmodl.estimators.inputs import (
    check_all_have_classes,
    read_event,
    read_inputs,
    read_target,
    read_weights,
    reading_columns,
)
from gridmodl.fit.lazy.count import count_batch
from gridmodl.fit.options import RULES, checked_options
from gridmodl.model.encoding import (
    INVERTIBLE,
    TARGETS_OF,
    check_encoding,
    decoded,
    encoded_names,
    rows_of_parts,
    unique_names,
)
from gridmodl.model.models import Models
from gridmodl.model.policy import NO_PART
from gridmodl.search import AUTO, Search
from gridmodl.spelling import check_choice, check_columns, did_you_mean
from gridmodl.terms import PROBLEMS, Criterion


class FittedRows(NamedTuple):
    """What `fit` read: the columns, the target if there is one, and the weights."""

    inputs: Frame
    target: NDArray[Any] | None
    weights: NDArray[np.int64] | None


def check_batches(estimator: Any) -> bool:
    """Return True; raise ValueError for parameters that need all rows at once."""
    refused = {
        "averaged": bool(estimator.averaged),
        "target_kind": estimator.target_kind == "numerical",
        "criterion_options": estimator._is_auto,
        "placement": estimator.placement == "median",
    }
    names = [name for name, is_refused in refused.items() if is_refused]
    if names:
        listed = ", ".join(f"{name}={getattr(estimator, name)!r}" for name in names)
        raise ValueError(f"partial_fit counts batches of rows, and {listed} needs all rows at once: use fit")
    return True


def check_invertible(estimator: Any) -> bool:
    """Return True; raise ValueError for encodings in which parts may share their numbers."""
    if estimator.encode not in INVERTIBLE:
        raise ValueError(f"encode={estimator.encode!r} has no inverse, as two parts may have the same number")
    return True


@estimator
class GridDiscretizer(TransformerMixin, EachColumnEstimatorBase):  # type: ignore[misc]
    """Partition each column on its own (optimal binning): by the target, or by its density if there is no target.

    Numbers, dates and durations are cut into intervals; text, categories and booleans are put into groups of values.
    The criterion decides how many, so there is no number of parts (bins) to choose. Missing values need no imputation:
    they are a part of their own or join the part that fits best. See `gridmodl.optimize_each`.

    Without ``y``, each numerical column is cut where the density of its rows changes, see `gridmodl.optimize_density`:
    missing values are a part of their own, and infinite values lie in the outermost parts. Each value of a categorical
    column is a part, as nothing tells which belong together; with `max_parts` or `min_rows`, the rarest values share
    the last part, and missing values stay apart. No criterion is used, and parameters that need a target are an error:
    a criterion other than ``"modl"``, `criterion_options`, `search`, `target_kind`, `unlabelled`, `placement`, limits
    from `monotone` on, `event`, `partitions`, ``encode="woe"`` or ``encode="mean"``, `averaged` and `cv`.

    Parameters
    ----------
    %(criterion)s
    criterion_options : dict or "auto", optional
        Options of the named criterion, as `gridmodl.get_criterion` takes them. A grid search can search over them; no
        value compiles anything anew. With ``"auto"``, each column has its own, by held-out rows, as
        `gridmodl.choose_penalty` chooses them: for a criterion with a penalty option, such as ``"entropy"``, a target
        of classes and no limits but `max_parts`, by default 20, and `min_rows`.
    search : {"auto", "exact", "merge"} or Search, default="auto"
        How partitions are searched, see `gridmodl.optimize`.
    encode : {"ordinal", "onehot", "woe", "mean"}, default="ordinal"
        What `transform` returns for a column.

        - ``"ordinal"``: the number of the part, from 0, as int64. Intervals are in ascending order.
        - ``"onehot"``: for each part a column that is 1.0 in its rows and 0.0 elsewhere.
        - ``"woe"``: the weight of evidence of the part for the event, ``log(P(part | event) / P(part | rest))``: with
          n1 rows of the event and n0 of the rest in the part, N1 and N0 in all, the number
          ``log((n1 + 1/2) / (n0 + 1/2)) - log((N1 + 1/2) / (N0 + 1/2))``. It is positive where there are more events
          than average. With more than two classes and no `event` there is one column per class, of this class
          against the rest. A part without rows has 0.0, and so has every part if there is one class only. Rows
          without a class are not counted. If classes are grouped, the groups found for the column take the place of
          the classes.
        - ``"mean"``: the mean of a numerical target in the part, also called target encoding; the mean of all rows for
          a part without rows.
    averaged : bool, default=False
        With ``encode="woe"`` and classes: the weight of evidence of a value, and not of its part, by the average over
        all partitions of the column (`gridmodl.average`, `Average.woe`): ``logit P(event | value) - logit P(event)``.
        It predicts better than parts, and ``averages_`` has the averages. Columns of categories keep their groups, with
        ``(n_j + 1) / (n + J)`` for the share of class j in a group of n rows with J classes, as averages have. Ordinal
        values that are no level have 0.0. Limits that choose among partitions are refused: `partitions`, `min_rows`,
        `monotone`, `min_events`, `min_difference`, `fixed`, `allowed`, ``missing="apart"``, ``placement="median"``.
    cv : int, splitter or iterable, optional
        Folds of `fit_transform` for ``encode="woe"`` and ``"mean"``, as of scikit-learn's TargetEncoder: each fold is
        encoded by the parts or averages of all others, so that no row is encoded by its own class, from which a model
        would learn too much. A number of folds means stratified ones, shuffled by `random_state`; with a numerical
        target they are not stratified. `fit`, and so `transform`, uses all rows.
    sparse_output : bool, default=False
        Whether ``"onehot"`` returns a `scipy.sparse.csr_matrix`, as scikit-learn's OneHotEncoder does by default; other
        encodings are never sparse. Not for frames, which `set_output` may ask for.
    %(unknown)s
    %(new_missing)s
        A value of no part is encoded as `unknown_code` for ``"ordinal"``, as all 0.0 for ``"onehot"``, as 0.0 for
        ``"woe"`` and as the mean of all rows for ``"mean"``.
    min_period_rows : int, float or dict by column name, optional
        With periods, ``fit(X, y, stable_over=month)``: the least rows of a period in which parts are compared, by
        default 100; below 1, their share of all rows.
    unknown_code : {-1, "last"}, default=-1
        Ordinal code of a value of no part: -1; or ``"last"``, the number of parts of its column, one more than the code
        of its last part, for tools that refuse negative codes.
    target_kind : {"classes", "grouped", "numerical"}, optional
        Kind of ``y``; by default classes. Real numbers are then an error, and so are whole numbers with more than 20
        distinct values, if these are more than a tenth of the rows: state whether they are quantities or classes.

        - ``"classes"``: each value is a class, real numbers too.
        - ``"grouped"``: many classes, put into groups together with the partition of each column.
        - ``"numerical"``: real or whole numbers, cut into intervals together with each column.
    unlabelled : optional, default=()
        Value of ``y`` that marks rows without a class, such as ``-1``; None or NaN mean missing values. These rows only
        tell where the data lie, see `gridmodl.optimize`. By default every row has a class.
    placement : {"short", "median"}, optional
        ``"short"`` puts each bound at the shortest decimal or date strictly between two neighbouring values, see
        `gridmodl.optimize`. ``"median"``, with `unlabelled`: find the partitions from the labelled rows alone, then
        move each bound to the median of the unlabelled rows around it.
    %(event)s
    %(partitions)s
    %(kinds)s
    %(order)s
    %(special)s
    %(missing)s
    %(max_parts)s
    %(min_rows)s
    %(limits)s
    %(bounds)s
    %(time_limit)s
        The limit is for all columns together, in each fold of `cv` anew.
    %(random_state)s
        Only the search for a grouped or numerical target, the folds of a density and those of `cv` draw random numbers.
    %(n_jobs)s

    Attributes
    ----------
    %(models_)s
        Without ``y``, a dict with the `DensityModel` of each numerical column with two distinct numbers or more.
    averages_ : Averages
        With ``averaged=True``: the averages of the numerical and ordinal columns, by column name.
    partitions_ : dict of str to Partition
        By column name, in the order of the columns: the parts that `transform` returns.
    counts_ : Counts
        After `partial_fit`: the counts of all batches.
    choices_ : dict of str to PenaltyChoice
        With ``criterion_options="auto"``, how the options of each column were chosen.
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
    >>> X = [[1.0, "red"], [1.5, "blue"], [2.0, "red"], [2.5, "blue"]]
    >>> X += [[7.0, "red"], [7.5, "blue"], [8.0, "red"]]
    >>> y = ["no", "no", "no", "no", "yes", "yes", "yes"]
    >>> discretizer = GridDiscretizer().fit(X, y)
    >>> discretizer.transform([[3.0, "red"], [5.0, "blue"]])
    array([[0, 0],
           [1, 0]])
    >>> discretizer.set_params(encode="onehot").get_feature_names_out().tolist()
    ['x0_0_-inf..4.75', 'x0_1_4.75..inf', 'x1_0_blue+red']

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
    averaged: bool = False
    cv: Any = None
    sparse_output: bool = False
    target_kind: str | None = None
    unlabelled: Any = ()
    placement: str | None = None
    unknown_code: int | str = NO_PART
    min_period_rows: int | float | None = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, stable_over: Any = None) -> GridDiscretizer:
        """Find the best partition of each column.

        Parameters
        ----------
        %(X)s
        y : array-like of shape (n,), optional
            The class of each row, or its number with ``target_kind="numerical"``; without ``y``, columns are cut by
            density.
        %(sample_weight)s
        stable_over : array-like of shape (n,) or str, optional
            Period of each row, or the name of the column of X that holds it: the order of event rates of parts is the
            same in every period, see `gridmodl.optimize`. A column of X has parts like any other.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, stable_over)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, stable_over: Any = None) -> Any:
        """Find the best partition of each column, and encode the rows; with `cv`, each fold by the others.

        With `cv`, ``fit(X, y).transform(X)`` differs from ``fit_transform(X, y)``: the first encodes each row with the
        help of its own class, so take the second for the rows that a model learns from.

        Parameters
        ----------
        %(X)s
        y : array-like of shape (n,), optional
            As in `fit`.
        %(sample_weight)s
            A row of weight w is w rows of the same fold.
        stable_over : array-like of shape (n,) or str, optional
            As in `fit`; not with `cv`.

        Returns
        -------
        ndarray or csr_matrix of shape (n, number of output columns)
            As of `transform`.
        """
        if self.cv is None:
            given = {} if stable_over is None else {"stable_over": stable_over}  # subclasses may not know it
            return self.fit(X, y, sample_weight, **given).transform(X)
        if stable_over is not None:
            raise ValueError(
                "stable_over= compares event rates in the periods of all rows, and cv= fits to some; use fit and "
                "transform, or leave one of the two out"
            )
        check_cross_fitting(self, None if y is None else self.target_kind or "classes")
        rows = self._fit(X, y, sample_weight)
        assert rows.target is not None  # noqa: S101  for mypy: cv without y is refused
        return cross_fitted(self, X, rows.inputs, rows.target, rows.weights)

    @available_if(check_batches)  # type: ignore[untyped-decorator]  # scikit-learn asks whether there is the method
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, *, search: bool = False) -> GridDiscretizer:
        """Count one more batch of rows; the search runs when `transform` is called, or with ``search=True``.

        The counts of all batches are those of their rows together: as long as no column has more than 65,536 values,
        the parts are those that `fit` finds in all rows. Then the numbers of a column are counted in buckets, whose
        edges stay, and ``models_[name].resolution`` is the number of rows of the largest. The memory does not grow
        with the number of batches, but with that of the categories. Batches need pyarrow, ``gridmodl[duckdb]``.

        For classes, with `unlabelled` or grouped. There is no such method with `averaged`, a numerical target,
        ``criterion_options="auto"`` or ``placement="median"``, which need all rows at once. `fit` begins anew. Columns
        keep their types from batch to batch.

        Parameters
        ----------
        %(X)s
        y : array-like of shape (n,)
            The class of each row. A batch may lack classes, and have new ones.
        %(sample_weight)s
        search : bool, default=False
            Whether to search at once.

        Returns
        -------
        self
        """
        check_choice("target_kind", self.target_kind, (*TARGET_KINDS, None))
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed to partial_fit, but the target y is None"
            )
        check_encoding(self.encode, self.target_kind or "classes")
        self._policy  # noqa: B018  checked before all work
        earlier: Counts | None = vars(self).get("counts_")
        inputs = read_inputs(self, X, reset=earlier is None)
        weights = read_weights(sample_weight, inputs.n_rows)
        target = read_target(self, y, "classes", self._has_mark)
        if not (self._has_mark and is_missing_value(self.unlabelled)):
            check_all_have_classes(target)  # now, as counts that hold such rows could not be searched any more
        check_consistent_length(X, target)
        options = checked_options("modl", kinds=self.kinds, order=self.order, special=self.special)
        with reading_columns():
            counts = count_batch(earlier, inputs.columns, target, weights, options, MAX_GROUPS)
        self.counts_: Counts = counts
        self._is_stale = True
        if search:
            self._search_counts()
        return self

    def _search_counts(self) -> None:
        """Partition the columns by the counts of all batches, if there are any that no search has seen."""
        if not vars(self).get("_is_stale", False):
            return
        models = models_of_counts(
            self, self.counts_, self.event, placement=self.placement, target_kind=self.target_kind or "classes",
            unlabelled=self.unlabelled if self._has_mark else NOT_GIVEN,
        )  # fmt: skip
        self._keep(models)
        self._is_stale = False

    def _keep(self, models: Models) -> None:
        """Keep the models of a target."""
        self._forget()
        self.models_: Mapping[Name, Any] = models
        self.partitions_ = {name: model.partitions[name] for name, model in models.items()}
        self.target_kind_: str | None = self.target_kind or "classes"
        if PROBLEMS[self.target_kind_].names_classes:
            self.classes_ = next(iter(models.values())).classes

    def _fit(self, X: Any, y: Any, sample_weight: Any, stable_over: Any = None) -> FittedRows:
        """Check all arguments and fit; return what was read."""
        check_choice("target_kind", self.target_kind, (*TARGET_KINDS, None))
        if y is None:
            self._refuse_no_target()
        target_kind = None if y is None else self.target_kind or "classes"
        check_encoding(self.encode, target_kind)
        check_averaged(self, target_kind)
        self._policy  # noqa: B018  checked before all work
        check_unknown_code(self.unknown_code)
        inputs = read_inputs(self, X, reset=True)
        weights = read_weights(sample_weight, inputs.n_rows)
        for batches in ("counts_", "_is_stale"):
            self.__dict__.pop(batches, None)
        target = None
        if stable_over is not None and self.averaged:
            raise ValueError("averaged=True averages over all partitions, and stable_over= chooses among them")
        if isinstance(stable_over, str):
            check_columns("stable_over", [stable_over], inputs.columns)
            stable_over = inputs.columns[stable_over]
        if y is None:
            if stable_over is not None:
                raise ValueError("stable_over= compares event rates, shares of a class, and y was not passed")
            self._fit_densities(inputs, weights)
        else:
            target = read_target(self, y, self.target_kind, self._has_mark)
            check_consistent_length(X, target)
            event = read_event(y, self.event, self.unlabelled if self._has_mark else None)
            self._fit_target(inputs, target, weights, event, stable_over)
        return FittedRows(inputs, target, weights)

    def _fit_target(
        self,
        inputs: Frame,
        target: NDArray[Any],
        weights: NDArray[np.int64] | None,
        event: Any,
        stable_over: Any = None,
    ) -> None:
        """Partition the columns by the target, and average over their partitions."""
        begin = time.monotonic()
        of_target = {
            "target_kind": self.target_kind,
            "unlabelled": self.unlabelled if self._has_mark else NOT_GIVEN,
        }
        choices, averages = None, None
        if self._is_auto:
            self._refuse_auto(stable_over)
            choices = choices_of_each(self, inputs, target, weights, event, placement=self.placement)
            models = Models({name: one.model for name, one in choices.items()}, {}, inputs.kind, by_level=False)
        else:
            more = {**of_target, "stable_over": stable_over, "min_period_rows": self.min_period_rows}
            models = models_of_each(self, inputs, target, weights, event, placement=self.placement, **more)
        if self.averaged:
            names = [name for name in inputs.columns if models[name].partitions[name].kind != "categorical"]
            averages = averages_of_each(
                self, inputs, names, target, weights, event=event, time_limit=time_left(self, begin), **of_target
            )
        self._keep(models)
        if choices is not None:
            self.choices_ = choices
        if averages is not None:
            self.averages_ = averages

    def _forget(self) -> None:
        """Drop what only some targets and parameters have."""
        for name in ("classes_", "averages_", "choices_"):
            self.__dict__.pop(name, None)

    def _fit_densities(self, inputs: Frame, weights: NDArray[np.int64] | None) -> None:
        """Partition the columns without a target."""
        found = parts_of_each(self, inputs, weights)
        self._forget()
        self.target_kind_ = None
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
        self._search_counts()
        check_is_fitted(self, "partitions_")
        check_encoding(self.encode, self.target_kind_)
        return self._encoded(read_inputs(self, X, reset=False).columns.values())

    def _encoded(self, columns: Collection[Raw]) -> Any:
        """Encode the values of the columns, in the order of ``partitions_``."""
        partitions = self.partitions_.values()
        policy = self._policy
        parts = [partition.part_of_column(raw, policy) for partition, raw in zip(partitions, columns, strict=True)]
        if self.encode == "ordinal":
            return self._codes(parts)
        if self.encode == "onehot" and self.sparse_output:
            return sparse_onehot(parts, [partition.n_parts for partition in partitions])
        if self._is_averaged:
            encoded = zip(self.partitions_, columns, parts, strict=True)
            return np.hstack([self._averaged_woe(name, raw, part) for name, raw, part in encoded])
        rows = [rows_of_parts(self.encode, self.models_.get(name), of) for name, of in self.partitions_.items()]
        return np.hstack([of_part[part] for of_part, part in zip(rows, parts, strict=True)])

    @property
    def _is_averaged(self) -> bool:
        """Whether averages encode; ValueError if `averaged` was set after `fit`."""
        if self.averaged and self.encode == "woe" and "averages_" not in vars(self):
            raise ValueError("averaged=True was set after fit, which made no averages; fit again")
        return bool(self.averaged) and self.encode == "woe"

    def _averaged_woe(self, name: Name, raw: Raw, part: NDArray[np.int64]) -> NDArray[np.float64]:
        """Woe of the values of one column by its average, or by its groups, whose numbers are `part`."""
        if name in self.averages_:
            return self.averages_[name].woe({name: raw})
        return woe_of_groups(self.models_[name], self.partitions_[name])[part]

    def _codes(self, parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Ordinal codes of the parts, one column each."""
        check_unknown_code(self.unknown_code)
        codes = np.column_stack(parts)
        if self.unknown_code == "last":
            last = np.array([partition.n_parts for partition in self.partitions_.values()], dtype=np.int64)
            codes = np.where(codes < 0, last, codes)
        return codes

    @available_if(check_invertible)  # type: ignore[untyped-decorator]  # scikit-learn asks whether there is the method
    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """A value of each part: `transform` encodes it in the same way.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n, number of output columns)
            What `transform` returns, with ``encode="ordinal"`` or ``"onehot"``; others have no such method, as parts
            may share their numbers.

        Returns
        -------
        ndarray of shape (n, k)
            Of an interval its middle, also in columns of whole numbers; at both ends, that of the bound and the lowest
            or highest value of the training data. Of a group its most frequent value, of a group of levels the middle
            one, of a special part its first value. Missing (NaN, NaT or None) for a part of missing values, and for
            values of no part. Floats if all columns are floats, else objects.
        """
        self._search_counts()
        check_is_fitted(self, "partitions_")
        return decoded(X, self.encode, self.unknown_code, self.partitions_.values())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns of X, if X had none in `fit`; else they must be the same.

        Returns
        -------
        ndarray of str
            The name of the column. For ``encode="onehot"`` with the number of the part and its label,
            ``size_1_2.5..4.75`` or ``colour_0_blue+green``; for ``"woe"`` of several classes with the class,
            ``size_setosa``, and of groups of classes with the number of the group and its label. Brackets, commas,
            colons, quotes and spaces, which LightGBM or XGBoost refuse, become ``_``; a name that is taken gets a
            number.
        """
        self._search_counts()
        check_is_fitted(self, "partitions_")
        check_encoding(self.encode, self.target_kind_)
        names = _check_feature_names_in(self, input_features)
        columns = zip(names, self.partitions_.items(), strict=True)
        return unique_names(
            encoded
            for name, (key, partition) in columns
            for encoded in encoded_names(self.encode, name, self.models_.get(key), partition)
        )

    @property
    def _is_auto(self) -> bool:
        """Whether each column has options of its own, chosen by held-out rows."""
        return isinstance(self.criterion_options, str) and self.criterion_options == AUTO

    def _criterion(self) -> str | Criterion:
        return self.criterion if self._is_auto else super()._criterion()

    def _refuse_auto(self, stable_over: Any) -> None:
        """Raise if options cannot be chosen for this target, or within these limits."""
        refused = {
            "target_kind": self.target_kind not in (None, "classes"),
            "unlabelled": self._has_mark,
            "partitions": self.partitions is not None,
            **{name: getattr(self, name) is not None for name in RULES},
        }
        names = [name for name, is_refused in refused.items() if is_refused]
        if stable_over is not None:
            raise ValueError("criterion_options='auto' does not go with stable_over=. Name the options instead")
        if names:
            raise ValueError(
                "criterion_options='auto' chooses by the classes of held-out rows, from all partitions; it does not go "
                f"with {', '.join(f'{name}={getattr(self, name)!r}' for name in names)}. Name the options instead"
            )

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
            "averaged": bool(self.averaged),
            "cv": self.cv is not None,
            "target_kind": self.target_kind is not None,
            "unlabelled": self._has_mark,
            "placement": self.placement is not None,
            "event": self.event is not None,
            "partitions": self.partitions is not None,
            "min_period_rows": self.min_period_rows is not None,
            **{name: getattr(self, name) is not None for name in RULES},
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


def check_unknown_code(code: Any) -> None:
    """Raise ValueError if the ordinal code of values of no part is not allowed."""
    if isinstance(code, bool) or code not in (NO_PART, "last"):
        raise ValueError(f"unknown_code must be -1 or 'last', got {code!r}{did_you_mean(code, ['last'])}")


def sparse_onehot(parts: list[NDArray[np.int64]], n_parts: list[int]) -> Any:
    offsets = np.cumsum([0, *n_parts])
    columns = np.column_stack(parts)
    is_known = columns >= 0
    ends = np.append(0, np.cumsum(is_known.sum(axis=1)))
    indices = (columns + offsets[:-1])[is_known]
    return csr_matrix((np.ones(len(indices)), indices, ends), shape=(len(columns), int(offsets[-1])))
