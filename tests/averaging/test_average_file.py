"""Averages as JSON: read as they were written; texts that gridmodl did not write are refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

import gridmodl
from gridmodl import Average, Averages, ModelFileError, average, average_each
from gridmodl.averaging.file import FIELDS, FIELDS_OF_ALL

RNG = np.random.default_rng(0)
X = RNG.normal(size=60).round(2)
Y = (RNG.random(60) < 1 / (1 + np.exp(-2 * X))).astype(int)


def with_gaps(x):
    return np.where(np.arange(60) % 9 == 0, np.nan, np.where(np.arange(60) % 7 == 0, -9.0, x))


AVERAGES = {
    "plain": lambda: average(X, Y),
    "gaps": lambda: average({"x": with_gaps(X)}, Y, special={"x": [-9, -8]}, max_parts=9),
    "unlabelled": lambda: average(X, np.where(np.arange(60) % 4, -1, Y), unlabelled=-1, m=10),
    "many": lambda: average(RNG.normal(size=900), RNG.integers(0, 3, 900), m=40, prior="values"),
    "named": lambda: average(pd.DataFrame({"x": X, "y": Y}), "y"),
    "days": lambda: average(pd.Series(pd.date_range("2024-01-01", periods=20, tz="UTC")), np.arange(20) // 9),
    "durations": lambda: average(np.arange(5).astype("timedelta64[s]"), [0, 0, 1, 1, 1]),
    "integers": lambda: average(np.array([2**60, 2**60 + 1, 2**61]), ["a", "b", "b"]),
    "infinite": lambda: average([-np.inf, 1.0, np.inf], [0, 1, 1]),
    "float32": lambda: average(X.astype(np.float32), Y),
    "codes": lambda: average({"x": [-1, -2]}, [0, 1], special={"x": [-1, -2]}),
    "missing": lambda: average([np.nan] * 3, [0, 1, 1]),
    "one": lambda: average([3.0], ["a"], criterion="bic"),
    "stopped": lambda: average(np.arange(600.0), np.arange(600) % 2, time_limit=0.0),
    "entropy": lambda: average(X, Y, criterion="aic"),
    "levels": lambda: average({"x": np.arange(60) % 7 // 2}, Y, order={"x": range(5)}),
}


@pytest.mark.parametrize("name", AVERAGES)
def test_it_is_read_as_it_was_written(name, tmp_path):
    found = AVERAGES[name]()
    text = found.to_json(tmp_path / "average.json")
    again = Average.from_json(tmp_path / "average.json")
    assert again.to_json() == text == Average.from_json(text).to_json()
    record = json.loads(text)
    Draft202012Validator(gridmodl.json_schema("average")).validate(record)
    assert tuple(record) == FIELDS
    values = found.knots if len(found.knots) else np.array([1.0])
    if found.segments.is_utc:
        values = pd.Series(values).dt.tz_localize("UTC")
    assert np.array_equal(found.predict_proba(values), again.predict_proba(values))
    for field in ("log_evidence", "p_informative", "loo_loss", "exact", "prior", "max_parts", "stopped", "criterion"):
        assert getattr(found, field) == getattr(again, field)
    assert found.target_name == again.partition().target_name == ("y" if name == "named" else None)
    assert again.knots.dtype == found.knots.dtype
    assert again.band(values) == pytest.approx(found.band(values), abs=1e-9, nan_ok=True)
    assert [m.cost for m in again.sample(5)] == [m.cost for m in found.sample(5)]
    assert again.partition().cost == found.partition().cost
    assert again.best.cost == found.best.cost


def test_many_columns(tmp_path):
    frame = pd.DataFrame({"a": X, "b": X[::-1].copy(), "c": ["u", "v"] * 30})
    found = average_each(frame, Y, on_error="ignore")
    text = found.to_json(tmp_path / "averages.json")
    again = Averages.from_json(tmp_path / "averages.json")
    assert list(again) == list(found)
    assert again.to_json() == text
    assert list(again.errors) == ["c"]
    record = json.loads(text)
    Draft202012Validator(gridmodl.json_schema("averages")).validate(record)
    assert tuple(record) == FIELDS_OF_ALL
    record["averages"] *= 2
    with pytest.raises(ModelFileError, match=r"averages\[2\].*has an average already"):
        Averages.from_json(json.dumps(record))
    record["averages"] = []
    with pytest.raises(ModelFileError, match="must not be empty"):
        Averages.from_json(json.dumps(record))


def put(record, path, value):
    *way, last = path
    for key in way:
        record = record[key]
    record[last] = value


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["format"], "gridmodl model", "no gridmodl average"),
        (["version"], 5, "version"),
        (["version"], 7, "a newer gridmodl is needed"),
        (["extra"], 1, "unknown field 'extra'"),
        (["prior"], "columns", "prior"),
        (["max_parts"], 0, "max_parts"),
        (["exact"], 1, "true or false"),
        (["log_evidence"], "x", "must be a float"),
        (["log_evidence"], {"float": "nan"}, "must be finite"),
        (["neglected"], 1.5, "must be a probability"),
        (["p_informative"], -0.1, "must be a probability"),
        (["p_missing_apart"], None, "if and only if"),
        (["loo_loss"], -1.0, "must not be negative"),
        (["p_parts"], [], "sum to 1"),
        (["p_parts"], [0.5, 0.4], "sum to 1"),
        (["p_parts"], [1.5, -0.5], "sum to 1"),
        (["p_bounds"], [0.5], "one for each bound"),
        (["p_bounds", 0], 1.5, "one for each bound"),
        (["shares"], [[0.5, 0.5]], "rows of 2"),
        (["shares", 0], [0.5], "must be rows of 2"),
        (["shares", 0], [0.9, 0.9], "sum to 1 in each row"),
        (["knots", "values", 0], 1e9, "must ascend"),
        (["knots", "values", 0], {"float": "nan"}, "cannot hold"),
        (["knots"], {"dtype": "int64", "values": [1]}, "must be of float64"),
        (["knots"], {"dtype": "float64", "values": [1.0, 2.0]}, "one for each segment"),
        (["values", 0], 10**6, "distinct values"),
        (["values", 0], -1, "must be an integer from 0"),
        (["values"], [1], "distinct values"),
        (["runs", "size", 0], 10**9, "places"),
        (["runs", "zone", 0], 7, "zones"),
        (["runs", "times"], [1], "one length"),
        (["runs"], {}, "lacks the field"),
        (["segments", "problem"], "joint", "segments"),
        (["segments", "n_rows"], 4, "segments"),
        (["segments", "partitions", 0, "counts", 0, 0], 10**6, "segments"),
        (["segments"], {}, "no gridmodl model"),
    ],
)
def test_hostile_files_are_refused(path, value, words):
    record = json.loads(AVERAGES["gaps"]().to_json())
    put(record, path, value)
    text = json.dumps(record)
    with pytest.raises(ModelFileError, match=words):
        Average.from_json(text)


def test_what_the_schema_refuses_the_reader_refuses():
    validator = Draft202012Validator(gridmodl.json_schema("average"))
    record = json.loads(AVERAGES["gaps"]().to_json())
    for field in FIELDS:
        broken = {**record, field: {"no": "such"}}
        with pytest.raises(ValidationError):
            validator.validate(broken)
        with pytest.raises(ModelFileError):
            Average.from_json(json.dumps(broken))
        del broken[field]
        with pytest.raises(ModelFileError):
            Average.from_json(json.dumps(broken))
    with pytest.raises(ModelFileError):
        Average.from_json("{")
    with pytest.raises(ModelFileError):
        gridmodl.Model.from_json(json.dumps(record))


def test_the_event_of_an_average_is_kept():
    x, y = np.arange(40.0), ["bad", "good"] * 5 + ["bad"] * 30
    assert average(x, y).best.event == "good"
    found = average(x, y, event="bad")
    assert found.best.event == Average.from_json(found.to_json()).best.event == "bad"
    assert found.sample(1)[0].event == found.partition().event == "bad"
    assert average_each({"x": x}, y, event="bad")["x"].best.event == "bad"
    with pytest.raises(ValueError, match="event='worse' is no class of the target"):
        average(x, y, event="worse")
