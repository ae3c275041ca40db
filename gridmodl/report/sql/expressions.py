"""The part of one variable as a CASE expression, which finds the same part as `Partition.part_of`.

The expression is flat, as some databases limit the depth of expressions.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from gridmodl.model.policy import Policy
from gridmodl.report.sql.dialects import Dialect, dialect_named
from gridmodl.report.sql.literals import (
    Value,
    at_most,
    equal_to,
    is_held,
    listed,
    literal,
    quoted_path,
    sql_name,
    time_literal,
    values_of,
)

if TYPE_CHECKING:
    from gridmodl.model.partition import Partition

MAX_LISTED = 10_000  # values of one IN list; some databases take at most 16,384
TIMES = ("moment", "instant", "duration")


class Branch(NamedTuple):
    """A condition, and the part where it holds."""

    condition: str
    part: int


def expression_in(partition: Partition, dialect: str, column: Any, policy: Policy) -> str:
    """The expression of `Partition.to_sql`."""
    target_dialect = dialect_named(dialect)
    path = sql_name(partition.name, "column") if column is None else column
    x = quoted_path(path, target_dialect, f"column {partition.name!r}")
    return expression_of(partition, target_dialect, x, policy)


def expression_of(partition: Partition, dialect: Dialect, x: str, policy: Policy, margin: str = "") -> str:
    """CASE expression for the number of the part of the column `x`; `margin` precedes all lines but the first."""
    for name, word in policy._asdict().items():
        if word == "error":
            raise ValueError(f"{name}='error' is not for SQL: a query cannot stop at a value that no part holds")
    if partition.kind == "numerical":
        branches, otherwise = list(_intervals(partition, dialect, x, policy)), _last_interval(partition)
    else:
        otherwise = partition.part_of_unknown(policy)
        branches = [branch for branch in _groups(partition, dialect, x, policy) if branch.part != otherwise]
    if not branches:
        return str(otherwise)
    remarks = _remarks(partition)
    lines = [f"WHEN {condition} THEN {part}{remarks.get(part, '')}" for condition, part in branches]
    lines.append(f"ELSE {otherwise}{remarks.get(otherwise, '')}")
    return f"\n{margin}".join(["CASE", *(f"  {line}" for line in lines), "END"])


def _remarks(partition: Partition) -> dict[int, str]:
    """Comments with the short names of groups, and with the names that the user gave, by number of the part."""
    names = partition.names if partition.kind == "categorical" else partition.given_names
    return {part: f" /* {_harmless(name)} */" for part, name in enumerate(names) if name is not None}


def _harmless(name: str) -> str:
    """The name without what begins or ends a comment.

    >>> _harmless("a*/b /* c")
    'a* /b / * c'
    """
    return re.sub(r"\*(?=/)|/(?=\*)", r"\g<0> ", name)


def _last_interval(partition: Partition) -> int:
    return partition.n_parts - 1 - partition.n_special


def _intervals(partition: Partition, dialect: Dialect, x: str, policy: Policy) -> Iterator[Branch]:
    """Branches of missing values, of special codes, then of all intervals but the last, ascending."""
    of_missing = partition.part_of_missing(policy)
    if partition.n_parts == 1 and of_missing == 0:
        return
    kind, what = _kind_of(partition), f"column {partition.name!r}"
    yield Branch(_missing(x, kind, dialect), of_missing)
    x = _compared(x, kind, dialect)
    codes = iter(_plain(partition.special))
    for part, size in enumerate(partition.special_sizes or [1] * partition.n_special, _last_interval(partition) + 1):
        for code in itertools.islice(codes, size):
            condition = _equal(x, Value(kind, code), dialect, what)
            if condition is not None:
                yield Branch(condition, part)
    for part, bound in enumerate(_plain(partition.bounds), int(partition.is_missing_apart)):
        if kind == "number":
            yield Branch(at_most(x, bound, dialect), part)
        else:
            yield Branch(f"{x} <= {time_literal(Value(kind, bound), dialect, what)}", part)


def _kind_of(partition: Partition) -> str:
    """Kind of the values of a numerical column, from the type of its bounds (known even where there are none)."""
    types = partition.bounds.dtype.kind + partition.special.dtype.kind
    if "M" in types:
        return "instant" if partition.is_utc else "moment"
    return "duration" if "m" in types else "number"


def _plain(array: NDArray[Any]) -> list[Any]:
    return list(array) if array.dtype.kind in "mM" else array.tolist()


def _compared(x: str, kind: str, dialect: Dialect) -> str:
    """The column in the form that is compared with literals of this kind."""
    if kind == "text":
        return dialect.compared.format(x)
    return dialect.compared_moment(x, kind == "instant") if kind in ("moment", "instant") else x


def _missing(x: str, kind: str, dialect: Dialect) -> str:
    if kind != "number" or dialect.is_nan is None:
        return f"{x} IS NULL"
    return f"{x} IS NULL OR {dialect.is_nan.format(x)}"


def _equal(x: str, value: Value, dialect: Dialect, what: str) -> str | None:
    """Condition that x equals `value`; None where no column can hold the value."""
    if value.kind == "number":
        return equal_to(x, value.plain, dialect)
    if value.kind in TIMES and not is_held(value, dialect):
        return None
    return f"{x} = {literal(value, dialect, what)}"


def _groups(partition: Partition, dialect: Dialect, x: str, policy: Policy) -> Iterator[Branch]:
    what = f"column {partition.name!r}"
    values = values_of(itertools.chain(*partition.listed), what)
    kind = values[0].kind if values else "text"
    yield Branch(_missing(x, kind, dialect), partition.part_of_missing(policy))
    x = _compared(x, kind, dialect)
    rest = iter(values)
    for part, group in enumerate(partition.listed):
        mine = [next(rest) for _ in group]
        for condition in _one_of(x, mine, dialect, what):
            yield Branch(condition, part)


def _one_of(x: str, values: list[Value], dialect: Dialect, what: str) -> Iterator[str]:
    """Conditions of which one holds if and only if x is one of `values`."""
    in_list = []
    for value in values:
        if value.kind == "number":
            text = listed(value.plain, dialect)
            condition = _equal(x, value, dialect, what) if text is None else None
            if condition is not None:
                yield condition
        else:
            text = literal(value, dialect, what) if value.kind not in TIMES or is_held(value, dialect) else None
        if text is not None:
            in_list.append(text)
    for i in range(0, len(in_list), MAX_LISTED):
        yield f"{x} IN ({', '.join(in_list[i : i + MAX_LISTED])})"
