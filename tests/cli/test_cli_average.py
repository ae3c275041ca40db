"""gridmodl average, and what other commands do with its files."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pyarrow.csv
import pytest
from cli.commands import bad, good
from report.databases import Stored, run
from report.htmlpages import Page

from gridmodl import Averages, average_each


def test_it_writes_what_the_library_finds(folder, tmp_path):
    text = good("average", folder / "data.csv", "--target", "class", "--special", "age=-999", "-o", tmp_path / "a.json",
                "--html", tmp_path / "a.html", "-m", 300)  # fmt: skip
    assert "informative" in text
    assert "city" not in text
    found = Averages.from_json(tmp_path / "a.json")
    data = pyarrow.csv.read_csv(folder / "data.csv")
    expected = average_each(data.select(["id", "age", "income", "class"]), "class", special={"age": [-999]}, m=300)
    assert list(found) == list(expected)
    assert found["age"].log_evidence == expected["age"].log_evidence
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page == found.to_html()


def test_other_commands_take_its_files(folder, tmp_path):
    path = tmp_path / "a.json"
    good("average", folder / "data.csv", "-t", "class", "-c", "age,income", "-o", path, "-q")
    assert "most likely" in good("show", path, "--column", "age")
    assert "likely parts" in good("show", path)
    facts = json.loads(good("show", path, "--json"))
    assert {fact["column"] for fact in facts["averages"]} == {"age", "income"}
    assert good("show", path, "--column", "age", "--table", "--csv").startswith("value,p_no,p_yes,p_bound")
    query = good("sql", path, "--dialect", "duckdb", "--column", "age", "--keep-column", "row number")
    values = [None, 20.0, 44.5, 99.0]
    answers = run("duckdb", query, {"age": Stored("double", values)})
    expected = Averages.from_json(path)["age"].predict_proba([np.nan, *values[1:]])
    assert np.allclose(answers, expected, rtol=0, atol=1e-12)
    assert "name one by --column" in bad("sql", path, "--dialect", "duckdb")
    good("export", path, "-f", "onnx", "--column", "age", "-o", tmp_path / "age.onnx")
    assert onnx.load(tmp_path / "age.onnx") == Averages.from_json(path)["age"].to_onnx()
    assert "name one by --column" in bad("export", path, "-f", "onnx", "-o", tmp_path / "age.onnx")
    assert "holds averages" in bad("apply", path, folder / "data.csv")
    assert "--cells is for a grid" in bad("show", path, "--cells", code=2)
    assert "are for models" in bad("sql", path, "-d", "duckdb", "--as", "parts", code=2)


def test_the_event_is_the_class_that_the_page_shows(folder, tmp_path):
    page = tmp_path / "a.html"
    for event, name in (([], "yes"), (["--event", "no"], "no")):
        good("average", folder / "data.csv", "-t", "class", "-c", "age", "--html", page, "-q", *event)
        (section,) = Page(page.read_text(encoding="utf-8")).document["sections"]
        assert [curve["name"] for curve in section["variables"][0]["chart"]["curves"]] == [name]
        assert dict(section["facts"])["Event"] == name
    assert "--event maybe is no class" in bad(
        "average", folder / "data.csv", "-t", "class", "-c", "age", "--event", "maybe"
    )


def test_ordinal_columns(folder, tmp_path):
    data = pyarrow.csv.read_csv(folder / "data.csv")
    cities = sorted(set(data["city"].to_pylist()) - {None})
    quoted = ['"' + city.replace('"', '""') + '"' for city in cities]
    path, order = tmp_path / "a.json", f"city={','.join(quoted)}"
    text = good("average", folder / "data.csv", "-t", "class", "--order", order, "-o", path)
    assert "city" in text
    found = Averages.from_json(path)["city"]
    expected = average_each(data.select(["city", "class"]), "class", order={"city": cities})["city"]
    assert found.log_evidence == expected.log_evidence
    assert found.segments.levels == tuple(cities)
    table = good("show", path, "--column", "city", "--table", "--csv").splitlines()
    assert table[1].split(",")[0] == cities[0]
    (fact,) = json.loads(good("show", path, "--column", "city", "--json"))["averages"]
    assert set(fact["bounds"]) <= set(cities)
    assert "must be numerical or" in bad("average", folder / "data.csv", "-t", "class", "--kind", "city=text", code=2)
    assert "ordinal, and its type" in bad("average", folder / "data.csv", "-t", "class", "-c", "city", "--kind",
                                          "city=ordinal")  # fmt: skip


def test_json_and_limits(folder):
    facts = json.loads(good("average", folder / "data.csv", "-t", "class", "-c", "age", "--json", "--max-parts", 2))
    (one,) = facts["averages"]
    assert len(one["p_parts"]) <= 2
    assert sum(one["p_parts"]) == pytest.approx(1.0)
    assert len(one["bounds"]) == len(one["p_bounds"])


def test_mistakes_are_said(folder):
    path = folder / "data.csv"
    assert "--target" in bad("average", path, code=2)
    assert "cannot be averaged" in bad("average", path, "-t", "class", "-C", "gini")
    assert "is categorical" in bad("average", path, "-t", "class", "-c", "city")
    assert "no criterion" in bad("average", path, "-t", "class", "-C", "modlx", code=2)
    assert "cannot both" in bad("average", path, "-t", "class", "--json", "-o", "-", code=2)
    assert "both target and weights" in bad("average", path, "-t", "class", "--weights", "class", code=2)
    assert "from 2 to" in bad("average", path, "-t", "class", "-m", 1)
