"""`Scorecard`: points for the parts of columns, which add up to a score; it scores, explains and is written.

score  =  base + sum over columns of the points of the part  =  offset + factor * log odds
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import ARRAYS, Frame, Name, make_frame
from gridmodl.evidence.record import as_rows, read_rows
from gridmodl.model.evidence import evidence_of, total_evidence
from gridmodl.model.labels import aligned, counted
from gridmodl.model.models import Models
from gridmodl.model.names import named_labels, names_within, shortened
from gridmodl.model.partition import Partition
from gridmodl.model.policy import NEUTRAL, Policy
from gridmodl.scorecard.cutoffs import Cutoffs, cutoffs_of
from gridmodl.scorecard.reasons import reasons_of
from gridmodl.scorecard.scaling import Scaling, checked_scaling

if TYPE_CHECKING:
    from gridmodl.monitoring.record import Comparison

BASE, NO_PART_LABEL = "(base)", "(any other value)"
BLOCK = 2**18  # rows that are scored at a time
MAX_SHOWN = 100
MAX_COLUMN, MAX_PART = 20, 24  # characters of a name in the summary


@dataclass(frozen=True, eq=False)
class Scorecard:
    """Points for the parts of columns, which add up to a score. It needs no scikit-learn.

    Attributes
    ----------
    models : Models
        Model of each column in use, with its parts, their rows and weights of evidence.
    weights : ndarray
        Weight of the weights of evidence (woe) of each column, in the order of ``models``.
    intercept : float
        Log of the odds of the event where no column says anything.
    scaling : Scaling
        ``pdo``, ``base_points``, ``base_odds``, ``odds_of`` and ``rounded``; its ``factor`` and ``offset``.
    classes : ndarray
        The two classes of the target.
    event_index : int
        Number of the event in ``classes``.
    event : object
        The event, such as a default.
    names : tuple
        Names of all columns of the training data, in their order.
    left_out : dict of str to str
        Columns that are not used, and why.
    policy : Policy
        What is done with values that no part has.
    frame : str
        Kind of frame of the training data, in which tables are returned.
    base : float
        Points of every row.

    Notes
    -----
    With the log odds of the event L = ``intercept`` + sum over columns of weight times woe, the score is
    ``offset`` + ``factor`` * (-L), or + ``factor`` * L with ``odds_of="event"``. A column adds ``factor`` times its
    weight times woe with that sign; a value of no part (a category that training did not have, or a missing value if
    it had none) adds 0. With ``rounded`` the points of the base and of each part are rounded first; scores and
    probabilities are those of the rounded points, in Python, JSON and SQL alike.
    """

    models: Models
    weights: NDArray[np.float64]
    intercept: float
    scaling: Scaling
    classes: NDArray[Any]
    event_index: int
    names: tuple[Name, ...]
    left_out: Mapping[Name, str] = field(default_factory=dict)
    policy: Policy = NEUTRAL
    frame: str = ARRAYS

    @property
    def event(self) -> Any:
        return self.classes.tolist()[self.event_index]

    @property
    def base(self) -> float:
        return self.scaling.base(self.intercept)

    def partition(self, name: Name) -> Partition:
        """Parts of the column `name`."""
        (found,) = self.models[name].partitions.values()
        return found

    def woe(self, name: Name) -> NDArray[np.float64]:
        """Weight of evidence of each part of the column `name`."""
        (found,) = evidence_of(self.models[name], self.partition(name))
        return found.woe

    def points_of(self, name: Name) -> NDArray[np.float64]:
        """Points of each part of the column `name`."""
        return self.scaling.points(self.weights[list(self.models).index(name)] * self.woe(name))

    def score(self, data: Any) -> NDArray[np.float64]:
        """Score of each row.

        Parameters
        ----------
        data : array-like, frame or dict
            Frames and dicts need the columns of ``models``; an array must have all columns of ``names`` in order. One
            row can be a dict of values.
        """
        frame = self.read(data)
        found = np.empty(frame.n_rows)
        for rows, points in self.blocks(frame):
            found[rows] = self._total(points)
        return found

    def points(self, data: Any, frame: str | None = None) -> Any:
        """Table of the points that each column adds to each row, ``base`` first and ``score`` last.

        `data` is as in `score`, and `frame` as in `Model.table`.
        """
        rows = self.read(data)
        found = np.concatenate([np.zeros((0, len(self.models))), *(block for _, block in self.blocks(rows))])
        columns = dict(zip(map(str, self.models), found.T, strict=True))
        base, score = (_free(word, columns) for word in ("base", "score"))
        table = {base: np.full(len(found), self.base), **columns, score: self._total(found)}
        return make_frame(table, frame or self.frame)

    def _total(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Score of each row from its points by column, added in their order, as queries do."""
        total = np.full(len(points), self.base)
        for column in points.T:
            total += column
        return total

    def log_odds(self, data: Any) -> NDArray[np.float64]:
        """Log of the odds of the event of each row, as its score says. `data` is as in `score`."""
        return self.scaling.log_odds(self.score(data))

    def predict_proba(self, data: Any) -> NDArray[np.float64]:
        """Probability of each class for each row, in the order of ``classes``. `data` is as in `score`."""
        odds = self.log_odds(data)
        small = np.exp(-np.abs(odds))
        of_event = np.where(odds >= 0.0, 1.0, small) / (1.0 + small)
        of_rest = np.where(odds >= 0.0, small, 1.0) / (1.0 + small)
        return np.column_stack([of_rest, of_event] if self.event_index else [of_event, of_rest])

    def predict(self, data: Any) -> NDArray[Any]:
        """The more probable class of each row; ties: first in ``classes``. `data` is as in `score`."""
        return np.asarray(self.classes[self.predict_proba(data).argmax(axis=1)])

    def read(self, data: Any) -> Frame:
        """Read the columns of `data`; raise if one in use is not there."""
        return read_rows(as_rows(data, self.names), self.names, list(self.models))

    def blocks(self, frame: Frame) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Points by row and column of the columns of `frame`, some rows at a time."""
        by_part = {name: np.append(self.points_of(name), 0.0) for name in self.models}
        for rows, parts in self.parts_in_blocks(frame):
            points = np.empty(parts.shape)
            for k, points_of in enumerate(by_part.values()):
                points[:, k] = points_of[parts[:, k]]
            yield rows, points

    def parts_in_blocks(self, frame: Frame) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """Number of the part by row and column of `frame`, -1 for none, some rows at a time."""
        for first in range(0, frame.n_rows, BLOCK):
            rows = slice(first, min(first + BLOCK, frame.n_rows))
            parts = np.empty((rows.stop - rows.start, len(self.models)), dtype=np.int64)
            for k, name in enumerate(self.models):
                parts[:, k] = self.partition(name).part_of_column(frame.columns[name][rows], self.policy)
            yield rows, parts

    def table(self, frame: str | None = None) -> Any:
        """The points table: the base, then each part of each column with its rows, event rate, woe and points.

        Where values can belong to no part, a column ends with the points of these. `frame` is as in `Model.table`.
        """
        return make_frame(self.table_of(map(self.column_table, self.models)), frame or self.frame)

    def table_of(self, tables: Iterable[Mapping[str, list[Any]]]) -> dict[str, list[Any]]:
        """Columns of the points table: the base, then `tables` of the columns of the data."""
        columns: dict[str, list[Any]] = {
            "column": [BASE], "part": [""], "rows": [0], "share": [np.nan], "event_rate": [np.nan], "woe": [np.nan],
            "points": [self.base],
        }  # fmt: skip
        for table in tables:
            for key, values in table.items():
                columns[key] += values
        return columns

    def column_table(self, name: Name) -> dict[str, list[Any]]:
        """Columns of the points table for the column `name` of the data, last the points of values of no part."""
        found = self.parts_table(name)
        if self.has_other_values(name):
            none = (str(name), NO_PART_LABEL, 0, 0.0, np.nan, 0.0, 0.0)
            for values, value in zip(found.values(), none, strict=True):
                values.append(value)
        return found

    def has_other_values(self, name: Name) -> bool:
        """Whether values of the column `name` can belong to no part: new categories, or the first missing value."""
        partition = self.partition(name)
        return partition.kind != "numerical" or partition.missing is None

    def parts_table(self, name: Name) -> dict[str, list[Any]]:
        """Columns of the points table for the parts of the column `name` of the data."""
        partition = self.partition(name)
        labelled = partition.counts.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            rates = partition.counts[:, self.event_index] / labelled
        return {
            "column": [str(name)] * partition.n_parts,
            "part": named_labels(partition),
            "rows": partition.rows.tolist(),
            "share": (partition.rows / max(1, int(partition.rows.sum()))).tolist(),
            "event_rate": rates.tolist(),
            "woe": self.woe(name).tolist(),
            "points": self.points_of(name).tolist(),
        }

    def columns(self, frame: str | None = None) -> Any:
        """Table of the columns in use, the largest range of points first: parts, iv, weight, lowest, highest points.

        `frame` is as in `Model.table`.
        """
        points = {name: self.points_of(name) for name in self.models}
        order = sorted(points, key=lambda name: -np.ptp(points[name]))
        at = {name: k for k, name in enumerate(self.models)}
        found = {
            "column": list(map(str, order)),
            "parts": [len(points[name]) for name in order],
            "iv": [self._iv(name) for name in order],
            "weight": [float(self.weights[at[name]]) for name in order],
            "lowest": [float(points[name].min()) for name in order],
            "highest": [float(points[name].max()) for name in order],
        }
        return make_frame(found, frame or self.frame)

    def _iv(self, name: Name) -> float:
        found = total_evidence(self.models[name], self.partition(name))
        return float("nan") if found is None else found.iv

    def reasons(
        self,
        data: Any,
        n: int = 4,
        *,
        against: str = "best",
        codes: Mapping[Name, str] | None = None,
        frame: str | None = None,
    ) -> Any:
        """Reason codes: the columns that cost each row the most points, the largest loss first.

        Parameters
        ----------
        data : array-like, frame or dict
            As in `score`.
        n : int
            Largest number of reasons of a row. A column that costs a row nothing is no reason.
        against : {"best", "mean", "neutral"}
            What points are compared with: the best points of the column, their mean over the training rows, or 0.
        codes : dict, optional
            Code or text of a column; by default its name.
        frame : str, optional
            As in `Model.table`.

        Returns
        -------
        table
            ``row`` (from 0), ``rank`` (from 1), ``reason``, ``column``, ``part``, ``points`` and the points ``lost``;
            with ``odds_of="event"`` those gained, as high scores are the bad ones there.
        """
        return make_frame(reasons_of(self, self.read(data), n, against, codes), frame or self.frame)

    def cutoffs(
        self, data: Any, target: Any, *, weights: Any = None, at: Any = None, n: int = 20, loss: Any = 1.0
    ) -> Cutoffs:
        """Cut-offs of the score and what each approves, on rows whose class is known.

        Parameters
        ----------
        data : array-like, frame or dict
            As in `score`.
        target : array-like, or name of a column of `data`
            The class of each row.
        weights : array-like or name of a column, optional
            Weight of each row, 0 or more.
        at : sequence of numbers, optional
            Cut-offs; by default about `n` scores of the rows, which share them evenly.
        n : int
            Number of cut-offs, if `at` is not passed.
        loss : float, array-like or name of a column
            What is lost if a row that was approved has the event: exposure times loss given default.

        Returns
        -------
        Cutoffs
            Its `table` has, for each cut-off, approval rate, event rates, KS, Gini and expected loss.
        """
        return cutoffs_of(self, data, target, weights, at, n, loss)

    def scaled(
        self,
        *,
        pdo: float | None = None,
        base_points: float | None = None,
        base_odds: float | None = None,
        odds_of: str | None = None,
        rounded: bool | None = None,
    ) -> Scorecard:
        """The same scorecard on another scale; what is None stays.

        Parameters
        ----------
        pdo, base_points, base_odds, odds_of, rounded
            As in `GridScorecard`.
        """
        given = (pdo, base_points, base_odds, odds_of, rounded)
        merged = [old if new is None else new for old, new in zip(self.scaling, given, strict=True)]
        return replace(self, scaling=checked_scaling(*merged))

    def refit(self, data: Any, target: Any, *, weights: Any = None) -> Scorecard:
        """Scorecard with the same parts, columns and scale, whose woe, weights and intercept are learnt from new rows.

        Parameters
        ----------
        data : array-like or frame
            As in `score`. A value of no part says nothing of its column.
        target : array-like, or name of a column of `data`
            The class of each row; both classes must have rows.
        weights : array-like or name of a column, optional
            Whole numbers: a row of weight w counts as w rows.

        Returns
        -------
        Scorecard
            Columns whose weight would be negative are in its ``left_out``.
        """
        from gridmodl.scorecard.fitting import refitted

        return refitted(self, data, target, weights)

    def summary(self) -> str:
        """Text of the points table, of the columns that are left out, and notes on those in use."""
        from gridmodl.report.hints import hints_of_models
        from gridmodl.report.scorecard import other_values_text
        from gridmodl.report.summary import closing_lines, wrapped

        scale = self.scaling
        whose = "the rest against the event" if scale.odds_of == "rest" else "the event"
        about = (
            f"  score {scale.base_points:g} at odds {scale.base_odds:g} of {whose}, {scale.pdo:g} points double them"
        )
        lines = [
            f"scorecard of {counted(len(self.models), 'column')}, event: {self.event}",
            *wrapped(about + (", whole points" if scale.rounded else "")),
        ]
        digits = 0 if scale.rounded else 2
        rows = [["column", "part", "rows", "event rate", "woe", "points"]]
        rows.append([BASE, "", "", "", "", f"{self.base:.{digits}f}"])
        for name in self.models:
            columns, names = self.parts_table(name), names_within(self.partition(name), MAX_PART)
            for i, points in enumerate(columns["points"]):
                rate, woe = columns["event_rate"][i], columns["woe"][i]
                rows.append([
                    "" if i else shortened(str(name), MAX_COLUMN), names[i], str(columns["rows"][i]),
                    "" if np.isnan(rate) else f"{rate:.2%}", "" if np.isnan(rate) else f"{woe:.3f}",
                    f"{points:.{digits}f}",
                ])  # fmt: skip
        lines += aligned(rows[: MAX_SHOWN + 1], 2)
        if len(rows) > MAX_SHOWN + 1:
            lines.append(f"  ... and {counted(len(rows) - MAX_SHOWN - 1, 'more part')}")
        if any(map(self.has_other_values, self.models)):
            lines += wrapped(f"  {other_values_text(self)}")
        return "\n".join([*lines, *closing_lines(self.left_out, hints_of_models(self.models))])

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Write the scorecard as JSON text, also to the file `path` if that is passed; `from_json` reads it exactly."""
        from gridmodl.scorecard.file import write_scorecard

        return write_scorecard(self, path)

    @staticmethod
    def from_json(source: str | bytes | os.PathLike[str]) -> Scorecard:
        """Read a scorecard from `source`: a JSON text (a str or bytes) or the path of a file (a str or path-like).

        A str that begins with a brace is a text, any other str is a path.
        """
        from gridmodl.scorecard.file import read_scorecard

        return read_scorecard(source)

    def to_sql(
        self,
        dialect: str,
        table: str | Sequence[str] = "data",
        *,
        columns: Mapping[Name, str] | None = None,
        keep: Sequence[str] = (),
        output: str | Sequence[str] = ("points", "score"),
    ) -> str:
        """Write the SQL query for the score, with one addend a column, the same as `score`.

        Parameters
        ----------
        dialect : {"postgres", "duckdb", "sqlite", "mysql", "bigquery", "snowflake", "spark"}
        table : str or sequence of str
            Name of the table, or the names of its schema and itself.
        columns : dict, optional
            Names in SQL of columns that have another name there.
        keep : sequence of str
            Columns of the table to return unchanged.
        output : {"points", "score", "proba"} or several of them
            ``points_`` and the name of each column; ``score``; ``p_event``, the probability of the event.

        Returns
        -------
        str
            A query.
        """
        from gridmodl.report.sql.scorecard import query_of_scorecard

        return query_of_scorecard(self, dialect, table, columns, keep, output)

    def to_onnx(self, path: str | os.PathLike[str] | None = None, *, missing_text: str = "") -> Any:
        """Write the score as an ONNX graph in float64, with one look-up a column, the same as `score`.

        Needs ``pip install "gridmodl[onnx]"``. The outputs are ``score``, of shape (rows,), and ``addends``, the points
        of each column, to which the base is added in order.

        Parameters
        ----------
        path : str or path-like, optional
            Where to write the graph.
        missing_text : str
            Text that stands for a missing category.

        Returns
        -------
        onnx.ModelProto
        """
        from gridmodl.report.onnx import onnx_of_lookups

        return onnx_of_lookups(
            [self.partition(name) for name in self.models],
            [np.append(self.points_of(name), 0.0) for name in self.models],
            self.base,
            self.policy,
            path,
            missing_text=missing_text,
            description="gridmodl scorecard",
        )

    def compare(
        self, new: Any, target: Any = None, by: Any = None, *, weights: Any = None, threshold: float = 0.1,
        loss: float = 0.1, alpha: float = 0.01, refit: bool = True,
    ) -> Comparison:  # fmt: skip
        """Compare new rows with the training rows: drift of the columns in use and of their event rates.

        Parameters
        ----------
        new, target, by, weights, threshold, loss, alpha, refit
            As in `Model.compare`.

        Returns
        -------
        Comparison
            ``print`` shows it in words, `Comparison.table` has the numbers.
        """
        return self.models.compare(
            new, target, by, weights=weights, threshold=threshold, loss=loss, alpha=alpha, refit=refit
        )

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        about: str | None = None,
        sections: Sequence[Any] = (),
    ) -> str:
        """One page with the points of all columns, which needs no network; also written to the file `path` if passed.

        Needs ``pip install "gridmodl[html]"``.

        Parameters
        ----------
        path : str or path-like, optional
            Where to write the page.
        title : str, optional
            Title of the page.
        about : str, optional
            What readers should know of the data and the target, below the title.
        sections : sequence, optional
            Other results on the same page, as in `Model.to_html`: what `cutoffs` returned, for example.
        """
        from gridmodl.report.html.sections import write_report

        return write_report(self, sections, path, title, about)

    def plot(self, *, ax: Any = None, max_columns: int = 20) -> Any:
        """Draw the points of the parts of each column; returns a `gridmodl.plot.ScorecardDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        max_columns : int
            Number of columns that are drawn, the largest range of points first.
        """
        from gridmodl.plot import ScorecardDisplay

        return ScorecardDisplay(self, max_columns=max_columns).plot(ax)

    def _repr_html_(self) -> str:
        from gridmodl.report.scorecard import scorecard_html

        return scorecard_html(self)

    def __repr__(self) -> str:
        return f"Scorecard({counted(len(self.models), 'column')}, event {self.event!r})"


def _free(word: str, taken: Mapping[str, Any]) -> str:
    """`word`, or with underscores after it if a column has that name."""
    while word in taken:
        word += "_"
    return word
