"""`Averages`, the result of `average_each`: an average of each column, to predict by and to choose from."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.averaging.evidence import events_of
from gridmodl.averaging.lazy import lazy_probabilities_of, lazy_woe
from gridmodl.averaging.record import Average
from gridmodl.data.columns import error_beside_name
from gridmodl.data.frames import ARRAYS, Name, lazy_frame, make_frame, read_frame
from gridmodl.model.encoding import names_of_events, unique_names
from gridmodl.model.labels import aligned, listed
from gridmodl.model.lazy.parts import LazySteps
from gridmodl.model.models import columns_for
from gridmodl.model.policy import BY_PARTITION
from gridmodl.spelling import check_choice, did_you_mean

MAX_SHOWN = 100
SORTED_BY = ("p_informative", "loo_gain")


class Averages(Mapping[Name, Average]):
    """Averages by column name: what `average_each` returns, and ``averages_`` of estimators.

    `average_each` puts them in descending order of `Average.p_informative` (ties, and None: lowest loss first, then
    highest evidence); estimators keep the order of the columns.

    Attributes
    ----------
    errors : dict of str to Exception
        Error of each column without an average.
    event : object or None
        The class that ``woe`` and plots speak of, see `optimize`; None if there is none.
    """

    def __init__(
        self,
        averages: Mapping[Name, Average],
        errors: Mapping[Name, Exception] | None = None,
        frame: str = ARRAYS,
        *,
        in_order: bool = True,
    ) -> None:
        self._averages = dict(averages)
        self.errors = dict(errors or {})
        self._frame = frame
        if in_order:
            self._averages = dict(sorted(self._averages.items(), key=lambda item: _rank(item[1])))

    def __getitem__(self, name: Name) -> Average:
        if name not in self._averages:
            if name in self.errors:
                raise KeyError(f"column {name!r} has no average: {error_beside_name(self.errors[name], name)}")
            known = ", ".join(map(repr, list(self._averages)[:MAX_SHOWN])) or "no column"
            raise KeyError(f"no column {name!r}; there are averages of {known}{did_you_mean(name, self._averages)}")
        return self._averages[name]

    def __iter__(self) -> Iterator[Name]:
        return iter(self._averages)

    def __len__(self) -> int:
        return len(self._averages)

    @property
    def event(self) -> Any:
        return next((average.event for average in self._averages.values()), None)

    def predict_proba(self, data: Any) -> Any:
        """Probability of each class in each row, by column: what each column predicts on its own.

        The columns are not combined: for one prediction of all columns together see `GridNaiveBayes`.

        Parameters
        ----------
        data : array-like or frame
            The columns of the averages, by name; further columns are ignored. An array needs all columns of training,
            in their order, as its columns are named ``x0``, ``x1``, ...

        Returns
        -------
        dict of str to ndarray of shape (n, number of classes)
            Classes are in the order of ``classes`` of the averages; see `Average.predict_proba`. For a lazy frame, one
            of the same library with the columns ``<column>_p_<class>``.
        """
        lazy = lazy_frame(data)
        if lazy is not None:
            return lazy_probabilities_of({f"{name}_": average for name, average in self.items()}, lazy)
        columns = columns_for(self._averages, read_frame(data), "averages")
        return {name: self[name].predict_proba({name: raw}) for name, raw in columns.items()}

    def transform(self, data: Any, encode: str = "woe", frame: str | None = None) -> Any:
        """Weight of evidence of each row, for all columns: a frame with the rows of `data`.

        Of the rows that the averages were made of, these encodings leak the classes; cross-fit them instead, as
        ``GridDiscretizer(encode="woe", averaged=True, cv=5)`` does.

        Parameters
        ----------
        data
            As in `predict_proba`.
        encode : {"woe"}
            `Average.woe`. Averages have no parts, which other encodings of `Models.transform` need.
        frame : {"pandas", "polars", "pyarrow", "arrays"}, optional
            Kind of the result, as in `Models.transform`. Names are those of the columns, with the class if there is a
            column for each class.

        Examples
        --------
        >>> import gridmodl
        >>> averages = gridmodl.average_each({"size": [1, 2, 3, 7, 8, 9]}, ["no"] * 3 + ["yes"] * 3)
        >>> averages.transform({"size": [2, 5, 8]})["size"].round(2)
        array([-0.78,  0.  ,  0.78])
        """
        if encode != "woe":
            raise ValueError(f"encode must be 'woe', got {encode!r}: averages have no parts; those of optimize_each do")
        names: list[str] = []
        for name, average in self.items():
            events = events_of(len(average.classes), average.event_index)
            names += names_of_events(name, [str(average.classes.tolist()[j]) for j in events])
        lazy = lazy_frame(data)
        if lazy is not None:
            steps = LazySteps(lazy, BY_PARTITION)
            added = [column for average in self.values() for column in lazy_woe(steps, average)]
            return steps.select(dict(zip(unique_names(names).tolist(), added, strict=True)))
        rows = read_frame(data)
        columns: list[NDArray[Any]] = []
        for name, raw in columns_for(self._averages, rows, "averages").items():
            columns += [*self._averages[name].woe({name: raw}).T]
        kind = rows.kind if frame is None else frame
        made = make_frame(dict(zip(unique_names(names).tolist(), columns, strict=True)), kind)
        if kind == "pandas" and hasattr(data, "index"):
            made.index = data.index
        return made

    def select(
        self,
        *,
        p_informative: float | None = None,
        loo_gain: float | None = None,
        columns: Sequence[Name] | None = None,
    ) -> Averages:
        """Averages of some columns, in the same order.

        Parameters
        ----------
        p_informative : float, optional
            Keep columns whose `Average.p_informative` is above this number, such as 0.5.
        loo_gain : float, optional
            Keep columns whose `Average.loo_gain` is above this number of nats; 0 keeps those that help to predict.
        columns : sequence of str, optional
            Keep these columns.

        Returns
        -------
        Averages
            Without the columns in ``errors``.
        """
        kept = dict(self._averages)
        if columns is not None:
            if isinstance(columns, (str, bytes)) or not isinstance(columns, Sequence):
                raise TypeError(f"columns must be a list of column names, got {columns!r}")
            wanted = {name: self[name] for name in columns}  # an unknown name is an error
            kept = {name: average for name, average in kept.items() if name in wanted}
        for what, least in (("p_informative", p_informative), ("loo_gain", loo_gain)):
            if least is None:
                continue
            values = {name: getattr(average, what) for name, average in kept.items()}
            without = [name for name, value in values.items() if value is None]
            if without:
                raise ValueError(
                    f"column {without[0]!r} has no {what} to compare, as criterion {kept[without[0]].criterion!r} has "
                    "none; use columns="
                )
            kept = {name: average for name, average in kept.items() if values[name] > least}
        return Averages(kept, {}, self._frame, in_order=False)

    def table(self, frame: str | None = None, by: str | None = None) -> Any:
        """Table with one row per column; NaN for numbers that a criterion does not have.

        Parameters
        ----------
        frame : {"pandas", "polars", "pyarrow", "arrays"}, optional
            As in `Model.table`.
        by : {"p_informative", "loo_gain"}, optional
            Descending order of the rows (ties: as they are, NaN last); by default that of the averages.
        """
        check_choice("by", by, (*SORTED_BY, None))
        items = list(self.items())
        if by is not None:
            items.sort(key=lambda item: -_or(getattr(item[1], by), -math.inf))
        averages = [average for _, average in items]
        columns: dict[str, Any] = {
            "column": [str(name) for name, _ in items],
            "kind": [average.segments.kind for average in averages],
            "p_informative": [_or(average.p_informative, math.nan) for average in averages],
            "loo_loss": [_or(average.loo_loss, math.nan) for average in averages],
            "loo_gain": [_or(average.loo_gain, math.nan) for average in averages],
            "log_evidence": [average.log_evidence for average in averages],
            "parts": [int(np.argmax(average.p_parts)) + 1 for average in averages],
            "exact": [average.exact for average in averages],
        }
        return make_frame(columns, frame or self._frame)

    def summary(self) -> str:
        """Text table of the columns, the most informative first."""
        from gridmodl.report.hints import hints_of_averages
        from gridmodl.report.summary import wrapped

        rows = [["column", "informative", "loss", "likely parts", "exact"]]
        for name, average in list(self.items())[:MAX_SHOWN]:
            p, loss = average.p_informative, average.loo_loss
            rows.append(
                [
                    str(name), "" if p is None else f"{p:.3g}", "" if loss is None else f"{loss:.4g}",
                    str(int(np.argmax(average.p_parts)) + 1), "yes" if average.exact else "no",
                ]
            )  # fmt: skip
        lines = aligned(rows)
        if len(self) > MAX_SHOWN:
            lines.append(f"  ... and {len(self) - MAX_SHOWN} more columns")
        lines += [line for reason in self._reasons() for line in wrapped(f"  {reason}")]
        lines += [line for hint in hints_of_averages(self) for line in wrapped(f"  note: {hint}")]
        return "\n".join(lines)

    def _reasons(self) -> list[str]:
        """Why columns have no average: a sentence for each reason, with the names of all columns that share it."""
        names: dict[str, list[str]] = {}
        for name, error in self.errors.items():
            names.setdefault(error_beside_name(error, name), []).append(str(name))
        return [
            f"no average of {listed(of)}: {reason if len(of) == 1 else reason.replace('it is', 'each is', 1)}"
            for reason, of in names.items()
        ]

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Write all averages as one JSON text, also to the file `path` if that is passed.

        Of ``errors`` only the messages are kept.
        """
        from gridmodl.averaging.file import write_averages

        return write_averages(self, path)

    @staticmethod
    def from_json(source: str | bytes | os.PathLike[str]) -> Averages:
        """Read averages from `source`, a JSON text or a file, as `Average.from_json` reads one."""
        from gridmodl.averaging.file import read_averages

        return read_averages(source)

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        about: str | None = None,
        sections: Sequence[Any] = (),
    ) -> str:
        """Write all averages as one HTML page. Needs ``pip install "gridmodl[html]"``.

        Parameters
        ----------
        path, title, about, sections
            As in `Average.to_html`.

        Returns
        -------
        str
            The text of the page.
        """
        from gridmodl.report.html.sections import write_report

        return write_report(self, sections, path, title, about)

    def plot(self, name: Name | None = None, label: Any = None, ax: Any = None) -> Any:
        """Draw the average of one column with matplotlib: `gridmodl.plot.AverageDisplay`.

        Parameters
        ----------
        name : str, optional
            The column; by default the most informative one.
        label, ax
            As in `Average.plot`.

        Returns
        -------
        AverageDisplay
        """
        if not self:
            raise ValueError("no column has an average; `errors` has the reasons")
        return self[next(iter(self)) if name is None else name].plot(label, ax)

    def _repr_html_(self) -> str:
        """HTML that notebooks show."""
        from gridmodl.report.averages import averages_html

        return averages_html(self)

    def __repr__(self) -> str:
        failed = f", {len(self.errors)} without" if self.errors else ""
        return f"Averages({len(self)} columns{failed})"


def _rank(average: Average) -> tuple[float, float, float]:
    """Place in the order of averages."""
    return -(average.p_informative or 0.0), _or(average.loo_loss, math.inf), -average.log_evidence


def _or(value: float | None, other: float) -> float:
    return other if value is None else value
