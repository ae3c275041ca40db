"""Sections of a page on a scorecard, with the points of all parts of its columns, and on cut-offs of its score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gridmodl.data.frames import ARRAYS
from gridmodl.model.labels import counted
from gridmodl.report.hints import hints_of_models
from gridmodl.report.html.lead import for_target, notes
from gridmodl.report.html.plain import cut, plain_number, plain_values
from gridmodl.report.html.variables import Pairs, Tables, make_section, variable_record
from gridmodl.report.pictures import plain
from gridmodl.report.scorecard import other_values_text, points_text, scale_text

if TYPE_CHECKING:
    from gridmodl.scorecard.cutoffs import Cutoffs
    from gridmodl.scorecard.record import Scorecard

WORTH = "range of points"
MAX_BARS = 40  # of the distribution of the score


def section_of_scorecard(card: Scorecard) -> dict[str, Any]:
    tables = Tables()
    own = [tables.make("Columns", dict(card.columns(ARRAYS))), _points(card, tables)]
    if card.left_out:
        columns = {"column": list(card.left_out), "reason": list(card.left_out.values())}
        own.append(tables.make("Columns left out", columns))
    n_groups = sum(len(card.partition(name).groups) for name in card.models)
    variables = []
    at = {name: k for k, name in enumerate(card.models)}
    for name in sorted(card.models, key=lambda name: -_range(card, name)):
        about = f"weight {card.weights[at[name]]:.4f}; {_seen(card, name)}"
        model, partition = card.models[name], card.partition(name)
        points = {"points": card.points_of(name)}
        record = variable_record(model, partition, tables, n_groups, _range(card, name), about, points)
        variables.append(record | {"name": cut(str(name)), "merges": []})
    words = f"Scorecard of {counted(len(card.models), 'column')}", _lead(card), _facts(card)
    digits = 0 if card.scaling.rounded else 2  # of the range of points
    return make_section(words, own, tables, variables, WORTH) | {"digits": digits}


def _points(card: Scorecard, tables: Tables) -> dict[str, Any]:
    """Table of the points of all parts, with the short names of parts, as other tables have them."""
    columns = card.table_of(map(card.parts_table, card.models))
    names = [""]  # of the base
    for name in card.models:
        names += card.partition(name).names
    return tables.make("Points", columns) | {"names": [cut(name) for name in names]}


def section_of_cutoffs(cutoffs: Cutoffs) -> dict[str, Any]:
    """Section with a table of what each cut-off approves, and the distribution of the score of both classes."""
    tables = Tables()
    n_rows = float(cutoffs.events.sum() + cutoffs.rest.sum())
    facts = [
        ("Rows", f"{n_rows:,.6g}"),
        ("Event rate", f"{cutoffs.event_rate:.2%}"),
        ("Gini", f"{cutoffs.gini:.4f}"),
        ("KS", f"{cutoffs.ks:.4f}"),
        ("Score of the largest KS", f"{cutoffs.best:.6g}"),
        ("Scores", f"{cutoffs.scores[0]:.6g} to {cutoffs.scores[-1]:.6g}"),
    ]
    lead = [
        ("Asked", "which rows each cut-off of the score approves, and how many of them have the event"),
        ("Found", _told_apart(cutoffs)),
    ]
    columns, formats = dict(cutoffs.table(ARRAYS)), dict.fromkeys(("approved",), "count")
    formats |= dict.fromkeys(("approval_rate", "event_rate", "events_rejected", "rest_rejected"), "share")
    record = tables.make("Cut-offs", columns, formats=formats)
    return make_section(("Cut-offs of the score", lead, facts), [record | {"chart": _scores(cutoffs)}], tables, [])


def _told_apart(cutoffs: Cutoffs) -> str:
    """Sentence on how well the score tells the classes apart."""
    if np.isnan(cutoffs.ks):
        return "all rows have one class"
    return (
        f"at a score of {cutoffs.best:.6g}, the shares rejected of the event and of the rest differ by {cutoffs.ks:.1%}"
    )


def _scores(cutoffs: Cutoffs) -> dict[str, Any]:
    """Chart of the shares of the rows of the event, and of the rest, in bars of equal width."""
    edges = np.linspace(cutoffs.scores[0], cutoffs.scores[-1], MAX_BARS + 1)
    if edges[0] == edges[-1]:
        edges = edges[0] + np.array([-0.5, 0.5])
    bars = [np.histogram(cutoffs.scores, edges, weights=rows)[0] for rows in (cutoffs.events, cutoffs.rest)]
    shares = [plain_values(of / max(1e-300, float(of.sum()))) for of in bars]
    best = plain_number(cutoffs.best)
    return {"kind": "scores", "edges": plain_values(edges), "events": shares[0], "rest": shares[1], "best": best}


def _lead(card: Scorecard) -> Pairs:
    ranked = sorted(card.models, key=lambda name: -_range(card, name))
    most = ", ".join(f"{plain(name)} ({_seen(card, name)})" for name in ranked[:3])
    found = f"{counted(len(card.models), 'column')} give points" + (f"; most of all {most}" if most else "")
    target = for_target(next(iter(card.models.values())).target_name) if card.models else ""
    asked = f"a scorecard of the event {card.event}{target}"
    return [("Asked", cut(asked)), ("Found", cut(found)), *notes(hints_of_models(card.models))]


def _range(card: Scorecard, name: Any) -> float:
    points = card.points_of(name)
    return float(points.max() - points.min())


def _seen(card: Scorecard, name: Any) -> str:
    points = card.points_of(name)
    return f"from {points_text(card, float(points.min()))} to {points_text(card, float(points.max()))} points"


def _facts(card: Scorecard) -> Pairs:
    facts = [
        ("Event", cut(str(card.event))),
        ("Scale", scale_text(card)),
        ("Base", f"{points_text(card, card.base)} points"),
        ("Columns", f"{len(card.models):,} of {len(card.names):,}"),
    ]
    if card.models:
        first = card.partition(next(iter(card.models)))
        facts.append(("Rows", f"{int(first.rows.sum()):,}"))
        low = card.base + sum(float(card.points_of(name).min()) for name in card.models)
        high = card.base + sum(float(card.points_of(name).max()) for name in card.models)
        facts.append(("Scores", f"{points_text(card, low)} to {points_text(card, high)}"))
    return [*facts, ("Other values", other_values_text(card))]
