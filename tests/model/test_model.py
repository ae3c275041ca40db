"""What optimize returns: where values go, what it is called, how it is shown and kept."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris

import gridmodl
from gridmodl import Model, Partition, optimize


def partition(bounds, missing=None, n_classes=2, apart=False, special=()):
    counts = np.ones((apart + len(bounds) + 1 + len(special), n_classes), dtype=np.int64)
    return Partition("x0", "numerical", counts, bounds=np.array(bounds), missing=missing, special=np.array(special))


def groups(*groups, **facts):
    counts = np.ones((len(groups), 2), dtype=np.int64)
    return Partition("x0", "categorical", counts, groups=tuple(map(tuple, groups)), **facts)


def model_of(one, classes=("no", "yes"), **facts):
    facts = {"cost": 2.0, "null_cost": 4.0, "proven": True, "search": "exact", "elapsed": 0.5} | facts
    return Model(
        criterion="modl",
        problem="classes",
        n_rows=int(one.counts.sum()),
        classes=np.array(classes),
        partitions={"x0": one},
        **facts,
    )


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    return optimize(data.data[:, 2], data.target_names[data.target])


# Labels.


@pytest.mark.parametrize(
    ("bounds", "missing", "labels"),
    [
        ([], None, ["(-inf, inf)"]),
        ([], 0, ["(-inf, inf) or missing"]),
        ([2.45, 4.75], None, ["(-inf, 2.45]", "(2.45, 4.75]", "(4.75, inf)"]),
        ([2.45], 0, ["(-inf, 2.45] or missing", "(2.45, inf)"]),
        ([2**60, 2**60 + 1], None, ["(-inf, 1152921504606846976]", "(1152921504606846976, 1152921504606846977]",
                                    "(1152921504606846977, inf)"]),
        ([1e300], None, ["(-inf, 1e+300]", "(1e+300, inf)"]),
        ([0.1 + 0.2], None, ["(-inf, 0.30000000000000004]", "(0.30000000000000004, inf)"]),  # not a value below it
        (np.array([0.1], dtype=np.float32), None, ["(-inf, 0.1]", "(0.1, inf)"]),  # exact in the type of the bounds
    ],
)  # fmt: skip
def test_labels(bounds, missing, labels):
    assert partition(bounds, missing).labels == labels


def test_labels_of_missing_values_apart():
    assert partition([], missing=0, apart=True).labels == ["missing", "(-inf, inf)"]
    assert partition([-1.5], missing=0, apart=True).labels == ["missing", "(-inf, -1.5]", "(-1.5, inf)"]


def test_labels_of_special_codes_come_last():
    assert partition([1.5], special=[-9.0, -1.0]).labels[2:] == ["special -9", "special -1"]
    found = partition([1.5], missing=0, apart=True, special=[-9.0])
    assert found.labels == ["missing", "(-inf, 1.5]", "(1.5, inf)", "special -9"]
    found = partition([1.5], missing=0, special=[-9.0])
    assert found.labels == ["(-inf, 1.5] or missing", "(1.5, inf)", "special -9"]


def test_labels_tell_close_bounds_apart():
    close = [1.0, np.nextafter(1.0, 2.0)]
    labels = partition(close).labels
    assert labels == ["(-inf, 1.0]", "(1.0, 1.0000000000000002]", "(1.0000000000000002, inf)"]


def test_labels_of_infinite_bounds_tell_the_parts_apart():
    labels = partition([-math.inf, 5.0]).labels
    assert len(set(labels)) == 3
    assert labels[2] == "(5.0, inf)"


def test_bounds_are_one_less_than_parts_counts_and_labels(iris):
    found = iris.partitions["x0"]
    assert len(found.bounds) + 1 == found.n_parts == len(found.counts) == len(found.labels) == 3
    assert found.kind == "numerical"
    assert found.counts.shape == (3, len(iris.classes))


# Where values go.


@pytest.mark.parametrize("bounds", [[2.45, 4.75], [0.0], [-5e-324, 5e-324], [1e308, 1.5e308], [-3.0, -2.0, 7.0]])
def test_a_value_on_a_bound_belongs_below(bounds):
    found = partition(bounds)
    for i, bound in enumerate(bounds):
        below, above = np.nextafter(bound, -np.inf), np.nextafter(bound, np.inf)
        assert found.part_of([below, bound, above]).tolist() == [i, i, i + 1]
        assert model_of(found).transform([below, bound, above]).tolist() == [i, i, i + 1]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_a_large_integer_on_a_bound_belongs_below(dtype):
    bounds = np.array([2**60, 2**60 + 1, 2**62], dtype=dtype)
    found = partition(bounds)
    for i, bound in enumerate(bounds.tolist()):
        assert found.part_of(np.array([bound], dtype=dtype)).tolist() == [i]
        assert found.part_of(np.array([bound + 1], dtype=dtype)).tolist() == [i + 1]


def test_infinite_values_belong_to_the_outer_parts():
    assert partition([1.0, 2.0]).part_of([-np.inf, np.inf]).tolist() == [0, 2]
    apart = partition([1.0], missing=0, apart=True)
    assert apart.part_of([np.nan, -np.inf, np.inf]).tolist() == [0, 1, 2]


def test_special_codes_go_to_parts_of_their_own():
    apart = partition([1.0], missing=0, apart=True, special=[-9.0, 7.0])
    assert apart.part_of([np.nan, -9.0, -8.0, 7.0, 7.5, -9.5]).tolist() == [0, 3, 1, 4, 2, 1]
    joined = partition([1.0], missing=0, special=[-9.0, 7.0])
    assert joined.part_of([np.nan, -9.0, -8.0, 7.0, 7.5, -9.5]).tolist() == [0, 2, 0, 3, 1, 0]


def test_one_part_holds_everything():
    assert partition([]).part_of([-np.inf, 0.0, np.inf, np.nan]).tolist() == [0, 0, 0, -1]


def test_labels_say_where_values_are(iris):
    """Read the bounds off the labels and count the rows again."""
    length = load_iris().data[:, 2]
    found = iris.partitions["x0"]
    parts = iris.transform(length)
    for i, label in enumerate(found.labels):
        lo, hi = (float(text) for text in label.strip("(])").split(", "))
        inside = (length > lo) & (length <= hi)
        assert np.array_equal(inside, parts == i)
        assert inside.sum() == found.counts[i].sum()


def test_transform_keeps_the_shape(iris):
    flat = iris.transform([1.0, 3.0, 5.0])
    assert flat.tolist() == [0, 1, 2]
    assert flat.dtype == np.int64
    assert iris.transform([[1.0], [3.0], [5.0]]).tolist() == [[0], [1], [2]]
    assert iris.transform(np.array([[3.0]])).shape == (1, 1)
    assert iris.transform(range(1, 6)).tolist() == [0, 0, 1, 1, 2]


def test_transform_and_part_of_agree(iris):
    values = np.linspace(0, 8, 50)
    assert iris.transform(values).tolist() == iris.partitions["x0"].part_of(values).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint8, np.int64, object])
def test_transform_takes_other_types(iris, dtype):
    values = np.array([1, 3, 5])
    assert iris.transform(values.astype(dtype)).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("data", "error"),
    [(np.zeros((3, 2)), ValueError), (["a"], TypeError), ([1j], TypeError), (np.zeros((1, 1, 1)), ValueError)],
)
def test_transform_refuses_what_optimize_refuses(iris, data, error):
    with pytest.raises(error):
        iris.transform(data)


# Facts and texts.


@pytest.mark.parametrize(
    ("cost", "null_cost", "level"), [(2.0, 4.0, 0.5), (4.0, 4.0, 0.0), (0.0, 0.0, 0.0), (-3.0, 0.0, 0.0)]
)
def test_level(cost, null_cost, level):
    assert model_of(partition([1.0]), cost=cost, null_cost=null_cost).level == level


def test_reprs(iris):
    assert repr(iris.partitions["x0"]) == "Partition('x0', numerical, 3 parts)"
    assert repr(iris) == f"Model('modl', x0: 3 parts, cost={iris.cost:.6f}, level={iris.level:.4f})"


def test_repr_of_one_part_is_singular():
    assert repr(partition([])) == "Partition('x0', numerical, 1 part)"


def test_summary_holds_all_that_matters(iris):
    text = iris.summary()
    lines = text.splitlines()
    assert "150 rows, 3 classes" in text
    assert "proven optimum" in text
    assert lines[:2] == ["x0: 3 parts", "150 rows, 3 classes, event virginica"]
    assert lines[-2] == f"cost {iris.cost:.2f}, with one part {iris.null_cost:.2f}: level {iris.level:.4f}"
    (header,) = [line.split() for line in lines if "setosa" in line]
    assert header == ["part", "rows", "setosa", "versicolor", "virginica"]
    rows = lines[4:7]
    assert [row[: row.index("  ", 3)].strip() for row in rows] == iris.partitions["x0"].names
    assert rows[0].split()[-4:] == ["50", "100.0%", "0.0%", "0.0%"]
    assert len({len(row) for row in rows}) == 1
    assert all(line == line.rstrip() for line in lines)


def test_summary_says_which_limits_were_kept():
    x, y = np.arange(60.0), np.arange(60) // 15 % 2
    assert "limits:" not in optimize(x, y).summary()
    text = optimize(x, y, monotone="peak", min_rows=5, max_parts=3).summary()
    expected = "limits: at most 3 parts, at least 5 rows in each part, shares that are monotone (peak)"
    assert expected in text.replace("\n  ", " ")  # lines are broken


def test_summary_says_how_it_was_stopped():
    text = model_of(partition([1.0]), proven=False, stopped="time limit").summary()
    assert "not proven, stopped: time limit" in text


def test_summary_names_options():
    data = np.arange(10.0)
    assert "\nmodl, one input" in optimize(data, [0] * 5 + [1] * 5).summary()
    text = model_of(partition([1.0]), options={"alpha": 0.5, "beta": 1.0}).summary()
    assert "modl(alpha=0.5, beta=1.0)" in text


def test_summary_of_one_part():
    text = model_of(partition([])).summary()
    assert text.startswith("x0: 1 part, tells nothing about the target\n")
    assert text.splitlines()[4].split() == ["(-inf,", "inf)", "2", "50.0%", "50.0%"]


def test_summary_of_many_parts_is_cut():
    one = partition(np.arange(99.0))
    text = model_of(one).summary()
    shown = [label for label in one.labels if label in text]
    assert shown == one.labels[: len(shown)]
    assert 10 <= len(shown) < 100
    assert f"and {100 - len(shown)} more parts" in text


def test_summary_of_many_classes_shows_the_largest():
    counts = np.ones((2, 30), dtype=np.int64)
    counts[:, [3, 17]] = 50
    one = Partition("x0", "numerical", counts, bounds=np.array([0.5]))
    text = model_of(one, classes=[f"class{i}" for i in range(30)]).summary()
    assert "  largest classes\n" in text
    assert text.count("class3 39%, class17 39%, class0 1%\n") == 2
    assert "  (30 classes)\n" in text
    assert max(map(len, text.splitlines())) <= 80


def test_summary_of_classes_of_any_type():
    for classes in ([False, True], [b"no", b"yes"], [0.5, 1.5], [-1, 1]):
        assert str(np.array(classes)[1]) in model_of(partition([1.0]), classes=classes).summary()


# Keeping.


@pytest.mark.parametrize(
    "data",
    [
        load_iris().data[:, 2],
        np.where(load_iris().data[:, 2] < 2, np.nan, load_iris().data[:, 2]),
        (load_iris().data[:, 2] * 10).astype(np.int64) + 2**60,
        (load_iris().data[:, 2] * 10).astype("M8[D]"),
        load_iris().data[:, 2].round().astype(int).astype(str).astype(object),
        np.where(load_iris().data[:, 2] < 2, None, "x"),
    ],
    ids=["floats", "missing", "large integers", "dates", "text", "missing text"],
)
def test_pickle_round_trip(data):
    target = np.array(load_iris().target_names[load_iris().target])
    model = optimize(data, target)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    for name in (
        "cost",
        "null_cost",
        "level",
        "criterion",
        "problem",
        "n_rows",
        "proven",
        "search",
        "elapsed",
        "stopped",
    ):
        assert getattr(copy, name) == getattr(model, name), name
    assert copy.classes.tolist() == model.classes.tolist()
    assert copy.options == model.options
    mine, other = model.partitions["x0"], copy.partitions["x0"]
    assert np.array_equal(other.bounds, mine.bounds)
    assert (other.groups, other.default, other.is_utc) == (mine.groups, mine.default, mine.is_utc)
    assert other.special.tolist() == mine.special.tolist()
    assert other.bounds.dtype == mine.bounds.dtype
    assert other.counts.tolist() == mine.counts.tolist()
    assert (other.labels, other.missing, other.kind) == (mine.labels, mine.missing, mine.kind)
    assert copy.transform(data).tolist() == model.transform(data).tolist()
    assert copy.summary() == model.summary()


def test_model_is_frozen(iris):
    with pytest.raises(AttributeError):
        iris.cost = 0.0
    with pytest.raises(AttributeError):
        iris.partitions["x0"].missing = 0


# Groups.


def test_where_values_of_groups_go():
    found = groups(["a", "b"], [None, "c"], missing=1, default=0)
    assert found.part_of(["c", "b", None, "a"]).tolist() == [1, 0, 1, 0]
    assert found.part_of(np.array(["z", math.nan, "c"], dtype=object)).tolist() == [0, 1, 1]
    assert found.part_of(["z", "c"], unknown="neutral").tolist() == [-1, 1]
    with pytest.raises(
        ValueError, match=r"column 'x0' holds 2 values that the training data did not have, such as 'y'"
    ):
        found.part_of(["z", "c", "y"], unknown="error")


def test_a_missing_value_that_was_never_seen_is_no_unknown_category():
    found = groups(["a"], ["b", "c"], default=1)
    assert found.part_of([None, "a"]).tolist() == [1, 0]
    assert found.part_of([None, "a"], missing="neutral").tolist() == [-1, 0]
    assert found.part_of([None, "a"], unknown="error").tolist() == [1, 0]
    with pytest.raises(ValueError, match="column 'x0' holds 1 missing value, and the training data had none"):
        found.part_of([None, "a"], missing="error")


@pytest.mark.parametrize("word", ["ignore", 0, 1, -2, True, -1.0, ["error"]])
def test_unknown_that_means_nothing(word):
    for found in (groups(["a"], ["b"], default=0), partition([1.0])):
        with pytest.raises(ValueError, match="unknown must be one of 'neutral', 'largest', 'error', got"):
            found.part_of(["a"], unknown=word)
        with pytest.raises(ValueError, match="missing must be one of 'neutral', 'error', got"):
            found.part_of(["a"], missing=word)


def test_part_of_takes_one_column():
    with pytest.raises(ValueError, match=r"part_of takes the values of column 'x0'; got 2 columns"):
        partition([1.0]).part_of(np.zeros((3, 2)))


def test_pickles_hold_no_data():
    model = optimize(np.arange(100_000.0), np.arange(100_000) % 2, search="merge", max_parts=2)
    assert len(pickle.dumps(model)) < 10_000


def test_a_frame_must_have_the_column_of_the_model():
    model = optimize({"age": np.arange(10.0)}, [0] * 5 + [1] * 5)
    with pytest.raises(ValueError, match="the model needs column 'age'; the data has 'income'"):
        model.transform({"income": [1.0]})
    assert model.transform([1.0, 9.0]).tolist() == [0, 1]


def test_categories_of_another_type_are_refused_and_not_put_into_the_default_group():
    model = optimize({"code": ["1", "2"] * 10}, [0, 1] * 10)
    with pytest.raises(TypeError, match="convert the column to the type of the training data"):
        model.transform({"code": [1, 2]})
    assert model.transform({"code": ["9"]}, unknown="neutral").tolist() == [[-1]]
    assert model.transform({"code": [None]}, unknown="neutral").tolist() == [[-1]]


def test_summary_of_one_row_and_of_columns_that_do_not_depend_on_one_another():
    assert gridmodl.optimize([1.0], ["a"]).summary().splitlines()[1] == "1 row, 1 class"
    a, b = np.repeat(np.arange(10.0), 10), np.tile(np.arange(10.0), 10)
    assert gridmodl.optimize({"a": a, "b": b}).summary().startswith("none of 2 columns depends on another\n100 rows")


def test_summary_shows_a_part_in_place_of_a_line_that_says_that_it_is_not_shown():
    x = np.arange(70)
    model = gridmodl.Model.from_partitions({"x": x}, x % 2 == 0, {"x": list(range(40))})
    assert model.partition("x").n_parts == 41
    assert "more part" not in model.summary()
