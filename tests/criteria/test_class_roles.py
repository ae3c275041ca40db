"""Criteria whose classes are not alike: costs, an order, treatment x outcome, claims beside exposure."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from oracles import naive

import gridmodl
from gridmodl import Criterion, plugins
from gridmodl.building import calls
from gridmodl.criteria.modl import Modl
from gridmodl.plugins import criterion_for, problem_with_class
from gridmodl.terms import gradient
from gridmodl.testing import check_criterion
from gridmodl.testing.bruteforce import ColumnSample, all_groupings, plain_optimum, plain_price


class Costs(Criterion):
    """The cost of the cheaper decision in each part: to alarm rows of class 0, or to miss those of class 1."""

    name = "costs"
    problems = {"classes", "grid"}
    class_roles = 2
    options = {"missed": 10.0, "alarm": 1.0}
    joins_pure_runs = True
    groups_by_share = True
    concave_cell = True

    @staticmethod
    def cell(p, cell):
        return p.log_rows + min(p.missed * cell.counts[1], p.alarm * cell.counts[0])

    @staticmethod
    def floor(p, cell):
        return min(p.missed * cell.counts[1], p.alarm * cell.counts[0])

    @staticmethod
    def gradient(p, cell, slopes):
        is_alarm = p.alarm * cell.counts[0] < p.missed * cell.counts[1]
        slopes[0] = p.alarm if is_alarm else 0.0
        slopes[1] = 0.0 if is_alarm else p.missed


class Ordered(Criterion):
    """Spread of ordered classes: n F (1-F) summed over the bounds between them, F the share of rows below."""

    name = "ordered"
    problems = {"classes", "grid", "semi"}
    class_roles = True
    concave_cell = True

    @staticmethod
    def cell(p, cell):
        spread, below, n = 0.0, 0.0, float(cell.rows - cell.unlabelled)
        for j in range(p.n_classes):
            below += cell.counts[j]
            spread += below * (n - below) / n if n > 0.0 else 0.0
        return 0.5 * p.log_rows + spread

    @staticmethod
    def floor(p, cell):
        spread, below, n = 0.0, 0.0, float(cell.rows)
        for j in range(p.n_classes):
            below += cell.counts[j]
            spread += below * (n - below) / n
        return spread


def arm_length(well, ill):
    """Nats that tell how many of an arm are ill, and which."""
    n = well + ill
    return math.log(n + 1.0) + math.lgamma(n + 1.0) - math.lgamma(well + 1.0) - math.lgamma(ill + 1.0)


class Uplift(Criterion):
    """Outcomes given the treatment: control well and ill, treated well and ill."""

    name = "uplift"
    problems = {"classes", "grid"}
    class_roles = 4
    scale = 1.0

    @staticmethod
    def cell(p, cell):
        control = arm_length(cell.counts[0], cell.counts[1])
        return p.log_rows + control + arm_length(cell.counts[2], cell.counts[3])

    @staticmethod
    def predictive(p, cell, code):
        return (cell.counts[code] + 1.0) / (cell.rows + 4.0)


class Claims(Criterion):
    """Claims, class 0, of a Poisson process over months of exposure, class 1, at a rate with a gamma prior."""

    name = "claims"
    problems = {"classes", "grid"}
    class_roles = 2

    @staticmethod
    def cell(p, cell):
        claims, months = cell.counts[0] + 1.0, cell.counts[1] + 10.0
        return p.log_rows + claims * math.log(months) - math.lgamma(claims) - math.log(10.0)


ALL = [Costs, Ordered, Uplift, Claims]
BY_ARM = np.array(["control ill", "control well", "treated ill", "treated well"])


@pytest.mark.parametrize("criterion", ALL)
def test_they_keep_the_contract(criterion):
    check_criterion(criterion, n_samples=10, compiled=False)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ALL)
def test_they_keep_the_contract_compiled(criterion):
    check_criterion(criterion, n_samples=5)


@pytest.mark.parametrize("criterion", ALL)
def test_without_the_declaration_the_order_of_classes_is_asked_for(criterion):
    plain = type(
        "Plain", (criterion,), {"class_roles": False, "groups_by_share": False, "gradient": staticmethod(gradient)}
    )
    with pytest.raises(AssertionError, match=r"class_roles|of criterion '\w+' failed: IndexError"):
        check_criterion(plain, n_samples=10, compiled=False)


def test_a_check_draws_as_many_classes_as_are_needed(monkeypatch):
    """Or most samples would be refused, and little checked."""
    seen = set()

    class Watched(Uplift):
        def params(self, problem):
            seen.add((problem.kind, problem.n_classes, bool(np.all(problem.class_rows > 0))))
            return {}

    check_criterion(Watched, n_samples=10, compiled=False)
    assert seen == {("classes", 4, True), ("grid", 4, True)}


def test_a_price_too_high_is_found_in_the_checks_of_two_roles():
    class Greedy(Costs):
        @staticmethod
        def floor(p, cell):
            return p.missed * cell.counts[1]

    with pytest.raises(AssertionError, match="by `floor` rows"):
        check_criterion(Greedy, n_samples=10, compiled=False)


def rows_by_arm(n=400, seed=3):
    rng = np.random.default_rng(seed)
    x, treated = rng.normal(size=n).round(2), rng.random(n) < 0.5
    ill = rng.random(n) < np.where(treated & (x > 0.3), 0.1, 0.6)
    return x, BY_ARM[2 * treated + ~ill]


def test_the_optimum_of_four_roles_is_that_of_all_partitions():
    x, target = rows_by_arm()
    counts = np.array([[np.sum((x == value) & (target == name)) for name in BY_ARM] for value in np.unique(x)])
    lowest = plain_optimum(Uplift(), ColumnSample("classes", counts, np.zeros(len(counts), dtype=np.int64)))
    model = gridmodl.optimize(x, target, criterion=Uplift, search="exact")
    assert model.proven
    assert model.cost == pytest.approx(lowest)
    assert model.classes.tolist() == BY_ARM.tolist()
    assert len(model.partitions["x0"].bounds) >= 1


def test_groups_of_two_roles_are_those_of_all_groupings():
    """Also where the event is the first class, and where it is named otherwise."""
    rng = np.random.default_rng(5)
    for names in (["a", "b"], ["b", "a"]):
        for _ in range(5):
            values, codes = rng.integers(0, 6, 90), rng.random(90)
            codes = (codes < (values % 3) / 4).astype(int)
            target, towns = np.array(names)[codes], np.array([f"v{value}" for value in values])
            model = gridmodl.optimize(towns, target, criterion=Costs, event=names[0])
            present = np.unique(values)
            lowest = min(
                naive.price(
                    Costs(), "classes", [naive.Column(towns.tolist(), grouped.tolist(), categorical=True)],
                    target.tolist(),
                )
                for groups in all_groupings(len(present))
                for grouped in [groups[np.searchsorted(present, values)]]
            )  # fmt: skip
            assert model.proven
            assert model.cost == pytest.approx(lowest)


@pytest.mark.parametrize("criterion", [Costs, Claims])
def test_a_long_column_of_two_roles_is_proven_right(criterion):
    """Beyond what is tried bound by bound: floors, and hulls where these are declared."""
    rng = np.random.default_rng(6)
    x = np.arange(4_000)
    target = (rng.random(4_000) < 0.1 + 0.3 * (np.sin(x / 300.0) > 0)).astype(int)
    counts = np.eye(2, dtype=np.int64)[target]
    model = gridmodl.optimize(x, target, criterion=criterion, search="exact", max_parts=4)
    assert model.proven
    cuts = tuple(math.ceil(bound) for bound in model.partitions["x0"].bounds)
    sample = ColumnSample("classes", counts, np.zeros(4_000, dtype=np.int64))
    assert model.cost == pytest.approx(plain_price(criterion(), sample, cuts))
    flipped = gridmodl.optimize(-x, target, criterion=criterion, search="exact", max_parts=4)
    assert flipped.cost == pytest.approx(model.cost)
    others = [plain_price(criterion(), sample, tuple(sorted(rng.integers(1, 4_000, 3)))) for _ in range(20)]
    assert model.cost <= min(others)


def test_ordered_classes_come_in_the_order_of_the_target():
    rng = np.random.default_rng(7)
    x = rng.random(200).round(2)
    target = np.array(["low", "middle", "high"])[np.clip((3 * x + rng.normal(size=200) / 3).astype(int), 0, 2)]
    ranked = pl.Series(target, dtype=pl.Enum(["low", "middle", "high"]))
    right = gridmodl.optimize({"x": x}, ranked, criterion=Ordered)
    sorted_ones = gridmodl.optimize({"x": x}, target, criterion=Ordered)
    assert right.classes.tolist() == ["low", "middle", "high"]
    assert sorted_ones.classes.tolist() == ["high", "low", "middle"]
    codes = np.searchsorted([1, 2], np.array([["low", "middle", "high"].index(name) for name in target]), side="right")
    same = gridmodl.optimize({"x": x}, codes, criterion=Ordered)
    assert right.cost == same.cost
    assert right.null_cost < sorted_ones.null_cost


DOORS = {
    "optimize": lambda x, y: gridmodl.optimize(x, y, criterion=Uplift),
    "a categorical column": lambda x, y: gridmodl.optimize((10 * x).round().astype(str), y, criterion=Uplift),
    "optimize_each": lambda x, y: gridmodl.optimize_each({"a": x, "b": -x}, y, criterion=Uplift),
    "a grid": lambda x, y: gridmodl.optimize({"a": x, "b": np.roll(x, 1)}, y, criterion=Uplift, search="merge"),
    "a lazy frame": lambda x, y: gridmodl.optimize(pl.LazyFrame({"a": x, "y": y}), "y", criterion=Uplift),
    "price": lambda x, y: gridmodl.price(x, y, {"x0": [0.0]}, criterion=Uplift),
    "average": lambda x, y: gridmodl.average(x, y, criterion=Uplift),
    "cost_by_parts": lambda x, y: gridmodl.cost_by_parts(x, y, criterion=Uplift, max_parts=3),
    "an estimator": lambda x, y: gridmodl.GridDiscretizer(criterion=Uplift()).fit(x[:, None], y),
}


@pytest.mark.parametrize("door", DOORS)
def test_another_number_of_classes_is_refused_in_a_sentence(door):
    x, target = rows_by_arm()
    DOORS[door](x, target)
    kept = target != BY_ARM[1]
    with pytest.raises(
        ValueError, match=r"^criterion 'uplift' is for 4 classes, .* and the rows have 3; give it"
    ) as one:
        DOORS[door](x[kept], target[kept])
    assert "TermError" not in repr(one.value)


def test_the_number_of_classes_of_new_rows_is_asked_for_before_they_are_priced(monkeypatch):
    found = plugins._registry()
    monkeypatch.setattr(plugins, "_registry", lambda: {**found, "uplift": {"classes": Uplift}})
    x, target = rows_by_arm()
    model = gridmodl.optimize({"x": x}, target, criterion=Uplift)
    kept = target != BY_ARM[1]
    whole = model.compare({"x": x}, target)
    some = model.compare({"x": x[kept]}, target[kept])
    assert math.isfinite(whole.columns["x"].prices.same_parts)
    assert math.isnan(some.columns["x"].prices.same_parts)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"class_roles": "four"}, "declares class_roles='four'; write True, or the number of classes"),
        ({"class_roles": 1}, "declares class_roles=1; write True, or the number of classes that it needs, 2 or more"),
        ({"class_roles": 4}, "declares class_roles=4 and 'groups_by_share', which is about two classes"),
        (
            {"class_roles": 3, "groups_by_share": False},
            "declares class_roles=3 and 'gradient', which is about two classes",
        ),
        ({"problems": {"joint"}}, "but none of its problems counts rows by class; these do: classes, grid, semi"),
        ({"class_role": 2}, "has 'class_role', which no search knows; did you mean 'class_roles'"),
    ],
)
def test_a_wrong_declaration_is_named(body, message):
    assert message in problem_with_class(type("Wrong", (Costs,), body))


def test_the_parts_of_a_target_have_no_roles():
    class Grouped(Criterion):
        name = "grouped-roles"
        problems = {"grouped_grid"}
        given_target = Ordered

        @staticmethod
        def cell(p, cell):
            return 1.0

    assert "given_target of criterion 'grouped-roles' declares class_roles=True" in problem_with_class(Grouped)


def test_the_library_is_built_for_the_classes_that_are_needed(monkeypatch):
    found = plugins._registry()
    monkeypatch.setattr(plugins, "_registry", lambda: {**found, "uplift": {"classes": Uplift, "grid": Uplift}})
    data = calls._columns_for("uplift", "classes")
    assert [len(np.unique(data[name])) for name in "yt"] == [4, 4]
    monkeypatch.setenv("GRIDMODL_COMPILE", "never")
    calls.categories("uplift")
    assert calls._columns_for("modl", "classes")["y"].dtype == bool
    assert criterion_for("modl", "classes") == Modl()
