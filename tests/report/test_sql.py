"""SQL says the same as the model: in DuckDB, SQLite, PostgreSQL and MariaDB, to the bit."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from dataclasses import replace
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report.databases import DIALECTS, Stored, connected, held, run
from report.partitions import categorical, model_of, numerical

import gridmodl
from gridmodl import Model, Models
from gridmodl.report.sql.dialects import dialect_named

ALL = [*DIALECTS, "bigquery", "snowflake", "spark"]
NAN, INF = math.nan, math.inf


def parts_in(dialect, partition, stored, unknown=None):
    query = model_of(partition).to_sql(dialect, keep=["row number"], output="parts", unknown=unknown)
    return [part for (part,) in run(dialect, query, {str(partition.name): stored})]


def assert_same(dialect, partition, stored, values=None, unknown=None):
    """The parts in the database are those of the model, given the same values in Python."""
    rows = held(dialect, stored.values)
    expected = partition.part_of(stored.values if values is None else values, unknown)[rows].tolist()
    stored = Stored(stored.type, [stored.values[i] for i in rows])
    assert parts_in(dialect, partition, stored, unknown) == expected


# Numbers.

ODD = [
    None, NAN, INF, -INF, 0.0, -0.0, 0.1, float(np.float32(0.1)), 2.45, math.nextafter(2.45, 0),
    math.nextafter(2.45, 9), -999.0, -998.5, 5e-324, -5e-324, 1.7976931348623157e308, 1e22, 1e23, 9007199254740993.0,
    1e300, 123456789.123456789,
]  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("missing", [(None, False), (0, False), (0, True)])
@pytest.mark.parametrize("special", [(), (-999.0, 0.0), (INF, 2.45, 1e23)])
def test_floats_of_all_kinds(dialect, missing, special):
    bounds = [-INF, -5e-324, 0.0, float(np.float32(0.1)), 2.45, 9007199254740992.0, 1e23, 1.7976931348623157e308]
    partition = numerical(bounds, special, *missing)
    assert_same(dialect, partition, Stored("double", ODD))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_float32(dialect):
    values = [float(np.float32(v)) for v in (0.1, 0.2, 0.3, 16777216.0, 2.0**60, 3e38, -0.1)]
    near = [float(np.nextafter(np.float32(v), np.float32(9))) for v in values[:3]]
    partition = numerical(np.array([0.1, 0.2, 16777216.0], dtype="f4"), [float(np.float32(0.3))])
    assert_same(dialect, partition, Stored("float32", [*values, *near, None, NAN, INF]))
    assert_same(dialect, numerical([0.1, 0.2, 16777217.0, 2.0**60 + 256]), Stored("float32", [*values, *near]))


LARGE = [
    2**53 - 1,
    2**53,
    2**53 + 1,
    2**53 + 2,
    2**53 + 3,
    2**60,
    2**60 + 1,
    2**60 - 1,
    2**63 - 1,
    -(2**63),
    -(2**53) - 1,
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "bounds",
    [
        [-(2.0**53), 0.5, 2.0**53, 2.0**60], [2**53 + 1, 2**53 + 2, 2**53 + 3, 2**60, 2**60 + 1],
        [-(2**63) + 1, -(2**53) - 1, 5], np.array([2**53 + 1, 2**63 - 1, 2**63 + 5, 2**64 - 9], dtype=np.uint64),
        [-1e19, 1e19],
    ],
)  # fmt: skip
def test_integers_beyond_what_floats_hold(dialect, bounds):
    partition = numerical(bounds, [2**60 + 1] if isinstance(bounds, np.ndarray) else [2.0**60])
    assert_same(
        dialect, partition, Stored("int64", [*LARGE, 0, 5, 6, None]), pd.Series([*LARGE, 0, 5, 6, None], dtype="Int64")
    )
    floats = [2.0**53, 2.0**53 + 2, 2.0**53 + 4, 2.0**60, 2.0**60 + 256, 1e18, 1e20, -1e20, NAN, 0.5, 9.3e18, 1.8e19]
    assert_same(dialect, partition, Stored("double", floats))


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "mysql"])
def test_unsigned_integers(dialect):
    values = np.array([0, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 5, 2**63 + 6, 2**64 - 1], dtype=np.uint64)
    partition = numerical(np.array([2**53 + 1, 2**63 + 5], dtype=np.uint64), np.array([2**63], dtype=np.uint64))
    assert_same(dialect, partition, Stored("uint64", values.tolist()), values)
    assert_same(dialect, numerical([2.0**63, 1.8e19]), Stored("uint64", values.tolist()), values)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "mysql"])
def test_decimals_are_compared_as_floats(dialect):
    values = [0.10, 0.11, 0.12, 2.45, 2.46]
    assert_same(dialect, numerical([0.11, 2.45]), Stored("DECIMAL(6, 2)", values), values)


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_numbers(dialect, data):
    numbers = st.floats(allow_nan=False) | st.sampled_from([v for v in ODD if v == v and v is not None])
    bounds = sorted({b + 0.0 for b in data.draw(st.lists(numbers, max_size=6))})
    codes = list(dict.fromkeys(c + 0.0 for c in data.draw(st.lists(numbers, max_size=3))))
    missing = data.draw(st.sampled_from([(None, False), (0, False), (0, True)]))
    near = [math.nextafter(b, way) for b in [*bounds, *codes] for way in (-INF, INF)]
    values = [*ODD, *bounds, *codes, *near, *data.draw(st.lists(st.floats(), max_size=5))]
    assert_same(dialect, numerical(np.array(bounds, dtype=float), codes, *missing), Stored("double", values))


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_integers(dialect, data):
    numbers = st.integers(-(2**63) + 1, 2**63 - 2)
    drawn = sorted(data.draw(st.sets(numbers, min_size=1, max_size=5)))
    as_floats = data.draw(st.booleans())
    bounds = np.unique(np.array(drawn, dtype=float if as_floats else np.int64))
    values = np.array([*LARGE, *drawn, *(n + 1 for n in drawn), *(n - 1 for n in drawn), 0], dtype=np.int64)
    assert_same(dialect, numerical(bounds), Stored("int64", values.tolist()), values)


# Categories.

WORDS = [
    "red", "Red", "RED ", " red", "", "é", "e\u0301", "日本", "😀", "it's", '"quoted"', "a\\'; DROP TABLE data; --",
    "a\\", "\\n", "line\nbreak", "line\n    break", "tab\t", "/* no */", "{0}", "%s", "NULL", "'", "\u202e", "a;b",
    "$$", "\x7f",
]  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("unknown", ["largest", "neutral", None])
@pytest.mark.parametrize("has_missing", [True, False])
def test_texts_that_are_hard_to_quote(dialect, unknown, has_missing):
    groups = [WORDS[i::3] for i in range(3)]
    partition = categorical(tuple(groups[0]), (*groups[1], None) if has_missing else tuple(groups[1]), tuple(groups[2]))
    values = [*WORDS, "unseen", "re", "red\n", None, "É", "a"]
    assert_same(dialect, partition, Stored("text", values), unknown=unknown)


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_texts(dialect, data):
    words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
    drawn = data.draw(st.lists(words | st.sampled_from(WORDS), min_size=2, max_size=8, unique=True))
    partition = categorical(tuple(drawn[::2]), tuple(drawn[1::2]), default=data.draw(st.integers(0, 1)))
    values = [
        *drawn,
        *data.draw(st.lists(words, max_size=4)),
        *(word.upper() for word in drawn),
        *(f"{w} " for w in drawn),
    ]
    assert_same(
        dialect,
        partition,
        Stored("text", [*values, None]),
        unknown=data.draw(st.sampled_from(["largest", "neutral", None])),
    )


@pytest.mark.parametrize(
    ("dialect", "type_"),
    [
        ("duckdb", "TEXT COLLATE NOCASE"), ("sqlite", "TEXT COLLATE NOCASE"), ("sqlite", "TEXT COLLATE RTRIM"),
        ("postgres", 'TEXT COLLATE "und-x-icu"'), ("postgres", "TEXT COLLATE no_accents"), ("postgres", "VARCHAR(9)"),
        ("mysql", "VARCHAR(9) CHARACTER SET latin1"), ("mysql", "VARCHAR(9) CHARACTER SET utf8mb4"),
        ("mysql", "TEXT COLLATE utf8mb4_bin"), ("mysql", "VARCHAR(9) CHARACTER SET utf16"),
    ],
)  # fmt: skip
def test_a_collation_of_the_column_does_not_matter(dialect, type_):
    if "no_accents" in type_:
        form = "CREATE COLLATION IF NOT EXISTS no_accents (provider = icu, locale = 'und-u-ks-level1', {})"
        connected(dialect).execute(form.format("deterministic = false"))
    partition = categorical(("a", "b", "é"), ("A", "b ", "É"), default=0)
    values = ["a", "A", "b", "b ", "B", "é", "É", "e", "a ", None]
    assert_same(dialect, partition, Stored(type_, values), unknown="neutral")


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "mysql"])
def test_an_enum(dialect):
    partition, type_ = categorical(("a", "no"), ("b",)), "ENUM('a', 'b', 'c')"
    if dialect == "postgres":
        connected(dialect).execute(f"CREATE TYPE letter AS {type_}")
        type_ = "letter"
    assert_same(dialect, partition, Stored(type_, ["a", "b", "c", None]), unknown="neutral")


@pytest.mark.parametrize(
    "setting",
    ["SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'", "SET NAMES latin1", "SET sql_mode = ''"],
)
def test_settings_of_a_session_of_mariadb_do_not_matter(setting):
    words = ("it's", "a\\b", "a\\\\b", "\\'", "grün\\", "é")
    partition = categorical(words[::2], words[1::2])
    server = connected("mysql")
    rows = ", ".join(f"({i}, X'{word.encode().hex()}')" for i, word in enumerate(words))
    server.execute("CREATE TEMPORARY TABLE data (i INT, x VARCHAR(20) CHARACTER SET utf8mb4)")
    server.execute(f"INSERT INTO data VALUES {rows}")  # noqa: S608  of our own
    query = model_of(partition).to_sql("mysql", keep=["i"], output="parts", unknown="neutral")
    encoding = server.connection.encoding
    try:
        server.execute(setting)
        server.connection.encoding = "latin1" if "latin1" in setting else encoding
        server.execute(query)
        assert sorted(server.fetchall()) == list(zip(range(6), [0, 1] * 3, strict=True))
    finally:
        server.connection.encoding = encoding
        server.execute("SET NAMES utf8mb4, sql_mode = DEFAULT")
        server.execute("DROP TABLE data")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_numbers_as_categories(dialect):
    partition = categorical((1, 2, 2**24 + 1, -5), (3, None, 2**53 + 1, 2**60), (4, 2**53, 2**80, 10**400))
    values = pd.Series(
        [1, 2, 3, 4, 5, 2**24 + 1, 2**24, -5, 2**53, 2**53 + 1, 2**53 + 2, 2**60, 2**60 + 1, None], dtype="Int64"
    )
    stored = [None if v is pd.NA else int(v) for v in values]
    assert_same(dialect, partition, Stored("int64", stored), values, unknown="neutral")
    floats = [1.0, 2.0, 3.0, 1.5, NAN, None, 2.0**53, 2.0**60, 2.0**80, 2.0**53 + 2, 2.0**24 + 1, INF]
    assert_same(dialect, partition, Stored("double", floats), unknown="neutral")
    partition = categorical((0.1, INF, 2.5), (1.0, -0.0, 2.0**60))
    assert_same(
        dialect, partition, Stored("double", [0.1, INF, -INF, 2.5, 1.0, 0.0, 2.0**60, NAN, 7.0]), unknown="neutral"
    )
    ints = [0, 1, 2, 2**60, 2**60 + 1]
    assert_same(dialect, partition, Stored("int64", ints), unknown="neutral")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_decimals_that_are_floats_as_categories(dialect):
    partition = categorical((Decimal("2.50"), Decimal(3)), (Decimal("1E+30"),))
    assert_same(dialect, partition, Stored("double", [2.5, 3.0, 1e30, 0.1, None]), unknown="neutral")
    with pytest.raises(
        ValueError, match=r"column 'x' has the value Decimal\('0.1'\) \(Decimal\), for which there is no SQL"
    ):
        categorical((Decimal("0.1"),), (1,)).to_sql(dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_booleans_and_bytes(dialect):
    assert_same(dialect, categorical((True, None), (False,)), Stored("boolean", [True, False, None]))
    assert_same(
        dialect,
        categorical((np.True_,), (False,), default=1),
        Stored("boolean", [True, False, None]),
        unknown="neutral",
    )
    values = [b"a", b"\x00\xff'", b"", b"unseen", None]
    assert_same(dialect, categorical((b"a", b""), (b"\x00\xff'",)), Stored("bytes", values), unknown="neutral")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_many_values(dialect):
    values = [f"value {i}" for i in range(25_000)]
    partition = categorical(tuple(values[::2]), tuple(values[1::2]))
    expected = partition.part_of([*values[::997], "no"], "neutral").tolist()
    assert parts_in(dialect, partition, Stored("text", [*values[::997], "no"]), "neutral") == expected


@pytest.mark.parametrize("dialect", DIALECTS)
def test_many_intervals(dialect):
    bounds = np.arange(3000) + 0.5
    assert_same(dialect, numerical(bounds), Stored("double", [*bounds[::100].tolist(), -1.0, 1e9, None]))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_missing_values_that_were_never_seen(dialect):
    assert_same(dialect, categorical(("a",), ("b",), default=1), Stored("text", ["a", "b", None]), unknown="neutral")
    assert_same(dialect, categorical(("a",), ("b",), default=1), Stored("text", ["a", "b", None]))
    assert_same(dialect, categorical((None,), ("b",), default=1), Stored("text", ["a", "b", None]))
    assert_same(dialect, categorical((None,), default=0), Stored("text", ["a", None]), unknown="neutral")
    assert_same(dialect, numerical([], missing=0, is_apart=True), Stored("double", [1.0, NAN, None]))


# Dates.

DAYS = [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(2020, 1, 1), dt.date(2020, 1, 2), dt.date(9999, 12, 31), None]
MOMENTS = [
    dt.datetime(1900, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999_999), dt.datetime(2020, 1, 1),
    dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 1, 1, 12, 0, 0, 1), dt.datetime(2020, 1, 1, 12, 0, 0, 2),
    dt.datetime(2020, 1, 1, 12, 0, 1), None,
]  # fmt: skip


def as_texts(dialect, values):
    """SQLite has dates as texts; all ways to write the same moment are the same to it."""
    if dialect != "sqlite":
        return values
    return [value if value is None else value.isoformat("T" if i % 2 else " ") if isinstance(value, dt.datetime)
            else value.isoformat() for i, value in enumerate(values)]  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
def test_dates_and_moments(dialect, unit):
    bounds = np.array(["1969-12-31", "2020-01-01", "2020-01-01T12:00:00.000001"], dtype=f"M8[{unit}]")
    partition = numerical(np.unique(bounds), missing=0, is_apart=True)
    days = np.array([*DAYS[1:4], None], dtype="M8[D]")
    assert_same(dialect, partition, Stored("date", as_texts(dialect, days.tolist())), days)
    moments = np.array(MOMENTS, dtype="M8[us]")
    assert_same(dialect, partition, Stored("moment", as_texts(dialect, MOMENTS)), moments)


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_moments(dialect, data):
    day, start = 86_400_000_000, dt.datetime(1970, 1, 1)
    numbers = st.integers(-100 * 365 * day, 100 * 365 * day) | st.integers(-3, 3).map(lambda n: n * day)
    drawn = data.draw(st.lists(numbers, min_size=1, max_size=4, unique=True))
    unit = data.draw(st.sampled_from(["D", "h", "s", "ms", "us", "ns"]))
    bounds = np.unique(np.array(drawn, dtype="M8[us]").astype(f"M8[{unit}]"))
    moments = np.array([*drawn, *(n + 1 for n in drawn), *(n - 1 for n in drawn)], dtype="M8[us]")
    moments = np.append(moments, bounds.astype("M8[us]"))
    values = [start + dt.timedelta(microseconds=int(n)) for n in moments.astype(np.int64)]
    assert_same(dialect, numerical(bounds, bounds[:1]), Stored("moment", as_texts(dialect, values)), moments)


def test_dates_at_the_ends_of_the_calendar():
    days = np.array(DAYS, dtype="M8[D]")
    partition = numerical(np.array(["0001-01-01", "9999-12-30"], dtype="M8[D]"))
    for dialect in DIALECTS:
        assert_same(dialect, partition, Stored("date", as_texts(dialect, DAYS)), days)
    with pytest.raises(ValueError, match=r"column 'x' has .*which is a date outside of the years 1 to 9999"):
        numerical(np.array(["12020-01-01"], dtype="M8[D]")).to_sql("duckdb")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dates_without_a_bound(dialect):
    """Missing values apart from one interval: there is no value to tell by that these are dates."""
    partition = numerical(np.empty(0, dtype="M8[us]"), missing=0, is_apart=True)
    stored = Stored("moment", as_texts(dialect, MOMENTS))
    assert_same(dialect, partition, stored, np.array(MOMENTS, dtype="M8[us]"))
    found = gridmodl.Model.from_partitions({"x": np.array(MOMENTS, dtype="M8[us]")}, [0, 1] * 4, {"x": []})
    assert (
        parts_in(dialect, found.partitions["x"], stored) == found.transform(np.array(MOMENTS, dtype="M8[us]")).tolist()
    )


def test_nanoseconds():
    texts = ["2020-01-01 00:00:00.000000499", "2020-01-01 00:00:00.000000500", "2020-01-01 00:00:00.000000501", None]
    values = np.array([t and t.replace(" ", "T") for t in texts], dtype="M8[ns]")
    partition = numerical(values[1:2], special=values[2:3])
    assert_same("duckdb", partition, Stored("TIMESTAMP_NS", texts), values)
    assert_same("sqlite", partition, Stored("text", texts), values)
    # Columns of microseconds lie on the same side of a bound between two of them.
    micros = np.array(["2020-01-01T00:00:00.000000", "2020-01-01T00:00:00.000001"], dtype="M8[us]")
    assert_same("duckdb", partition, Stored("moment", micros.tolist()), micros)
    assert "'2020-01-01 00:00:00.000000'" in numerical(values[1:2]).to_sql("postgres")
    assert "THEN 2" not in partition.to_sql("postgres")  # no column there holds the code


@pytest.mark.parametrize("dialect", DIALECTS)
def test_instants(dialect):
    zones = [dt.UTC, dt.timezone(dt.timedelta(hours=2)), dt.timezone(dt.timedelta(hours=-11, minutes=-30))]
    values = [m if m is None else m.replace(tzinfo=dt.UTC).astimezone(zones[i % 3]) for i, m in enumerate(MOMENTS)]
    stored = as_texts(dialect, values)
    if dialect == "sqlite":
        stored[-2] = stored[-2].replace("+00:00", "Z")
    column = pd.Series(np.array(MOMENTS, dtype="M8[us]")).dt.tz_localize("UTC")
    bounds = np.array(["1969-12-31T23:59:59.999998", "2020-01-01T12:00:00.000001"], dtype="M8[us]")
    partition = numerical(bounds, np.array(["2020-01-01T12:00:01"], dtype="M8[us]"), is_utc=True)
    assert_same(dialect, partition, Stored("instant", stored), column)
    groups = categorical((values[2], values[3]), (None, values[4]))
    rows, parts = held(dialect, values), [-1, -1, 0, 0, 1, -1, -1, 1]
    found = parts_in(dialect, groups, Stored("instant", [stored[i] for i in rows]), "neutral")
    assert found == [parts[i] for i in rows]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dates_as_categories(dialect):
    partition = categorical((DAYS[1], DAYS[2]), (DAYS[3], None))
    values = [*DAYS[1:4], None, dt.date(2000, 1, 1)]
    assert_same(
        dialect, partition, Stored("date", as_texts(dialect, values)), np.array(values, object), unknown="neutral"
    )
    moments = categorical((pd.Timestamp(MOMENTS[1]), np.datetime64("2020-01-01", "s")), (MOMENTS[3],))
    stored = Stored("moment", as_texts(dialect, MOMENTS))
    assert parts_in(dialect, moments, stored, "neutral") == [-1, 0, 0, 1, -1, -1, -1, -1]


DURATIONS = [dt.timedelta(0), dt.timedelta(days=-1, microseconds=1), dt.timedelta(hours=25),
             dt.timedelta(microseconds=1), dt.timedelta(days=40, seconds=1), None]  # fmt: skip


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_durations(dialect):
    values = np.array(DURATIONS, dtype="m8[us]")
    for unit in ("us", "ns"):
        bounds = np.unique(np.array([-86_399_999_999, 0, 90_000_000_000], "m8[us]").astype(f"m8[{unit}]"))
        assert_same(dialect, numerical(bounds, bounds[:1]), Stored("INTERVAL", DURATIONS), values)
    half = np.array([500, -500], dtype="m8[ns]")
    assert_same(dialect, numerical(np.sort(half)), Stored("INTERVAL", DURATIONS), values)
    groups = categorical((DURATIONS[2],), (pd.Timedelta(0), None))
    assert parts_in(dialect, groups, Stored("INTERVAL", DURATIONS), "neutral") == [1, -1, 0, -1, -1, 1]
    for other in ("sqlite", "mysql", "snowflake"):
        with pytest.raises(ValueError, match=f"column 'x' has durations, for which {other} has no type"):
            numerical(half).to_sql(other)


# Queries of whole models.


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 400
    age = rng.integers(18, 90, n).astype(float)
    age[::11] = np.nan
    age[::13] = -999
    colour = rng.choice(np.array(["red", "bl'ue", "grün\\", None], dtype=object), n)
    buys = rng.random(n) < np.where(age < 40, 0.1, 0.6) + np.where(np.isin(colour, ["red", "grün\\"]), 0.3, 0.0)
    return pd.DataFrame({"age": age, 'co"lour': colour, 7: rng.normal(size=n), "buys": np.where(buys, "y'es", "no")})


NEW = {
    "age": Stored("double", [20.0, 50.0, NAN, None, -999.0, 1e300, 89.0, 30.0]),
    'co"lour': Stored("text", ["red", "bl'ue", None, "unseen", "grün\\", "red", None, "bl'ue"]),
    "7": Stored("double", [0.0, 1.0, -1.0, 0.5, 2.0, -2.0, None, 0.1]),
}


def new_frame(new=None):
    return pd.DataFrame({7 if name == "7" else name: stored.values for name, stored in (new or NEW).items()})


def names_of(query):
    connection = duckdb.connect()
    connection.execute('CREATE TABLE data ("row number" BIGINT, age DOUBLE, "co""lour" TEXT, "7" DOUBLE)')
    return [column[0] for column in connection.execute(query).description]


def assert_answers(model, dialect, unknown, new=None):
    query = model.to_sql(dialect, keep=["row number"], unknown=unknown)
    found = run(dialect, query, new or NEW)
    data = new_frame(new)
    shown = [name for name, p in model.partitions.items() if p.n_parts > 1 or len(model.partitions) == 1]
    parts = np.atleast_2d(model.transform(data, unknown).T).T
    which = [list(model.partitions).index(name) for name in shown]
    cells, predicted = model.cell_of(data, unknown), model.predict(data, unknown)
    shares = model.predict_proba(data, unknown)
    for i, row in enumerate(found):
        expected = (*parts[i, which].tolist(), int(cells[i]), predicted[i], *shares[i].tolist())
        assert row == expected, (dialect, i)
    assert names_of(model.to_sql("duckdb", keep=["row number"])) == [
        "row number", *(f"part_{name}" for name in shown), "cell", "predicted",
        *(f"share_{name}" for name in model.classes),
    ]  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
def test_models_of_one_column(frame, dialect):
    models = gridmodl.optimize_each(frame, "buys", special={"age": [-999]}, n_jobs=1)
    for model in models.values():
        for unknown in ("largest", "neutral", None):
            assert_answers(model, dialect, unknown)
    query = models.to_sql(dialect, keep=["row number"], output=["labels", "parts"])
    names = [name for name, model in models.items() if model.partitions[name].n_parts > 1]
    assert len(names) == 2
    found = run(dialect, query, NEW)
    for k, name in enumerate(names):
        parts = models[name].transform(new_frame()).ravel()
        labels = models[name].partitions[name].labels
        assert [row[k] for row in found] == parts.tolist()
        assert [row[len(names) + k] for row in found] == [labels[part] if part >= 0 else None for part in parts]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_that_the_user_gave_are_labels(frame, dialect):
    model = gridmodl.optimize_each(frame, "buys", special={"age": [-999]}, n_jobs=1)["age"]
    hostile = "it's */ 1; /* -- x"
    named = model.rename("age", {1: hostile})
    query = named.to_sql(dialect, keep=["row number"], output=["labels", "parts"])
    labels = [hostile if part == 1 else label for part, label in enumerate(model.partitions["age"].labels)]
    parts = model.transform(new_frame()).ravel()
    found = run(dialect, query, NEW)
    assert [row[0] for row in found] == parts.tolist()
    assert [row[1] for row in found] == [labels[part] if part >= 0 else None for part in parts]
    assert "THEN 1 /* it's * / 1; / * -- x */" in query


def test_groups_are_named_in_comments():
    partition = categorical(("Paris", "Lyon"), ("Oslo */ x",))
    query = partition.to_sql("duckdb", "town")
    assert "THEN 0 /* 0: Paris, Lyon */" in query
    assert "THEN 1 /* 1: Oslo * / x */" in query


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("event", ["y'es", "no"])
def test_weights_of_evidence(frame, dialect, event):
    models = gridmodl.optimize_each(frame, "buys", special={"age": [-999]}, event=event, n_jobs=1).select(level=0)
    made = models.transform(new_frame(), encode="woe", frame="arrays")  # its names are those that libraries accept
    wanted = dict(zip(models, made.values(), strict=True))
    found = run(dialect, models.to_sql(dialect, keep=["row number"], output="woe"), NEW)
    assert found == list(zip(*(wanted[name].tolist() for name in models), strict=True))
    for name, model in models.items():
        query = model.to_sql(dialect, keep=["row number"], output=["parts", "woe"])
        assert [row[1] for row in run(dialect, query, NEW)] == wanted[name].tolist()


def test_weights_of_evidence_of_each_class(frame):
    three = np.array(["a", "b", "c"])[np.arange(len(frame)) % 3]
    models = gridmodl.Models({"age": gridmodl.Model.from_partitions(frame[["age"]], three, {"age": [30.5]})})
    assert names_of(models.to_sql("duckdb", output="woe")) == ["woe_age_a", "woe_age_b", "woe_age_c"]
    numbers = gridmodl.optimize(frame["age"].fillna(0), np.arange(len(frame)) + 0.5)
    with pytest.raises(ValueError, match="output must be one or several of 'parts', 'labels', 'predict'"):
        numbers.to_sql("duckdb", output="woe")


@pytest.fixture(scope="module")
def grid(frame):
    return gridmodl.Model.from_partitions(
        frame, "buys", {"age": [30.5, 60.0], 'co"lour': [["red", "grün\\"], ["bl'ue", None]]}
    )


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("unknown", ["largest", "neutral", None])
def test_a_grid(grid, dialect, unknown):
    assert grid.partitions[7].n_parts == 1  # no parts of it were given
    assert_answers(grid, dialect, unknown)
    few = grid._cells._replace(parts=grid.cells.parts[1:-1], counts=grid.cells.counts[1:-1])
    assert_answers(replace(grid, _cells=few), dialect, unknown)  # cells that no row was in
    assert_answers(Model.from_json(grid.to_json()), dialect, unknown)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_model_of_one_cell(frame, dialect):
    model = gridmodl.Model.from_partitions(frame[["age", 7, "buys"]], "buys", {})
    query = model.to_sql(dialect, keep=["row number"])
    overall = model.predict_proba(new_frame())
    assert run(dialect, query, NEW) == [(0, "y'es", *row) for row in overall.tolist()]
    one = gridmodl.Model.from_partitions(frame[[7, "buys"]], "buys", {})
    assert run(dialect, one.to_sql(dialect, keep=["row number"]), NEW)[0][:2] == (0, 0)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_model_without_a_target(frame, dialect):
    model = gridmodl.Model.from_partitions(
        frame[["age", 'co"lour']], None, {"age": [30.5], 'co"lour': [["red"], ["bl'ue", "grün\\", None]]}
    )
    data = new_frame()
    for unknown in ("largest", "neutral", None):
        found = run(dialect, model.to_sql(dialect, keep=["row number"], unknown=unknown), NEW)
        expected = np.column_stack([model.transform(data, unknown), model.cell_of(data, unknown)])
        assert found == [tuple(row) for row in expected.tolist()]
    with pytest.raises(ValueError, match=r"output must be one or several of 'parts', 'labels', 'cell', 'log_density'"):
        model.to_sql(dialect, output="proba")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_grouped_classes(frame, dialect):
    target = np.where(frame["age"] > 50, "a", "b") + np.where(frame["buys"] == "no", "1", "2").astype(object)
    model = gridmodl.Model.from_partitions(
        {'co"lour': frame['co"lour']}, target, {'co"lour': [["red"], ["bl'ue", None], ["never"], ["grün\\"]],
        "target": [["a1", "b1"], ["a2", "b2"]]}, target_kind="grouped",
    )  # fmt: skip
    for unknown in ("largest", "neutral", None):
        found = run(dialect, model.to_sql(dialect, keep=["row number"], unknown=unknown), NEW)
        parts, shares = model.transform(new_frame(), unknown).ravel(), model.predict_proba(new_frame(), unknown)
        predicted = model.predict(new_frame(), unknown)
        assert found == [
            (*row[:2], *share) for row, share in zip(zip(parts, predicted, strict=True), shares.tolist(), strict=True)
        ]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_numerical_target(frame, dialect):
    target = np.random.default_rng(1).normal(size=len(frame)) + (frame["age"].to_numpy() > 40)
    model = gridmodl.Model.from_partitions(
        {"age": frame["age"]}, target, {"age": [math.nan, 30.5, 1000.0], "target": [0.0]}, target_kind="numerical"
    )
    found = run(dialect, model.to_sql(dialect, keep=["row number"], coverage=0.73), NEW)
    expected = [model.transform(new_frame()).ravel(), *model.predict(new_frame(), coverage=0.73)]
    assert found == list(zip(*(column.tolist() for column in expected), strict=True))
    with pytest.raises(ValueError, match="coverage must be a share"):
        model.to_sql(dialect, coverage=2)


def test_unlabelled_rows(frame):
    target = np.where(np.arange(len(frame)) % 3 == 0, "?", frame["buys"])
    model = gridmodl.Model.from_partitions({"age": frame["age"]}, target, {"age": [30.5, 200.0]}, unlabelled="?")
    for dialect in DIALECTS:
        assert_answers(model, dialect, "neutral")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_neutral_predictions_of_a_grid(frame, dialect):
    """The shares are those of `predict_proba`, to the bit, for each set of columns in which a value has no part."""
    known = frame.dropna()
    model = gridmodl.Model.from_partitions(
        known, "buys", {"age": [30.5, 60.0], 'co"lour': [["red", "grün\\"], ["bl'ue"]], 7: [0.0]}
    )
    assert model.informative == ["age", 'co"lour', 7]
    rows = list(itertools.product([20.0, 90.0, None], ["red", "bl'ue", "new", None], [-1.0, 1.0, None]))
    ages, colours, numbers = (list(column) for column in zip(*rows, strict=True))
    new = {"age": Stored("double", ages), 'co"lour': Stored("text", colours), "7": Stored("double", numbers)}
    assert len({tuple(row) for row in (model.transform(new_frame(new)) < 0).tolist()}) == 8
    for unknown in (None, "largest"):
        assert_answers(model, dialect, unknown, new)
    old = {name: replace(parts, default=1 if parts.groups else 0) for name, parts in model.partitions.items()}
    assert_answers(replace(model, partitions=old), dialect, None, new)
    assert_answers(replace(model, partitions=old), dialect, "neutral", new)


def test_a_grid_of_too_many_neutral_cells_has_no_query(monkeypatch, frame):
    model = gridmodl.Model.from_partitions(frame.dropna(), "buys", {"age": [30.5, 60.0], 7: [0.0]})
    monkeypatch.setattr("gridmodl.report.cell_lines.MAX_LINES", 8)
    with pytest.raises(ValueError, match="predictions of this grid, 6 cells of 2 columns, take more than 8 lines"):
        model.to_sql("duckdb")
    assert "cell" in model.to_sql("duckdb", output=["parts", "cell"])


@pytest.mark.parametrize("classes", [[0, 1], [False, True], [0.5, 2.45], [b"a", b"\xff"], ["a", "A"]])
def test_classes_of_other_types(classes):
    model = replace(model_of(numerical([0.5])), classes=np.array(classes))
    for dialect in DIALECTS:
        found = run(
            dialect, model.to_sql(dialect, keep=["row number"], output="predict"), {"x": Stored("double", [0.0, 1.0])}
        )
        assert [row[0] for row in found] == model.predict([0.0, 1.0]).tolist()


# Names.


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "name", ['a"b', "a b", "select", "é😀", "a'b", "--", "a;b", "[a]", "`", "a.b", "\n", "x" * 500, "part_x"]
)
def test_any_name_of_a_column_and_a_table(dialect, name):
    model = model_of(numerical([0.5], name=name))
    long, odd = f"has 500 .*; {dialect} takes 6", "is none that mysql takes"
    refused = {("postgres", "x" * 500): long, ("mysql", "x" * 500): long, ("mysql", "é😀"): odd, ("mysql", "\n"): odd}
    if (dialect, name) in refused:
        with pytest.raises(ValueError, match=refused[dialect, name]):
            model.to_sql(dialect, name)
        name = "y"
        model = model_of(numerical([0.5], name=name))
    query = model.to_sql(dialect, name, keep=["row number", name], output=["parts", "cell"])
    found = run(dialect, query, {name: Stored("double", [0.0, 1.0])}, name)
    assert found == [(0.0, 0, 0), (1.0, 1, 1)]


def test_names_of_results_are_told_apart():
    model = replace(model_of(numerical([0.5])), classes=np.array(["a", "A"]))
    columns = {"x": Stored("double", [0.0]), "PART_X": Stored("text", ["kept"]), "Predicted": Stored("text", ["too"])}
    for dialect in DIALECTS:
        query = model.to_sql(dialect, keep=["row number", "PART_X", "Predicted"])
        assert run(dialect, query, columns) == [("kept", "too", 0, 0, "a", 0.5, 0.5)]
        assert ("part_x_2" in query) == ("share_A_2" in query) == (dialect != "postgres")


def test_columns_are_renamed_and_told_apart():
    pair = Model.from_partitions(
        {"a": [0.0, 1.0, 0.0, 1.0], "A": [0.0, 0.0, 1.0, 1.0]}, [0, 1, 1, 0], {"a": [0.5], "A": [0.5]}
    )
    with pytest.raises(
        ValueError, match=r"column 'A' is 'A' in SQL, as another one is; to duckdb, A and a are one name"
    ):
        pair.to_sql("duckdb")
    assert 't."a"' in pair.to_sql("postgres")
    query = pair.to_sql("duckdb", columns={"A": "other"}, keep=["row number"], output=["parts", "predict"])
    columns = {"a": Stored("double", [0.0, 1.0]), "other": Stored("double", [1.0, 1.0])}
    assert run("duckdb", query, columns) == [(0, 1, 1), (1, 1, 0)]
    assert 'FROM "my schema"."data" AS t' in pair.to_sql("snowflake", ("my schema", "data"))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_which_letters_are_the_same_in_both_cases(dialect):
    pair = Model.from_partitions(
        {"é": [0.0, 1.0, 0.0, 1.0], "É": [0.0, 0.0, 1.0, 1.0]}, [0, 1, 1, 0], {"é": [0.5], "É": [0.5]}
    )
    columns, names = {"é": Stored("double", [0.0, 1.0]), "É": Stored("double", [1.0, 1.0])}, None
    if dialect == "mysql":
        with pytest.raises(ValueError, match="'É' is 'É' in SQL, as another one is; to mysql, A and a are one name"):
            pair.to_sql(dialect)
        names = {"É": "e"}
        columns["e"] = columns.pop("É")
    query = pair.to_sql(dialect, columns=names, keep=["row number"], output="parts")
    assert run(dialect, query, columns) == [(0, 1), (1, 1)]


def test_whole_numbers_are_names():
    assert 'WHEN "7" IS NULL' in numerical([0.5], name=np.int64(7)).to_sql("sqlite")


def test_long_names_are_cut_or_refused():
    model = replace(model_of(numerical([0.5])), classes=np.array(["é" * 60, "é" * 60 + "x"]))
    query = model.to_sql("postgres")
    names = {part.split('"')[1] for part in query.split(" AS ") if part.startswith('"share')}
    assert len(names) == 2
    assert all(len(name.encode()) <= 63 for name in names)
    with pytest.raises(ValueError, match=r"the name of column 'x+', 'x+', has 64 bytes; postgres takes 63"):
        numerical([0.5], name="x" * 64).to_sql("postgres")


def test_names_for_bigquery():
    model = replace(model_of(numerical([0.5], name="a`b\\c")), classes=np.array(["a.b", "a b"]))
    query = model.to_sql("bigquery", ("project-1", "d", "t`"))
    assert "t.`a\\`b\\\\c`" in query
    assert "`part_a_b_c`" in query
    assert "`share_a_b`" in query
    assert "`share_a_b_2`" in query
    assert "FROM `project-1`.`d`.`t\\``" in query


def test_literals_of_each_dialect():
    words = categorical(("a\\'b\n",), ("b",))
    assert "'a\\\\\\'b\\U0000000a'" in words.to_sql("bigquery", unknown="neutral")
    assert "'a\\\\''b\n'" in words.to_sql("snowflake", unknown="neutral")
    assert "E'a\\\\''b\n'" in words.to_sql("postgres", unknown="neutral")
    numbers = numerical([-INF, 2.45, 2.0**60])
    assert numbers.to_sql("bigquery") == (
        "CASE\n  WHEN `x` IS NULL OR IS_NAN(`x`) THEN -1\n  WHEN `x` <= CAST('-inf' AS FLOAT64) THEN 0\n"
        "  WHEN `x` <= 2.45 THEN 1\n  WHEN (`x` <= 1.152921504606847e+18 AND `x` <= 1152921504606846976) THEN 2\n"
        "  ELSE 3\nEND"
    )
    assert "\"x\" <= '2.45'::FLOAT" in numbers.to_sql("snowflake")
    assert "(5516909543528858.0 / 2251799813685248.0 /* 2.45 */)" in numbers.to_sql("sqlite")


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=300, deadline=None)
@given(value=st.floats(allow_nan=False))
def test_any_float_is_read_to_the_bit(dialect, value):
    if math.isinf(value) and dialect == "mysql":
        with pytest.raises(ValueError, match="an infinite number has no literal in mysql"):
            dialect_named(dialect).real(value)
        return
    server = connected(dialect)
    answer = server.execute(f"SELECT {dialect_named(dialect).real(value)}")
    assert (server if dialect == "mysql" else answer).fetchone() == (value,)


# What is refused.


@pytest.mark.parametrize("dialect", ALL)
def test_what_has_no_sql_is_named(dialect):
    for partition, message in [
        (categorical(("a",), (1,)), r"column 'x' has values of several kinds, number and text"),
        (categorical(((1, 2),), ("a",)), r"column 'x' has the value \(1, 2\) \(tuple\), for which there is no SQL"),
        (categorical(("a\0",), ("b",)), r"column 'x' has the value 'a\\x00'; there is no SQL for NUL"),
        (categorical(("\ud800",), ("b",)), r"column 'x' has the value '\\ud800'"),
        (numerical([0.5], name="a\0"), r"the name of column 'a\\x00', 'a\\x00', holds the character NUL"),
        (numerical([0.5], name="\ud800"), r"is no text that SQL can hold: surrogates not allowed"),
        (numerical([0.5], name=""), r"must be a text that is not empty"),
        (numerical([0.5], name=(1, 2)), r"column \(1, 2\) \(tuple\) has no name in SQL; give it one"),
    ]:
        with pytest.raises(ValueError, match=message):
            partition.to_sql(dialect)
    assert "IN" in categorical(("a",), ("b",), default=None).to_sql(dialect, ("t", "y"), unknown="neutral")


@pytest.mark.parametrize(
    ("facts", "error", "message"),
    [
        ({"dialect": "oracle"}, ValueError, "dialect must be one of 'postgres', 'duckdb', 'sqlite', 'mysql', 'bigq"),
        ({"dialect": None}, ValueError, "dialect must be one of"),
        ({"unknown": "error"}, ValueError, "unknown='error' is not for SQL: a query cannot stop"),
        ({"unknown": 1}, ValueError, "unknown must be"),
        ({"missing": "error"}, ValueError, "missing='error' is not for SQL: a query cannot stop"),
        ({"output": "part"}, ValueError, "output must be one or several of 'parts', 'labels', 'woe', 'cell'"),
        ({"output": []}, ValueError, "output must be one or several"),
        ({"output": 3}, ValueError, "output must be one or several of .*, got 3"),
        ({"keep": "id"}, TypeError, "keep must be a list of names of columns, got 'id'"),
        ({"keep": ["id", "ID"]}, ValueError, "keep names 'ID' twice; to duckdb, A and a are one name"),
        ({"keep": [3]}, ValueError, "the name of a column to keep must be a text"),
        ({"columns": {"y": "z"}}, ValueError, "columns names 'y', which is no column of the model"),
        ({"columns": ["z"]}, TypeError, "columns must be a dict"),
        ({"columns": {"x": 3}}, ValueError, "the name of column 'x' must be a text"),
        ({"table": ""}, ValueError, "the name of table must be a text that is not empty"),
        ({"table": ()}, ValueError, "table must be a name or a sequence of names"),
        ({"table": "a\0"}, ValueError, "the name of table, .* holds the character NUL"),
    ],
)  # fmt: skip
def test_arguments_that_make_no_sense(facts, error, message):
    with pytest.raises(error, match=message):
        model_of(numerical([0.5])).to_sql(**{"dialect": "duckdb", **facts})


def test_models_without_an_informative_column():
    models = Models({"x": model_of(numerical([]))}, {})
    with pytest.raises(ValueError, match="no column has more than one part"):
        models.to_sql("duckdb")


def test_a_grid_without_an_informative_column():
    rng = np.random.default_rng(0)
    data = {"a": rng.normal(size=90), "b": rng.normal(size=90), "id": np.arange(90)}
    model = gridmodl.optimize({name: data[name] for name in "ab"}, rng.integers(0, 2, 90))
    assert model.informative == []
    for output in ("parts", "labels", "woe", ["parts", "labels"]):
        with pytest.raises(ValueError, match="no column has more than one part, so there is nothing to ask"):
            model.to_sql("duckdb", output=output)
    table = duckdb.connect().register("data", pa.table(data))
    for keep in ([], ["id"]):
        found = table.sql(model.to_sql("duckdb", table="data", output=["proba", "cell"], keep=keep)).fetchnumpy()
        shares = model.predict_proba({name: data[name] for name in "ab"})
        np.testing.assert_array_equal(np.column_stack([found["share_0"], found["share_1"]]), shares)
