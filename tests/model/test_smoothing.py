"""`predict_proba(smoothing=True)`: what the criterion expects of the next row, the same by every door."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pytest
from cli.commands import bad, good

import gridmodl
from gridmodl import GridClassifier, Model

rng = np.random.default_rng(0)
N = 400
AGE = rng.integers(18, 90, N).astype(float)
TOWN = np.array(list("abcd"))[rng.integers(0, 4, N)]
Y = np.where(AGE < 30, "low", np.where((AGE < 60) & (TOWN < "c"), "mid", "top"))
Y[rng.integers(0, N, 20)] = "low"
DATA = pd.DataFrame({"age": AGE, "town": TOWN})
NEW = pd.DataFrame({"age": [20.0, 50.0, np.nan, 89.0, 50.0, np.nan], "town": ["a", "d", "a", "unseen", "b", "unseen"]})
COLUMN = gridmodl.optimize(DATA[["age"]], Y)
GRID = gridmodl.optimize(DATA, Y)
SAID = "smoothing must be True or False, as the criterion says how much to smooth; got 0.5"


def rows_like(model: Model, row: Any) -> np.ndarray:
    """Rows of training by class that have the parts of `row`; all of them where none has."""
    kept = np.ones(N, dtype=bool)
    for name in model.informative:
        part = int(model.part_of(name, [row[name]])[0])
        if part >= 0:
            kept &= model.part_of(name, DATA[name]) == part
    found = np.array([np.count_nonzero(kept & (label == Y)) for label in model.classes.tolist()])
    return found if found.any() else model.class_rows


@pytest.mark.parametrize("model", [COLUMN, GRID], ids=["column", "grid"])
def test_it_is_laplace_of_the_rows_of_the_cell(model: Model) -> None:
    found = model.predict_proba(NEW, smoothing=True)
    for i, row in NEW.iterrows():
        counts = rows_like(model, row)
        np.testing.assert_allclose(found[i], (counts + 1) / (counts.sum() + len(counts)), rtol=1e-15)
    plain = model.predict_proba(DATA)
    assert (plain == 0).any()
    assert (model.predict_proba(DATA, smoothing=True) > 0).all()
    np.testing.assert_array_equal(model.predict_proba(DATA, smoothing=False), plain)


def test_an_empty_cell_has_what_is_expected_of_all_rows() -> None:
    data = pd.DataFrame({"a": [1.0, 1, 2, 2] * 30, "b": ["x", "x", "y", "y"] * 30})
    model = Model.from_partitions(data, [0, 0, 1, 1] * 30, {"a": [1.5], "b": [["x"], ["y"]]})
    found = model.predict_proba({"a": [1.0, 1.0], "b": ["x", "y"]}, smoothing=True)
    np.testing.assert_allclose(found, [[61 / 62, 1 / 62], [61 / 122, 61 / 122]])


def test_a_part_without_labelled_rows_has_what_is_expected_of_all_rows() -> None:
    target = np.where(AGE > 80, "none", Y)
    bounds = {"age": [29.5, 80.0]}
    model = Model.from_partitions(DATA[["age"]], target, bounds, unlabelled="none")
    assert model.problem == "semi"
    rows = model.class_rows
    found = model.predict_proba({"age": [85.0]}, smoothing=True)
    np.testing.assert_allclose(found, [(rows + 1) / (rows.sum() + len(rows))])


@pytest.mark.parametrize("model", [COLUMN, GRID], ids=["column", "grid"])
def test_every_door_says_the_same(model: Model, tmp_path: Any) -> None:
    new = NEW.assign(number=range(len(NEW)))
    expected = model.predict_proba(new, smoothing=True)
    np.testing.assert_array_equal(Model.from_json(model.to_json()).predict_proba(new, smoothing=True), expected)
    lazy = model.predict_proba(pl.from_pandas(new).lazy(), smoothing=True).collect()
    np.testing.assert_array_equal(lazy.to_numpy(), expected)

    query = model.to_sql("duckdb", "new", keep=["number"], output=["predict", "proba"], smoothing=True)
    rows = duckdb.sql(query + "\nORDER BY 1").fetchall()
    np.testing.assert_array_equal([row[2:] for row in rows], expected)
    assert [row[1] for row in rows] == model.predict(new).tolist()
    with sqlite3.connect(":memory:") as connection:
        new.to_sql("new", connection, index=False)
        query = model.to_sql("sqlite", "new", keep=["number"], output="proba", smoothing=True)
        np.testing.assert_array_equal([row[1:] for row in connection.execute(query + "\nORDER BY 1")], expected)

    graph = model.to_onnx(output=["predict", "proba"], smoothing=True).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    values = {
        one.name: new[[one.name]].to_numpy(object if one.name == "town" else None) for one in session.get_inputs()
    }
    label, probabilities = session.run(None, values)
    np.testing.assert_array_equal(probabilities, expected)
    assert label.tolist() == model.predict(new).tolist()

    file, data = tmp_path / "model.json", tmp_path / "new.parquet"
    model.to_json(file)
    new.to_parquet(data)
    good("apply", file, data, "--as", "proba", "--smoothing", "-o", tmp_path / "out.parquet")
    np.testing.assert_array_equal(pd.read_parquet(tmp_path / "out.parquet").to_numpy(), expected)
    query = good(
        "sql", file, "-d", "duckdb", "--table", "new", "--as", "proba", "--keep-column", "number", "--smoothing"
    )
    np.testing.assert_array_equal([row[1:] for row in duckdb.sql(query + "\nORDER BY 1").fetchall()], expected)
    good("export", file, "-f", "onnx", "--smoothing", "--as", "proba", "-o", tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(session.run(None, values)[0], expected)


def test_tables_of_models_and_classifiers_take_it() -> None:
    models = gridmodl.optimize_each(DATA, Y)
    found = models.predict_proba(NEW, smoothing=True)
    for name, model in models.items():
        np.testing.assert_array_equal(found[name], model.predict_proba(NEW, smoothing=True))
    lazy = models.predict_proba(pl.from_pandas(NEW).lazy(), smoothing=True).collect().to_numpy()
    np.testing.assert_array_equal(lazy, np.hstack([found[name] for name in models]))
    classifier = GridClassifier(smoothing=True).fit(DATA, Y)
    np.testing.assert_array_equal(classifier.predict_proba(NEW), classifier.model_.predict_proba(NEW, smoothing=True))
    np.testing.assert_array_equal(GridClassifier().fit(DATA, Y).predict(NEW), classifier.predict(NEW))


@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_criteria_that_predict_take_it(criterion: str) -> None:
    model = gridmodl.optimize(DATA, Y, criterion=criterion)
    assert (model.predict_proba(DATA, smoothing=True) > 0).all()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: gridmodl.optimize(AGE, Y, criterion="gini"), "criterion 'gini' predicts nothing inside a cell.* modl"),
        (lambda: gridmodl.optimize(AGE, Y, target_kind="grouped"), "is for models of classes, .*use smoothing=False"),
        (lambda: gridmodl.optimize(DATA, Y, target_kind="grouped"), "is for models of classes, .*use smoothing=False"),
        (lambda: gridmodl.optimize(AGE, AGE % 7, target_kind="numerical"), "has no classes to predict"),
        (lambda: gridmodl.optimize(DATA, None), "has no classes to predict"),
    ],
)
def test_models_that_have_none_say_what_to_do(make: Any, said: str) -> None:
    model = make()
    with pytest.raises(ValueError, match=said):
        model.predict_proba(NEW if len(model.partitions) > 1 else NEW[[]].assign(x0=NEW["age"]), smoothing=True)
    with pytest.raises(
        ValueError, match=said if "no classes" not in said else "smoothing=True is of the output 'proba'"
    ):
        model.to_sql("duckdb", smoothing=True)


def test_wrong_calls_are_told() -> None:
    for call in (COLUMN.predict_proba, gridmodl.optimize_each(DATA, Y).predict_proba):
        with pytest.raises(TypeError, match=SAID):
            call(NEW, smoothing=0.5)
    with pytest.raises(TypeError, match=SAID):
        GridClassifier(smoothing=0.5).fit(DATA, Y)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="smoothing=True is not for target_kind='grouped'"):
        GridClassifier(smoothing=True, target_kind="grouped").fit(DATA, Y)
    for write in (lambda **more: COLUMN.to_sql("duckdb", **more), COLUMN.to_onnx):
        with pytest.raises(TypeError, match=SAID):
            write(smoothing=0.5)
        with pytest.raises(ValueError, match="smoothing=True is of the output 'proba', and the outputs are 'parts'"):
            write(smoothing=True, output="parts")


def test_wrong_commands_are_told(tmp_path: Any) -> None:
    NEW.to_csv(tmp_path / "new.csv", index=False)
    gridmodl.optimize_each(DATA, Y).to_json(tmp_path / "models.json")
    gridmodl.average_each(DATA[["age"]], Y).to_json(tmp_path / "averages.json")
    gridmodl.GridScorecard().fit(DATA, Y == "low").to_json(tmp_path / "card.json")
    assert "--smoothing is for --as proba" in bad(
        "apply", tmp_path / "models.json", tmp_path / "new.csv", "--as", "woe", "--smoothing", code=2
    )
    for file, said in {
        "models": "this file, of models of one column each, has not",
        "averages": "are for models, and this file holds averages",
        "card": "are not for a scorecard, which has its own",
    }.items():
        for command in (["sql", "-d", "duckdb"], ["export", "-f", "onnx", "-o", tmp_path / "x"]):
            text = bad(command[0], tmp_path / f"{file}.json", *command[1:], "--smoothing", code=2)
            assert said in " ".join(text.replace("│", " ").split())
    assert json.loads((tmp_path / "models.json").read_text())["format"] == "gridmodl models"
