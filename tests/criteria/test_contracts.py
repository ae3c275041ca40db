"""What holds for every criterion and every search, from the registry: tested by existing."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import naive

import gridmodl
from gridmodl.plugins import criterion_for
from gridmodl.testing import check_criterion

SEARCHES = ["merge", "exact", "auto", gridmodl.Search("merge", post_optimize=False)]
CRITERIA = gridmodl.list_criteria("classes")

pytestmark = pytest.mark.tiers

fewer = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def samples(draw, max_rows=12):
    """Few rows with ties, and 1 to 4 classes."""
    n = draw(st.integers(1, max_rows))
    values = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    target = draw(st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=n, max_size=n))
    return [float(v) for v in values], target


def cost_of(model, name, values, target):
    """The price of the model's own partition, from the rows up, by the plain terms."""
    parts = naive.cut(values, model.partitions["x0"].bounds.tolist())
    return naive.price(gridmodl.get_criterion(name), "classes", [naive.Column(values, parts)], target)


@pytest.mark.parametrize("name", CRITERIA)
def test_check_criterion_accepts_it(name, tier):
    check_criterion(name, compiled=tier == "always")


@pytest.mark.parametrize("search", SEARCHES, ids=str)
@pytest.mark.parametrize("name", CRITERIA)
@few
@given(sample=samples())
def test_the_cost_is_the_cost_and_nobody_beats_enumeration(name, search, sample):
    values, target = sample
    model = gridmodl.optimize(values, target, criterion=name, search=search)
    lowest, _ = naive.best(gridmodl.get_criterion(name), values, target)
    null = naive.price(gridmodl.get_criterion(name), "classes", [naive.Column(values, [0] * len(values))], target)
    assert model.cost == pytest.approx(cost_of(model, name, values, target), rel=1e-9, abs=1e-9)
    assert model.null_cost == pytest.approx(null, rel=1e-9, abs=1e-9)
    assert model.cost <= null + 1e-9
    assert model.cost >= lowest - 1e-9
    if model.proven:
        assert model.cost == pytest.approx(lowest, rel=1e-9, abs=1e-9)
    assert model.proven or model.search == "merge"


@pytest.mark.parametrize("search", ["merge", "exact"])
@pytest.mark.parametrize("name", CRITERIA)
@few
@given(sample=samples(), max_parts=st.integers(1, 4), min_rows=st.integers(1, 5))
def test_limits_hold_and_exact_is_the_best_within_them(name, search, sample, max_parts, min_rows):
    values, target = sample
    model = gridmodl.optimize(values, target, criterion=name, search=search, max_parts=max_parts, min_rows=min_rows)
    partition = model.partitions["x0"]
    assert partition.n_parts <= max_parts
    rows = Counter(naive.cut(values, partition.bounds.tolist()))
    assert partition.n_parts == 1 or min(rows.values()) >= min_rows
    assert [rows[i] for i in range(partition.n_parts)] == partition.counts.sum(axis=1).tolist()
    lowest, _ = naive.best(gridmodl.get_criterion(name), values, target, max_parts, min_rows)
    assert model.cost >= lowest - 1e-9
    if search == "exact":
        assert model.cost == pytest.approx(lowest, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("search", ["merge", "exact"])
@pytest.mark.parametrize("name", CRITERIA)
def test_order_of_rows_and_classes_does_not_matter(name, search):
    rng = np.random.default_rng(11)
    x = rng.integers(0, 40, 300).astype(float)
    y = (x > 20).astype(int) + (rng.random(300) < 0.2)
    order, names = rng.permutation(300), np.array(["b", "c", "a"])
    one = gridmodl.optimize(x, y, criterion=name, search=search)
    two = gridmodl.optimize(x[order], names[y][order], criterion=name, search=search)
    assert two.cost == pytest.approx(one.cost, rel=1e-12)
    assert two.partitions["x0"].bounds.tolist() == one.partitions["x0"].bounds.tolist()


@pytest.mark.parametrize("name", CRITERIA)
def test_the_same_data_give_the_same_model_to_the_bit(name):
    rng = np.random.default_rng(12)
    x, y = rng.normal(size=500), rng.integers(0, 3, 500)
    models = [gridmodl.optimize(x, y, criterion=name, search="merge") for _ in range(2)]
    assert models[0].cost == models[1].cost
    assert models[0].partitions["x0"].bounds.tolist() == models[1].partitions["x0"].bounds.tolist()


# Categorical columns: the same contracts, against every set partition.

GROUPINGS = ["merge", "exact", "auto"]


@st.composite
def towns(draw, max_rows=10):
    """Few rows of at most six values, one of which is missing, and 1 to 4 classes."""
    n = draw(st.integers(1, max_rows))
    values = draw(st.lists(st.sampled_from([None, *"abcde"]), min_size=n, max_size=n))
    target = draw(st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=n, max_size=n))
    return values, target


def set_partitions(values):
    """Every way to divide values into groups."""
    if not values:
        yield []
        return
    first, rest = values[0], values[1:]
    for groups in set_partitions(rest):
        yield [[first], *groups]
        for i in range(len(groups)):
            yield [*groups[:i], [first, *groups[i]], *groups[i + 1 :]]


def price_of_groups(name, values, groups, target):
    column = naive.Column(values, naive.group(values, groups), categorical=True)
    return naive.price(gridmodl.get_criterion(name), "classes", [column], target)


def keeps(values, groups, max_parts, min_rows):
    """Whether the groups keep the limits, of which missing values alone are exempt, and so is a single group."""
    rows = Counter(naive.group(values, groups))
    limited = [rows[i] for i, group in enumerate(groups) if list(group) != [None]]
    return len(groups) == 1 or (len(limited) <= max_parts and min(limited) >= min_rows)


def best_groups(name, values, target, max_parts=99, min_rows=1):
    costs = []
    for groups in set_partitions(sorted(set(values), key=str)):
        if keeps(values, groups, max_parts, min_rows):
            costs.append(price_of_groups(name, values, groups, target))
    return min(costs)


def test_set_partitions_are_all_there():
    assert [sum(1 for _ in set_partitions(list(range(n)))) for n in range(7)] == [1, 1, 2, 5, 15, 52, 203]


@pytest.mark.parametrize("search", GROUPINGS)
@pytest.mark.parametrize("name", CRITERIA)
@fewer
@given(sample=towns())
def test_groups_cost_what_they_cost_and_nobody_beats_enumeration(name, search, sample):
    values, target = sample
    model = gridmodl.optimize({"x0": values}, target, criterion=name, search=search, kinds={"x0": "categorical"})
    partition = model.partitions["x0"]
    assert sorted(itertools.chain(*partition.groups), key=str) == sorted(set(values), key=str)
    null = price_of_groups(name, values, [sorted(set(values), key=str)], target)
    lowest = best_groups(name, values, target)
    assert model.cost == pytest.approx(price_of_groups(name, values, partition.groups, target), rel=1e-9, abs=1e-9)
    assert model.null_cost == pytest.approx(null, rel=1e-9, abs=1e-9)
    assert lowest - 1e-9 <= model.cost <= null + 1e-9
    if model.proven:
        assert model.cost == pytest.approx(lowest, rel=1e-9, abs=1e-9)
    assert model.proven or search == "merge"
    classes, groups = model.classes.tolist(), naive.group(values, partition.groups)
    counts = Counter(zip(groups, target, strict=True))
    assert partition.counts.tolist() == [[counts[g, c] for c in classes] for g in range(partition.n_parts)]
    means = partition.counts @ np.arange(len(classes)) / partition.counts.sum(axis=1)
    assert np.all(np.diff(means) >= -1e-12)


@pytest.mark.parametrize("search", GROUPINGS)
@pytest.mark.parametrize("name", CRITERIA)
@fewer
@given(sample=towns(), max_parts=st.integers(1, 4), min_rows=st.integers(1, 4))
def test_limits_hold_for_groups_and_exact_is_the_best_within_them(name, search, sample, max_parts, min_rows):
    values, target = sample
    limits = {"max_parts": max_parts, "min_rows": min_rows}
    model = gridmodl.optimize(
        {"x0": values}, target, criterion=name, search=search, kinds={"x0": "categorical"}, **limits
    )
    partition = model.partitions["x0"]
    assert keeps(values, partition.groups, max_parts, min_rows)
    assert model.cost == pytest.approx(price_of_groups(name, values, partition.groups, target), rel=1e-9, abs=1e-9)
    lowest = best_groups(name, values, target, max_parts, min_rows)
    assert lowest - 1e-9 <= model.cost <= model.null_cost + 1e-9
    assert model.proven or search == "merge"
    if model.proven:
        assert model.cost == pytest.approx(lowest, rel=1e-9, abs=1e-9)


def as_sets(model, rename=lambda value: value):
    return {frozenset(map(rename, group)) for group in model.partitions["x0"].groups}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("search", ["merge", "auto"])
@pytest.mark.parametrize("name", CRITERIA)
def test_order_of_rows_classes_and_values_does_not_matter_for_groups(name, search, n_classes):
    rng = np.random.default_rng(14)
    codes = rng.integers(0, 14, 300)
    y = ((codes % n_classes) + (rng.random(300) < 0.3)) % n_classes
    order, classes = rng.permutation(300), np.array(["b", "c", "a"])
    names = [f"{i:02}" for i in rng.permutation(14)]
    one = gridmodl.optimize([f"{i:02}" for i in codes], y, criterion=name, search=search)
    two = gridmodl.optimize([names[i] for i in codes[order]], classes[y][order], criterion=name, search=search)
    assert two.cost == pytest.approx(one.cost, rel=1e-12)
    assert as_sets(two, lambda value: f"{names.index(value):02}") == as_sets(one)
    again = gridmodl.optimize([f"{i:02}" for i in codes], y, criterion=name, search=search)
    assert (again.cost, again.partitions["x0"].groups) == (one.cost, one.partitions["x0"].groups)
    shuffled = gridmodl.optimize([f"{i:02}" for i in codes[order]], y[order], criterion=name, search=search)
    assert (shuffled.cost, shuffled.partitions["x0"].groups) == (one.cost, one.partitions["x0"].groups)


# Rows of which only some have a class: the same contracts, for a numerical and a categorical column.

SEMI = gridmodl.list_criteria("semi")


@st.composite
def partly_labelled(draw, max_rows=12):
    """Few rows with ties, of 1 to 4 classes or marked by -1; at least one of each."""
    n = draw(st.integers(2, max_rows))
    values = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    target = draw(st.lists(st.integers(-1, draw(st.integers(0, 3))), min_size=n, max_size=n))
    return [float(v) for v in values], [-1, max(target[0], 0), *target[2:]]


@pytest.mark.parametrize("name", SEMI)
def test_check_criterion_accepts_it_for_some_labels(name, tier):
    check_criterion(criterion_for(name, "semi"), compiled=tier == "always")


@pytest.mark.parametrize("search", SEARCHES, ids=str)
@pytest.mark.parametrize("name", SEMI)
@few
@given(sample=partly_labelled(), max_parts=st.integers(1, 5), min_rows=st.sampled_from([1, 1, 2, 4]))
def test_some_labels_cost_what_they_cost_and_nobody_beats_enumeration(name, search, sample, max_parts, min_rows):
    values, target = sample
    limits = {"max_parts": max_parts, "min_rows": min_rows}
    model = gridmodl.optimize(values, target, criterion=name, search=search, unlabelled=-1, **limits)
    criterion, partition = criterion_for(name, "semi"), model.partitions["x0"]
    parts = naive.cut(values, partition.bounds.tolist())
    cost = naive.price(criterion, "semi", [naive.Column(values, parts)], target, -1)
    null = naive.price(criterion, "semi", [naive.Column(values, [0] * len(values))], target, -1)
    lowest, _ = naive.best(criterion, values, target, max_parts, min_rows, "semi", -1)
    assert model.problem == "semi"
    assert model.cost == pytest.approx(cost, rel=1e-9, abs=1e-9)
    assert model.null_cost == pytest.approx(null, rel=1e-9, abs=1e-9)
    assert lowest - 1e-9 <= model.cost <= null + 1e-9
    assert model.proven or model.search == "merge"
    if model.proven:
        assert model.cost == pytest.approx(lowest, rel=1e-9, abs=1e-9)
    rows = Counter(parts)
    assert len(rows) == partition.n_parts <= max_parts
    assert len(rows) == 1 or min(rows.values()) >= min_rows
    by_class = Counter(zip(parts, target, strict=True))
    assert partition.unlabelled.tolist() == [by_class[i, -1] for i in range(partition.n_parts)]
    assert partition.counts.tolist() == [[by_class[i, c] for c in model.classes] for i in range(partition.n_parts)]


@pytest.mark.parametrize("search", GROUPINGS)
@pytest.mark.parametrize("name", SEMI)
@fewer
@given(sample=partly_labelled(10), max_parts=st.integers(1, 5), min_rows=st.sampled_from([1, 1, 2]))
def test_groups_with_some_labels_are_the_best_that_enumeration_finds(name, search, sample, max_parts, min_rows):
    values, target = [str(value) for value in sample[0]], sample[1]
    limits = {"max_parts": max_parts, "min_rows": min_rows}
    model = gridmodl.optimize(values, target, criterion=name, search=search, unlabelled=-1, **limits)
    costs = {}
    for groups in set_partitions(sorted(set(values))):
        rows = Counter(naive.group(values, groups))
        if len(groups) == 1 or (len(groups) <= max_parts and min(rows.values()) >= min_rows):
            column = naive.Column(values, naive.group(values, groups), categorical=True)
            key = frozenset(map(frozenset, groups))
            costs[key] = naive.price(criterion_for(name, "semi"), "semi", [column], target, -1)
    found = frozenset(map(frozenset, model.partitions["x0"].groups))
    assert model.cost == pytest.approx(costs[found], rel=1e-9, abs=1e-9)
    assert min(costs.values()) - 1e-9 <= model.cost <= model.null_cost + 1e-9
    assert model.proven or search == "merge"
    if model.proven:
        assert model.cost == pytest.approx(min(costs.values()), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("search", ["merge", "exact"])
@pytest.mark.parametrize("name", SEMI)
def test_the_order_of_rows_and_classes_does_not_matter_for_some_labels(name, search):
    rng = np.random.default_rng(16)
    x = rng.integers(0, 60, 400).astype(float)
    y = np.where(rng.random(400) < 0.6, -1, (x > 20).astype(int) + (rng.random(400) < 0.2))
    order, names = rng.permutation(400), np.array(["b", "c", "a", "?"])
    one = gridmodl.optimize(x, y, criterion=name, search=search, unlabelled=-1)
    same = gridmodl.optimize(x, y, criterion=name, search=search, unlabelled=-1)
    two = gridmodl.optimize(x[order], names[y][order], criterion=name, search=search, unlabelled="?")
    assert (one.cost, one.partitions["x0"].bounds.tolist()) == (same.cost, same.partitions["x0"].bounds.tolist())
    assert two.cost == pytest.approx(one.cost, rel=1e-12)
    assert two.partitions["x0"].bounds.tolist() == one.partitions["x0"].bounds.tolist()
    assert one.partitions["x0"].n_parts > 1


def test_check_criterion_catches_bounds_elsewhere_than_between_classes():
    class Even(gridmodl.Criterion):
        """Wants intervals of as many rows, whatever their labels."""

        name = "even"
        problems = {"semi"}
        joins_pure_runs = True

        @staticmethod
        def cell(p, cell):
            return float(cell.rows * cell.rows)

    with pytest.raises(AssertionError, match=r"unlabelled rows by value .*joins_pure_runs is declared"):
        check_criterion(Even)


# Two variables that are partitioned together: two columns, or a column and its target.

TOGETHER = [
    (problem, name) for problem in ("joint", "grouped", "numerical") for name in gridmodl.list_criteria(problem)
]


@st.composite
def pairs(draw, problem):
    """Few rows of two variables of at most four values, and which of them are categorical."""
    n = draw(st.integers(1, 9))
    columns = [draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)) for _ in range(2)]
    categorical = [draw(st.booleans()), problem == "grouped" or (problem == "joint" and draw(st.booleans()))]
    return columns, categorical


def best_together(problem, columns, categorical, **options):
    kinds = {name: "categorical" for name, is_one in zip("ab", categorical, strict=True) if is_one}
    data = dict(zip("ab", columns, strict=True))
    if problem == "joint":
        return gridmodl.optimize(data, kinds=kinds, **options)
    return gridmodl.optimize(
        data, "b", target_kind=problem, kinds={k: v for k, v in kinds.items() if k == "a"}, **options
    )


def price_together(name, problem, columns, categorical, parts):
    criterion = criterion_for(name, problem)
    is_target = [False, problem != "joint"]
    return naive.price(criterion, problem, [
        naive.Column(values, of_rows, categorical=is_one, is_target=target)
        for values, of_rows, is_one, target in zip(columns, parts, categorical, is_target, strict=True)
    ])  # fmt: skip


def all_parts(values, is_categorical):
    """The parts of the rows, for every partition of a variable."""
    distinct = sorted(set(values))
    if is_categorical:
        return [naive.group(values, groups) for groups in set_partitions(distinct)]
    return [naive.cut(values, [distinct[i] - 0.5 for i in cuts]) for cuts in naive.partitions_of(len(distinct))]


@pytest.mark.parametrize(("problem", "name"), TOGETHER)
def test_check_criterion_accepts_it_for_pairs(problem, name, tier):
    check_criterion(criterion_for(name, problem), n_samples=5, compiled=tier == "always")


@pytest.mark.parametrize("name", gridmodl.list_criteria("numerical_grid"))
def test_check_criterion_accepts_it_for_targets_of_several_inputs(name, tier):
    check_criterion(criterion_for(name, "numerical_grid"), n_samples=3, compiled=tier == "always")


@pytest.mark.parametrize(("problem", "name"), TOGETHER)
@fewer
@given(data=st.data(), max_parts=st.integers(1, 4), min_rows=st.integers(1, 3))
def test_pairs_cost_what_they_cost_and_nobody_beats_enumeration(problem, name, data, max_parts, min_rows):
    columns, categorical = data.draw(pairs(problem))
    model = best_together(problem, columns, categorical, criterion=name, max_parts=max_parts, min_rows=min_rows)
    parts = [model.part_of("a", columns[0]).tolist(), model.part_of("b", columns[1]).tolist()]
    cost = price_together(name, problem, columns, categorical, parts)
    assert model.cost == pytest.approx(cost, rel=1e-9, abs=1e-9)
    null = price_together(name, problem, columns, categorical, [[0] * len(values) for values in columns])
    assert model.null_cost == pytest.approx(null, rel=1e-9, abs=1e-9)
    assert model.cost <= null + 1e-9
    every = itertools.product(*map(all_parts, columns, categorical))
    assert model.cost >= min(price_together(name, problem, columns, categorical, p) for p in every) - 1e-9
    for of_rows in parts:
        rows = Counter(of_rows)
        assert len(rows) == 1 or (len(rows) <= max_parts and min(rows.values()) >= min_rows)


@pytest.mark.parametrize(("problem", "name"), TOGETHER)
def test_the_order_of_rows_does_not_matter_for_pairs(problem, name):
    rng = np.random.default_rng(15)
    a = rng.integers(0, 12, 300)
    columns = [a, (a + (rng.random(300) < 0.3)) % 12]
    order = rng.permutation(300)
    for categorical in ([True, problem != "numerical"], [False, problem == "grouped"]):
        one = best_together(problem, columns, categorical, criterion=name)
        same = best_together(problem, columns, categorical, criterion=name)
        other = best_together(problem, [column[order] for column in columns], categorical, criterion=name)
        assert one.cost == same.cost
        assert other.cost == pytest.approx(one.cost, rel=1e-12)
        for key in "ab":
            assert one.part_of(key, range(12)).tolist() == same.part_of(key, range(12)).tolist()
            assert one.part_of(key, range(12)).tolist() == other.part_of(key, range(12)).tolist()


def test_check_criterion_catches_cells_that_compiled_terms_price_otherwise():
    class Odd(gridmodl.Criterion):
        """Its compiled terms see 64-bit integers, whose upper bits a shift drops; its plain ones keep them."""

        name = "odd"
        problems = {"joint"}

        @staticmethod
        def cell(p, cell):
            return float(abs((cell.rows << 63) >> 63))

    with pytest.raises(AssertionError, match=r"by the plain terms and .* compiled"):
        check_criterion(Odd)


def test_aic_never_has_fewer_parts_than_bic():
    """Jin, Breitbart and Muoh, Theorem 6, where log N >= 2."""
    rng = np.random.default_rng(13)
    some_differ = False
    for _ in range(60):
        n = int(rng.integers(8, 200))
        x = rng.integers(0, 30, n).astype(float)
        y = (rng.random(n) < 0.5 + 0.45 * np.sin(x / rng.uniform(1, 10))).astype(int)
        aic, bic = (gridmodl.optimize(x, y, criterion=name, search="exact") for name in ("aic", "bic"))
        assert math.log(n) >= 2
        assert aic.partitions["x0"].n_parts >= bic.partitions["x0"].n_parts
        some_differ |= aic.partitions["x0"].n_parts > bic.partitions["x0"].n_parts
    assert some_differ


def test_check_criterion_catches_a_false_claim_about_pure_runs():
    class Short(gridmodl.Criterion):
        """Wants parts of two rows, so that a run of one class is best cut inside."""

        name = "short"
        problems = {"classes"}
        joins_pure_runs = True

        @staticmethod
        def cell(p, cell):
            return (cell.rows - 2.0) ** 2

    with pytest.raises(AssertionError, match="joins_pure_runs"):
        check_criterion(Short)


def test_check_criterion_catches_a_falling_finish():
    class Falling(gridmodl.Criterion):
        name = "falling"
        problems = {"classes"}

        @staticmethod
        def cell(p, cell):
            return 1.0

        @staticmethod
        def finish(p, total, shape):
            return -total

    with pytest.raises(AssertionError, match="finish falls"):
        check_criterion(Falling)


def test_check_criterion_catches_a_term_that_favours_a_class():
    class Partial(gridmodl.Criterion):
        name = "partial"
        problems = {"classes"}

        @staticmethod
        def cell(p, cell):
            return cell.counts[0] + 0.5

    with pytest.raises(AssertionError, match="another order"):
        check_criterion(Partial)


def test_check_criterion_catches_an_infinite_term():
    class Infinite(gridmodl.Criterion):
        name = "infinite"
        problems = {"classes", "grid"}

        @staticmethod
        def cell(p, cell):
            return math.inf

    with pytest.raises(AssertionError, match="finite"):
        check_criterion(Infinite)
