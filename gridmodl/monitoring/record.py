"""`Comparison`: what new rows are beside those that a model was made from, by column and period."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name, make_frame
from gridmodl.model.labels import aligned, counted, listed, shown_value
from gridmodl.monitoring.counting import ALL
from gridmodl.monitoring.parts import DRIFT, STABLE, DriftLimits, PartsComparison
from gridmodl.spelling import did_you_mean

MAX_SHOWN = 50  # columns of a summary
MAX_NAMED = 5  # names that a line of a summary lists
MISSING_SHOWN = 0.01  # change of the share of missing values from which on a summary mentions it


@dataclass(frozen=True, eq=False)
class Comparison:
    """New rows beside those that a model was made from: what `Model.compare` and `Models.compare` return.

    ``print`` shows a summary, `table` has the numbers, `plot` draws them, `to_html` writes a page.

    Attributes
    ----------
    columns : dict of str to PartsComparison
        Each column: rows by part then and now, PSI, tests, event rates, prices, categories and missing values.
    cells : PartsComparison or None
        The cells of a grid over several columns; None for models of one column.
    target : PartsComparison or None
        The classes of the target, as parts; None if the new rows have no classes.
    periods : tuple of str
        ``"all"`` for all new rows, then the labels of the periods of ``by=``.
    event : str or None
        Label of the class whose rates are compared; None if all are.
    limits : DriftLimits
        ``threshold``, ``loss`` and ``alpha``, from where on a change is a drift.
    frame : str
        Kind of frame of the tables.
    target_name : str or None
        Name of the target of the training rows, if it has one.
    n_old : int
        Training rows, weights counted.
    n_new : ndarray of shape (n_periods,)
        New rows of each period, weights counted.
    drifted : list of str
        Columns that have drifted, in all new rows or in some period; also ``"cells"`` and ``"target"``.
    has_drift : bool
        Whether anything has drifted.
    """

    columns: Mapping[Name, PartsComparison]
    cells: PartsComparison | None
    target: PartsComparison | None
    periods: tuple[str, ...]
    event: str | None
    limits: DriftLimits
    frame: str
    target_name: str | None = None

    @property
    def all_parts(self) -> list[PartsComparison]:
        """All that is compared: columns, then the cells of a grid, then the target."""
        return [*self.columns.values(), *(one for one in (self.cells, self.target) if one is not None)]

    @property
    def n_old(self) -> int:
        return int(self.all_parts[0].old_rows.sum())

    @property
    def n_new(self) -> NDArray[np.int64]:
        return self.all_parts[0].new_rows.sum(axis=1)

    @property
    def drifted(self) -> list[Name]:
        return [one.name for one in self.all_parts if DRIFT in one.verdicts]

    @property
    def has_drift(self) -> bool:
        return bool(self.drifted)

    def __getitem__(self, name: Name) -> PartsComparison:
        """The column `name`; ``"cells"`` and ``"target"``, unless columns have these names."""
        others = {one.name: one for one in (self.cells, self.target) if one is not None}
        known = {**others, **self.columns}
        if name not in known:
            names = ", ".join(map(repr, list(known)[:20]))
            raise KeyError(f"no column {name!r}; compared are {names}{did_you_mean(name, known)}")
        return known[name]

    def _period(self, period: str | None) -> int:
        """Number of the period `period`, all new rows if None."""
        label = ALL if period is None else str(period)
        if label not in self.periods:
            known = ", ".join(map(repr, self.periods[:30]))
            raise ValueError(f"period must be one of {known}, got {period!r}{did_you_mean(label, self.periods)}")
        return self.periods.index(label)

    def table(self, name: Name | None = None, period: str | None = None, frame: str | None = None) -> Any:
        """Table with one row per column; of the column `name`, with one row per part.

        Columns of a line for each column: ``parts``, ``psi``, ``psi_noise`` (what chance gives), ``p_adjusted``,
        ``information_lost`` and ``relation_p_adjusted`` (NaN without classes), ``verdict``, ``drift_periods`` (the
        number of periods with a drift), ``missing_old`` and ``missing_new`` (shares), ``below`` and ``above`` (shares
        of values out of the training range), ``new_values`` and ``vanished`` (numbers of categories), and prices in
        nats per row: ``old_shares``, ``best_shares``, ``same_parts``, ``best_parts``.

        Columns of a line for each part: ``rows_old``, ``rows_new``, ``share_old``, ``share_new``, ``psi`` (its term),
        and the event rates ``rate_old``, ``rate_new``, ``change``, ``lower`` and ``upper``, for each class if there is
        no event.

        Parameters
        ----------
        name : str, optional
            A column, ``"cells"`` or ``"target"``.
        period : str, optional
            Label of a period; by default all new rows.
        frame : {"pandas", "polars", "pyarrow", "arrays"}, optional
            Kind of frame, by default as in `Model.table`.
        """
        from gridmodl.monitoring.tables import column_lines, part_lines

        at = self._period(period)
        columns = column_lines(self, at) if name is None else part_lines(self[name], at)
        return make_frame(columns, frame or self.frame)

    def by_period(self, name: Name | None = None, frame: str | None = None) -> Any:
        """Table with one row per period of each column, or of the column `name`.

        Columns as of `table`, with the number of new ``rows``, and the event rate of all rows of the period with the
        interval of its change; without ``by=``, the one period ``"all"``.

        Parameters
        ----------
        name : str, optional
            A column, ``"cells"`` or ``"target"``.
        frame : {"pandas", "polars", "pyarrow", "arrays"}, optional
            Kind of frame, as in `table`.
        """
        from gridmodl.monitoring.tables import period_lines

        chosen = self.all_parts if name is None else [self[name]]
        return make_frame(period_lines(chosen), frame or self.frame)

    def summary(self) -> str:
        """The comparison as text: what drifted, then a line for each column, those with the largest PSI first.

        PSI is that of the worst period, which is named beside it. The information lost is that of all new rows; if it
        is a drift in some period, that of the worst one, with its name.
        """
        return "\n".join([*self._head(), "", *self._lines(), *self._remarks()])

    def _head(self) -> list[str]:
        periods = f" in {counted(len(self.periods) - 1, 'period')}" if len(self.periods) > 1 else ""
        head = [f"{int(self.n_new[0]):,} new rows{periods} beside {self.n_old:,} of training"]
        if self.has_drift:
            head.append(f"drift in {listed(self.drifted, 2 * MAX_NAMED)}")
        else:
            head.append("no drift")
        threshold, loss, alpha = self.limits
        head.append(
            f"limits: PSI {threshold:g}, information lost {loss:.0%}, probability of a false alarm {alpha:g} in all"
        )
        return head

    def _lines(self) -> list[str]:
        has_classes = any(one.classes for one in self.all_parts)
        rows = [["column", "parts", "PSI", "by chance", *(["information lost"] * has_classes), "verdict"]]
        shown = sorted(self.all_parts, key=lambda one: (not bool(DRIFT in one.verdicts), -one.psi.max()))
        for one in shown[:MAX_SHOWN]:
            worst = int(one.psi.argmax())
            period = f" ({one.periods[worst]})" if worst else ""
            lost = [lost_text(one)]
            noise = f"{one.psi_noise[worst]:.4f}"
            psi = f"{one.psi[worst]:.4f}{period}"
            rows.append([str(one.name), str(len(one.labels)), psi, noise, *(lost * has_classes), _worst(one.verdicts)])
        more = len(shown) - MAX_SHOWN
        return aligned(rows) + ([f"  ... and {counted(more, 'more column')}"] if more > 0 else [])

    def _remarks(self) -> list[str]:
        """Lines on event rates, new and vanished categories, missing values and values out of range."""
        lines = []
        if self.target is not None:
            about = next(one for one in self.all_parts if one.classes or one is self.target)
            for event in about.events[:MAX_NAMED]:
                rate = about.overall_rate(event)
                lines.append(
                    f"share of class {about.classes[event]}: {rate.old[0]:.2%} then, {rate.new[0]:.2%} now "
                    f"({rate.lower[0]:+.2%} to {rate.upper[0]:+.2%})"
                )
        for one in self.columns.values():
            lines += [f"{one.name}: {remark}" for remark in remarks_on(one)]
        return ["", *lines[:MAX_SHOWN], *(["..."] if len(lines) > MAX_SHOWN else [])] if lines else []

    def plot(self, name: Name | None = None, ax: Any = None) -> Any:
        """Draw the comparison with matplotlib: `gridmodl.plot.DriftDisplay`.

        Parameters
        ----------
        name : str, optional
            A column, whose shares and event rates are drawn by part; by default the PSI of all columns, over the
            periods if there are any.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        DriftDisplay
        """
        from gridmodl.plot import DriftDisplay

        return DriftDisplay(self, name).plot(ax)

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        about: str | None = None,
        sections: Sequence[Any] = (),
    ) -> str:
        """Write the comparison as one HTML page, which needs no network and no other file.

        Columns come with the largest PSI first, each with its shares then and now, event rates and periods. Needs
        ``pip install "gridmodl[html]"``.

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

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Write the comparison as a JSON text for other programs, also to the file `path` if that is passed.

        All numbers are finite: NaN and infinity are null. Names and categories are texts.
        """
        from gridmodl.monitoring.tables import write_comparison

        return write_comparison(self, path)

    def _repr_html_(self) -> str:
        """HTML that notebooks show."""
        from gridmodl.report.notebook import comparison_html

        return comparison_html(self)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        drift = f"drift in {len(self.drifted)}" if self.has_drift else "no drift"
        return f"Comparison({counted(len(self.columns), 'column')}, {counted(int(self.n_new[0]), 'new row')}, {drift})"


def lost_text(one: PartsComparison) -> str:
    """Information lost in all new rows, or in the worst period in which it is a drift, with its name; may be empty."""
    at = int(np.where(one.relation_drift, one.information_lost, -np.inf).argmax())  # 0 without a drift
    if np.isnan(one.information_lost[at]):
        return ""
    return f"{one.information_lost[at]:.1%}" + (f" ({one.periods[at]})" if at else "")


def remarks_on(one: PartsComparison) -> list[str]:
    """Remarks on a column: new and vanished categories, missing values, values out of the training range."""
    found = []
    if one.new_values:
        rows = sum(one.new_values.values())
        found.append(f"{_categories('new', list(one.new_values))}, {counted(rows, 'row')}")
    if one.vanished:
        found.append(_categories("vanished", list(one.vanished)))
    outside = one.below[0] + one.above[0]
    if outside > 0:
        share = f"{outside:.2%}" if outside >= 1e-4 else "less than 0.01%"
        found.append(f"{share} of the rows out of the training range")
    then, now = one.old_missing, float(one.new_missing[0])
    if (then > 0.0) != (now > 0.0) or abs(now - then) >= MISSING_SHOWN:
        found.append(f"missing {'unknown' if np.isnan(then) else f'{then:.2%}'} then, {now:.2%} now")
    return found


def _categories(what: str, values: list[Any]) -> str:
    is_mixed = len(set(map(type, values))) > 1
    shown = ", ".join(shown_value(value, is_mixed) for value in values[:MAX_NAMED])
    noun = "category" if len(values) == 1 else "categories"
    return f"{len(values)} {what} {noun} ({shown}{', ...' * (len(values) > MAX_NAMED)})"


def _worst(verdicts: list[str]) -> str:
    """The verdict of a column: the worst of all periods, and in how many."""
    if DRIFT not in verdicts:
        return next((one for one in verdicts if one != STABLE), STABLE)
    n = verdicts[1:].count(DRIFT)
    return f"drift in {n} of {counted(len(verdicts) - 1, 'period')}" if n else DRIFT
