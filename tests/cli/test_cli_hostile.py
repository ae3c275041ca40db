"""Files and names that no one should write: read as they are, or refused in one line."""

from __future__ import annotations

import csv
import gzip
import io
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from cli.commands import bad, call, good

import gridmodl
from gridmodl.cli.reading import csvfiles, engine
from gridmodl.cli.reading.columns import ReadSettings, read_columns
from gridmodl.cli.reading.sources import DataFile, open_source


def read(path, **about):
    source = open_source(DataFile(str(path), **about))
    return {name: values.to_pylist() for name, values in read_columns(source, source.names, ReadSettings()).items()}


LONG = "x" * 1_000_000


@pytest.mark.parametrize(
    ("raw", "about", "expected"),
    [
        (b"a\n1\n\n\n2\n", {}, {"a": [1, 2]}),
        (b'a\n1\n""\n2\n', {}, {"a": [1, None, 2]}),
        (b"a,A\n1,x\n2,y\n", {}, {"a": [1, 2], "A": ["x", "y"]}),
        (b"a,a_1,A\n1,2,3\n", {}, {"a": [1], "a_1": [2], "A": [3]}),
        (b"c1,c0\n1,2\n", {}, {"c1": [1], "c0": [2]}),
        (b"a,b\n1,x\x00y\n", {}, {"a": [1], "b": ["x\x00y"]}),
        (b"a,b\n1," + LONG.encode() + b"\n", {}, {"a": [1], "b": [LONG]}),
        (b'a,b\n1,"' + LONG.encode() + b'\n"\n', {}, {"a": [1], "b": [LONG + "\n"]}),
        (b'\xef\xbb\xbf"a",b\n1,2\n', {}, {"a": [1], "b": [2]}),
        (b"a,b\n1,2\r\n3,4\n5,6\r\n", {}, {"a": [1, 3, 5], "b": [2, 4, 6]}),
        (b"a,b\r\n1,2\n3,4\r\n", {}, {"a": [1, 3], "b": [2, 4]}),
        (b'a,b\n1,"x\r\ny"\n2,z\n', {}, {"a": [1, 2], "b": ["x\r\ny", "z"]}),
        (b'a,b\r\n1,"x\ny"\r\n2,5" pipe\r\n', {}, {"a": [1, 2], "b": ["x\ny", '5" pipe']}),
        (b'a,b\n1,y"z\n2,"p""q"\n', {}, {"a": [1, 2], "b": ['y"z', 'p"q']}),
        (b"a,b\n1,#c\n#2,//\n", {}, {"a": ["1", "#2"], "b": ["#c", "//"]}),
        (b"a,b\n1_000,1\n", {}, {"a": ["1_000"], "b": [1]}),
        (b"a'b\n1';DROP TABLE x;--\n", {}, {"a'b": ["1';DROP TABLE x;--"]}),
        (b"a|b\n1|'\n", {"delimiter": "|"}, {"a": [1], "b": ["'"]}),
        (b"a'b\n1'2\n", {"delimiter": "'"}, {"a": [1], "b": [2]}),
        ("a;b\n1;ü\n".encode("utf-16-le"), {"encoding": "utf-16-le", "delimiter": ";"}, {"a": [1], "b": ["ü"]}),
        (b"1,2\n3,4\n", {"has_names": False}, {"x0": [1, 3], "x1": [2, 4]}),
        (b'"1\n2",2\n3,4\n', {"has_names": False}, {"x0": ["1\n2", "3"], "x1": [2, 4]}),
        (b"a,b\n,\n,\n", {}, {"a": [None, None], "b": [None, None]}),
        (b"\n\r\n\na,b\n1,2\n", {}, {"a": [1], "b": [2]}),
        (b"a,b\n1,2,\n3,4,,\n", {}, {"a": [1, 3], "b": [2, 4]}),
        (b"a,b\r\n1,2,\n3,4,,\r\n", {}, {"a": [1, 3], "b": [2, 4]}),
    ],
)
@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("widest", [csvfiles.WIDE, 0])
def test_odd_files_are_read_as_they_are(tmp_path, monkeypatch, raw, about, expected, is_packed, widest):
    """By DuckDB, and by Python's reader of wide tables."""
    monkeypatch.setattr(csvfiles, "WIDE", widest)
    path = tmp_path / "d.csv"
    path.write_bytes(gzip.compress(raw) if is_packed else raw)
    assert read(path, **about) == expected


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"a,b\n1,2\n3,4,5\n", "a row of d.csv has 3 fields and the header 2: '3,4,5' (line 3 of d.csv)"),
        (b'"a\nb",c\n1,2\n3\n', "(line 4 of d.csv)"),
        (b"\n\na,b\n1,2\n3\n", "(line 5 of d.csv)"),
        (b'a,b\n1,2\n3,"4" 5\n', "line 3 of d.csv has a quote"),
        (b"a,b\n1,\xff\n", "d.csv is not in UTF-8"),
        (
            b"a,b\n1,2\n" + b"3,4\n" * 9999 + b"3,\xff\n",
            "line 10002 of d.csv holds bytes that are no text in this encoding",
        ),
        (b"a,b\n1," + b"x" * 5_000_000 + b"\n", "a row of d.csv is longer than 4194304 bytes"),
        (b"a,b\n1,2\n\x1a", "(line 3 of d.csv)"),
        (b"\x00\x01\x02\x03" * 1000, "d.csv"),
        (b"a,b", "no row"),
    ],
)
def test_wrong_files_are_refused_in_one_line(tmp_path, monkeypatch, raw, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_bytes(raw)
    message = bad("fit", "d.csv", "-t", "c" if b",c" in raw else "a")
    assert said in message
    assert message.count("\n") == 1
    assert len(message) < 600


def test_a_type_that_changes_after_many_rows(tmp_path, monkeypatch):
    path = tmp_path / "d.csv"
    lines = ["007,1,u\n", "8,2,v\n"] * 70_000
    path.write_text("code,x,y\n" + "".join(lines) + "n/a?,2.5,u\n")
    for most in (2**20, 0):
        monkeypatch.setattr(engine, "EXACT_ROWS", most)
        models = gridmodl.Models.from_json(good("fit", path, "-t", "y", "--each", "-o", "-"))
        groups = models["code"].partition("code").groups
        assert {value for group in groups for value in group} == {"007", "8", "n/a?"}
        assert models["x"].partition("x").kind == "numerical"


NAMES = [
    '"; DROP TABLE t; --',
    "a'b",
    'q"q',
    "new\nline",
    "*",
    "c0",
    "C0",
    "select",
    "é 漢",
    "a.b",
    "$1",
    "?",
    "\\",
    "x" * 300,
]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_names_of_columns_are_never_sql(tmp_path, monkeypatch, suffix):
    rng = np.random.default_rng(0)
    rows = pa.table({name: rng.integers(0, 5, 60) for name in NAMES} | {'y"; --': rng.choice(["u", "v"], 60)})
    path = tmp_path / f"d.{suffix}"
    if suffix == "csv":
        text = io.StringIO(newline="")
        csv.writer(text).writerows([rows.column_names, *zip(*rows.to_pydict().values(), strict=True)])
        path.write_text(text.getvalue(), newline="")
    else:
        pyarrow.parquet.write_table(rows, path)
    expected = gridmodl.optimize_each(rows, 'y"; --')
    for most in (2**20, 0):
        monkeypatch.setattr(engine, "EXACT_ROWS", most)
        good("fit", path, "-t", 'y"; --', "--each", "-o", tmp_path / "m.json", "-q")
        found = gridmodl.Models.from_json(tmp_path / "m.json")
        assert {name: model.cost for name, model in found.items()} == {n: m.cost for n, m in expected.items()}
    assert len(good("apply", tmp_path / "m.json", path).splitlines()) == 61 + 1  # a name has a line break


@pytest.mark.parametrize(
    "name", ["a'b.csv", "a'); DROP TABLE x; --.csv", "[a].csv", "a*b?.csv", "~.csv", "s3:.csv", "é.csv"]
)
def test_names_of_files_are_never_sql_nor_patterns(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(engine, "EXACT_ROWS", 0)
    for path, text in ((name, "x,y\n1,u\n2,u\n3,v\n"), ("a.csv", "x,y\n"), ("aab1.csv", "x,y\n")):
        (tmp_path / path).write_text(text)
    model = gridmodl.Model.from_json(good("fit", name, "-t", "y", "-o", "-"))
    assert model.n_rows == 3
    pyarrow.parquet.write_table(pa.table({"x": [1, 2], "y": ["u", "v"]}), tmp_path / name.replace("csv", "parquet"))
    assert gridmodl.Model.from_json(good("fit", name.replace("csv", "parquet"), "-t", "y", "-o", "-")).n_rows == 2


def test_folders_missing_files_and_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "No such file" in bad("fit", "no.csv", "-t", "y")
    assert "is a folder; give a file, or a pattern in quotes such as './*.csv'" in bad("fit", ".", "-t", "y")
    (tmp_path / "empty.parquet").write_bytes(b"")
    assert "does not begin like a file of format parquet" in bad("fit", "empty.parquet", "-t", "y")
    (tmp_path / "empty.csv.gz").write_bytes(gzip.compress(b""))
    assert "is empty: it has no columns" in bad("fit", "empty.csv.gz", "-t", "y")


def test_a_parquet_file_with_two_columns_of_one_name(tmp_path):
    path = tmp_path / "d.parquet"
    pyarrow.parquet.write_table(pa.table([[1, 2], [3, 4]], names=["a", "a"]), path)
    assert "has two columns called 'a'" in bad("fit", path, "-t", "a")


# Formulas.


FORMULAS = {
    "=1+1": "'=1+1", "+cmd|'/c'!A1": "'+cmd|'/c'!A1", "-2+3": "'-2+3", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1",
    "\r=1": "'\r=1", "-1.5": "-1.5", "+3e5": "+3e5", "-.5": "-.5", "-": "'-", "a=1": "a=1", "": "", "＝1": "'＝1",
    "-inf": "'-inf", '="a,b"': "'=\"a,b\"",
}  # fmt: skip


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz"])
def test_safe_csv_has_no_formulas(tmp_path, suffix):
    rows = {"=name": list(FORMULAS), "x": [-1.0 - i for i in range(len(FORMULAS))], "-5": [1] * len(FORMULAS)}
    pyarrow.parquet.write_table(pa.table(rows), tmp_path / "d.parquet")
    gridmodl.Model.from_partitions({"x": [1.0, 2.0]}, [0, 1], {"x": [1.5]}).to_json(tmp_path / "m.json")
    out = tmp_path / f"out.{suffix}"
    words = ("apply", tmp_path / "m.json", tmp_path / "d.parquet", "--keep", "-o", out)
    good(*words, "--safe-csv")
    text = (gzip.decompress(out.read_bytes()) if suffix.endswith("gz") else out.read_bytes()).decode()
    read = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t" if suffix == "tsv" else ","))
    assert read[0] == ["'=name", "x", "-5", "part_x"]
    assert [row[0] for row in read[1:]] == list(FORMULAS.values())
    assert [float(row[1]) for row in read[1:]] == rows["x"]
    good(*words)
    text = (gzip.decompress(out.read_bytes()) if suffix.endswith("gz") else out.read_bytes()).decode()
    read = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t" if suffix == "tsv" else ","))
    assert [row[0] for row in read[1:]] == list(FORMULAS)


@pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.string_view(), pa.binary(), pa.binary_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_safe_csv_of_every_type_of_text(tmp_path, kind):
    texts = pa.array(["=1+1", "-x", "-1.5"])
    rows = {"x": [1, 2, 3], "t": texts.dictionary_encode() if pa.types.is_dictionary(kind) else texts.cast(kind)}
    rows["d"] = pa.array([Decimal("-1.5"), Decimal("2.5"), None])
    with pa.OSFile(str(tmp_path / "d.arrow"), "wb") as file, pa.ipc.new_file(file, pa.table(rows).schema) as writer:
        writer.write_table(pa.table(rows))
    gridmodl.Model.from_partitions({"x": [1.0, 2.0]}, [0, 1], {"x": [1.5]}).to_json(tmp_path / "m.json")
    shown = good("apply", tmp_path / "m.json", tmp_path / "d.arrow", "--keep", "--safe-csv")
    assert shown.splitlines()[1:] == ["1,'=1+1,-1.5,0", "2,'-x,2.5,1", "3,-1.5,,1"]


def test_safe_csv_of_tables_and_where_it_makes_no_sense(tmp_path):
    model = tmp_path / "m.json"
    data = {"c": ["=1+1", "b", "=1+1", "b"]}
    gridmodl.Model.from_partitions(data, ["@x", "y", "@x", "y"], {"c": [["=1+1"], ["b"]]}).to_json(model)
    gridmodl.optimize_each({"=c": [1, 2, 3, 4]}, [0, 0, 1, 1]).to_json(tmp_path / "ms.json")
    shown = good("show", tmp_path / "ms.json", "--csv", "--safe-csv")
    assert "'=c" in shown
    assert "'=c" not in good("show", tmp_path / "ms.json", "--csv")
    assert "give --csv" in bad("show", model, "--safe-csv", code=2)
    pyarrow.parquet.write_table(pa.table(data), tmp_path / "d.parquet")
    words = ("apply", model, tmp_path / "d.parquet", "--safe-csv", "-o", tmp_path / "o.parquet")
    assert "--safe-csv is for CSV and TSV" in bad(*words, code=2)
    result = call("apply", model, tmp_path / "d.parquet", "--as", "predict", "--safe-csv")
    assert "'@x" in result.stdout


def test_safe_csv_of_drawn_rows(tmp_path):
    model = tmp_path / "joint.json"
    gridmodl.Model.from_partitions({"=c": ["=1+1", "@b"] * 3, "d": ["u", "v"] * 3}, None, {}).to_json(model)
    rows = list(csv.reader(io.StringIO(good("sample", model, "-n", 20, "--safe-csv"))))
    assert rows[0] == ["'=c", "d"]
    assert {row[0] for row in rows[1:]} == {"'=1+1", "'@b"}
    assert good("sample", model, "-n", 20).startswith("=c,d\n")
    words = ("sample", model, "--safe-csv", "-o", tmp_path / "o.parquet")
    assert "--safe-csv is for CSV and TSV" in bad(*words, code=2)
