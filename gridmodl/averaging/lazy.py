"""Predict the rows of a lazy frame by averages: expressions that are linear between two knots."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.averaging.evidence import events_of
from gridmodl.averaging.summing import overall_shares, predicted_shares
from gridmodl.data.frames import object_array
from gridmodl.data.remote.queries import plain_value, schema_of
from gridmodl.model.lazy.parts import LazySteps, by_part, by_step
from gridmodl.model.partition import Partition, group_partition
from gridmodl.model.policy import BY_PARTITION
from gridmodl.spelling import check_columns

if TYPE_CHECKING:
    from gridmodl.averaging.record import Average


class ShareCurve(NamedTuple):
    """Shares of the classes that are linear between knots."""

    segments: Partition  # name and type of the column; whether missing values are apart, and special codes
    knots: NDArray[Any]
    shares: NDArray[np.float64]  # of missing values if these are apart, of the knots, and of special codes
    neutral: NDArray[np.float64]  # of values that no training row is like
    of_levels: Callable[[NDArray[Any]], NDArray[np.float64]]  # of the levels of an ordinal column


class LazyShares(NamedTuple):
    """Columns of a lazy frame: the share of each class, and whether no training row is like the value."""

    shares: list[Any]
    is_neutral: Any


def added_shares(steps: LazySteps, curve: ShareCurve) -> LazyShares:
    """Add the shares of the classes at the values of a column."""
    schema, name = schema_of(steps.frame), curve.segments.name
    check_columns("the average", [name], schema)
    if curve.segments.kind == "ordinal":
        return _at_levels(steps, curve)
    if curve.knots.dtype.kind in "mM":
        raise ValueError(
            f"column {name!r} has times, which expressions of lazy frames cannot divide; use to_sql, or numbers, such "
            "as seconds"
        )
    (value,) = steps.add([plain_value(schema, name)])
    shares = _on_line(steps, value, curve)
    n_special = curve.segments.n_special
    sizes = curve.segments.special_sizes or [1] * n_special
    of_code = np.repeat(np.arange(len(curve.shares) - n_special, len(curve.shares)), sizes)
    has_rows = curve.segments.rows[-n_special:] > 0 if n_special else np.empty(0, dtype=bool)
    is_neutral = nw.lit(len(curve.knots) == 0)
    for code, line in zip(curve.segments.special.tolist(), of_code.tolist(), strict=True):
        is_known = bool(has_rows[line - (len(curve.shares) - n_special)])
        own = curve.shares[line] if is_known else curve.neutral
        shares = [_chosen(value == code, float(own[j]), share) for j, share in enumerate(shares)]
        is_neutral = _chosen(value == code, not is_known, is_neutral)
    missing = curve.segments.missing
    own = curve.neutral if missing is None else curve.shares[missing]
    shares = [_chosen(value.is_null(), float(own[j]), share) for j, share in enumerate(shares)]
    is_neutral = _chosen(value.is_null(), missing is None, is_neutral)
    *columns, neutral = steps.add([*shares, is_neutral])
    return LazyShares(columns, neutral)


def _chosen(condition: Any, value: Any, otherwise: Any) -> Any:
    return nw.when(condition).then(nw.lit(value)).otherwise(otherwise)


def _on_line(steps: LazySteps, value: Any, curve: ShareCurve) -> list[Any]:
    """Shares of the classes at numbers between the knots, and beyond their ends."""
    knots, n = curve.knots.tolist(), len(curve.knots)
    if n == 0:
        return [nw.lit(float(share)) for share in curve.neutral]
    first = int(curve.segments.is_missing_apart)
    of_knots = curve.shares[first : first + n]
    finite = [knot for knot in knots if np.isfinite(knot)]
    factor = 0.5 if isinstance(knots[0], float) and finite and not np.isfinite(finite[-1] - finite[0]) else 1
    # Stretch i is between the knots i - 1 and i; the first and the last have no end, and are constant.
    lows, widths, bases = [knots[0]], [0.0], [of_knots[0]]
    rises = [np.zeros_like(of_knots[0])]
    for i in range(1, n):
        is_finite = bool(np.isfinite(knots[i - 1]) and np.isfinite(knots[i]))
        lows.append(knots[i - 1])
        widths.append(float(knots[i] * factor - knots[i - 1] * factor) if is_finite else 0.0)
        bases.append(of_knots[i - 1])
        rises.append(of_knots[i] - of_knots[i - 1])
    lows, widths, bases = [*lows, knots[-1]], [*widths, 0.0], [*bases, of_knots[-1]]
    rises.append(rises[0])
    (place,) = steps.add([by_step(value, knots, list(range(n + 1)))])
    at = list(range(1, n + 1))
    low, width = steps.add([by_step(place, at, lows), by_step(place, at, widths)])
    ahead = ((value * factor - low * factor) if factor != 1 else value - low).cast(nw.Float64)
    beyond = nw.when(value > low).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
    divisor = nw.when(width > 0).then(width).otherwise(nw.lit(1.0))
    (way,) = steps.add([nw.when(width > 0).then(ahead / divisor).otherwise(beyond)])
    found = []
    for j in range(of_knots.shape[1]):
        base, rise = (by_step(place, at, [float(line[j]) for line in lines]) for lines in (bases, rises))
        found.append(base + rise * way)
    return found


def _at_levels(steps: LazySteps, curve: ShareCurve) -> LazyShares:
    """Shares of the classes at the levels of an ordinal column, at missing values, and at values that are no level."""
    levels, missing = curve.segments.levels, curve.segments.missing
    groups: tuple[tuple[Any, ...], ...] = ((None,), *((level,) for level in levels))
    partition = group_partition(curve.segments.name, groups, np.zeros((len(groups), 1), dtype=np.int64))
    (part,) = steps.parts([partition])
    of_missing = curve.neutral if missing is None else curve.shares[missing]
    table = np.vstack([of_missing, curve.of_levels(object_array(list(levels))), curve.neutral])
    is_neutral = part < (1 if missing is None else 0)  # part 0 is of missing values, -1 of values that are no level
    *columns, neutral = steps.add([*(by_part(part, table[:, j]) for j in range(table.shape[1])), is_neutral])
    return LazyShares(columns, neutral)


def curve_of(average: Average) -> ShareCurve:
    """The curve of an average."""
    return ShareCurve(
        average.segments, average.knots, average.shares, overall_shares(average.segments), average.predict_proba
    )


def lazy_probabilities_of(averages: dict[str, Average], frame: Any) -> Any:
    """Lazy frame of probabilities: columns ``<key>p_<class>``, given the averages by key."""
    steps, columns = LazySteps(frame, BY_PARTITION), dict[str, Any]()
    for key, average in averages.items():
        names = [f"{key}p_{label}" for label in average.classes.tolist()]
        columns |= dict(zip(names, added_shares(steps, curve_of(average)).shares, strict=True))
    return steps.select(columns)


def lazy_woe(steps: LazySteps, average: Average) -> list[Any]:
    """Columns of the weight of evidence of each event, as `Average.woe`."""
    found = added_shares(steps, curve_of(average))
    class_rows = average.segments.counts.sum(axis=0)
    overall = predicted_shares(average._weights.averaged, average._weights.weighing.setting.p, class_rows)
    columns = []
    for j in events_of(len(average.classes), average.event_index):
        if not 0 < class_rows[j] < class_rows.sum():
            columns.append(nw.lit(0.0))
            continue
        rest = sum((one for i, one in enumerate(found.shares) if i != j), start=nw.lit(0.0))
        woe = (found.shares[j] / rest).log() - float(np.log(overall[j] / np.delete(overall, j).sum()))
        columns.append(nw.when(found.is_neutral).then(nw.lit(0.0)).otherwise(woe))
    return columns
