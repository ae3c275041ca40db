"""The query that applies a model to a table: parts, their labels, the cell, and what that says of the target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gridmodl.frames import Name
from gridmodl.report.sql.answers import OF_PARTS, Answers, answers_of, checked_output, outputs_of
from gridmodl.report.sql.dialects import dialect_named
from gridmodl.report.sql.plainvalues import Value, literal
from gridmodl.report.sql.source import Source

if TYPE_CHECKING:
    from gridmodl.model import Model
    from gridmodl.models import Models
    from gridmodl.partition import Partition


def query_of_model(
    model: Model,
    dialect: str,
    table: Any,
    columns: Mapping[Name, str] | None,
    keep: Any,
    output: Any,
    unknown: Any,
    coverage: float,
) -> str:
    """The query of `Model.to_sql`."""
    of, wanted = dialect_named(dialect), checked_output(output, outputs_of(model))
    source = Source(of, table, columns, keep, _shown_partitions(model), unknown, model.partitions)
    answers = answers_of(model, wanted, coverage, of)
    return _query(source, wanted, answers)


def query_of_models(
    models: Models, dialect: str, table: Any, columns: Mapping[Name, str] | None, keep: Any, output: Any, unknown: Any
) -> str:
    """The query of `Models.to_sql`: the parts of all columns with more than one."""
    of, wanted = dialect_named(dialect), checked_output(output, OF_PARTS)
    partitions = [partition for model in models.values() for partition in model.partitions.values()]
    shown = [partition for partition in partitions if partition.n_parts > 1]
    if not shown:
        raise ValueError("no column has more than one part, so there is nothing to ask of a database")
    return _query(Source(of, table, columns, keep, shown, unknown, models), wanted, Answers((), [], []))


def _shown_partitions(model: Model) -> list[Partition]:
    """Those of a single column, and those with more than one part of several: the others say nothing of a row."""
    partitions = list(model.partitions.values())
    return [partition for partition in partitions if partition.n_parts > 1 or len(partitions) == 1]


def _query(source: Source, wanted: list[str], answers: Answers) -> str:
    if wanted == ["parts"]:
        return f"SELECT\n  {_comma_lines(source.select('  '))}\nFROM {source.table} AS t"
    shown = [f"p.{name}" for name in source.kept]
    if "parts" in wanted:
        shown += [f"p.{alias}" for alias in source.parts.values()]
    if "labels" in wanted:
        shown += [_label(partition, source) for partition in source.partitions]
    named = [source.aliases.add(answer.name) for answer in answers.columns]
    shown += [_answer(answers, i, alias) for i, alias in enumerate(named)]
    inner = f"  SELECT\n    {_comma_lines(source.select('    '), '    ')}\n  FROM {source.table} AS t"
    return f"SELECT\n  {_comma_lines(shown)}\nFROM (\n{inner}\n) AS p{_join(answers, named, source)}"


def _comma_lines(items: Iterable[str], margin: str = "  ") -> str:
    return f",\n{margin}".join(items)


def _answer(answers: Answers, i: int, alias: str) -> str:
    """What the joined cell says; where no column tells cells apart, there is one."""
    answer = answers.columns[i]
    if not answers.names:
        return f"{answer.by_place[0]} AS {alias}"
    return f"COALESCE(c.{alias}, {answer.otherwise}) AS {alias}"


def _join(answers: Answers, named: list[str], source: Source) -> str:
    if not answers.names or not named:
        return ""
    keys = [source.parts[name] for name in answers.names]
    rows = [
        [*map(str, place), *(answer.by_place[i] for answer in answers.columns)]
        for i, place in enumerate(answers.places)
    ]
    on = " AND ".join(f"c.{key} = p.{key}" for key in keys)
    return f"\nLEFT JOIN {source.dialect.rows([*keys, *named], rows)} ON {on}"


def _label(partition: Partition, source: Source) -> str:
    """The part in words; NULL for an unknown value."""
    texts = [literal(Value("text", label), source.dialect, "a label") for label in partition.labels]
    cases = "".join(f"\n    WHEN {i} THEN {text}" for i, text in enumerate(texts))
    return f"CASE p.{source.parts[partition.name]}{cases}\n  END AS {source.aliases.add(f'label_{partition.name}')}"
