"""The record of the page of a scorecard: its scale, the points of each column, the points table, cut-offs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gridmodl.data.frames import ARRAYS
from gridmodl.model.labels import counted
from gridmodl.model.names import shortened
from gridmodl.report.html.plain import cut
from gridmodl.report.html.variables import Tables, variable_record
from gridmodl.report.scorecard import points_text, scale_text

if TYPE_CHECKING:
    from gridmodl.scorecard.cutoffs import Cutoffs
    from gridmodl.scorecard.record import Scorecard

WORTH = "range of points"


def document_of_scorecard(card: Scorecard, cutoffs: Cutoffs | None) -> dict[str, Any]:
    tables = Tables()
    overview = dict(card.columns(ARRAYS))
    own = [tables.make("Columns", overview), tables.make("Points", dict(card.table(ARRAYS)))]
    if cutoffs is not None:
        own.append(tables.make("Cut-offs", dict(cutoffs.table(ARRAYS))))
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
    return {
        "facts": _facts(card, cutoffs),
        "tables": own,
        "heads": tables.heads,
        "variables": variables,
        "worth": WORTH if variables else None,
        "grid": None,
        "lead": _lead(card),
    }


def _lead(card: Scorecard) -> list[tuple[str, str]]:
    ranked = sorted(card.models, key=lambda name: -_range(card, name))
    most = ", ".join(f"{name} ({_seen(card, name)})" for name in ranked[:3])
    found = f"{counted(len(card.models), 'column')} give points" + (f"; most of all {most}" if most else "")
    return [("Asked", cut(f"a scorecard of the event {card.event}")), ("Found", cut(found))]


def _range(card: Scorecard, name: Any) -> float:
    points = card.points_of(name)
    return float(points.max() - points.min())


def _seen(card: Scorecard, name: Any) -> str:
    points = card.points_of(name)
    return f"from {points_text(card, float(points.min()))} to {points_text(card, float(points.max()))} points"


def _facts(card: Scorecard, cutoffs: Cutoffs | None) -> list[tuple[str, str]]:
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
    if cutoffs is not None:
        facts += [("Gini", f"{cutoffs.gini:.4f}"), ("KS", f"{cutoffs.ks:.4f}")]
    unknown = (
        f"unknown categories: {card.policy.unknown}; missing values that training had none of: {card.policy.missing}"
    )
    return [*facts, ("Other values", shortened(unknown, 400))]
