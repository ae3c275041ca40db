"""gridmodl show, report, sql, criteria, cache, completion and demo."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys

import duckdb
import pytest
from cli.commands import bad, call, good

import gridmodl
from gridmodl.cli import outputs, showing
from gridmodl.report.sql import dialects


def test_the_summary_is_that_of_the_library(folder):
    for name, kind in (("model", gridmodl.Model), ("models", gridmodl.Models), ("joint", gridmodl.Model)):
        path = folder / f"{name}.json"
        assert good("show", path) == kind.from_json(path).summary() + "\n"
    models = gridmodl.Models.from_json(folder / "models.json")
    assert good("show", folder / "models.json", "--column", "city") == models["city"].summary() + "\n"


def test_facts_as_json(folder):
    facts = json.loads(good("show", folder / "model.json", "--json"))
    model = gridmodl.Model.from_json(folder / "model.json")
    assert facts["level"] == model.level
    assert facts["columns"][1]["parts"] == model.partitions["city"].labels
    assert len(json.loads(good("show", folder / "models.json", "--json"))["models"]) == 3


def test_tables_as_text_csv_and_json(folder):
    path = folder / "model.json"
    model = gridmodl.Model.from_json(path)
    expected = model.table("age", "arrays")
    found = list(csv.DictReader(io.StringIO(good("show", path, "--table", "--column", "age", "--csv"))))
    assert [row["part"] for row in found] == expected["part"].tolist()
    assert [float(row["share_yes"]) for row in found] == expected["share_yes"].tolist()
    records = json.loads(good("show", path, "--table", "--column", "age", "--json"))
    assert [record["rows"] for record in records] == expected["rows"].tolist()
    assert expected["part"][0] in good("show", path, "--table", "--column", "age")
    cells = json.loads(good("show", path, "--cells", "--json"))
    assert [cell["rows"] for cell in cells] == model.cell_table("arrays")["rows"].tolist()
    models = list(csv.DictReader(io.StringIO(good("show", folder / "models.json", "--csv"))))
    assert models[0]["column"] == "age"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["model.json", "--table"], 1, "name one by --column: 'age'"),
        (["model.json", "--table", "--column", "agge"], 1, "did you mean 'age'?"),
        (["models.json", "--column", "zz"], 1, "has no column 'zz'; it has 'age'"),
        (["models.json", "--cells"], 1, "name the one whose cells to print by --column"),
        (["model.json", "--table", "--cells"], 2, "give one of them"),
        (["model.json", "--csv"], 2, "give --table or --cells"),
        (["nope.json"], 1, "No such file"),
        (["data.parquet"], 1, "is no model"),
    ],
)
def test_what_show_refuses(folder, words, code, said):
    assert said in bad("show", folder / words[0], *words[1:], code=code)


def test_the_dialects_offered_are_all_that_there_are():
    assert set(showing.DIALECTS) == set(dialects.DIALECTS)


def test_sql_gives_what_apply_gives(folder, tmp_path):
    query = good("sql", folder / "model.json", "--dialect", "duckdb", "--table", "new", "--keep-column", "id")
    with duckdb.connect() as database:
        database.execute(f"create view new as select * from read_parquet('{folder / 'new.parquet'}')")  # noqa: S608
        rows = database.sql(query).fetchall()
    words = [
        "--as",
        "parts",
        "--as",
        "cell",
        "--as",
        "predict",
        "--as",
        "proba",
        "--keep-column",
        "id",
        "--informative",
    ]
    applied = list(csv.reader(io.StringIO(good("apply", folder / "model.json", folder / "new.parquet", *words))))
    informative = gridmodl.Model.from_json(folder / "model.json").informative
    parts = [f"part_{name}" for name in informative]
    assert applied[0] == ["id", *parts, "cell", "predicted", "share_no", "share_yes"]
    found = sorted([[str(float(x)) if isinstance(x, (int, float)) else x for x in row] for row in rows])
    expected = sorted([[str(float(x)) if x not in ("yes", "no") else x for x in row] for row in applied[1:]])
    assert found == expected
    out = tmp_path / "q.sql"
    good("sql", folder / "models.json", "-d", "sqlite", "--table", "main.new", "-o", out, "--as", "labels")
    assert '"main"."new"' in out.read_text(encoding="utf-8")
    assert "--dialect" in bad("sql", folder / "model.json", code=2)


def test_export_gives_what_the_library_gives(folder, tmp_path):
    onnx = pytest.importorskip("onnx")
    out = tmp_path / "model.onnx"
    good("export", folder / "model.json", "--format", "onnx", "-o", out)
    assert onnx.load(out) == gridmodl.Model.from_json(folder / "model.json").to_onnx()
    words = ["--as", "woe", "--unknown", "largest", "--missing-text", "?"]
    good("export", folder / "models.json", "-f", "onnx", "-o", out, "-q", *words)
    models = gridmodl.Models.from_json(folder / "models.json")
    assert onnx.load(out) == models.to_onnx(output="woe", unknown="largest", missing_text="?")
    assert "output must be one or several" in bad(
        "export", folder / "models.json", "-f", "onnx", "-o", out, "--as", "proba"
    )
    assert "--format" in bad("export", folder / "model.json", "-o", out, code=2)
    assert "--output" in bad("export", folder / "model.json", "-f", "onnx", code=2)
    assert "--column is for averages" in bad(
        "export", folder / "model.json", "-f", "onnx", "-o", out, "--column", "age", code=2
    )


def test_criteria():
    printed = good("criteria")
    assert "2 SL + I (J-1) log N" in printed
    assert {record["criterion"] for record in json.loads(good("criteria", "--json"))} == set(gridmodl.list_criteria())
    assert json.loads(good("criteria", "--json", "--problem", "joint"))[0]["problems"] == "joint"
    assert "log C(N_c+J-1, J-1)" in good("criteria", "modl")
    assert "did you mean 'modl'" in bad("criteria", "modle", code=2)
    assert "no target" in bad("criteria", "--problem", "nope", code=2)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    assert "_GRIDMODL_COMPLETE" in good("completion", shell)


def test_completion_completes():
    environment = os.environ | {
        "_GRIDMODL_COMPLETE": "bash_complete",
        "COMP_WORDS": "gridmodl fit --tar",
        "COMP_CWORD": "2",
    }
    found = subprocess.run(
        [sys.executable, "-m", "gridmodl"], env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["plain,--target", "plain,--target-kind"]
    environment["COMP_WORDS"], environment["COMP_CWORD"] = "gridmodl fit --criterion bi", "3"
    found = subprocess.run(
        [sys.executable, "-m", "gridmodl"], env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["plain,bic"]


def test_cache_clear(tmp_path):
    """In a cache of its own: what others have compiled stays."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "gridmodl", "cache", "clear"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert done.stderr == "0 files deleted\n"
    done = subprocess.run([*command, "--json"], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"deleted": 0}


def test_demo(tmp_path):
    printed = good("demo", "--folder", tmp_path)
    assert "colour  categorical" in printed
    assert "age,colour,noise,share_no,share_yes" in printed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["customers.csv", "grid.json", "models.json", "new.csv"]
    assert call("show", tmp_path / "grid.json").exit_code == 0


def test_report_has_a_section_for_each_file(folder, tmp_path):
    files, page = [folder / f"{name}.json" for name in ("models", "averages", "joint")], tmp_path / "report.html"
    result = call("report", *files, "-o", page, "--title", "All of it", "--about", "300 rows")
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"written: {page}" in result.stderr
    first, second, third = (
        kind.from_json(path)
        for kind, path in zip((gridmodl.Models, gridmodl.Averages, gridmodl.Model), files, strict=True)
    )
    expected = first.to_html(title="All of it", about="300 rows", sections=[second, third])
    assert page.read_text(encoding="utf-8") == expected
    alone = good("report", "-", "-o", "-", stdin=files[2].read_bytes())
    assert alone == third.to_html()


def test_report_says_what_is_wrong(folder, tmp_path, monkeypatch):
    model, page = folder / "model.json", tmp_path / "report.html"
    assert "only one FILE can be standard input" in bad("report", "-", "-", "-o", page, code=2)
    assert "would write over" in bad("report", model, "-o", model, code=2)
    assert "is no model" in bad("report", model, folder / "data.csv", "-o", page)
    assert "Missing option" in bad("report", model, code=2)
    assert not page.exists()
    monkeypatch.setattr(outputs, "find_spec", lambda name: None)
    for command in (
        ("report", model, "-o", page),
        ("average", folder / "data.csv", "-t", "class", "--html", page),
        ("compare", model, folder / "new.csv", "--html", page),
    ):
        assert 'pip install "gridmodl[html]"' in bad(*command)
