"""Count combinations of the values of several columns of a lazy frame, or a sample of its rows, on its engine.

No engine numbers the rows of a table in the same way twice, so a sample is chosen by values: a number from 0 to 1 is
computed from all values of a row, u, and of n equal rows floor(n * rate + u) are kept. Rows that repeat keep their
share, and the sample depends neither on the engine nor on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw

from gridmodl.data.frames import Name
from gridmodl.data.remote.queries import (
    CLASS,
    ROWS,
    WEIGHT,
    collected,
    in_utc,
    is_ordered,
    key_of,
    one_if,
    plain_value,
    schema_of,
    weight_of,
)

MIXERS = (94906265.62425156, 31622776.60168379, 7071067.811865476, 54772255.75051661, 17320508.07568877)
MIX_AGAIN = 104729.7071067812
CHARACTERS = 10  # of a text that its number is made of
LETTERS = ("3", "7", "M", "g", "p")  # characters are told apart by these, which all engines sort alike
PLACE = "gridmodl_place"


class LazyCells(NamedTuple):
    """Rows of several columns of a lazy frame: each input by number, CLASS if there is a target, and WEIGHT."""

    frame: Any  # a narwhals LazyFrame of the columns below
    names: list[Name]  # of the user's columns
    dtypes: list[Any]
    has_target: bool

    @property
    def columns(self) -> list[str]:
        """Names of the inputs in `frame`."""
        return [column_of(k) for k in range(len(self.names))]

    @property
    def keys(self) -> list[str]:
        return [*self.columns, *([CLASS] * self.has_target)]

    @property
    def what(self) -> str:
        """The columns, for a message."""
        return ", ".join(map(str, self.names))

    def counted(self) -> Any:
        """Lazy frame of the rows of each combination of values and class."""
        return self.frame.group_by(*self.keys).agg(nw.col(WEIGHT).sum().alias(ROWS))


def column_of(k: int) -> str:
    """Name of input number k in queries."""
    return f"gridmodl_{k}"


def lazy_cells(
    frame: Any, names: Sequence[Name], target: Name | None, weights: Name | None,
    codes: Mapping[Name, Any] | None = None,
) -> LazyCells:  # fmt: skip
    """Rows of the columns `names` of a lazy frame; rows of weight 0 are left out.

    `codes` are expressions, by name, that stand for the values of columns.
    """
    schema, codes = schema_of(frame), codes or {}
    columns = {
        column_of(k): codes[name] if name in codes else plain_value(schema, name) for k, name in enumerate(names)
    }
    if target is not None:
        columns[CLASS] = plain_value(schema, target)
    columns[WEIGHT] = weight_of(schema, weights)
    selected = frame.select(**columns)
    if weights is not None:
        selected = selected.filter(nw.col(WEIGHT) > 0)
    return LazyCells(selected, list(names), [schema[str(name)] for name in names], target is not None)


def all_cells(cells: LazyCells, max_cells: int) -> Any:
    """Rows of each combination of values and class, in the order of values; None if there are more than `max_cells`."""
    some = cells.frame.select(*cells.keys).head(2 * max_cells).unique().select(nw.len().alias("n"))
    if int(collected(some, cells.what)["n"][0]) > max_cells:  # tells most frames, and is done soon
        return None
    found = collected(cells.counted().head(max_cells + 1), cells.what)
    return None if len(found) > max_cells else in_order(found, cells.keys)


def in_order(found: Any, keys: Sequence[str]) -> Any:
    """Rows of counts, sorted by the columns `keys`; an engine returns them in any order."""
    texts = (nw.Categorical, nw.Enum)
    sorted_by = {
        f"{key}_sorted": nw.col(key).cast(nw.String) if isinstance(found.schema[key], texts) else nw.col(key)
        for key in keys
    }
    return found.with_columns(**sorted_by).sort(*sorted_by, nulls_last=True).drop(*sorted_by)


def sampled_cells(cells: LazyCells, n_rows: int, n_sample: int) -> Any:
    """About `n_sample` of `n_rows` rows, as rows of combinations of values and class."""
    place, mixed = nw.col(PLACE), nw.col(PLACE) * MIX_AGAIN
    counted = cells.counted().with_columns(place_of_rows(cells).alias(PLACE))
    for fraction in (place - place.floor(), mixed - mixed.floor()):  # that of the number, then of a multiple of it
        counted = counted.with_columns(fraction.alias(PLACE))
    kept = (nw.col(ROWS).cast(nw.Float64) * (n_sample / n_rows) + nw.col(PLACE)).floor()
    lazy = counted.with_columns(kept.alias(ROWS)).filter(nw.col(ROWS) >= 1).drop(PLACE)
    found = collected(lazy.head(4 * n_sample + 1), cells.what)
    n_kept = int(found[ROWS].sum()) if len(found) else 0
    if not n_sample / 4 <= n_kept <= 4 * n_sample:
        raise ValueError(
            f"a grid of the columns {cells.what} needs a sample of {n_sample} rows, chosen by their values, and got "
            f"{n_kept}: too many rows look alike in the first {CHARACTERS} characters of their texts. Collect a sample "
            "of your own, or give columns of fewer values"
        )
    return in_order(found, cells.keys)


def place_of_rows(cells: LazyCells) -> Any:
    """A number from all values of a row, of which the fraction counts; like values have unlike fractions."""
    ordered = [k for k, dtype in enumerate(cells.dtypes) if is_ordered(dtype)]
    ends: dict[int, tuple[Any, Any]] = {}
    if ordered:
        keys = {k: _key(cells, k) for k in ordered}
        finite = {k: nw.when(key.is_finite()).then(key) for k, key in keys.items()}
        found = collected(
            cells.frame.select(
                *(one.min().alias(f"low_{k}") for k, one in finite.items()),
                *(one.max().alias(f"high_{k}") for k, one in finite.items()),
            ),
            cells.what,
        )
        ends = {k: (found[f"low_{k}"][0], found[f"high_{k}"][0]) for k in ordered}
    total = nw.lit(0.5)
    for k, dtype in enumerate(cells.dtypes):
        place = _place_on_line(_key(cells, k), *ends[k]) if k in ends else _place_of_text(dtype, column_of(k))
        total = total + place * (MIXERS[k % len(MIXERS)] / (1 + k // len(MIXERS)))
    return total


def _key(cells: LazyCells, k: int) -> Any:
    """Floats that sort like the values of input number k."""
    dtype, value = cells.dtypes[k], in_utc(cells.frame, nw.col(column_of(k)), cells.dtypes[k])
    return key_of(dtype, nw.col(column_of(k)) if value is None else value)


def _place_on_line(key: Any, low: Any, high: Any) -> Any:
    """Place of each number between the lowest and the highest one; infinite and missing ones have places beside."""
    first = 0.0 if low is None else 0.5 * float(low)
    width = 0.0 if high is None else 0.5 * float(high) - first  # halves, as the difference of two floats may overflow
    # Polars would divide by a constant with other digits: it multiplies by 1 / constant, and so do all engines here.
    inside = (key * 0.5 - first) * (min(1.0 / width, 1e300) if width else 1.0)
    return (
        nw.when(key.is_null())
        .then(nw.lit(1.25))
        .otherwise(nw.when(key.is_finite()).then(inside).otherwise(nw.when(key > 0).then(1.5).otherwise(nw.lit(1.75))))
    )


def _place_of_text(dtype: Any, column: str) -> Any:
    """A number from 0 to 1 from the length and the first characters of a text, or from a boolean."""
    value = nw.col(column)
    if isinstance(dtype, nw.Boolean):
        return nw.when(value.is_null()).then(nw.lit(0.7)).otherwise(one_if(value).cast(nw.Float64) * 0.4)
    text = value.cast(nw.String)
    number = text.str.len_chars().cast(nw.Float64)
    for i in range(CHARACTERS):
        character = text.str.slice(i, 1)
        digit = nw.lit(0)
        for letter in LETTERS:
            digit = digit + one_if(character >= letter)
        number = number + digit.cast(nw.Float64) * (8.0 ** (CHARACTERS - i))
    return nw.when(value.is_null()).then(nw.lit(0.3)).otherwise(number * 8.0 ** -(CHARACTERS + 1))
