"""From data to a model by a rule that cuts a line of values: what all methods have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gridmodl.arguments import Options, check_integer, checked_options
from gridmodl.clock import Clock
from gridmodl.decisions import asked_column, check_names
from gridmodl.frames import Name
from gridmodl.line import Line, bounds_between, make_line
from gridmodl.model import Model
from gridmodl.partition import Partition, interval_partition
from gridmodl.plugins import criterion_for
from gridmodl.quantities import Numbers
from gridmodl.table import Table, read_table
from gridmodl.targets import NOT_GIVEN, ManyNumbers
from gridmodl.terms import Criterion
from gridmodl.univariate import priced, special_codes
from gridmodl.values import Categories
from gridmodl.wrap import column_model


class Values(NamedTuple):
    """The distinct values of a column, ascending, without missing ones and special codes."""

    numbers: NDArray[Any]  # as the engine has them
    counts: NDArray[Any]  # rows of each, by class
    dtype: np.dtype[Any]  # what bounds are given in

    def bounds(self, starts: NDArray[np.int64]) -> NDArray[Any]:
        """Where the intervals meet that begin at these values, in the middle; the first of them has no bound."""
        return bounds_between(self.numbers[starts[1:] - 1], self.numbers[starts[1:]], self.dtype)


class Rule(Protocol):
    """A method with its options, checked."""

    @property
    def name(self) -> str: ...

    def cut(self, values: Values, clock: Clock) -> NDArray[Any]:
        """Inner bounds of the intervals; there is at least one value."""
        ...


def read_classes(
    data: Any, target: Any, criterion: str | Criterion, weights: Any, special: Mapping[Name, Any] | None
) -> tuple[Table, Options]:
    """A table with a target of classes, and the options that hold for all of its columns."""
    options = checked_options(criterion, "auto", None, special, None, None, None)
    if target is None:
        raise ValueError("no target was given; without one, gridmodl.density has equal_width and equal_frequency")
    try:
        table = read_table(data, target, weights, None, NOT_GIVEN)
    except ManyNumbers as error:
        raise ValueError(f"{error.found}; give it as text if each number is a class") from error
    if table.searched is not None:
        raise ValueError("the target is of real numbers, not of classes; give it as text if each number is a class")
    check_names(table, options)
    criterion_for(options.criterion, table.problem.kind)
    return table, options


def one_model(table: Table, options: Options, rule: Rule, clock: Clock) -> Model:
    """The model of a table with one column."""
    if len(table.names) > 1:
        raise ValueError(f"data has {len(table.names)} columns, not one; gridmodl.baselines.each takes each on its own")
    return model_of(table, table.names[0], options, rule, clock)


def model_of(table: Table, name: Name, options: Options, rule: Rule, clock: Clock) -> Model:
    """The model of one column of a table."""
    column = asked_column(table, name, options)
    if isinstance(column, Categories):
        raise TypeError(
            f"column {name!r} is categorical; {rule.name} cuts numbers, dates and durations into intervals, "
            "gridmodl.optimize groups categories"
        )
    special = special_codes(column, options)
    line = make_line(column, table.target, False, special)
    values = _values_of(line, column)
    bounds = rule.cut(values, clock) if len(values.numbers) else np.empty(0, dtype=column.type)
    partition = _partition(column, line, bounds, special, table.target.n_classes)
    found = priced(column, table, criterion_for(options.criterion, table.problem.kind), partition)
    return column_model(table, name, found._replace(search=rule.name), clock)


def _values_of(line: Line, column: Numbers) -> Values:
    first = int(line.has_missing)
    counts = line.atoms.counts[first:]
    if len(counts) > 1:
        numbers = np.append(line.low[first:], line.high[-1])
    else:  # a single value is no edge of another; nothing is cut there
        numbers = np.zeros(len(counts), dtype=column.values.dtype)
    return Values(numbers, counts, column.type)


def _partition(column: Numbers, line: Line, bounds: NDArray[Any], special: NDArray[Any], n_classes: int) -> Partition:
    """Intervals without rows as yet; missing values, where there are others too, are a part of their own."""
    is_apart = line.has_missing and line.n_atoms > 1
    n_parts = int(is_apart) + len(bounds) + 1 + len(special)
    counts = np.zeros((n_parts, n_classes), dtype=np.int64)
    return interval_partition(column, bounds, special, counts, line.has_missing)


def check_at_least(name: str, given: Any, least: int) -> None:
    """A number of parts must be a whole one, and not too small."""
    check_integer(name, given)
    if given < least:
        raise ValueError(f"{name} must be at least {least}, got {given}")
