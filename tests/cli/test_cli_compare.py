"""``gridmodl compare``: the same as the library, exit codes, formats of data, errors in one line."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet
import pytest
from cli.commands import as_csv, bad, call, good, table
from report.htmlpages import Page

import gridmodl


@pytest.fixture(scope="module")
def moved(folder, tmp_path_factory):
    """New rows of older people, with dates."""
    rows = table(400, 3)
    age = [None if one is None else one + 30 for one in rows["age"].to_pylist()]
    days = [f"2024-0{1 + i % 3}-15" for i in range(400)]
    made = tmp_path_factory.mktemp("moved")
    changed = rows.set_column(1, "age", pa.array(age)).append_column("day", pa.array(days))
    (made / "moved.csv").write_text(as_csv(changed.append_column("n", pa.array([2] * 400))), encoding="utf-8")
    pyarrow.parquet.write_table(changed, made / "moved.parquet")
    return made


def test_it_prints_what_the_library_says(folder):
    models = gridmodl.Models.from_json(folder / "models.json")
    rows = pyarrow.parquet.read_table(folder / "new.parquet")
    expected = models.compare(rows, "class", "city")
    assert good("compare", folder / "models.json", folder / "new.parquet", "-t", "class", "--by", "city") == (
        expected.summary() + "\n"
    )
    text = good("compare", folder / "models.json", folder / "new.csv", "-t", "class", "--by", "city", "--json")
    assert text == expected.to_json()
    short = good("compare", folder / "models.json", folder / "new.csv", "--no-refit", "--json")
    assert short == models.compare(rows, refit=False).to_json()


def test_drift_has_an_exit_code_of_its_own(folder, moved, tmp_path):
    page = tmp_path / "drift.html"
    result = call("compare", folder / "models.json", moved / "moved.csv", "-t", "class", "--by", "day", "--html", page)
    assert result.exit_code == 3, result.output
    assert "drift in age" in result.stdout
    assert f"written: {page}" in result.stderr
    assert "<title>Drift of 3 columns</title>" in page.read_text(encoding="utf-8")
    result = call("compare", folder / "models.json", moved / "moved.parquet", "--json", "--by", "day")
    record = json.loads(result.stdout)
    assert (result.exit_code, record["has_drift"]) == (3, True)
    assert record["periods"] == ["all", "2024-01-15", "2024-02-15", "2024-03-15"]  # texts in Parquet stay texts
    weighted = call("compare", folder / "models.json", moved / "moved.csv", "--by", "day", "--weights", "n", "--json")
    assert json.loads(weighted.stdout)["new_rows"] == [800, 268, 266, 266]
    assert json.loads(weighted.stdout)["periods"] == ["all", "2024-01", "2024-02", "2024-03"]
    assert call("compare", folder / "models.json", moved / "moved.csv", "--threshold", 50).exit_code == 0


def test_other_files_are_sections_of_the_page(folder, tmp_path):
    page = tmp_path / "drift.html"
    given = ("--section", folder / "models.json", "--section", folder / "averages.json", "--title", "T", "--about", "A")
    good("compare", folder / "models.json", folder / "new.csv", "--html", page, *given)
    document = Page(page.read_text(encoding="utf-8")).document
    assert [section["title"].split(" of ")[0] for section in document["sections"]] == [
        "Drift", "Best partitions", "Averages",
    ]  # fmt: skip
    assert document["about"] == "A"
    model, new = folder / "models.json", folder / "new.csv"
    assert "--section is for the page of --html" in bad("compare", model, new, "--section", model, code=2)
    averages = folder / "averages.json"
    assert "would write over --section" in bad("compare", model, new, "--html", averages, "--section", averages, code=2)
    assert "is no model" in bad("compare", model, new, "--html", page, "--section", new)


def test_grids_and_streams(folder):
    text = good("compare", folder / "model.json", "-", "--format", "csv", stdin=(folder / "new.csv").read_bytes())
    assert "no drift" in text
    assert "cells" in text
    assert "no drift" in good("compare", folder / "joint.json", folder / "new.csv")


def test_errors_are_one_line(folder, tmp_path):
    model, new = folder / "models.json", folder / "new.csv"
    assert "no column 'clas', which --target names; did you mean 'class'" in bad("compare", model, new, "-t", "clas")
    assert "no column 'month', which --by names" in bad("compare", model, new, "--by", "month")
    assert "--target names the classes" in bad("compare", folder / "joint.json", new, "-t", "class")
    assert "holds averages" in bad("compare", folder / "averages.json", new)
    assert "cannot both be standard input" in bad("compare", "-", "-", code=2)
    assert "--html needs the name of a file" in bad("compare", model, new, "--html", "-", code=2)
    assert "would write over the data" in bad("compare", model, new, "--html", new, code=2)
    assert "is not in the range" in bad("compare", model, new, "--alpha", "2", code=2)
    many = "age,city,income,id\n" + "".join(f"30,Ulm,{i},{i}\n" for i in range(1001))
    (tmp_path / "many.csv").write_text(many, encoding="utf-8")
    assert "error: --by has 1001 different values" in bad("compare", model, tmp_path / "many.csv", "--by", "id")
    (tmp_path / "empty.csv").write_text("age,city,income,class\n", encoding="utf-8")
    assert "has no rows to compare" in bad("compare", model, tmp_path / "empty.csv")
    (tmp_path / "less.csv").write_text("age,city\n1,Ulm\n", encoding="utf-8")
    assert "no column 'income', which the model needs" in bad("compare", model, tmp_path / "less.csv")
    (tmp_path / "text.csv").write_text("age,city,income\nold,Ulm,3\n", encoding="utf-8")
    assert "has 'old' in column 'age', where the model has numbers" in bad("compare", model, tmp_path / "text.csv")
