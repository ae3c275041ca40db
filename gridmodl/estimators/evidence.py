"""What `GridNaiveBayes` and `GridLogistic` share: sources of evidence fitted on rows, predictions, explanations.

Numbers have the evidence of the average over all their partitions, if that can be had (`averaged_columns`); all other
columns have that of the parts of the best partition.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from gridmodl.averaging.averages import Averages
from gridmodl.averaging.summing import averaged_of
from gridmodl.clock import Clock
from gridmodl.data.copies import copies_of
from gridmodl.data.frames import Frame, Name, Raw
from gridmodl.data.table import MEDIAN
from gridmodl.data.targets import NOT_GIVEN, marked_rows, rows_of
from gridmodl.estimators.base import EachColumnEstimatorBase, estimator
from gridmodl.estimators.columns import NOT_AVERAGED, averages_of_each, models_of_each, restricted
from gridmodl.estimators.inputs import (
    read_event,
    read_inputs,
    read_target,
    read_weights,
    report_stop,
)
from gridmodl.estimators.interactions import (
    OF_GRIDS,
    Chosen,
    LabelledRows,
    checked_interactions,
    choose,
    columns_of_grids,
)
from gridmodl.evidence.contributions import Contributions
from gridmodl.evidence.grids import GridSource
from gridmodl.evidence.importances import importances, worth_in_evidence
from gridmodl.evidence.prices import preparation_cost
from gridmodl.evidence.record import WeightedEvidence
from gridmodl.evidence.sources import EvidenceSource, curve_source, parts_source
from gridmodl.fit.options import checked_time
from gridmodl.model.models import Models

SAYS_NOTHING = "it says nothing about the classes"
NO_WEIGHT = "its weight is 0 beside the others"


class TrainingRows(NamedTuple):
    """Columns, classes and weights of the rows that a classifier is fitted on, and a clock that runs since."""

    inputs: Frame
    target: NDArray[Any]
    weights: NDArray[np.int64] | None
    event: Any
    is_labelled: NDArray[np.bool_]  # rows with a class and a weight
    clock: Clock

    @property
    def rows(self) -> NDArray[np.int64]:
        """Weight of each row; 0 of rows without a class."""
        weights = np.ones(self.inputs.n_rows, dtype=np.int64) if self.weights is None else self.weights
        return np.where(self.is_labelled, weights, 0)

    def codes(self, classes: NDArray[Any]) -> NDArray[np.int64]:
        """Number of the class of each row; 0 of rows without a class."""
        found = np.zeros(self.inputs.n_rows, dtype=np.int64)
        found[self.is_labelled] = np.searchsorted(classes, self.target[self.is_labelled])
        return found

    def weighted_columns(self, names: Iterable[Name]) -> dict[Name, Raw]:
        """Columns without the rows of weight 0; rows without a class are there."""
        columns = {name: self.inputs.columns[name] for name in names}
        if self.weights is None:
            return columns
        kept = self.weights > 0
        return {name: rows_of(raw, kept) for name, raw in columns.items()}

    def seconds_left(self, time_limit: float | None) -> float | None:
        return None if time_limit is None else max(0.0, time_limit - self.clock.elapsed)


@estimator
class EachColumnClassifierBase(ClassifierMixin, EachColumnEstimatorBase):  # type: ignore[misc]
    """Classifier that reads its columns one by one: the best partition of each, or the average over all partitions."""

    averaged: bool | str = "auto"
    unlabelled: Any = ()

    _averaged_kinds: ClassVar[tuple[str, ...]] = (
        "numerical",
    )  # kinds of columns with averages; `CurveSource` has no levels of ordinal columns
    _not_averaged: ClassVar[tuple[str, ...]] = NOT_AVERAGED  # parameters of columns that have the best partition

    def _read_training(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        self._policy  # noqa: B018  checked before all work
        if not (isinstance(self.averaged, bool) or self.averaged == "auto"):
            raise ValueError(f"averaged must be 'auto', True or False, got {self.averaged!r}")
        clock = Clock(checked_time(self.time_limit))
        inputs = read_inputs(self, X, reset=True)
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        target = read_target(self, y, None, self._has_mark)
        check_consistent_length(X, target)
        weights = read_weights(sample_weight, inputs.n_rows)
        is_labelled = np.ones(inputs.n_rows, dtype=bool) if weights is None else weights > 0
        if self._has_mark:
            is_labelled &= ~marked_rows(target, self.unlabelled)
            if not is_labelled.any():
                raise ValueError(f"all rows of y are marked as unlabelled={self.unlabelled!r}; some must have a class")
        event = read_event(y, self.event, self.unlabelled if self._has_mark else None)
        return TrainingRows(inputs, target, weights, event, is_labelled, clock)

    @property
    def _has_mark(self) -> bool:
        """Whether a value of y marks rows without a class; an empty tuple is not a value."""
        return self.unlabelled is not NOT_GIVEN and not (isinstance(self.unlabelled, tuple) and not self.unlabelled)

    def _models(self, training: TrainingRows, weights: Any, names: Sequence[Name], **more: Any) -> Models:
        """Models of the columns `names`."""
        inputs = training.inputs._replace(columns={name: training.inputs.columns[name] for name in names})
        options = {"time_limit": training.seconds_left(self.time_limit), **restricted(self._options(), names), **more}
        if self._has_mark:
            options |= {"unlabelled": self.unlabelled, "placement": MEDIAN}
        return models_of_each(self, inputs, training.target, weights, training.event, **options)

    def _averages(self, training: TrainingRows, weights: Any, names: Sequence[Name]) -> Averages:
        """Averages of the columns `names`."""
        return averages_of_each(
            self,
            training.inputs,
            names,
            training.target,
            weights,
            event=training.event,
            target_kind="classes",
            unlabelled=self.unlabelled if self._has_mark else NOT_GIVEN,
            time_limit=training.seconds_left(self.time_limit),
        )

    def _averaged_columns(self, training: TrainingRows, models: Models) -> list[Name]:
        """Columns of `models` that have the average over all partitions."""
        return self._averaged_among(training, {name: model.partitions[name].kind for name, model in models.items()})

    def _averaged_among(self, training: TrainingRows, kinds: Mapping[Name, str]) -> list[Name]:
        """Columns of these `kinds` that have the average; raise if one cannot have it, and `averaged` is True."""
        if self.averaged is False:
            return []
        kind = "semi" if self._has_mark and not training.is_labelled.all() else "classes"
        try:
            averaged_of(self._options()["criterion"], kind)
        except ValueError as error:
            if self.averaged is True:
                raise ValueError(f"averaged=True: {error}") from error
            return []
        found = []
        for name, of_column in kinds.items():
            if of_column not in self._averaged_kinds:
                continue
            why = self._why_parts(name)
            if why is None:
                found.append(name)
            elif self.averaged is True:
                raise ValueError(
                    f"averaged=True, and column {name!r} has {why}, which partitions that are averaged over need not "
                    "keep; averaged='auto' takes the parts of such columns"
                )
        return found

    def _why_parts(self, name: Name) -> str | None:
        """The parameter for which a column must have the parts of its best partition; None if there is none."""
        for what in self._not_averaged:
            value = getattr(self, what)
            if isinstance(value, Mapping):
                value = value.get(name)
            if value is not None:
                return what
        missing = self.missing.get(name) if isinstance(self.missing, Mapping) else self.missing
        return None if missing in (None, "auto") else f"missing={missing!r}"


@estimator
class EvidenceClassifierBase(EachColumnClassifierBase):
    """Classifier that adds up the weighted evidence of its columns, in ``evidence_``."""

    interactions: int | str | None = None

    def _read_training(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        checked_interactions(self.interactions)
        return super()._read_training(X, y, sample_weight)

    def _sources(
        self, training: TrainingRows, weights: Any, models: Mapping[Name, Any], averaged: Sequence[Name], n_columns: int
    ) -> dict[Name, EvidenceSource]:
        """Sources by name; `models` are of all columns, or of those that are not `averaged`."""
        averages = self._averages(training, weights, averaged)
        if models:
            rows = next(iter(models.values())).class_rows
        else:
            rows = next(iter(averages.values())).segments.counts.sum(axis=0)
        log_prior = np.log(rows / rows.sum())
        found: dict[Name, EvidenceSource | None] = {}
        for name in dict.fromkeys((*models, *averages)):
            price = float(np.log(n_columns)) + preparation_cost(models[name]) if name in models else 0.0
            if name in averages:
                found[name] = curve_source(averages[name], log_prior, price)
            else:
                found[name] = parts_source(models[name], log_prior, price)
        return {name: source for name, source in found.items() if source is not None}

    def _without_copies(
        self, training: TrainingRows, models: Models, sources: Mapping[Name, EvidenceSource]
    ) -> tuple[list[EvidenceSource], dict[Name, str]]:
        """Sources in the order of `models`, the most informative first, and why columns of `models` have none.

        Of copies of a column, the first in the data has a source: they would share its weight, or count it twice.
        """
        copies = self._copies(training, models, [name for name in training.inputs.columns if name in sources])
        used = [sources[name] for name in Models(models) if name in sources and name not in copies]
        return used, dict.fromkeys((name for name in models if name not in sources), SAYS_NOTHING) | copies

    def _copies(self, training: TrainingRows, models: Models, names: Sequence[Name]) -> dict[Name, str]:
        """Why some of the columns `names` say nothing new: each is a copy of an earlier one."""
        return copies_of(
            training.weighted_columns(names), {name: models[name].partitions[name].column_kind for name in names}
        )

    def _choose(self, training: TrainingRows, columns: Sequence[EvidenceSource], models: Models) -> Chosen:
        """Grids to use beside `columns`, the most informative column first, and selective weights of both."""
        first, kept = next(iter(models.values())), training.rows > 0
        labelled = LabelledRows(
            {name: rows_of(raw, kept) for name, raw in training.inputs.columns.items()},
            training.target[kept],
            training.codes(first.classes)[kept],
            training.rows[kept],
            np.log(first.class_rows / first.class_rows.sum()),
        )
        n_most = checked_interactions(self.interactions)
        grids: list[GridSource] = []
        time_limit = training.seconds_left(self.time_limit)
        if n_most != 0 and time_limit != 0.0:
            copies = self._copies(training, models, list(training.inputs.columns))
            names = columns_of_grids(self, [name for name in models if name not in copies])
            options = {what: restricted(self._options(), names)[what] for what in OF_GRIDS}
            grids, stopped = labelled.candidates(
                names, event=training.event, time_limit=time_limit, frame=training.inputs.kind, **options
            )
            report_stop(self, stopped)
            grids = [replace(one, model=replace(one.model, target_name=self._target_name)) for one in grids]
        return choose(labelled, columns, grids, n_most)

    def _set_evidence(
        self,
        training: TrainingRows,
        models: Models,
        sources: Sequence[EvidenceSource],
        weights: NDArray[np.float64],
        intercepts: NDArray[np.float64],
        left_out: Mapping[Name, str],
    ) -> None:
        """Set what all classifiers of evidence have; `weights` are by source, or by source and class.

        `left_out` says why columns have no source.
        """
        first = next(iter(models.values()))
        matrix = weights.reshape(len(sources), -1) if len(sources) else np.empty((0, 1))
        used = np.flatnonzero(matrix.any(axis=1))
        self.models_ = models
        grids = {str(source.name): k for k, source in enumerate(sources) if isinstance(source, GridSource)}
        self.grids_ = {name: sources[k].model for name, k in grids.items() if k in used}  # type: ignore[attr-defined]
        of_grids = {name: matrix[grids[name]] for name in self.grids_}
        self.grid_weights_ = {name: float(of[0]) if len(of) == 1 else of for name, of in of_grids.items()}
        self.classes_ = first.classes
        self.class_shares_ = first.class_rows / first.class_rows.sum()
        read = {name for k in used.tolist() for name in sources[k].columns}
        columns = training.inputs.columns
        self.left_out_ = {name: left_out.get(name, NO_WEIGHT) for name in columns if name not in read}
        self.evidence_ = WeightedEvidence(
            classes=first.classes,
            intercepts=intercepts,
            sources=tuple(sources[k] for k in used.tolist()),
            weights=matrix[used],
            names=tuple(training.inputs.columns),
            event_index=first.event_index if first.has_one_event else None,
            policy=self._policy,
            frame=training.inputs.kind,
            left_out=self.left_out_,
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; ties: first in ``classes_``.

        Parameters
        ----------
        %(X_again)s

        Returns
        -------
        ndarray of shape (n,)
        """
        inputs = self._read_again(X)
        return self._evidence.likeliest(inputs.columns, inputs.n_rows)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row of `X`; see `predict_log_proba`."""
        log_probabilities = self.predict_log_proba(X)
        return np.exp(log_probabilities, out=log_probabilities)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The log of the probability of each class for each row.

        Parameters
        ----------
        %(X_again)s

        Returns
        -------
        %(probabilities)s
        """
        inputs = self._read_again(X)
        return self._evidence.log_probabilities(inputs.columns, inputs.n_rows)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The log of the odds of the second class of two for each row, or the score of each class.

        Parameters
        ----------
        %(X_again)s

        Returns
        -------
        ndarray of shape (n,) for two classes, else (n, n_classes)
            Scores are those of `WeightedEvidence`: intercepts plus weighted evidence. Probabilities are in proportion
            to their exponentials, so that differences are logs of odds.
        """
        inputs = self._read_again(X)
        scores = self._evidence.scores(inputs.columns, inputs.n_rows)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each column in what the training rows are told of their classes, see Attributes."""
        check_is_fitted(self, "evidence_")
        return importances(self.evidence_.names, worth_in_evidence(self.evidence_, self.models_))

    def explain(self, X: Any) -> Contributions:
        """The contribution of each column to the probabilities of one row or of several.

        Parameters
        ----------
        X : array-like, frame, series or dict
            Rows as in `fit`; or one row: a dict of values by column name, a series of pandas, or a list of values.

        Returns
        -------
        Contributions
            A table (``table()``) and a picture (``plot()``), the largest contributions first.
        """
        check_is_fitted(self, "evidence_")
        return self._evidence.explain(X)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Write ``evidence_`` as JSON text, also to the file `path` if that is passed.

        `gridmodl.WeightedEvidence.from_json` reads it, and predicts the same without scikit-learn.
        """
        check_is_fitted(self, "evidence_")
        return self._evidence.to_json(path)

    def to_sql(self, dialect: str, table: str | Sequence[str] = "data", **options: Any) -> str:
        """Write the SQL query for the probability of each class of the rows of `table`, in the `dialect` of a database.

        `options` are ``columns``, ``keep`` and ``output`` of `WeightedEvidence.to_sql`.
        """
        check_is_fitted(self, "evidence_")
        return self._evidence.to_sql(dialect, table, **options)

    def to_onnx(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Build the ONNX graph for the probability of each class, also written to the file `path` if that is passed.

        `options` are ``output`` and ``missing_text`` of `WeightedEvidence.to_onnx`.
        """
        check_is_fitted(self, "evidence_")
        return self._evidence.to_onnx(path, **options)

    @property
    def _evidence(self) -> WeightedEvidence:
        """``evidence_`` with `unknown` and `new_missing` as they are now."""
        return replace(self.evidence_, policy=self._policy)

    def _read_again(self, X: Any) -> Frame:
        check_is_fitted(self, "evidence_")
        return read_inputs(self, X, reset=False)
