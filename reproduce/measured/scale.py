"""Tables beyond memory: rows of Parquet files through DuckDB, and what buckets and zoom lose against the optimum.

    .venv/bin/pip install -e '.[duckdb]' polars
    .venv/bin/python -m reproduce.measured.scale make FOLDER --rows 100_000_000
    .venv/bin/python -m reproduce.measured.scale fit FOLDER
    .venv/bin/python -m reproduce.measured.scale losses --columns 1000
    .venv/bin/python -m reproduce.measured.scale categories FOLDER --rows 14_000_000

`make` writes ten columns of several types and a class as Parquet files, the same for any number of threads. `fit` runs
`optimize_each` on them with a memory limit of DuckDB, and prints the resident memory of the process, the time, the
time of its queries, and the time of one group-by of each column alone: into buckets, or by value for short columns.

`losses` draws random columns of 20,000 rows, finds the optimum of the rows in memory, and the partition of counts in
buckets, 1,024 in a query, so that a bucket has as many as 40 rows. It prints the share of columns without a loss, the
largest losses in nats, and the queries of a column. Three more serve up to 32 columns: rows, ends and a first look.

`categories` writes a column of about 0.35 texts a row, most of which are rare, beside two columns of numbers, and fits
the texts alone, then all columns as a grid, and verifies both.
"""

# ruff: noqa: S608  queries are made of the names of this file and of the folder that the user gives

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

import gridmodl
from gridmodl.fit.lazy import data as lazy_data

U = "(hash(i * 16 + {k}) / 18446744073709551616.0)"  # evenly spread, and the same in every run
NORMAL = f"(sqrt(-2 * ln({U.format(k=1)} + 1e-18)) * cos(2 * pi() * {U.format(k=2)}))"
COLUMNS = {
    "uniform": U.format(k=0),
    "normal": NORMAL,
    "lognormal": f"exp(2 * {NORMAL})",
    "price": f"round(100 * exp({NORMAL}), 2)",
    "age": f"18 + floor(72 * {U.format(k=3)})::INTEGER",
    "identifier": f"floor(1e12 * {U.format(k=4)})::BIGINT",
    "moment": f"TIMESTAMP '2020-01-01' + to_seconds(floor(1e8 * {U.format(k=5)})::BIGINT)",
    "town": f"'town ' || floor(1000 * {U.format(k=6)} * {U.format(k=6)})::INTEGER",
    "balance": f"CASE WHEN {U.format(k=7)} < 0.4 THEN 0 ELSE 1000 * {U.format(k=8)} END",
    "noise": U.format(k=9),
}
CLASS = f"{U.format(k=10)} < 0.1 + 0.3 * (normal > 0.5)::INT + 0.2 * (age < 30)::INT + 0.2 * (balance = 0)::INT"


def make(folder: Path, rows: int) -> None:
    """Write the table as Parquet files."""
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    columns = ", ".join(f"{text} AS {name}" for name, text in COLUMNS.items())
    begun = time.perf_counter()
    step = 10_000_000
    connection = duckdb.connect()
    connection.execute("SET memory_limit = '2GB'; SET threads = 2; SET preserve_insertion_order = false")
    connection.execute(f"SET temp_directory = '{folder / 'spilled'}'")  # else .tmp of the working directory
    for first in range(0, rows, step):
        last = min(rows, first + step)
        connection.execute(
            f"COPY (SELECT * EXCLUDE i, {CLASS} AS y FROM (SELECT i, {columns} FROM range({first}, {last}) t(i))) "
            f"TO '{folder}/part{first // step:04d}.parquet' (FORMAT parquet)"
        )
    size = sum(file.stat().st_size for file in folder.glob("*.parquet"))
    print(f"{rows:,} rows, {size / 1e9:.2f} GB of Parquet, {time.perf_counter() - begun:.0f} s")


class Queries:
    """Number and seconds of the queries that gridmodl asks of engines."""

    def __init__(self) -> None:
        self.n, self.seconds, self.processor, self._collect = 0, 0.0, 0.0, nw.LazyFrame.collect

    def __enter__(self) -> Queries:
        def collect(frame: Any, *arguments: Any, **options: Any) -> Any:
            begun, by_processor = time.perf_counter(), time.process_time()
            found = self._collect(frame, *arguments, **options)
            if not frame.implementation.is_pyarrow():  # counts that are here
                self.n, self.seconds = self.n + 1, self.seconds + time.perf_counter() - begun
                self.processor += time.process_time() - by_processor
            return found

        nw.LazyFrame.collect = collect  # type: ignore[method-assign, assignment]
        return self

    def __exit__(self, *_: object) -> None:
        nw.LazyFrame.collect = self._collect  # type: ignore[method-assign]


def connected(folder: Path, memory: str) -> tuple[Any, Any]:
    """A connection to DuckDB with a limit on its memory, and the table."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET memory_limit = '{memory}'; SET threads = 2; SET preserve_insertion_order = false")
    connection.execute(f"SET temp_directory = '{folder / 'spilled'}'")
    return connection, connection.sql(f"SELECT * FROM '{folder}/*.parquet'")


def group_bys(connection: Any, table: Any) -> tuple[float, float]:
    """Seconds of one group-by of each column and the class, by the clock and of the processor."""
    begun, by_processor = time.perf_counter(), time.process_time()
    for name in COLUMNS:
        kind = str(table.select(name).types[0])
        if kind == "VARCHAR" or name == "age":
            connection.sql(f"SELECT {name}, y, count(*) FROM rows_of_files GROUP BY ALL").fetchall()
            continue
        key = f"epoch({name})" if kind == "TIMESTAMP" else f"{name}::DOUBLE"
        ((low, high),) = connection.sql(f"SELECT min({key}), max({key}) FROM rows_of_files").fetchall()
        bucket = f"floor(({key} - {low!r}) * {65536 / (high - low)!r})"
        connection.sql(
            f"SELECT {bucket} b, y, count(*), min({name}), max({name}) FROM rows_of_files GROUP BY ALL"
        ).fetchall()  # fmt: skip
    return time.perf_counter() - begun, time.process_time() - by_processor


def fit(folder: Path, memory: str) -> None:
    """Fit all columns, then only group."""
    connection, table = connected(folder, memory)
    table.create_view("rows_of_files")
    gridmodl.optimize_each({"a": [1.0, 2.0, 3.0, 4.0], "b": list("abab"), "y": [0, 0, 1, 1]}, "y")  # compiles
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    begun, by_processor = time.perf_counter(), time.process_time()
    with Queries() as queries:
        models = gridmodl.optimize_each(table, "y", on_error="raise")
    elapsed, processor = time.perf_counter() - begun, time.process_time() - by_processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(models.summary())
    print({name: model.resolution for name, model in models.items()})
    alone, alone_processor = group_bys(connection, table)
    n_rows = next(iter(models.values())).n_rows
    print(
        f"{n_rows:,} rows: {elapsed:.0f} s ({processor:.0f} s of the processor), of which {queries.seconds:.0f} s "
        f"({queries.processor:.0f} s) in {queries.n} queries; one group-by of each column alone {alone:.0f} s "
        f"({alone_processor:.0f} s), ratio {elapsed / alone:.2f} ({processor / alone_processor:.2f} of the processor); "
        f"resident {peak:.2f} GB at most, {base:.2f} GB before"
    )


TOWN, USER = f"floor(400 * {U.format(k=1)} * {U.format(k=1)})::INTEGER", "floor({n} * " + U.format(k=2) + ")::BIGINT"
IS_TOWN = f"{U.format(k=0)} < 0.4"


def categories(folder: Path, rows: int, memory: str) -> None:
    """Fit a column of millions of texts, alone and in a grid: every third town tells about the class, as u does."""
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    who = f"CASE WHEN {IS_TOWN} THEN 'town ' || {TOWN} ELSE 'user ' || {USER.format(n=rows // 2)} END"
    share = f"CASE WHEN {IS_TOWN} AND {TOWN} % 3 = 0 THEN 0.6 ELSE 0.2 END + 0.2 * ({U.format(k=3)} > 0.5)::INT"
    duckdb.connect().execute(
        f"COPY (SELECT {who} AS who, {U.format(k=3)} AS u, floor(60 * {U.format(k=4)})::INTEGER AS age, "
        f"{U.format(k=5)} < {share} AS y FROM range({rows}) t(i)) TO '{folder}/categories.parquet' (FORMAT parquet)"
    )
    _, table = connected(folder, memory)
    for what, frame in (("texts alone", table.select("who, y")), ("grid of three columns", table)):
        begun, by_processor = time.perf_counter(), time.process_time()
        with Queries() as queries:
            model = gridmodl.optimize(frame, "y", search=gridmodl.Search(effort=1), random_state=0)
        elapsed, processor = time.perf_counter() - begun, time.process_time() - by_processor
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(model.summary())
        print(
            f"{what}, {rows:,} rows: {elapsed:.0f} s ({processor:.0f} s of the processor), {queries.n} queries; "
            f"resident {peak:.2f} GB at most; {gridmodl.verify(model, frame, 'y')}\n"
        )


def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A random column of many values and its classes: steps of the share of a class at random places, or noise."""
    kind = int(rng.integers(5))
    draws: list[Any] = [rng.random, rng.normal, rng.standard_exponential, rng.standard_cauchy]
    x = draws[min(kind, 3)](size=n)
    if kind == 4:
        x = np.where(rng.random(n) < 0.3, 0.0, np.exp(2 * rng.normal(size=n)))
    n_parts = int(rng.integers(1, 9))
    places = np.sort(rng.choice(np.sort(x), n_parts - 1, replace=False)) if n_parts > 1 else np.empty(0)
    shares = rng.random(n_parts)
    return x, (rng.random(n) < shares[np.searchsorted(places, x)]).astype(int)


def losses(columns: int, groups: int, rows: int) -> None:
    """Cost of buckets and zoom, less that of the optimum."""
    import polars as pl

    lazy_data.MAX_GROUPS = groups  # type: ignore[attr-defined]
    rng = np.random.default_rng(0)
    lost, asked, resolutions = [], [], []
    for _ in range(columns):
        x, y = drawn(rng, rows)
        frame = pl.DataFrame({"x": x, "y": y})
        best = gridmodl.optimize(frame, "y", search="exact")
        with Queries() as queries:
            found = gridmodl.optimize(frame.lazy(), "y")
        lost.append(found.cost - best.cost)
        asked.append(queries.n - 3)
        resolutions.append(found.resolution)
    loss, n_queries = np.array(lost), np.array(asked)
    what = f"{groups:,} groups in a query, resolution {np.median(resolutions):.0f} rows"
    print(f"{columns} columns of {rows:,} rows, {what}")
    print(f"loss below 1e-6 nats on {np.mean(loss < 1e-6):.1%}, mean {loss.mean():.3f}", end=", ")
    print(f"99 % {np.quantile(loss, 0.99):.2f}, largest {loss.max():.2f} nats")
    print(f"queries of a column, beside three for 32 columns: mean {n_queries.mean():.2f}", end=", ")
    print(f"95 % {np.quantile(n_queries, 0.95):.0f}, largest {n_queries.max()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("make", "fit", "losses", "categories"))
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")))
    parser.add_argument("--memory-limit", default="1GB")
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--groups", type=int, default=1024)
    given = parser.parse_args()
    if given.what == "losses":
        losses(given.columns, given.groups, given.rows or 20_000)
    elif given.folder is None:
        parser.error("name a folder")
    elif given.what == "categories":
        categories(given.folder, given.rows or 14_000_000, given.memory_limit)
    elif given.what == "make":
        make(given.folder, given.rows or 100_000_000)
    else:
        fit(given.folder, given.memory_limit)


if __name__ == "__main__":
    main()
