"""`PartsComparison`: the rows of one column then and now, by part and period, and the tests of their drift."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.model.labels import counted
from gridmodl.monitoring.counting import ALL, CELLS, TARGET, PartsCounts
from gridmodl.monitoring.drift import (
    Change,
    holm,
    log_loss,
    psi_noise,
    psi_terms,
    rate_change,
    same_relation,
    same_shares,
)

OTHERS = {CELLS: "other cells", TARGET: "other classes"}  # labels of the rows that no part holds
NO_PART = "no part"
DRIFT, SMALL, STABLE = "drift", "small change", "stable"


class DriftLimits(NamedTuple):
    """From where on a change is a drift; see `Model.compare`."""

    threshold: float  #: population stability index (PSI) of a column
    loss: float  #: share of the information of a column on the classes that is lost
    alpha: float  #: p-value, adjusted for all tests of the comparison


class Prices(NamedTuple):
    """Prices of the classes of the new rows by the criterion of the model, per row; NaN if they were not asked for."""

    same_parts: float = math.nan  #: cost of the parts of the model
    best_parts: float = math.nan  #: cost of the best partition of the new rows
    in_nats: bool = True  #: whether they are in nats; else in the unit of a criterion whose costs are no code lengths


class PValues(NamedTuple):
    """P-values of a column, by period; the first entry is of all new rows."""

    rows: NDArray[np.float64]  #: p-values of the test that the parts have the same shares
    relation: NDArray[np.float64]  #: p-values of the test that the classes relate to the parts as they did


@dataclass(frozen=True, eq=False)
class PartsComparison:
    """One column then and now, by part; or the cells of a grid, or the classes of the target.

    Arrays with an axis of periods have all new rows first, then each period of ``by=``. If rows lie in no part, as
    those of new categories, ``labels`` and the other arrays have them last, as one more part.

    Attributes
    ----------
    name : str
        The column; ``"cells"`` for the cells of a grid, ``"target"`` for the target.
    kind : {"numerical", "categorical", "ordinal", "cells", "target"}
    labels : list of str
        Short names of the parts (`Partition.names`), those given by `Model.rename` among them; no two are equal.
    variables : tuple of str
        Of the cells of a grid: the columns that tell them apart; else empty.
    cells : list of list of str
        Of the cells of a grid: names of the parts of each, one for each of ``variables``; else empty.
    periods : tuple of str
        ``"all"``, and the labels of the periods.
    classes : list of str
        Classes of the target, groups of classes, or intervals of a numerical target; empty without a target.
    events : tuple of int
        Numbers in ``classes`` of those whose rates are compared: the event of the model, else all.
    old_rows, new_rows : ndarray of shape (n_parts,) and (n_periods, n_parts)
        Training rows and new rows of each part.
    old_counts, new_counts : ndarray of shape (n_parts, n_classes) and (n_periods, n_parts, n_classes)
        The rows whose class is known, by class.
    old_missing : float
        Share of the training rows without a value; NaN if not known.
    new_missing : ndarray of shape (n_periods,)
        Share of the new rows without a value.
    below, above : ndarray of shape (n_periods,)
        Share of the new rows with a value below, or above, all values of the training rows; NaN if their range is not
        known, as in models from old files and for categories.
    new_values : dict
        Rows of each category that the training rows did not have.
    vanished : tuple
        Categories of the training rows that no new row has.
    psi_terms, psi, psi_noise : ndarray
        Term of each part, by period; their sum, the population stability index; and the PSI to expect by chance.
    p_value, p_adjusted : ndarray of shape (n_periods,)
        Of the test that the parts have the same shares as in training; adjusted for all tests of the comparison.
    relation_p_value, relation_p_adjusted : ndarray of shape (n_periods,)
        Of the test that the odds of the classes have changed by one factor in all parts; 1 if nothing can be tested.
    information_lost : ndarray of shape (n_periods,)
        Share of the information of the column on the classes that its old shares now miss; NaN if not tested.
    old_shares, best_shares : ndarray of shape (n_periods,)
        Mean code length of the classes of the new rows in nats, by the shares of the model in each part, and by the
        shares of the new rows themselves; NaN without classes.
    prices : Prices
        Cost of the classes of all new rows by the criterion of the model, per row: with the parts of the model, and
        with the best parts for the new rows.
    drift, relation_drift : ndarray of bool, shape (n_periods,)
        Whether shares, or the relation to the classes, have drifted, by the limits of the `Comparison`.
    tests, adjusted : PValues
        The p-values of both tests, and the adjusted ones.
    alpha : float
        Limit of the adjusted p-values.

    See Also
    --------
    gridmodl.monitoring.drift : The formulas.
    """

    name: Name
    kind: str
    labels: list[str]
    variables: tuple[str, ...]
    cells: list[list[str]]
    periods: tuple[str, ...]
    classes: list[str]
    events: tuple[int, ...]
    old_rows: NDArray[np.int64]
    new_rows: NDArray[np.int64]
    old_counts: NDArray[np.int64]
    new_counts: NDArray[np.int64]
    old_missing: float
    new_missing: NDArray[np.float64]
    below: NDArray[np.float64]
    above: NDArray[np.float64]
    new_values: Mapping[Any, int]
    vanished: tuple[Any, ...]
    information_lost: NDArray[np.float64]
    tests: PValues
    adjusted: PValues
    drift: NDArray[np.bool_]
    relation_drift: NDArray[np.bool_]
    alpha: float
    prices: Prices

    @property
    def psi_terms(self) -> NDArray[np.float64]:
        return psi_terms(self.old_rows, self.new_rows)

    @property
    def psi(self) -> NDArray[np.float64]:
        return self.psi_terms.sum(axis=1)

    @property
    def psi_noise(self) -> NDArray[np.float64]:
        return psi_noise(self.old_rows, self.new_rows)

    @property
    def p_value(self) -> NDArray[np.float64]:
        return self.tests.rows

    @property
    def p_adjusted(self) -> NDArray[np.float64]:
        return self.adjusted.rows

    @property
    def relation_p_value(self) -> NDArray[np.float64]:
        return self.tests.relation

    @property
    def relation_p_adjusted(self) -> NDArray[np.float64]:
        return self.adjusted.relation

    @property
    def old_shares(self) -> NDArray[np.float64]:
        return self._loss()[0]

    @property
    def best_shares(self) -> NDArray[np.float64]:
        return self._loss()[1]

    def _loss(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if not self.classes:
            return np.full(len(self.periods), np.nan), np.full(len(self.periods), np.nan)
        return log_loss(self.old_counts, self.new_counts)

    def rates(self, event: int) -> Change:
        """Share of class number `event` in each part, then and now, with the 95 % interval of its change.

        Parameters
        ----------
        event : int
            Number in ``classes``.

        Returns
        -------
        Change
            ``old``, ``new``, ``change``, ``lower`` and ``upper``, each of shape (n_periods, n_parts); NaN for parts
            without rows.
        """
        return rate_change(
            self.old_counts[:, event], self.old_counts.sum(axis=1),
            self.new_counts[..., event], self.new_counts.sum(axis=2),
        )  # fmt: skip

    def overall_rate(self, event: int) -> Change:
        """As `rates` of class number `event`, of all parts together; arrays of shape (n_periods,)."""
        old, new = self.old_counts.sum(axis=0), self.new_counts.sum(axis=1)
        return rate_change(old[event], old.sum(), new[:, event], new.sum(axis=1))

    @property
    def verdicts(self) -> list[str]:
        """For each period ``"drift"``, ``"small change"`` (more than chance, but below the limits) or ``"stable"``."""
        is_small = np.minimum(self.adjusted.rows, self.adjusted.relation) <= self.alpha
        return [
            DRIFT if drift else SMALL if small else STABLE
            for drift, small in zip((self.drift | self.relation_drift).tolist(), is_small.tolist(), strict=True)
        ]

    def __repr__(self) -> str:
        return f"PartsComparison({self.name!r}, {counted(len(self.labels), 'part')}, psi={self.psi[0]:.4f})"


class _Untested(NamedTuple):
    """A column whose p-values are not adjusted yet; NaN stands for what could not be tested."""

    facts: dict[str, Any]
    tests: PValues
    psi: NDArray[np.float64]
    lost: NDArray[np.float64]


def compared_parts(
    all_counts: Sequence[PartsCounts], periods: Sequence[str], limits: DriftLimits, prices: Sequence[Prices]
) -> list[PartsComparison]:
    """Compare columns, cells and target; their p-values are adjusted together."""
    found = [_untested(counts, periods) for counts in all_counts]
    p_values = np.array([one.tests for one in found])  # columns x 2 x periods
    is_tested = ~np.isnan(p_values)
    adjusted = np.ones_like(p_values)
    adjusted[is_tested] = holm(p_values[is_tested])
    p_values[~is_tested] = 1.0
    return [
        PartsComparison(
            **one.facts,
            information_lost=one.lost,
            tests=PValues(*p_values[i]),
            adjusted=PValues(*adjusted[i]),
            drift=(adjusted[i, 0] <= limits.alpha) & (one.psi >= limits.threshold),
            relation_drift=(adjusted[i, 1] <= limits.alpha) & (one.lost >= limits.loss),
            alpha=limits.alpha,
            prices=prices[i],
        )
        for i, one in enumerate(found)
    ]


def _untested(counts: PartsCounts, periods: Sequence[str]) -> _Untested:
    about, old, classes = counts.compared, counts.compared.old, counts.compared.classes
    new, missing = _with_all(counts.new, periods), _with_all(counts.missing, periods)
    has_others = bool(old[-1].any() or new[0, -1].any())
    kept = len(old) if has_others else len(old) - 1
    old, new = old[:kept], new[:, :kept]
    old_rows, new_rows = old.sum(axis=1), new.sum(axis=2)
    old_counts, new_counts = old[:, :-1], new[..., :-1]
    has_classes = about.kind != TARGET and bool(new_counts.any())
    tests = [same_shares(old_rows, rows) for rows in new_rows]
    relations = [same_relation(old_counts, rows) for rows in new_counts] if has_classes else []
    rows = np.maximum(new_rows.sum(axis=1) + (missing if about.kind == TARGET else 0), 1)
    outside = np.full((len(new), 2), np.nan)
    if counts.outside is not None:
        outside = _with_all(counts.outside, periods) / rows[:, None]
    facts = {
        "name": about.name,
        "kind": about.kind,
        "labels": [*about.labels, *([OTHERS.get(about.kind, NO_PART)] * has_others)],
        "variables": tuple(str(one.name) for one in about.partitions) if about.kind == CELLS else (),
        "cells": about.names_of_cells,
        "periods": (ALL, *(periods if _has_periods(periods) else ())),
        "classes": classes.labels if has_classes else [],
        "events": classes.events if has_classes else (),
        "old_rows": old_rows,
        "new_rows": new_rows,
        "old_counts": old_counts if has_classes else old_counts[:, :0],
        "new_counts": new_counts if has_classes else new_counts[..., :0],
        "old_missing": math.nan if about.old_missing is None else about.old_missing / max(int(old_rows.sum()), 1),
        "new_missing": np.full(len(new), np.nan) if about.kind == CELLS else missing / rows,
        "below": outside[:, 0],
        "above": outside[:, 1],
        "new_values": counts.new_values,
        "vanished": counts.vanished,
    }
    p_relation = [one.test.p_value if one.test.is_tested else math.nan for one in relations] or [math.nan] * len(new)
    p_rows = [test.p_value if test.is_tested else math.nan for test in tests]
    lost = np.array([one.lost for one in relations] or [math.nan] * len(new))
    return _Untested(
        facts, PValues(np.array(p_rows), np.array(p_relation)), psi_terms(old_rows, new_rows).sum(axis=1), lost
    )


def _has_periods(periods: Sequence[str]) -> bool:
    return list(periods) != [""]


def _with_all(by_period: NDArray[np.int64], periods: Sequence[str]) -> NDArray[np.int64]:
    """All rows together, then those of each period, if there are periods."""
    total = by_period.sum(axis=0, keepdims=True)
    return np.concatenate([total, by_period]) if _has_periods(periods) else total
