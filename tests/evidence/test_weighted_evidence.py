"""`WeightedEvidence`: rows in blocks, explanations, JSON files, SQL."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sqlglot
from jsonschema import Draft202012Validator
from report.databases import DIALECTS, Stored, run

import gridmodl
from gridmodl import GridLogistic, GridNaiveBayes, GridScorecard, ModelFileError, WeightedEvidence
from gridmodl.evidence import record
from gridmodl.model.policy import Policy


def make_data(n: int = 200, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    y = np.array(["a", "b", "c"])[np.digitize(size + 0.4 * rng.normal(size=n), [-0.6, 0.6])]
    colour = np.where(rng.random(n) < 0.7, y, "other").astype(object)
    colour[::7] = None
    coded = np.round(size + rng.normal(size=n), 1)
    coded[::9] = -999.0
    coded[1::11] = np.nan
    date = pd.Timestamp("2020-01-01") + pd.to_timedelta((100 * size).astype(int), unit="D")
    return pd.DataFrame({"size": size, "colour": colour, "coded": coded, "date": date, "same": 1.0}), y


DATA, Y = make_data()
TWO = np.where(Y == "c", "yes", "no")
SPECIAL = {"coded": [-999.0]}
FITTED = {
    "bayes": lambda: GridNaiveBayes(special=SPECIAL).fit(DATA, Y),
    "logistic": lambda: GridLogistic(special=SPECIAL, l2=3.0).fit(DATA, Y),
    "binary": lambda: GridLogistic(special=SPECIAL, l2=3.0).fit(DATA, TWO),
    "selective": lambda: GridNaiveBayes(special=SPECIAL, weights="selective", averaged=False).fit(DATA, TWO),
}


@functools.cache
def evidence_of(name: str) -> WeightedEvidence:
    """Fitted when a test first asks for it, not when tests are collected."""
    return FITTED[name]().evidence_


@pytest.fixture(params=FITTED)
def model(request: pytest.FixtureRequest) -> WeightedEvidence:
    return evidence_of(request.param)


@pytest.fixture
def bayes() -> WeightedEvidence:
    return evidence_of("bayes")


@pytest.fixture
def logistic() -> WeightedEvidence:
    return evidence_of("logistic")


@pytest.fixture
def binary() -> WeightedEvidence:
    return evidence_of("binary")


def test_blocks_of_rows_do_not_matter(model: WeightedEvidence, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, predicted = model.predict_proba(DATA), model.predict(DATA)
    monkeypatch.setattr(record, "BLOCK", 1)
    monkeypatch.setattr(record, "FEWEST", 7)
    np.testing.assert_array_equal(model.predict_proba(DATA), expected)
    np.testing.assert_array_equal(model.predict_proba(pl.from_pandas(DATA)), expected)
    np.testing.assert_array_equal(model.predict(DATA), predicted)
    assert model.predict_proba(DATA[:0]).shape == (0, len(model.classes))


def test_data_it_does_not_know(bayes: WeightedEvidence) -> None:
    with pytest.raises(ValueError, match=r"data has no column 'size'.*'sizes'"):
        bayes.predict_proba(DATA.rename(columns={"size": "sizes"}))
    with pytest.raises(ValueError, match="data has 2 columns without names, and the training data had 5"):
        bayes.predict_proba(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="that the training data did not have"):
        replace(bayes, policy=Policy("error", "neutral")).predict(DATA.assign(colour="new"))


# Explanations


def test_contributions_add_up(model: WeightedEvidence) -> None:
    found = model.explain(DATA)
    np.testing.assert_allclose(found.probabilities, model.predict_proba(DATA), rtol=1e-9)
    total = found.base + found.shown.sum(axis=1)
    shares = model.predict_proba(DATA)
    if len(model.classes) == 2:
        np.testing.assert_allclose(total[:, 0], np.log(shares[:, 1] / shares[:, 0]), rtol=1e-7, atol=1e-9)
    else:
        np.testing.assert_allclose(np.exp(total) / np.exp(total).sum(axis=1, keepdims=True), shares, rtol=1e-9)


def test_tables_have_the_largest_contribution_first(logistic: WeightedEvidence, binary: WeightedEvidence) -> None:
    table = binary.explain(DATA[:3]).table()
    assert isinstance(table, pd.DataFrame)
    assert list(table) == ["row", "column", "value", "contribution"]
    for row in range(3):
        mine = table[table["row"] == row]
        assert mine["column"].iloc[0] == "(all rows)"
        assert mine["contribution"].iloc[1:].abs().is_monotonic_decreasing
        assert len(mine) == len(binary.sources) + 1
        odds = mine["contribution"].sum()
        assert 1 / (1 + np.exp(-odds)) == pytest.approx(binary.predict_proba(DATA)[row, 1])
    several = logistic.explain(DATA[:2]).table("polars")
    assert several.columns == ["row", "column", "value", "contribution_a", "contribution_b", "contribution_c"]
    event = replace(logistic, event_index=1).explain(DATA[:2])
    assert event.shown_classes == ["b"]
    np.testing.assert_allclose(event.shown[..., 0], logistic.explain(DATA[:2]).shown[..., 1])


def test_one_row_in_many_forms(binary: WeightedEvidence) -> None:
    expected = binary.explain(DATA[:1]).shown
    row = DATA.iloc[0]
    for one in (row, row.to_dict(), row.tolist(), DATA.iloc[[0]], pl.from_pandas(DATA[:1])):
        found = binary.explain(one)
        assert found.n_rows == 1
        np.testing.assert_allclose(found.shown, expected)


def test_values_that_say_nothing_contribute_nothing(binary: WeightedEvidence) -> None:
    found = binary.explain({"size": None, "colour": "new", "coded": -999.0, "date": None, "same": 1.0})
    by_name = dict(zip(found.names, found.shown[0, :, 0].tolist(), strict=True))
    assert {"size", "coded", "date"} <= set(by_name)
    assert [by_name.get(name, 0.0) for name in ("size", "colour", "date")] == [0.0, 0.0, 0.0]
    assert by_name["coded"] != 0.0


def test_pictures(logistic: WeightedEvidence, binary: WeightedEvidence) -> None:
    found = logistic.explain(DATA[:3])
    display = found.plot(1)
    assert display.label == logistic.predict(DATA)[1]
    assert len(display.names) == len(logistic.sources) + 1
    assert display.names[-1] == "(all rows)"
    few = gridmodl.plot.ContributionsDisplay(found, row=-1, label="b", max_columns=1).plot()
    assert few.names[1:] == [f"({len(logistic.sources) - 1} more)", "(all rows)"]
    assert few.lengths.sum() == pytest.approx(found.shown[2, :, 1].sum() + found.base[1])
    assert few.ax_.get_xlabel() == "adds to the score, nats"
    assert binary.explain(DATA[:1]).plot().ax_.get_xlabel() == "adds to the log of the odds, nats"
    for arguments, message in (
        ({"row": 3}, "row must be"),
        ({"label": "z"}, "label must be"),
        ({"max_columns": 0}, "1"),
    ):
        with pytest.raises(ValueError, match=message):
            gridmodl.plot.ContributionsDisplay(found, **arguments)


def test_tables_of_sources(bayes: WeightedEvidence) -> None:
    table = bayes.table()
    assert set(table["column"]) == {source.name for source in bayes.sources}
    assert table["weight"].tolist() == [1.0] * len(table)
    assert np.all(table["low"] < table["high"])
    assert repr(bayes) == f"WeightedEvidence({len(bayes.sources)} sources for a, b, c)"


# Files


def test_files_are_exact(model: WeightedEvidence, tmp_path: Any) -> None:
    text = model.to_json(tmp_path / "model.json")
    Draft202012Validator(gridmodl.json_schema("evidence")).validate(json.loads(text))
    for again in (WeightedEvidence.from_json(text), WeightedEvidence.from_json(tmp_path / "model.json")):
        np.testing.assert_array_equal(again.predict_proba(DATA), model.predict_proba(DATA))
        assert again.to_json() == text
        assert (again.names, again.event, again.policy) == (model.names, model.event, model.policy)


def test_reading_a_file_imports_no_scikit_learn(tmp_path: Any, binary: WeightedEvidence) -> None:
    binary.to_json(tmp_path / "model.json")
    code = (
        "import sys, gridmodl; model = gridmodl.WeightedEvidence.from_json(sys.argv[1]);"
        "model.predict({'size': [1.0], 'colour': ['a'], 'coded': [1.0], 'date': ['NaT']} | "
        "{'date': __import__('numpy').array(['2020-01-01'], 'M8[s]')}); sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, tmp_path / "model.json"], check=False).returncode == 0


def changed(model: WeightedEvidence, path: str, value: Any) -> str:
    record_ = json.loads(model.to_json())
    at, *rest = path.split(".")
    inside = record_
    for key in (at, *rest[:-1]) if rest else ():
        inside = inside[int(key)] if isinstance(inside, list) else inside[key]
    inside[rest[-1] if rest else at] = value
    return json.dumps(record_)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("format", "gridmodl model", "no gridmodl classifier"),
        ("version", 99, "newer gridmodl"),
        ("event", 3, "event"),
        ("intercepts", [0.0], "intercepts"),
        ("weights", [[1.0]], "weights"),
        ("unknown", "guess", "unknown"),
        ("names", ["size"], "reads column"),
        ("frame", "excel", "frame"),
        ("more", 1, "more"),
        ("sources.0.kind", "tree", "must be one of parts, curve"),
        ("sources.0.price", -1.0, "price"),
        ("sources.0.shares", [[0.5, 0.3, 0.2]], "shares"),
        ("sources.0.log_prior", [0.1, 0.1, 0.1], "log_prior"),
    ],
)
def test_files_that_contradict_themselves(path: str, value: Any, message: str, bayes: WeightedEvidence) -> None:
    model = replace(bayes, sources=tuple(sorted(bayes.sources, key=lambda source: type(source).__name__)))
    assert type(model.sources[0]).__name__ == "CurveSource"
    with pytest.raises(ModelFileError, match=message):
        WeightedEvidence.from_json(changed(model, path, value))


# SQL


def stored(frame: pd.DataFrame, dialect: str) -> dict[str, Stored]:
    def plain(values: Any) -> list[Any]:
        return [None if pd.isna(value) else value for value in values]

    dates = [None if pd.isna(value) else value.to_pydatetime() for value in frame["date"]]
    return {
        "size": Stored("double", plain(frame["size"])),
        "colour": Stored("text", plain(frame["colour"])),
        "coded": Stored("double", plain(frame["coded"])),
        "date": Stored("moment", [str(date) if date and dialect == "sqlite" else date for date in dates]),
        "same": Stored("double", plain(frame["same"])),
    }


NEW = pd.concat(
    [DATA, DATA[:5].assign(size=np.nan, colour="new", date=pd.NaT), DATA[:9].assign(size=np.linspace(-5, 5, 9))]
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_queries_say_what_python_says(model: WeightedEvidence, dialect: str) -> None:
    query = model.to_sql(dialect, keep=["row number"])
    found = np.array(run(dialect, query, stored(NEW, dialect)), dtype=np.float64)
    np.testing.assert_allclose(found, model.predict_proba(NEW), atol=1e-12)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_queries_of_addends(dialect: str, logistic: WeightedEvidence, binary: WeightedEvidence) -> None:
    for model in (binary, logistic):
        query = model.to_sql(dialect, keep=["row number"], output="evidence")
        found = np.array(run(dialect, query, stored(NEW, dialect)), dtype=np.float64)
        n = len(model.classes)
        shown = model.explain(NEW).shown
        np.testing.assert_allclose(found[:, :-n], shown.reshape(len(NEW), -1), atol=1e-11)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_queries_without_sources_and_far_scores(dialect: str, binary: WeightedEvidence) -> None:
    nothing = GridNaiveBayes().fit(DATA[["same"]], TWO).evidence_
    one = GridNaiveBayes().fit(DATA[["same"]], ["x"] * len(DATA)).evidence_
    column = {"same": Stored("double", [1.0, None])}
    for model in (nothing, one):
        found = run(dialect, model.to_sql(dialect, keep=["row number"]), column)
        np.testing.assert_allclose(np.array(found), np.tile(np.exp(model.intercepts), (2, 1)), atol=1e-12)
    far = replace(binary, weights=binary.weights * 1000.0)
    found = run(dialect, far.to_sql(dialect, keep=["row number"]), stored(NEW, dialect))
    np.testing.assert_allclose(np.array(found, dtype=np.float64), far.predict_proba(NEW), atol=1e-12)


@pytest.mark.parametrize("dialect", [*DIALECTS, "bigquery", "snowflake", "spark"])
def test_queries_parse(dialect: str, binary: WeightedEvidence) -> None:
    for model in map(evidence_of, FITTED):
        query = model.to_sql(dialect, ("s", "t"), columns={"size": "other"}, keep=["id"], output="evidence")
        assert sqlglot.parse_one(query, read=dialect)
    with pytest.raises(ValueError, match="output must be one of"):
        binary.to_sql(dialect, output="parts")


def test_the_estimators_pass_on() -> None:
    fitted = GridLogistic(l2=3.0).fit(DATA, TWO)
    assert fitted.to_json() == fitted.evidence_.to_json()
    assert fitted.to_sql("duckdb", output="evidence") == fitted.evidence_.to_sql("duckdb", output="evidence")
    np.testing.assert_allclose(fitted.explain(DATA[:2]).shown, fitted.evidence_.explain(DATA[:2]).shown)
    strict = fitted.set_params(unknown="error")
    with pytest.raises(ValueError, match="not for SQL"):
        strict.to_sql("duckdb")


@pytest.mark.parametrize(
    "make",
    [
        GridNaiveBayes,
        lambda: GridNaiveBayes(weights="selective"),
        lambda: GridNaiveBayes(target_kind="grouped"),
        lambda: GridLogistic(l2=3.0),
    ],
)
def test_copies_of_columns_are_left_out_and_need_not_be_there(make: Any) -> None:
    plain = make().fit(DATA, Y)
    data = DATA.assign(double=2 * DATA["size"], late=-DATA["date"].astype(np.int64), paint=DATA["colour"].str.upper())
    fitted = make().fit(data, Y)
    found = WeightedEvidence.from_json(fitted.to_json())
    assert found.left_out == fitted.left_out_
    assert {"double", "late", "paint"} <= {*found.left_out}
    assert {name: why for name, why in found.left_out.items() if "copy" in why} == {
        "double": "it is a copy of column 'size'",
        "late": "it is a copy of column 'date', in reverse order",
        "paint": "it is a copy of column 'colour'",
    }
    near = 0.01 if getattr(fitted, "weights", "") == "selective" else 0.0  # the price of a column is of all columns
    np.testing.assert_allclose(found.predict_proba(DATA), plain.evidence_.predict_proba(DATA), rtol=0, atol=near)
    assert {*found.left_out} == {*data} - {name for one in found.sources for name in one.columns}
    assert found.left_out["same"] == "it says nothing about the classes"
    with pytest.raises(ValueError, match="double"):
        fitted.predict(DATA)  # columns of the data remain those of fit


def test_copies_are_in_no_grid() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random(600), rng.random(600)
    y = (a > 0.5) != (b > 0.5)
    model = GridNaiveBayes(weights="selective", interactions="auto").fit(pd.DataFrame({"a": a, "b": b, "a2": 2 * a}), y)
    assert list(model.grids_) == ["a x b"]
    assert model.left_out_ == {"a2": "it says nothing about the classes"}


def test_the_summary_has_sources_left_out_columns_and_notes() -> None:
    data = DATA.assign(leak=Y)
    text = GridNaiveBayes().fit(data, Y).evidence_.summary()
    assert text.splitlines()[0] == "evidence of 5 sources for a, b, c"
    assert "  same is left out: it says nothing about the classes" in text.splitlines()
    assert "note: leak: each part has one class only: is it a copy of the target" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("left_out", "said"),
    [
        ([["size", "it is"]], "left_out: names column 'size', which a source reads"),
        ([["strange", "it is"]], "left_out: names column 'strange', which is not among the names"),
        ([["same"]], "left_out[0]: must be a list of a name and a reason"),
    ],
)
def test_columns_left_out_of_a_file_are_checked(left_out: Any, said: str) -> None:
    record = json.loads(evidence_of("bayes").to_json()) | {"left_out": left_out}
    with pytest.raises(ModelFileError, match=re.escape(said)):
        WeightedEvidence.from_json(json.dumps(record))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas, lambda data: dict(data.items())])
def test_frames_of_dates_beside_numbers_are_read_column_by_column(frame: Any) -> None:
    data = DATA[["size", "date"]]
    evidence, card = GridNaiveBayes().fit(data, TWO).evidence_, GridScorecard().fit(data, TWO).scorecard_
    given = frame(data)
    np.testing.assert_array_equal(evidence.explain(given).shown, evidence.explain(data).shown)
    np.testing.assert_array_equal(card.score(given), card.score(data))
    np.testing.assert_array_equal(card.predict_proba(given), card.predict_proba(data))
    assert len(card.reasons(given, frame="arrays")["row"]) == len(card.reasons(data))
    assert card.cutoffs(given, TWO).gini == card.cutoffs(data, TWO).gini
