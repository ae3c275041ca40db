"""The query that predicts by an average: linear between two knots, which a small table of literals holds.

The inner query finds the stretch between two knots, as it finds the part of a partition whose bounds are the knots. For
each stretch the table has the lower knot, the width, and for each class the probability at the lower knot and how much
it rises. Stretches without a width are constant: beyond the ends, missing values, special codes. Of an ordinal column,
the inner query finds the level, and the table has its probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.averaging.summing import overall_shares
from gridmodl.data.frames import Name, object_array
from gridmodl.model.partition import group_partition
from gridmodl.model.policy import BY_PARTITION, NO_PART
from gridmodl.report.sql.dialects import Dialect, dialect_named, nanoseconds_of
from gridmodl.report.sql.query import TableSource

if TYPE_CHECKING:
    from gridmodl.averaging.record import Average
    from gridmodl.model.partition import Partition

MICROSECOND = 1_000  # nanoseconds


class Stretch(NamedTuple):
    """Values between two knots; constant if `width` is 0."""

    low: float
    width: float
    base: NDArray[np.float64]
    rise: NDArray[np.float64]


def query_of_average(average: Average, dialect: str, table: Any, column: str | None, keep: Sequence[str]) -> str:
    """The query of `Average.to_sql`."""
    target_dialect, segments = dialect_named(dialect), average.segments
    columns = None if column is None else {segments.name: column}
    if segments.kind == "ordinal":
        return _query_of_levels(average, target_dialect, table, columns, keep)
    partition = stretch_partition(segments, average.knots)
    stretches, factor = stretches_of(segments, average.knots, average.shares, overall_shares(segments))
    source = TableSource(target_dialect, table, columns, keep, [partition], BY_PARTITION, [segments.name])
    key, value = source.parts[segments.name], source.aliases.add("value")
    names = [source.aliases.add(name) for name in ("low", "width")]
    bases = [source.aliases.add(f"base_{c}") for c in range(len(average.classes))]
    rises = [source.aliases.add(f"rise_{c}") for c in range(len(average.classes))]
    real = target_dialect.real
    lines = [
        [
            str(i), number_literal(stretch.low, target_dialect), real(float(stretch.width)),
            *map(real, stretch.base.tolist()), *map(real, stretch.rise.tolist()),
        ]
        for i, stretch in enumerate(stretches)
    ]  # fmt: skip
    x = source.columns[segments.name]
    inner = [*source.select("    "), f"{measured(segments, average.knots, x, target_dialect)} AS {value}"]
    scaled = f"p.{value}" if factor == 1.0 else f"p.{value} * {real(factor)}"
    low, width = names
    shown = [f"p.{name}" for name in source.kept]
    for label, base, rise in zip(average.classes.tolist(), bases, rises, strict=True):
        share = f"(({scaled} - c.{low}) / c.{width})"
        alias = source.aliases.add(f"p_{label}")
        shown.append(f"CASE WHEN c.{width} > 0 THEN c.{base} + c.{rise} * {share} ELSE c.{base} END AS {alias}")
    return _joined(source, shown, inner, target_dialect.rows([key, *names, *bases, *rises], lines), key)


def _query_of_levels(
    average: Average, dialect: Dialect, table: Any, columns: dict[Name, str] | None, keep: Sequence[str]
) -> str:
    """The query of an ordinal column: each level, missing values, and values that are no level."""
    segments = average.segments
    partition, shares = shares_of_levels(average)
    source = TableSource(dialect, table, columns, keep, [partition], BY_PARTITION, [segments.name])
    key = source.parts[segments.name]
    bases = [source.aliases.add(f"base_{c}") for c in range(len(average.classes))]
    parts = [*range(partition.n_parts), NO_PART]
    lines = [[str(i), *map(dialect.real, own.tolist())] for i, own in zip(parts, shares, strict=True)]
    shown = [f"p.{name}" for name in source.kept]
    for label, base in zip(average.classes.tolist(), bases, strict=True):
        shown.append(f"c.{base} AS {source.aliases.add(f'p_{label}')}")
    return _joined(source, shown, source.select("    "), dialect.rows([key, *bases], lines), key)


def shares_of_levels(average: Average) -> tuple[Partition, NDArray[np.float64]]:
    """Parts of missing values and of each level of an ordinal column, with probabilities; last those of no level."""
    segments, levels = average.segments, average.segments.levels
    groups: tuple[tuple[Any, ...], ...] = ((None,), *((level,) for level in levels))
    partition = group_partition(segments.name, groups, np.zeros((len(groups), 1), dtype=np.int64))
    neutral = overall_shares(segments)
    of_missing = neutral if segments.missing is None else average.shares[segments.missing]
    return partition, np.vstack([of_missing, average.predict_proba(object_array(list(levels))), neutral])


def _joined(source: TableSource, shown: Sequence[str], inner: Sequence[str], rows: str, key: str) -> str:
    """The outer query over the inner one, joined with a table of literals."""
    outer, within = ",\n  ".join(shown), ",\n    ".join(inner)
    query = f"SELECT\n  {outer}\nFROM (\n  SELECT\n    {within}\n  FROM {source.table} AS t\n) AS p"
    return f"{query}\nJOIN {rows} ON c.{key} = p.{key}"


def stretch_partition(segments: Partition, knots: NDArray[Any]) -> Partition:
    """Partition whose parts are the stretches of `stretches_of`; `segments` has the column's type and special codes."""
    if knots.dtype.kind == "m":
        raise ValueError(
            f"column {segments.name!r} has durations, which SQL cannot divide; use numbers, such as seconds"
        )
    counts = np.zeros((len(knots) + 2 + segments.n_special, 1), dtype=np.int64)
    return replace(segments, bounds=knots, missing=0, counts=counts, unlabelled=None)


def number_literal(number: Any, dialect: Dialect) -> str:
    """A knot as it is compared and subtracted."""
    return dialect.integer(int(number)) if isinstance(number, (int, np.integer)) else dialect.real(float(number))


def measured(segments: Partition, knots: NDArray[Any], x: str, dialect: Dialect) -> str:
    """The column as a number."""
    return dialect.microseconds(x, segments.is_utc) if knots.dtype.kind == "M" else x


def stretches_of(
    segments: Partition, values: NDArray[Any], shares: NDArray[np.float64], neutral: NDArray[np.float64]
) -> tuple[list[Stretch], float]:
    """Missing values, then all numbers from the lowest on, then special codes; and the factor of values and knots.

    `shares` are those of missing values if `segments` has them apart, of the knots `values`, and of special codes;
    `neutral` are those of missing values that no training row had.
    """
    first, n_knots = int(segments.is_missing_apart), len(values)
    none, knots = np.zeros(shares.shape[1]), _plain_knots(values)
    factor = 1.0
    if n_knots and isinstance(knots[0], float):
        finite = [knot for knot in knots if np.isfinite(knot)]
        factor = 0.5 if finite and not np.isfinite(finite[-1] - finite[0]) else 1.0
    zero = type(knots[0])(0) if n_knots else 0.0

    def constant(base: NDArray[np.float64]) -> Stretch:
        return Stretch(zero, 0.0, base, none)

    found = [constant(neutral if segments.missing is None else shares[segments.missing])]
    found.append(constant(shares[first] if n_knots else neutral))
    for i in range(1, n_knots):
        low, high, base = knots[i - 1], knots[i], shares[first + i - 1]
        if isinstance(low, float) and not (np.isfinite(low) and np.isfinite(high)):
            found.append(constant(shares[first + i]))
        else:
            scaled = (low * factor, high * factor) if isinstance(low, float) else (low, high)
            found.append(Stretch(scaled[0], float(scaled[1] - scaled[0]), base, shares[first + i] - base))
    if n_knots:
        found.append(constant(shares[first + n_knots - 1]))
    codes = range(len(shares) - segments.n_special, len(shares))
    return found + [constant(shares[i]) for i in codes], factor


def _plain_knots(knots: NDArray[Any]) -> list[Any]:
    """Knots as numbers: moments as microseconds since 1970, rounded down."""
    if knots.dtype.kind == "M":
        return [nanoseconds_of(knot)[0] // MICROSECOND for knot in knots]
    return knots.tolist() if knots.dtype.kind == "f" else [int(knot) for knot in knots]
