"""Files of patterns, tables that DuckDB counts, and tables of very many columns."""

from __future__ import annotations

import decimal
import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import pytest
from cli.commands import bad, call, good

import gridmodl
from gridmodl.cli import fitting
from gridmodl.cli.reading import columns, csvfiles, engine
from gridmodl.cli.reading.columns import ReadSettings, read_columns
from gridmodl.cli.reading.sources import DataFile, open_source


def rows_of_many_types(n=1500):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n).round(2)
    missing = np.arange(n) % 17 == 0
    return pa.table(
        {
            "x": pa.array(x, mask=missing),
            "filled": x,
            "whole": rng.integers(-5, 40, n),
            "text": rng.choice(["a", "b,", "NA", "é", 'd"q', ""], n),
            "flag": rng.random(n) < 0.5,
            "when": np.datetime64("2020-01-01", "s") + rng.integers(0, 10**7, n).astype("m8[s]"),
            "day": (np.datetime64("2020-01-01", "D") + rng.integers(0, 300, n).astype("m8[D]")).astype("M8[D]"),
            "w": rng.integers(0, 4, n),
            'odd "name"; DROP TABLE t; --': rng.integers(0, 9, n),
            "X": rng.choice(["u", "v"], n),
            "y": np.where(np.arange(n) % 11 == 0, "?", np.where((x > 0) ^ (rng.random(n) < 0.2), "p", "q")),
        }
    )


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """A folder with one table as three Parquet files and three CSV files, one of which has no rows."""
    folder, rows = tmp_path_factory.mktemp("parts"), rows_of_many_types()
    for i, some in enumerate((rows[:700], rows[700:700], rows[700:])):
        pyarrow.parquet.write_table(some, folder / f"{i}.parquet")
        pyarrow.csv.write_csv(some, folder / f"{i}.csv")
    pyarrow.parquet.write_table(rows, folder / "all.pq")
    return folder


def record(*words):
    """A model file, without the time that its search took."""

    def timeless(value):
        if isinstance(value, dict):
            return {key: timeless(one) for key, one in value.items() if key != "elapsed"}
        return [timeless(one) for one in value] if isinstance(value, list) else value

    return timeless(json.loads(good("fit", *words, "-o", "-")))


@pytest.mark.parametrize("pattern", ["*.parquet", "*.csv"])
@pytest.mark.parametrize(
    "words",
    [
        ["--each"],
        ["--each", "--weights", "w", "-x", "X"],
        ["-c", "x"],
        ["-c", "text", "--kind", "text=categorical"],
        ["--each", "-c", "whole,x", "--special", "whole=0,-1|-2", "--missing", "apart", "--jobs", "1"],
        ["--each", "-c", "whole,day", "--kind", "whole=categorical", "--event", "p", "--memory-limit", "200MB"],
        ["--each", "-c", "whole,when", "--unlabelled", "?", "--max-parts", "3"],
        ["-c", "flag", "--criterion", "entropy"],
    ],
)
def test_counted_columns_have_the_models_of_columns_in_memory(parts, monkeypatch, pattern, words):
    words = [parts / pattern, "-t", "y", *words]
    in_memory, counted = record(*words), []
    frame = fitting._counted_frame
    monkeypatch.setattr(fitting, "_counted_frame", lambda *given: counted.append(frame(*given)) or counted[-1])
    monkeypatch.setattr(engine, "EXACT_ROWS", 0)
    assert record(*words) == in_memory
    assert counted[0] is not None


ODD = """a,b,c,d,e,f,y
 7 ,2020-01-31 10,0x1F,2020-01-31, ,0001-01-01,p
08,2020-01-31 11:30:00.123456789,7,2020-01-31 10:00, ,2020-01-01 00:00:00.000000001,q
-0,2020-01-31T10:00:05,8,NA,,2020-01-01,p
"""


def test_odd_spellings_mean_the_same_in_memory_and_to_duckdb(monkeypatch, tmp_path):
    (tmp_path / "d.csv").write_text(ODD + "".join(ODD.splitlines(keepends=True)[1:]) * 9)
    words = (tmp_path / "d.csv", "-t", "y", "--each", "--kind", "d=numerical")
    in_memory = record(*words)
    monkeypatch.setattr(engine, "EXACT_ROWS", 0)
    assert record(*words) == in_memory


@pytest.mark.parametrize("suffix", ["arrow", "arrows", "arrow.gz", "parquet.gz"])
def test_typed_files_of_any_kind_are_counted(parts, monkeypatch, tmp_path, suffix):
    rows, path = pyarrow.parquet.read_table(parts / "all.pq"), tmp_path / f"d.{suffix}"
    if suffix == "parquet.gz":
        path.write_bytes((parts / "all.pq").read_bytes())
    else:
        with (pa.ipc.new_stream if suffix == "arrows" else pa.ipc.new_file)(path, rows.schema) as file:
            file.write_table(rows, max_chunksize=400)
    if suffix.endswith("gz"):
        path.write_bytes(gzip.compress(path.read_bytes()))
    in_memory, counted = record(path, "-t", "y", "--each"), []
    frame = fitting._counted_frame
    monkeypatch.setattr(fitting, "_counted_frame", lambda *given: counted.append(frame(*given)) or counted[-1])
    monkeypatch.setattr(engine, "EXACT_ROWS", 0)
    assert record(path, "-t", "y", "--each") == in_memory
    assert counted[0] is not None


@pytest.mark.parametrize("kinds", [
    (pa.int64(), pa.float64()), (pa.float64(), pa.int32()), (pa.float32(), pa.int64()), (pa.null(), pa.int8()),
    (pa.dictionary(pa.int8(), pa.string()), pa.string()), (pa.string(), pa.large_string()),
    (pa.date32(), pa.timestamp("us")), (pa.decimal128(9, 2), pa.int16()),
])  # fmt: skip
def test_files_of_one_pattern_may_have_other_types(monkeypatch, tmp_path, kinds):
    """Whole numbers in one file and others in the next are numbers; nothing is cut off."""
    rng = np.random.default_rng(0)
    values = [pa.array(rng.integers(0, 50, 200) + 0.5 * (kind in (pa.float64(), pa.float32()))) for kind in kinds]
    texts = [kind in (pa.string(), pa.large_string()) or pa.types.is_dictionary(kind) for kind in kinds]
    columns = []
    for kind, one, is_text in zip(kinds, values, texts, strict=True):
        if pa.types.is_null(kind):
            columns.append(pa.nulls(200))
        elif is_text:
            columns.append(pc.binary_join_element_wise("k", one.cast(pa.int64()).cast(pa.string()), "").cast(kind))
        elif pa.types.is_temporal(kind):
            columns.append(one.cast(pa.int64()).cast(pa.int32()).cast(pa.date32()).cast(kind))
        else:
            columns.append(one.cast(kind))
    y = pa.array(rng.choice(["p", "q"], 200))
    for i, one in enumerate(columns):
        pyarrow.parquet.write_table(pa.table({"x": one, "y": y}), tmp_path / f"{i}.parquet")
    found = record(tmp_path / "*.parquet", "-t", "y")
    expected = [value for one in columns for value in one.to_pylist()]
    if pa.types.is_decimal(kinds[0]) or pa.types.is_date(kinds[0]):
        joined = pa.concat_arrays([columns[0].cast(columns[1].type), columns[1]])
    else:
        joined = pa.array(expected)
    model = gridmodl.optimize({"x": joined}, pa.concat_arrays([y, y]))
    assert found["cost"] == model.cost
    monkeypatch.setattr(engine, "EXACT_ROWS", 0)
    assert record(tmp_path / "*.parquet", "-t", "y") == found


def test_files_of_one_pattern_whose_types_have_nothing_in_common(tmp_path):
    for i, one in enumerate(([1, 2], ["a", "b"])):
        pyarrow.parquet.write_table(pa.table({"x": one, "y": ["p", "q"]}), tmp_path / f"{i}.parquet")
    said = bad("fit", tmp_path / "*.parquet", "-t", "y")
    assert "column 'x' holds string in" in said
    assert "1.parquet and int64 in files before it" in said


def test_long_decimals_are_not_counted_as_floats(monkeypatch, tmp_path):
    values = [decimal.Decimal(10**40 + i % 2) for i in range(40)]
    rows = pa.table({"x": pa.array(values, pa.decimal256(60, 0)), "y": ["p", "q"] * 20})
    pyarrow.parquet.write_table(rows, tmp_path / "d.parquet")
    in_memory = record(tmp_path / "d.parquet", "-t", "y")
    monkeypatch.setattr(engine, "EXACT_ROWS", 0)
    assert record(tmp_path / "d.parquet", "-t", "y") == in_memory


def test_bounds_of_small_floats_are_doubles_where_duckdb_counts(parts, monkeypatch, tmp_path):
    rows = pyarrow.parquet.read_table(parts / "all.pq", columns=["filled", "y"])
    path = tmp_path / "d.parquet"
    pyarrow.parquet.write_table(rows.set_column(0, "x", rows["filled"].cast(pa.float32())), path)
    in_memory = record(path, "-t", "y")
    monkeypatch.setattr(engine, "EXACT_ROWS", 0)
    found = record(path, "-t", "y")
    assert found["cost"] == in_memory["cost"]
    bounds = [np.array(one["partitions"][0]["bounds"]["values"], dtype=float) for one in (found, in_memory)]
    assert np.allclose(*bounds, rtol=1e-7)


def test_names_that_differ_in_case_only_and_nested_types_are_read_into_memory(parts, monkeypatch, tmp_path):
    path = tmp_path / "d.parquet"
    rows = pyarrow.parquet.read_table(parts / "all.pq").append_column("list", pa.array([[1]] * 1500))
    pyarrow.parquet.write_table(rows, path)
    monkeypatch.setattr(engine, "EXACT_ROWS", 0)
    result = call("fit", path, "-t", "y", "--each", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert {"x", "X"} <= {model["columns"][0]["name"] for model in found["models"]}
    assert list(found["errors"]) == ["list"]


def test_what_is_not_counted_is_read_into_memory(parts, monkeypatch):
    """Densities, grids, quantities as target and bounds at medians."""
    monkeypatch.setattr(engine, "EXACT_ROWS", 0)
    assert record(parts / "*.csv", "-c", "x", "-C", "bayesian-blocks")["problem"] == "density"
    assert record(parts / "*.csv", "-t", "y", "-c", "x,whole", "--effort", "0")["problem"] == "grid"
    assert record(parts / "*.parquet", "-t", "filled", "-c", "whole")["problem"] == "numerical"
    assert record(parts / "*.csv", "-t", "y", "-c", "x", "--sample", "100")["n_rows"] == 100


def test_a_limit_of_memory_below_one_column_lets_duckdb_count(parts, monkeypatch):
    assert not engine.is_counted(10**5, None)
    assert engine.is_counted(2**20 + 1, None)
    assert engine.is_counted(10**6, 200_000_000)
    assert not engine.is_counted(10**8, 100_000_000)  # too little for DuckDB, too: refused
    with engine.connected(engine.EngineLimits(300_000_000, 1)) as connection:
        query = "SELECT current_setting('memory_limit'), current_setting('threads'), current_setting('temp_directory')"
        memory, threads, folder = connection.execute(query).fetchone()
    assert (memory, threads) == ("286.1 MiB", 1)
    assert "gridmodl-" in folder


def test_apply_takes_a_pattern_and_keeps_the_order(parts, tmp_path):
    model = tmp_path / "m.json"
    good("fit", parts / "all.pq", "-t", "y", "-c", "x", "-o", model)
    expected = gridmodl.Model.from_json(model).transform(pyarrow.parquet.read_table(parts / "all.pq").select(["x"]))
    for pattern in ("*.parquet", "?.csv", "[0-2].csv", "all.pq"):
        found = good("apply", model, parts / pattern).split()[1:]
        assert [int(part) for part in found] == expected.ravel().tolist()


def test_patterns_that_match_nothing_or_files_that_differ(parts, tmp_path):
    assert "no file matches this pattern" in bad("fit", tmp_path / "*.csv", "-t", "y")
    (tmp_path / "a.csv").write_text("x,y\n1,a\n")
    (tmp_path / "b.csv").write_text("x,z\n1,a\n")
    said = bad("fit", tmp_path / "*.csv", "-t", "y")
    assert "b.csv has not the columns of" in said
    assert "only one of them has" in said
    (tmp_path / "b.csv").write_text("x,y\n1\n")
    assert "b.csv has 1 fields and the header 2: '1' (line 2 of" in bad("fit", tmp_path / "*.csv", "-t", "y")
    (tmp_path / "odd[1]*.csv").write_text("x,y\n1,a\n2,b\n")  # a file whose name looks like a pattern
    assert record(tmp_path / "odd[1]*.csv", "-t", "y", "-c", "x")["n_rows"] == 2


def test_temporary_copies_are_deleted(parts, monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "EXACT_ROWS", 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    record(parts / "*.csv", "-t", "y", "-c", "x")
    good("fit", "-", "--format", "csv", "-t", "y", "-c", "x", "-q", stdin=(parts / "0.csv").read_bytes())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cells", [10, 2**20])
def test_very_many_columns_are_read_as_few_are(tmp_path, monkeypatch, cells):
    rng = np.random.default_rng(0)
    kinds = [["1", "-2", "NA"], ["1", "2.5", "inf"], ["", "NA"], [" 7", "8"], ["x", "1"], ["true", "false"],
             ["2020-01-01", ""], ["99999999999999999999", "1"], ["007", "-0"], ['q"', "a,b"]]  # fmt: skip
    texts = [rng.choice(kind, 12).tolist() for kind in kinds * 60]
    texts[1] = ["1"] * 11 + ["2.5"]  # another type in a later piece
    texts[4] = ["1"] * 11 + ["x"]
    texts[8] = ["5"] * 11 + ["1.5"]
    path = tmp_path / "d.csv"
    table = pa.table([pa.array(text) for text in texts], names=[f"c{i}" for i in range(len(texts))])
    pyarrow.csv.write_csv(table, path)

    def read(wide, many):
        monkeypatch.setattr(csvfiles, "WIDE", wide)
        monkeypatch.setattr(csvfiles, "CELLS", cells)
        monkeypatch.setattr(columns, "MANY", many)
        source = open_source(DataFile(str(path)))
        return read_columns(source, source.names, ReadSettings())

    expected, found = read(10**4, 10**4), read(1, 7)
    assert {name: column.type for name, column in found.items()} == {n: c.type for n, c in expected.items()}
    assert {name: column.to_pylist() for name, column in found.items()} == {
        name: column.to_pylist() for name, column in expected.items()
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n\n3\n", "a row of d.csv has 1 fields and the header 2: '3' (line 4 of d.csv)"),
        ('a,b\n1,"2\n', "line 2 of d.csv cannot be read as CSV: unexpected end of data"),
    ],
)
def test_errors_in_very_wide_tables_name_the_line(tmp_path, monkeypatch, text, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(csvfiles, "WIDE", 1)
    (tmp_path / "d.csv").write_text(text)
    assert said in bad("fit", "d.csv", "-t", "a")


def test_a_grid_that_memory_does_not_hold_is_counted_by_duckdb(parts, monkeypatch):
    arguments = ("-t", "y", "-c", "x,whole", "--effort", "0")
    expected = record(parts / "*.parquet", *arguments)
    monkeypatch.setattr(fitting, "holds_grid", lambda *_: False)
    monkeypatch.setattr(fitting, "check_grid", None)  # not asked: DuckDB counts
    assert record(parts / "*.parquet", *arguments) == expected


def test_a_grid_is_refused_where_memory_holds_neither_it_nor_duckdb(parts, monkeypatch):
    monkeypatch.setattr(fitting, "holds_grid", lambda *_: False)
    monkeypatch.setattr(engine, "holds_grid", lambda *_: False)
    assert "--each takes every column on its own" in bad(
        "fit", parts / "*.parquet", "-t", "y", "-c", "x,whole", "--memory-limit", "1MB"
    )
