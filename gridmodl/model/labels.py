"""Labels of parts: intervals of numbers, dates and durations, groups of levels and groups of values."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import combining, east_asian_width

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gridmodl.model.partition import Partition

MAX_VALUES_SHOWN = 5  # values of a group in its label
MAX_LEVELS_SHOWN = 3  # levels of a group in its label; of more, the first and the last
MAX_TEXT_SHOWN = 60  # characters of each value
MAX_NAMED = 5  # names of columns in a sentence


def level_text(level: float | None, digits: int = 4) -> str:
    """Text of a level, or "none" if the model has no level."""
    return "none" if level is None else f"{level:.{digits}f}"


def counted(n: int, what: str) -> str:
    """Number and noun, such as ``1 part`` or ``3 parts``."""
    return f"{n} {what}{'s' * (n != 1)}"


def listed(names: Sequence[Any], most: int = MAX_NAMED) -> str:
    """The first names of a list, and how many more there are.

    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = len(names) - most
    return ", ".join(map(str, names[:most])) + (f" and {more:,} more" if more > 0 else "")


def labels_of(partition: Partition) -> list[str]:
    """Label of each part, such as ``(2.45, 4.75]`` or ``{blue, green}``."""
    if partition.kind == "categorical":
        is_mixed, first_special = has_mixed_types(partition), partition.n_parts - partition.n_special
        return [
            f"{'special ' * (i >= first_special)}{label_of_group(values, is_mixed)}"
            for i, values in enumerate(_others_first(partition))
        ]
    if partition.kind == "ordinal":
        return _labels_of_levels(partition)
    edges = edges_of(partition)
    labels = [label_of_intervals(edges, i, i) for i in range(len(edges) - 1)]
    if partition.missing is not None:
        if partition.is_missing_apart:
            labels.insert(0, "missing")
        else:
            labels[0] += " or missing"
    codes = iter(code_texts(partition.special, partition.is_utc))
    sizes = partition.special_sizes or [1] * partition.n_special
    what = "special" if partition.widths is None else "mass at"
    return labels + [f"{what} {', '.join(itertools.islice(codes, size))}" for size in sizes]


def _others_first(partition: Partition) -> list[Sequence[Any]]:
    """Groups of a categorical variable, each with the name of `others` first, so that a long label has it too."""
    if partition.others is None:
        return list(partition.groups)
    return [sorted(group, key=lambda value: value != partition.others) for group in partition.groups]


def _labels_of_levels(partition: Partition) -> list[str]:
    """Label of each part of an ordinal variable."""
    n_special = partition.n_special
    groups, codes = partition.groups[: partition.n_parts - n_special], partition.groups[partition.n_parts - n_special :]
    is_mixed = has_mixed_types(partition)
    labels = [label_of_levels(group, is_mixed) for group in groups]
    return labels + [f"special {', '.join(shown_value(level, is_mixed) for level in levels)}" for levels in codes]


def label_of_levels(levels: Sequence[Any], is_mixed: bool) -> str:
    """Label of adjacent levels, such as ``{AAA, AA}`` or ``{AAA, ..., BBB}``; None, if first, for missing values."""
    if tuple(levels) == (None,):
        return "missing"
    shown = [shown_value(level, is_mixed) for level in levels if level is not None]
    if len(shown) > MAX_LEVELS_SHOWN:
        shown = [shown[0], "...", shown[-1]]
    return f"{{{', '.join(shown)}}}{' or missing' * (None in levels)}"


def edges_of(partition: Partition) -> list[str]:
    """Texts of the bounds of the intervals, with the infinities at both ends."""
    return ["-inf", *bound_texts(partition.bounds, partition.is_utc), "inf"]


def label_of_intervals(edges: Sequence[str], first: int, last: int) -> str:
    """Label of the intervals from number `first` to `last` taken together, given the `edges` of all."""
    return f"({edges[first]}, {edges[last + 1]}{')' if last + 2 == len(edges) else ']'}"


def has_mixed_types(partition: Partition) -> bool:
    """Whether the values have several types, so that labels need quotes: 1 is not "1"."""
    return len({type(value) for group in partition.listed for value in group}) > 1


def bound_texts(bounds: NDArray[Any], is_utc: bool) -> list[str]:
    """Texts of numbers or dates: the shortest that give exactly the bound when they are read in its type."""
    if bounds.dtype.kind in "mM":
        return time_texts(bounds, is_utc)
    if bounds.dtype.kind in "iu":
        return [str(b) for b in bounds.tolist()]
    if bounds.dtype.itemsize < 8:
        return [repr(float(str(b))) for b in bounds]  # 0.1 of float32, which is 0.10000000149011612 of float64
    return [repr(b) for b in bounds.tolist()]


def code_texts(codes: NDArray[Any], is_utc: bool) -> list[str]:
    """Texts of special codes, as users write them: those that are whole have no point, in columns of any type."""
    return [text.removesuffix(".0") for text in bound_texts(codes, is_utc)]


def time_texts(times: NDArray[Any], is_utc: bool) -> list[str]:
    """Texts of dates or durations, dates in the coarsest unit that is exact."""
    if times.dtype.kind == "m":
        return [_duration_text(time) for time in times]
    for unit in ("D", "m", "s", "ms", "us", "ns"):
        try:
            short = times.astype(f"datetime64[{unit}]")
        except OverflowError:
            break
        if np.array_equal(short.astype(times.dtype), times):
            return [f"{time}{'Z' if is_utc and unit != 'D' else ''}" for time in short]
    return [str(time) for time in times]


def _duration_text(time: np.timedelta64) -> str:
    """Text of a duration, such as ``-2 days 06:30:00.5``."""
    if np.datetime_data(time.dtype)[0] in ("ps", "fs", "as"):
        return str(time)
    sign = "-" if time < np.timedelta64(0) else ""
    whole_days, rest = divmod(abs(time), np.timedelta64(1, "D"))
    whole_seconds, rest = divmod(rest, np.timedelta64(1, "s"))
    days, seconds, nanoseconds = int(whole_days), int(whole_seconds), int(rest / np.timedelta64(1, "ns"))
    fraction = f"{nanoseconds:09d}".rstrip("0")
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{'.' * bool(fraction)}{fraction}"
    if not days:
        return sign + clock
    return f"{sign}{counted(days, 'day')}" + (f" {clock}" if seconds or fraction else "")


def label_of_group(values: Sequence[Any], is_mixed: bool, n_values: int | None = None) -> str:
    """Label of a group, given all its values, or the first ones and their number `n_values`."""
    shown = [shown_value(value, is_mixed) for value in values[:MAX_VALUES_SHOWN]]
    n_values = len(values) if n_values is None else n_values
    if n_values > MAX_VALUES_SHOWN:
        shown.append(f"... {n_values - MAX_VALUES_SHOWN} more")
    return f"{{{', '.join(shown)}}}"


def shown_value(value: Any, is_mixed: bool, is_alone: bool = False) -> str:
    """Text of a value in a label: `str` if that is unambiguous, else `repr`; with `is_alone`, the only one there."""
    if value is None:
        return "missing"
    if is_mixed:
        return repr(value)
    is_duration = isinstance(value, (datetime.timedelta, np.timedelta64))
    text = _duration_text(np.timedelta64(value)) if is_duration else str(value)
    if len(text) > MAX_TEXT_SHOWN:
        text = text[:MAX_TEXT_SHOWN] + "..."
    is_plain = text.isprintable() and text == text.strip() and text not in ("", "missing")
    return text if is_plain and (is_alone or not set(text) & set("{},'")) else repr(value)


def aligned(rows: Sequence[Sequence[str]], n_left: int = 1) -> list[str]:
    """Lines of a text table, with the first `n_left` columns aligned left and the others right."""
    widths = [max(text_width(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  " + "  ".join(_padded(row, widths, n_left)) for row in rows]


def _padded(row: Sequence[str], widths: Sequence[int], n_left: int) -> list[str]:
    cells = enumerate(zip(row, widths, strict=True))
    blanks = [(text, " " * (width - text_width(text)), i < n_left) for i, (text, width) in cells]
    return [text + blank if is_left else blank + text for text, blank, is_left in blanks]


def text_width(text: str) -> int:
    """Places that a text takes in a terminal, where Chinese and Japanese letters take two, and accents none.

    >>> text_width("abc"), text_width("名前")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
