"""What a plugin's author runs: does the criterion keep the contract that searches rely on?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.digest import TermError
from gridmodl.model import Model
from gridmodl.pipeline import optimize, price
from gridmodl.plugins import get_criterion
from gridmodl.pricing import categorical_facts, check_term, numerical_facts
from gridmodl.terms import (
    SEARCHED_TARGETS,
    Cell,
    Criterion,
    Part,
    Problem,
    Shape,
    Variable,
    params_record,
    problem_with_class,
)

RELATIVE = 1e-9


class _Sample(NamedTuple):
    """Rows by distinct value and class."""

    counts: NDArray[np.int64]

    @property
    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The value and the class of each row."""
        values, classes = np.nonzero(self.counts)
        return np.repeat(values, self.counts[values, classes]), np.repeat(classes, self.counts[values, classes])


def check_criterion(criterion: str | Criterion | type[Criterion], n_samples: int = 20) -> None:
    """Check that a criterion keeps the contract of `gridmodl.Criterion`, on random data.

    Its terms return finite numbers; compiled they cost what they cost in plain Python; `finish` grows with the total;
    the order of classes does not matter; the exact search finds what trying every partition finds, and no search beats
    it or is worse than one part; ``joins_pure_runs`` and ``groups_by_share``, where they are declared, never hide the
    optimum. For problems in which two variables are partitioned together (joint, grouped, numerical) every grid of a
    few values is tried.

    Parameters
    ----------
    criterion : str, Criterion or subclass
        A name that is installed, an instance, or a class.
    n_samples : int
        Random data sets to try.

    Raises
    ------
    AssertionError
        Names the criterion, what it breaks, and data that show it.
    """
    if isinstance(criterion, str):
        criterion = get_criterion(criterion)
    cls = criterion if isinstance(criterion, type) else type(criterion)
    wrong = problem_with_class(cls)
    _require(wrong is None, str(wrong))
    checked = criterion() if isinstance(criterion, type) else criterion
    try:
        for problem in sorted(checked.problems):
            _check_terms(checked, problem)
        if checked.groups_by_share:
            for problem in sorted(checked.problems & {"classes", "grid"}):
                _check_groups_by_share(checked, problem, n_samples)
        if "classes" in checked.problems:
            rng = np.random.default_rng(20061)
            for _ in range(n_samples):
                _check_one_variable(checked, _random_sample(rng), rng)
        for problem in sorted(checked.problems & {"joint", *SEARCHED_TARGETS}):
            rng = np.random.default_rng(20112)
            for _ in range(n_samples):
                _check_pair(checked, problem, _random_pair(rng, problem), rng)
    except TermError as error:
        raise AssertionError(str(error)) from error


def _random_sample(rng: np.random.Generator) -> _Sample:
    """Few values and classes, ties, pure values and runs of them."""
    n_values, n_classes = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    counts = rng.integers(0, 4, (n_values, n_classes)) * (rng.random((n_values, n_classes)) < 0.6)
    empty = counts.sum(axis=1) == 0
    counts[empty, rng.integers(0, n_classes, int(empty.sum()))] = rng.integers(1, 9, int(empty.sum()))
    return _Sample(counts[:, counts.any(axis=0)])


def _check_terms(criterion: Criterion, problem: str) -> None:
    """Every term, on the records of every problem the criterion declares, in plain Python."""
    has_classes = problem in ("classes", "grid", "semi")
    class_rows = np.array([3, 5] if has_classes else [], dtype=np.int64)
    facts = Problem(problem, 8, 2 if problem in ("grid", "joint") else 1, class_rows)
    p = params_record(criterion, facts)
    counts = np.array([1, 3] if has_classes else [4], dtype=np.int64)
    unlabelled = 2 if problem == "semi" else 0
    n_target_parts = 2 if problem in ("grouped", "numerical") else 0
    shape = Shape(facts.n_variables, 1, 2.0)
    for categorical, is_target in itertools.product((False, True), (False, n_target_parts > 0)):
        variable = Variable(categorical, is_target, 4, 2.0, 0.0, np.log([0.5, 1.0, 8.0, 14.0, 15.0]))
        variable = variable._replace(constant=float(criterion.variable_constant(facts, variable)))
        check_term(criterion, "grid", p, shape)
        check_term(criterion, "variable", p, variable, 2)
        check_term(criterion, "part", p, variable, Part(4, 2), n_target_parts)
        check_term(criterion, "cell", p, Cell(counts, 4 + unlabelled, unlabelled))
        check_term(criterion, "finish", p, 1.5, shape)


def _check_one_variable(criterion: Criterion, sample: _Sample, rng: np.random.Generator) -> None:
    name, counts = criterion.name, sample.counts
    values, classes = sample.rows
    shown = f"criterion {name!r}, rows by value and class {counts.tolist()}: "
    by_cuts = {cuts: _plain_price(criterion, counts, cuts) for cuts in _all_cuts(len(counts))}
    lowest = min(by_cuts.values())
    tolerance = RELATIVE * (1.0 + abs(lowest))

    for cuts in list(by_cuts)[:: max(1, len(by_cuts) // 8)]:
        compiled = price(values, {"x0": np.array(cuts) - 0.5}, classes, criterion=criterion)
        _require(
            math.isclose(compiled, by_cuts[cuts], rel_tol=RELATIVE, abs_tol=RELATIVE),
            f"{shown}cuts {cuts} cost {by_cuts[cuts]!r} by the plain terms and {compiled!r} compiled",
        )
        shuffled = _plain_price(criterion, counts[:, rng.permutation(counts.shape[1])], cuts)
        _require(
            math.isclose(shuffled, by_cuts[cuts], rel_tol=RELATIVE, abs_tol=RELATIVE),
            f"{shown}cuts {cuts} cost {by_cuts[cuts]!r}, and {shuffled!r} with the classes in another order",
        )
    _check_finish(criterion, counts, shown)
    if criterion.joins_pure_runs:
        kept = min(cost for cuts, cost in by_cuts.items() if not any(_is_inside_run(counts, cut) for cut in cuts))
        _require(
            kept <= lowest + tolerance,
            f"{shown}joins_pure_runs is declared, but the optimum {lowest!r} cuts inside a run of one class; "
            f"without such cuts the lowest is {kept!r}",
        )
    for search in ("exact", "merge"):
        model = optimize(values, classes, criterion=criterion, search=search)
        _require(model.cost >= lowest - tolerance, f"{shown}search {search!r} reports {model.cost!r}, below {lowest!r}")
        _require(model.cost <= by_cuts[()] + tolerance, f"{shown}search {search!r} is worse than one part")
        if search == "exact":
            _require(model.cost <= lowest + tolerance, f"{shown}exact found {model.cost!r}, the optimum is {lowest!r}")


def _check_groups_by_share(criterion: Criterion, kind: str, n_samples: int) -> None:
    """Try every grouping of a few values of two classes."""
    rng = np.random.default_rng(19841)
    for _ in range(n_samples):
        counts = _two_classes(rng)
        price = _plain_grouping(criterion, kind, counts)
        place = np.unique(counts[:, 1] / counts.sum(axis=1), return_inverse=True)[1]
        lowest = min(price(groups) for groups in _all_groupings(len(counts)))
        by_share = min(price(np.searchsorted(cuts, place, side="right")) for cuts in _all_cuts(int(place.max()) + 1))
        # The survival of a statistic of 1e-15 instead of 0 shows in the eighth digit.
        _require(
            by_share <= lowest + 1e-6 * (1.0 + abs(lowest)),
            f"criterion {criterion.name!r}, rows by value and class {counts.tolist()}: groups_by_share is declared, "
            f"but the lowest cost of all groupings is {lowest!r}, and of intervals in the order of shares {by_share!r}",
        )


def _two_classes(rng: np.random.Generator) -> NDArray[np.int64]:
    """Few values, with equal shares, pure values and rows from 1 to 1,000."""
    n_values = int(rng.integers(2, 7))
    counts = rng.integers(0, 4, (n_values, 2)) * rng.choice([1, 1, 2, 5, 100], (n_values, 1))
    counts[counts.sum(axis=1) == 0, 0] = 1
    counts[0] += counts.sum(axis=0) == 0
    return counts


def _plain_grouping(criterion: Criterion, kind: str, counts: NDArray[np.int64]) -> Callable[[Any], float]:
    """What prices a grouping, given the group of each value, by the plain Python terms."""
    problem = Problem(kind, int(counts.sum()), 2 if kind == "grid" else 1, counts.sum(axis=0))
    variable = categorical_facts(counts.sum(axis=1))
    variable = variable._replace(constant=float(criterion.variable_constant(problem, variable)))
    p = params_record(criterion, problem)

    def price_grouping(groups: Any) -> float:
        names = np.unique(groups)
        shape = Shape(problem.n_variables, int(len(names) > 1), float(len(names)))
        total = criterion.grid(p, shape) + criterion.variable(p, variable, len(names))
        for name in names:
            inside = [int(n) for n in counts[groups == name].sum(axis=0)]
            total += criterion.part(p, variable, Part(sum(inside), int((groups == name).sum())), 0)
            total += criterion.cell(p, Cell(inside, sum(inside), 0))
        return float(criterion.finish(p, total, shape))

    return price_grouping


def _all_groupings(n_values: int) -> Iterator[NDArray[np.int64]]:
    """Every way to group so many values, as the group of each: a value joins one of the groups so far or opens one."""
    groupings: list[tuple[int, ...]] = [()]
    for _ in range(n_values):
        groupings = [(*groups, group) for groups in groupings for group in range(max(groups, default=-1) + 2)]
    yield from (np.array(groups) for groups in groupings)


class _Pair(NamedTuple):
    """Rows by value of two variables, and which of these are categorical; the second may be the target."""

    counts: NDArray[np.int64]
    categorical: tuple[bool, bool]

    def all_parts(self, k: int) -> list[NDArray[np.int64]]:
        """Every partition of one variable, as the part of each of its values."""
        n = self.counts.shape[k]
        if self.categorical[k]:
            return list(_all_groupings(n))
        return [np.searchsorted(cuts, np.arange(n), side="right") for cuts in _all_cuts(n)]

    def written(self, k: int, parts: NDArray[np.int64]) -> Any:
        """A partition as a user writes it."""
        if self.categorical[k]:
            return [np.flatnonzero(parts == part).tolist() for part in np.unique(parts)]
        return (np.flatnonzero(np.diff(parts)) + 0.5).tolist()

    def arguments(self, kind: str) -> dict[str, Any]:
        """The data as `optimize` and `price` take it."""
        cells = np.nonzero(self.counts)
        a, b = (np.repeat(values, self.counts[cells]) for values in cells)
        kinds = {name: "categorical" for name, is_one in zip("ab", self.categorical, strict=True) if is_one}
        if kind == "joint":
            return {"data": {"a": a, "b": b}, "kinds": kinds}
        kinds.pop("b", None)
        return {"data": {"a": a, "b": b}, "target": "b", "target_kind": kind, "kinds": kinds}


def _random_pair(rng: np.random.Generator, kind: str) -> _Pair:
    """Few values of two variables, some of which go together."""
    shape = rng.integers(1, 5, 2)
    counts = rng.integers(0, 3, shape) * (rng.random(shape) < 0.7)
    counts += rng.integers(0, 9) * (np.arange(shape[0])[:, None] % 2 == np.arange(shape[1]) % 2)
    counts[0, 0] += 1
    counts[counts.sum(axis=1) == 0, 0] = 1
    counts[0, counts.sum(axis=0) == 0] = 1
    categorical = rng.random(2) < 0.5
    return _Pair(counts, (bool(categorical[0]), kind == "grouped" or (kind == "joint" and bool(categorical[1]))))


def _check_pair(criterion: Criterion, kind: str, sample: _Pair, rng: np.random.Generator) -> None:
    """Try every grid over two variables."""
    kinds = ["categorical" if is_one else "numerical" for is_one in sample.categorical]
    shown = f"criterion {criterion.name!r}, problem {kind!r}, {' x '.join(kinds)}, rows {sample.counts.tolist()}: "
    plain = _plain_pair(criterion, kind, sample)
    costs = [(plain(a, b), a, b) for a in sample.all_parts(0) for b in sample.all_parts(1)]
    lowest = min(cost for cost, *_ in costs)
    tolerance = RELATIVE * (1.0 + abs(lowest))
    given = sample.arguments(kind)
    for i in rng.integers(0, len(costs), 3):
        cost, a, b = costs[i]
        compiled = price(
            partitions={"a": sample.written(0, a), "b": sample.written(1, b)}, criterion=criterion, **given
        )
        _require(
            math.isclose(compiled, cost, rel_tol=RELATIVE, abs_tol=RELATIVE),
            f"{shown}parts {a.tolist()} and {b.tolist()} cost {cost!r} by the plain terms and {compiled!r} compiled",
        )
    null = plain(np.zeros(sample.counts.shape[0], dtype=int), np.zeros(sample.counts.shape[1], dtype=int))
    model = optimize(criterion=criterion, **given)
    _require(model.cost >= lowest - tolerance, f"{shown}the search reports {model.cost!r}, below {lowest!r}")
    _require(model.cost <= null + tolerance, f"{shown}the search is worse than one cell, which costs {null!r}")
    again = price(partitions=_found(model), criterion=criterion, **given)
    _require(
        math.isclose(model.cost, again, rel_tol=RELATIVE, abs_tol=RELATIVE),
        f"{shown}the search reports {model.cost!r}, its partitions cost {again!r}",
    )


def _found(model: Model) -> dict[Any, Any]:
    return {**model.partitions} if model.target is None else {**model.partitions, model.target.name: model.target}


def _plain_pair(criterion: Criterion, kind: str, sample: _Pair) -> Callable[[Any, Any], float]:
    """What prices a grid over two variables, given the part of each of their values, by the plain Python terms."""
    counts, is_searched = sample.counts, kind in SEARCHED_TARGETS
    problem = Problem(kind, int(counts.sum()), 1 if is_searched else 2, np.empty(0, dtype=np.int64))
    facts = []
    for k in (0, 1):
        rows = counts.sum(axis=1 - k)
        variable = categorical_facts(rows) if sample.categorical[k] else numerical_facts(len(rows))
        variable = variable._replace(is_target=is_searched and k == 1)
        facts.append(variable._replace(constant=float(criterion.variable_constant(problem, variable))))
    p = params_record(criterion, problem)

    def price_grid(*parts: Any) -> float:
        sizes = [len(np.unique(labels)) for labels in parts]
        inputs = sizes[:1] if is_searched else sizes
        shape = Shape(len(inputs), sum(n > 1 for n in inputs), float(sizes[0] * sizes[1]))
        total = criterion.grid(p, shape)
        for k, labels in enumerate(parts):
            total += criterion.variable(p, facts[k], sizes[k])
            for part in np.unique(labels):
                rows = int(counts.sum(axis=1 - k)[labels == part].sum())
                n_target_parts = sizes[1] if is_searched else 0
                total += criterion.part(p, facts[k], Part(rows, int((labels == part).sum())), n_target_parts)
        for one, other in itertools.product(*map(np.unique, parts)):
            rows = int(counts[np.ix_(parts[0] == one, parts[1] == other)].sum())
            total += criterion.cell(p, Cell([rows], rows, 0)) if rows else 0.0
        return float(criterion.finish(p, total, shape))

    return price_grid


def _check_finish(criterion: Criterion, counts: NDArray[np.int64], shown: str) -> None:
    p, _ = _facts(criterion, counts)
    for n_parts in range(1, len(counts) + 1):
        shape = Shape(1, int(n_parts > 1), float(n_parts))
        finished = [criterion.finish(p, total, shape) for total in np.linspace(-50.0, 50.0, 21)]
        _require(
            all(low <= high + RELATIVE * (1.0 + abs(high)) for low, high in itertools.pairwise(finished)),
            f"{shown}finish falls while the total grows, for {n_parts} parts",
        )


def _facts(criterion: Criterion, counts: NDArray[np.int64]) -> tuple[Any, Variable]:
    problem = Problem("classes", int(counts.sum()), 1, counts.sum(axis=0))
    variable = Variable(False, False, len(counts), 0.0, 0.0, np.empty(0))
    variable = variable._replace(constant=float(criterion.variable_constant(problem, variable)))
    return params_record(criterion, problem), variable


def _plain_price(criterion: Criterion, counts: NDArray[np.int64], cuts: tuple[int, ...]) -> float:
    """The cost of one variable by the plain Python terms."""
    p, variable = _facts(criterion, counts)
    shape = Shape(1, int(len(cuts) > 0), float(len(cuts) + 1))
    total = criterion.grid(p, shape) + criterion.variable(p, variable, len(cuts) + 1)
    for lo, hi in itertools.pairwise((0, *cuts, len(counts))):
        inside = [int(n) for n in counts[lo:hi].sum(axis=0)]
        total += criterion.part(p, variable, Part(sum(inside), hi - lo), 0)
        total += criterion.cell(p, Cell(inside, sum(inside), 0))
    return float(criterion.finish(p, total, shape))


def _all_cuts(n_values: int) -> Iterator[tuple[int, ...]]:
    for k in range(n_values):
        yield from itertools.combinations(range(1, n_values), k)


def _is_inside_run(counts: NDArray[np.int64], cut: int) -> bool:
    """Whether the values on both sides of a cut hold one and the same class only."""
    both = counts[cut - 1 : cut + 1] > 0
    return bool((both.sum(axis=1) == 1).all() and (both[0] == both[1]).all())


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)
