"""gridmodl fit: what is found, and where it goes."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from cli.commands import as_csv, bad, call, good, table

import gridmodl

ONE = ("--target", "class", "--columns", "age")


def facts(*words, stdin=None):
    return json.loads(good("fit", *words, "--json", stdin=stdin))


@pytest.fixture(scope="module")
def expected(folder):
    """What the library itself finds."""
    rows = pa.parquet.read_table(folder / "data.parquet")
    return gridmodl.optimize({"age": rows["age"]}, rows["class"])


def check(found, expected):
    assert found["cost"] == expected.cost
    assert found["columns"][0]["parts"] == expected.partitions["age"].labels
    assert found["rows"] == 300
    assert found["classes"] == ["no", "yes"]
    assert found["proven"] is True


def test_csv_gives_what_the_library_gives(folder, expected):
    check(facts(folder / "data.csv", *ONE), expected)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows", "feather", "csv.gz", "tsv", "tsv.gz", "txt"])
def test_every_format_gives_the_same(folder, expected, tmp_path, suffix):
    path, rows = tmp_path / f"data.{suffix}", pa.parquet.read_table(folder / "data.parquet")
    if suffix == "parquet":
        pa.parquet.write_table(rows, path)
    elif suffix == "feather":
        pa.feather.write_feather(rows, path)
    elif suffix.startswith("arrow"):
        with (pa.ipc.new_stream if suffix == "arrows" else pa.ipc.new_file)(path, rows.schema) as file:
            file.write_table(rows, max_chunksize=70)
    else:
        text = as_csv(rows, "\t" if "tsv" in suffix else ",").encode()
        path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    check(facts(path, *ONE), expected)


@pytest.mark.parametrize("write", [pl.DataFrame.write_ipc, pl.DataFrame.write_ipc_stream])
def test_arrow_files_of_polars_have_views_and_categories(tmp_path, write):
    rows = {"t": ["u", "v", "w"] * 20, "e": ["low", "high"] * 30, "y": ["no", "yes", "no"] * 20}
    frame = pl.DataFrame(rows).with_columns(
        c=pl.col("t").cast(pl.Categorical), e=pl.col("e").cast(pl.Enum(["low", "high"])), b=pl.col("t").cast(pl.Binary)
    )
    write(frame, tmp_path / "d.arrow")
    good("fit", tmp_path / "d.arrow", "--target", "y", "--each", "-o", tmp_path / "m.json")
    columns = gridmodl.Models.from_json(tmp_path / "m.json")
    assert {name: column.partitions[name].kind for name, column in columns.items()} == {
        "t": "categorical", "c": "categorical", "b": "categorical", "e": "ordinal",
    }  # fmt: skip
    assert {len(columns[name].partitions[name].labels) for name in "tcb"} == {2}


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_standard_input(folder, expected, tmp_path, suffix):
    if suffix == "arrow":
        with pa.ipc.new_stream(tmp_path / "data.arrow", table(1, 0).schema) as file:
            file.write_table(pa.parquet.read_table(folder / "data.parquet"))
    path = (tmp_path if suffix == "arrow" else folder) / f"data.{suffix}"
    more = ("--format", "csv") if suffix == "csv" else ()
    check(facts("-", *ONE, *more, stdin=path.read_bytes()), expected)


def test_text_on_standard_input_must_be_named(folder):
    assert "--format csv" in bad("fit", "-", *ONE, stdin=(folder / "data.csv").read_bytes())


def test_several_columns_make_one_grid(folder):
    model = gridmodl.Model.from_json(folder / "model.json")
    assert model.problem == "grid"
    assert list(model.partitions) == ["age", "city"]
    assert model.partitions["city"].kind == "categorical"
    assert model.frame == "arrays"


def test_each_column_on_its_own(folder):
    models = gridmodl.Models.from_json(folder / "models.json")
    assert next(iter(models)) == "age"
    assert sorted(models) == ["age", "city", "income"]
    rows = pa.parquet.read_table(folder / "data.parquet")
    expected = gridmodl.optimize_each({name: rows[name] for name in ("age", "city", "income")}, rows["class"])
    assert {name: model.cost for name, model in models.items()} == {n: m.cost for n, m in expected.items()}


def test_without_a_target(folder):
    model = gridmodl.Model.from_json(folder / "joint.json")
    assert model.problem == "joint"
    assert model.informative == ["city", "product"]


def test_the_density_of_a_single_column(folder, tmp_path):
    rows = pa.parquet.read_table(folder / "data.parquet")
    model = gridmodl.optimize({"age": rows["age"]}, criterion="bayesian-blocks")
    path = tmp_path / "density.json"
    found = facts(folder / "data.csv", "-c", "age", "-C", "bayesian-blocks", "-o", path)
    assert found["problem"] == "density"
    assert found["cost"] == pytest.approx(model.cost)
    assert found["columns"][0]["widths"] == pytest.approx(model.partitions["age"].widths.tolist())
    assert gridmodl.Model.from_json(path).partitions["age"].n_missing == rows["age"].null_count


def test_output_html_and_summary(folder, tmp_path):
    model, page = tmp_path / "m.json", tmp_path / "r.html"
    result = call("fit", folder / "data.csv", "-t", "class", "-c", "age", "-o", model, "--html", page)
    assert result.exit_code == 0
    assert "age: 3 parts" in result.stdout
    assert f"written: {model}" in result.stderr
    assert gridmodl.Model.from_json(model).informative == ["age"]
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.json", "r.html"]


def test_the_model_on_standard_output(folder):
    text = good("fit", folder / "data.csv", "-t", "class", "-c", "age", "-o", "-")
    assert gridmodl.Model.from_json(text).informative == ["age"]


def test_special_values_and_missing_ones(tmp_path):
    path = tmp_path / "data.csv"
    rows = [(20, "a", 0), (30, "b", 1), (-999, "n/a", 1), (-998, "unknown", 0), ("", "a", 1), (-1, "", 0)] * 5
    path.write_text("age,city,y\n" + "".join(f"{age},{city},{y}\n" for age, city, y in rows), encoding="utf-8")
    special = ["--special", "age=-999|-998,-1", "--special", "city=n/a|unknown"]
    found = facts(path, "-t", "y", "--each", *special, "--missing", "apart")
    parts = {model["columns"][0]["name"]: model["columns"][0]["parts"] for model in found["models"]}
    assert parts["age"][0] == "missing"
    assert parts["age"][-2:] == ["special -999, -998", "special -1"]
    assert parts["city"][-1] == "special {n/a, unknown}"
    assert "{missing}" in parts["city"]


def test_a_code_that_is_no_number(folder):
    message = bad("fit", folder / "data.csv", "-t", "class", "-c", "age", "--special", "age=x")
    assert "special of column 'age' must be a list of numbers or dates" in message


def test_quiet(folder, tmp_path):
    result = call("fit", folder / "data.csv", "-t", "class", "-c", "age", "-q", "-o", tmp_path / "m.json")
    assert (result.exit_code, result.output) == (0, "")


def test_options_reach_the_library(folder):
    found = facts(
        folder / "data.csv", "-t", "class", "-c", "age,income", "--each", "--special", "age=-999,-1", "--criterion",
        "entropy", "--option", "alpha=0.7", "--option", "beta=0", "--search", "merge", "--max-parts", 2, "--min-rows",
        "0.05", "--jobs", 1, "--seed", 3,
    )  # fmt: skip
    age = next(model for model in found["models"] if model["columns"][0]["name"] == "age")
    assert age["options"] == {"alpha": 0.7, "beta": 0.0}
    assert age["search"] == "merge"
    assert "special -999" in age["columns"][0]["parts"]
    intervals = [part for part in age["columns"][0]["parts"] if part.startswith("(")]
    assert len(intervals) == 2  # three without the limit; missing values and special codes are apart


def test_kinds_weights_and_exclusion(folder):
    found = facts(
        folder / "data.csv", "-t", "class", "-x", "income,product,city", "--weights", "id", "--kind", "age=categorical"
    )
    assert [column["name"] for column in found["columns"]] == ["age"]
    assert found["columns"][0]["kind"] == "categorical"
    assert found["rows"] == sum(range(300))


def test_a_time_limit_is_told_and_is_no_error(folder):
    result = call("fit", folder / "data.csv", "-t", "class", "-c", "age", "--time-limit", 0, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["stopped"] == "time limit"
    assert "the time limit stopped the search" in result.stderr


@pytest.mark.parametrize(("mark", "given"), [("?", "?"), ("", ""), ("-1", "-1")])
def test_rows_without_a_class(tmp_path, mark, given):
    rng = np.random.default_rng(0)
    x = rng.random(60).round(3)
    y = np.where(rng.random(60) < 0.3, mark, (x > 0.5).astype(int).astype(str))
    path = tmp_path / "few.csv"
    path.write_text("x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(x, y, strict=True)), encoding="utf-8")
    found = facts(path, "-t", "y", "--unlabelled", given, "--placement", "median")
    assert len(found["classes"]) == 2
    assert sum(found["columns"][0]["rows"]) == 60


def test_a_column_that_fails_is_named_and_leaves_the_others(tmp_path):
    path = tmp_path / "odd.parquet"
    rows = {"x": [1.0, 2.0, 3.0, 4.0], "list": [[1], [2], [3], [4]], "y": ["a", "a", "b", "b"]}
    pa.parquet.write_table(pa.table(rows), path)
    result = call("fit", path, "-t", "y", "--each", "--json")
    assert result.exit_code == 0
    assert "warning: column 'list' has no model" in result.stderr
    found = json.loads(result.stdout)
    assert [model["columns"][0]["name"] for model in found["models"]] == ["x"]
    assert list(found["errors"]) == ["list"]


# What is refused.


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-t", "clas"], "has no column 'clas', the target; did you mean 'class'?"),
        (["-t", "class", "-c", "agee"], "did you mean 'age'?"),
        (["-t", "class", "-x", "zzz"], "which --exclude names; it has 'id'"),
        (["-t", "class", "--kind", "zz=numerical"], "which --kind names"),
        (["-t", "class", "-c", "age", "--kind", "class=categorical"], "--kind names column 'class', which is no input"),
        (["-t", "class", "-c", "age", "-x", "age"], "no column is left to partition"),
        (["-c", "city"], "only numbers, dates and durations have a density"),
        (["-c", "age", "--placement", "short"], "placement"),
        (["-t", "age", "-c", "income"], "target has 30 missing values"),
        (["-t", "income", "-c", "age"], "--target-kind numerical takes them as quantities, --target-kind classes as"),
        (["-t", "income", "-c", "age", "--each"], "different whole numbers in 300 rows"),
        (["-t", "class", "-c", "age", "--criterion", "entropy", "--option", "alhpa=1"], "did you mean 'alpha'?"),
        (["-t", "class", "-c", "age,city", "--monotone", "increasing"], "--monotone limits the class shares"),
        (["-t", "class", "-c", "age", "--max-parts", "0"], "--max-parts must be at least 1"),
        (["-t", "class", "-c", "age", "--seed", "-1"], "--seed must not be negative"),
        (["-t", "class", "-c", "age", "--time-limit", "-1"], "--time-limit must be"),
        (["-t", "class", "-c", "age,income", "--search", "exact"], "--search exact cannot find a grid"),
        (["-t", "class", "-c", "age\ncity"], "has no column 'age\\ncity'"),
        (["-t", "class", "-c", "city", "--kind", "city=numerical"], "column 'city'"),
    ],
)
def test_wrong_data_is_one_line(folder, words, said):
    message = bad("fit", folder / "data.csv", *words)
    assert said in message
    assert message.startswith("gridmodl: error: ")
    assert message.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--each"], "give --target"),
        (["-t", "class", "--criterion", "mdol"], "gridmodl has no criterion 'mdol'; did you mean 'modl' or 'mdlp'?"),
        (["-t", "class", "--kind", "age"], "--kind 'age' must be a name and a value"),
        (["-t", "class", "--kind", "age=nice"], "must be numerical or categorical"),
        (["-t", "class", "-c", "age", "--special", "age=-1,"], "a value is missing in '-1,'"),
        (["-t", "class", "--min-rows", "many"], "'many' is no number"),
        (["-t", "class", "--memory-limit", "much"], "no size"),
        (["-t", "class", "--memory-limit", "-1"], "no size"),
        (["-t", "class", "--memory-limit", "9" * 400], "no size"),
        (["-t", "class", "--delimiter", "ab"], "one ASCII character"),
        (["-t", "class", "--encoding", "nope"], "--encoding 'nope' is not known"),
        (["-t", "class", "--encoding", "zlib"], "--encoding 'zlib' is not known"),
        (["-t", "class", "--weights", "class"], "'class' cannot be both target and weights"),
        (["-t", "class", "--html", "-"], "--html needs the name of a file"),
        (["-t", "class", "--json", "-o", "-"], "cannot both go to standard output"),
        (["-t", "class", "-o", "/nowhere/at/all.json"], "there is no folder"),
        (["-t", "class", "--unlabelled", "x", "--nope"], "No such option"),
    ],
)
def test_wrong_usage(folder, words, said):
    assert said in bad("fit", folder / "data.csv", *words, code=2)


def test_more_columns_than_a_joint_grid_serves(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{i}" for i in range(12)) + "\n" + ",".join("1" * 12) + "\n")
    message = bad("fit", path)
    assert "has 12 columns to partition and no --target is given; a joint grid is for 10 columns at most" in message
    assert "Choose some with --columns" in message


def test_nothing_is_written_over_the_data(folder, tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes((folder / "data.csv").read_bytes())
    assert "would write over the data" in bad("fit", path, "-t", "class", "-o", path, code=2)
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    assert "would write over the data" in bad("fit", path, "-t", "class", "--html", link, code=2)
    assert path.read_bytes() == (folder / "data.csv").read_bytes()


def test_a_failure_leaves_no_file(folder, tmp_path):
    bad("fit", folder / "data.csv", "-t", "clas", "-o", tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


def test_debug_shows_where_an_error_comes_from(folder):
    result = call("fit", folder / "data.csv", "-t", "age", "-c", "income", "--debug")
    assert isinstance(result.exception, ValueError)


def test_hostile_names_do_not_reach_the_terminal(tmp_path):
    path = tmp_path / "evil.csv"
    path.write_text('"a\x1b[31m",y\n' + "1,u\n2,u\n3,v\n4,v\n" * 5, encoding="utf-8")
    printed = good("fit", path, "-t", "y")
    assert "\x1b" not in printed
    assert "a\\x1b[31m" in printed
    assert "\x1b" not in bad("fit", path, "-t", "z")


def test_a_sample_is_the_same_for_the_same_seed(folder):
    words = (folder / "data.csv", "-t", "class", "-c", "income", "--sample", 100)
    first, again, other = (facts(*words, "--seed", seed) for seed in (1, 1, 2))
    assert first["rows"] == 100
    assert first["null_cost"] == again["null_cost"]
    assert (first["null_cost"], first["columns"]) != (other["null_cost"], other["columns"])


def test_paths_are_not_searched_for_models():
    assert "No such file" in bad("fit", Path("nowhere") / "data.csv", "-t", "class")


# Ordered categories.


RATINGS = ["AAA", "AA", "A", "BBB", "BB", "B"]


def rated(n=300):
    """A table with an ordered dictionary, the same as text and as numbers in another order, and a class."""
    rng = np.random.default_rng(0)
    place = rng.integers(0, 6, n)
    classes = np.where(rng.random(n) < np.where(place > 3, 0.8, 0.2), "yes", "no")
    names = pa.array(np.array(RATINGS)[place])
    ordered = pa.DictionaryArray.from_arrays(pa.array(place, pa.int8()), pa.array(RATINGS), ordered=True)
    return pa.table({"rating": ordered, "text": names, "number": pa.array(10 - place), "class": pa.array(classes)})


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv"])
def test_ordered_categories(tmp_path, suffix):
    path, rows = tmp_path / f"data.{suffix}", rated()
    if suffix == "parquet":
        pa.parquet.write_table(rows, path, row_group_size=100)
    elif suffix == "arrow":
        with pa.ipc.new_file(path, rows.schema) as file:
            file.write_table(rows, max_chunksize=70)
    else:
        path.write_text(as_csv(rows.set_column(0, "rating", rows["text"])))
    order, is_typed = ("--order", f"rating={','.join(RATINGS)}"), suffix != "csv"
    model = tmp_path / "model.json"
    found = facts(path, "-t", "class", "-c", "rating", *(() if is_typed else order), "-o", model)
    expected = gridmodl.optimize({"rating": rows["rating"]}, rows["class"])
    assert found["columns"][0]["kind"] == "ordinal"
    assert found["columns"][0]["parts"] == expected.partitions["rating"].labels == ["{AAA, ..., BBB}", "{BB, B}"]
    assert found["cost"] == expected.cost
    text = facts(path, "-t", "class", "-c", "text", "--kind", "text=ordinal", "--order", f"text={','.join(RATINGS)}")
    assert text["cost"] == expected.cost
    numbers = facts(path, "-t", "class", "-c", "number", "--order", "number=10,9,8,7,6,5", "--each")
    assert numbers["models"][0]["columns"][0]["parts"] == ["{10, ..., 7}", "{6, 5}"]
    limits = tmp_path / "limits.json"
    limits.write_text('{"special": {"number": [5]}}')
    special = facts(path, "-t", "class", "-c", "number", "--order", "number=10,9,8,7,6,5", "--limits", limits)
    assert special["columns"][0]["parts"][-1] == "special 5"
    assert special["columns"][0]["rows"][-1] > 0
    free = facts(path, "-t", "class", "-c", "rating", "--kind", "rating=categorical")
    assert free["columns"][0]["kind"] == "categorical"
    good("apply", model, path, "-o", tmp_path / "parts.csv")
    parts = [int(line.split(",")[0]) for line in (tmp_path / "parts.csv").read_text().splitlines()[1:]]
    assert parts == expected.transform({"rating": rows["rating"]}).ravel().tolist()


def test_special_levels_and_errors_of_orders(tmp_path):
    path, rows = tmp_path / "data.csv", rated()
    path.write_text(as_csv(rows.drop_columns(["rating", "number"])))
    order = ",".join(RATINGS[:-1])
    found = facts(path, "-t", "class", "-c", "text", "--order", f"text={order}", "--special", "text=B")
    assert found["columns"][0]["parts"][-1] == "special B"
    limits = tmp_path / "limits.json"
    limits.write_text('{"special": {"text": ["B"]}}')
    again = facts(path, "-t", "class", "-c", "text", "--order", f"text={order}", "--limits", limits)
    assert (again["cost"], again["columns"]) == (found["cost"], found["columns"])
    assert "with --order" in bad("fit", path, "-t", "class", "-c", "text", "--kind", "text=ordinal")
    assert "not in its order, such as 'B'" in bad("fit", path, "-t", "class", "-c", "text", "--order", f"text={order}")
    assert "'tex'" in bad("fit", path, "-t", "class", "--order", f"tex={order}")


def test_short_bounds(folder):
    found = facts(folder / "data.csv", *ONE, "--placement", "short")
    plain = facts(folder / "data.csv", *ONE)
    assert found["cost"] == plain["cost"]
    assert sum(map(len, found["columns"][0]["parts"])) <= sum(map(len, plain["columns"][0]["parts"]))


def limits_file(tmp_path, record):
    path = tmp_path / "limits.json"
    path.write_text(record if isinstance(record, str) else json.dumps(record), encoding="utf-8")
    return path


def test_limits_of_a_file_are_those_of_the_library(folder, tmp_path):
    rows = pa.parquet.read_table(folder / "data.parquet")
    record = {
        "min_rows": 20,
        "monotone": {"age": "increasing"},
        "age": {"fixed": [30], "special": [-999], "min_events": ["event", 3]},
        "income": {"max_parts": 3, "allowed": [2000, 3000, 4000]},
    }
    words = ("-t", "class", "-c", "age,income,city", "--each", "--limits", limits_file(tmp_path, record))
    path = tmp_path / "models.json"
    good("fit", folder / "data.csv", *words, "-o", path)
    found = gridmodl.Models.from_json(path)
    expected = gridmodl.optimize_each(
        rows.select(["age", "income", "city"]), rows["class"], min_rows=20, monotone={"age": "increasing"},
        fixed={"age": [30]}, special={"age": [-999]}, min_events={"age": ("event", 3)}, max_parts={"income": 3},
        allowed={"income": [2000, 3000, 4000]},
    )  # fmt: skip
    assert {name: model.cost for name, model in found.items()} == {name: model.cost for name, model in expected.items()}
    assert 30.0 in found["age"].partition("age").bounds
    assert set(found["income"].partition("income").bounds.tolist()) <= {2000.0, 3000.0, 4000.0}


def test_stable_over_periods(tmp_path):
    rng = np.random.default_rng(1)
    x, month = rng.integers(0, 30, 3000), rng.integers(0, 4, 3000)
    y = rng.random(3000) < np.where((month == 3) & (x > 20), 0.1, 0.1 + x / 50)
    rows = pa.table({"x": x, "month": month, "y": y.astype(int)})
    pa.parquet.write_table(rows, tmp_path / "rows.parquet")
    expected = gridmodl.optimize(rows, "y", stable_over="month")
    found = facts(tmp_path / "rows.parquet", "-t", "y", "--stable-over", "month")
    assert found["cost"] == expected.cost
    assert [one["period"] for one in found["stability"]["breaks"]] == expected.stability.broken == ["3"]
    each = facts(tmp_path / "rows.parquet", "-t", "y", "--each", "--stable-over", "month", "--min-period-rows", "0.1")
    assert [one["informative"] for one in each["models"]] == [["x"]]


def test_limits_as_options(folder):
    words = ("-t", "class", "-c", "age", "--min-events", "0.2", "--min-difference", "0.1", "--monotone", "peak")
    rows = pa.parquet.read_table(folder / "data.parquet")
    expected = gridmodl.optimize(
        {"age": rows["age"]}, rows["class"], min_events=0.2, min_difference=0.1, monotone="peak"
    )
    assert facts(folder / "data.csv", *words)["cost"] == expected.cost


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", "is no JSON"),
        ([1], "must be an object, such as"),
        ({"min_row": 3}, "'min_row' is no limit .*; did you mean 'min_rows'"),
        ({"age": {"min_row": 3}}, "'age' has 'min_row'; known limits: .*; did you mean 'min_rows'"),
        ({"min_rows": 3, "age": {"min_rows": 5}}, "has 'min_rows' for all columns and by column"),
        ({"aeg": {"min_rows": 5}}, "no column 'aeg'"),
        ({"city": {"min_rows": 5}}, "names column 'city', which is no input"),
        ({"age": {"monotone": "up"}}, "monotone.* of column 'age' must be one of"),
        ({"age": {"min_events": ["events", 3]}}, "min_events.* must be a number, or"),
        ({"max_parts": 3}, "max_parts is given twice"),
    ],
)
def test_a_bad_file_of_limits_says_what_is_wrong(folder, tmp_path, record, message):
    words = ("fit", folder / "data.csv", *ONE, "--max-parts", 4, "--limits", limits_file(tmp_path, record))
    result = call(*words)
    assert result.exit_code in (1, 2)
    text = " ".join(result.stderr.split())
    assert re.search(message, text), text


def test_a_file_of_limits_that_is_not_there(folder, tmp_path):
    assert "cannot be read" in bad("fit", folder / "data.csv", *ONE, "--limits", tmp_path / "no.json", code=2)
