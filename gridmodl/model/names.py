"""Short names of parts for people: in summaries, plots, reports, notebooks and comments of queries.

A group has its number and its most typical values, such as ``3: Paris, Lyon, +20``; what all values of the column begin
or end with is left out. An interval is its label, with as few digits as keep the bounds apart. A name that the user
gave with `Model.rename` stands for its part in all of these, and in labels of rows. No two parts of a variable have the
same name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.model.labels import MAX_TEXT_SHOWN, has_mixed_types, labels_of, shown_value
from gridmodl.spelling import did_you_mean

if TYPE_CHECKING:
    from gridmodl.model.cells import Cells
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

MAX_NAME = 32  # characters of the values in the name of a group, unless one alone is longer
MAX_VALUE = 20  # characters of a value in the name of a group
MIN_VALUE = 5  # characters of the first value in the name of a group, however short the name
MIN_COMMON = 4  # characters that all values begin with, to be left out
MAX_GIVEN = 200  # characters of a name that the user gives
DIGITS = 6  # of a bound, or more where bounds would look alike
MANY_DIGITS = 8  # up to which all bounds of a column have the same number of them
NEAR = 0.01  # largest rounding error of a bound, in distances between bounds


def names_of(partition: Partition, room: int = MAX_NAME) -> list[str]:
    """Short name of each part; those that the user gave stand for themselves.

    Names of groups have at most `room` characters beside their number, if one value alone has no more.
    """
    short = distinct(_short_names(partition, room))
    return [one if given is None else given for one, given in zip(short, _given(partition), strict=True)]


def names_within(partition: Partition, room: int) -> list[str]:
    """Short names; groups show fewer values where theirs are longer than `room` characters. Intervals stay whole."""
    names = names_of(partition)
    if partition.kind != "categorical" or max(map(len, names)) <= room:
        return names
    namer, given = GroupNamer(partition), _given(partition)
    for i, head in enumerate(_heads(partition)):
        if len(names[i]) > room and given[i] is None:
            values = namer.typical(i)
            fewer = namer.name(head, values, room=room - len(head))
            names[i] = fewer if len(fewer) <= room else f"{namer.name(head, values[:1])[: room - 1]}…"
    names = [shortened(name, room) for name in names]
    return [shortened(name, room) for name in distinct(names)]  # given names may look alike when they are shortened


def names_of_cells(cells: Cells, partitions: Sequence[Partition]) -> list[list[str]]:
    """Names of the parts of each cell; `partitions` are those of the variables of the cells."""
    names = [partition.names for partition in partitions]
    return [[names[k][part] for k, part in enumerate(parts)] for parts in cells.parts.tolist()]


def named_labels(partition: Partition) -> list[str]:
    """Label of each part, for tables; behind the name that the user gave, if any."""
    pairs = zip(labels_of(partition), _given(partition), strict=True)
    return [label if given is None else f"{given}: {label}" for label, given in pairs]


def output_labels(partition: Partition) -> list[str]:
    """Label of each part for rows of data, as queries and `gridmodl apply` return it; the user's name alone, if any."""
    pairs = zip(labels_of(partition), _given(partition), strict=True)
    return [label if given is None else given for label, given in pairs]


def _given(partition: Partition) -> Sequence[str | None]:
    return partition.given_names or (None,) * partition.n_parts


def _short_names(partition: Partition, room: int) -> list[str]:
    if partition.kind == "numerical":
        return labels_of(replace(partition, bounds=rounded(partition.bounds, partition.domain)))
    if partition.kind == "ordinal":
        return labels_of(partition)
    namer = GroupNamer(partition)
    return [namer.name(head, namer.typical(i), room=room) for i, head in enumerate(_heads(partition))]


def _heads(partition: Partition) -> list[str]:
    """Beginning of the name of each group: its number, and whether its values are special."""
    first_special = partition.n_parts - partition.n_special
    return [f"{i}: {'special ' * (i >= first_special)}" for i in range(partition.n_parts)]


class GroupNamer:
    """Makes names of groups of the values of one variable."""

    def __init__(self, partition: Partition) -> None:
        self.groups = partition.groups
        self.is_mixed = has_mixed_types(partition)
        # The values of a group are in typical order if the model has no classes; else, the most frequent go first.
        self.rows = partition.value_rows if partition.n_values is None else None
        self.begins = np.cumsum([0, *map(len, self.groups)])
        texts = [value for group in self.groups for value in group if isinstance(value, str)]
        self.begin = self.end = 0  # characters that all values begin and end with
        if not self.is_mixed and len(texts) > 1:
            self.begin = common_beginning(texts)
            self.end = common_beginning([text[self.begin :][::-1] for text in texts])

    def typical(self, part: int) -> Sequence[Any]:
        """Values of a group, the most typical first."""
        values = self.groups[part]
        if self.rows is None:
            return values
        order = np.argsort(-self.rows[self.begins[part] : self.begins[part + 1]], kind="stable")
        return [values[i] for i in order.tolist()]

    def name(self, head: str, values: Sequence[Any], n_values: int | None = None, room: int = MAX_NAME) -> str:
        """Name of a group: `head`, some of its values, the number of the others.

        `values` are in the order of typical ones, all or the first of `n_values`; the first is always there. They take
        at most `room` characters.
        """
        shown: list[str] = []
        n_values = len(values) if n_values is None else n_values
        for value in values:
            rest = n_values - len(shown) - 1
            of_rest = len(f", +{rest:,}") if rest else 0
            left = room - of_rest - bool(self.begin or self.end)
            text = self._text(value, MAX_VALUE if shown else max(MIN_VALUE, min(MAX_VALUE, left)))
            if shown and len(", ".join([*shown, text])) + of_rest > room:
                break
            shown.append(text)
        rest = n_values - len(shown)
        return f"{head}{', '.join(shown)}{f', +{rest:,}' if rest else ''}"

    def _text(self, value: Any, room: int) -> str:
        if (self.begin or self.end) and isinstance(value, str):
            differs = value[self.begin : len(value) - self.end]
            text = self._shown(differs, room)
            return f"{'…' * bool(self.begin)}{text}{'…' * (not self.begin)}"  # one mark is enough, and easier to read
        return self._shown(value, room)

    def _shown(self, value: Any, room: int) -> str:
        whole = shortened(value, MAX_TEXT_SHOWN) if isinstance(value, str) else value  # which keeps the end
        return shortened(shown_value(whole, self.is_mixed), room)


def common_beginning(texts: Sequence[str]) -> int:
    """Number of characters that all texts begin with and that end between words; 0 if they are few."""
    low, high = min(texts), max(texts)  # what these two begin with, all begin with
    same = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    most = min(same, min(map(len, texts)) - 1)
    at = next((i for i in range(most, 0, -1) if not low[i - 1].isalnum()), 0)
    return at if at >= MIN_COMMON else 0


def distinct(texts: Sequence[str]) -> list[str]:
    """The texts, with their number in front of those that are equal to others.

    >>> distinct(["a", "b", "a"])
    ['0: a', 'b', '2: a']
    """
    seen = Counter(texts)
    return [f"{i}: {text}" if seen[text] > 1 else text for i, text in enumerate(texts)]


def shortened(text: str, room: int) -> str:
    """The text, or its beginning and end if it is longer than `room` characters.

    >>> shortened("a very long name of a column", 12)
    'a very l…umn'
    """
    if len(text) <= room:
        return text
    tail = (room - 1) // 3
    return f"{text[: room - 1 - tail].rstrip('…')}…{text[len(text) - tail :].lstrip('…')}"


def rounded(bounds: NDArray[Any], domain: NDArray[Any] | None = None) -> NDArray[Any]:
    """Bounds with the fewest digits that keep the rounding error small against the distance between neighbours.

    All have the same number of digits, unless that is many: then each has as many as its own neighbours ask for.

    Of dates, the ends of the `domain` of the column are neighbours too, if they are known.
    """
    if bounds.dtype.kind == "M":
        return _rounded_dates(bounds, domain)
    if bounds.dtype.kind != "f":
        return bounds
    finite = np.isfinite(bounds)
    gaps = np.diff(bounds[finite], prepend=-np.inf, append=np.inf)
    own = np.full(bounds.shape, np.inf)
    own[finite] = np.minimum(gaps[:-1], gaps[1:])
    nearest, short = float(own.min(initial=np.inf)), bounds.copy()
    lacking = finite.copy()
    for digits in range(DIGITS, 17):
        rounded_all = np.array([float(f"{bound:.{digits}g}") for bound in bounds.tolist()])
        error = np.abs(np.subtract(rounded_all, bounds, where=finite, out=np.zeros(bounds.shape)))
        if digits <= MANY_DIGITS and np.all(error <= NEAR * nearest):
            return rounded_all
        is_near = lacking & (error <= NEAR * own)
        short[is_near], lacking = rounded_all[is_near], lacking & ~is_near
    return short


def _rounded_dates(bounds: NDArray[Any], domain: NDArray[Any] | None) -> NDArray[Any]:
    """Dates rounded down to days, minutes or seconds, if that is near; exact if they have no neighbour."""
    ends = bounds[:0] if domain is None else domain.astype(bounds.dtype)
    gaps = np.diff(np.unique(np.concatenate([bounds, ends])))
    for unit in ("D", "m", "s", "ms") if len(gaps) else ():
        short = bounds.astype(f"datetime64[{unit}]").astype(bounds.dtype)
        if np.all(np.abs(bounds - short) <= NEAR * gaps.min()):
            return short
    return bounds


def renamed(model: Model, name: Hashable, names: Any) -> Model:
    """The model whose parts of the variable `name` have the user's `names`."""
    partition = model.partition(name)
    given = list(_given(partition))
    if names is None:
        given = [None] * partition.n_parts
    elif isinstance(names, Mapping):
        for part, text in names.items():
            given[_checked_part(part, partition)] = None if text is None else checked_name(text)
    elif isinstance(names, str) or not isinstance(names, Sequence) or len(names) != partition.n_parts:
        raise ValueError(
            f"names must be a dict of names by number of the part, or a list of {partition.n_parts} names, one for "
            f"each part of {name!r}; got {names!r}"
        )
    else:
        given = [None if text is None else checked_name(text) for text in names]
    parts = replace(partition, given_names=tuple(given) if any(given) else ())
    twice = [text for texts in (names_of(parts), output_labels(parts)) for text, n in Counter(texts).items() if n > 1]
    if twice:
        raise ValueError(f"two parts of {name!r} would have the name {twice[0]!r}; give each a name of its own")
    if partition is model.target:
        return replace(model, target=parts)
    return replace(model, partitions={**model.partitions, partition.name: parts})


def _checked_part(part: Any, partition: Partition) -> int:
    if isinstance(part, bool) or not isinstance(part, (int, np.integer)) or not 0 <= part < partition.n_parts:
        known = names_of(partition)
        if part in known:
            return known.index(part)
        raise ValueError(
            f"names has {part!r}, which is no part of {partition.name!r}: parts are numbered from 0 to "
            f"{partition.n_parts - 1}{did_you_mean(part, known) if isinstance(part, str) else ''}"
        )
    return int(part)


def checked_name(text: Any) -> str:
    """The text, if it can be the name of a part; raise ValueError otherwise."""
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_GIVEN or not text.isprintable():
        raise ValueError(f"the name of a part must be a text of 1 to {MAX_GIVEN} printable characters, got {text!r}")
    return text


def names_after_merge(partition: Partition, parts: NDArray[np.int64]) -> tuple[str | None, ...]:
    """Names that the user gave, of the parts that no other part joins; `parts` is the new part of each part."""
    if not partition.given_names:
        return ()
    sizes = np.bincount(parts)
    given: list[str | None] = [None] * len(sizes)
    for old, new in enumerate(parts.tolist()):
        if sizes[new] == 1:
            given[new] = partition.given_names[old]
    return tuple(given) if any(given) else ()
