"""Special codes and monotone shares through optimize, against enumeration by the slow and obvious terms."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import naive

from gridmodl import Model, get_criterion, optimize, optimize_each, price, verify

STEP = [0] * 5 + [1] * 5
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def only(model):
    return model.partitions["x0"]


def naive_price(values, parts, target, criterion="modl"):
    return naive.price(get_criterion(criterion), "classes", [naive.Column(values, parts)], target)


def all_parts(values, codes):
    """Every partition of a numerical column, as the part of each row and which parts are intervals in order.

    Missing values stand apart or join the lowest interval; special codes are parts of their own.
    """
    missing = [math.isnan(value) for value in values]
    ordinary = sorted({value for value in values if not math.isnan(value) and value not in codes})
    aparts = [True, False] if any(missing) and ordinary else [any(missing)]
    for is_apart in aparts:
        for cuts in naive.partitions_of(max(len(ordinary), 1)):
            starts = [ordinary[i] for i in cuts]
            parts = []
            for value, absent in zip(values, missing, strict=True):
                if absent:
                    parts.append("missing" if is_apart else 0)
                elif value in codes:
                    parts.append(f"code {value}")
                else:
                    parts.append(sum(value >= start for start in starts))
            yield parts


def rows_of(parts, target):
    return {part: [c for p, c in zip(parts, target, strict=True) if p == part] for part in dict.fromkeys(parts)}


def is_kept(parts, target, max_parts, min_rows):
    """Whether limits hold: special codes may have few rows, and so may whatever part is left beside them.

    Missing values apart may have few rows, too, if the parts beside them have not. Neither counts for max_parts.
    """
    rows = rows_of(parts, target)
    ordinary = [len(members) for part, members in rows.items() if isinstance(part, int)]
    is_free = len(ordinary) <= 1 and "missing" not in rows
    return len(ordinary) <= max_parts and (is_free or min(ordinary, default=min_rows) >= min_rows)


def is_monotone(parts, target, way):
    rows = rows_of(parts, target)
    shares = [sum(rows[part]) / len(rows[part]) for part in sorted(p for p in rows if isinstance(p, int))]
    pairs = list(itertools.pairwise(shares))
    rises, falls = [a <= b + 1e-12 for a, b in pairs], [a >= b - 1e-12 for a, b in pairs]
    turns = range(len(pairs) + 1)
    kept = {
        "increasing": all(rises),
        "decreasing": all(falls),
        "peak": any(all(rises[:k]) and all(falls[k:]) for k in turns),
        "valley": any(all(falls[:k]) and all(rises[k:]) for k in turns),
    }
    return way is None or (any(kept.values()) if way == "auto" else kept[way])


def lowest(values, target, codes=(), way=None, max_parts=99, min_rows=1, criterion="modl"):
    return min(
        naive_price(values, parts, target, criterion)
        for parts in all_parts(values, codes)
        if is_kept(parts, target, max_parts, min_rows) and is_monotone(parts, target, way)
    )


def part_names(partition, codes):
    apart = partition.labels[0] == "missing"
    return ["missing"] * apart + list(range(len(partition.bounds) + 1)) + [f"code {code}" for code in codes]


def named_parts(model, values, codes):
    """The part of each row as `all_parts` names it."""
    names = part_names(only(model), codes)
    return [names[part] for part in model.transform(values).tolist()]


@st.composite
def samples(draw, max_rows=10, n_classes=2):
    """Few rows with ties, missing values, and up to two special codes."""
    n = draw(st.integers(2, max_rows))
    values = draw(st.lists(st.sampled_from([math.nan, -9.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0]), min_size=n, max_size=n))
    target = draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    target[:n_classes] = range(n_classes) if n >= n_classes else target[:n_classes]
    codes = draw(st.sampled_from([(), (-9.0,), (-1.0, -9.0), (2.0,), (-9.0, 77.0)]))
    return values, target, codes


# Special codes.


@pytest.mark.parametrize("search", ["exact", "merge"])
@few
@given(sample=samples(n_classes=3), max_parts=st.integers(1, 4), min_rows=st.integers(1, 3), limited=st.booleans())
def test_codes_are_parts_of_their_own_at_their_true_price(search, sample, max_parts, min_rows, limited):
    values, target, codes = sample
    limits = {"max_parts": max_parts, "min_rows": min_rows} if limited else {}
    model = optimize(values, target, special={"x0": codes}, search=search, **limits)
    partition = only(model)
    assert partition.special.tolist() == list(codes)
    assert partition.n_parts == len(partition.labels)
    assert len(partition.bounds) + 1 + len(codes) <= partition.n_parts
    parts = named_parts(model, values, codes)
    for value, part in zip(values, parts, strict=True):
        assert (part == f"code {value}") == (value in codes)
    rows = rows_of(parts, target)
    assert is_kept(parts, target, max_parts if limited else 99, min_rows if limited else 1)
    wanted = [[rows.get(name, []).count(c) for c in model.classes.tolist()] for name in part_names(partition, codes)]
    assert partition.counts.tolist() == wanted
    assert model.cost == pytest.approx(naive_price(values, parts, target), rel=1e-9, abs=1e-9)
    assert model.null_cost == pytest.approx(naive_price(values, [0] * len(values), target), rel=1e-9, abs=1e-9)
    best = lowest(values, target, codes, **limits)
    assert model.cost >= best - 1e-9
    if search == "exact":
        assert model.proven
        assert model.cost == pytest.approx(best, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("criterion", ["modl", "mdlp", "g2"])
def test_codes_under_other_criteria(criterion):
    values = [-9.0, 0.0, 1.0, 1.0, 2.0, math.nan, -9.0, 3.0, 4.0, 4.0, math.nan, 5.0]
    target = [1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0]
    model = optimize(values, target, special={"x0": [-9]}, search="exact", criterion=criterion)
    assert model.cost == pytest.approx(lowest(values, target, (-9.0,), criterion=criterion), rel=1e-9)
    assert price(values, target, model.partitions, criterion=criterion) == pytest.approx(model.cost, rel=1e-10)


def test_the_level_may_fall_below_zero():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 5, 60).astype(float)
    target = rng.integers(0, 2, 60)
    model = optimize(values, target, special={"x0": [0, 1, 2, 3]})
    assert model.level < 0
    assert model.cost > model.null_cost
    assert f"level {model.level:.4f}" in model.summary()


def test_a_code_that_no_row_has():
    plain, model = optimize(np.arange(10.0), STEP), optimize(np.arange(10.0), STEP, special={"x0": [-9]})
    assert (model.cost, model.null_cost) == (plain.cost, plain.null_cost)
    assert only(model).labels == ["(-inf, 4.5]", "(4.5, inf)", "special -9"]
    assert only(model).counts.tolist() == [[5, 0], [0, 5], [0, 0]]
    assert model.transform([-9.0, -8.0]).tolist() == [2, 0]


@pytest.mark.parametrize("search", ["exact", "merge"])
def test_nothing_but_codes(search):
    values = [-9.0, -1.0] * 5
    model = optimize(values, STEP, special={"x0": [-1, -9]}, search=search)
    assert only(model).counts.tolist() == [[0, 0], [2, 3], [3, 2]]
    assert model.cost == pytest.approx(naive_price(values, values, STEP), rel=1e-12)
    assert model.null_cost == pytest.approx(naive_price(values, [0] * 10, STEP), rel=1e-12)
    assert model.transform([5.0, -1.0, -9.0, math.nan]).tolist() == [0, 1, 2, -1]
    assert model.proven
    assert price(values, STEP, model.partitions) == pytest.approx(model.cost, rel=1e-12)


def test_nothing_but_codes_and_missing_values():
    values = [-9.0, math.nan] * 5
    model = optimize(values, STEP, special={"x0": [-9]})
    assert only(model).counts.sum(axis=1).tolist() == [5, 5]
    assert only(model).missing == 0
    assert model.cost == pytest.approx(naive_price(values, [0, 1] * 5, STEP), rel=1e-12)


def test_max_parts_does_not_count_the_codes():
    values, target = [-9.0, -1.0, *range(40), math.nan], [0, 1, *[0] * 20, *[1] * 20, 1]
    for max_parts in (1, 2, 3):
        model = optimize(values, target, special={"x0": [-9, -1]}, max_parts=max_parts, missing="apart")
        assert len(only(model).bounds) == min(max_parts - 1, 1)
        assert only(model).n_parts == 4 + len(only(model).bounds)
        assert verify(model, values, target), verify(model, values, target).reason
    forged = replace(model, certificate=replace(model.certificate, max_parts=1))
    assert verify(forged, values, target).reason.startswith("column 'x0' has 2 parts besides special ones and missing")


def test_codes_may_have_few_rows():
    model = optimize([-9.0, *range(20)], [1, *[0] * 10, *[1] * 10], special={"x0": [-9]}, min_rows=10)
    assert only(model).counts.sum(axis=1).tolist() == [10, 10, 1]


@pytest.mark.parametrize(
    ("data", "code", "label"),
    [
        (np.array([0.1] * 4 + [0.2, 0.3, 0.4, 0.5, 0.6, 0.7], dtype=np.float32), 0.1, "0.1"),
        (pd.Series([0.1] * 4 + [0.2, 0.3, 0.4, 0.5, 0.6, 0.7], dtype="float32"), 0.1, "0.1"),
        (np.array([-9] * 4 + list(range(6)), dtype=np.int8), -9, "-9"),
        (np.array([0] * 4 + list(range(1, 7)), dtype=np.uint8), 0, "0"),
        (np.array([-9] * 4 + [2**60 + i for i in range(6)]), -9, "-9"),
        (np.array([2**60] * 4 + [2**60 + i for i in range(1, 7)]), 2**60, str(2**60)),
        (pd.Series([0] * 4 + [1, 2, 3, 4, None, None], dtype="Int64"), 0, "0"),
        (pl.Series([0] * 4 + [1, 2, 3, 2**60, None, None]), 0, "0"),
        (np.array([np.inf] * 4 + list(range(6))), np.inf, "inf"),
        (np.array([-0.0] * 4 + list(range(1, 7))), 0, "0"),
        (np.array([3] * 4 + list(range(5, 11)), dtype="M8[D]"), np.datetime64("1970-01-04"), "1970-01-04"),
        (pd.Series(pd.to_datetime(["1900-01-01"] * 4 + ["2024-01-02"] * 6)), np.datetime64("1900-01-01"), "1900-01-01"),
        (np.array([-1] * 4 + list(range(6)), dtype="m8[D]"), np.timedelta64(-24, "h"), "-1 day"),
    ],
    ids=lambda value: f"{type(value).__module__}-{getattr(value, 'dtype', '')}",
)  # fmt: skip
def test_codes_of_every_type(data, code, label):
    model = optimize(data, STEP, special={"x0": [code]})
    partition = only(model)
    assert partition.counts[-1].tolist() == [4, 0]
    assert partition.labels[-1].startswith(f"special {label}")
    assert model.transform(data).tolist()[:4] == [partition.n_parts - 1] * 4
    assert partition.n_parts - 1 not in model.transform(data).tolist()[4:]
    assert price(data, STEP, model.partitions) == pytest.approx(model.cost, rel=1e-10)
    if partition.missing is not None:
        assert model.transform(data).tolist()[-1] == 0


def test_codes_in_every_container():
    wanted = optimize(np.arange(10.0), STEP, special={"x0": [3, 1]})
    for codes in ((3, 1), np.array([3, 1]), np.array([3.0, 1.0]), pd.Series([3, 1]), pl.Series([3, 1]), [3, 1, 3]):
        model = optimize(np.arange(10.0), STEP, special={"x0": codes})
        assert only(model).labels == wanted.partitions["x0"].labels
        assert model.cost == wanted.cost
    assert only(optimize(np.arange(10.0), STEP, special={"x0": 3})).special.tolist() == [3.0]
    assert only(optimize(np.arange(10.0), STEP, special={"x0": []})).special.tolist() == []
    assert only(optimize(np.arange(10.0), STEP, special={})).special.tolist() == []


def test_a_value_beside_a_code_is_no_code():
    """A bound may be rounded to for a comparison, a code may not."""
    days = np.datetime64("2024-01-01") + np.array([0] * 4 + list(range(5, 11)))
    model = optimize(days, STEP, special={"x0": [np.datetime64("2024-01-01")]})
    code = only(model).n_parts - 1
    hours = np.array(["2023-12-31T23", "2024-01-01T00", "2024-01-01T01"], dtype="M8[h]")
    assert (model.transform(hours) == code).tolist() == [False, True, False]
    model = optimize(np.array([1] * 4 + [2**60 + i for i in range(6)]), STEP, special={"x0": [1]})
    code = only(model).n_parts - 1
    assert (model.transform([0.5, 1.0, 1.5]) == code).tolist() == [False, True, False]
    model = optimize(np.array([float(2**60)] * 4 + list(range(6))), STEP, special={"x0": [2.0**60]})
    code = only(model).n_parts - 1
    assert (model.transform([2**60 - 1, 2**60, 2**60 + 1]) == code).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("data", "codes", "error", "message"),
    [
        (np.arange(10.0), [math.nan], ValueError, "special of column 'x0' holds a missing value"),
        (np.arange(10.0), [None], ValueError, "special of column 'x0' holds a missing value"),
        (np.arange(10).astype("M8[D]"), [np.datetime64("NaT")], ValueError, "special of column 'x0' holds a missing"),
        (np.arange(10.0), ["a"], TypeError, "special of column 'x0'"),
        (np.arange(10.0), "a", TypeError, "special of column 'x0'"),
        (np.arange(10.0), [[[1, 2]]], (TypeError, ValueError), "special of column 'x0'"),
        (np.arange(10.0), [1j], TypeError, "special of column 'x0'"),
        (np.arange(10.0), [np.datetime64(3, "D")], TypeError, "special of column 'x0' holds datetime64"),
        (np.arange(10).astype("M8[D]"), [3], TypeError, r"special of column 'x0' holds .*, the column datetime64\[D\]"),
        (
            np.arange(10).astype("M8[D]"),
            [np.timedelta64(3, "D")],
            TypeError,
            "special of column 'x0' holds timedelta64",
        ),
        (np.arange(10).astype("M8[D]"), [np.datetime64(13, "h")], ValueError, "special of column 'x0'"),
        (np.arange(2**60, 2**60 + 10), [0.5], ValueError, "special of column 'x0' holds numbers that int64 cannot"),
    ],
)
def test_codes_that_mean_nothing(data, codes, error, message):
    with pytest.raises(error, match=message):
        optimize(data, STEP, special={"x0": codes})


@pytest.mark.parametrize("special", [3, "x0", ["x0"], [[3, "x0"]], {"x0"}, [True]])
def test_special_is_a_dict_or_a_list_of_numbers(special):
    with pytest.raises(TypeError, match="special must be a list of numbers, codes of all columns of numbers"):
        optimize(np.arange(10.0), STEP, special=special)


@pytest.mark.parametrize("codes", [[-9, -1], [[-9, -1]], (-9, -1), np.array([-9, -1])])
def test_codes_of_all_columns_are_of_those_of_numbers(codes):
    values = [-9.0, -1.0, *range(8)]
    days = np.arange(10).astype("M8[D]")
    columns = {"x": values, "n": [3] * 5 + [-9] * 5, "town": list("ab") * 5, "day": days, "grade": list("ab") * 5}
    order = {"grade": ["a", "b"]}
    models = optimize_each(columns, STEP, special=codes, order=order)
    assert not models.errors
    by_name = optimize_each(columns, STEP, special={"x": codes, "n": codes}, order=order)
    for name, model in by_name.items():
        assert models[name].partitions[name].labels == model.partitions[name].labels
        assert models[name].cost == model.cost
    assert [models[name].partitions[name].n_special for name in ("town", "day", "grade")] == [0, 0, 0]
    assert models["n"].partitions["n"].n_special == len(codes)
    given = Model.from_partitions({"x": values}, STEP, {"x": [3]}, special=codes)
    assert given.partitions["x"].n_special == len(codes)
    both = {name: columns[name] for name in ("x", "n")}
    assert optimize(both, STEP, special=codes).cost == optimize(both, STEP, special=dict.fromkeys(both, codes)).cost


def test_special_of_a_column_that_is_not_there():
    with pytest.raises(ValueError, match="special names column 'x1'; the data has 'x0'"):
        optimize(np.arange(10.0), STEP, special={"x1": [3]})


def test_given_bounds_beside_codes():
    values = [-9.0, -9.0, -1.0, *range(7)]
    model = Model.from_partitions(values, STEP, {"x0": [3]}, special={"x0": [-1, -9]})
    assert only(model).labels == ["(-inf, 3.0]", "(3.0, inf)", "special -1", "special -9"]
    assert model.cost == pytest.approx(naive_price(values, [3, 3, 2, 0, 0, 0, 0, 1, 1, 1], STEP), rel=1e-12)
    with_missing = [math.nan, *values[1:]]
    model = Model.from_partitions(with_missing, STEP, {"x0": [math.nan]}, special={"x0": [-9]})
    assert only(model).counts.sum(axis=1).tolist() == [1, 8, 1]


def test_codes_and_weights():
    values, weights = [-9.0, 0.0, 1.0, 2.0, 3.0, 4.0, -9.0, 5.0, 6.0, 7.0], [3, 0, 1, 2, 1, 4, 2, 2, 1, 1]
    model = optimize(values, STEP, special={"x0": [-9]}, weights=weights)
    wanted = optimize(np.repeat(values, weights), np.repeat(STEP, weights), special={"x0": [-9]})
    assert (model.cost, model.null_cost) == (wanted.cost, wanted.null_cost)
    assert only(model).counts.tolist() == only(wanted).counts.tolist()


# Monotone shares.


@pytest.mark.parametrize("way", ["increasing", "decreasing", "peak", "valley", "auto"])
@few
@given(sample=samples(), max_parts=st.integers(1, 4), min_rows=st.integers(1, 3), limited=st.booleans())
def test_monotone_partitions_are_the_cheapest_of_all_monotone_ones(way, sample, max_parts, min_rows, limited):
    values, target, codes = sample
    limits = {"max_parts": max_parts, "min_rows": min_rows} if limited else {}
    model = optimize(values, target, special={"x0": codes}, monotone=way, **limits)
    parts = named_parts(model, values, codes)
    assert is_monotone(parts, target, way)
    assert is_kept(parts, target, max_parts if limited else 99, min_rows if limited else 1)
    assert model.cost == pytest.approx(naive_price(values, parts, target), rel=1e-9, abs=1e-9)
    assert model.proven
    assert model.cost == pytest.approx(lowest(values, target, codes, way, **limits), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("target", [[1] * 6 + [0] * 20 + [1] * 20, [1] * 40 + [0] * 2], ids=["missing", "others"])
@pytest.mark.parametrize("way", ["increasing", "auto"])
def test_missing_values_apart_need_no_rows_and_the_others_do(target, way):
    n_missing = target.index(0)
    values = [math.nan] * n_missing + [float(i) for i in range(len(target) - n_missing)]
    free, model = (optimize(values, target, monotone=way, min_rows=n) for n in (1, 10))
    assert only(free).labels[0] == "missing"
    assert only(free).counts.sum(axis=1).min() < 10
    others = only(model).counts.sum(axis=1)[int(only(model).is_missing_apart) :]
    assert only(model).n_parts == 1 or others.min() >= 10


def zigzag():
    rng = np.random.default_rng(4)
    values = np.arange(300.0)
    share = np.select([values < 60, values < 120, values < 180, values < 240], [0.05, 0.6, 0.25, 0.7], 0.95)
    return values, (rng.random(300) < share).astype(int)


def test_monotone_costs_more_than_free_and_less_than_nothing():
    values, target = zigzag()
    free = optimize(values, target)
    assert not is_monotone(only(free).part_of(values).tolist(), target.tolist(), "increasing")
    rising = optimize(values, target, monotone="increasing")
    falling = optimize(values, target, monotone="decreasing")
    auto = optimize(values, target, monotone="auto")
    assert free.cost < rising.cost < falling.cost == falling.null_cost
    turning = [optimize(values, target, monotone=order) for order in ("peak", "valley")]
    assert auto.cost == min(one.cost for one in turning) <= rising.cost + 1e-9
    assert only(rising).n_parts > 2
    shares = only(rising).counts[:, 1] / only(rising).counts.sum(axis=1)
    assert np.all(np.diff(shares) >= 0)


SHARES = {
    "increasing": [0.1, 0.3, 0.7, 0.9],
    "decreasing": [0.9, 0.7, 0.3, 0.1],
    "peak": [0.1, 0.4, 0.9, 0.2],
    "valley": [0.9, 0.5, 0.1, 0.8],
}


@pytest.mark.parametrize("order", SHARES)
@pytest.mark.parametrize("more", [{}, {"min_rows": 30, "max_parts": 4}, {"missing": "apart"}], ids=str)
def test_auto_takes_the_cheapest_of_all_orders_and_says_which(order, more):
    values = np.arange(400.0)
    target = (np.random.default_rng(5).random(400) < np.repeat(SHARES[order], 100)).astype(int)
    values[::40], target[::40] = np.nan, 1
    auto = optimize(values, target, monotone="auto", **more)
    costs = [optimize(values, target, monotone=one, **more).cost for one in SHARES]
    assert auto.cost == min(costs) == pytest.approx(costs[list(SHARES).index(order)], rel=1e-12)
    assert auto.proven
    assert (auto.certificate.monotone, auto.certificate.order) == ("auto", order)
    assert verify(auto, values, target)
    said = f"shares that are monotone (auto: {order})"
    assert said in " ".join(auto.summary().split())
    assert said in auto.to_html()
    again = Model.from_json(auto.to_json())
    assert again.certificate == auto.certificate
    other = next(one for one in SHARES if one not in (order, "peak", "valley"))
    forged = replace(auto, certificate=replace(auto.certificate, order=other))
    assert "do not keep the limits" in verify(forged, values, target).reason


def test_auto_of_one_part_has_no_order():
    model = optimize(np.arange(10.0), STEP, monotone="auto", max_parts=1)
    assert (model.certificate.monotone, model.certificate.order) == ("auto", None)
    assert "monotone (auto)" in model.summary()


def test_the_share_is_that_of_the_second_class():
    values, target = zigzag()
    names = np.array(["good", "bad"])[target]  # sorted: bad comes first, so good is the second class
    wanted = optimize(values, target, monotone="increasing")
    assert optimize(values, names, monotone="decreasing").cost == pytest.approx(wanted.cost, rel=1e-12)
    assert only(optimize(values, names, monotone="increasing")).n_parts == 1


def test_monotone_partitions_hold_with_weights():
    values, target = zigzag()
    weights = np.arange(300) % 4
    model = optimize(values, target, weights=weights, monotone="auto")
    wanted = optimize(np.repeat(values, weights), np.repeat(target, weights), monotone="auto")
    assert model.cost == wanted.cost
    assert only(model).bounds.tolist() == only(wanted).bounds.tolist()


@pytest.mark.parametrize("monotone", ["up", "Increasing", True, 1, ["increasing"]])
def test_monotone_that_means_nothing(monotone):
    with pytest.raises(
        ValueError, match="monotone must be one of 'increasing', 'decreasing', 'peak', 'valley', 'auto' or None"
    ):
        optimize(np.arange(10.0), STEP, monotone=monotone)


def test_monotone_needs_an_event():
    with pytest.raises(ValueError, match=r"monotone= compares the shares of a class.* the target has one class"):
        optimize(np.arange(10.0), ["a"] * 10, monotone="auto")


def test_monotone_needs_numbers():
    with pytest.raises(ValueError, match=r"column 'x0' is categorical; monotone= is for intervals"):
        optimize(list("ab") * 5, STEP, monotone="auto")
    with pytest.raises(ValueError, match=r"column 'x0' is categorical; monotone= is for intervals"):
        optimize(np.arange(10), STEP, monotone="auto", kinds={"x0": "categorical"})


def test_monotone_without_time_gives_the_null_model():
    model = optimize(*zigzag(), monotone="auto", time_limit=0)
    assert (model.stopped, model.proven, only(model).n_parts) == ("time limit", False, 1)
    assert model.cost == model.null_cost


@pytest.mark.parametrize("criterion", ["gini", "g2"])
def test_monotone_under_other_criteria(criterion):
    values = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    target = [0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 1]
    values = [float(value) for value in values]
    for way in ("increasing", "decreasing", "auto"):
        model = optimize(values, target, monotone=way, criterion=criterion)
        assert model.cost == pytest.approx(lowest(values, target, way=way, criterion=criterion), rel=1e-9)


def test_codes_that_no_row_has_are_parts_too_and_do_not_count():
    data, target = [1.0, 2.0, 3.0, 4.0] * 10, [0, 0, 1, 1] * 10
    assert optimize(data, target, special={"x0": [-9, -8]}, max_parts=1).partitions["x0"].n_parts == 3
    assert optimize(data, target, special={"x0": [-9, -8]}, max_parts=2).partitions["x0"].n_parts == 4


def test_special_codes_beside_a_partition_that_has_none():
    model = optimize([1.0, 2.0, 3.0, 4.0] * 10, [0, 0, 1, 1] * 10)
    with pytest.raises(ValueError, match="special= names other values"):
        Model.from_partitions([1.0, 2.0, 3.0, -9.0], [0, 0, 1, 1], {"x0": model.partitions["x0"]}, special={"x0": [-9]})


def test_the_search_of_a_monotone_partition_says_whether_it_is_a_proof():
    rng = np.random.default_rng(0)
    x = rng.random(5000)
    noise = optimize(x, rng.integers(0, 2, 5000), monotone="increasing")  # its optimum is one part
    assert (noise.search, noise.proven) == ("exact", True)
    model = optimize(x, rng.random(5000) < x, monotone="decreasing")  # far from the optimum
    assert (model.search, model.proven) == ("merge", False)
    assert model.gap > 100.0


@pytest.mark.parametrize("sign", [1, -1])
def test_a_code_is_not_rounded_to_a_value(sign):
    """As floats 2^53 and 2^53 + 1 are one number, and all rows were of the code."""
    x = pd.Series([sign * 2**53] * 4 + [None], dtype="Int64")
    model = optimize({"x": x}, [0, 1, 0, 1, 0], special={"x": [sign * (2**53 + 1)]})
    assert model.partitions["x"].rows[-1] == 0


@pytest.mark.parametrize("as_floats", [False, True])
def test_codes_are_written_as_users_write_them(as_floats):
    x = np.concatenate([np.arange(50), np.full(5, 99)])
    x, y = x.astype(float) if as_floats else x, x > 20
    model = optimize({"a": x}, y, special=[99])
    assert model.partitions["a"].labels[-1] == model.partitions["a"].names[-1] == "special 99"
    assert "99.0" not in model.summary()
    with pytest.raises(ValueError, match="part 2 is 'special 99', a code"):
        model.edit("a", merge=[1, 2])
    with pytest.raises(ValueError, match="has 98 in two parts"):
        optimize({"a": x}, y, special=[[99, 98], 98])
    with pytest.raises(ValueError, match="has the bound 99, with no values"):
        optimize({"a": x}, y, special=[99], fixed=[99])
    assert only(optimize(x / 2, y, special=[49.5])).labels[-1] == "special 49.5"


def test_dates_in_two_special_parts_are_written_as_dates():
    days = np.arange("2024-01-01", "2024-03-01", dtype="datetime64[D]")
    with pytest.raises(ValueError, match=r"has .*2024-01-05.* in two parts"):
        optimize({"a": days}, days > days[30], special={"a": [[days[3], days[4]], [days[4]]]})
