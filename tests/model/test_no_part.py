"""Values that no part holds: missing values and categories that the training data did not have."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gridmodl
from gridmodl import Model, optimize
from gridmodl.data.atoms import Target
from gridmodl.model.cells import Cells, make_cells
from gridmodl.model.counts import share_lines

AGES = np.array([20.0, 25.0, 30.0, 35.0, 50.0, 55.0, 60.0, 65.0] * 5)
BOUGHT = np.array(["no"] * 4 + ["yes"] * 4).tolist() * 5


@pytest.fixture(scope="module")
def ages():
    return optimize({"age": AGES}, BOUGHT)


@pytest.fixture(scope="module")
def towns():
    """Group {a, b, c} has the most values, group {d} the most rows."""
    town = ["a"] * 8 + ["b"] * 8 + ["c"] * 8 + ["d"] * 40
    return Model.from_partitions(
        {"town": town}, ["no"] * 20 + ["yes"] * 4 + ["yes"] * 40, {"town": [["a", "b", "c"], ["d"]]}
    )


def test_a_missing_number_belongs_to_no_part_where_training_had_none(ages):
    assert ages.partitions["age"].default is None
    assert ages.transform([20.0, math.nan, 70.0]).tolist() == [0, -1, 1]
    assert ages.cell_of([20.0, math.nan]).tolist() == [0, -1]
    assert ages.part_of("age", math.nan) == -1
    assert ages.predict_proba([math.nan]).tolist() == [[0.5, 0.5]]
    with pytest.raises(
        ValueError, match="column 'age' holds 1 missing value, and the training data had none; missing="
    ):
        ages.transform([20.0, math.nan], missing="error")
    assert ages.transform([20.0], missing="error").tolist() == [0]


def test_missing_numbers_of_training_have_their_part():
    ages = np.where(np.arange(40) % 4 == 0, np.nan, AGES)
    model = optimize({"age": ages}, BOUGHT)
    assert model.partitions["age"].missing == 0
    for missing in (None, "neutral", "error"):
        assert model.transform([math.nan], missing=missing).tolist() == [0]


@pytest.mark.parametrize("unknown", [None, "neutral"])
def test_an_unknown_category_belongs_to_no_part(towns, unknown):
    assert towns.transform(["a", "x", "d", None], unknown).tolist() == [0, -1, 1, -1]
    assert towns.predict_proba(["x", None], unknown).tolist() == [[20 / 64, 44 / 64]] * 2
    assert towns.predict(["x"], unknown).tolist() == ["yes"]


def test_the_largest_group_has_the_most_rows(towns):
    assert towns.transform(["x", None], "largest").tolist() == [1, -1]
    assert towns.predict_proba(["x"], "largest").tolist() == [[0.0, 1.0]]


def test_errors_name_the_value(towns):
    with pytest.raises(ValueError, match="column 'town' holds 2 values that the training data did not have, such"):
        towns.transform(["a", "x", "y", None], "error")
    with pytest.raises(ValueError, match="column 'town' holds 2 missing values, and the training data had none"):
        towns.transform(["a", None, "x", None], missing="error")
    assert towns.transform(["a", None], "error").tolist() == [0, -1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {"unknown": "default"},
            "unknown must be one of 'neutral', 'largest', 'error', got 'default'; the group with the "
            "most values is no longer offered: unknown='largest' is the group with the most rows",
        ),
        ({"unknown": -1}, "got -1; write unknown='neutral', which gives -1"),
        ({"unknown": "largset"}, "did you mean 'largest'"),
        ({"missing": "largest"}, "missing must be one of 'neutral', 'error', got 'largest'"),
        ({"missing": "apart"}, "'auto' and 'apart' are for training"),
        ({"missing": 0}, "missing must be one of"),
    ],
)
def test_words_that_are_not_allowed(towns, words, message):
    calls = [
        lambda: towns.transform(["a"], **words),
        lambda: towns.cell_of(["a"], **words),
        lambda: towns.part_of("town", "a", **words),
        lambda: towns.predict(["a"], **words),
        lambda: towns.predict_proba(["a"], **words),
        lambda: towns.partitions["town"].part_of(["a"], **words),
        lambda: towns.to_sql("duckdb", **words),
        lambda: towns.partitions["town"].to_sql("duckdb", **words),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(ValueError, match=message):
            call()


def test_a_numerical_target_is_predicted_by_all_rows():
    x = np.arange(60.0)
    y = np.where(x < 30, 1.0, 9.0) + x % 3
    model = optimize({"x": x}, y, target_kind="numerical")
    found = model.predict([math.nan, 3.0])
    assert found.mean[0] == pytest.approx(y.mean())
    assert found.median[0] == pytest.approx(np.median(y))
    assert found.mean[1] < 4


def test_grouped_classes_are_predicted_by_all_rows():
    x = np.arange(120.0)
    y = (x // 10).astype(int)
    model = optimize({"x": x}, y, target_kind="grouped")
    assert model.predict_proba([math.nan])[0] == pytest.approx(np.full(12, 1 / 12))


# Grids: all training rows that have the row's known parts.


def slow_shares(parts, classes, n_classes, row):
    """Shares of the classes of all rows that agree with `row` in the variables where it has a part."""
    agrees = [
        all(mine < 0 or mine == other for mine, other in zip(row, others, strict=True))
        for others in zip(*parts, strict=True)
    ]
    mine = [c for c, agree in zip(classes, agrees, strict=True) if agree]
    mine = mine or classes
    return [mine.count(c) / len(mine) for c in range(n_classes)]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_neutral_shares_are_those_of_all_rows_that_agree(data):
    n_variables, n_rows = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 12))
    parts = [data.draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows)) for _ in range(n_variables)]
    classes = data.draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))
    asked = data.draw(st.lists(st.tuples(*[st.integers(-1, 4)] * n_variables), min_size=1, max_size=10))
    cells = make_cells(range(n_variables), [np.array(of) for of in parts], Target(np.array(classes), None, 3))
    shares = np.vstack([cells.shares(), np.bincount(classes, minlength=3) / n_rows])
    of_rows = [np.array(column) for column in zip(*asked, strict=True)]
    found = np.take(*share_lines(cells, shares, of_rows, len(asked), Cells.shares), axis=0)
    assert found.tolist() == [slow_shares(parts, classes, 3, row) for row in asked]


@pytest.fixture(scope="module")
def grid():
    rng = np.random.default_rng(3)
    n = 600
    data = pd.DataFrame({
        "x": rng.uniform(0, 10, n), "town": rng.choice(list("abcdef"), n), "z": rng.uniform(0, 1, n),
    })  # fmt: skip
    y = (data["x"] > 5) ^ data["town"].isin(list("abc")) ^ (data["z"] > 0.6)
    y ^= rng.random(n) < 0.1
    model = Model.from_partitions(
        data, y.to_numpy(), {"x": [3.0, 5.0], "town": [["a", "b"], ["c"], ["d", "e", "f"]], "z": [0.6]}
    )
    return data, y.to_numpy(), model


def test_a_grid_predicts_by_all_rows_that_agree(grid):
    data, y, model = grid
    new = pd.DataFrame(
        list(itertools.product([1.0, 4.0, math.nan], ["a", "c", "never", None], [0.1, 0.9, math.nan])),
        columns=["x", "town", "z"],
    )
    parts, training = model.transform(new), model.transform(data)
    assert (parts < 0).any(axis=0).all()
    expected = [slow_shares(training.T.tolist(), y.astype(int).tolist(), 2, row) for row in parts.tolist()]
    assert model.predict_proba(new).tolist() == expected
    assert model.predict(new).tolist() == [bool(np.argmax(shares)) for shares in expected]
    is_whole = (parts >= 0).all(axis=1)
    assert (model.cell_of(new)[~is_whole] == -1).all()
    assert (model.cell_of(new)[is_whole] >= 0).all()
    # The definition in words: an average over the parts of the column, weighted by their rows given the others.
    cells = model.cells
    mine = (cells.parts[:, 1] == 0) & (cells.parts[:, 2] == 1)
    average = np.average(cells.shares()[mine], axis=0, weights=cells.rows[mine])
    assert model.predict_proba({"x": [math.nan], "town": ["a"], "z": [0.9]})[0] == pytest.approx(average, abs=1e-12)
    assert model.predict_proba({"x": [math.nan], "town": [None], "z": [math.nan]})[0].tolist() == [
        1 - y.mean(), y.mean()
    ]  # fmt: skip


def test_a_million_rows_are_vectorised(grid):
    _, _, model = grid
    n = 100_000
    rng = np.random.default_rng(0)
    new = {
        "x": np.where(rng.random(n) < 0.3, np.nan, rng.uniform(0, 10, n)),
        "town": rng.choice(list("abcxyz"), n),
        "z": rng.uniform(0, 1, n),
    }
    found = model.predict_proba(new)
    assert found.shape == (n, 2)
    some = {name: column[:50] for name, column in new.items()}
    assert np.array_equal(found[:50], model.predict_proba(some))


def test_a_model_file_keeps_what_it_says(towns):
    """A model of version 6 is neutral; a default, as from an older file, is kept, unless the call says otherwise."""
    again = Model.from_json(towns.to_json())
    assert again.transform(["x", None]).tolist() == [-1, -1]
    text = towns.to_json().replace('"default": null', '"default": 0')
    old = Model.from_json(text)
    assert old.transform(["x", None]).tolist() == [0, 0]
    assert old.transform(["x", None], "neutral", "neutral").tolist() == [-1, -1]
    assert old.transform(["x", None], "largest").tolist() == [1, 0]
    assert Model.from_json(old.to_json()).transform(["x"]).tolist() == [0]
    assert "CASE" in old.to_sql("duckdb", output="parts")


def test_values_of_unlabelled_rows_alone_are_a_part_without_a_class():
    """With placement="median", parts are found on the labelled rows."""
    x = np.append(AGES, [np.nan, np.nan])
    y = [*BOUGHT, "?", "?"]
    model = optimize({"age": x}, y, unlabelled="?", placement="median")
    partition = model.partitions["age"]
    assert partition.labels[0] == "missing"
    assert partition.counts[0].tolist() == [0, 0]
    assert partition.unlabelled[0] == 2
    assert model.predict_proba([math.nan])[0].tolist() == [0.5, 0.5]
    assert np.bincount(model.transform(x), minlength=partition.n_parts).tolist() == partition.rows.tolist()
    town = ["a"] * 10 + ["b"] * 10 + ["c", None]
    model = optimize({"town": town}, ["no"] * 10 + ["yes"] * 10 + ["?", "?"], unlabelled="?", placement="median")
    assert model.partitions["town"].groups[-1] == (None, "c")
    assert model.predict_proba(["c", None]).tolist() == [[0.5, 0.5]] * 2
    assert Model.from_json(model.to_json()).transform(town).tolist() == model.transform(town).tolist()
    assert model.edit("town", groups=[["a"], ["b"]]).partitions["town"].n_parts == 3


def test_a_missing_value_in_an_uninformative_column_tells_nothing():
    model = gridmodl.optimize({"a": [1.0, 2.0, 3.0], "b": ["u", "v", "u"]}, [0, 1, 0])
    assert model.informative == []
    assert model.transform({"a": [math.nan], "b": ["z"]}).tolist() == [[-1, -1]]
    assert model.cell_of({"a": [math.nan], "b": ["z"]}).tolist() == [0]
