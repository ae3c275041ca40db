"""gridmodl edit, fit --event, and weights of evidence on the command line and in SQL."""

from __future__ import annotations

import csv
import io
import json

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest
from cli.commands import bad, call, good

import gridmodl


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_merge_of_many_models(folder, tmp_path):
    path, out = folder / "models.json", tmp_path / "out.json"
    models = gridmodl.Models.from_json(path)
    result = call("edit", path, "--column", "age", "--merge", "0,1", "-o", out)
    assert result.exit_code == 0, result.output
    wanted = models.edit("age", merge=[0, 1])
    found = gridmodl.Models.from_json(out)
    assert found["age"].cost == wanted["age"].cost
    assert found["age"].partitions["age"].labels == wanted["age"].partitions["age"].labels
    assert f"age: {wanted['age'].delta:+.6f} nats" in result.stderr
    assert list(found) == list(models)


def test_columns_are_dropped(folder):
    text = good("edit", folder / "models.json", "--drop", "city", "-q")
    assert "city" not in gridmodl.Models.from_json(text)


def test_one_model_on_standard_output(folder):
    model = gridmodl.Model.from_json(folder / "model.json")
    text = good("edit", folder / "model.json", "--column", "age", "--merge", "0,1", "-q")
    assert gridmodl.Model.from_json(text).cost == model.edit("age", merge=[0, 1]).cost


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["models.json"], 2, "--merge, or --drop"),
        (["models.json", "--merge", "0,1"], 1, "name one by --column"),
        (["models.json", "--column", "agge", "--merge", "0,1"], 1, "did you mean 'age'?"),
        (
            ["models.json", "--column", "age", "--merge", "a,b"],
            2,
            "takes numbers of parts such as 2,3, got 'a'",
        ),
        (["models.json", "--column", "age", "--merge", "0,99"], 1, "numbered from 0, got 99"),
        (["models.json", "--drop", "agge"], 1, "did you mean 'age'?"),
        (["model.json", "--drop", "age"], 2, "holds one model"),
    ],
)
def test_wrong_edits(folder, words, code, said):
    assert said in bad("edit", folder / words[0], *words[1:], code=code)


def test_the_event(folder):
    words = ("fit", folder / "data.parquet", "--target", "class", "--columns", "age", "-q", "-o", "-")
    assert gridmodl.Model.from_json(good(*words)).event == "yes"
    assert gridmodl.Model.from_json(good(*words, "--event", "no")).event == "no"
    assert gridmodl.Models.from_json(good(*words, "--each", "--event", "no")).event == "no"
    assert "--event maybe is no class of the target; its classes are 'no', 'yes'" in bad(*words, "--event", "maybe")
    assert "--event names a class of the target; give --target" in bad(
        "fit", folder / "data.parquet", "--columns", "city,product", "--event", "no", "-q", code=2
    )
    facts = json.loads(good("fit", folder / "data.parquet", "--target", "class", "--columns", "age", "--json", "-q"))
    assert facts["event"] == "yes"
    assert {"iv", "gini", "ks"} <= set(facts["columns"][0])


def test_the_event_has_the_type_of_the_target(tmp_path):
    rows = pa.table({"x": list(range(40)), "y": [0] * 20 + [1] * 20, "b": [False] * 20 + [True] * 20})
    pyarrow.parquet.write_table(rows, tmp_path / "data.parquet")
    for target, event, wanted in (("y", "0", 0), ("y", "1", 1), ("b", "false", False)):
        text = good(
            "fit", tmp_path / "data.parquet", "--target", target, "--columns", "x", "--event", event, "-o", "-", "-q"
        )
        assert gridmodl.Model.from_json(text).event is wanted


def test_woe_of_rows_and_in_sql(folder):
    path, data = folder / "models.json", pyarrow.parquet.read_table(folder / "new.parquet")
    models = gridmodl.Models.from_json(path)
    wanted = models.transform(data, encode="woe", frame="arrays")
    found = rows_of(good("apply", path, folder / "new.parquet", "--as", "woe"))
    for name in models:
        assert [float(row[f"woe_{name}"]) for row in found] == wanted[name].tolist()
    query = good("sql", path, "--dialect", "duckdb", "--table", "data", "--as", "woe", "--keep-column", "id")
    answer = duckdb.sql(query).arrow()
    answer = (answer.read_all() if hasattr(answer, "read_all") else answer).sort_by("id").to_pydict()
    order = sorted(range(data.num_rows), key=data["id"].to_pylist().__getitem__)
    for name in models:
        if models[name].partitions[name].n_parts > 1:
            assert answer[f"woe_{name}"] == [wanted[name][i] for i in order]
    assert "--as woe is for models of classes" in bad(
        "apply", folder / "joint.json", folder / "new.parquet", "--as", "woe"
    )


def test_tables_of_models_have_iv(folder):
    found = rows_of(good("show", folder / "models.json", "--csv"))
    assert {"iv", "gini", "ks", "missing", "event"} <= set(found[0])
    assert good("show", folder / "models.json").splitlines()[-1] == "  event: yes"
