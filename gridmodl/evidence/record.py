"""`WeightedEvidence`: the prior of the classes plus weighted evidence of columns; it predicts, explains and is written.

P(class j | row)  ~  exp(intercept_j + sum over sources k of weight_kj * evidence_kj(row))
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import ARRAYS, Frame, Name, Raw, lazy_frame, make_frame, read_frame
from gridmodl.evidence.contributions import Contributions
from gridmodl.evidence.sources import EvidenceSource
from gridmodl.model.labels import aligned, counted
from gridmodl.model.names import shortened
from gridmodl.model.policy import NEUTRAL, Policy
from gridmodl.spelling import did_you_mean

BLOCK = 2**20  # rows times classes whose evidence is in memory at a time
FEWEST = 2**10  # rows of a block
MAX_SHOWN, MAX_CLASSES = 100, 5  # sources and classes of the summary
MAX_COLUMN = 40  # characters of the name of a source


@dataclass(frozen=True, eq=False)
class WeightedEvidence:
    """A classifier: the prior of the classes plus weighted evidence of columns. It needs no scikit-learn.

    Attributes
    ----------
    classes : ndarray
        The classes.
    intercepts : ndarray of shape (n_classes,)
        Score of each class without evidence; the log of its share for naive Bayes.
    sources : tuple
        What is added up: parts or curves of columns, each with ``name``, ``labels`` of its lines and their
        ``evidence`` by class, log P(class | line) - log P(class).
    weights : ndarray of shape (n_sources, 1) or (n_sources, n_classes)
        Weight of each source, for all classes or for each.
    names : tuple
        Names of all columns of the training data, in their order.
    event_index : int or None
        Number of the class that contributions speak of; None if they speak of each class.
    policy : Policy
        What is done with values that the training data did not have.
    frame : str
        Kind of frame of the training data, in which tables are returned.
    left_out : dict of str to str
        Columns that are not used, and why.

    Notes
    -----
    The score of a class is its intercept plus the sum over the sources of weight times evidence; probabilities are
    proportional to exp(score). Values that the training data did not have, and missing values if it had none, have no
    evidence.
    """

    classes: NDArray[Any]
    intercepts: NDArray[np.float64]
    sources: tuple[EvidenceSource, ...]
    weights: NDArray[np.float64]
    names: tuple[Name, ...]
    event_index: int | None = None
    policy: Policy = NEUTRAL
    frame: str = ARRAYS
    left_out: Mapping[Name, str] = field(default_factory=dict)

    @property
    def event(self) -> Any:
        """The class that contributions speak of, or None."""
        return None if self.event_index is None else self.classes.tolist()[self.event_index]

    def predict(self, data: Any) -> Any:
        """The most probable class of each row; ties: first in ``classes``. `data` is as in `predict_proba`.

        For a lazy frame, one of the same library with the column ``prediction``.
        """
        lazy = lazy_frame(data)
        if lazy is not None:
            from gridmodl.evidence.lazy import lazy_evidence_classes

            return lazy_evidence_classes(self, lazy)
        frame = self.read(data)
        return self.likeliest(frame.columns, frame.n_rows)

    def predict_proba(self, data: Any) -> Any:
        """Probability of each class for each row, in the order of ``classes``.

        Parameters
        ----------
        data : array-like, frame or dict of columns
            Frames and dicts need the columns of ``sources``; an array must have all columns of ``names`` in order. For
            a lazy frame, the result is one of the same library with a column ``p_<class>`` for each class.
        """
        lazy = lazy_frame(data)
        if lazy is not None:
            from gridmodl.evidence.lazy import lazy_evidence_probabilities

            return lazy_evidence_probabilities(self, lazy)
        frame = self.read(data)
        return np.exp(self.log_probabilities(frame.columns, frame.n_rows))

    def explain(self, data: Any) -> Contributions:
        """Contribution of each column to the scores of one row or of several.

        Parameters
        ----------
        data : array-like, frame, series or dict
            Rows as in `predict_proba`; or one row: a dict of values by column name, a series of pandas with the names
            of the columns as its index, or a list of values in the order of ``names``.

        Returns
        -------
        Contributions
            A table (``table()``) and a picture (``plot()``), the largest contributions first.
        """
        frame = self.read(as_rows(data, self.names))
        of_sources = np.zeros((frame.n_rows, len(self.sources), len(self.classes)))
        words = []
        for k, source in enumerate(self.sources):
            places = source.places(frame.columns, self.policy)
            of_sources[:, k] = self.weights[k] * source.evidence_at(places)
            words.append(_words(source, frame.columns))
        return Contributions(
            names=tuple(source.name for source in self.sources),
            values=tuple(zip(*words, strict=True)) if words else ((),) * frame.n_rows,
            scores=of_sources,
            intercepts=self.intercepts,
            classes=self.classes,
            event_index=self.event_index,
            frame=self.frame,
        )

    def table(self, frame: str | None = None) -> Any:
        """Table with one row per source, the largest weight first: its weight, lines, and range of its evidence.

        ``low`` and ``high`` are the lowest and highest evidence of a line, of the event or of any class, times the
        weight. `frame` is as in `Model.table`.
        """
        rows = []
        for source, weight in zip(self.sources, self.weights, strict=True):
            weighted = weight * source.evidence
            if self.event_index is not None:
                weighted = weighted[:, [self.event_index]]
            rows.append(
                (str(source.name), float(np.mean(weight)), len(source.evidence), weighted.min(), weighted.max())
            )
        rows.sort(key=lambda row: -row[1])
        head = ("column", "weight", "lines", "low", "high")
        return make_frame({name: [row[i] for row in rows] for i, name in enumerate(head)}, frame or self.frame)

    def summary(self) -> str:
        """Text table of the sources, the largest weight first, the columns left out, and notes."""
        from gridmodl.report.hints import hints_of_evidence
        from gridmodl.report.summary import closing_lines, wrapped

        columns = self.table(ARRAYS)
        rows = [list(columns)]
        for name, weight, lines, low, high in list(zip(*columns.values(), strict=True))[:MAX_SHOWN]:
            rows.append([shortened(name, MAX_COLUMN), f"{weight:.4f}", str(lines), f"{low:.3f}", f"{high:.3f}"])
        event = "" if self.event_index is None else f", event: {self.event}"
        classes = ", ".join(map(str, self.classes[:MAX_CLASSES].tolist())) + ", ..." * (len(self.classes) > MAX_CLASSES)
        more = len(self.sources) - MAX_SHOWN
        return "\n".join([
            *wrapped(f"evidence of {counted(len(self.sources), 'source')} for {classes}{event}"),
            *aligned(rows),
            *([f"  ... and {counted(more, 'more source')}"] if more > 0 else []),
            *closing_lines(self.left_out, hints_of_evidence(self)),
        ])  # fmt: skip

    def read(self, data: Any) -> Frame:
        """Read the columns of `data`; raise if one of a source is not there."""
        return read_rows(data, self.names, [name for source in self.sources for name in source.columns])

    def log_probabilities(self, columns: Mapping[Name, Raw], n_rows: int) -> NDArray[np.float64]:
        """Log of the probability of each class for each of the `n_rows` rows of `columns`."""
        found = np.empty((n_rows, len(self.classes)))
        for rows, scores in self._scores(columns, n_rows):
            largest = scores.max(axis=1, keepdims=True)
            found[rows] = scores - largest - np.log(np.exp(scores - largest).sum(axis=1, keepdims=True))
        return found

    def likeliest(self, columns: Mapping[Name, Raw], n_rows: int) -> NDArray[Any]:
        """The most probable class of each of the `n_rows` rows of `columns`; ties: first."""
        found = np.empty(n_rows, dtype=np.int64)
        for rows, scores in self._scores(columns, n_rows):
            found[rows] = scores.argmax(axis=1)
        return np.asarray(self.classes[found])

    def scores(self, columns: Mapping[Name, Raw], n_rows: int) -> NDArray[np.float64]:
        """Score of each class for each of the `n_rows` rows of `columns`: its intercept plus weighted evidence."""
        found = np.empty((n_rows, len(self.classes)))
        for rows, scores in self._scores(columns, n_rows):
            found[rows] = scores
        return found

    def _scores(self, columns: Mapping[Name, Raw], n_rows: int) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Scores of the classes, some rows at a time."""
        step = max(FEWEST, BLOCK // len(self.classes))
        for first in range(0, n_rows, step):
            rows = slice(first, min(first + step, n_rows))
            block = {name: columns[name][rows] for source in self.sources for name in source.columns}
            scores = np.tile(self.intercepts, (rows.stop - rows.start, 1))
            for source, weight in zip(self.sources, self.weights, strict=True):
                scores += weight * source.evidence_at(source.places(block, self.policy))
            yield rows, scores

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Write the classifier as JSON text, also to the file `path` if that is passed; `from_json` reads it."""
        from gridmodl.evidence.file import write_evidence

        return write_evidence(self, path)

    @staticmethod
    def from_json(source: str | bytes | os.PathLike[str]) -> WeightedEvidence:
        """Read a classifier from `source`: a JSON text (a str or bytes) or the path of a file (a str or path-like).

        A str that begins with a brace is a text, any other str is a path.
        """
        from gridmodl.evidence.file import read_evidence

        return read_evidence(source)

    def to_sql(
        self,
        dialect: str,
        table: str | Sequence[str] = "data",
        *,
        columns: Mapping[Name, str] | None = None,
        keep: Sequence[str] = (),
        output: str = "proba",
    ) -> str:
        """Write the SQL query for the probability of each class, the same as `predict_proba` up to 1e-12.

        Parameters
        ----------
        dialect : {"postgres", "duckdb", "sqlite", "mysql", "bigquery", "snowflake", "spark"}
        table : str or sequence of str
            Name of the table, or the names of its schema and itself.
        columns : dict, optional
            Names in SQL of columns that have another name there.
        keep : sequence of str
            Columns of the table to return unchanged.
        output : {"proba", "evidence"}
            Probabilities, ``p_`` and the name of each class; or with ``"evidence"`` also the addends that they are made
            of, weight times evidence of each column for each class.

        Returns
        -------
        str
            A query. SQLite must have its mathematical functions (``SQLITE_ENABLE_MATH_FUNCTIONS``, as usual). Moments
            are compared to the microsecond.
        """
        from gridmodl.report.sql.evidence import query_of_evidence

        return query_of_evidence(self, dialect, table, columns, keep, output)

    def to_onnx(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        output: str | Sequence[str] | None = None,
        missing_text: str = "",
    ) -> Any:
        """Build the ONNX graph for the probability of each class, the same as `predict_proba` up to 1e-15.

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
            Graph with an input for each column of ``sources``, as in `Model.to_onnx`.
        """
        from gridmodl.report.onnx import onnx_of_evidence

        return onnx_of_evidence(self, path, output, missing_text)

    def _repr_html_(self) -> str:
        """HTML that notebooks show."""
        from gridmodl.report.notebook import evidence_html

        return evidence_html(self)

    def __repr__(self) -> str:
        return f"WeightedEvidence({counted(len(self.sources), 'source')} for {', '.join(map(str, self.classes[:5]))})"


def _words(source: EvidenceSource, columns: Mapping[Name, Raw]) -> list[str]:
    """What the rows have of a source: the values of its columns."""
    raws = [columns[name] for name in source.columns]
    lists = [raw.tolist() if isinstance(raw, np.ndarray) else raw.to_list() for raw in raws]
    return [", ".join(map(str, values)) for values in zip(*lists, strict=True)]


def read_rows(data: Any, names: Sequence[Name], needed: Sequence[Name]) -> Frame:
    """Read the columns of `data`; raise if one of those `needed` is not there. An array has all `names` in order."""
    frame = read_frame(data)
    if not frame.has_names:
        if len(frame.columns) != len(names):
            raise ValueError(
                f"data has {counted(len(frame.columns), 'column')} without names, and the training data had "
                f"{len(names)}"
            )
        return frame._replace(columns=dict(zip(names, frame.columns.values(), strict=True)))
    for name in needed:
        if name not in frame.columns:
            raise ValueError(f"data has no column {name!r}{did_you_mean(name, frame.columns)}")
    return frame


def as_rows(data: Any, names: tuple[Name, ...]) -> Any:
    """One row as a table of one row; other data unchanged."""
    if isinstance(data, Mapping) and all(np.ndim(value) == 0 for value in data.values()):
        return {name: [value] for name, value in data.items()}
    index, is_series = getattr(data, "index", None), len(getattr(data, "shape", ())) == 1
    if is_series and index is not None and not callable(index) and hasattr(data, "items"):
        by_name = dict(data.items())
        if set(names) <= set(by_name):
            return {name: [by_name[name]] for name in names}
    if isinstance(data, (list, tuple, np.ndarray)) and np.ndim(data) == 1 and len(data) == len(names) > 1:
        return {name: [value] for name, value in zip(names, data, strict=True)}
    return data
