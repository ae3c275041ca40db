"""Graphs of ONNX say the same as the model, in onnxruntime: parts, cells and shares to the bit."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report.partitions import categorical, model_of, numerical

import gridmodl
from gridmodl import GridLogistic, GridNaiveBayes, Model, Models, average
from gridmodl.model.policy import NEUTRAL
from gridmodl.report.onnx import onnx_of_lookups
from gridmodl.report.onnx.graph import FEW, Graph

NAN, INF = math.nan, math.inf
NAT = np.iinfo(np.int64).min


def run(graph, **columns):
    """What the graph returns, by output."""
    onnx.checker.check_model(graph, full_check=True)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {}
    for given_input in session.get_inputs():
        array = np.asarray(columns[given_input.name])
        wanted = {"tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(string)": object}[given_input.type]
        assert given_input.shape == ["rows", 1]
        assert wanted is object or array.dtype == wanted, (given_input.name, array.dtype)
        feeds[given_input.name] = array.astype(object)[:, None] if wanted is object else array[:, None]
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feeds), strict=True))


def parts_in(partition, values, **options):
    graph = model_of(partition).to_onnx(output="parts", **options)
    return run(graph, x=values)["parts"].ravel().tolist()


def assert_same(partition, values, asked=None, **options):
    """The parts in onnxruntime are those of the model; `asked` are the values as they are given to Python."""
    expected = partition.part_of(values if asked is None else asked, options.get("unknown")).tolist()
    assert parts_in(partition, values, **options) == expected


ODD = np.array([
    NAN, INF, -INF, 0.0, -0.0, 0.1, float(np.float32(0.1)), 2.45, math.nextafter(2.45, 0), math.nextafter(2.45, 9),
    -999.0, -998.5, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 1e22, 1e23, 9007199254740993.0,
])  # fmt: skip


@pytest.mark.parametrize("missing", [(None, False), (0, False), (0, True)])
@pytest.mark.parametrize("special", [(), (-999.0, 0.0), (INF, 2.45, 1e23)])
def test_floats_of_all_kinds(missing, special):
    bounds = [-INF, -5e-324, 0.0, float(np.float32(0.1)), 2.45, 9007199254740992.0, 1e23, 1.7976931348623157e308]
    assert_same(numerical(bounds, special, *missing), ODD)
    assert_same(numerical([*bounds, INF], special, *missing), ODD)
    assert_same(numerical([], special, *missing), ODD)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_numbers(data):
    numbers = st.floats(allow_nan=False) | st.sampled_from(ODD[1:].tolist())
    many = data.draw(st.sampled_from([[], [i / 7 for i in range(FEW)], [float(i) for i in range(4 * FEW + 3)]]))
    bounds = sorted({b + 0.0 for b in [*many, *data.draw(st.lists(numbers, max_size=6))]})
    codes = list(dict.fromkeys(c + 0.0 for c in data.draw(st.lists(numbers, max_size=3))))
    missing = data.draw(st.sampled_from([(None, False), (0, False), (0, True)]))
    near = [math.nextafter(b, way) for b in [*bounds, *codes] for way in (-INF, INF)]
    values = np.array([*ODD, *bounds, *codes, *near])
    assert_same(numerical(np.array(bounds, dtype=float), codes, *missing), values)


@pytest.mark.parametrize("n", [0, 1, 2, FEW - 1, FEW, FEW + 1, 63, 64, 65, 1000])
@pytest.mark.parametrize("or_equal", [False, True])
def test_numbers_below(n, or_equal):
    values = np.arange(n) * 0.5
    for bounds, x in [
        (values, np.array([-1.0, *values, *(values + 0.1), NAN, INF, -INF, -0.0])),
        (np.append(values, INF), np.array([INF, -INF, 1e308, NAN])),
        ((values * 2).astype(np.int64) + 2**60, np.arange(n + 3) + 2**60 - 1),
        (np.append((values * 2).astype(np.int64), 2**63 - 1), np.array([2**63 - 1, -(2**63), 2**63 - 2])),
    ]:
        graph = Graph(["x"], ["y"])
        found = graph.count_below(graph.input("x", str(x.dtype), ""), bounds, or_equal)
        graph.output("y", found, "int64", ["rows"], "")
        expected = np.searchsorted(bounds, x, side="right" if or_equal else "left")
        expected[np.isnan(x)] = 0
        assert run(graph.model("", {}, None), x=x)["y"].tolist() == expected.tolist()


LARGE = np.array([
    2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3, 2**60, 2**60 + 1, 2**60 - 1, 2**63 - 1, -(2**63) + 1,
    -(2**53) - 1, 0, 5,
])  # fmt: skip


@pytest.mark.parametrize(
    "bounds",
    [
        [2**53 + 1, 2**53 + 2, 2**53 + 3, 2**60, 2**60 + 1], [-(2**63) + 1, -(2**53) - 1, 5], [2**53],
        np.array([2**53 + 1, 2**63 - 1], dtype=np.uint64),
    ],
)  # fmt: skip
def test_integers_beyond_what_floats_hold(bounds):
    for special in ((), [2**60 + 1, -5], [2.0**60, 0.5, INF]):
        partition = numerical(bounds, special, 0, True)
        column = pd.Series([*LARGE.tolist(), None], dtype="Int64")
        assert_same(partition, np.append(LARGE, NAT), column)


def test_short_integers_are_floats():
    assert_same(numerical(np.array([3, 5]), [4]), np.array([2.0, 3.0, 4.0, 5.0, 6.0, 2.0**60, NAN]))
    assert_same(numerical([2.0**60]), np.array([2.0**60, 2.0**60 + 256, 1.0]))


def test_several_codes_of_a_part():
    partition = numerical([0.5], [-1.0, -2.0, -3.0], 0, True, special_sizes=(2, 1))
    assert_same(partition, np.array([-1.0, -2.0, -3.0, -4.0, 9.0, NAN]))


WORDS = [
    "red",
    "Red",
    "RED ",
    " red",
    "é",
    "e\u0301",
    "日本",
    "😀",
    "it's",
    '"quoted"',
    "a\\",
    "\n",
    "%s",
    "NULL",
    "nan",
]


@pytest.mark.parametrize("unknown", ["largest", "neutral", None])
@pytest.mark.parametrize("has_missing", [True, False])
def test_texts(unknown, has_missing):
    groups = [tuple(WORDS[i::3]) for i in range(3)]
    groups[1] += (None,) if has_missing else ()
    asked = [*WORDS, "unseen", "re", "red\n", None, "É"]
    for marker in ("", "missing value"):
        values = np.array([marker if word is None else word for word in asked], dtype=object)
        assert_same(categorical(*groups), values, asked, unknown=unknown, missing_text=marker)


def test_a_category_that_stands_for_missing_values():
    partition = categorical(("", "a"), ("b",))
    with pytest.raises(ValueError, match=r"column 'x' has the category '', .* choose another text with missing_text="):
        model_of(partition).to_onnx()
    assert_same(partition, np.array(["", "a", "b", "?"], dtype=object), ["", "a", "b", None], missing_text="?")


def test_numbers_as_categories():
    partition = categorical((1, 2, -5, True), (3, None, 0.5), (4, -0.0), default=None)
    values = np.array([1.0, 2.0, 3.0, 4.0, 0.5, -5.0, 0.0, 1.5, NAN, INF])
    assert_same(partition, values, unknown="neutral")
    assert_same(partition, values, unknown="largest")
    large = categorical((2**53 + 1, 1), (2**53, None), (2**60,))
    asked = pd.Series([2**53 + 1, 2**53, 2**53 + 2, 2**60, 1, None], dtype="Int64")
    assert_same(large, asked.fillna(NAT).to_numpy(np.int64), asked)
    assert_same(categorical((True, None), (False,)), np.array([1.0, 0.0, NAN]), [True, False, None])
    many = categorical(tuple(range(0, 200, 2)), tuple(range(1, 200, 2)))
    assert_same(many, np.arange(-1.0, 202.0))


@pytest.mark.parametrize("kind", ["M8[us]", "M8[D]", "M8[ns]", "m8[s]"])
def test_dates_and_durations(kind):
    ticks = np.array([-5, 0, 1, 2, 10**9, NAT])
    partition = numerical(np.array([-5, 1, 10**8], dtype=kind), np.array([2], dtype=kind), 0, True)
    assert_same(partition, ticks, ticks.view(kind))
    graph = model_of(partition).to_onnx()
    assert f"as {np.dtype(kind)}, viewed as integers" in graph.graph.input[0].doc_string
    utc = replace(partition, is_utc=True) if kind.startswith("M8") else partition
    assert ("UTC" in model_of(utc).to_onnx().graph.input[0].doc_string) == utc.is_utc


# Models.


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 400
    age = rng.integers(18, 90, n).astype(float)
    age[::11], age[::13] = NAN, -999
    colour = rng.choice(np.array(["red", "bl'ue", "grün\\", None], dtype=object), n)
    buys = rng.random(n) < np.where(age < 40, 0.1, 0.6) + np.where(np.isin(colour, ["red", "grün\\"]), 0.3, 0.0)
    return pd.DataFrame({"age": age, "colour": colour, 7: rng.normal(size=n), "buys": np.where(buys, "yes", "no")})


NEW = pd.DataFrame({
    "age": [20.0, 50.0, NAN, NAN, -999.0, INF, 89.0, 30.5],
    "colour": ["red", "bl'ue", None, "unseen", "grün\\", "red", None, "bl'ue"],
    7: [0.0, 1.0, -1.0, 0.5, 2.0, -2.0, NAN, 0.1],
})  # fmt: skip


def columns_of(data, missing_text=""):
    texts = data["colour"].where(data["colour"].notna(), missing_text)
    return {"age": data["age"].to_numpy(), "colour": texts.to_numpy(object), "7": data[7].to_numpy()}


def assert_answers(model, data, unknown=None):
    found = run(model.to_onnx(unknown=unknown), **columns_of(data))
    names = list(model.partitions)
    shown = [k for k, name in enumerate(names) if model.partitions[name].n_parts > 1] or range(len(names))
    parts = np.atleast_2d(model.transform(data, unknown).T).T
    np.testing.assert_array_equal(found["parts"], parts[:, list(shown)])
    np.testing.assert_array_equal(found["cell"], model.cell_of(data, unknown))
    np.testing.assert_array_equal(found["label"], model.predict(data, unknown))
    np.testing.assert_array_equal(found["probabilities"], model.predict_proba(data, unknown))


@pytest.mark.parametrize("unknown", ["largest", "neutral", None])
def test_models_of_one_column_and_grids(frame, unknown):
    models = gridmodl.optimize_each(frame, "buys", special={"age": [-999, -998]}, n_jobs=1)
    for model in models.values():
        assert_answers(model, NEW, unknown)
    grid = Model.from_partitions(frame, "buys", {"age": [30.5, 60.0], "colour": [["red"], ["bl'ue", "grün\\", None]]})
    assert_answers(grid, NEW, unknown)
    few = grid._cells._replace(parts=grid.cells.parts[1:-1], counts=grid.cells.counts[1:-1])
    assert_answers(replace(grid, _cells=few), NEW, unknown)  # cells that no row was in
    assert_answers(Model.from_partitions(frame, "buys", {}), NEW, unknown)
    assert_answers(grid, NEW[:0], unknown)


def test_neutral_predictions_of_a_grid(frame):
    model = Model.from_partitions(
        frame.dropna(), "buys", {"age": [30.5, 60.0], "colour": [["red", "grün\\"], ["bl'ue"]], 7: [0.0]}
    )
    rows = pd.MultiIndex.from_product([[20.0, 90.0, NAN], ["red", "bl'ue", "new", None], [-1.0, 1.0, NAN]])
    new = rows.to_frame(index=False, name=["age", "colour", 7])
    for unknown in (None, "largest"):
        assert_answers(model, new, unknown)


def test_grids_whose_parts_make_large_numbers(frame, monkeypatch):
    monkeypatch.setattr("gridmodl.report.onnx.models.LARGEST_KEY", 8)
    model = Model.from_partitions(
        frame.dropna(), "buys", {"age": [30.5, 60.0], "colour": [["red", "grün\\"], ["bl'ue"]], 7: [0.0]}
    )
    rows = pd.MultiIndex.from_product([[20.0, 50.0, 90.0, NAN], ["red", "bl'ue", "new", None], [-1.0, 1.0, NAN]])
    assert_answers(model, rows.to_frame(index=False, name=["age", "colour", 7]))


def test_weights_of_evidence(frame):
    models = gridmodl.optimize_each(frame, "buys", special={"age": [-999]}, event="yes", n_jobs=1).select(level=0)
    graph = models.to_onnx(output=["parts", "woe"])
    found = run(graph, **columns_of(NEW))
    facts = {entry.key: json.loads(entry.value) for entry in graph.metadata_props}
    assert facts == {"gridmodl.parts": list(map(str, models)), "gridmodl.woe": list(map(str, models))}
    wanted = models.transform(NEW, encode="woe", frame="arrays")
    np.testing.assert_array_equal(found["woe"], np.column_stack(list(wanted.values())))
    three = np.array(["a", "b", "c"])[np.arange(len(frame)) % 3]
    model = Model.from_partitions(frame[["age"]], three, {"age": [30.5]})
    made = Models({"age": model}).transform(NEW[["age"]], encode="woe", frame="arrays")
    graph = model.to_onnx(output="woe")
    np.testing.assert_array_equal(run(graph, **columns_of(NEW))["woe"], np.column_stack(list(made.values())))
    assert json.loads(graph.metadata_props[0].value) == ["age_a", "age_b", "age_c"]


def test_other_targets(frame):
    y = np.random.default_rng(1).normal(size=len(frame)) + (frame["age"].to_numpy() > 40)
    model = Model.from_partitions(
        {"age": frame["age"]}, y, {"age": [NAN, 30.5, 1000.0], "target": [0.0]}, target_kind="numerical"
    )
    found = run(model.to_onnx(coverage=0.73), **columns_of(NEW))
    np.testing.assert_array_equal(found["prediction"], np.column_stack(model.predict(NEW, coverage=0.73)))
    target = np.where(frame["age"] > 50, "a", "b") + np.where(frame["buys"] == "no", "1", "2").astype(object)
    grouped = Model.from_partitions(
        {"colour": frame["colour"]}, target, {"colour": [["red"], ["bl'ue", None], ["never"], ["grün\\"]],
        "target": [["a1", "b1"], ["a2", "b2"]]}, target_kind="grouped",
    )  # fmt: skip
    found = run(grouped.to_onnx(), **columns_of(NEW))
    np.testing.assert_array_equal(found["probabilities"], grouped.predict_proba(NEW))
    np.testing.assert_array_equal(found["label"], grouped.predict(NEW))
    joint = Model.from_partitions(
        frame[["age", "colour"]], None, {"age": [30.5], "colour": [["red"], ["bl'ue", "grün\\", None]]}
    )
    found = run(joint.to_onnx(), **columns_of(NEW))
    assert set(found) == {"parts", "cell"}
    np.testing.assert_array_equal(found["cell"], joint.cell_of(NEW))


@pytest.mark.parametrize("classes", [[0, 1], [False, True], [0.5, 2.45], ["a", "A"]])
def test_classes_of_other_types(classes):
    model = replace(model_of(numerical([0.5])), classes=np.array(classes))
    found = run(model.to_onnx(output="predict"), x=np.array([0.0, 1.0]))["label"]
    assert found.tolist() == model.predict([0.0, 1.0]).tolist()
    assert type(found.tolist()[0]) is type(classes[0])


# Averages, classifiers, sums.


def assert_shares(found, values, asked=None):
    answers = run(found.to_onnx(), **{str(found.name): values})
    expected = found.predict_proba(values if asked is None else asked)
    np.testing.assert_array_equal(answers["probabilities"], expected)
    np.testing.assert_array_equal(answers["label"], found.classes[expected.argmax(axis=1)])


@pytest.mark.parametrize("seed", range(3))
def test_averages(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=700 if seed else 60)
    x[::7], x[1::9] = NAN, -99.0
    y = rng.integers(0, 2 + seed, len(x))
    found = average({"x": x}, y, special={"x": [-99, -98]} if seed < 2 else None)
    assert_shares(found, np.array([NAN, *rng.normal(size=200), -99.0, -98.0, 1e300, -1e300, INF, -INF, *found.knots]))


def test_averages_at_the_edges():
    assert_shares(average([5.0], ["a"]), np.array([NAN, 5.0, 6.0]))
    assert_shares(average([-1.7e308, 0.0, 1.7e308], [0, 1, 1]), np.array([-1.7e308, -1e308, 0.0, 1e307, 1.7e308, INF]))
    infinite = average([-INF, 0.0, 1.0, INF], [0, 0, 1, 1])
    assert_shares(infinite, np.array([-INF, -3.0, 0.0, 0.5, 1.0, 8.0, INF, NAN]))
    large = average(np.array([2**60, 2**60 + 5, 2**61]), [0, 1, 1])
    assert_shares(large, np.array([2**60 - 7, 2**60 + 1, 2**60 + 4, 2**61 + 1]))
    codes = average({"x": [-1, -2, -2]}, [0, 1, 1], special={"x": [-1, -2]})
    assert_shares(codes, np.array([-1.0, -2.0, 7.0, NAN]))
    assert_shares(average({"x": [NAN, NAN, 1.0, 2.0]}, [0, 1, 1, 1]), np.array([NAN, 1.25]))
    days = np.array(["2024-01-01", "2024-01-03", "2024-02-01"], dtype="M8[D]")
    dates = np.append(days + 1, np.datetime64("NaT"))
    assert_shares(average({"x": days}, [0, 0, 1]), dates.view(np.int64), dates)


def test_averages_of_levels():
    rng = np.random.default_rng(0)
    levels = ["it's low", "mid", "high", "unseen", "top", "n/a"]
    x = [levels[i] if i >= 0 else None for i in rng.choice([-1, 0, 1, 2, 4, 5], 200)]
    found = average({"x": x}, rng.integers(0, 3, 200), order={"x": levels}, special={"x": ["n/a"]})
    asked = np.array([None, *levels, "no level", "LOW"], dtype=object)
    assert_shares(found, np.array(["", *asked[1:]], dtype=object), asked)
    numbers = average({"x": [3, 1, 1]}, [0, 1, 1], order={"x": [3, 2, 1]})
    assert_shares(numbers, np.array([1.0, 2.0, 3.0, 4.0]))


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    size, town = rng.normal(size=n), rng.choice(list("pqrst"), n).astype(object)
    y = np.array(["a", "b", "c"])[np.digitize(size + 0.4 * rng.normal(size=n) + np.isin(town, ["p", "q"]), [-0.2, 1.0])]
    coded = np.round(size + rng.normal(size=n), 1)
    coded[::9], coded[1::11], town[::7] = -999.0, NAN, None
    day = np.datetime64("2020-01-01", "s") + (1e7 * size).astype(int)
    return pd.DataFrame({"size": size, "town": town, "coded": coded, "day": day}), y


def classifiers():
    frame, y = people()
    two, special = np.where(y == "c", "yes", "no"), {"coded": [-999.0]}
    xor = np.where((frame["size"] > 0) ^ frame["town"].isin(["p", "q"]), "yes", "no")
    yield "bayes", GridNaiveBayes(special=special).fit(frame, y)
    yield "logistic", GridLogistic(special=special, l2=3.0).fit(frame, y)
    yield "binary", GridLogistic(special=special, l2=3.0).fit(frame, two)
    yield "selective", GridNaiveBayes(special=special, weights="selective", averaged=False).fit(frame, two)
    yield "grids", GridNaiveBayes(weights="selective", interactions="auto").fit(frame, xor)


def test_classifiers():
    frame, _ = people(seed=1)
    odd = frame[:9].assign(size=[NAN, INF, -INF, -999.0, 0.0, -0.0, 1e300, 3.0, 4.0], town="new", day=pd.NaT)
    new = pd.concat([frame, odd], ignore_index=True)
    for name, fitted in classifiers():
        graph = fitted.to_onnx()
        columns = {"size": new["size"].to_numpy(), "coded": new["coded"].to_numpy()}
        columns["town"] = new["town"].where(new["town"].notna(), "").to_numpy(object)
        columns["day"] = new["day"].to_numpy("M8[s]").view(np.int64)
        found, expected = run(graph, **columns), fitted.predict_proba(new)
        np.testing.assert_allclose(found["probabilities"], expected, rtol=0, atol=1e-15, err_msg=name)
        np.testing.assert_array_equal(found["label"], fitted.predict(new), err_msg=name)
        assert (name == "grids") == bool(getattr(fitted, "grids_", None))
        far = replace(fitted.evidence_, weights=fitted.evidence_.weights * 1000.0)
        found = run(far.to_onnx(output="proba"), **columns)
        np.testing.assert_allclose(found["probabilities"], far.predict_proba(new), rtol=0, atol=1e-12, err_msg=name)


def test_sums_of_look_ups():
    rng = np.random.default_rng(0)
    partitions = [numerical([0.5, 1.5], [-9.0], name="a"), categorical(("x", None), ("y",), name="b")]
    tables = [rng.normal(size=one.n_parts + 1) for one in partitions]
    graph = onnx_of_lookups(partitions, tables, 600.0, NEUTRAL)
    a, b = np.array([0.0, 1.0, 2.0, -9.0, NAN]), ["x", "y", None, "new", "y"]
    found = run(graph, a=a, b=np.array([text or "" for text in b], dtype=object))
    addends = np.column_stack([t[p.part_of(v)] for t, p, v in zip(tables, partitions, (a, b), strict=True)])
    np.testing.assert_array_equal(found["addends"], addends)
    np.testing.assert_array_equal(found["score"], 600.0 + addends[:, 0] + addends[:, 1])
    with pytest.raises(ValueError, match="the table of 'a' has 4 entries; it needs 5"):
        onnx_of_lookups(partitions, [tables[0][:-1], tables[1]], 0.0, NEUTRAL)
    with pytest.raises(ValueError, match="a score of no column"):
        onnx_of_lookups([], [], 0.0, NEUTRAL)


# Files, names, and what is refused.


def test_files_and_facts(tmp_path, frame):
    model = Model.from_partitions(frame, "buys", {"age": [30.5], "colour": [["red"], ["bl'ue", "grün\\", None]]})
    path = tmp_path / "model.onnx"
    graph = model.to_onnx(path)
    assert onnx.load(path) == graph
    assert path.read_bytes() == model.to_onnx(path).SerializeToString(deterministic=True)
    assert {(entry.domain, entry.version) for entry in graph.opset_import} == {("", 17), ("ai.onnx.ml", 3)}
    facts = {entry.key: json.loads(entry.value) for entry in graph.metadata_props}
    assert facts == {"gridmodl.parts": ["age", "colour"], "gridmodl.classes": ["no", "yes"]}
    assert [one.doc_string for one in graph.graph.input] == ["numbers; NaN is missing", "texts; '' is missing"]


@pytest.mark.parametrize("name", ["constant_7", "parts", "reshape_9", "a b", "é😀", "y" * 300, "'"])
def test_any_name_of_a_column(name):
    if name == "parts":
        with pytest.raises(ValueError, match="column 'parts' has the name of an output"):
            model_of(numerical([0.5], name=name)).to_onnx()
        return
    found = run(model_of(numerical([0.5], name=name)).to_onnx(output="parts"), **{name: np.array([0.0, 1.0])})
    assert found["parts"].ravel().tolist() == [0, 1]


def test_what_cannot_be_is_said(frame):
    for partition, message in [
        (categorical(("a",), (1,)), "column 'x' has texts and numbers as categories"),
        (categorical((b"a",), (b"b",)), r"column 'x' has the value b'a' \(bytes\); there is ONNX for texts, numbers"),
        (categorical(((1, 2),), ("a",)), r"column 'x' has the value \(1, 2\) \(tuple\)"),
        (categorical((np.datetime64("2020-01-01"),), ()), r"\(moment\); there is ONNX for texts"),
        (categorical(("\ud800",), ("b",)), r"which ONNX cannot hold: surrogates not allowed"),
        (numerical(np.array([2**63 + 5], dtype=np.uint64)), "whole numbers beyond those of 64 bits with a sign"),
        (numerical([0.5], name=""), "column '' has no name of its own"),
        (numerical([0.5], name="\ud800"), "is no text that ONNX can hold"),
    ]:
        with pytest.raises(ValueError, match=message):
            model_of(partition).to_onnx()
    model = model_of(numerical([0.5]))
    for facts, error, message in [
        ({"unknown": "error"}, ValueError, "unknown='error' is not for ONNX"),
        ({"output": "part"}, ValueError, "output must be one or several of 'parts', 'woe', 'cell', 'predict', 'proba'"),
        ({"output": []}, ValueError, "output must be one or several"),
        ({"output": 3}, ValueError, "output must be one or several of .*, got 3"),
        ({"missing_text": None}, TypeError, "missing_text must be a text, got None"),
    ]:
        with pytest.raises(error, match=message):
            model.to_onnx(**facts)
    with pytest.raises(ValueError, match="no column has more than one part"):
        Models({"x": model_of(numerical([]))}, {}).to_onnx()
    pair = Model.from_partitions({7: [0.0, 1.0] * 4, "7": [0, 0, 1, 1] * 2}, [0, 1, 1, 0] * 2, {7: [0.5], "7": [0.5]})
    with pytest.raises(ValueError, match="column '7' has no name of its own"):
        pair.to_onnx()
    dates = replace(model, classes=np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"))
    with pytest.raises(ValueError, match="are no labels of ONNX; leave 'predict' out of output="):
        dates.to_onnx()


def test_onnx_is_imported_when_it_is_needed():
    code = "import sys, gridmodl.report.onnx; print('onnx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    code = (
        "import sys, gridmodl; sys.modules['onnx'] = None\n"
        "gridmodl.Model.from_partitions([1, 2], [0, 1], {'x0': [1]}).to_onnx()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'to_onnx needs onnx: pip install "gridmodl[onnx]"' in done.stderr
