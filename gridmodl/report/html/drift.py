"""The section of a page on a comparison of new rows with those of training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gridmodl.model.labels import counted, listed
from gridmodl.monitoring.parts import DRIFT
from gridmodl.monitoring.record import remarks_on
from gridmodl.monitoring.tables import RATES, column_lines, part_lines, period_lines
from gridmodl.report.html.lead import for_target
from gridmodl.report.html.plain import caption, cut, plain_number, plain_values
from gridmodl.report.html.variables import MAX_CLASSES, Pairs, Tables, make_section
from gridmodl.report.pictures import plain
from gridmodl.report.tables import largest

if TYPE_CHECKING:
    from gridmodl.monitoring.parts import PartsComparison
    from gridmodl.monitoring.record import Comparison

FORMATS = {
    **dict.fromkeys(("column", "period", "part", "verdict"), "text"),
    **dict.fromkeys(("rows", "rows_old", "rows_new", "new_values", "vanished", "drift_periods"), "count"),
    **dict.fromkeys(("share_old", "share_new", "missing_old", "missing_new", "below", "above"), "share"),
    **dict.fromkeys(("information_lost", "rate_old", "rate_new", "change", "lower", "upper"), "share"),
}
MAX_PARTS = 2000  # lines of a table of parts, such as the cells of a grid
OVERVIEW = (
    "column", "verdict", "psi", "psi_noise", "p_adjusted", "information_lost", "drift_periods", "missing_old",
    "missing_new", "below", "above", "new_values", "vanished", "old_shares", "best_shares", "same_parts", "best_parts",
)  # fmt: skip


def section_of_comparison(comparison: Comparison) -> dict[str, Any]:
    """Section with an overview, and all that is compared, drifted ones first, then by PSI."""
    tables = Tables()
    shown = sorted(comparison.all_parts, key=lambda one: (DRIFT not in one.verdicts, -float(one.psi.max())))
    lines = column_lines(comparison, 0)
    overview = _known({key: lines[key] for key in OVERVIEW})
    by_period = {"relation_p_adjusted"} if len(comparison.periods) > 1 and "information_lost" in overview else set()
    own = [tables.make("All columns", overview, _note({*overview, *by_period}), formats=FORMATS)]
    words = f"Drift of {counted(len(comparison.columns), 'column')}", _lead(comparison), _facts(comparison)
    section = make_section(
        words, own, tables, [_variable(one, comparison, tables) for one in shown], _worth(comparison)
    )
    most = max([comparison.limits.threshold, *(float(one.psi.max()) for one in shown)])
    return section | {"most": plain_number(most)}  # the whole bar is at least the threshold


def _worth(comparison: Comparison) -> str:
    return "highest PSI" if len(comparison.periods) > 1 else "PSI"


def _known(lines: dict[str, Any]) -> dict[str, Any]:
    """Columns of a table that have a value."""
    return {
        key: column for key, column in lines.items()
        if not all(isinstance(value, float) and np.isnan(value) for value in column)
    }  # fmt: skip


def _lead(comparison: Comparison) -> Pairs:
    target = for_target(comparison.target_name)
    asked = f"whether new rows fall into the parts of the model{target} as those of training did"
    n_all, n_drifted = len(comparison.all_parts), len(comparison.drifted)
    names = listed([plain(name) for name in comparison.drifted])
    found = f"drift in {n_drifted} of {n_all}: {names}" if n_drifted else f"no drift in {_compared(comparison)}"
    return [("Asked", asked), ("Found", cut(found))]


def _compared(comparison: Comparison) -> str:
    """All that is compared, in words."""
    cells = ["the cells"] if comparison.cells is not None else []
    target = ["the target"] if comparison.target is not None else []
    *first, last = counted(len(comparison.columns), "column"), *cells, *target
    return f"{', '.join(first)} and {last}" if first else last


NOTES = {
    "psi_noise": "psi noise is the PSI to expect by chance",
    "p_adjusted": "p adjusted is the probability of such a PSI by chance, adjusted for all tests",
    "information_lost": "information lost is the share of the information on the classes that the old shares miss",
    "relation_p_adjusted": "relation p adjusted is that of the test that the odds of the classes changed by one factor "
    "in all parts",
    "below": "below and above are shares of values out of the training range",
    "old_shares": "old shares and best shares are prices of the classes per row, by the shares of training and of the "
    "new rows",
    "same_parts": "same parts and best parts are those by the criterion, with the parts of the model and with the best "
    "of the new rows",
}


def _note(columns: set[str]) -> str:
    """What the columns of a table mean."""
    return "; ".join(text for key, text in NOTES.items() if key in columns) + "."


def _facts(comparison: Comparison) -> Pairs:
    threshold, loss, alpha = comparison.limits
    names = listed([plain(name) for name in comparison.drifted])
    facts = [
        ("Drift", names or "none"),
        ("New rows", f"{int(comparison.n_new[0]):,}"),
        ("Training rows", f"{comparison.n_old:,}"),
        ("Columns", f"{len(comparison.columns):,}"),
        ("Periods", f"{len(comparison.periods) - 1:,}" if len(comparison.periods) > 1 else "all rows together"),
        ("Limits", f"PSI {threshold:g}, information lost {loss:.0%}, chance of a false alarm {alpha:g}"),
    ]
    return facts if comparison.event is None else [*facts, ("Event", cut(comparison.event))]


def _variable(one: PartsComparison, comparison: Comparison, tables: Tables) -> dict[str, Any]:
    """Record of one column, of the cells of a grid or of the target."""
    lines = part_lines(one, 0)
    classes = largest(one.new_counts[0].sum(axis=0), MAX_CLASSES)  # whose rates the table has
    dropped = {f"{what}_{one.classes[j]}" for j in one.events if j not in classes for what in RATES}
    kept = largest(one.old_rows + one.new_rows[0], MAX_PARTS)
    shown = {key: [column[i] for i in kept] for key, column in lines.items() if key not in dropped}
    note = "" if len(kept) == len(one.labels) else f"The {len(kept):,} of {len(one.labels):,} parts with most rows."
    of_classes = {f"{what}_{one.classes[j]}": "share" for j in one.events for what in RATES if len(one.events) > 1}
    labels = {
        f"{what}_{one.classes[j]}": f"{one.classes[j]}: {what.replace('_', ' ')}" for j in one.events for what in RATES
    }
    formats = {**of_classes, **FORMATS}
    what = caption("All new rows, parts of", one.name)
    parts = [tables.make(what, shown, note, formats=formats, labels=labels if len(one.events) > 1 else {})]
    if len(one.periods) > 1:
        by_period = _known(period_lines([one]))
        del by_period["column"]
        parts.append(tables.make(caption("Periods of", one.name), by_period, formats=FORMATS))
    return {
        "name": cut(str(one.name)),
        "kind": f"{one.kind}, {_verdict(one)}",
        "parts": len(kept),
        "worth": plain_number(float(one.psi.max())),
        "about": cut("; ".join(remarks_on(one))),
        "marks": [],
        "names": None,
        "merges": [],
        "tables": parts,
        "chart": {"kind": "drift", "has_rates": len(one.events) == 1},
        "periods": _periods(one, comparison.limits.threshold) if len(one.periods) > 1 else None,
        "values": [],
    }


def _verdict(one: PartsComparison) -> str:
    n = one.verdicts[1:].count(DRIFT)
    return f"drift in {counted(n, 'period')}" if n else one.verdicts[0]


def _periods(one: PartsComparison, threshold: float) -> dict[str, Any]:
    return {
        "labels": [cut(label) for label in one.periods[1:]],
        "psi": plain_values(one.psi[1:]),
        "noise": plain_values(one.psi_noise[1:]),
        "verdicts": one.verdicts[1:],
        "threshold": threshold,
    }
