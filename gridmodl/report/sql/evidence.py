"""The query of a classifier that adds up evidence: one addend a column, then the probabilities.

    t  the table          p  the part, or stretch between two knots, of each column
    a  addends: weight times evidence, from small tables of literals that are joined by part or stretch
    s  scores of the classes, and the largest of them          the outermost query has probabilities

With two classes an addend is of the log of the odds of the event, and the score of the other class is 0; else there is
an addend for each class. Exponents below -700 are raised to it, because databases may refuse to underflow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.evidence.grids import GridSource
from gridmodl.evidence.sources import CurveSource, EvidenceSource, PartsSource
from gridmodl.report.sql.averages import measured, number_literal, stretch_partition, stretches_of
from gridmodl.report.sql.dialects import dialect_named
from gridmodl.report.sql.query import TableSource
from gridmodl.spelling import check_choice

if TYPE_CHECKING:
    from gridmodl.evidence.record import WeightedEvidence
    from gridmodl.model.partition import Partition

OUTPUTS = ("proba", "evidence")
LEAST_EXPONENT = -700.0


class SourceQuery(NamedTuple):
    """What a source adds to the query of a classifier."""

    inner: list[str]  # more entries of the inner query
    join: str  # the small table, and how it is joined
    addends: list[str]  # one for each score that is added up


def query_of_evidence(
    model: WeightedEvidence,
    dialect: str,
    table: Any,
    columns: Mapping[Name, str] | None,
    keep: Sequence[str],
    output: str,
) -> str:
    """The query of `WeightedEvidence.to_sql`."""
    check_choice("output", output, OUTPUTS)
    target_dialect = dialect_named(dialect)
    grids = [source for source in model.sources if isinstance(source, GridSource)]
    partitions = [_partition_of(source) for source in model.sources if not isinstance(source, GridSource)]
    of_grids = [grid.model.partitions[name] for grid in grids for name in grid.columns]
    source = TableSource(target_dialect, table, columns, keep, partitions, model.policy, model.names, of_grids)
    writer = _Writer(model, source)
    queries = [writer.query_of(k) for k in range(len(model.sources))]
    addends = [writer.names_of(one.name) for one in model.sources]
    kept = source.kept
    inner = [*source.select("    "), *(entry for one in queries for entry in one.inner)] or ["1 AS one"]
    text = f"SELECT\n    {_comma(inner)}\n  FROM {source.table} AS t"
    named = [
        f"{addend} AS {name}"
        for one, names in zip(queries, addends, strict=True)
        for addend, name in zip(one.addends, names, strict=True)
    ]
    shown = [f"p.{name} AS {name}" for name in kept] + (named or ["1 AS one"])
    joins = "".join(one.join for one in queries)
    text = f"SELECT\n    {_comma(shown)}\n  FROM (\n  {text}\n  ) AS p{joins}"
    evidence = [name for names in addends for name in names]
    scores, largest = [source.aliases.add(f"score_{c}") for c in range(len(model.classes))], source.aliases.add("top")
    sums = [f"{total} AS {score}" for total, score in zip(writer.totals(addends), scores, strict=True)]
    carried = [f"a.{name} AS {name}" for name in [*kept, *evidence]]
    text = f"SELECT\n    {_comma([*carried, *sums])}\n  FROM (\n  {text}\n  ) AS a"
    top = f"{target_dialect.greatest}({', '.join(scores)})" if len(scores) > 1 else scores[0]
    text = f"SELECT\n    *,\n    {top} AS {largest}\n  FROM (\n  {text}\n  ) AS b"
    least = target_dialect.real(LEAST_EXPONENT)
    raised = [f"EXP({target_dialect.greatest}(s.{score} - s.{largest}, {least}))" for score in scores]
    total = " + ".join(raised)
    outer = [f"s.{name} AS {name}" for name in (*kept, *(evidence if output == "evidence" else ()))]
    for label, entry in zip(model.classes.tolist(), raised, strict=True):
        outer.append(f"{entry} / ({total}) AS {source.aliases.add(f'p_{label}')}")
    return f"SELECT\n  {_comma(outer, '  ')}\nFROM (\n  {text}\n) AS s"


def _comma(items: Sequence[str], margin: str = "    ") -> str:
    return f",\n{margin}".join(items)


def _partition_of(source: EvidenceSource) -> Partition:
    """The partition whose parts a query asks for."""
    if isinstance(source, CurveSource):
        return stretch_partition(source.apart, source.knots)
    if isinstance(source, PartsSource):
        return source.partition
    raise NotImplementedError(f"there is no SQL for {source.name!r}, a {type(source).__name__}")


class _Writer:
    """Addends of the sources of a classifier, and their sums."""

    def __init__(self, model: WeightedEvidence, source: TableSource) -> None:
        self.model, self.source, self.dialect = model, source, source.dialect
        n_classes = len(model.classes)
        self.event = model.event_index if n_classes == 2 else None  # scores are log odds
        self.weights = np.broadcast_to(model.weights, (len(model.sources), n_classes))

    def names_of(self, name: Name) -> list[str]:
        """Aliases of the addends of a source."""
        classes = [""] if self.event is not None else [f"_{c}" for c in self.model.classes.tolist()]
        return [self.source.aliases.add(f"evidence_{name}{c}") for c in classes]

    def totals(self, addends: Sequence[Sequence[str]]) -> list[str]:
        """Score of each class: the intercept plus the addends."""
        intercepts = self._shown(self.model.intercepts[None])[0]
        sums = [
            " + ".join([self.dialect.real(float(start)), *(f"a.{names[i]}" for names in addends)])
            for i, start in enumerate(intercepts.tolist())
        ]
        if self.event is None:
            return sums
        zero = self.dialect.real(0.0)
        return [sums[0] if c == self.event else zero for c in range(2)]

    def query_of(self, k: int) -> SourceQuery:
        """What source k adds to the query."""
        source = self.model.sources[k]
        if isinstance(source, GridSource):
            return self._of_grid(k, source)
        return self._of_curve(k, source) if isinstance(source, CurveSource) else self._of_parts(k, source)

    def _shown(self, evidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Columns that are added up, from columns by class."""
        if self.event is None:
            return evidence
        return evidence[:, [self.event]] - evidence[:, [1 - self.event]]

    def _of_grid(self, k: int, source: GridSource) -> SourceQuery:
        alias, cells, real = f"c{k}", source.model.cells, self.dialect.real
        keys = [self.source.aliases.add(f"part_{source.name}_{name}") for name in source.columns]
        inner = [
            f"{self.source.part(source.model.partitions[name], '    ')} AS {key}"
            for name, key in zip(source.columns, keys, strict=True)
        ]
        by_cell = self._shown(self.weights[k] * source.evidence)
        names = [self.source.aliases.add(f"cell_evidence_{i}") for i in range(by_cell.shape[1])]
        rows = [
            [*map(str, parts), *map(real, line)]
            for parts, line in zip(cells.parts.tolist(), by_cell.tolist(), strict=True)
        ]
        on = " AND ".join(f"{alias}.{key} = p.{key}" for key in keys)
        joined = self.dialect.rows([*keys, *names], rows, alias)
        addends = [f"COALESCE({alias}.{name}, {real(0.0)})" for name in names]
        return SourceQuery(inner, f"\n  LEFT JOIN {joined} ON {on}", addends)

    def _of_parts(self, k: int, source: EvidenceSource) -> SourceQuery:
        key, alias = self.source.parts[source.name], f"c{k}"
        by_part = self._shown(self.weights[k] * source.evidence)
        names = [self.source.aliases.add(f"part_evidence_{i}") for i in range(by_part.shape[1])]
        rows = [[str(i), *map(self.dialect.real, line)] for i, line in enumerate(by_part.tolist())]
        joined = self.dialect.rows([key, *names], rows, alias)
        zero = self.dialect.real(0.0)
        addends = [f"COALESCE({alias}.{name}, {zero})" for name in names]
        return SourceQuery([], f"\n  LEFT JOIN {joined} ON {alias}.{key} = p.{key}", addends)

    def _of_curve(self, k: int, source: CurveSource) -> SourceQuery:
        key, alias, real = self.source.parts[source.name], f"c{k}", self.dialect.real
        stretches, factor = stretches_of(source.apart, source.knots, source.shares, np.exp(source.log_prior))
        add = self.source.aliases.add
        n_classes = len(self.model.classes)
        value, low, width = add("value"), add("low"), add("width")
        bases, rises = ([add(f"{word}_{c}") for c in range(n_classes)] for word in ("base", "rise"))
        rows = [
            [
                str(i), number_literal(one.low, self.dialect), real(float(one.width)),
                *map(real, one.base.tolist()), *map(real, one.rise.tolist()),
            ]
            for i, one in enumerate(stretches)
        ]  # fmt: skip
        x = measured(source.apart, source.knots, self.source.columns[source.name], self.dialect)
        joined = self.dialect.rows([key, low, width, *bases, *rises], rows, alias)
        scaled = f"p.{value}" if factor == 1.0 else f"p.{value} * {real(factor)}"
        way = f"(({scaled} - {alias}.{low}) / {alias}.{width})"
        logs = [
            f"{real(float(weight))} * (LN(CASE WHEN {alias}.{width} > 0 THEN {alias}.{base} + {alias}.{rise} * {way} "
            f"ELSE {alias}.{base} END) - {real(float(prior))})"
            for weight, base, rise, prior in zip(self.weights[k], bases, rises, source.log_prior, strict=True)
        ]
        addends = logs if self.event is None else [f"{logs[self.event]} - {logs[1 - self.event]}"]
        return SourceQuery([f"{x} AS {value}"], f"\n  JOIN {joined} ON {alias}.{key} = p.{key}", addends)
