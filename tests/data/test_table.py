"""model.table(), labels of parts, and where values go that were never seen."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gridmodl import Model, Models, Partition, optimize

STEP = [0] * 5 + [1] * 5
VALUES = [0.0, 1.0, 2.0, 3.0, math.nan, 5.0, 6.0, 7.0, 8.0, 9.0]

KINDS = {
    "pandas": (lambda: pd.DataFrame({"x": VALUES}), pd.DataFrame),
    "pandas series": (lambda: pd.Series(VALUES, name="x"), pd.DataFrame),
    "polars": (lambda: pl.DataFrame({"x": VALUES}), pl.DataFrame),
    "polars series": (lambda: pl.Series("x", VALUES), pl.DataFrame),
    "pyarrow": (lambda: pa.table({"x": VALUES}), pa.Table),
    "pyarrow array": (lambda: pa.array(VALUES), pa.Table),
    "array": (lambda: np.array(VALUES), dict),
    "list": (lambda: VALUES, dict),
    "dict": (lambda: {"x": VALUES}, dict),
    "dict of series": (lambda: {"x": pd.Series(VALUES)}, dict),
}


def plain(table):
    """Any kind of table as a dict of lists."""
    if isinstance(table, pa.Table):
        return table.to_pydict()
    if isinstance(table, pl.DataFrame):
        return table.to_dict(as_series=False)
    return {name: np.asarray(table[name]).tolist() for name in table}


def model_of(counts, classes=("no", "yes"), groups=None, **facts):
    counts = np.array(counts)
    kind = "categorical" if groups else "numerical"
    facts |= {"groups": groups} if groups else {"bounds": np.arange(1.0, len(counts))}
    partition = Partition("x", kind, counts, **facts)
    return Model(
        cost=2.0, null_cost=4.0, criterion="modl", problem="classes", n_rows=int(counts.sum()),
        classes=np.array(classes), partitions={"x": partition}, proven=True, search="exact", elapsed=0.1,
        event_index=1 if len(classes) == 2 else None,
    )  # fmt: skip


# Kinds of tables.


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_is_of_the_users_own_kind(kind):
    make, wanted = KINDS[kind]
    model = optimize(make(), STEP)
    table = model.table()
    assert isinstance(table, wanted)
    columns = plain(table)
    assert list(columns) == [
        "part", "rows", "share", "rows_0", "rows_1", "share_0", "share_1", "event", "woe", "iv", "lift"
    ]  # fmt: skip
    (partition,) = model.partitions.values()
    assert columns["part"] == partition.labels == ["(-inf, 4.0] or missing", "(4.0, inf)"]
    assert columns["rows"] == [5, 5]
    assert all(type(n) is int for n in columns["rows"])


@pytest.mark.parametrize(
    ("frame", "wanted"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table), ("arrays", dict)]
)
def test_the_user_chooses_another_kind(frame, wanted):
    model = optimize(pl.DataFrame({"x": VALUES}), STEP)
    table = model.table(frame=frame)
    assert isinstance(table, wanted)
    assert plain(table) == plain(model.table())
    assert isinstance(model.table("x", frame), wanted)


def test_tables_that_do_not_exist():
    model = optimize({"x": VALUES}, STEP)
    with pytest.raises(ValueError, match=r"name must be one of the columns 'x', got 'y'"):
        model.table("y")
    with pytest.raises(ValueError, match="excel"):
        model.table(frame="excel")


# Numbers.


def test_numbers_of_two_classes_by_hand():
    counts = [[30, 10], [45, 5], [5, 25]]
    columns = plain(model_of(counts).table())
    n0, n1 = 80, 40
    assert columns["rows"] == [40, 50, 30]
    assert columns["share"] == pytest.approx([40 / 120, 50 / 120, 30 / 120])
    assert (columns["rows_no"], columns["rows_yes"]) == ([30, 45, 5], [10, 5, 25])
    assert columns["share_yes"] == pytest.approx([10 / 40, 5 / 50, 25 / 30])
    assert columns["share_no"] == pytest.approx([30 / 40, 45 / 50, 5 / 30])
    odds = [math.log((b + 0.5) / (a + 0.5)) - math.log((n1 + 0.5) / (n0 + 0.5)) for a, b in counts]
    assert columns["woe"] == pytest.approx(odds, rel=1e-12)
    assert columns["iv"] == pytest.approx(
        [(b / n1 - a / n0) * odd for (a, b), odd in zip(counts, odds, strict=True)], rel=1e-12
    )
    assert columns["lift"] == pytest.approx([(b / (a + b)) / (n1 / (n0 + n1)) for a, b in counts], rel=1e-12)
    assert odds[1] < 0 < odds[2]  # the second class is the positive one


def test_pure_parts_are_finite():
    columns = plain(optimize(np.arange(10.0), STEP).table())
    assert columns["woe"] == pytest.approx([math.log(0.5 / 5.5), math.log(5.5 / 0.5)])
    assert columns["iv"] == pytest.approx([math.log(11), math.log(11)])
    assert columns["lift"] == [0.0, 2.0]
    assert sum(columns["iv"]) > 0


def test_one_part_says_nothing():
    columns = plain(model_of([[30, 10]]).table())
    assert (columns["share"], columns["lift"]) == ([1.0], [1.0])
    assert columns["woe"] == pytest.approx([0.0], abs=1e-15)
    assert columns["iv"] == pytest.approx([0.0], abs=1e-15)


@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow", "arrays"])
def test_a_part_without_rows(frame):
    model = optimize(np.arange(10.0), STEP, special={"x0": [-9]})
    columns = plain(model.table(frame=frame))
    assert columns["part"][2] == "special -9"
    assert [columns[name][2] for name in ("rows", "share", "rows_0", "rows_1")] == [0, 0.0, 0, 0]
    assert [columns[name][2] for name in ("woe", "iv")] == [0.0, 0.0]
    assert all(math.isnan(columns[name][2]) for name in ("share_0", "share_1", "lift"))
    others = plain(optimize(np.arange(10.0), STEP).table())
    assert all(columns[name][:2] == pytest.approx(others[name]) for name in others if name != "part")
    assert [line.split() for line in model.summary().splitlines()][6] == ["special", "-9", "0"]


@pytest.mark.parametrize("classes", [["a"], ["a", "b", "c"]])
def test_without_an_event_each_class_is_against_the_rest(classes):
    columns = plain(model_of([[3] * len(classes), [7] * len(classes)], classes).table())
    kinds = ("rows", "share", "woe", "iv", "lift") if len(classes) > 1 else ("rows", "share")
    assert list(columns) == ["part", "rows", "share", *(f"{kind}_{c}" for kind in kinds for c in classes)]
    assert columns["share_a"] == pytest.approx([1 / len(classes)] * 2)


@pytest.mark.parametrize(
    "classes", [["a", "a "], [-1, 1], [False, True], [0.5, 1.5], ["", " "], ["share", "rows"], ["a", "A"], [b"a", b"b"]]
)
@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow", "arrays"])
def test_names_of_classes_make_names_of_columns(classes, frame):
    table = model_of([[3, 4], [5, 6]], classes).table(frame=frame)
    columns = plain(table)
    assert len(columns) == 11
    assert columns["event"] == [str(classes[1])] * 2
    assert columns[f"rows_{classes[0]}"] == [3, 5]
    assert columns[f"rows_{classes[1]}"] == [4, 6]
    assert columns[f"share_{classes[1]}"] == pytest.approx([4 / 7, 6 / 11])


def test_the_table_of_groups():
    model = optimize({"town": list("aaabbcccdd")}, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    columns = plain(model.table())
    assert columns["part"] == ["{a, b}", "{c, d}"]
    assert columns["rows_1"] == [0, 5]


# Labels.


@pytest.mark.parametrize(
    ("group", "label"),
    [
        (["blue", "green"], "{blue, green}"),
        ([None, "blue"], "{missing, blue}"),
        (["missing"], "{'missing'}"),
        ([""], "{''}"),
        ([" a", "a "], "{' a', 'a '}"),
        (["a,b", "{c}"], "{'a,b', '{c}'}"),
        (["line\nbreak", "tab\t"], "{'line\\nbreak', 'tab\\t'}"),
        ([True, False], "{True, False}"),
        ([1, 2.5], "{1, 2.5}"),
        ([b"x"], "{b'x'}"),
        (list("abcde"), "{a, b, c, d, e}"),
        (list("abcdefgh"), "{a, b, c, d, e, ... 3 more}"),
        (["Größe", "日本"], "{Größe, 日本}"),
    ],
)
def test_labels_of_groups(group, label):
    model = model_of([[1, 2]], groups=(tuple(group),))
    assert model.partitions["x"].labels == [label]
    assert model.partitions["x"].names[0] in model.summary()
    assert len(model.summary().splitlines()) == 8


def test_labels_of_long_values_do_not_fill_the_page():
    model = model_of([[1, 2], [3, 4]], groups=(("a" * 10_000,), ("b",)))
    assert max(map(len, model.summary().splitlines())) < 500


def test_labels_tell_groups_apart():
    groups = (("a", "b"), ("a, b",), ("{a", "b}"), (None,), ("missing",), ("None",), ("'missing'",))
    labels = model_of(np.ones((7, 2), dtype=int), groups=groups).partitions["x"].labels
    assert len(set(labels)) == 7


# Costs that are negative, as a plugin's may be: there is no level then.


@pytest.mark.parametrize(
    ("cost", "null_cost", "level"),
    [
        (5.0, 10.0, 0.5), (10.0, 10.0, 0.0), (12.0, 10.0, 1.0 - 1.2), (0.0, 10.0, 1.0), (-3.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
        (-105.0, 1.0, None), (-2.0, -1.0, None), (-0.5, -1.0, None), (3.0, -1.0, None), (-1e-12, 1.0, 1.0 + 1e-12),
    ],
)  # fmt: skip
def test_there_is_no_level_where_a_cost_is_negative(cost, null_cost, level):
    assert replace(towns(), cost=cost, null_cost=null_cost).level == level


def test_a_model_without_a_level_says_so_everywhere():
    from gridmodl.cli.modelfiles import _facts
    from gridmodl.plot import PartsDisplay

    model = replace(towns(), cost=-105.0, null_cost=1.0)
    assert repr(model) == "Model('modl', town: 2 parts, cost=-105.000000, level=None)"
    assert "cost -105.00, with one part 1.0000: level none" in model.summary()
    assert "level none" in model._repr_html_()
    assert '["Level","none"]' in model.to_html().replace(" ", "")
    assert _facts(model)["level"] is None
    assert Model.from_json(model.to_json()).level is None
    assert PartsDisplay.from_model(model).level is None
    assert model.to_sql("duckdb") == towns().to_sql("duckdb")


def test_columns_without_a_level_come_in_the_order_of_what_they_save():
    def saving(name, n, null_cost=1.0):
        model = towns()
        (partition,) = model.partitions.values()
        partitions = {name: replace(partition, name=name)}
        return replace(model, cost=null_cost - n, null_cost=null_cost, partitions=partitions)

    savings = {"a": (0.5,), "b": (100.0,), "c": (0.9,), "d": (200.0, -1.0)}
    models = Models({name: saving(name, *of) for name, of in savings.items()}, {})
    assert list(models) == ["d", "b", "c", "a"]
    np.testing.assert_array_equal(models.table("arrays")["level"], [math.nan, math.nan, 0.9, 0.5])
    assert [line.split()[3] for line in models.summary().splitlines()[1:5]] == ["none", "none", "0.9000", "0.5000"]
    assert models._repr_html_().count(">none</td>") == 2
    models.to_html()


def test_the_progress_of_a_search_without_a_level():
    from gridmodl.plot import ProgressDisplay
    from gridmodl.search.grid.optima import Improvement

    shown = ProgressDisplay([Improvement(0, -105.0, None, 0.1)]).plot()
    assert "cost -105.00, level none" in shown.ax_.get_title(loc="left")


# Values that were never seen.


def towns():
    """Two groups: {a, b, c} for class 0 and {d, e} for class 1, which has more rows."""
    data = list("aaabbbccc") + list("dddddddeeeeeee")
    return optimize({"town": data}, [0] * 9 + [1] * 14)


def test_unknown_values_belong_to_no_part_or_to_the_group_with_the_most_rows():
    model = towns()
    partition = model.partitions["town"]
    assert [sorted(group) for group in partition.groups] == [["a", "b", "c"], ["d", "e"]]
    assert partition.default is None
    data = {"town": ["e", "?", None, "a"]}
    assert model.transform(data).ravel().tolist() == [1, -1, -1, 0]
    assert model.transform(data, unknown="largest").ravel().tolist() == [1, 1, -1, 0]
    with pytest.raises(
        ValueError, match=r"column 'town' holds 1 value that the training data did not have, such as '\?'"
    ):
        model.transform(data, unknown="error")
    assert model.transform({"town": ["e", "a"]}, unknown="error").ravel().tolist() == [1, 0]


@pytest.mark.parametrize("make", [pd.Series, pl.Series, pa.array, lambda v: np.array(v, dtype=object), list])
def test_unknown_values_of_every_kind(make):
    parts = towns().transform(make(["e", "?", None, "a"]), unknown="neutral")
    assert parts.tolist() == [1, -1, -1, 0]


def test_categories_that_were_dropped_are_unknown():
    column = pd.Series(pd.Categorical(list("aabb") * 3, categories=["a", "b", "unused"]))
    model = optimize({"x": column}, [0, 0, 1, 1] * 3)
    fresh = pd.Series(pd.Categorical(["unused", "b"], categories=["b", "unused"]))
    assert model.transform({"x": fresh}, unknown="neutral").ravel().tolist() == [-1, 1]


def test_rows_of_weight_zero_leave_no_values():
    model = optimize(list("aabbzz"), [0, 0, 1, 1, 0, 1], weights=[5, 5, 5, 5, 0, 0])
    assert sorted(value for group in model.partitions["x0"].groups for value in group) == ["a", "b"]
    assert model.transform(["z"], unknown="neutral").tolist() == [-1]


def test_missing_values_that_were_never_seen():
    numbers = optimize(np.arange(10.0), STEP)
    assert numbers.transform([math.nan, 9.0]).tolist() == [-1, 1]
    assert numbers.transform(pl.Series([None, 9])).tolist() == [-1, 1]
    assert numbers.transform(pd.Series([None, 9], dtype="Int64")).tolist() == [-1, 1]
    days = optimize(np.arange(10).astype("M8[D]"), STEP)
    assert days.transform(np.array(["NaT", "1970-01-10"], dtype="M8[s]")).tolist() == [-1, 1]


def test_no_rows_to_transform():
    for model in (towns(), optimize(np.arange(10.0), STEP)):
        assert model.transform([]).shape == (0,)
        assert model.transform(np.empty((0, 1))).shape == (0, 1)
        assert model.transform([]).dtype == np.int64


def test_transform_takes_the_column_by_its_name():
    model = optimize(pd.DataFrame({"x": np.arange(10.0)}), STEP)
    wide = pd.DataFrame({"z": np.zeros(3), "x": [1.0, 9.0, 4.0]})
    assert model.transform(wide).tolist() == [[0], [1], [0]]
    with pytest.raises(ValueError, match=r"the model needs column 'x'; the data has 'z', 'y'"):
        model.transform(wide.rename(columns={"x": "y"}))
