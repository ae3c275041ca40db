"""Text files: what their columns mean, however they are written."""

from __future__ import annotations

import gzip
import itertools

import numpy as np
import pyarrow as pa
import pytest
from cli.commands import bad

import gridmodl
from gridmodl.cli.messages import Failure
from gridmodl.cli.reading import csvfiles, texts
from gridmodl.cli.reading.columns import ReadSettings, TextColumn, read_columns
from gridmodl.cli.reading.sources import DataFile, open_source
from gridmodl.cli.reading.texts import NULLS, typed_values


def column(*pieces, as_text=False):
    found = TextColumn(NULLS, as_text)
    for piece in pieces:
        found.add(pa.array(piece, pa.string()))
    return found


ALL = ReadSettings()


def read(path, names=None, reading=ALL, **about):
    source = open_source(DataFile(str(path), **about))
    return {name: values.to_pylist() for name, values in read_columns(source, names or source.names, reading).items()}


@pytest.mark.parametrize(
    ("given", "kind", "values"),
    [
        (["1", "-2", ""], "int64", [1, -2, None]),
        (["1", " 2 ", " "], "int64", [1, 2, None]),
        (["1", "2.5", "NA"], "double", [1.0, 2.5, None]),
        (["1e3", "inf", "NaN"], "double", [1000.0, float("inf"), None]),
        (["99999999999999999999"], "double", [1e20]),
        (["true", "FALSE", "null"], "bool", [True, False, None]),
        (["0", "1"], "int64", [0, 1]),
        (["2020-01-31", "N/A"], "date32[day]", None),
        (["2020-01-31", "2020-01-31 10:00"], "timestamp[s]", None),
        (["2020-01-31T10:00:00.5"], "timestamp[us]", None),
        (["2020-01-31T10:00:00Z", "2020-01-31 10:00:00+02:00"], "timestamp[s, tz=UTC]", None),
        (["2020-01-31T10:00:00Z", "2020-01-31"], "text", None),
        (["31/01/2020"], "text", None),
        (["true", "1"], "text", ["true", "1"]),
        (["1", "x"], "text", ["1", "x"]),
        ([" a", "a"], "text", [" a", "a"]),
        (["", "None"], "double", [None, None]),
        (["", " "], "double", [None, None]),
        ([" ", " x"], "text", [" ", " x"]),
        ([" ", "2020-01-31"], "date32[day]", None),
        (["0x1F", "1"], "text", ["0x1F", "1"]),
        (["1_000"], "text", ["1_000"]),
        (["2020/01/31"], "text", None),
        (["0001-01-01", "2020-01-31 10:00:00.000001"], "timestamp[us]", None),
        (["0001-01-01", "2020-01-31 10:00:00.000000001"], "text", None),
    ],
)
def test_types(given, kind, values):
    found = column(given).finished()
    assert str(found.type).replace("dictionary<values=string, indices=int32, ordered=0>", "text") == kind
    if values is not None:
        assert found.to_pylist() == values


def test_a_later_piece_widens_the_type_or_spoils_it():
    assert column(["1"], ["2.5"], [""]).finished().to_pylist() == [1.0, 2.5, None]
    assert column(["", ""], ["x"], ["7"]).finished().to_pylist() == [None, None, "x", "7"]
    assert column(["2020-01-01"], ["2020-01-01 12:00"]).finished().type == pa.timestamp("s")
    assert column(["007"], ["x"]).is_spoilt
    assert column(["true"], ["1"]).is_spoilt
    assert column(["007"], ["x"], as_text=True).finished().to_pylist() == ["007", "x"]


POOLS = [["1", "-2", "9007199254740993"], ["1", "2.5", "1e300", "99999999999999999999"], ["true", "FALSE"],
         ["0x1F", "7"], ["2020-01-01", "1500-01-01"], ["2020-01-01 10", "2020-01-01T10:00:00.123456789"], ["x", "007"],
         ["2020-01-01 10:00Z", "2020-01-01 10:00:00.5+02:00"]]  # fmt: skip


@pytest.mark.parametrize("seed", range(200))
def test_pieces_make_no_difference(seed):
    """However a column is cut, it is read as if it came in one piece."""
    rng = np.random.default_rng(seed)
    pools = [POOLS[i] for i in rng.choice(len(POOLS), rng.integers(0, 3))]
    kinds = [["", "NA"], [" "], *pools, *([[f" {one} " for one in pools[0]]] if pools else [])]
    values = [one for pool in kinds for one in rng.choice(pool, rng.integers(0, 4)).tolist()]
    values = rng.permutation(values).tolist() if seed % 2 else values
    whole = column(values)
    cuts = [0, *sorted(rng.integers(0, len(values) + 1, rng.integers(0, 5)).tolist()), len(values)]
    pieces = [values[low:high] for low, high in itertools.pairwise(cuts)]
    cut = column(*pieces)
    assert not whole.is_spoilt
    assert cut.kind == whole.kind
    assert (
        column(*pieces, as_text=True) if cut.is_spoilt else cut
    ).finished().to_pylist() == whole.finished().to_pylist()


def test_numbers_that_turn_out_to_be_text_are_read_again(tmp_path, monkeypatch):
    """The text comes in the last block of many."""
    monkeypatch.setattr(csvfiles, "BLOCK", 100)
    path = tmp_path / "d.csv"
    path.write_text("a,b\n" + "".join(f"0{i},{i}\n" for i in range(100)) + "x,0.5\n", encoding="utf-8")
    found = read(path)
    assert found["a"] == [f"0{i}" for i in range(100)] + ["x"]
    assert found["b"] == [*map(float, range(100)), 0.5]


@pytest.mark.parametrize(
    ("raw", "about", "expected"),
    [
        (b"\xef\xbb\xbfa,b\n1,2\n", {}, {"a": [1], "b": [2]}),
        (b"\n\na,b\r\n1,2\r\n\r\n3,4", {}, {"a": [1, 3], "b": [2, 4]}),
        (b"a,b\r1,2\r3,4\r", {}, {"a": [1, 3], "b": [2, 4]}),
        (b'"a\nb","c""d"\n"1\n2",x\n', {}, {"a\nb": ["1\n2"], 'c"d': ["x"]}),
        (b"a;b\n1,5;x\n", {"delimiter": ";"}, {"a": ["1,5"], "b": ["x"]}),
        ("a,b\n1,é\n".encode("latin-1"), {"encoding": "latin-1"}, {"a": [1], "b": ["é"]}),
        ("a,b\n1,é\n".encode("utf-16"), {"encoding": "utf-16"}, {"a": [1], "b": ["é"]}),
        (gzip.compress(b"a\n1\n", mtime=0), {}, {"a": [1]}),  # mtime: the bytes name the test
        (b"1,2\n3,4\n", {"has_names": False}, {"x0": [1, 3], "x1": [2, 4]}),
        (b",a\n0,5\n1,6\n", {}, {"column_1": [0, 1], "a": [5, 6]}),
        (b"a\n", {}, {"a": []}),
        (b"a,b", {}, {"a": [], "b": []}),
    ],
)
def test_files_however_they_are_written(tmp_path, raw, about, expected):
    path = tmp_path / "d.csv"
    path.write_bytes(raw)
    assert read(path, **about) == expected


def test_a_quote_that_is_never_closed_is_told(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text('a,b\n1,x\n2,"y\n3,z\n', encoding="utf-8")
    with pytest.raises(Failure, match=r"line 3 of .*d\.csv has a quote that is opened and never closed"):
        read(path, ["a"])


def test_a_header_longer_than_a_piece(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"column number {i}" for i in range(9000)]
    path.write_text(",".join(names) + "\n" + ",".join(["1"] * 9000) + "\n", encoding="utf-8")
    assert read(path, [names[-1]]) == {names[-1]: [1]}


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "is empty: it has no columns"),
        (b"\n\n", "is empty: it has no columns"),
        (b"a,b\n1,2\n3\n", "a row of d.csv has 1 fields and the header 2: '3'"),
        (b"a,b\n1,2,3\n", "has 3 fields and the header 2"),
        (b"a,b,a\n1,2,3\n", "columns 1 and 3 of d.csv have the same name 'a'"),
        ("a,b\n1,é\n".encode("latin-1"), "--encoding latin-1"),
        (b"a,b\n1," + b"x" * 70000 + "\né\n".encode("latin-1"), "--encoding latin-1"),
        ("a,b\n1,é\n".encode("utf-16"), "--encoding"),
        (gzip.compress(b"a,b\n" + b"1,2\n" * 100000, mtime=0)[:150], "d.csv cannot be read"),
        (b"PK\x03\x04zip", "is a zip or Excel file"),
        (b"FEA1....", "Feather version 1"),
        (b'a,b\n1,"' + b"x\n" * csvfiles.BLOCK, "a quote that is opened and never closed"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, monkeypatch, raw, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_bytes(raw)
    with pytest.raises(Failure) as raised:
        read("d.csv")
    assert said in raised.value.message


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("d.parquet", b"hello", "does not begin like a file of format parquet"),
        ("d.parquet", b"PAR1hello", "d.parquet cannot be read"),
        ("d.arrow", b"ARROW1..hello", "d.arrow cannot be read"),
        ("d.xyz", b"a,b\n", "its name does not tell the format"),
        (".", b"", "is a folder"),
    ],
)
def test_other_files_that_cannot_be_read(tmp_path, monkeypatch, name, raw, said):
    monkeypatch.chdir(tmp_path)
    if name != ".":
        (tmp_path / name).write_bytes(raw)
    assert said in bad("fit", name, "-t", "a")


def test_spellings_of_nothing_and_columns_that_are_names(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,b\nNA,007\n?,8\n", encoding="utf-8")
    assert read(path, reading=ReadSettings(nulls=["?"], as_text=["b"])) == {"a": ["NA", None], "b": ["007", "8"]}


def test_rows_are_estimated_from_the_first_ones(tmp_path):
    text = b"a,b\n" + b"12345678,x\n" * 300_000
    (tmp_path / "d.csv").write_bytes(text)
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(text))
    assert open_source(DataFile(str(tmp_path / "d.csv"))).n_rows == pytest.approx(300_000, rel=0.01)
    assert open_source(DataFile(str(tmp_path / "d.csv.gz"))).n_rows == pytest.approx(300_000, rel=0.1)


def test_the_first_value_that_is_no_number_is_found_in_a_few_looks(monkeypatch):
    """A look at each of a block's 300,000 values took a minute."""
    looks = []
    monkeypatch.setattr(texts, "typed_values", lambda *given: looks.append(1) or typed_values(*given))
    numbers = gridmodl.optimize({"a": [1.0, 2.0]}, ["x", "y"]).partition("a")
    found = pa.array(["1", None] * 5000 + ["old", "2", "older"])
    with pytest.raises(Failure, match=r"row 10008 of d\.csv has 'old' in column 'a'"):
        texts.values_for(numbers, found, NULLS, "d.csv", 7)
    assert len(looks) < 20
    with pytest.raises(Failure, match=r"mixes numbers of several kinds.*row 2 has 'true'"):
        texts.values_for(numbers, pa.array(["1", "true"]), NULLS, "d.csv", 0)
