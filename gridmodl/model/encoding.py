"""Encode the part of each value as numbers: its number, one column per part, its woe, or the mean of the target.

`decoded` goes back from the first two to a value of the part.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name, object_array
from gridmodl.model.evidence import encoded_events, woe_of
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition
from gridmodl.model.policy import NO_PART
from gridmodl.spelling import check_choice

ENCODINGS = ("ordinal", "onehot", "woe", "mean")
TARGETS_OF = {"woe": ("classes", "grouped"), "mean": ("numerical",)}  # other encodings need no target
INVERTIBLE = ("ordinal", "onehot")  # encodings in which no two parts have the same numbers
FORMER = {"log-odds": "woe", "log_odds": "woe"}  # words that were renamed

# Characters that LightGBM or XGBoost refuse in names of features, white space, and quotes.
REFUSED = set("[]{}<>,:\"'`\\/|;")


def check_encoding(encode: Any, target_kind: str | None) -> None:
    """Check that the encoding exists, and that it suits the target; `target_kind` is None without a target."""
    if isinstance(encode, str) and encode in FORMER:
        raise ValueError(f"encode={encode!r} is called encode={FORMER[encode]!r}, weight of evidence; use that word")
    check_choice("encode", encode, ENCODINGS)
    if encode not in TARGETS_OF or target_kind in TARGETS_OF[encode]:
        return
    if target_kind is None:
        raise ValueError(f"encode={encode!r} needs a target, and the partitions were made without one")
    if encode == "mean":
        raise ValueError("encode='mean' is for target_kind='numerical', and the target has classes; use encode='woe'")
    raise ValueError(f"encode={encode!r} is for classes, and the target is numerical; use encode='mean'")


def rows_of_parts(encode: str, model: Model | None, partition: Partition) -> NDArray[np.float64]:
    """The encoded row of each part; the last row is that of part -1, of values that no part holds."""
    if encode == "onehot":
        return np.eye(partition.n_parts + 1, partition.n_parts)
    assert model is not None  # noqa: S101  for mypy: `check_encoding` asks for a target
    if encode == "mean":
        assert model._target_quantiles is not None  # noqa: S101
        return model._target_quantiles.means[:, None]
    return woe_of(model, partition)


def encoded_names(encode: str, name: Name, model: Model | None, partition: Partition) -> list[str]:
    """Names of the encoded columns of the column `name`.

    The name of the column if there is one encoded column. For ``"onehot"``, with the number of the part and its label,
    ``size_1_2.5..4.75``, ``colour_0_blue+green`` or ``rating_0_AAA..BBB``. For ``"woe"`` of several classes, with the
    class, ``size_setosa``; of groups of classes, with the number of the group and its label. Characters of names and
    labels that other libraries refuse become ``_``.
    """
    if encode == "onehot":
        return [_clean(f"{name}_{i}_{text}") for i, text in enumerate(map(_label_text, partition.labels))]
    if encode != "woe" or model is None:
        return [_feature_name(name)]
    events = [one.name for one in encoded_events(model, partition)]
    if model.target is None:
        return names_of_events(name, events)
    labels = [_label_text(label) for label in model.target.labels]
    return [_clean(f"{name}_{event}_{labels[int(event)]}") for event in events]


def names_of_events(name: Name, events: Sequence[str]) -> list[str]:
    """Names of the columns of woe of some classes: the name of the column, with the class if there are several."""
    return [_feature_name(name)] if len(events) == 1 else [_clean(f"{name}_{event}") for event in events]


def _feature_name(name: Name) -> str:
    """The name of a column, without characters that other libraries refuse."""
    return _clean(str(name)) or "_" if REFUSED & set(str(name)) else str(name)


def _label_text(label: str) -> str:
    """A label without brackets: ``2.5..4.75`` for ``(2.5, 4.75]``, ``blue+green`` for ``{blue, green}``."""
    if label.startswith("{"):
        inner = label.removeprefix("{").removesuffix("}").replace(", ..., ", "..")  # from one level to another
        return _clean(inner.replace(", ... ", "+").replace(", ", "+"))
    return _clean(label.replace(", ", "..").translate(dict.fromkeys(map(ord, "()[]"))))


def _clean(text: str) -> str:
    """The text with ``_`` in place of each run of characters that other libraries refuse."""
    kept = "".join(" " if c in REFUSED or c.isspace() or not c.isprintable() else c for c in text)
    return "_".join(kept.split())


def unique_names(names: Iterable[str]) -> NDArray[np.object_]:
    """The names; one that is taken gets a number."""
    taken: dict[str, None] = {}
    for name in names:
        free, number = name, 2
        while free in taken:
            free, number = f"{name}_{number}", number + 1
        taken[free] = None
    return np.array(list(taken), dtype=object)


# Back to values.


def decoded(X: Any, encode: str, unknown_code: int | str, partitions: Collection[Partition]) -> NDArray[Any]:
    """A value of the part of each row and column that `X` encodes."""
    sizes = [partition.n_parts for partition in partitions]
    parts = parts_of_onehot(X, sizes) if encode == "onehot" else parts_of_codes(X, sizes, unknown_code)
    columns = [typical_values(partition)[of] for partition, of in zip(partitions, parts.T, strict=True)]
    if all(column.dtype == np.float64 for column in columns):
        return np.column_stack(columns)
    found = np.empty(parts.shape, dtype=object)
    for k, column in enumerate(columns):
        found[:, k] = object_array(list(column) if column.dtype.kind in "mM" else column.tolist())
    return found


def parts_of_codes(X: Any, sizes: list[int], unknown_code: int | str) -> NDArray[np.int64]:
    """Number of the part by row and column, -1 for none, from ordinal codes."""
    codes = np.asarray(X)
    _check_shape(codes, len(sizes))
    try:
        parts = codes.astype(np.int64)
        is_whole = bool(np.all(parts == codes))
    except (TypeError, ValueError):
        is_whole = False
    if not is_whole:
        raise ValueError("X must hold numbers of parts, as transform returns them")
    if unknown_code == "last":
        parts = np.where(parts == np.array(sizes), NO_PART, parts)
    wrong = np.argwhere((parts < NO_PART) | (parts >= np.array(sizes)))
    if len(wrong):
        row, k = wrong[0].tolist()
        raise ValueError(f"X has code {parts[row, k]} in column {k}, whose parts are 0 to {sizes[k] - 1}")
    return parts


def parts_of_onehot(X: Any, sizes: list[int]) -> NDArray[np.int64]:
    """Number of the part by row and column, -1 for a row of zeros, from a column for each part."""
    ends = np.cumsum([0, *sizes])
    is_sparse = hasattr(X, "tocsc")
    matrix: Any = X.tocsc() if is_sparse else np.asarray(X)
    _check_shape(matrix, int(ends[-1]))
    parts = np.full((matrix.shape[0], len(sizes)), NO_PART, dtype=np.int64)
    for k, (first, end) in enumerate(itertools.pairwise(ends.tolist())):
        of_parts = matrix[:, first:end].toarray() if is_sparse else matrix[:, first:end]
        if not np.all((of_parts == 0) | (of_parts == 1)) or np.any((of_parts == 1).sum(axis=1) > 1):
            raise ValueError(f"X must have at most one 1, and zeros, in the columns {first} to {end - 1} of a row")
        row, part = np.nonzero(of_parts == 1)
        parts[row, k] = part
    return parts


def _check_shape(matrix: Any, n_columns: int) -> None:
    if matrix.ndim != 2 or matrix.shape[1] != n_columns:
        raise ValueError(f"X has the shape {matrix.shape}; transform returns {n_columns} columns")


def typical_values(partition: Partition) -> NDArray[Any]:
    """A value of each part, last a missing value, which is that of no part."""
    if partition.kind == "numerical":
        return _typical_numbers(partition)
    n_ordinary = partition.n_parts - partition.n_special
    rows = iter([] if partition.value_rows is None else partition.value_rows.tolist())
    found: list[Any] = []
    for i, group in enumerate(partition.groups):
        values = [(next(rows, 0), value) for value in group]
        known = [(n, value) for n, value in values if value is not None] or [(0, None)]
        if partition.kind == "ordinal" and i < n_ordinary:
            found.append(known[(len(known) - 1) // 2][1])
        else:
            found.append(max(known, key=lambda one: one[0])[1])
    return object_array([*found, None])


def _typical_numbers(partition: Partition) -> NDArray[Any]:
    """The middle of each interval, in the type of the bounds; the first of the codes of a special part."""
    middles = _middles(partition)
    none = middles.dtype.type("NaT") if middles.dtype.kind in "mM" else None
    if middles.dtype.kind == "f":
        middles, none = middles.astype(np.float64), np.float64("nan")
    missing = [none] * partition.is_missing_apart
    codes = [part[0] for part in partition.special_parts]
    values = [*missing, *middles, *codes, none]
    if none is None:
        return object_array([value if value is None else int(value) for value in values])
    return np.array(values, dtype=middles.dtype)


def _middles(partition: Partition) -> NDArray[Any]:
    """A value of each interval: the middle of its bounds, or of a bound and the end of the domain."""
    own, is_time = partition.bounds.dtype, partition.bounds.dtype.kind in "mM"
    bounds = partition.bounds.view(np.int64) if is_time else partition.bounds
    ends = bounds[:0]
    if partition.domain is not None:
        ends = partition.domain.astype(own).view(np.int64) if is_time else partition.domain.astype(own)
    if len(bounds) == len(ends) == 0:  # one interval, of which nothing is known
        return np.array(["NaT"], dtype=own) if is_time else np.array([np.nan])
    if len(ends) == 0:  # no values, or some that are infinite
        ends = bounds[[0, -1]]
    is_whole = bounds.dtype.kind in "iu"
    if len(bounds):
        after = bounds[-1] + 1 if is_whole else np.nextafter(bounds[-1], np.inf)
        ends = np.array([min(ends[0], bounds[0]), max(ends[1], after)], dtype=bounds.dtype)
    lows, highs = np.append(ends[0], bounds), np.append(bounds, ends[1])
    found = lows + (highs - lows) // 2 if is_whole else lows / 2 + highs / 2
    found[1:] = np.where(found[1:] > lows[1:], found[1:], highs[1:])  # an interval does not hold its lower bound
    return found.view(own) if is_time else found
