"""Short names of parts, and names that users give."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import gridmodl
from gridmodl import Model, ModelFileError, Models
from gridmodl.model.labels import aligned
from gridmodl.model.names import MAX_NAME, distinct, names_within, rounded, shortened
from gridmodl.model.partition import Partition, group_partition


def groups(*values):
    return group_partition("town", tuple(map(tuple, values)), np.ones((len(values), 2), dtype=np.int64))


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    town = rng.choice([f"town {c}" for c in "abcdefgh"], 2000)
    y = rng.random(2000) < np.where(town < "town d", 0.2, np.where(town < "town g", 0.5, 0.9))
    return gridmodl.optimize({"town": town}, y)


def test_a_group_has_its_number_some_values_and_the_number_of_the_others():
    names = groups(["Paris", "Lyon", *(f"Nowhere{i}" for i in range(20))], ["Oslo"], [None]).names
    assert names == ["0: Paris, Lyon, Nowhere0, +19", "1: Oslo", "2: missing"]
    assert max(map(len, names)) <= MAX_NAME + len("0: ")


def test_the_most_frequent_values_go_first_if_their_rows_are_known(model):
    partition = model.partitions["town"]
    rows = dict(zip([value for group in partition.groups for value in group], partition.value_rows, strict=True))
    for name, group in zip(partition.names, partition.groups, strict=True):
        often = max(group, key=lambda value: rows[value])
        assert name.split(": ")[1].split(",")[0] == f"…{often[-1]}"


def test_what_all_values_begin_with_is_left_out_between_words_only():
    assert groups(["street of a", "street of b"], ["street of c"]).names == ["0: …a, …b", "1: …c"]
    assert groups(["Parma", "Paris"], ["Parga"]).names == ["0: Parma, Paris", "1: Parga"]
    assert groups(["word one"], ["word one two"]).names == ["0: …one", "1: …one two"]
    assert groups(["alone and long"]).names == ["0: alone and long"]


def test_long_and_hostile_values_stay_short_and_printable():
    names = groups(["x" * 500, "y\n\t\x00"], ["<b>{}'"], [1, "1"]).names
    assert [len(name) <= MAX_NAME + 20 for name in names] == [True] * 3
    assert all(name.isprintable() for name in names)
    assert names[2] == "2: 1, '1'"


def test_very_long_values_keep_their_ends():
    names = groups(*([f"{'a' * 90}{i}"] for i in range(3))).names
    assert names == [f"{i}: {'a' * 13}…{'a' * 5}{i}" for i in range(3)]


def test_intervals_have_as_many_digits_as_keep_them_apart():
    counts = np.ones((3, 2), dtype=np.int64)
    near = Partition("x", "numerical", counts, bounds=np.array([1.00000012345, 1.00000022345]))
    assert near.names == ["(-inf, 1.000000123]", "(1.000000123, 1.000000223]", "(1.000000223, inf)"]
    far = Partition("x", "numerical", counts, bounds=np.array([0.123456789, 12.3456789]))
    assert far.names == ["(-inf, 0.123457]", "(0.123457, 12.3457]", "(12.3457, inf)"]
    assert far.labels[0] == "(-inf, 0.123456789]"


def test_what_all_values_end_with_is_left_out():
    names = groups(["a 1, sold in shops", "a 2, sold in shops"], ["b 3, sold in shops"]).names
    assert names == ["0: a 1…, a 2…", "1: b 3…"]
    both = groups(["kind 1, sold in shops", "kind 2, sold in shops"], ["kind 3, sold in shops"]).names
    assert both == ["0: …1, …2", "1: …3"]


def test_dates_are_as_exact_as_their_distance_asks():
    far = np.array(["2020-07-19T05:27:24.328", "2021-03-03T22:50:03.843"], dtype="datetime64[ms]")
    counts = np.ones((3, 1), dtype=np.int64)
    partition = Partition("when", "numerical", counts, bounds=far)
    assert partition.names == ["(-inf, 2020-07-19]", "(2020-07-19, 2021-03-03]", "(2021-03-03, inf)"]
    assert partition.labels[0] == "(-inf, 2020-07-19T05:27:24.328]"
    near = Partition("when", "numerical", counts, bounds=far[:1] + np.array([0, 5000]).astype("timedelta64[ms]"))
    assert near.names[1] == "(2020-07-19T05:27:24.328, 2020-07-19T05:27:29.328]"
    alone = Partition("when", "numerical", counts[:2], bounds=far[:1])
    assert alone.names == alone.labels
    known = Partition("when", "numerical", counts[:2], bounds=far[:1], domain=far + np.array([-(10**9), 0]))
    assert known.names[0] == "(-inf, 2020-07-19T05:27]"


def test_equal_texts_are_told_apart_by_their_number():
    assert distinct(["a", "b", "a"]) == ["0: a", "b", "2: a"]


def test_names_within_a_room_stay_apart_and_say_what_is_special():
    towns = ["Paris", "Lyon", *(f"Nowhere{i}" for i in range(20))]
    names = ["the department of the north, first", "the department of the south, first", None, None]
    alike = replace(groups(["a"], ["b"], towns, [*towns[::-1], "XX"]), given_names=tuple(names), special_sizes=(23,))
    assert names_within(alike, 100) == alike.names
    assert names_within(alike, 24) == [
        "0: the departmen…, first", "1: the departmen…, first", "2: Paris, Lyon, +20", "3: special Nowhe…19, +22",
    ]  # fmt: skip
    for room in (12, 16, 24, 30):
        found = names_within(alike, room)
        assert len(set(found)) == 4
        assert max(map(len, found)) <= room
        assert found[3].startswith("3: special ")


def test_given_names_stand_everywhere_and_travel(model):
    partition = model.partitions["town"]
    named = model.rename("town", {0: "safe", partition.names[1]: "so, so"})
    names = named.partitions["town"].names
    assert names[:2] == ["safe", "so, so"]
    assert names[2:] == partition.names[2:]
    assert named.partitions["town"].labels == partition.labels
    assert model.partitions["town"].names == partition.names
    assert "  safe " in named.summary()
    assert "safe" in named._repr_html_()
    assert list(named.table(frame="arrays")["part"])[:2] == [
        f"safe: {partition.labels[0]}",
        f"so, so: {partition.labels[1]}",
    ]
    assert list(named.table(frame="arrays")["part"])[2:] == partition.labels[2:]
    again = Model.from_json(named.to_json())
    assert again.partitions["town"].names == names
    assert again.rename("town", None).partitions["town"].names == partition.names
    assert again.rename("town", {0: None}).partitions["town"].names[:2] == [partition.names[0], "so, so"]
    assert json.loads(model.rename("town", ["x", "y", "z"]).to_json())["partitions"][0]["names"] == ["x", "y", "z"]
    assert "names" not in json.loads(again.rename("town", None).to_json())["partitions"][0]


def test_merges_keep_the_names_of_the_other_parts(model):
    named = model.rename("town", ["low", "middle", "high"])
    merged = named.edit("town", merge=[0, 1]).partitions["town"]
    assert merged.names[1] == "high"
    assert merged.names[0].startswith("0: ")
    joint = gridmodl.optimize({"a": np.repeat(np.arange(6), 50) // 2, "b": np.repeat(np.arange(6), 50) // 2})
    many = joint.rename("a", {0: "first"})
    assert many.coarsen(max_parts=2).partitions["a"].n_parts <= 2


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({9: "x"}, "which is no part of 'town': parts are numbered from 0 to 2"),
        ({"midle": "x"}, "which is no part of 'town'"),
        ({True: "x"}, "which is no part of 'town'"),
        (["x", "y"], "or a list of 3 names"),
        ("xyz", "or a list of 3 names"),
        (["x", "y", " "], "must be a text of 1 to 200 printable characters"),
        (["x", "y", "a\nb"], "must be a text of 1 to 200 printable characters"),
        (["x", "y", 3], "must be a text of 1 to 200 printable characters"),
        (["x", "y", "x"], "two parts of 'town' would have the name 'x'"),
        ({0: "{town g, town h}"}, "two parts of 'town' would have the name '{town g, town h}'"),
    ],
)
def test_wrong_names_are_refused(model, names, message):
    with pytest.raises(ValueError, match=message):
        model.rename("town", names)


def test_the_column_must_be_known(model):
    with pytest.raises(ValueError, match="did you mean 'town'"):
        model.rename("towns", None)


@pytest.fixture(scope="module")
def models():
    rng = np.random.default_rng(0)
    size, town = rng.integers(0, 40, 800), rng.choice(["a", "b", "c", "d"], 800)
    data = {"noise": rng.random(800), "town": town, "size": size, "wrong": [{}] * 800}
    target = (size > 20) ^ (rng.random(800) < np.where(town < "c", 0.3, 0.1))
    return gridmodl.optimize_each(data, target, on_error="ignore")


def test_a_column_of_models_is_renamed_and_nothing_is_lost(models):
    assert list(models.errors) == ["wrong"]
    before = models["size"].partitions["size"].names
    named = models.rename("size", {0: "small"})
    assert named["size"].to_json() == models["size"].rename("size", {0: "small"}).to_json()
    assert named["size"].partitions["size"].names == ["small", *before[1:]]
    assert models["size"].partitions["size"].names == before
    assert list(named) == list(models)
    assert all(named[name] is models[name] for name in models if name != "size")
    assert named.errors == models.errors
    assert named.event == models.event
    again = Models.from_json(named.to_json())
    assert again["size"].partitions["size"].names == ["small", *before[1:]]
    assert "/* small */" in named.to_sql("duckdb")
    assert named.rename("size", None)["size"].partitions["size"].names == before


def test_renamed_models_keep_an_order_of_the_users_own(models):
    mine = Models({name: models[name] for name in reversed(list(models))}, by_level=False)
    assert list(mine.rename("size", {0: "small"})) == list(mine) != list(models)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sizes", "no column 'sizes'; there are models of 'size'.*did you mean 'size'"),
        ("wrong", "column 'wrong' has no model: "),
    ],
)
def test_models_have_no_names_for_a_column_without_a_model(models, name, message):
    with pytest.raises(KeyError, match=message):
        models.rename(name, {0: "small"})


def test_wrong_names_for_models_are_those_of_a_model(models):
    with pytest.raises(ValueError, match="which is no part of 'size'"):
        models.rename("size", {99: "small"})


@pytest.mark.parametrize("names", [["x"], [None, None, None], ["x", "x", "y"], ["", "y", "z"], ["a\x00", "y", "z"], 3])
def test_wrong_names_of_a_file_are_refused(model, names):
    record = json.loads(model.to_json())
    record["partitions"][0]["names"] = names
    with pytest.raises(ModelFileError, match="names"):
        Model.from_json(json.dumps(record))


def test_a_narrow_interval_does_not_lengthen_all_bounds():
    bounds = np.array([-3.1559272971172, -1.57779527689217, -0.00018707595542664, -0.00018707495542664, 5.5])
    assert rounded(bounds).tolist() == [-3.15593, -1.5778, -0.00018707596, -0.00018707496, 5.5]
    assert rounded(np.array([-np.inf, 1.25, np.inf])).tolist() == [-np.inf, 1.25, np.inf]


@pytest.mark.parametrize("seed", range(20))
def test_rounded_bounds_keep_their_order_and_place(seed):
    rng = np.random.default_rng(seed)
    bounds = np.unique(np.concatenate([rng.normal(size=6), 5.0 + 1e-9 * rng.normal(size=4)]))
    gaps = np.diff(bounds, prepend=-np.inf, append=np.inf)
    short = rounded(bounds)
    assert np.all(np.diff(short) > 0.0)
    assert np.all(np.abs(short - bounds) <= 0.01 * np.minimum(gaps[:-1], gaps[1:]))


def test_what_is_shortened_twice_has_one_mark():
    assert shortened("3: Ass…ac, +1", 11) == "3: Ass… +1"
    assert all("……" not in shortened("3: Ass…voc, +1", room) for room in range(4, 14))


def test_groups_in_a_short_room_have_the_number_of_their_other_values():
    values = [[f"department {c}{c}{j} {'x' * 20}{j}, {c}" for j in range(10)] for c in "abc"]
    for room in (14, 16, 20):
        names = names_within(groups(*values), room)
        assert max(map(len, names)) <= room
        assert all(name.endswith(", +9") for name in names)


def test_wide_letters_take_two_places_in_tables():
    lines = aligned([["名前", "12"], ["abcde", "3"]])
    assert lines == ["  名前   12", "  abcde   3"]
