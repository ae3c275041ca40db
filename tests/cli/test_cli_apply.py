"""gridmodl apply: what models say of new rows, batch by batch."""

from __future__ import annotations

import csv
import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from cli.commands import as_csv, bad, call, good, table

import gridmodl
from gridmodl.cli.reading import csvfiles, sources


def records(text, delimiter=","):
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


def applied(*words, stdin=None):
    return records(good("apply", *words, stdin=stdin))


@pytest.fixture(scope="module")
def model(folder):
    return gridmodl.Model.from_json(folder / "model.json")


@pytest.fixture(scope="module")
def new(folder):
    rows = pyarrow.parquet.read_table(folder / "new.parquet")
    return {name: rows[name] for name in rows.column_names}


def test_parts_are_those_of_transform(folder, model, new):
    expected = model.transform(new)
    for data in ("new.csv", "new.parquet"):
        found = applied(folder / "model.json", folder / data)
        assert list(found[0]) == ["part_age", "part_city"]
        assert [[int(row[name]) for name in row] for row in found] == expected.tolist()


def test_all_outputs_at_once(folder, model, new):
    words = [word for output in ("labels", "cell", "predict", "proba") for word in ("--as", output)]
    found = applied(folder / "model.json", folder / "new.csv", *words, "--informative")
    labels = model.partitions["age"].labels
    assert [row["label_age"] for row in found] == [labels[part] for part in model.transform(new)[:, 0]]
    assert [int(row["cell"]) for row in found] == model.cell_of(new).tolist()
    assert [row["predicted"] for row in found] == model.predict(new).tolist()
    shares = np.array([[float(row["share_no"]), float(row["share_yes"])] for row in found])
    assert np.array_equal(shares, model.predict_proba(new))


def test_names_that_the_user_gave_are_labels(folder, model, new, tmp_path):
    model.rename("age", {0: "young"}).to_json(tmp_path / "named.json")
    found = applied(tmp_path / "named.json", folder / "new.csv", "--as", "labels")
    labels = ["young", *model.partitions["age"].labels[1:]]
    assert [row["label_age"] for row in found] == [labels[part] for part in model.transform(new)[:, 0]]


def test_models_of_many_columns(folder, new):
    models = gridmodl.Models.from_json(folder / "models.json")
    found = applied(folder / "models.json", folder / "new.csv", "--as", "parts", "--as", "predict")
    for name, model in models.items():
        assert [int(row[f"part_{name}"]) for row in found] == model.part_of(name, new[name]).tolist()
        assert [row[f"predicted_{name}"] for row in found] == model.predict({name: new[name]}).tolist()


def test_columns_that_are_kept_are_as_they_were(folder):
    found = applied(folder / "model.json", folder / "new.csv", "--keep")
    given = records((folder / "new.csv").read_text(encoding="utf-8"))
    assert [{name: row[name] for name in given[0]} for row in found] == given
    found = applied(folder / "model.json", folder / "new.csv", "--keep-column", "id", "--keep-column", "city")
    assert list(found[0]) == ["id", "city", "part_age", "part_city"]


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "parquet", "arrow", "arrows", "feather"])
def test_every_format_is_written(folder, model, new, tmp_path, suffix):
    path = tmp_path / f"out.{suffix}"
    said = call("apply", folder / "model.json", folder / "new.csv", "--as", "labels", "--keep-column", "id", "-o", path)
    assert said.exit_code == 0, said.output
    assert said.stdout == ""
    if suffix.startswith(("csv", "tsv")):
        text = path.read_bytes()
        text = (gzip.decompress(text) if suffix.endswith("gz") else text).decode()
        found = [row["label_age"] for row in records(text, "\t" if suffix == "tsv" else ",")]
    else:
        readers = {"parquet": pyarrow.parquet.read_table, "feather": pyarrow.feather.read_table}
        opened = pa.ipc.open_stream if suffix == "arrows" else pa.ipc.open_file
        rows = readers[suffix](path) if suffix in readers else opened(path.read_bytes()).read_all()
        found = rows["label_age"].to_pylist()
    labels = model.partitions["age"].labels
    assert found == [labels[part] for part in model.transform(new)[:, 0]]
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_standard_input_in_many_small_batches(folder, monkeypatch):
    expected = good("apply", folder / "model.json", folder / "new.csv", "--keep")
    monkeypatch.setattr(csvfiles, "BLOCK", 200)
    text = (folder / "new.csv").read_bytes()
    assert good("apply", folder / "model.json", "-", "--format", "csv", "--keep", stdin=text) == expected
    assert "read from its end" in bad("apply", folder / "model.json", "-", stdin=(folder / "new.parquet").read_bytes())


def test_the_model_on_standard_input(folder):
    text = (folder / "model.json").read_text(encoding="utf-8")
    assert len(applied("-", folder / "new.csv", stdin=text)) == 40
    assert "cannot both be standard input" in bad("apply", "-", "-", code=2)


def test_unknown_categories(folder, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("age,city\n30,Ulm\n30,Atlantis\n", encoding="utf-8")
    largest = str(model.partitions["city"].rows.argmax())
    for words, part in (([], "-1"), (["--unknown", "neutral"], "-1"), (["--unknown", "largest"], largest)):
        assert [row["part_city"] for row in applied(folder / "model.json", path, *words)][1] == part
    assert [row["label_city"] for row in applied(folder / "model.json", path, "--as", "labels")][1] == ""
    assert "'Atlantis'" in bad("apply", folder / "model.json", path, "--unknown", "error")
    assert "'default' is not one of 'neutral', 'largest', 'error'" in bad(
        "apply", folder / "model.json", path, "--unknown", "default", code=2
    )


def test_missing_values_where_training_had_none(tmp_path):
    model, path = tmp_path / "model.json", tmp_path / "new.csv"
    data = {"age": [20.0, 30.0, 40.0, 50.0], "city": ["u", "v", "u", "v"]}
    gridmodl.Model.from_partitions(data, [0, 1, 1, 1], {"age": [35.0], "city": [["u"], ["v"]]}).to_json(model)
    path.write_text("age,city\n20,u\n,u\n20,\n,\n", encoding="utf-8")
    found = applied(model, path, "--as", "parts", "--as", "cell", "--as", "proba")
    assert [row["part_age"] for row in found] == ["0", "-1", "0", "-1"]
    assert [row["cell"] for row in found] == ["0", "-1", "-1", "-1"]
    assert [float(row["share_1"]) for row in found] == [0.0, 0.5, 0.5, 0.75]
    assert "column 'age' holds 2 missing values, and the training data had none; --missing neutral" in bad(
        "apply", model, path, "--missing", "error"
    )
    query = good("sql", model, "--dialect", "duckdb", "--missing", "neutral", "--unknown", "largest")
    assert "THEN -1" in query


def test_text_is_read_as_it_was_when_the_model_was_made(tmp_path):
    """Codes were text because of one that is none; now all look like numbers."""
    train, new, model = tmp_path / "train.csv", tmp_path / "new.csv", tmp_path / "m.json"
    rows = ["007,a", "7,b", "x1,a", "NA,b"] * 10
    train.write_text("code,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    good("fit", train, "-t", "y", "-o", model)
    new.write_text("code\n007\n7\n\n", encoding="utf-8")
    found = applied(model, new, "--as", "predict", "--keep")
    assert [row["code"] for row in found] == ["007", "7"]
    assert [row["predicted"] for row in found] == ["a", "b"]


def test_categories_of_other_types(tmp_path):
    model = tmp_path / "m.json"
    groups = {"i": [[1, 2], [3, None]], "b": [[True], [False]], "s": [["NA"], ["x"]], "d": [[0.5], [2.0]]}
    data = {
        "i": [1, 2, 3, None],
        "b": [True, False, True, False],
        "s": ["NA", "x", "x", "x"],
        "d": [0.5, 2.0, 2.0, 2.0],
    }
    kinds = dict.fromkeys(groups, "categorical")
    gridmodl.Model.from_partitions(data, [0, 1, 0, 1], groups, kinds=kinds).to_json(model)
    path = tmp_path / "new.csv"
    path.write_text("i,b,s,d\n01,TRUE,NA,.5\n,false,x,2\n9,true,x,2.0\n", encoding="utf-8")
    found = [[int(part) for part in row.values()] for row in applied(model, path)]
    assert found == [[0, 0, 0, 0], [1, 1, 1, 1], [-1, 0, 1, 1]]


def test_dates_are_compared_whatever_their_precision(tmp_path):
    train, model, new = tmp_path / "t.csv", tmp_path / "m.json", tmp_path / "n.csv"
    days = [f"2020-01-{d:02d},{'a' if d <= 15 else 'b'}" for d in range(1, 31)]
    train.write_text("when,y\n" + "\n".join(days) + "\n", encoding="utf-8")
    good("fit", train, "-t", "y", "-o", model)
    assert gridmodl.Model.from_json(model).partitions["when"].bounds.dtype.kind == "M"
    new.write_text("when\n2020-01-03 12:00:00\n2021-05-05T00:00:00.123\nNA\n", encoding="utf-8")
    assert [row["part_when"] for row in applied(model, new)] == ["0", "1", "-1"]
    new.write_text("when\n2020-01-03\nsoon\n", encoding="utf-8")
    assert "row 2 of" in bad("apply", model, new)
    new.write_text("when\n2020-01-03T00:00:00Z\n", encoding="utf-8")
    assert "where the model has dates" in bad("apply", model, new)


def test_a_header_without_rows(folder, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("age,city\n", encoding="utf-8")
    assert good("apply", folder / "model.json", path, "--as", "labels") == "label_age,label_city\n"
    pyarrow.parquet.write_table(table(1, 0).slice(0, 0), tmp_path / "new.parquet")
    assert good("apply", folder / "model.json", tmp_path / "new.parquet", "--as", "predict") == "predicted\n"


def test_a_numerical_target(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.random(80).round(3)
    data, model = tmp_path / "d.csv", tmp_path / "m.json"
    data.write_text("x,y\n" + "".join(f"{a},{10 * (a > 0.5) + b:.3f}\n" for a, b in zip(x, x, strict=True)), "utf-8")
    good("fit", data, "-t", "y", "-o", model)
    found = applied(model, data, "--as", "predict", "--coverage", 0.5)
    expected = gridmodl.Model.from_json(model).predict({"x": x}, coverage=0.5)
    assert [float(row["mean"]) for row in found] == expected.mean.tolist()
    assert [float(row["upper"]) for row in found] == expected.upper.tolist()
    assert "--as proba is for models of classes" in bad("apply", model, data, "--as", "proba")


def test_a_numerical_target_of_several_columns(tmp_path):
    rng = np.random.default_rng(0)
    x, town = rng.random(120).round(3), rng.choice(list("ab"), 120)
    data, model = tmp_path / "d.csv", tmp_path / "m.json"
    rows = (f"{a},{b},{10 * (a > 0.5) + 30 * (b == 'a') + a:.3f}\n" for a, b in zip(x, town, strict=True))
    data.write_text("x,town,y\n" + "".join(rows), "utf-8")
    assert "two or more input columns, numerical target" in good("fit", data, "-t", "y", "-o", model)
    assert ["1:", "a", "58"] in [line.split()[:3] for line in good("show", model).splitlines()]
    found = applied(model, data, "--as", "predict")
    expected = gridmodl.Model.from_json(model).predict({"x": x, "town": town})
    assert [float(row["mean"]) for row in found] == expected.mean.tolist()
    assert "LEFT JOIN" in good("sql", model, "-d", "duckdb")


def test_json_and_messages(folder, tmp_path):
    path = tmp_path / "out.csv"
    result = call("apply", folder / "model.json", folder / "new.csv", "-o", path, "--json")
    assert json.loads(result.stdout) == {"rows": 40, "output": str(path)}
    assert "40 rows" in result.stderr


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("city\nUlm\n", [], "has no column 'age', which the model needs; it has 'city'"),
        ("age;city\n1;Ulm\n", [], "--delimiter ';'"),
        ("age,city\n1,Ulm\nold,Ulm\n", [], "row 2 of"),
        ("age,city\n1,Ulm\nold,Ulm\n", [], "has 'old' in column 'age', where the model has numbers"),
        ("age,city\n1\n", [], "has 1 fields and the header 2"),
        ("age,city\n1,Ulm\n", ["--keep-column", "zip"], "which --keep-column names"),
        ("age,city\n1,Rome\n", ["--unknown", "error"], "--unknown neutral gives them no part"),
    ],
)
def test_wrong_data(folder, tmp_path, text, words, said):
    path, out = tmp_path / "new.csv", tmp_path / "out.csv"
    path.write_text(text, encoding="utf-8")
    assert said in bad("apply", folder / "model.json", path, "-o", out, *words)
    assert not out.exists()


def test_null_spellings_can_be_chosen(folder, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("age,city\nold,Ulm\n", encoding="utf-8")
    missing = gridmodl.Model.from_json(folder / "model.json").partitions["age"].missing
    assert applied(folder / "model.json", path, "--null", "old")[0]["part_age"] == str(missing)


@pytest.mark.parametrize(
    ("text", "said"),
    [("{}", "it has no format"), ("hello", "is no model"), ('{"format": "other"}', "its format is 'other'")],
)
def test_wrong_models(folder, tmp_path, text, said):
    path = tmp_path / "m.json"
    path.write_text(text, encoding="utf-8")
    assert said in bad("apply", path, folder / "new.csv")


def test_joint_models_have_cells_and_no_predictions(folder):
    found = applied(folder / "joint.json", folder / "new.csv", "--as", "cell")
    assert len(found) == 40
    assert "this model has none" in bad("apply", folder / "joint.json", folder / "new.csv", "--as", "predict")


@pytest.fixture(scope="module")
def joint(tmp_path_factory):
    """A joint grid of numbers, dates and categories with missing cells, its file, and rows as a CSV file."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    day = np.datetime64("2024-01-01") + (20 * x + 100).astype(int)
    color = np.where(rng.random(300) < 0.1, None, np.where(x > 0, "red", "blue"))
    rows = pa.table({"x": pa.array(np.where(rng.random(300) < 0.1, np.nan, x), from_pandas=True), "day": day,
                     "color": pa.array(color.tolist())})  # fmt: skip
    here = tmp_path_factory.mktemp("joint")
    model = gridmodl.optimize({name: rows[name] for name in rows.column_names}, random_state=0)
    model.to_json(here / "joint.json")
    (here / "rows.csv").write_text(as_csv(rows), encoding="utf-8")
    return model, rows, here


def test_densities_and_imputed_cells(joint):
    model, rows, here = joint
    words = ["--as", "log_density", "--as", "imputed", "-o", here / "out.csv", "--json"]
    facts = json.loads(good("apply", here / "joint.json", here / "rows.csv", *words))
    data = {name: rows[name] for name in rows.column_names}
    assert facts["rows"] == 300
    assert facts["score"] == pytest.approx(model.score(data), rel=1e-12)
    found = records((here / "out.csv").read_text(encoding="utf-8"))
    np.testing.assert_allclose([float(row["log_density"]) for row in found], model.log_density(data), rtol=1e-14)
    np.testing.assert_allclose([float(row["imputed_x"]) for row in found], model.impute("x", data), rtol=1e-14)
    assert [row["imputed_color"] for row in found] == model.impute("color", data).tolist()
    assert [row["imputed_day"] for row in found] == [str(day) for day in rows["day"].to_pylist()]


def test_columns_of_one_part_are_imputed_with_one_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "ROWS", 10)  # so that there are several batches
    numbers = np.arange(60.0)
    gridmodl.Model.from_partitions({"x": numbers, "y": numbers**2}, None, {"x": [30.0]}).to_json(
        tmp_path / "model.json"
    )
    rows = pa.table({"x": numbers, "y": pa.array([None] * 60, pa.float64())})
    pyarrow.parquet.write_table(rows, tmp_path / "rows.parquet")
    result = call("apply", tmp_path / "model.json", tmp_path / "rows.parquet", "--as", "imputed")
    assert result.stderr.count("gridmodl: warning: column 'y' has one part") == 1
    assert {row["imputed_y"] for row in records(result.stdout)} == {str(59.0**2 / 2)}


def test_rows_are_drawn(joint, folder, tmp_path):
    model, _, here = joint
    drawn = records(good("sample", here / "joint.json", "-n", 50, "--seed", 3))
    expected = model.sample(50, 3)
    assert list(drawn[0]) == ["x", "day", "color"]
    assert [row["x"] for row in drawn] == ["" if x != x else repr(x) for x in expected["x"].tolist()]
    assert drawn == records(good("sample", here / "joint.json", "-n", 50, "--seed", 3))
    good("sample", here / "joint.json", "--rows", 20, "-o", tmp_path / "drawn.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "drawn.parquet").num_rows == 20
    assert len(records(good("sample", here / "joint.json", "-n", 0))) == 0
    column = gridmodl.optimize({"x": np.arange(50.0)}, criterion="bayesian-blocks")
    column.to_json(tmp_path / "column.json")
    assert list(records(good("sample", tmp_path / "column.json"))[0]) == ["x"]
    assert "no density: predict_proba" in bad("sample", folder / "model.json")
    assert "models of one column each" in bad("sample", folder / "models.json")


def test_the_mean_log_density_of_dates_names_its_unit(tmp_path):
    rows = pa.table({"day": np.arange(60).astype("M8[D]").astype("M8[ms]")})
    gridmodl.optimize(rows, max_parts=1).to_json(tmp_path / "model.json")
    (tmp_path / "rows.csv").write_text(as_csv(rows), encoding="utf-8")
    said = call(
        "apply", tmp_path / "model.json", tmp_path / "rows.csv", "--as", "log_density", "-o", tmp_path / "o.csv"
    )
    assert "of 60 rows, of the density per millisecond" in said.stderr


def test_densities_of_a_target(tmp_path, folder):
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    rows = pa.table({"x": x, "z": rng.integers(0, 5, 200), "price": np.where(x > 0, 5.0, 1.0) + rng.random(200)})
    (tmp_path / "rows.csv").write_text(as_csv(rows), encoding="utf-8")
    good("fit", tmp_path / "rows.csv", "--target", "price", "-o", tmp_path / "model.json")
    model = gridmodl.Model.from_json(tmp_path / "model.json")
    found = applied(tmp_path / "model.json", tmp_path / "rows.csv", "--as", "log_density")
    data = {name: rows[name] for name in rows.column_names}
    np.testing.assert_allclose([float(row["log_density"]) for row in found], model.log_density(data), rtol=1e-14)
    query = good("sql", tmp_path / "model.json", "--dialect", "duckdb", "--as", "log_density")
    assert '"log_density"' in query
    said = bad("apply", tmp_path / "model.json", tmp_path / "rows.csv", "--as", "imputed")
    assert "--as imputed is for joint grids" in said
    assert "predict_proba" in bad("apply", folder / "model.json", folder / "new.csv", "--as", "log_density")


def test_nothing_is_written_over_inputs(folder):
    for name in ("new.csv", "model.json"):
        said = bad("apply", folder / "model.json", folder / "new.csv", "-o", folder / name, code=2)
        assert "would write over" in said
    assert "does not say how" in bad("apply", folder / "model.json", folder / "new.csv", "-o", "out.xyz", code=2)


def test_what_is_written_as_csv_is_read_back(tmp_path):
    """Quotes, delimiters, line breaks and empty texts, in a single column too."""
    texts = ["a", "b,c", 'q"x', "", "new\nline", " space ", "é"]
    rows = pa.table({"t": texts, "x": [1.0, None, 0.1, np.inf, 1e300, -0.0, 2.0]})
    pyarrow.parquet.write_table(rows, tmp_path / "d.parquet")
    model = gridmodl.Model.from_partitions({"x": [1.0, 2.0]}, [0, 1], {"x": [1.5]})
    model.to_json(tmp_path / "m.json")
    found = applied(tmp_path / "m.json", tmp_path / "d.parquet", "--keep")
    assert [row["t"] for row in found] == texts
    assert [row["x"] for row in found] == ["1", "", "0.1", "inf", "1e+300", "-0", "2"]
    (tmp_path / "one.csv").write_text(as_csv(pa.table({"x": ["1", "2"]})), encoding="utf-8")
    assert good("apply", tmp_path / "m.json", tmp_path / "one.csv") == "part_x\n0\n1\n"


def test_scores_are_of_scorecards(folder):
    for name in ("model.json", "models.json"):
        said = bad("apply", folder / name, folder / "new.csv", "--as", "score")
        assert "--as score is for files of gridmodl scorecard, and this one holds" in said
