"""A row of weight w is w rows: the same prices, and the same searches, which draw their random numbers by rows."""

import json
import math
from decimal import Decimal, localcontext

import jsonschema
import numpy as np
import pytest

from gridmodl import Model, Search, codelength, json_schema, optimize, price, verify
from gridmodl.jit.template import bind
from gridmodl.model.file.partitions import PARTITION_FIELDS_4
from gridmodl.search.pair.vns import draw_numbers

SEEDS = range(2)


def sample(seed, n=120):
    """Columns of both kinds that depend on each other, classes and a quantity; weights from 1 to 60."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 25, n).astype(float)
    b = np.round(a / 3 + rng.normal(0, 2, n))
    c = np.array(list("abcdefgh"))[(a / 4 + rng.integers(0, 3, n)).astype(int) % 8]
    d = np.array(list("pqrstuv"))[(b + rng.integers(0, 2, n)).astype(int) % 7]
    classes = (a > 12).astype(int) + (c < "d") + (rng.random(n) < 0.2)
    weights = np.where(rng.random(n) < 0.8, rng.integers(1, 4, n), 60)
    return {"a": a, "b": b, "c": c, "d": d}, classes, b + a / 8, weights


def groups_of(model):
    """All partitions of a model, whatever the numbers of their parts."""
    return {
        name: (part.bounds.tolist(), sorted(sorted(map(str, group)) for group in part.groups))
        for name, part in model.all_partitions.items()
    }


def assert_same(columns, target, weights, **asked):
    """Weighted rows and repeated ones, in their order and in another, lead to the same model."""
    weighted = optimize(columns, target, weights=weights, **asked)
    rows = np.repeat(np.arange(len(weights)), weights)
    for order in (rows, np.random.default_rng(0).permutation(rows)):
        repeated = {name: column[order] for name, column in columns.items()}
        again = optimize(repeated, None if target is None else target[order], **asked)
        assert again.cost == pytest.approx(weighted.cost, rel=1e-12)
        assert groups_of(again) == groups_of(weighted)
        assert [m.cost for m in again.optima] == pytest.approx([m.cost for m in weighted.optima], rel=1e-12)
    return weighted


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "search", [Search("vns", effort=1), Search("vns", effort=3), Search("merge"), Search("algorithm3", effort=2)]
)
def test_weighted_rows_lead_to_the_grid_of_repeated_ones(seed, search):
    columns, classes, _, weights = sample(seed)
    assert assert_same(columns, classes, weights, search=search, random_state=seed).informative


@pytest.mark.parametrize("seed", SEEDS)
def test_weighted_rows_lead_to_the_different_grids_of_repeated_ones(seed):
    columns, classes, _, weights = sample(seed)
    search = Search("diverse", effort=3, keep_optima=50)
    assert len(assert_same(columns, classes, weights, search=search, random_state=seed).optima) > 1


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("names", ["ab", "cd", "ac", "abc", "abcd"])
def test_weighted_rows_lead_to_the_joint_grid_of_repeated_ones(seed, names):
    columns, _, _, weights = sample(seed)
    chosen = {name: columns[name] for name in names}
    assert_same(chosen, None, weights, search=Search("vns", effort=1), random_state=seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", "ac")
def test_weighted_rows_lead_to_the_parts_of_a_target_of_repeated_ones(seed, name):
    columns, classes, quantity, weights = sample(seed)
    one = {name: columns[name]}
    search = Search("vns", effort=1)
    assert_same(one, columns["d"], weights, target_kind="grouped", search=search, random_state=seed)
    assert_same(one, quantity, weights, target_kind="numerical", search=search, random_state=seed)
    assert_same(one, classes, weights)


def test_few_rows_of_large_weight_have_the_room_of_many_rows():
    """Two values of each column in eight rows: transfers and merges had room for as many rows as there are lines."""
    a, b, c = (np.array([x >> k & 1 for x in range(8)]) for k in range(3))
    columns = {"a": a.astype(str), "b": b.astype(str), "c": c.astype(float)}
    weights = np.full(8, 200) + np.arange(8)
    assert_same(columns, a ^ b, weights, search=Search("vns", effort=2))


def test_draws_reach_numbers_beyond_32_bits():
    seed, numbers = np.array([7], dtype=np.uint64), np.empty(200, dtype=np.int64)
    bind(draw_numbers)(seed, 2**52, numbers)
    assert numbers.min() >= 0
    assert 2**51 < numbers.max() < 2**52
    assert np.count_nonzero(numbers < 2**51) in range(60, 140)


# Digits. Terms in decimals of 60 digits, and costs as the formulas have them.

BERNOULLI = [Decimal(1) / 6, Decimal(-1) / 30, Decimal(1) / 42, Decimal(-1) / 30, Decimal(5) / 66, Decimal(-691) / 2730]
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


def lf(n):
    """log n!"""
    n = int(n)
    if n < 2000:
        return sum((Decimal(i).ln() for i in range(2, n + 1)), Decimal(0))
    x = Decimal(n)
    series = sum(b / (2 * k * (2 * k - 1) * x ** (2 * k - 1)) for k, b in enumerate(BERNOULLI, start=1))
    return x * x.ln() - x + (2 * PI * x).ln() / 2 + series


def binomial(n, k):
    return lf(n) - lf(k) - lf(n - k)


def groupings(n_values, n_groups):
    """log B(V, I)"""
    table = [1]  # Stirling numbers of the second kind, S(v, i) at index i
    for v in range(1, n_values + 1):
        before = [*table, 0]
        table = [0, *(before[i - 1] + i * before[i] for i in range(1, v + 1))]
    return Decimal(sum(table[: n_groups + 1])).ln()


def parts_of(column, partition):
    """The part of each value, by its own look at bounds and groups."""
    if partition.kind == "numerical":
        return [int(np.searchsorted(partition.bounds, x)) for x in column]
    return [next(i for i, group in enumerate(partition.groups) if x in group) for x in column]


def by(weights, *keys):
    """Rows of each combination of keys that occurs."""
    rows = {}
    for w, key in zip(weights, zip(*keys, strict=True), strict=True):
        rows[key] = rows.get(key, 0) + int(w)
    return rows


def values_cost(column, parts, weights, categorical):
    """The lines of a variable whose values are coded: of a joint grid, or a target that is partitioned."""
    n, n_parts, rows = sum(map(int, weights)), len(set(parts)), by(weights, parts)
    cost = sum(lf(m) for m in rows.values())
    if not categorical:
        return cost + Decimal(n).ln()
    values = by(weights, column)
    cost += Decimal(len(values)).ln() + groupings(len(values), n_parts) - sum(lf(m) for m in values.values())
    for (part,), m in rows.items():
        n_values = len({x for x, i in zip(column, parts, strict=True) if i == part})
        cost += binomial(m + n_values - 1, n_values - 1)
    return cost


def input_cost(column, parts, weights, categorical):
    n, n_parts, n_values = sum(map(int, weights)), len(set(parts)), len(set(column))
    if categorical:
        return Decimal(n_values).ln() + groupings(n_values, n_parts)
    return Decimal(n).ln() + binomial(n + n_parts - 1, n_parts - 1)


def exact_cost(model, columns, target, weights):
    """FORMULAS of one column with classes, of grids with classes, joint ones, and those of a partitioned target."""
    n, names = sum(map(int, weights)), list(columns)
    parts = {name: parts_of(columns[name], model.partitions[name]) for name in names}
    kinds = {name: model.partitions[name].kind == "categorical" for name in names}
    if model.problem == "joint":
        n_cells = int(np.prod([len(set(of)) for of in parts.values()]))
        cost = binomial(n + n_cells - 1, n_cells - 1) + lf(n)
        cost -= sum(lf(m) for m in by(weights, *parts.values()).values())
        return cost + sum(values_cost(columns[x], parts[x], weights, kinds[x]) for x in names)
    if model.problem in ("grouped", "numerical"):
        (name,) = names
        of_target = parts_of(target, model.target)
        n_parts = len(set(of_target))
        cost = input_cost(columns[name], parts[name], weights, kinds[name])
        cost += values_cost(target, of_target, weights, model.target.kind == "categorical")
        cost += sum(binomial(m + n_parts - 1, n_parts - 1) + lf(m) for m in by(weights, parts[name]).values())
        return cost - sum(lf(m) for m in by(weights, parts[name], of_target).values())
    n_classes, cost = len(set(target)), Decimal(0)
    chosen = [name for name in names if len(set(parts[name])) > 1] if model.problem == "grid" else names
    cost += sum(input_cost(columns[x], parts[x], weights, kinds[x]) for x in chosen)
    if model.problem == "grid":
        cost += Decimal(len(names) + 1).ln() + binomial(len(names) + len(chosen) - 1, len(chosen))
    cells = by(weights, *parts.values())
    cost += sum(binomial(m + n_classes - 1, n_classes - 1) + lf(m) for m in cells.values())
    return cost - sum(lf(m) for m in by(weights, *parts.values(), target).values())


A = np.repeat(np.arange(4), 4)
B = np.tile(np.arange(4), 4)
LETTERS = np.array(list("abcd"))
ONE_CELL = np.array([1000] + [20] * 15)  # the largest is filled up
DIAGONAL = np.where(A == B, 1000, 3)
KINDS = {
    "classes": ({"a": A.astype(float)}, LETTERS[B], {}),
    "values": ({"a": LETTERS[A]}, LETTERS[B], {}),
    "grid": ({"a": A.astype(float), "b": LETTERS[B]}, LETTERS[(A + B) // 2], {}),
    "joint values": ({"a": LETTERS[A], "b": LETTERS[B]}, None, {}),
    "joint numbers": ({"a": A.astype(float), "b": B.astype(float)}, None, {}),
    "joint of three": ({"a": LETTERS[A], "b": LETTERS[B], "c": (A + B).astype(float)}, None, {}),
    "grouped": ({"a": A.astype(float)}, LETTERS[B], {"target_kind": "grouped"}),
    "grouped values": ({"a": LETTERS[A]}, LETTERS[B], {"target_kind": "grouped"}),
    "numerical": ({"a": A.astype(float)}, B + 0.5, {"target_kind": "numerical"}),
}


SEARCHES = {"classes": "auto", "values": "auto"}
PAIRS = ("joint values", "joint numbers", "grouped", "grouped values", "numerical")  # counts are 64 bits wide anyway


@pytest.mark.parametrize("kind", KINDS)
def test_costs_keep_their_digits(kind):
    most = 2**36 if KINDS[kind][2] else 2**53 - 1
    for total in (10**5, 2**24 + 5, 2**31 - 1, *([most] if kind in PAIRS else [])):
        assert_digits(kind, total)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in PAIRS])
def test_costs_keep_their_digits_up_to_the_largest_weights(kind):
    for total in (2**31, 2**44, 2**53 - 1):
        assert_digits(kind, total)


def assert_digits(kind, total):
    """The cost is that of exact arithmetic, the price of the same partitions, and one that `verify` agrees to."""
    columns, target, asked = KINDS[kind]
    for weights in (ONE_CELL, DIAGONAL):
        largest = np.flatnonzero(weights == weights.max())
        weights = np.where(weights == weights.max(), (total - weights[weights < 1000].sum()) // len(largest), weights)
        weights[largest[0]] += total - weights.sum()
        model = optimize(columns, target, weights=weights, search=SEARCHES.get(kind, "merge"), **asked)
        assert model.n_rows == total
        again = price(columns, target, model.all_partitions, weights=weights, **asked)
        with localcontext() as context:
            context.prec = 60
            exact = float(exact_cost(model, columns, target, weights))
        assert again == pytest.approx(model.cost, rel=1e-12)
        digits = 1e-9 if total < 2**28 else 1e-12  # of cells below 2^24 rows, log n! as it is
        assert model.cost == pytest.approx(exact, rel=digits, abs=1e-4 if "grouped" in kind else 1e-10)
        checked = verify(model, columns, target, weights=weights)
        assert checked, checked.reason


def test_larger_weights_than_digits_allow_are_refused_with_the_largest():
    columns, target, asked = KINDS["grouped"]
    with pytest.raises(ValueError, match=f"sum to {16 * 2**33} rows.* up to {2**36} rows"):
        optimize(columns, target, weights=np.full(16, 2**33), **asked)
    with pytest.raises(ValueError, match=f"more than {2**53 - 1} rows"):
        optimize({"a": A, "b": B}, weights=np.full(16, 2**50))


@pytest.mark.parametrize("criterion", ["g2", "g2-normal", "x2", "x2-normal"])
def test_statistics_keep_their_digits_up_to_the_largest_weights(criterion):
    """Of an independent table they are 0, as a small difference of sums that are large."""
    x, y, weights = [0, 0, 1, 1], ["a", "b", "a", "b"], [2**29 - 1, 2**29, 2**29, 2**29]
    exact = price(x, y, {"x0": [0.5]}, criterion=criterion, weights=[w // 2**9 for w in weights])
    assert price(x, y, {"x0": [0.5]}, criterion=criterion, weights=weights) == pytest.approx(exact, abs=2e-3)
    with pytest.raises(ValueError, match="up to 2147483648 rows"):
        price(x, y, {"x0": [0.5]}, criterion=criterion, weights=[2**30] * 4)


def test_files_of_many_rows_fit_the_schema_and_older_ones_are_read():
    """From 2^24 rows on a unit is taken off each log n!; files from before have the plain sum."""
    data, weights = {"a": list("uvuv"), "b": list("ssqq")}, [2**24, 2, 3, 2**24]
    model = optimize(data, weights=weights, search="merge")
    text = model.to_json()
    jsonschema.validate(json.loads(text), json_schema("model"))
    assert sorted(Model.from_json(text).partitions["a"].value_rows) == [2**24 + 2, 2**24 + 3]
    costs = [merge.cost for merge in model.hierarchy().steps]
    for unit in (0.0, math.log(2**25 + 5) - 1.0):
        older = json.loads(text) | {"version": 4}
        for field in ("event", "event_is_default", "limits", "resolution", "sample_rows", "stability"):
            del older[field]
        for partition in older["partitions"]:
            rows = partition.pop("value_rows")
            for field in set(partition) - {*PARTITION_FIELDS_4[partition["kind"]]}:
                del partition[field]
            partition["log_value_factorials"] = math.fsum(math.lgamma(n + 1.0) - n * unit for n in rows)
        read = Model.from_json(json.dumps(older))
        assert [merge.cost for merge in read.hierarchy().steps] == pytest.approx(costs, abs=1e-6)


def test_semi_supervised_costs_keep_their_digits():
    """One part of 2^45 unlabelled rows and 600 labelled ones of two classes."""
    x, y, weights = [1, 1, 1], ["a", "b", "?"], [400, 200, 2**45]
    n, free = sum(weights), 2**45
    with localcontext() as context:
        context.prec = 60
        best = min(
            lf(n) - lf(free) - lf(k) - lf(n - k) + lf(k - 400) + lf(n - k - 200)
            for k in range((n * 2) // 3 - 3, (n * 2) // 3 + 4)
        )
        exact = float(Decimal(n).ln() + binomial(n + 1, 1) + best)
    assert price(x, y, {"x0": []}, weights=weights, unlabelled="?") == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("n", [5, 4000, 4096, 5000, 2**24, 2**33 + 1, 2**53 - 5])
@pytest.mark.parametrize("k", [0, 1, 7, 99, 100, 4000, 4097, 10**6, 2**45])
def test_binomials_keep_their_digits(n, k):
    with localcontext() as context:
        context.prec = 60
        exact = float(binomial(n + k, k))
        rising = float(lf(n + k) - lf(n))
        large = float(lf(2**60 + n) - lf(2**60) - lf(n))
    assert codelength.log_binomial(n + k, k) == pytest.approx(exact, rel=1e-13, abs=2e-11)
    assert codelength.log_binomial(n + k, n) == pytest.approx(exact, rel=1e-13, abs=2e-11)
    assert codelength.log_compositions(n, k + 1.0) == pytest.approx(exact, rel=1e-13, abs=2e-11)
    assert codelength.log_rising(n, k) == pytest.approx(rising, rel=1e-13, abs=2e-11)
    assert codelength.log_compositions(n, 2.0**60 + 1) == pytest.approx(large, rel=1e-13)
