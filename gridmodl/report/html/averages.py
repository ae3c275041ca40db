"""Sections of a page on averages: the curve of each class with its band, likely bounds and numbers of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import ARRAYS
from gridmodl.model.labels import counted, listed, time_texts
from gridmodl.model.names import rounded
from gridmodl.report.averages import LIKELY, Curve, curves_of, ranked
from gridmodl.report.hints import hints_of_averages
from gridmodl.report.html.charts import on_axis
from gridmodl.report.html.lead import MAX_WORDS, for_target, notes
from gridmodl.report.html.plain import caption, cut, plain_number, plain_values
from gridmodl.report.html.variables import MAX_CLASSES, Pairs, Tables, make_section
from gridmodl.report.pictures import plain
from gridmodl.report.tables import largest

if TYPE_CHECKING:
    from gridmodl.averaging.averages import Averages
    from gridmodl.averaging.record import Average

WORTH = "probability informative"
MOST = {"most": 1}  # the whole bar
COVERAGE = 0.9
N_BINS = 40  # of the rows along a column
MAX_PARTS = 50  # numbers of parts in a table
FORMATS = {
    **dict.fromkeys(("column", "kind", "exact", "value", "bound"), "text"),
    **dict.fromkeys(("rows", "parts"), "count"),
    **dict.fromkeys(("probability", "p_informative"), "number"),
}
LABELS = {
    "p_informative": "probability informative", "loo_loss": "leave-one-out loss", "loo_gain": "leave-one-out gain",
    "parts": "likely parts", "rows": "rows near it",
}  # fmt: skip


def section_of_average(average: Average) -> dict[str, Any]:
    tables = Tables()
    words = f"Average of {plain(average.name)}", _lead([average]), _facts(average)
    return make_section(words, [], tables, [_variable(average, tables)], WORTH) | MOST


def section_of_averages(averages: Averages) -> dict[str, Any]:
    tables, every = Tables(), list(averages.values())
    own = []
    if every:
        columns = dict(averages.table(ARRAYS))
        columns["exact"] = ["yes" if exact else "no" for exact in columns["exact"]]
        note = (
            "Losses are mean log-losses of each row predicted by all others, in nats; the gain is against no column at "
            "all. Exact: every place between two values could be a bound."
        )
        own.append(tables.make("All columns", columns, note, formats=FORMATS, labels=LABELS))
    if averages.errors:
        columns = {"column": list(averages.errors), "reason": list(averages.errors.values())}
        own.append(tables.make("Columns without an average", columns))
    variables = [_variable(average, tables) for average in every]
    facts = [("Columns", f"{len(every):,}"), *(_shared_facts(every[0]) if every else [])]
    words = f"Averages of {counted(len(every), 'column')}", _lead(every), facts
    return make_section(words, own, tables, variables, WORTH) | MOST


def _lead(averages: list[Average]) -> Pairs:
    """Sentences on what was asked and found."""
    if not averages:
        return [("Found", "no column has an average")]
    names = listed([plain(average.name) for average in averages])
    target = for_target(averages[0].target_name)
    asked = f"the probability of each class along {names}{target}, averaged over all partitions by the criterion "
    known = [average.p_informative for average in averages if average.p_informative is not None]
    found = f"{sum(p > 0.5 for p in known):,} of {counted(len(averages), 'column')} more likely informative than not"
    if len(known) == len(averages) == 1:
        found = f"{names} is informative with a probability of {known[0]:.3g}; {_size(averages[0])}"
    hints = hints_of_averages({average.name: average for average in averages})
    return [
        ("Asked", plain(asked + averages[0].criterion, MAX_WORDS)),
        *([("Found", found)] if known else []),
        *notes(hints),
    ]


def _shared_facts(average: Average) -> Pairs:
    """Facts that all averages of one call share."""
    facts = [
        ("Rows", f"{average.n_rows:,}"),
        ("Classes", f"{len(average.classes):,}"),
        ("Criterion", average.criterion),
        ("Prior", f"over {average.prior}"),
    ]
    return facts if average.event is None else [*facts, ("Event", cut(str(average.event)))]


def _facts(average: Average) -> Pairs:
    facts = [*_shared_facts(average), ("Most likely", _size(average).removeprefix("most likely "))]
    facts.append(("Log evidence", f"{average.log_evidence:,.6g}"))
    if average.loo_loss is not None and average.loo_gain is not None:
        gain = f"{abs(average.loo_gain):.4g} {'less' if average.loo_gain >= 0 else 'more'} than without it"
        facts.append(("Leave-one-out loss", f"{average.loo_loss:.4g} nats per row, {gain}"))
    if average.p_missing_apart is not None:
        facts.append(("Missing values apart", f"probability {average.p_missing_apart:.3g}"))
    facts.append(("Candidate bounds", f"{len(average.bounds):,}, {'all there are' if average.exact else 'of more'}"))
    return [*facts, ("Stopped", average.stopped)] if average.stopped else facts


def _size(average: Average) -> str:
    n = int(np.argmax(average.p_parts))
    return f"most likely {counted(n + 1, 'part')} (probability {average.p_parts[n]:.3g})"


def _variable(average: Average, tables: Tables) -> dict[str, Any]:
    curves = curves_of(average, _shown_classes(average), COVERAGE)
    missing = average.segments.n_missing
    loss = average.loo_loss
    marks = [] if loss is None else [f"leave-one-out loss {loss:.4g}"]
    return {
        "name": cut(str(average.name)),
        "kind": average.segments.kind,
        "parts": int(np.argmax(average.p_parts)) + 1,
        "size": f"most likely {counted(int(np.argmax(average.p_parts)) + 1, 'part')}",
        "worth": None if average.p_informative is None else plain_number(average.p_informative),
        "about": "",
        "marks": [*marks, *([f"{missing / max(1, average.n_rows):.1%} missing"] if missing else [])],
        "names": [],
        "merges": [],
        "tables": [*_bounds(average, tables), _parts(average, tables), _curve_table(average, curves, tables)],
        "chart": _chart(curves),
        "values": [],
    }


def _shown_classes(average: Average) -> list[int]:
    """Numbers of the classes whose curves a page has: the event or the last class first, then the largest."""
    n = len(average.classes)
    first = n - 1 if average.event_index is None else average.event_index
    if n == 2:
        return [first]
    order = largest(average.segments.counts.sum(axis=0), MAX_CLASSES)
    return [first, *(int(c) for c in order if c != first)][:MAX_CLASSES]


def _curve_table(average: Average, curves: list[Curve], tables: Tables) -> dict[str, Any]:
    """Rows, probability and band of each class at each knot that is shown, and of the parts apart."""
    one = curves[0]
    columns: dict[str, Any] = {
        "value": [*one.apart_names, *average._labels_of(rounded(one.values))],
        "rows": np.concatenate([one.apart_rows, one.rows]),
    }
    formats, labels = dict(FORMATS), dict(LABELS)
    for c, curve in enumerate(curves):
        texts = ("probability", f"{COVERAGE:.0%} from", "to")
        of_class = (
            np.column_stack([curve.apart_shares, curve.apart_bands]).T,
            np.column_stack([curve.shares, curve.low, curve.high]).T,
        )
        for key, text, apart, along in zip(("p", "low", "high"), texts, *of_class, strict=True):
            columns[f"{key}_{c}"] = np.concatenate([apart, along])
            formats[f"{key}_{c}"], labels[f"{key}_{c}"] = "share", f"{curve.label}: {text}"
    n = len(average.knots)
    note = f"{len(one.values):,} of {n:,} values." if len(one.values) < n else ""
    record = tables.make(caption("Curve of", average.name), columns, note, formats=formats, labels=labels)
    return record | {"fold": "The curve as a table"}


def _bounds(average: Average, tables: Tables) -> list[dict[str, Any]]:
    """A table of the bounds that are likely, if there are any."""
    likely = np.flatnonzero(average.p_bounds >= LIKELY)
    if not len(likely):
        return []
    columns = {"bound": average._labels_of(rounded(average.bounds)[likely]), "probability": average.p_bounds[likely]}
    labels = {"bound": "last level below"} if average.segments.levels else {}
    return [tables.make(caption("Likely bounds of", average.name), columns, formats=FORMATS, labels=labels)]


def _parts(average: Average, tables: Tables) -> dict[str, Any]:
    """A table of the numbers of parts and their probabilities, the likely ones."""
    found = np.flatnonzero(average.p_parts >= 5e-5)[:MAX_PARTS]
    columns = {"parts": found + 1, "probability": average.p_parts[found]}
    return tables.make(caption("Number of parts of", average.name), columns, formats=FORMATS, labels={"parts": "parts"})


def _chart(curves: list[Curve]) -> dict[str, Any]:
    """Chart of the curves: places of the knots, the rows along them, and what each class has there."""
    one = curves[0]
    drawn = ranked(one)
    at, bounds = on_axis(drawn.values), on_axis(drawn.bounds)
    finite = np.isfinite(np.array(at, dtype=np.float64)) if len(at) else np.empty(0, dtype=bool)
    kept = np.flatnonzero(finite).tolist()
    places = np.array([at[i] for i in kept], dtype=np.float64)
    short = time_texts(one.values, False) if one.values.dtype.kind in "mM" else rounded(one.values)
    texts = one.levels or short
    return {
        "kind": "curve",
        "at": [at[i] for i in kept],
        "texts": [cut(str(texts[i])) for i in kept],
        "is_date": one.values.dtype.kind == "M",
        "levels": [cut(one.levels[i]) for i in kept] if one.levels else None,
        "ranks": [cut(text) for text in drawn.ranks],
        "bars": _bars(places, one.rows[finite], bool(one.levels)),
        "apart": [cut(name) for name in one.apart_names],
        "coverage": f"{one.coverage:.0%}",
        "bounds": bounds,
        "curves": [
            {
                "name": cut(str(curve.label)),
                "shares": plain_values(curve.shares[finite]),
                "low": plain_values(curve.low[finite]),
                "high": plain_values(curve.high[finite]),
                "best": plain_values(curve.best),
                "apart": plain_values(curve.apart_shares),
                "apart_bands": [plain_values(band) for band in curve.apart_bands],
            }
            for curve in curves
        ],
    }


def _bars(places: NDArray[np.float64], rows: NDArray[np.float64], is_ordinal: bool) -> list[list[Any]]:
    """Bars of the rows along a column: left end, right end and rows."""
    if not len(places):
        return []
    if is_ordinal or places.min() == places.max():
        return [[place - 0.4, place + 0.4, int(n)] for place, n in zip(places.tolist(), rows.tolist(), strict=True)]
    heights, edges = np.histogram(places, N_BINS, weights=rows)
    ends = zip(edges[:-1].tolist(), edges[1:].tolist(), heights.tolist(), strict=True)
    return [[plain_number(left, 9), plain_number(right, 9), int(n)] for left, right, n in ends if n]
