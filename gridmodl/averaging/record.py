"""`Average`, the average over all partitions of a column."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.averaging.bands import beta_bands
from gridmodl.averaging.evidence import events_of, woe_of_shares
from gridmodl.averaging.summing import (
    SegmentCounts,
    Weights,
    averaged_of,
    null_loss,
    overall_shares,
    predicted_shares,
    weights_of,
)
from gridmodl.clock import Clock
from gridmodl.data.columns import Categories, encode_column, encode_for_model
from gridmodl.data.frames import ARRAYS, Name, lazy_frame, make_frame, read_frame
from gridmodl.data.numbers import Numbers
from gridmodl.fit.options import check_integer, check_seed
from gridmodl.model.labels import counted, has_mixed_types, shown_value, time_texts
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition, as_type_of
from gridmodl.plugins import criterion_of
from gridmodl.search.average.intervals import fewest_parts, sample_starts
from gridmodl.search.average.layers import Layers, sum_partitions
from gridmodl.search.moves import NO_LIMIT
from gridmodl.spelling import did_you_mean

MAX_SAMPLES = 100_000


@dataclass(frozen=True, eq=False)
class Average:
    """The average over all partitions of one column: of numbers into intervals, of levels into adjacent ones.

    Attributes
    ----------
    name : str
        Name of the column.
    log_evidence : float
        Logarithm of the sum over all partitions of exp(-cost) (of exp(-cost / 2) under ``aic`` and ``bic``).
    p_parts : ndarray
        Entry i is the probability of i + 1 parts, special codes included.
    bounds : ndarray
        Candidate bounds, ascending, in the column's own type: one between any two neighbouring values if these are at
        most ``m``. Of an ordinal column, places in ``segments.levels``, as in `Partition.bounds`.
    p_bounds : ndarray
        Probability of a bound at each of ``bounds``, or at a place near it that it stands for.
    p_missing_apart : float or None
        Probability that missing values have a part of their own; None if there were none.
    p_informative : float or None
        Probability that the column says something about the classes, if it had the prior probability one half: see
        Notes. None for a criterion without a prior of the number of parts.
    loo_loss : float or None
        Mean over the rows of -log P(class | value, all other rows), in nats; None for a criterion under which it has
        no closed form. An estimate of the log-loss on new rows; leave-one-out probabilities as features would leak the
        classes.
    loo_gain : float or None
        How much lower ``loo_loss`` is than that of one part with all rows; above 0 if the column helps to predict.
    neglected : float
        Certified upper limit of the probability of the numbers of parts that were left out.
    exact : bool
        Whether every place between two values was a candidate.
    knots : ndarray
        Values between which predictions are linear. Of an ordinal column, the places in ``segments.levels`` of the
        levels that training rows have (of some of them, if they are more than ``m``).
    segments : Partition
        Rows between candidate bounds, from which all else is computed.
    shares : ndarray of shape (n_parts, n_classes)
        Prediction for each part of ``segments``; for intervals, at the knots.
    classes : ndarray
        Classes of the target.
    criterion, options, prior, max_parts
        As passed to `average`.
    stopped, elapsed, frame, event, event_index, target_name
        As in `Model`; plots and reports show the probability of the event, or of the last class without one.

    Notes
    -----
    P(1 part) is not the probability that a column says nothing: the prior of ``modl`` is uniform over the numbers of
    parts, so that one part has the prior probability 1/N. ``p_informative`` weighs one part against all others with
    even odds: sum over I >= 2 of P(I parts) / ((N - 1) P(1 part)).
    """

    log_evidence: float
    p_parts: NDArray[np.float64]
    p_bounds: NDArray[np.float64]
    p_missing_apart: float | None
    p_informative: float | None
    loo_loss: float | None
    neglected: float
    exact: bool
    knots: NDArray[Any]
    shares: NDArray[np.float64]
    classes: NDArray[Any]
    criterion: str
    prior: str
    elapsed: float
    options: Mapping[str, bool | int | float] = field(default_factory=dict)
    max_parts: int | None = None
    stopped: str | None = None
    frame: str = ARRAYS
    event_index: int | None = None
    target_name: str | None = None
    _counted: SegmentCounts = field(repr=False, kw_only=True)

    @property
    def segments(self) -> Partition:
        return self._counted.segments

    @property
    def name(self) -> Name:
        return self.segments.name

    @property
    def bounds(self) -> NDArray[Any]:
        return self.segments.bounds

    @property
    def event(self) -> Any:
        return None if self.event_index is None else self.classes.tolist()[self.event_index]

    @property
    def loo_gain(self) -> float | None:
        return None if self.loo_loss is None else null_loss(self.segments, self._weights) - self.loo_loss

    @property
    def n_rows(self) -> int:
        """Sum of the row weights, unlabelled rows included."""
        return int(self.segments.rows.sum())

    @property
    def problem(self) -> str:
        """Kind of problem, a key of `gridmodl.terms.PROBLEMS`."""
        return self._counted.problem.kind

    def predict_proba(self, values: Any) -> Any:
        """Probability of each class at each value, in the order of ``classes``.

        Linear between two values of the training data, constant beyond their ends. Missing values and special codes
        have predictions of their own. For a missing value or a special code that no training row had: the shares of
        the classes in all rows.

        A level of an ordinal column has its own prediction. For a level that no training row had: as a bound between
        the levels around it is as likely at one place as at another, the line between their predictions, by its place
        in the order. For a value that is no level: the shares of the classes in all rows.

        Parameters
        ----------
        values : array-like of shape (n,), series or frame of one column
            Values of the type of the training column. A frame with several columns must have one named ``name``. For a
            lazy frame, the result is one of the same library with a column ``p_<class>`` for each class.
        """
        lazy = lazy_frame(values)
        if lazy is not None:
            from gridmodl.averaging.lazy import lazy_probabilities_of

            return lazy_probabilities_of({"": self}, lazy)
        return self._predicted(values)[0]

    def woe(self, values: Any) -> NDArray[np.float64]:
        """Weight of evidence at each value: logit P(event | value) - logit P(event).

        P(event | value) is that of `predict_proba`, and P(event) what one part with all rows predicts, so that the woe
        of a column of one part is 0. A value that no training row is like has exactly 0; so has every value if there
        is one class only.

        Parameters
        ----------
        values : array-like of shape (n,), series or frame of one column
            As in `predict_proba`.

        Returns
        -------
        ndarray of shape (n, number of events)
            One column for the ``event``; without one, a column for each class against all others.
        """
        shares, is_neutral = self._predicted(values)
        class_rows = self.segments.counts.sum(axis=0)
        overall = predicted_shares(self._weights.averaged, self._weights.weighing.setting.p, class_rows)
        found = woe_of_shares(shares, overall, class_rows, events_of(len(self.classes), self.event_index))
        found[is_neutral] = 0.0
        return found

    def _predicted(self, values: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Probability of each class at each value, and whether no training row is like the value."""
        low, share, apart = self._places(self._encoded(values))
        above = self.shares[np.minimum(low + 1, len(self.shares) - 1)]
        found = self.shares[low] + (above - self.shares[low]) * share[:, None]
        found[apart >= 0] = self.shares[apart[apart >= 0]]
        is_neutral = apart == NEUTRAL
        found[is_neutral] = overall_shares(self.segments)
        return found, is_neutral

    def _encoded(self, values: Any) -> Numbers:
        """Encode the values of the column; a value that is no level of an ordinal one is NaN, and not missing."""
        frame = read_frame(values, f"column {self.name!r}")
        columns = frame.columns
        if frame.has_names and self.name in columns:
            raw = columns[self.name]
        elif len(columns) == 1:
            raw = next(iter(columns.values()))
        else:
            raise ValueError(
                f"an average of column {self.name!r} takes its values; data has {len(columns)} columns, none of that "
                f"name{did_you_mean(self.name, columns)}"
            )
        if len(raw) == 0:
            return Numbers(self.name, np.empty(0), None, np.dtype(np.float64), self.segments.is_utc)
        if self.segments.kind == "ordinal":
            column = encode_column(raw, self.name, "categorical")
            assert isinstance(column, Categories)  # noqa: S101  for mypy
            self.segments.part_of_encoded(column)  # raises for values of another type
            return _places_of_levels(column, self.segments.levels)
        numbers = encode_for_model(raw, self.name, "numerical")
        assert isinstance(numbers, Numbers)  # noqa: S101  for mypy
        return numbers

    def _places(self, column: Numbers) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
        """For each value: the knot below it as a part, the share of the way to the next, and its part if it has one.

        The last is ON_LINE for numbers between knots, and NEUTRAL for values that no training row is like.
        """
        segments, n = self.segments, column.n_rows
        first, n_knots = int(segments.is_missing_apart), len(self.knots)
        apart = np.full(n, ON_LINE if n_knots else NEUTRAL, dtype=np.int64)
        low, share = np.zeros(n, dtype=np.int64), np.zeros(n)
        if n and n_knots:
            low, share = between_knots(self.knots, segments.is_utc, column)
        if n and len(segments.special):
            parts = segments.part_of_encoded(column)
            codes = parts >= self._counted.n_intervals
            apart[codes] = np.where(segments.rows[parts[codes]] > 0, parts[codes], NEUTRAL)
        if segments.kind == "ordinal":
            apart[np.isnan(column.values)] = NEUTRAL
        if column.missing is not None:
            apart[column.missing] = NEUTRAL if segments.missing is None else segments.missing
        return low + first, share, apart

    def band(self, values: Any, coverage: float = 0.9) -> NDArray[np.float64]:
        """Credible band of the probability of each class at each value: its lower and upper quantile.

        The probability of a class inside an interval has a Beta distribution, and the band is made of quantiles of the
        mixture of these over all intervals that hold the value. Intervals whose probabilities add up to at most 1e-6
        are left out, and the Beta distribution of many rows is the normal approximation of Peizer and Pratt, right to
        2e-6. In trials, bands of 90 % covered 93 % of true probabilities that are steps, and 89 to 92 % of smooth ones.

        Parameters
        ----------
        values : array-like of shape (n,), series or frame of one column
            As in `predict_proba`.
        coverage : float
            Probability inside the band, between 0 and 1.

        Returns
        -------
        ndarray of shape (n, n_classes, 2)
            NaN for values that no training row is like.
        """
        low, share, apart = self._places(self._encoded(values))
        found = np.full((len(low), len(self.classes), 2), np.nan)
        known = apart != NEUTRAL
        at = np.where(apart >= 0, apart, low)[known]
        share = np.where(apart >= 0, 0.0, share)[known]
        places, back = np.unique(np.column_stack([at, share]), axis=0, return_inverse=True)
        found[known] = self._bands(places, coverage)[back.reshape(-1)]
        return found

    def _bands(self, places: NDArray[np.float64], coverage: float) -> NDArray[np.float64]:
        """Bands at places: parts of ``segments``, and the share of the way to the next."""
        if not isinstance(coverage, (int, float)) or isinstance(coverage, bool) or not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage must be a number between 0 and 1, got {coverage!r}")
        return beta_bands(self._counted, self._weights, self._intervals, places, coverage)

    @cached_property
    def _weights(self) -> Weights:
        criteria = averaged_of(criterion_of(self.criterion, self.options, self.problem), self.problem)
        return weights_of(self._counted, criteria, self.prior, self.max_parts)

    @cached_property
    def _layers(self) -> Layers:
        layers = sum_partitions(self._weights.segments, self._weights.weighing, Clock())
        assert layers is not None  # noqa: S101  for mypy: this clock never stops
        return layers

    @property
    def _intervals(self) -> NDArray[np.float64]:
        """P((a, b]) by bound a and bound b; empty if only special codes have rows."""
        return self._layers.intervals if self._weights.segments.rows.any() else np.zeros((2, 2))

    @cached_property
    def best(self) -> Model:
        """Model of the cheapest partition at candidate bounds: the optimum of `optimize` if ``exact``."""
        from gridmodl.averaging.models import best_model

        return best_model(self)

    def sample(self, n: int = 1, random_state: int | None = 0) -> list[Model]:
        """Draw partitions by their probabilities, as models.

        Parameters
        ----------
        n : int
            Number of draws.
        random_state : int, optional
            Seed; the same seed draws the same partitions. None draws a fresh one.
        """
        from gridmodl.averaging.models import model_of_starts

        check_integer("n", n)
        check_seed(random_state)
        if not 0 <= n <= MAX_SAMPLES:
            raise ValueError(f"n must be from 0 to {MAX_SAMPLES}, got {n}")
        if not self._weights.segments.rows.any():
            return [model_of_starts(self, np.zeros(1, dtype=np.int64), "sample")] * n
        drawn = sample_starts(self._layers, int(n), np.random.default_rng(random_state))
        return [model_of_starts(self, starts, "sample") for starts in drawn]

    def partition(self, loss: float = 0.001) -> Model:
        """Model of the fewest parts whose predictions are near those of the average.

        Parameters
        ----------
        loss : float
            Nats a row that these parts may lose: the mean over the rows of sum_j p_j log(p_j / q_j), where p are the
            predictions of the average and q those of the row's part. If no partition is as near, the nearest one.
        """
        from gridmodl.averaging.models import model_of_starts

        if not isinstance(loss, (int, float)) or isinstance(loss, bool) or not loss >= 0.0:
            raise ValueError(f"loss must be a number of nats, 0 or more, got {loss!r}")
        weights, n = self._weights, self._counted.n_intervals
        if not weights.segments.rows.any():
            return model_of_starts(self, np.zeros(1, dtype=np.int64), "average")
        n_labelled = int(self.segments.counts.sum())
        most = min(weights.weighing.max_parts, NO_LIMIT)
        found = fewest_parts(weights.segments, weights.weighing, self.shares[:n], float(loss), n_labelled, most)
        return model_of_starts(self, found.starts, "average")

    def table(self, frame: str | None = None) -> Any:
        """Table of the curve: value of each knot, prediction of each class, and probability of a bound above it.

        The values of an ordinal column are its levels. `frame` is as in `Model.table`.
        """
        first, n = int(self.segments.is_missing_apart), len(self.knots)
        columns: dict[str, Any] = {"value": self._labels_of(self.knots) if self.segments.levels else self.knots}
        for c, label in enumerate(self.classes.tolist()):
            columns[f"p_{label}"] = self.shares[first : first + n, c]
        columns["p_bound"] = np.append(self.p_bounds, np.nan)[:n]
        return make_frame(columns, frame or self.frame)

    def _labels_of(self, values: NDArray[Any]) -> list[str]:
        """Text of some of ``knots`` or ``bounds``; of an ordinal column, the level at each place."""
        levels = self.segments.levels
        if not levels and values.dtype.kind in "mM":
            return time_texts(values, self.segments.is_utc)
        if not levels:
            return [str(value) for value in values]
        is_mixed = has_mixed_types(self.segments)
        return [shown_value(levels[place], is_mixed) for place in values.tolist()]

    def summary(self) -> str:
        """Text of the most important facts."""
        from gridmodl.report.hints import hints_of_averages
        from gridmodl.report.summary import wrapped

        likely = int(np.argmax(self.p_parts))
        lines = [
            f"{self.name}: average over all partitions of {counted(self.n_rows, 'row')}, {self._size_text()}",
            f"  most likely: {counted(likely + 1, 'part')}, probability {self.p_parts[likely]:.3g}",
            f"  log evidence: {self.log_evidence:.6g} (criterion {self.criterion}, prior over {self.prior})",
        ]
        if self.p_informative is not None:
            lines.append(f"  informative: probability {self.p_informative:.3g}")
        if self.loo_loss is not None:
            lines.append(f"  leave-one-out loss: {self.loo_loss:.4g} nats a row")
        if self.p_missing_apart is not None:
            lines.append(f"  missing values apart: probability {self.p_missing_apart:.3g}")
        if self.stopped is not None:
            lines.append(f"  stopped ({self.stopped}): one part")
        lines += [line for hint in hints_of_averages({self.name: self}) for line in wrapped(f"  note: {hint}")]
        return "\n".join(lines)

    def _size_text(self) -> str:
        n = len(self.bounds)
        return f"{counted(n, 'bound')}" if self.exact else f"{counted(n, 'candidate bound')} for all others"

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Write the average as JSON text, also to the file `path` if that is passed; `from_json` reads it exactly."""
        from gridmodl.averaging.file import write_average

        return write_average(self, path)

    @staticmethod
    def from_json(source: str | bytes | os.PathLike[str]) -> Average:
        """Read an average from `source`: a JSON text (a str or bytes) or the path of a file (a str or path-like).

        A str that begins with a brace is a text, any other str is a path.
        """
        from gridmodl.averaging.file import read_average

        return read_average(source)

    def to_sql(
        self, dialect: str, table: str | Sequence[str] = "data", *, column: str | None = None, keep: Sequence[str] = ()
    ) -> str:
        """Write the SQL query for the probability of each class, the same as `predict_proba` up to 1e-12.

        Parameters
        ----------
        dialect : {"postgres", "duckdb", "sqlite", "mysql", "bigquery", "snowflake", "spark"}
        table : str or sequence of str
            Name of the table, or the names of its schema and itself.
        column : str, optional
            Name of the column in SQL; by default ``name``.
        keep : sequence of str
            Columns of the table to return unchanged.

        Returns
        -------
        str
            A query with the columns `keep`, then ``p_`` and the name of each class. Moments are compared to the
            microsecond.
        """
        from gridmodl.report.sql.averages import query_of_average

        return query_of_average(self, dialect, table, column, keep)

    def to_onnx(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        output: str | Sequence[str] | None = None,
        missing_text: str = "",
    ) -> Any:
        """Build the ONNX graph for the probability of each class, the same as `predict_proba`.

        Parameters
        ----------
        path, missing_text
            As in `Model.to_onnx`.
        output : str or sequence of str, optional
            ``"predict"`` (output ``label``, the most probable class) and ``"proba"`` (``probabilities``); by default
            both.

        Returns
        -------
        onnx.ModelProto
            Graph with the column as its input, as in `Model.to_onnx`.
        """
        from gridmodl.report.onnx import onnx_of_average

        return onnx_of_average(self, path, output, missing_text)

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        about: str | None = None,
        sections: Sequence[Any] = (),
    ) -> str:
        """Write a page with the curve, its band, the best partition and the likely bounds; it needs no other file.

        Needs ``pip install "gridmodl[html]"``.

        Parameters
        ----------
        path : str or path-like, optional
            File to write the page to; an existing file is replaced.
        title : str, optional
            Title of the page.
        about : str, optional
            What readers should know of the data and the target, below the title.
        sections : sequence, optional
            Other results on the same page, as in `Model.to_html`.

        Returns
        -------
        str
            The text of the page.
        """
        from gridmodl.report.html.sections import write_report

        return write_report(self, sections, path, title, about)

    def plot(self, label: Any = None, ax: Any = None) -> Any:
        """Draw the probability of a class along the column with matplotlib: `gridmodl.plot.AverageDisplay`.

        Parameters
        ----------
        label : class, optional
            The class; by default the event, or the last class.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        AverageDisplay
        """
        from gridmodl.plot import AverageDisplay

        return AverageDisplay.from_average(self, label=label).plot(ax)

    def _repr_html_(self) -> str:
        """HTML that notebooks show."""
        from gridmodl.report.averages import average_html

        return average_html(self)

    def __repr__(self) -> str:
        return f"Average({self.name!r}, {counted(self.n_rows, 'row')}, {counted(len(self.bounds), 'bound')})"


ON_LINE, NEUTRAL = -1, -2


def between_knots(knots: NDArray[Any], is_utc: bool, column: Numbers) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Number of the knot at or below each value, and the share of the way to the next; 0 beyond the ends.

    A value between a finite number and an infinite one, or between two infinite ones, is as near to the upper as can
    be: bounds are at the lower one (`gridmodl.data.line.middles`).
    """
    engine = knots.view(np.int64) if knots.dtype.kind in "mM" else knots
    values = as_type_of(knots, is_utc, column)
    low = np.searchsorted(engine, values, side="right") - 1
    inside = (low >= 0) & (low < len(engine) - 1)
    low = np.clip(low, 0, len(engine) - 1)
    share, at = np.zeros(len(values)), low[inside]
    share[inside] = shares_of_way(engine[at], engine[at + 1], values[inside])
    return low.astype(np.int64), share


def _places_of_levels(column: Categories, levels: tuple[Any, ...]) -> Numbers:
    """Places of values in `levels`; NaN for missing values, which are flagged, and for values that are no level."""
    place = {level: float(i) for i, level in enumerate(levels)}
    places = np.array([place.get(value, np.nan) for value in column.values])
    missing = np.array([value is None for value in column.values])[column.codes]
    return Numbers(column.name, places[column.codes], missing if missing.any() else None, np.dtype(np.int64))


def shares_of_way(low: NDArray[Any], high: NDArray[Any], values: NDArray[Any]) -> NDArray[np.float64]:
    """(value - low) / (high - low), for low <= value < high, without overflow."""
    if low.dtype.kind in "iu":  # differences modulo 2^64 are right
        low, high, values = low.astype(np.uint64), high.astype(np.uint64), values.astype(np.uint64)
        return np.asarray((values - low) / (high - low).astype(np.float64))
    with np.errstate(over="ignore", invalid="ignore"):
        whole = high - low
        share = np.where(np.isfinite(whole), (values - low) / whole, (values / 2 - low / 2) / (high / 2 - low / 2))
    return np.where(np.isfinite(low) & np.isfinite(high), share, np.where(values > low, 1.0, 0.0))
