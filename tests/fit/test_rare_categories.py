"""Categorical columns of lazy frames with so many values that rare ones are counted together."""

from __future__ import annotations

import datetime as dt
import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from oracles.lazy_frames import ENGINES, as_duckdb, as_polars, collect, record

import gridmodl
from gridmodl import count, optimize, optimize_each, price, verify
from gridmodl.data.frames import object_array
from gridmodl.data.remote import counting
from gridmodl.fit.lazy import codes as lazy_codes
from gridmodl.fit.lazy import column as lazy_column
from gridmodl.fit.lazy import data as lazy_data
from gridmodl.fit.lazy import grid as lazy_grid


def as_text(numbers):
    return [None if one is None else f"Ä{one}" for one in numbers]


def as_days(numbers):
    return [None if one is None else dt.date(2024, 1, 1) + dt.timedelta(days=one) for one in numbers]


CATEGORIES = pytest.mark.parametrize("make", [as_text, list, as_days])


def many_categories(make, seed=0, n=3000):
    """Few frequent categories and many rare ones, of which 150 to 159 say much of the class, as missing values do."""
    rng = np.random.default_rng(seed)
    number = np.minimum(199, rng.geometric(0.1, n))
    number[:300], number[300:380] = np.tile(np.arange(100, 200), 3), np.tile(np.arange(150, 160), 8)
    rate = np.where((number >= 150) & (number < 160), 1.0, np.where(number == 1, 0.1, 0.5))
    rate[::11] = 0.9
    y = np.where(rng.random(n) < rate, "yes", "no")
    return pl.DataFrame({"x": make([None if i % 11 == 0 else one for i, one in enumerate(number.tolist())]), "y": y})


def few_are_counted(monkeypatch, max_groups=10):
    for module in (counting, lazy_column):
        monkeypatch.setattr(module, "MAX_VALUES", 50)
    for module in (counting, lazy_data):
        monkeypatch.setattr(module, "MAX_GROUPS", max_groups)


KINDS = {"kinds": {"x": "categorical"}}


@CATEGORIES
@ENGINES
def test_rare_ones_of_too_many_categories_are_counted_together(engine, make, monkeypatch):
    few_are_counted(monkeypatch)
    data = many_categories(make)
    model = optimize(engine(data), "y", **KINDS)
    partition = model.partitions["x"]
    sizes = dict(data["x"].drop_nulls().value_counts().iter_rows())
    least = int(partition.others.split()[-2])
    assert partition.others == f"(others < {least} rows)"
    listed = {value for group in partition.listed for value in group}
    assert listed == {one for one, n in sizes.items() if n >= least}
    assert 5 <= len(listed) <= 10
    assert (model.proven, model.gap) == (False, None)

    parts = model.transform(data["x"])
    np.testing.assert_array_equal(np.bincount(parts, minlength=partition.n_parts), partition.rows)
    lazily = collect(model.transform(engine(data)))
    np.testing.assert_array_equal(lazily["x"].to_numpy(), parts)
    unseen = pl.Series(make([5000, None]))
    for policy in ("neutral", "largest", "error"):  # it may have been there
        assert model.transform(unseen[:1], unknown=policy)[0] == partition.default
    again = gridmodl.Model.from_json(model.to_json())
    np.testing.assert_array_equal(again.transform(data["x"]), parts)
    assert again.partitions["x"].others == partition.others
    assert verify(model, engine(data), "y")
    query = model.to_sql("duckdb", table="data", output="parts")
    found = duckdb.connect().register("data", data.to_arrow()).sql(query).pl()
    np.testing.assert_array_equal(found.to_series(0).to_numpy(), parts)


@CATEGORIES
@ENGINES
def test_models_of_rare_categories_are_edited_and_compared(engine, make, monkeypatch):
    few_are_counted(monkeypatch)
    data = many_categories(make)
    model = optimize(engine(data), "y", **KINDS)
    partition = model.partitions["x"]
    assert partition.n_parts > 2
    merged = model.edit("x", merge=[(0, 1)])
    of_others = next(i for i, group in enumerate(merged.partitions["x"].groups) if partition.others in group)
    assert (merged.partitions["x"].default, merged.partitions["x"].others) == (of_others, partition.others)
    np.testing.assert_array_equal(np.bincount(merged.transform(data["x"])), merged.partitions["x"].rows)
    several = next(i for i, group in enumerate(partition.listed) if len(group) > 1)
    split = model.edit("x", split={several: [partition.listed[several][0]]})
    assert split.partitions["x"].others == partition.others
    np.testing.assert_array_equal(np.bincount(split.transform(data["x"])), split.partitions["x"].rows)
    other = many_categories(make, seed=7)
    rows = np.bincount(model.transform(other["x"]), minlength=partition.n_parts)
    for moved in (
        gridmodl.Model.from_partitions(engine(other), "y", {"x": partition}, **KINDS),
        optimize_each(engine(other), "y", partitions={"x": model}, **KINDS)["x"],
    ):
        np.testing.assert_array_equal(moved.partitions["x"].rows, rows)
        assert moved.partitions["x"].others == partition.others
        assert verify(moved, engine(other), "y")
        assert not verify(moved, engine(data), "y")
    here, there = (model.compare(one, "y") for one in (other, engine(other)))
    for found in (here, there):
        assert (found["x"].new_values, found["x"].vanished) == ({}, ())
    assert here.table("x", frame="pandas").equals(there.table("x", frame="pandas"))


@CATEGORIES
@ENGINES
def test_a_numerical_target_takes_too_many_categories(engine, make, monkeypatch):
    few_are_counted(monkeypatch)
    monkeypatch.setattr(lazy_data, "JOINT_ROWS", 100)
    monkeypatch.setattr(lazy_data, "JOINT_GROUPS", 64)
    data = many_categories(make)
    rng = np.random.default_rng(0)
    real = pl.Series("y", np.where(data["y"] == "yes", 3.0, 0.0) + rng.normal(size=len(data)))
    data = data.with_columns(real)
    model = optimize(engine(data), "y", target_kind="numerical", **KINDS)
    partition = model.partitions["x"]
    assert partition.others is not None
    np.testing.assert_array_equal(np.bincount(model.transform(data["x"])), partition.rows)
    assert model.resolution > 0  # of the target
    assert verify(model, engine(data), "y")


@CATEGORIES
@ENGINES
def test_rare_categories_are_asked_for_again_where_they_pay(engine, make, monkeypatch):
    few_are_counted(monkeypatch)
    data = many_categories(make)
    monkeypatch.setattr(lazy_column, "MAX_VALUES", 80)  # ten, then eighty
    model = optimize(engine(data), "y", **KINDS)
    listed = {value for group in model.partitions["x"].listed for value in group}
    assert set(make(range(150, 160))) <= listed
    assert 10 < len(listed) <= 80
    monkeypatch.setattr(lazy_column, "MAX_VALUES", 50)
    assert model.cost < optimize(engine(data), "y", **KINDS).cost
    noise = data.with_columns(pl.Series("y", np.random.default_rng(3).integers(0, 2, len(data))))
    monkeypatch.setattr(lazy_column, "MAX_VALUES", 80)
    of_noise = optimize(engine(noise), "y", **KINDS).partitions["x"]
    assert of_noise.n_parts == 1
    assert sum(map(len, of_noise.listed)) <= 10


def test_the_name_of_rare_categories_is_no_category(monkeypatch):
    few_are_counted(monkeypatch)
    data = many_categories(as_text)
    plain = optimize(data.lazy(), "y").partitions["x"].others
    data = data.with_columns(pl.col("x").replace("Ä1", plain))
    partition = optimize(data.lazy(), "y").partitions["x"]
    assert partition.others == f"({plain})"
    assert any(plain in group for group in partition.listed)
    np.testing.assert_array_equal(np.bincount(partition.part_of(data["x"])), partition.rows)


def test_rare_categories_are_the_same_on_all_engines(monkeypatch):
    few_are_counted(monkeypatch)
    data = many_categories(list)
    found = [optimize(engine(data[order]), "y", **KINDS) for engine in (as_polars, as_duckdb) for order in
             (slice(None), slice(None, None, -1))]  # fmt: skip
    assert all(record(one) == record(found[0]) for one in found)


@CATEGORIES
@ENGINES
def test_counts_of_too_many_categories_add_up(engine, make, monkeypatch, tmp_path):
    rng = np.random.default_rng(1)
    number = np.minimum(99, rng.geometric(0.07, 4000))
    y = np.where(rng.random(4000) < np.where(number == 1, 0.1, 0.6), "yes", "no")
    values = make([None if i % 13 == 0 else one for i, one in enumerate(number.tolist())])
    data = pl.DataFrame({"text": values, "y": y})
    monkeypatch.setattr(counting, "MAX_VALUES", 30)
    days = count(engine(data[:2000]), "y", max_groups=16, kinds={"text": "categorical"})
    assert days.columns["text"].rare is not None
    days.to_parquet(tmp_path / "days.parquet")
    days = gridmodl.Counts.from_parquet(tmp_path / "days.parquet")
    assert all(part["text"].n_unique() > 30 for part in (data[2000:3000], data[3000:]))
    days = days + count(engine(data[2000:3000]), like=days)
    days = days + count(engine(data[3000:]), like=days)
    kept, rare = days.columns["text"].frequent, days.columns["text"].rare
    assert 0 < len(kept) <= 16
    assert days["text"].column_names == ["low", "high", "class", "n", "is_rare"]
    values = [rare if one is not None and one not in kept else one for one in data["text"].to_list()]
    expected = optimize({"text": object_array(values)}, data["y"].to_numpy(), kinds={"text": "categorical"})
    found = optimize(days, kinds={"text": "categorical"})
    assert found.cost == expected.cost
    assert found.partitions["text"].groups == expected.partitions["text"].groups
    of_rare = next(i for i, group in enumerate(found.partitions["text"].groups) if rare in group)
    assert (found.partitions["text"].default, found.partitions["text"].others) == (of_rare, rare)
    assert found.transform(pl.Series(make([5000])))[0] == of_rare
    assert not found.proven
    monkeypatch.setattr(counting, "MAX_VALUES", 300)
    with pytest.raises(ValueError, match="have other categories that are rare"):
        days + count(engine(data), "y", max_groups=16, kinds={"text": "categorical"})


@CATEGORIES
@ENGINES
def test_special_values_are_never_rare(engine, make, monkeypatch):
    few_are_counted(monkeypatch)
    data = many_categories(make)
    special = {"special": {"x": make([150])}, **KINDS}
    n_special = int((data["x"] == make([150])[0]).sum())
    for model in (optimize(engine(data), "y", **special), optimize(count(engine(data), "y", **special), **special)):
        partition = model.partitions["x"]
        assert (partition.groups[-1], partition.n_special) == (tuple(make([150])), 1)
        assert partition.rows[-1] == n_special > 0
        np.testing.assert_array_equal(np.bincount(model.transform(data["x"])), partition.rows)
    without = data.filter(pl.col("x") != make([150])[0])  # new rows may have what the first ones lack
    counts = count(engine(without), "y", **special)
    both = counts + count(engine(data), like=counts)
    assert optimize(both, **special).partitions["x"].rows[-1] == n_special


@CATEGORIES
def test_rows_in_memory_are_priced_like_the_lazy_frame(make, monkeypatch):
    few_are_counted(monkeypatch)
    data = many_categories(make)
    model = optimize(data.lazy(), "y", **KINDS)
    partition = model.partitions["x"]
    assert verify(model, data, "y")
    assert not verify(model, many_categories(make, seed=3), "y")
    assert price(data, "y", {"x": partition}, **KINDS) == pytest.approx(model.cost, rel=1e-12)
    for given in (
        gridmodl.Model.from_partitions(data, "y", {"x": partition}, **KINDS),
        optimize_each(data, "y", partitions={"x": model}, **KINDS)["x"],
    ):
        assert record(gridmodl.Model.from_json(given.to_json())) == record(given)
        np.testing.assert_array_equal(given.partitions["x"].counts, partition.counts)
        edited, expected = (one.edit("x", merge=[(0, 1)]).partitions["x"] for one in (given, model))
        assert (edited.others, edited.default) == (expected.others, expected.default)
        np.testing.assert_array_equal(edited.counts, expected.counts)
    other = many_categories(make, seed=7)
    here, there = (model.compare(one, "y").table(frame="pandas") for one in (other, other.lazy()))
    assert here.equals(there)


@CATEGORIES
def test_values_of_another_type_are_no_rare_ones(make, monkeypatch):
    few_are_counted(monkeypatch)
    data = many_categories(make)
    model = optimize(data.lazy(), "y", **KINDS)
    wrong = pl.Series([2.5, None]) if make is as_text else pl.Series(["1", None])
    with pytest.raises(TypeError, match=r"column 'x' holds values such as (2.5|'1'), its groups such as [^N(]"):
        model.transform(wrong)
    with pytest.raises(TypeError, match="convert the column to the type of the training data"):
        price(pl.DataFrame({"x": wrong, "y": ["yes", "no"]}), "y", model.partitions, **KINDS)


@CATEGORIES
def test_labels_say_which_group_has_the_others(make, monkeypatch):
    few_are_counted(monkeypatch)
    partition = optimize(many_categories(make).lazy(), "y", **KINDS).partitions["x"]
    assert len(partition.groups[partition.default]) > 5
    assert [partition.others in label for label in partition.labels] == [
        i == partition.default for i in range(partition.n_parts)
    ]


def test_files_prove_nothing_of_rare_categories(monkeypatch):
    few_are_counted(monkeypatch)
    data = many_categories(as_text)
    model = optimize(data.lazy(), "y")
    written = json.loads(model.to_json())
    with pytest.raises(gridmodl.ModelFileError, match="proven: must be false, as values were counted together"):
        gridmodl.Model.from_json(json.dumps(written | {"proven": True}))
    proof = json.loads(optimize(data.head(200).with_columns(x=pl.col("x").str.slice(0, 2)), "y").to_json())
    assert proof["certificate"] is not None
    with pytest.raises(gridmodl.ModelFileError, match="certificate: must be null, as values were counted together"):
        gridmodl.Model.from_json(json.dumps(written | {"certificate": proof["certificate"]}))
    for change in ({"others": "Ä1"}, {"default": None}, {"others": "other"}):
        forged = written | {"partitions": [written["partitions"][0] | change]}
        with pytest.raises(gridmodl.ModelFileError, match="others: must be in the group of 'default'"):
            gridmodl.Model.from_json(json.dumps(forged))


# How a grid is found: from all combinations, by codes of numbers, or in a sample.
WAYS = {"all": {"MAX_CELLS": 1300}, "codes": {"MAX_CELLS": 600}, "sample": {"MAX_CELLS": 100, "SAMPLE_ROWS": 700}}
VNS = gridmodl.Search("vns", effort=1)


def with_column(make, seed=0):
    """Many categories beside numbers, which say more together."""
    data = many_categories(make, seed)
    rng = np.random.default_rng(seed)
    z = np.round(rng.normal(size=len(data)) + np.where(data["y"] == "yes", 0.7, 0.0), 1)
    return data.with_columns(z=pl.Series(z))


def grid_way(way, monkeypatch):
    for name, value in WAYS[way].items():
        monkeypatch.setattr(lazy_grid, name, value)
    if way == "sample":
        monkeypatch.setattr(lazy_codes, "CODE_CELLS", 100)


def with_rare_named(data, partition):
    """The rows, in which values that no group lists have the name of the others; and whether there are any."""
    listed = {None, *(value for group in partition.listed for value in group)}
    values = [one if one in listed else partition.others for one in data["x"].to_list()]
    return {"x": object_array(values), "z": data["z"].to_numpy()}, data["y"].to_numpy()


@pytest.mark.parametrize("way", WAYS)
@CATEGORIES
@ENGINES
def test_a_grid_counts_rare_ones_of_too_many_categories_together(engine, make, way, monkeypatch):
    few_are_counted(monkeypatch)
    grid_way(way, monkeypatch)
    data = with_column(make)
    model = optimize(engine(data), "y", search=VNS, random_state=0, **KINDS)
    assert (model.sample_rows > 0) == (way == "sample")
    partition = model.partitions["x"]
    sizes = dict(data["x"].drop_nulls().value_counts().iter_rows())
    least = int(partition.others.split()[-2])
    assert {value for group in partition.listed for value in group} == {one for one, n in sizes.items() if n >= least}
    assert model.informative == ["x", "z"]
    columns, y = with_rare_named(data, partition)
    expected = optimize(columns, y, search=VNS, random_state=0, **KINDS)
    assert model.cost == pytest.approx(expected.cost, abs=1e-9 if way == "all" else 30.0)
    assert model.cost == pytest.approx(price(columns, y, model.partitions, **KINDS), rel=1e-12)

    parts = partition.part_of(data["x"])
    np.testing.assert_array_equal(np.bincount(parts, minlength=partition.n_parts), partition.rows)
    assert partition.part_of(pl.Series(make([5000])))[0] == partition.default
    lazily = collect(model.transform(engine(data)))
    np.testing.assert_array_equal(lazily["x"].to_numpy(), parts)
    shares = model.predict_proba(data)
    np.testing.assert_allclose(collect(model.predict_proba(engine(data))).to_numpy(), shares, rtol=1e-12)
    again = gridmodl.Model.from_json(model.to_json())
    assert record(again) == record(model)
    assert verify(model, engine(data), "y")
    assert verify(model, data, "y")
    assert not verify(model, engine(with_column(make, seed=7)), "y")
    query = model.to_sql("duckdb", table="data", output="parts")
    found = duckdb.connect().register("data", data.to_arrow()).sql(query).pl()
    np.testing.assert_array_equal(found.to_series(0).to_numpy(), parts)


@CATEGORIES
@ENGINES
def test_grids_of_rare_categories_are_priced_and_compared_on_other_rows(engine, make, monkeypatch):
    few_are_counted(monkeypatch)
    grid_way("all", monkeypatch)
    model = optimize(engine(with_column(make)), "y", search=VNS, random_state=0, **KINDS)
    other = with_column(make, seed=7)
    moved = [gridmodl.Model.from_partitions(one, "y", model.partitions, **KINDS) for one in (engine(other), other)]
    rows = np.bincount(model.partitions["x"].part_of(other["x"]), minlength=model.partitions["x"].n_parts)
    for one in moved:
        np.testing.assert_array_equal(one.partitions["x"].rows, rows)
        assert one.partitions["x"].others == model.partitions["x"].others
        assert verify(one, engine(other), "y")
    assert moved[0].cost == pytest.approx(moved[1].cost, rel=1e-12)
    assert price(engine(other), "y", model.partitions, **KINDS) == pytest.approx(moved[1].cost, rel=1e-12)
    kept = other.filter(pl.col("x").is_in([value for group in model.partitions["x"].listed for value in group]))
    few = gridmodl.Model.from_partitions(engine(kept), "y", model.partitions, **KINDS)  # no value is rare
    assert few.n_rows == len(kept)
    assert verify(few, engine(kept), "y")
    here, there = (model.compare(one, "y").table(frame="pandas") for one in (other, engine(other)))
    prices = ["same_parts", "best_parts"]  # of lazy frames, those of columns alone
    assert here.drop(columns=prices).equals(there.drop(columns=prices))


@CATEGORIES
@ENGINES
def test_joint_and_partitioned_grids_take_too_many_categories(engine, make, monkeypatch):
    few_are_counted(monkeypatch)
    grid_way("all", monkeypatch)
    monkeypatch.setattr(lazy_grid, "MAX_PAIRS", 1300)
    data = with_column(make)
    joint = optimize(engine(data), search=VNS, random_state=0, **KINDS)
    real = data.with_columns(y=pl.Series(np.where(data["y"] == "yes", 3.0, 0.0) + data["z"].to_numpy()))
    numerical = optimize(engine(real), "y", target_kind="numerical", search=VNS, random_state=0, **KINDS)
    for model, rows, target in ((joint, data, None), (numerical, real, "y")):
        partition = model.partitions["x"]
        assert partition.others is not None
        np.testing.assert_array_equal(np.bincount(partition.part_of(rows["x"])), partition.rows)
        assert verify(model, engine(rows), target)
        assert record(gridmodl.Model.from_json(model.to_json())) == record(model)
        moved = gridmodl.Model.from_partitions(engine(rows), target, model.all_partitions, **KINDS)
        assert moved.cost == pytest.approx(model.cost, rel=1e-12)
        assert moved.partitions["x"].groups == partition.groups
        np.testing.assert_array_equal(moved.partitions["x"].value_rows, partition.value_rows)


def test_grids_of_rare_categories_are_the_same_on_all_engines(monkeypatch):
    few_are_counted(monkeypatch)
    grid_way("sample", monkeypatch)
    for make in (as_text, list):
        data = with_column(make)
        found = [
            optimize(engine(data[order]), "y", search=VNS, random_state=0, **KINDS)
            for engine in (as_polars, as_duckdb) for order in (slice(None), slice(None, None, -1))
        ]  # fmt: skip
        assert all(record(one) == record(found[0]) for one in found)


def test_a_grid_keeps_special_values_optima_and_edits_of_rare_categories(monkeypatch):
    few_are_counted(monkeypatch)
    grid_way("all", monkeypatch)
    data = with_column(as_text)
    search = gridmodl.Search("vns", effort=1, keep_optima=3)
    model = optimize(data.lazy(), "y", search=search, random_state=0, special={"x": ["Ä150"]})
    partition = model.partitions["x"]
    assert (partition.groups[-1], partition.n_special) == (("Ä150",), 1)
    for one in model.optima:
        if "x" in one.partitions:
            assert one.partitions["x"].others == partition.others
    edited = model.edit("z", merge=[(0, 1)])
    assert edited.partitions["x"].others == partition.others
    np.testing.assert_array_equal(edited.partitions["x"].rows, partition.rows)


@ENGINES
def test_times_of_nanoseconds_are_rare_categories_too(engine, monkeypatch):
    few_are_counted(monkeypatch)
    data = with_column(as_days).with_columns(pl.col("x").cast(pl.Datetime("ns")))
    for way, rows in (("all", data), ("sample", data), ("all", data.drop("z"))):
        grid_way(way, monkeypatch)
        model = optimize(engine(rows), "y", search=VNS if "z" in rows else "auto", random_state=0, **KINDS)
        partition = model.partitions["x"]
        parts = partition.part_of(rows["x"])
        assert partition.others is not None
        np.testing.assert_array_equal(np.bincount(parts), partition.rows)
        np.testing.assert_array_equal(collect(model.transform(engine(rows)))["x"].to_numpy(), parts)
        assert verify(model, engine(rows), "y")
        assert verify(model, rows, "y")
    late = data.drop("z").with_columns(pl.col("x").dt.offset_by("1ns"))
    with pytest.raises(ValueError, match="has nanoseconds, which expressions of lazy frames cannot hold; round its"):
        optimize(engine(late), "y", **KINDS).transform(engine(late))


def test_partitions_without_others_need_few_categories(monkeypatch):
    few_are_counted(monkeypatch)
    data = with_column(as_text)
    with pytest.raises(ValueError, match="column 'x' has more than 50 categories, which cannot all be counted"):
        gridmodl.Model.from_partitions(data.lazy(), "y", {"x": [data["x"].unique().to_list()], "z": [0.0]})


def test_numbers_as_text_are_noted_also_where_some_are_rare(monkeypatch):
    few_are_counted(monkeypatch, max_groups=20)
    data = many_categories(list).with_columns(pl.col("x").cast(pl.String))
    model = optimize(data.lazy(), "y")
    assert model.partitions["x"].others is not None
    assert "its values are texts that look like numbers" in model.summary()


@CATEGORIES
@ENGINES
def test_listed_categories_are_counted_some_at_a_time(engine, make, monkeypatch):
    few_are_counted(monkeypatch)
    monkeypatch.setattr(lazy_data, "JOINT_ROWS", 100)
    monkeypatch.setattr(lazy_data, "JOINT_GROUPS", 64)
    data, other = many_categories(make), many_categories(make, seed=5)
    unseen = pl.DataFrame({"x": make(list(range(300, 320))), "y": ["yes", "no"] * 10})
    real = data.with_columns(pl.Series("y", np.random.default_rng(0).normal(size=len(data))))
    model = optimize(engine(data), "y", **KINDS)
    like, of_real = count(engine(data), "y", **KINDS), count(engine(real), "y", target_kind="numerical", **KINDS)

    def answers():
        of_classes = [count(engine(one), "y", like=like)["x"].to_pandas() for one in (data, other, unseen)]
        again = count(engine(real), "y", like=of_real)["x"].to_pandas()
        of_other = gridmodl.Model.from_partitions(engine(other), "y", model.partitions, **KINDS)
        return [*of_classes, again], record(of_other), verify(model, engine(data), "y")

    whole, partitions, verified = answers()
    monkeypatch.setattr(counting, "MAX_GROUPS", 3)
    asked = answers()
    assert verified
    assert asked[1:] == (partitions, verified)
    for found, expected in zip(asked[0], whole, strict=True):
        keys = [name for name in found.columns if name != "target_sum"]
        assert len(found) >= 2
        pd.testing.assert_frame_equal(*(one.sort_values(keys, ignore_index=True) for one in (found, expected)))
