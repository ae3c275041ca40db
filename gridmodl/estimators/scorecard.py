"""A scorecard: points for the parts of each column, by a logistic regression on their weights of evidence."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gridmodl.data.columns import Categories, encode_column, kind_of
from gridmodl.data.frames import Name
from gridmodl.data.targets import rows_of
from gridmodl.estimators.base import estimator
from gridmodl.estimators.columns import NOT_AVERAGED
from gridmodl.estimators.evidence import EachColumnClassifierBase, TrainingRows
from gridmodl.estimators.inputs import read_inputs
from gridmodl.evidence.importances import added_up, importances, worth_of_parts
from gridmodl.fit.build import check_option_names
from gridmodl.fit.options import RULES, checked_options
from gridmodl.model.model import Model
from gridmodl.model.models import Models
from gridmodl.scorecard.cutoffs import Cutoffs
from gridmodl.scorecard.fitting import CardRows, weigh, with_enough_rows
from gridmodl.scorecard.record import Scorecard
from gridmodl.scorecard.refine import missing_apart, refined_groups, refined_intervals
from gridmodl.scorecard.scaling import checked_scaling
from gridmodl.scorecard.weights import Choice


@estimator
class GridScorecard(EachColumnClassifierBase):
    """A scorecard for two classes: each part of each column has points, which add up to a score.

    Columns are partitioned one by one; a logistic regression on the weights of evidence (woe) of the parts finds the
    weight of each column, 0 or more; the log of the odds is scaled to points. The card itself is ``scorecard_``, which
    needs no scikit-learn: points table, reason codes, cut-offs, JSON, SQL and a page.

    Parameters
    ----------
    %(criterion)s
    %(criterion_options)s
    search : {"auto", "exact", "merge"} or Search, default="auto"
        How partitions are searched, see `gridmodl.optimize`.
    pdo : float, default=20
        Points to double the odds.
    base_points : float, default=600
        Score of a row whose odds are `base_odds`.
    base_odds : float, default=50
        Odds of a row whose score is `base_points`: 50 rows without the event for one with it.
    odds_of : {"rest", "event"}, default="rest"
        Whose odds these are. With ``"rest"`` a high score means that the event is unlikely; with ``"event"``, likely.
    rounded : bool, default=False
        Whether points are rounded to whole numbers; then scores and probabilities are those of the rounded points.
    min_iv : float, default=0.02
        Smallest information value of a column.
    sign : bool, default=True
        Whether columns are left out whose weight would be negative: parts with more events than average would add to
        the score as if they had fewer.
    validate : bool, default=True
        Whether columns are left out without which held-out rows are predicted as well or better.
    max_columns : int, optional
        Largest number of columns in use.
    l2 : "auto" or float, default="auto"
        Strength with which weights are drawn to their mean, in rows; ``"auto"`` is chosen by held-out rows.
    %(averaged)s
        Here a column with an average has the parts of `Average.partition`, ordered levels too, and neither `min_rows`
        nor `missing` is a reason against it.
    parts_loss : float, default=0.001
        Nats a row that the parts of an average may lose, see `Average.partition`: with less there are more parts.
    refine : bool, default=True
        Whether columns have finer parts where Akaike's criterion prefers them, see Notes: of a few hundred rows, many
        weak columns add up that the criterion takes for noise. Columns of limits, `special` categories and
        `partitions` are never refined.
    %(unlabelled)s
    %(unknown)s
    %(new_missing)s
    %(kinds)s
    %(order)s
    %(event)s
    %(partitions)s
    %(special)s
    missing : {"apart", "auto"} or dict by column name, default="apart"
        Where missing values go: to a part of their own, however few they are; with ``"auto"``, those of numbers to the
        lowest interval and those of categories to a group of others if that is cheaper. Columns that a dict does not
        name have ``"auto"``.
    %(max_parts)s
    min_rows : int, float or dict by column name, default=20
        Smallest number of rows of a part; below 1, the smallest share of all rows. Parts of averages that have fewer
        join the neighbour whose woe is nearest.
    %(limits)s
    %(bounds)s
    %(time_limit)s
        The limit is for the partitions of all columns together.
    %(random_state)s
        It changes nothing: no search of one column is random.
    %(n_jobs)s

    Attributes
    ----------
    scorecard_ : Scorecard
        The card: `Scorecard.table`, `Scorecard.reasons`, `Scorecard.cutoffs`, `Scorecard.to_sql` and so on.
    %(models_)s
    coef_ : ndarray of shape (1, number of columns)
        Weight of the woe of each column; 0 for columns that are left out.
    feature_importances_ : ndarray of shape (number of columns,)
        Share of each column, of sum 1, in the sum of weight times information on the classes in the parts; 0 for
        columns that are left out.
    intercept_ : ndarray of shape (1,)
        Log of the odds of the event where no column says anything.
    left_out_ : dict of str to str
        Columns that are not used, and why.
    l2_ : float
        Strength of the penalty.
    l2_losses_ : dict of float to float
        Mean -log P(class) of held-out rows for each strength that was tried; empty if none was.
    held_out_loss_ : float or None
        Mean -log P(class) of held-out rows with the columns in use; None if there are too few rows.
    %(classes_)s
    %(features_in)s

    See Also
    --------
    GridLogistic : Logistic regression on averaged curves, for any number of classes.
    gridmodl.optimize_each : The models of all columns, without scikit-learn.

    Notes
    -----
    The log odds of the event are L = intercept + sum over columns of weight times woe. The score is
    offset + factor * (-L), or + factor * L with ``odds_of="event"``, where factor = pdo / log 2 and
    offset = base_points - factor * log(base_odds). The weights minimise::

        - sum over rows of log P(class of the row)  +  l2 / 2 * sum_k (w_k - w)^2  +  1/2 * (w - 1)^2

    where w is their mean. Rows are dealt into 5 folds; those of a fold are held out from the woe and weights that
    predict them. Columns are chosen in this order: one part or an iv below `min_iv`; copies of an earlier column, of
    the same values or of others in the same or reverse order; negative weights, the most negative first; then columns
    are taken out one by one, and the set with the lowest held-out loss is used. At the end weights are multiplied by
    the slope, at most 1, of a logistic regression of the held-out rows on their log odds.
    The parts are those of all rows, so that the held-out loss of a column with many parts is a little too low. The
    intercept is that under which the mean probability of the training rows is their event rate.

    With `refine`, a column of numbers has the levels of an isotonic regression, rising or falling, if its AIC
    (-log likelihood plus number of parameters) is below that of the parts of the average, whose parameters are rates
    and bounds; a categorical column has a part for each value with `min_rows` rows, if that is below one part. Of
    these, neighbours by event rate are joined while AIC falls.

    Examples
    --------
    >>> import numpy as np
    >>> from gridmodl.estimators import GridScorecard
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=1000) > 1, "bad", "good")
    >>> card = GridScorecard(event="bad", rounded=True).fit(X, y)
    >>> card.left_out_
    {'x2': 'it has one part'}
    >>> card.score_points(X[:3])
    array([541., 568., 437.])
    """

    pdo: float = 20.0
    base_points: float = 600.0
    base_odds: float = 50.0
    odds_of: str = "rest"
    rounded: bool = False
    min_iv: float = 0.02
    sign: bool = True
    validate: bool = True
    max_columns: int | None = None
    l2: float | str = "auto"
    parts_loss: float = 0.001
    refine: bool = True

    missing: str | Mapping[Name, str] = "apart"
    min_rows: int | float | Mapping[Name, int | float] | None = 20

    _averaged_kinds: ClassVar[tuple[str, ...]] = ("numerical", "ordinal")
    _not_averaged: ClassVar[tuple[str, ...]] = tuple(name for name in NOT_AVERAGED if name != "min_rows")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GridScorecard:
        """Find the parts of each column, choose columns, and weigh them.

        Parameters
        ----------
        %(X)s
        y : array-like of shape (n,)
            The class of each row, one of two.
        %(sample_weight)s

        Returns
        -------
        self
        """
        scaling = checked_scaling(self.pdo, self.base_points, self.base_odds, self.odds_of, self.rounded)
        choice, min_iv = self._choice(), _checked_number("min_iv", self.min_iv)
        parts_loss = _checked_number("parts_loss", self.parts_loss)
        training = self._read_training(X, y, sample_weight)
        _check_two_classes(training)
        names = list(training.inputs.columns)
        found = self._found_models(training, parts_loss)
        self.models_ = Models(found, {}, training.inputs.kind, by_level=False)
        first = next(iter(found.values()))
        kept = training.rows > 0
        table = CardRows(
            {name: rows_of(raw, kept) for name, raw in training.inputs.columns.items()},
            training.codes(first.classes)[kept] == first.event_index,
            training.rows[kept],
        )
        weighed = weigh(self.models_, table, min_iv, choice, training.weighted_columns(names))
        self.classes_ = first.classes
        self.l2_, self.l2_losses_, self.held_out_loss_ = weighed.fit.l2, weighed.fit.losses, weighed.fit.held_out
        self.left_out_ = weighed.left_out
        self.scorecard_ = Scorecard(
            models=Models(weighed.models, {}, training.inputs.kind, by_level=False),
            weights=weighed.weights,
            intercept=weighed.intercept,
            scaling=scaling,
            classes=first.classes,
            event_index=int(first.event_index or 0),
            names=tuple(names),
            left_out=weighed.left_out,
            policy=self._policy,
            frame=training.inputs.kind,
        )
        self.intercept_ = np.array([weighed.intercept])
        self.coef_ = np.zeros((1, len(names)))
        for name, weight in zip(weighed.models, weighed.weights.tolist(), strict=True):
            self.coef_[0, names.index(name)] = weight
        return self

    def _found_models(self, training: TrainingRows, parts_loss: float) -> dict[Name, Model]:
        """Model of each column: parts of averages, or the best partition; both refined if `refine` is set."""
        inputs, given = training.inputs, self._options()
        what = ("criterion", "search", "kinds", "order", "special", "missing", "max_parts", "min_rows", *RULES)
        check_option_names(checked_options(**{name: given[name] for name in what}), inputs.columns)
        kinds = self._kinds(inputs.columns)
        averaged = self._averaged_among(training, kinds)
        others = [name for name in inputs.columns if name not in averaged]
        found: dict[Name, Model] = {}
        if others:
            found |= self._models(training, training.weights, others, target_kind="classes")
        averages = self._averages(training, training.weights, averaged)
        for name, one in averages.items():
            model, least = one.partition(parts_loss), self._least_rows(name, one.n_rows)
            if self._is_apart(name):
                model = missing_apart(one, model)
            model = with_enough_rows(model, least)
            if self.refine and one.stopped is None:
                model = refined_intervals(one, model, least)
            found[name] = replace(model, frame=inputs.kind, delta=None, _source=None)
        groups = self._groups_of(training, [name for name in others if kinds[name] == "categorical"], found)
        if groups:
            more = {"partitions": groups, "target_kind": "classes"}
            found |= self._models(training, training.weights, list(groups), **more)
        return {name: found[name] for name in inputs.columns}

    def _kinds(self, columns: Mapping[Name, Any]) -> dict[Name, str]:
        """Kind of each column: as the parameters say, or else as its type says."""
        found = {name: kind_of(raw) for name, raw in columns.items()}
        found |= {name: kind for name, kind in (self.kinds or {}).items() if name in found}
        return found | {name: "ordinal" for name in self.order or {} if name in found}

    def _is_apart(self, name: Name) -> bool:
        """Whether missing values of the column `name` must have a part of their own."""
        own = self.missing.get(name, "auto") if isinstance(self.missing, Mapping) else self.missing
        return own == "apart"

    def _why_parts(self, name: Name) -> str | None:
        why = super()._why_parts(name)
        return None if why is not None and why.startswith("missing=") else why

    def _groups_of(
        self, training: TrainingRows, names: Sequence[Name], found: Mapping[Name, Model]
    ) -> dict[Name, list[list[Any]]]:
        """Refined groups of the categorical columns `names`, of those that have such.

        Columns have none if a parameter other than `missing`, `min_rows` and `max_parts` decides on their groups.
        """
        groups: dict[Name, list[list[Any]]] = {}
        for name in names if self.refine else ():
            model = found[name]
            if self._why_parts(name) is None and not model.partitions[name].n_special and model.stopped is None:
                refined = self._refined_groups(training, name, model)
                if refined is not None:
                    groups[name] = refined
        return groups

    def _refined_groups(self, training: TrainingRows, name: Name, model: Model) -> list[list[Any]] | None:
        """Groups of the values of a categorical column that are preferred to one part, or None."""
        kept = training.rows > 0
        column = encode_column(rows_of(training.inputs.columns[name], kept), name, "categorical")
        assert isinstance(column, Categories)  # noqa: S101  for mypy
        codes, rows = training.codes(model.classes)[kept], training.rows[kept]
        is_event = codes == model.event_index
        both = [np.bincount(column.codes, rows * of_class, len(column.values)) for of_class in (~is_event, is_event)]
        counts = np.stack(both, axis=1)  # the groups go from the lowest event rate to the highest
        apart = int(column.values[0] is None and len(column.values) > 1 and self._is_apart(name))
        most = self.max_parts.get(name) if isinstance(self.max_parts, Mapping) else self.max_parts
        found = refined_groups(
            counts[apart:].astype(np.int64),
            self._least_rows(name, int(rows.sum())),
            most,
        )
        if found is None:
            return None
        groups = [[column.values[apart + i] for i in group] for group in found]
        return [[None], *groups] if apart else groups

    def _least_rows(self, name: Name, n_rows: int) -> float:
        """Smallest number of rows of a part of the column `name`."""
        least = self.min_rows.get(name) if isinstance(self.min_rows, Mapping) else self.min_rows
        return 1 if least is None else least * n_rows if least < 1 else least

    def _choice(self) -> Choice:
        """Checked parameters of the choice of columns and weights."""
        for name in ("sign", "validate", "refine"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"{name} must be True or False, got {getattr(self, name)!r}")
        if isinstance(self.l2, str):
            if self.l2 != "auto":
                raise ValueError(f"l2 must be 'auto' or a number of rows, 0 or more, got {self.l2!r}")
            l2 = None
        else:
            l2 = _checked_number("l2", self.l2)
        most = self.max_columns
        if most is not None and (isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 1):
            raise ValueError(f"max_columns must be None or a number of columns, 1 or more, got {most!r}")
        return Choice(l2, bool(self.sign), bool(self.validate), most)

    def predict(self, X: Any) -> NDArray[Any]:
        """The more probable class of each row; ties: first in ``classes_``.

        Parameters
        ----------
        %(X_again)s

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._card.predict(self._columns(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row.

        Parameters
        ----------
        %(X_again)s

        Returns
        -------
        %(probabilities)s
        """
        return self._card.predict_proba(self._columns(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba` of `X`."""
        return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Log of the odds of the second class of ``classes_`` for each row of `X`."""
        odds = self._card.log_odds(self._columns(X))
        return odds if self.scorecard_.event_index == 1 else -odds

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each column in what the parts tell of the classes, times their weights; see Attributes."""
        check_is_fitted(self, "scorecard_")
        card = self.scorecard_
        worth = [{name: worth_of_parts(model)} for name, model in card.models.items()]
        return importances(card.names, added_up(worth, card.weights.tolist()))

    def score_points(self, X: Any) -> NDArray[np.float64]:
        """The score of each row of `X`: the sum of its points. (`score` is scikit-learn's accuracy.)"""
        return self._card.score(self._columns(X))

    def reasons(self, X: Any, n: int = 4, *, against: str = "best", codes: Mapping[Name, str] | None = None) -> Any:
        """Reason codes of the rows of `X`: `Scorecard.reasons` with `n`, `against` and `codes`."""
        check_is_fitted(self, "scorecard_")
        return self._card.reasons(X, n, against=against, codes=codes)

    def cutoffs(
        self, X: Any, y: Any, *, sample_weight: Any = None, at: Any = None, n: int = 20, loss: Any = 1.0
    ) -> Cutoffs:
        """Cut-offs and what each approves of `X`: `Scorecard.cutoffs` with `y`, `sample_weight`, `at`, `n`, `loss`."""
        return self._card.cutoffs(self._columns(X), y, weights=sample_weight, at=at, n=n, loss=loss)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Write ``scorecard_`` as JSON text, also to the file `path` if passed; `Scorecard.from_json` reads it."""
        return self._card.to_json(path)

    def to_sql(self, dialect: str, table: str | Sequence[str] = "data", **options: Any) -> str:
        """Write the SQL query for the score of the rows of `table`, in the `dialect` of a database.

        `options` are ``columns``, ``keep`` and ``output`` of `Scorecard.to_sql`.
        """
        return self._card.to_sql(dialect, table, **options)

    def to_html(self, path: str | os.PathLike[str] | None = None, **options: Any) -> str:
        """A page on ``scorecard_``, also written to the file `path`; `options` are those of `Scorecard.to_html`."""
        return self._card.to_html(path, **options)

    @property
    def _card(self) -> Scorecard:
        """``scorecard_`` with `unknown` and `new_missing` as they are now."""
        check_is_fitted(self, "scorecard_")
        return replace(self.scorecard_, policy=self._policy)

    def _columns(self, X: Any) -> Mapping[Name, Any]:
        check_is_fitted(self, "scorecard_")
        return read_inputs(self, X, reset=False).columns

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _checked_number(name: str, value: Any) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not math.isfinite(value) or value < 0.0:
        raise ValueError(f"{name} must be a finite number, 0 or more, got {value!r}")
    return float(value)


def _check_two_classes(training: TrainingRows) -> None:
    """Raise ValueError unless the rows have two classes."""
    classes = np.unique(training.target[training.is_labelled])
    if len(classes) == 2:
        return
    if len(classes) < 2:
        raise ValueError(f"a scorecard needs rows of two classes, and y has one class, {classes.tolist()[0]!r}")
    raise ValueError(
        f"Only binary classification is supported. The type of the target is multiclass: y has {len(classes)} classes. "
        "A scorecard is for two; take y == event, or GridLogistic for more"
    )
