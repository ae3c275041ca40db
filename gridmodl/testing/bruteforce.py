"""Price every partition of a few values by the plain Python terms, and check compiled searches against them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.analysis.cost_terms import Counted, Side
from gridmodl.pipeline import optimize, price
from gridmodl.plugins import class_number
from gridmodl.pricing import categorical_values, check_term, numerical_values, variable_of
from gridmodl.terms import PROBLEMS, Cell, Criterion, Problem, Shape, params_record

RELATIVE = 1e-9  # tolerance of comparisons


def draw_class_number(rng: np.random.Generator, criterion: Criterion, least: int, most: int) -> int:
    """Draw a number of classes from `least` to `most`; it is that which the criterion needs, if it needs one."""
    drawn = int(rng.integers(least, most + 1))
    return class_number(criterion) or drawn


def random_sample(rng: np.random.Generator, criterion: Criterion, kind: str) -> ColumnSample:
    """Draw few values and classes, with ties and runs of pure values; some values have unlabelled rows only."""
    n_values, n_classes = int(rng.integers(1, 8)), draw_class_number(rng, criterion, 1, 4)
    counts = rng.integers(0, 4, (n_values, n_classes)) * (rng.random((n_values, n_classes)) < 0.6)
    empty = counts.sum(axis=1) == 0
    counts[empty, rng.integers(0, n_classes, int(empty.sum()))] = rng.integers(1, 9, int(empty.sum()))
    if rng.random() < 0.3:  # nearly as many parts as rows
        counts = np.eye(n_classes, dtype=np.int64)[rng.integers(0, n_classes, n_values)]
    unlabelled = np.zeros(n_values, dtype=np.int64)
    if PROBLEMS[kind].has_unlabelled:
        counts[1:] *= rng.random((n_values - 1, 1)) < 0.7
        unlabelled = rng.integers(0, 6, n_values) * (rng.random(n_values) < 0.6)
        unlabelled[counts.sum(axis=1) == 0] += 1
        unlabelled[-1] += unlabelled.sum() == 0
    return ColumnSample(kind, without_empty(rng, criterion, counts), unlabelled)


def without_empty(rng: np.random.Generator, criterion: Criterion, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts without the classes that have no row; if the criterion needs a number of classes, each gets a row."""
    is_empty = ~counts.any(axis=0)
    if class_number(criterion) is None:
        return counts[:, ~is_empty]
    counts[rng.integers(0, len(counts), int(is_empty.sum())), is_empty] = 1
    return counts


def check_one_variable(criterion: Criterion, sample: ColumnSample, rng: np.random.Generator) -> None:
    """Price every partition of the values into intervals, and check prices, declarations and searches against them."""
    counts, arguments = sample.counts, sample.arguments()
    shown = f"criterion {criterion.name!r}, rows by value and class {counts.tolist()}: "
    if PROBLEMS[sample.kind].has_unlabelled:
        shown = f"{shown[:-2]}, unlabelled rows by value {sample.unlabelled.tolist()}: "
    by_cuts = {cuts: plain_price(criterion, sample, cuts) for cuts in all_cuts(len(counts))}
    lowest = min(by_cuts.values())
    tolerance = RELATIVE * (1.0 + abs(lowest))

    for cuts in list(by_cuts)[:: max(1, len(by_cuts) // 8)]:
        compiled = price(partitions={"x0": np.array(cuts) - 0.5}, criterion=criterion, **arguments)
        require(
            math.isclose(compiled, by_cuts[cuts], rel_tol=RELATIVE, abs_tol=RELATIVE),
            f"{shown}cuts {cuts} cost {by_cuts[cuts]!r} by the plain terms and {compiled!r} compiled",
        )
        other_order = sample._replace(counts=counts[:, rng.permutation(counts.shape[1])])
        shuffled = plain_price(criterion, other_order, cuts)
        require(
            bool(criterion.class_roles) or math.isclose(shuffled, by_cuts[cuts], rel_tol=RELATIVE, abs_tol=RELATIVE),
            f"{shown}cuts {cuts} cost {by_cuts[cuts]!r}, and {shuffled!r} with the classes in another order; declare "
            "class_roles if they are not alike",
        )
    _check_finish(criterion, sample, shown)
    if criterion.joins_pure_runs:
        kept = min(cost for cuts, cost in by_cuts.items() if not any(_is_inside_run(counts, cut) for cut in cuts))
        require(
            kept <= lowest + tolerance,
            f"{shown}joins_pure_runs is declared, but the optimum {lowest!r} cuts inside a run of one class; "
            f"without such cuts the lowest is {kept!r}",
        )
    for search in ("exact", "merge"):
        model = optimize(criterion=criterion, search=search, **arguments)
        require(model.cost >= lowest - tolerance, f"{shown}search {search!r} reports {model.cost!r}, below {lowest!r}")
        require(model.cost <= by_cuts[()] + tolerance, f"{shown}search {search!r} is worse than one part")
        if search == "exact":
            require(model.cost <= lowest + tolerance, f"{shown}exact found {model.cost!r}, the optimum is {lowest!r}")
    n_apart = int(rng.integers(0, len(counts)))
    if n_apart:
        _check_beside_parts(criterion, sample, n_apart, by_cuts, shown)


def _check_beside_parts(
    criterion: Criterion, sample: ColumnSample, n_apart: int, by_cuts: dict[tuple[int, ...], float], shown: str
) -> None:
    """Compare the proven optimum beside special codes, the `n_apart` highest values, with that of all partitions."""
    n_free = len(sample.counts) - n_apart
    ends = set(range(n_free, len(sample.counts)))
    lowest = min(cost for cuts, cost in by_cuts.items() if ends.issubset(cuts))
    model = optimize(criterion=criterion, search="exact", special={"x0": sorted(ends)}, **sample.arguments())
    require(
        math.isclose(model.cost, lowest, rel_tol=RELATIVE, abs_tol=RELATIVE),
        f"{shown}with the {n_apart} highest values as special codes, exact found {model.cost!r}, the optimum is "
        f"{lowest!r}; joins_pure_runs may hold of a variable without such parts alone",
    )


def _check_finish(criterion: Criterion, sample: ColumnSample, shown: str) -> None:
    p = finest_column(criterion, sample).p
    for n_parts in range(1, len(sample.counts) + 1):
        shape = Shape(1, int(n_parts > 1), float(n_parts))
        finished = [criterion.finish(p, total, shape) for total in np.linspace(-50.0, 50.0, 21)]
        require(
            all(low <= high + RELATIVE * (1.0 + abs(high)) for low, high in itertools.pairwise(finished)),
            f"{shown}finish falls while the total grows, for {n_parts} parts",
        )


def _is_inside_run(counts: NDArray[np.int64], cut: int) -> bool:
    """Whether the nearest labelled values on both sides of a cut hold the same single class, or a side has none."""
    is_labelled = counts.sum(axis=1) > 0
    before, after = np.flatnonzero(is_labelled[:cut]), np.flatnonzero(is_labelled[cut:])
    if len(before) == 0 or len(after) == 0:
        return True
    both = counts[[before[-1], cut + after[0]]] > 0
    return bool((both.sum(axis=1) == 1).all() and (both[0] == both[1]).all())


def check_groups_by_share(criterion: Criterion, kind: str, n_samples: int) -> None:
    """Price every grouping of a few values of two classes: the best must be intervals in the order of shares."""
    rng = np.random.default_rng(19841)
    for _ in range(n_samples):
        counts = _two_classes(rng)
        price = plain_grouping(criterion, kind, counts)
        place = np.unique(counts[:, 1] / counts.sum(axis=1), return_inverse=True)[1]
        lowest = min(price(groups) for groups in all_groupings(len(counts)))
        by_share = min(price(np.searchsorted(cuts, place, side="right")) for cuts in all_cuts(int(place.max()) + 1))
        # A statistic of 1e-15 in place of 0 changes the eighth digit of its survival function.
        require(
            by_share <= lowest + 1e-6 * (1.0 + abs(lowest)),
            f"criterion {criterion.name!r}, rows by value and class {counts.tolist()}: groups_by_share is declared, "
            f"but the lowest cost of all groupings is {lowest!r}, and of intervals in the order of shares {by_share!r}",
        )
        if PROBLEMS[kind].has_one_input:
            _check_beside_groups(criterion, ColumnSample(kind, counts, np.zeros(len(counts), dtype=np.int64)), price)


def _check_beside_groups(criterion: Criterion, sample: ColumnSample, price: Callable[[Any], float]) -> None:
    """Compare the best groups beside special ones, half of the values, with those of all groupings."""
    n_free = (len(sample.counts) + 1) // 2
    ends = np.arange(n_free, len(sample.counts))
    lowest = min(price(np.append(groups, ends)) for groups in all_groupings(n_free))
    of_values: dict[str, Any] = {"kinds": {"x0": "categorical"}, "special": {"x0": ends.tolist()}}
    model = optimize(criterion=criterion, search="exact", **of_values, **sample.arguments())
    require(
        abs(model.cost - lowest) <= 1e-6 * (1.0 + abs(lowest)),
        f"criterion {criterion.name!r}, rows by value and class {sample.counts.tolist()}: with the values "
        f"{ends.tolist()} as special groups, exact found {model.cost!r}, the optimum is {lowest!r}; groups_by_share "
        "may hold of a variable without such groups alone",
    )


def _two_classes(rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw rows of a few values by two classes, with equal shares, pure values and few or many rows."""
    n_values = int(rng.integers(2, 7))
    counts = rng.integers(0, 4, (n_values, 2)) * rng.choice([1, 1, 2, 5, 100], (n_values, 1))
    if rng.random() < 0.3:  # nearly as many groups as rows
        counts = np.minimum(counts, 1)
    counts[counts.sum(axis=1) == 0, 0] = 1
    counts[0] += counts.sum(axis=0) == 0
    return counts


class PairSample(NamedTuple):
    """Rows by value of two variables, and which of these are categorical; the second may be the target."""

    counts: NDArray[np.int64]
    categorical: tuple[bool, bool]

    def all_parts(self, k: int) -> list[NDArray[np.int64]]:
        """Every partition of one variable, as the part of each of its values."""
        n = self.counts.shape[k]
        if self.categorical[k]:
            return list(all_groupings(n))
        return [np.searchsorted(cuts, np.arange(n), side="right") for cuts in all_cuts(n)]

    def written(self, k: int, parts: NDArray[np.int64]) -> Any:
        """A partition in the form that `price` takes."""
        if self.categorical[k]:
            return [np.flatnonzero(parts == part).tolist() for part in np.unique(parts)]
        return (np.flatnonzero(np.diff(parts)) + 0.5).tolist()

    def arguments(self, kind: str) -> dict[str, Any]:
        """The data as arguments of `optimize` and `price`."""
        cells = np.nonzero(self.counts)
        a, b = (np.repeat(values, self.counts[cells]) for values in cells)
        kinds = {name: "categorical" for name, is_one in zip("ab", self.categorical, strict=True) if is_one}
        if not PROBLEMS[kind].has_target:
            return {"data": {"a": a, "b": b}, "kinds": kinds}
        kinds.pop("b", None)
        return {"data": {"a": a, "b": b}, "target": "b", "target_kind": kind, "kinds": kinds}


def random_pair(rng: np.random.Generator, kind: str) -> PairSample:
    """Draw few values of two variables, some of which occur together."""
    shape = rng.integers(1, 5, 2)
    counts = rng.integers(0, 3, shape) * (rng.random(shape) < 0.7)
    counts += rng.integers(0, 9) * (np.arange(shape[0])[:, None] % 2 == np.arange(shape[1]) % 2)
    counts[0, 0] += 1
    counts[counts.sum(axis=1) == 0, 0] = 1
    counts[0, counts.sum(axis=0) == 0] = 1
    categorical = rng.random(2) < 0.5
    second = PROBLEMS[kind].names_classes if PROBLEMS[kind].has_target else bool(categorical[1])
    return PairSample(counts, (bool(categorical[0]), second))


def check_pair(criterion: Criterion, kind: str, sample: PairSample, rng: np.random.Generator) -> None:
    """Price every grid over two variables, and check prices and the search against them."""
    kinds = ["categorical" if is_one else "numerical" for is_one in sample.categorical]
    shown = f"criterion {criterion.name!r}, problem {kind!r}, {' x '.join(kinds)}, rows {sample.counts.tolist()}: "
    plain = plain_pair(criterion, kind, sample)
    costs = [(plain(a, b), a, b) for a in sample.all_parts(0) for b in sample.all_parts(1)]
    lowest = min(cost for cost, *_ in costs)
    tolerance = RELATIVE * (1.0 + abs(lowest))
    arguments = sample.arguments(kind)
    for i in rng.integers(0, len(costs), 3):
        cost, a, b = costs[i]
        compiled = price(
            partitions={"a": sample.written(0, a), "b": sample.written(1, b)}, criterion=criterion, **arguments
        )
        require(
            math.isclose(compiled, cost, rel_tol=RELATIVE, abs_tol=RELATIVE),
            f"{shown}parts {a.tolist()} and {b.tolist()} cost {cost!r} by the plain terms and {compiled!r} compiled",
        )
    null = plain(np.zeros(sample.counts.shape[0], dtype=int), np.zeros(sample.counts.shape[1], dtype=int))
    model = optimize(criterion=criterion, **arguments)
    require(model.cost >= lowest - tolerance, f"{shown}the search reports {model.cost!r}, below {lowest!r}")
    require(model.cost <= null + tolerance, f"{shown}the search is worse than one cell, which costs {null!r}")
    again = price(partitions=model.all_partitions, criterion=criterion, **arguments)
    require(
        math.isclose(model.cost, again, rel_tol=RELATIVE, abs_tol=RELATIVE),
        f"{shown}the search reports {model.cost!r}, its partitions cost {again!r}",
    )


def plain_pair(criterion: Criterion, kind: str, sample: PairSample) -> Callable[[Any, Any], float]:
    """Make a function that prices a grid over two variables by the plain Python terms, from the part of each value."""
    is_searched = PROBLEMS[kind].target_is_partitioned
    problem = Problem(kind, int(sample.counts.sum()), 1 if is_searched else 2, np.empty(0, dtype=np.int64))
    finest = finest_grid(criterion, problem, sample.categorical, sample.counts[..., None], is_searched)
    return lambda first, second: cost_of(_merged(_merged(finest, 0, first), 1, second))


def finest_grid(
    criterion: Criterion, problem: Problem, categorical: Sequence[bool], table: Any, has_target: bool = False
) -> Counted:
    """The grid whose parts are single values; `table` has rows by value of each variable, then by class.

    The last variable is the target if the grid `has_target`.
    """
    n, sides = len(categorical), []
    for k in range(n):
        rows = table.sum(axis=tuple(axis for axis in range(n + 1) if axis != k))
        values = categorical_values(rows) if categorical[k] else numerical_values(len(rows))
        facts = variable_of(criterion, problem, values, has_target and k == n - 1)
        sides.append(Side(facts, rows, np.ones(len(rows))))
    parts = np.argwhere(table.any(axis=-1))
    counts = table[tuple(parts.T)]
    p = params_record(criterion, problem)
    return Counted(criterion, p, tuple(sides), parts, counts, np.zeros(len(parts), dtype=np.int64))


def _merged(counted: Counted, k: int, labels: Any) -> Counted:
    return counted.merged(k, np.unique(labels, return_inverse=True)[1])


def cost_of(counted: Counted) -> float:
    # `check_term` gets an array, as searches pass it, and finds a term that writes into the array.
    for counts, unlabelled in zip(counted.counts, counted.unlabelled.tolist(), strict=True):
        cell = Cell(counts.copy(), int(counts.sum()) + unlabelled, unlabelled)
        check_term(counted.criterion, "cell", counted.p, cell)
    return counted.cost(counted.terms())


def require(condition: bool, message: str) -> None:
    """Raise an AssertionError with `message` unless `condition` holds, also under ``python -O``."""
    if not condition:
        raise AssertionError(message)


def all_cuts(n_values: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """Every partition of `n_values` values into intervals, as the first value of each interval but the lowest.

    With `most`, those of at most as many cuts.
    """
    for k in range(n_values if most is None else most + 1):
        yield from itertools.combinations(range(1, n_values), k)


def all_groupings(n_values: int) -> Iterator[NDArray[np.int64]]:
    """Every grouping of `n_values` values, as the group of each value."""
    groupings: list[tuple[int, ...]] = [()]
    for _ in range(n_values):
        groupings = [(*groups, group) for groups in groupings for group in range(max(groups, default=-1) + 2)]
    yield from (np.array(groups) for groups in groupings)


class ColumnSample(NamedTuple):
    """Rows by distinct value and class, and unlabelled rows by value."""

    kind: str  # of problem
    counts: NDArray[np.int64]
    unlabelled: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        return int(self.counts.sum() + self.unlabelled.sum())

    def arguments(self) -> dict[str, Any]:
        """The data as arguments of `optimize` and `price`."""
        by_code = np.column_stack([self.unlabelled, self.counts])
        values, codes = np.nonzero(by_code)
        n = by_code[values, codes]
        rows = {"data": np.repeat(values, n), "target": np.repeat(codes - 1, n)}
        return rows | ({"unlabelled": -1} if PROBLEMS[self.kind].has_unlabelled else {})


def plain_price(criterion: Criterion, sample: ColumnSample, cuts: tuple[int, ...]) -> float:
    """The cost of one variable by the plain Python terms."""
    return cost_of(cut_grid(finest_column(criterion, sample), cuts))


def cut_grid(finest: Counted, cuts: Iterable[int]) -> Counted:
    """The grid whose one variable is cut before the values `cuts`."""
    is_cut = np.zeros(len(finest.sides[0].rows), dtype=np.int64)
    is_cut[list(cuts)] = 1
    return finest.merged(0, np.cumsum(is_cut))


def plain_optimum(criterion: Criterion, sample: ColumnSample) -> float:
    """The lowest cost of all partitions of one variable by the plain Python terms, found part by part."""
    finest, n = finest_column(criterion, sample), len(sample.counts)
    by_value = np.column_stack([sample.counts, sample.unlabelled])
    sums = np.concatenate([np.zeros((1, by_value.shape[1]), dtype=np.int64), np.cumsum(by_value, axis=0)])
    spans = np.array(list(itertools.combinations(range(n + 1), 2)))
    inside = sums[spans[:, 1]] - sums[spans[:, 0]]
    prices = np.full((n + 1, n + 1), np.inf)
    prices[tuple(spans.T)] = finest.part_prices(0, inside.sum(axis=1), np.diff(spans)[:, 0].astype(float))
    prices[tuple(spans.T)] += finest.cell_prices(inside[:, :-1], inside[:, -1])
    lowest, up_to = np.inf, np.where(np.arange(n + 1) == 0, 0.0, np.inf)
    for n_parts in range(1, n + 1):
        up_to = (up_to[:, None] + prices).min(axis=0)
        some = cut_grid(finest, range(1, n_parts))  # for the terms that depend on the number of parts alone
        lowest = min(lowest, some.cost(some.terms()._replace(part=0.0, cell=float(up_to[n]))))
    return lowest


def finest_column(criterion: Criterion, sample: ColumnSample) -> Counted:
    """The grid of one variable whose parts are single values."""
    problem = Problem(sample.kind, sample.n_rows, 1, sample.counts.sum(axis=0))
    known = variable_of(criterion, problem, numerical_values(len(sample.counts)))
    n = len(sample.counts)
    side = Side(known, sample.counts.sum(axis=1) + sample.unlabelled, np.ones(n))
    p = params_record(criterion, problem)
    return Counted(criterion, p, (side,), np.arange(n)[:, None], sample.counts, sample.unlabelled)


def plain_grouping(criterion: Criterion, kind: str, counts: NDArray[np.int64]) -> Callable[[Any], float]:
    """Make a function that prices a grouping by the plain Python terms, from the group of each value.

    In a grid there is a second variable, of one value.
    """
    n_variables = 1 if PROBLEMS[kind].has_one_input else 2
    problem = Problem(kind, int(counts.sum()), n_variables, counts.sum(axis=0))
    table = counts if n_variables == 1 else counts[:, None]
    finest = finest_grid(criterion, problem, (True, False)[:n_variables], table)
    return lambda groups: cost_of(_merged(finest, 0, groups))
