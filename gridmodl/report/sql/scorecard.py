"""The query of a scorecard: one addend a column, and their sum.

t  the table          p  the part of each column          a  the points of each part          s  the score
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gridmodl.data.frames import Name
from gridmodl.report.sql.dialects import dialect_named
from gridmodl.report.sql.evidence import LEAST_EXPONENT
from gridmodl.report.sql.query import TableSource
from gridmodl.spelling import did_you_mean

if TYPE_CHECKING:
    from gridmodl.scorecard.record import Scorecard

OUTPUTS = ("points", "score", "proba")


def query_of_scorecard(
    card: Scorecard,
    dialect: str,
    table: Any,
    columns: Mapping[Name, str] | None,
    keep: Sequence[str],
    output: str | Sequence[str],
) -> str:
    """The query of `Scorecard.to_sql`."""
    outputs, target_dialect = _checked_outputs(output), dialect_named(dialect)
    partitions = [card.partition(name) for name in card.models]
    source = TableSource(target_dialect, table, columns, keep, partitions, card.policy, card.names)
    kept, real, add = source.kept, target_dialect.real, source.aliases.add
    addends = {name: add(f"points_{name}") for name in card.models}
    score, odds = add("score"), add("log_odds")
    margins = ["  " * depth for depth in range(4 if "proba" in outputs else 2, -1, -1)]  # the innermost query is first
    margin = margins[0]
    parts = [*source.select(f"{margin}  "), *(["1 AS one"] * (not kept and not addends))]
    text, margin = _select(parts, f"{source.table} AS t", margin), margins[1]
    entries = [f"p.{name} AS {name}" for name in kept]
    for name, alias in addends.items():
        cases = "".join(
            f"\n{margin}    WHEN {i} THEN {real(float(points))}"
            for i, points in enumerate(card.points_of(name).tolist())
        )
        last = f"\n{margin}    ELSE {real(0.0)}\n{margin}  END"
        entries.append(f"CASE p.{source.parts[name]}{cases}{last} AS {alias}")
    text, margin = _select(entries or ["1 AS one"], _nested(text, "p", margin), margin), margins[2]
    total = " + ".join([real(card.base), *(f"a.{alias}" for alias in addends.values())])
    carried = [*kept, *(addends.values() if "points" in outputs else ())]
    entries = [f"a.{name} AS {name}" for name in carried]
    if "proba" not in outputs:
        entries += [f"{total} AS {score}"] if "score" in outputs else []
        return _select(entries or ["1 AS one"], _nested(text, "a", margin), margin)
    text, margin = _select([*entries, f"{total} AS {score}"], _nested(text, "a", margin), margin), margins[3]
    scale = card.scaling
    # Divided by the factor with its sign, as `Scaling.log_odds` does.
    difference = f"(b.{score} - {real(scale.offset)}) / {real(scale.factor)}"
    signed = difference if scale.sign > 0 else f"-({difference})"
    entries = [f"b.{name} AS {name}" for name in [*carried, score]]
    text, margin = _select([*entries, f"{signed} AS {odds}"], _nested(text, "b", margin), margin), margins[4]
    shown = [f"s.{name} AS {name}" for name in [*carried, *([score] if "score" in outputs else [])]]
    small = f"EXP({target_dialect.greatest}(-ABS(s.{odds}), {real(LEAST_EXPONENT)}))"
    shown.append(f"CASE WHEN s.{odds} >= 0 THEN 1 / (1 + {small}) ELSE {small} / (1 + {small}) END AS {add('p_event')}")
    return _select(shown, _nested(text, "s", margin), margin)


def _select(entries: Iterable[str], source: str, margin: str) -> str:
    """A query whose lines but the first begin with `margin`.

    Lines are never indented afterwards: names and categories may hold line breaks.
    """
    listed = f",\n{margin}  ".join(entries)
    return f"SELECT\n{margin}  {listed}\n{margin}FROM {source}"


def _nested(query: str, alias: str, margin: str) -> str:
    """The query in brackets, within one that has this margin."""
    return f"(\n{margin}  {query}\n{margin}) AS {alias}"


def _checked_outputs(output: str | Sequence[str]) -> list[str]:
    found = [output] if isinstance(output, str) else list(output)
    wrong = [one for one in found if one not in OUTPUTS]
    if not found or wrong:
        near = did_you_mean(wrong[0], OUTPUTS) if wrong else ""
        raise ValueError(f"output must be one or several of {', '.join(map(repr, OUTPUTS))}, got {output!r}{near}")
    return found
