"""Price edits before they are made: all merges of two parts of a variable, and the best splits of one part.

Merges are priced from the counts of the model alone. A split needs the rows of the data: its part is cut into many
segments at once, and each candidate is a merge of these segments to two parts, priced as any merge is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.analysis.alternatives import ModelVariable, merge_deltas, numbered_rows
from gridmodl.analysis.cost_terms import Counted, filled_parts
from gridmodl.analysis.model_task import SAME_COST
from gridmodl.data.bounds import bounds_between
from gridmodl.data.columns import Categories, Column
from gridmodl.data.frames import Name
from gridmodl.data.numbers import Numbers
from gridmodl.fit.build import source_of
from gridmodl.model.cells import make_cells
from gridmodl.model.policy import STRICT
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.data.table import Table
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

MAX_PAIRS = 20_000  # pairs of groups that are priced unless one part is named; this many take about a second
MAX_OFFERS = 3  # best splits of one part that are offered
APART = 0.05  # share of the rows of the part between two of them
LEAST_CUTS = 8  # candidates of one round of a search for splits
CELLS_PRICED = 2**15  # cells of candidates that the first round may price; this many take some tenths of a second


class MergePrice(NamedTuple):
    """Two parts that may merge, and the cost of the model with them merged minus its cost."""

    i: int
    j: int
    delta: float


class SplitOffer(NamedTuple):
    """A way to split a part: what ``edit(name, split={part: at})`` takes, and the change of the cost."""

    at: Any
    delta: float


class SplitOffers(NamedTuple):
    """Good ways to split a part."""

    offers: list[SplitOffer]  # the cheapest first
    n_tried: int
    n_cuts: (
        int  # number of all cuts in the order that was searched; the first offer is the best of them if all are tried
    )


def merge_prices(model: Model, name: Name, part: int | None = None) -> list[MergePrice]:
    """Price all merges of two parts that ``model.edit(name, merge=[i, j])`` takes, from the counts alone.

    Parameters
    ----------
    model : Model
        Any model that `Model.explain` can explain without its data.
    name : str
        The column, or the name of a partitioned target.
    part : int, optional
        Only merges with this part.

    Returns
    -------
    list of MergePrice
        Numbers of two parts, ``i < j``, and ``delta``, in ascending order of i and j. Empty if no two parts may
        merge, and if there are more than 20,000 pairs: name a `part` then.
    """
    variable = ModelVariable(model, name)
    pairs = _mergeable(variable.partition, part)
    if len(pairs) == 0:
        return []
    place = np.full(variable.partition.n_parts, -1)
    place[variable.filled] = np.arange(variable.n_parts)
    both = (place[pairs] >= 0).all(axis=1)  # an empty part costs nothing, and neither does its merge
    deltas = np.zeros(len(pairs))
    if both.any():
        priced = _total_deltas(variable, place[pairs[both]])
        if priced is None:
            return []
        deltas[both] = priced
    return [MergePrice(int(i), int(j), float(d)) for (i, j), d in zip(pairs.tolist(), deltas, strict=True)]


def _mergeable(partition: Partition, part: int | None) -> NDArray[np.int64]:
    """Pairs of parts that may merge: neighbouring intervals, or any groups; special parts merge with no other.

    Only those with `part` if it is given; else none of more than MAX_PAIRS pairs of groups.
    """
    n_plain = partition.n_parts - partition.n_special
    every = np.arange(n_plain, dtype=np.int64)
    if partition.kind != "categorical":
        pairs = np.column_stack([every[:-1], every[1:]])
        return pairs if part is None else pairs[(pairs == part).any(axis=1)]
    if part is not None:
        others = every[every != part] if part < n_plain else every[:0]
        return np.column_stack([np.minimum(others, part), np.maximum(others, part)])
    if n_plain * (n_plain - 1) // 2 > MAX_PAIRS:
        return np.empty((0, 2), dtype=np.int64)
    return np.column_stack(np.triu_indices(n_plain, 1))


def _total_deltas(variable: ModelVariable, pairs: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Change of the cost for each pair of non-empty parts; None if there are too many cells to price."""
    counted, k = variable.counted, variable.k
    deltas = merge_deltas(counted, k, pairs)
    if deltas is None:
        return None
    # `merge_deltas` leaves out terms that change by the same amount for all pairs: one pair is priced whole.
    labels = np.arange(variable.n_parts)
    labels[pairs[0, 1]] = pairs[0, 0]
    one = counted.merged(k, np.unique(labels, return_inverse=True)[1])
    totals = one.terms().total + (deltas - deltas[0])
    costs = np.array([one.cost_of_sum(total) for total in totals.tolist()])
    return costs - variable.model.cost


class _Cuts(NamedTuple):
    """The distinct values of one part in the order in which it may be cut."""

    rank: NDArray[np.int64]  # of the value of each row of the part
    in_part: NDArray[np.bool_]  # of all rows
    at: Callable[[int], Any]  # what `edit` takes to split after the first c values
    rows: NDArray[np.int64]  # lines of the data of each value


def split_offers(model: Model, name: Name, part: int) -> SplitOffers:
    """Find good ways to split one part: bounds of an interval, levels, or values in the order of their event rates.

    Raises ValueError if the model came without its data, or the part cannot be split. A group of a model without
    classes and without a numerical target has no order to cut in: there are no offers, and the user chooses values.
    """
    partition = model.partition(name)
    table = source_of(model)[0].priced_rows()
    if PROBLEMS[model.problem].has_widths:
        return _density_offers(model, name, part, table)
    variable = ModelVariable(model, name)
    columns = {key: table.column(key, one.column_kind) for key, one in model.partitions.items()}
    if table.searched is not None:
        columns[table.searched.name] = table.searched
    parts = {key: one.part_of_encoded(columns[key], STRICT) for key, one in model.all_partitions.items()}
    cuts = _cuts_of(model, partition, part, columns[name], parts[name], table)
    if cuts is None or len(cuts.rows) < 2:
        return SplitOffers([], 0, 0)

    def price(chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        return _cut_prices(variable, part, cuts, chosen, parts, table)

    n_beside = len(np.unique(np.delete(variable.counted.parts, variable.k, axis=1), axis=0))
    most = max(LEAST_CUTS, CELLS_PRICED // n_beside)
    tried = _searched(price, cuts.rows, most)
    offers = [SplitOffer(cuts.at(c), tried[c]) for c in _apart(tried, np.cumsum(cuts.rows))]
    return SplitOffers(offers, len(tried), len(cuts.rows) - 1)


def _apart(tried: dict[int, float], sums: NDArray[np.int64]) -> list[int]:
    """Cheapest cuts with some rows between any two: cuts beside the best one would be no other choice."""
    kept: list[int] = []
    for c in sorted(tried, key=lambda c: (tried[c], c)):
        if all(abs(int(sums[c - 1] - sums[other - 1])) >= APART * sums[-1] for other in kept):
            kept.append(c)
        if len(kept) == MAX_OFFERS:
            break
    return kept


def _searched(
    price: Callable[[NDArray[np.int64]], NDArray[np.float64]], rows: NDArray[np.int64], most: int
) -> dict[int, float]:
    """Prices of cuts: all if they are few, else some that are evenly spread over the rows, then those near the best."""
    n_cuts, tried = len(rows) - 1, dict[int, float]()
    windows = [(0, n_cuts + 1)]
    for _ in range(64):
        fresh: set[int] = set()
        for low, high in windows:
            fresh |= set(_spread(rows, low, high, most)) - set(tried)
        if not fresh:
            break
        chosen = np.array(sorted(fresh), dtype=np.int64)
        tried |= dict(zip(chosen.tolist(), price(chosen).tolist(), strict=True))
        known = sorted(tried)
        around = {c: (low, high) for low, c, high in zip([0, *known], known, [*known[1:], n_cuts + 1], strict=False)}
        windows = [around[c] for c in sorted(known, key=tried.__getitem__)[:MAX_OFFERS]]
        most = LEAST_CUTS
    return tried


def _spread(rows: NDArray[np.int64], low: int, high: int, most: int) -> list[int]:
    """At most `most` cuts strictly between two others, with about as many rows between them."""
    between = np.arange(low + 1, high)
    if len(between) <= most:
        return between.tolist()
    sums = np.cumsum(rows[low:high])[:-1]
    wanted = np.linspace(0, sums[-1], most + 2)[1:-1]
    return np.unique(between[np.minimum(np.searchsorted(sums, wanted), len(between) - 1)]).tolist()


def _cut_prices(
    variable: ModelVariable, part: int, cuts: _Cuts, chosen: NDArray[np.int64], parts: dict[Name, NDArray[np.int64]],
    table: Table,
) -> NDArray[np.float64]:  # fmt: skip
    """Change of the cost for each of the `chosen` cuts, which ascend: the first c values of the part go apart."""
    k, n_more = variable.k, len(chosen)
    at = int(np.searchsorted(variable.filled, part))
    finer = _with_segments(variable, at, cuts, chosen, parts, table)
    numbers = np.arange(len(finer.sides[k].rows))
    whole = np.where(numbers > at + n_more, numbers - n_more, np.minimum(numbers, at))
    _check_same(finer.merged(k, whole), variable)
    # The two new parts and their cells differ from cut to cut; all else is that of the first, which is priced whole.
    side = finer.sides[k]
    rows, values = (column[at : at + n_more + 1] for column in (side.rows, side.values))
    prices = sum(finer.part_prices(k, *ends) for ends in zip(_two_ends(rows), _two_ends(values), strict=True))
    prices += _end_prices(
        finer.parts, np.column_stack([finer.counts, finer.unlabelled]), k, at, n_more, _cells_of(finer)
    )
    margins, margin_rows = finer.margins()
    if len(margin_rows) and not side.facts.is_target:
        prices += _end_prices(margins, margin_rows[:, None], k, at, n_more, lambda n: finer.margin_prices(n[:, 0]))
    first = finer.merged(k, whole + (numbers > at))
    totals = first.terms().total + (prices - prices[0])
    costs = [first.cost_of_sum(total) for total in totals.tolist()]
    return np.array(costs) - variable.model.cost


def _with_segments(
    variable: ModelVariable, at: int, cuts: _Cuts, chosen: NDArray[np.int64], parts: dict[Name, NDArray[np.int64]],
    table: Table,
) -> Counted:  # fmt: skip
    """Counts of the grid with part number `at` of the non-empty ones cut at all of the `chosen` places."""
    counted, k, model = variable.counted, variable.k, variable.model
    segments = np.searchsorted(chosen, np.arange(len(cuts.rows)), side="right")  # of each value
    all_parts = []
    for key, partition in model.all_partitions.items():
        place = np.zeros(partition.n_parts, dtype=np.int64)
        filled = filled_parts(model, partition)
        place[filled] = np.arange(len(filled))
        all_parts.append(place[parts[key]])
    all_parts[k] += len(chosen) * (all_parts[k] > at)
    all_parts[k][cuts.in_part] += segments[cuts.rank]
    # A target whose unlabelled rows are one more class: `make_cells` counts classes only.
    target = table.target._replace(n_classes=table.target.n_codes, has_unlabelled=False)
    cells = make_cells(list(parts), all_parts, target)
    n_classes, side = counted.counts.shape[1], counted.sides[k]
    rows = np.bincount(cells.parts[:, k], cells.counts.sum(axis=1)).astype(np.int64)
    values = np.concatenate([side.values[:at], np.bincount(segments), side.values[at + 1 :]]).astype(np.float64)
    sides = (*counted.sides[:k], side._replace(rows=rows, values=values), *counted.sides[k + 1 :])
    unlabelled = cells.counts[:, n_classes:].sum(axis=1)
    return Counted(counted.criterion, counted.p, sides, cells.parts, cells.counts[:, :n_classes], unlabelled)


def _cells_of(counted: Counted) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
    return lambda rows: counted.cell_prices(rows[:, :-1], rows[:, -1])


def _two_ends(of_segments: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sums before and after each inner border of the segments, along the first axis."""
    before = np.cumsum(of_segments, axis=0)
    return before[:-1], before[-1] - before[:-1]


def _end_prices(
    parts: NDArray[np.int64], counts: NDArray[np.int64], k: int, at: int, n_more: int,
    price: Callable[[NDArray[np.int64]], NDArray[np.float64]],
) -> NDArray[np.float64]:  # fmt: skip
    """Price of the non-empty cells of the two new parts, for each cut between the segments at, ..., at + n_more."""
    inside = (parts[:, k] >= at) & (parts[:, k] <= at + n_more)
    n_frozen, frozen = numbered_rows(np.delete(parts[inside], k, axis=1))
    of_segments = np.zeros((n_more + 1, n_frozen, counts.shape[1]), dtype=np.int64)
    np.add.at(of_segments, (parts[inside, k] - at, frozen), counts[inside])
    prices = np.zeros(n_more)
    for end in _two_ends(of_segments):
        cut, cell = np.nonzero(end.any(axis=2))
        prices += np.bincount(cut, price(end[cut, cell]), n_more)
    return prices


def _cost(counted: Counted) -> float:
    return counted.cost(counted.terms())


def _check_same(counted: Counted, variable: ModelVariable) -> None:
    """Raise ValueError unless the rows are those that the model was made of."""
    cost = variable.model.cost
    if abs(_cost(counted) - cost) > SAME_COST * (1.0 + abs(cost)):
        raise ValueError("the data has changed since the model was made; optimize it anew")


def _cuts_of(
    model: Model, partition: Partition, part: int, column: Column, of_rows: NDArray[np.int64], table: Table
) -> _Cuts | None:
    """Values of a part in the order to cut them in; None if they have none."""
    in_part = of_rows == part
    if isinstance(column, Categories):
        return _group_cuts(model, column, in_part, table)
    return _interval_cuts(partition, part, column, in_part, table)


def _interval_cuts(
    partition: Partition, part: int, column: Numbers, in_part: NDArray[np.bool_], table: Table
) -> _Cuts | None:
    """Values of an interval, or levels of a part, ascending; missing values are with the lowest."""
    first, last = int(partition.is_missing_apart), partition.n_parts - partition.n_special
    if not first <= part < last:
        return None
    values, is_missing = column.values[in_part], None
    if column.missing is not None and column.missing[in_part].any():
        is_missing = column.missing[in_part]
        if is_missing.all():
            return None
        values = np.where(is_missing, values[~is_missing].min(), values)
    lows, rank, rows = np.unique(values, return_inverse=True, return_counts=True)
    highs = lows
    if column.ends is not None:
        highs = np.full(len(lows), lows.min(), dtype=lows.dtype)
        np.maximum.at(highs, rank, column.ends[in_part])

    def at(c: int) -> Any:
        bound = bounds_between(highs[c - 1 : c], lows[c : c + 1], column.type, table.placement)[0]
        if partition.kind == "numerical":
            return bound
        place = {level: i for i, level in enumerate(partition.levels)}
        return [level for level in partition.groups[part] if level is None or place[level] <= bound]

    return _Cuts(rank.ravel(), in_part, at, rows)


def _group_cuts(model: Model, column: Categories, in_part: NDArray[np.bool_], table: Table) -> _Cuts | None:
    """Values of a group in ascending order of event rate, or of the mean of a numerical target; ties: as sorted."""
    codes, rank, rows = np.unique(column.codes[in_part], return_inverse=True, return_counts=True)
    rank = rank.ravel()
    means = value_means(model, table, in_part, rank, len(codes))
    if means is None:
        return None
    order = np.argsort(np.where(np.isnan(means), np.inf, means), kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    values = [column.values[code] for code in codes[order].tolist()]
    return _Cuts(place[rank], in_part, lambda c: values[:c], rows[order])


def value_means(
    model: Model, table: Table, in_part: NDArray[np.bool_], rank: NDArray[np.int64], n_values: int
) -> NDArray[np.float64] | None:
    """Event rate of each value of a part, or mean of a numerical target; None if the model has neither."""
    target = table.target.of_rows(in_part)
    with np.errstate(invalid="ignore"):
        if model.target is None and model.event_index is not None:
            counts = target.counts(rank, n_values)
            return np.asarray(counts[:, model.event_index] / counts.sum(axis=1))
        if PROBLEMS[model.problem].target_is_numerical:
            weights = np.ones(len(rank)) if target.weights is None else target.weights.astype(np.float64)
            sums = np.bincount(rank, weights * table.quantities[in_part], n_values)
            return np.asarray(sums / np.bincount(rank, weights, n_values))
    return None


def _density_offers(model: Model, name: Name, part: int, table: Table) -> SplitOffers:
    """Deciles of the rows of an interval of a density, each priced by the edit: parts there have widths."""
    partition = model.partition(name)
    column = table.column(name, partition.column_kind)
    assert isinstance(column, Numbers)  # noqa: S101  for mypy
    values = np.unique(column.values[partition.part_of_encoded(column, STRICT) == part])
    if part >= partition.n_parts - partition.n_special or len(values) < 2:
        return SplitOffers([], 0, 0)
    cuts = np.unique(np.linspace(1, len(values) - 1, 9).astype(np.int64))
    bounds = bounds_between(values[cuts - 1], values[cuts], column.type, table.placement)
    priced = [SplitOffer(bound, float(model.edit(name, split={part: bound}).delta or 0.0)) for bound in bounds]
    return SplitOffers(sorted(priced, key=lambda one: one.delta)[:MAX_OFFERS], len(cuts), len(values) - 1)
