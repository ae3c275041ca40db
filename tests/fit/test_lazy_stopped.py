"""Ctrl-C and time limits while an engine counts: its query is cancelled, and columns not counted say why."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pytest
from oracles.lazy_frames import as_dask, as_duckdb, as_ibis, as_polars, mixed

import gridmodl
from gridmodl import average_each, count, optimize, optimize_each
from gridmodl.clock import Clock
from gridmodl.data.remote import running
from gridmodl.data.remote.queries import EngineError, QueryStoppedError, collected
from gridmodl.fit.lazy import column as lazy_column
from gridmodl.fit.lazy import models as lazy_models

pytestmark = [
    pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),
]
ENDLESS = "SELECT sum(a.range * b.range) AS rows FROM range(1000000) a, range(100000000000) b"
LATE = 2.0  # seconds within which a call ends after the limit, or after Ctrl-C


@pytest.fixture
def slow(monkeypatch):
    """Function that lets each query from number `first` on take many seconds, but for one that is cancelled."""
    run, begun, gate = nw.LazyFrame.collect, [], threading.Event()

    def made(first, seconds=30.0):
        def collect(frame, *arguments, **options):
            begun.append(frame)
            if len(begun) > first:
                gate.wait(seconds)
            return run(frame, *arguments, **options)

        monkeypatch.setattr(nw.LazyFrame, "collect", collect)
        return begun

    yield made
    gate.set()


def frame():
    return mixed().select("real", "whole", "text", "y")


@pytest.mark.parametrize("engine", [as_polars, as_duckdb, as_ibis, as_dask])
def test_a_time_limit_ends_queries(engine, slow):
    lazy = engine(frame())
    slow(1)  # the first one counts all rows
    begun = time.perf_counter()
    with pytest.raises(QueryStoppedError, match="column 'real' was not counted: the time limit was over"):
        optimize_each(lazy, "y", time_limit=0.2)
    assert time.perf_counter() - begun < 0.2 + LATE


@pytest.mark.parametrize("function", [optimize_each, average_each])
def test_columns_counted_in_time_have_models(function, slow):
    data = frame()
    expected = optimize_each(data, "y")
    slow(3)
    begun = time.perf_counter()
    with pytest.warns(gridmodl.ColumnWarning, match="the time limit was over before its engine had the answer"):
        found = function(data.lazy(), "y", time_limit=0.5, n_jobs=1)
    assert time.perf_counter() - begun < 0.5 + LATE
    assert 0 < len(found) < 3
    assert set(found) | set(found.errors) == set(expected)
    assert {error.reason for error in found.errors.values()} == {"time limit"}


@pytest.mark.parametrize("first", [0, 1])
def test_one_column_says_why_there_is_no_model(first, slow):
    slow(first)
    begun = time.perf_counter()
    with pytest.raises(EngineError, match="was not counted: the time limit was over"):
        optimize(frame().select("real", "y").lazy(), "y", time_limit=0.2)
    assert time.perf_counter() - begun < 0.2 + LATE


def test_no_query_begins_after_the_end(slow):
    queries = slow(1)
    with pytest.raises(QueryStoppedError):
        optimize_each(frame().lazy(), "y", time_limit=0.2, n_jobs=1)
    assert len(queries) == 2


def test_short_queries_are_answered_whatever_the_limit():
    found = optimize_each(frame().lazy(), "y", time_limit=0)
    assert not found.errors
    assert {model.stopped for model in found.values()} == {"time limit"}


def long_column():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400_000) ** 3  # several values near bounds in a bucket
    return pl.DataFrame({"x": x, "y": (x > 0.3) ^ (rng.random(len(x)) < 0.1)})


@pytest.mark.parametrize("stop", ["time limit", "interrupted"])
def test_a_model_is_kept_when_queries_near_its_bounds_are_ended(stop, monkeypatch):
    """It was found in spans of values; their bounds are not placed between single ones."""
    lazy = long_column().lazy()
    whole = optimize(lazy, "y")

    def ended(*_):
        if stop == "interrupted":
            raise KeyboardInterrupt
        raise QueryStoppedError("x", stop)

    monkeypatch.setattr(lazy_column.CountedColumn, "near", ended)
    model = optimize(lazy, "y")
    assert model.stopped == stop
    assert model.partitions["x"].n_parts == whole.partitions["x"].n_parts == 2
    assert model.cost >= whole.cost
    assert not model.proven


def test_a_later_search_without_time_does_not_replace_a_better_model(monkeypatch):
    """Spans were divided, and then there was no time: one part."""
    searches, best = [], lazy_models.best_model

    def late(*arguments):
        model = best(*arguments)
        searches.append(model)
        if len(searches) == 1:
            return model
        one_part = optimize([0.0, 1.0], ["a", "b"], max_parts=1).partitions["x0"]
        return replace(model, partitions={"x": one_part}, cost=model.null_cost, stopped="time limit")

    monkeypatch.setattr(lazy_models, "best_model", late)
    model = optimize(long_column().lazy(), "y")
    assert len(searches) == 2
    assert (model.stopped, model.cost) == ("time limit", searches[0].cost)
    assert model.partitions["x"].n_parts == 2


def test_an_interrupted_query_of_duckdb_is_cancelled():
    """The connection is free at once, and a query of another clock is answered."""
    connection = duckdb.connect()
    lazy = nw.from_native(connection.sql(ENDLESS)).lazy()
    clock = Clock(0.1)
    begun = time.perf_counter()
    with clock.governing(), pytest.raises(QueryStoppedError):
        collected(lazy, "x")
    assert connection.sql("SELECT 7").fetchall() == [(7,)]
    assert time.perf_counter() - begun < 0.1 + LATE
    assert not any(thread.name == "gridmodl query" for thread in threading.enumerate())


def test_dask_begins_no_further_task():
    import dask
    from dask import delayed

    done = []

    @delayed
    def task(before):
        done.append(before)
        time.sleep(0.05)
        return before + 1

    last = task(0)
    for _ in range(200):
        last = task(last)

    class Frame(SimpleNamespace):
        def collect(self, backend):
            return dask.compute(last)

    with Clock(0.1).governing(), pytest.raises(running.QueryEnded, match="time limit"):
        running.answer_of(Frame(implementation=nw.Implementation.DASK))
    time.sleep(0.3)
    n_done = len(done)
    time.sleep(0.3)
    assert len(done) == n_done < 100


@pytest.mark.parametrize("cancel", ["interrupt", "cancel"])
def test_engines_behind_ibis_are_cancelled(cancel):
    """By what connections of databases have for it."""
    gate = threading.Event()
    backend = SimpleNamespace(name="some", con=SimpleNamespace(**{cancel: gate.set}))
    lazy = SimpleNamespace(
        implementation=nw.Implementation.IBIS,
        to_native=lambda: SimpleNamespace(get_backend=lambda: backend),
        collect=lambda backend: gate.wait(20),
    )
    with Clock(0.0).governing(), pytest.raises(running.QueryEnded):
        running.answer_of(lazy)
    assert gate.is_set()


def test_sqlite_answers_in_the_thread_that_asks():
    backend = SimpleNamespace(name="sqlite", con=None)
    lazy = SimpleNamespace(
        implementation=nw.Implementation.IBIS,
        to_native=lambda: SimpleNamespace(get_backend=lambda: backend),
        collect=lambda backend: threading.get_ident(),
    )
    assert running.answer_of(lazy) == threading.get_ident()


def test_the_error_travels_between_processes():
    error = pickle.loads(pickle.dumps(QueryStoppedError("x", "time limit")))  # noqa: S301
    assert (error.reason, str(error)) == (
        "time limit", "column 'x' was not counted: the time limit was over before its engine had the answer",
    )  # fmt: skip


# A real Ctrl-C, in a process of its own.

INTERRUPTED = """
import json, os, signal, sys, threading, time, warnings
import narwhals as nw
import duckdb, polars as pl
import gridmodl
from gridmodl import average_each, count, optimize, optimize_each

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores it
run, begun, hit = nw.LazyFrame.collect, [], []

def interrupt():
    time.sleep(0.2)
    hit.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

def collect(frame, *arguments, **options):
    begun.append(frame)
    if len(begun) == FIRST + 1:
        threading.Thread(target=interrupt).start()
        SLOW
    return run(frame, *arguments, **options)

columns = {"a": [1.0, 2.0, 3.0, 4.0], "b": [1, 2, 3, 4], "c": ["u", "v", "u", "v"], "y": [0, 0, 1, 1]}
data = pl.DataFrame({name: values * 5 for name, values in columns.items()})
lazy = LAZY
nw.LazyFrame.collect = collect
warnings.simplefilter("ignore")
try:
    found = CALL
    answer = [sorted(found), sorted(found.errors), sorted({error.reason for error in found.errors.values()})]
except KeyboardInterrupt:
    answer = "KeyboardInterrupt"
seconds = time.perf_counter() - hit[0]
nw.LazyFrame.collect = run
print(json.dumps([answer, seconds, len(begun)]))
sys.stdout.flush()
os._exit(0)
"""


def interrupted(call, first, lazy="data.lazy()"):
    code = INTERRUPTED.replace("FIRST", str(first)).replace("LAZY", lazy)
    code = code.replace("SLOW", "time.sleep(30)").replace("CALL", call)
    environment = os.environ | {"GRIDMODL_COMPILE": "never"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    answer, seconds, n_queries = json.loads(done.stdout)
    assert seconds < LATE
    assert n_queries == first + 1  # none begins after it
    return answer


EACH = ["count(lazy, 'y')", "optimize_each(lazy, 'y', progress=False, n_jobs=1)"]
ENGINES = {"polars": "data.lazy()", "duckdb": "duckdb.connect().from_arrow(data.to_arrow())"}


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
class TestCtrlC:
    @pytest.mark.parametrize("call", [*EACH, "average_each(lazy, 'y', progress=False, n_jobs=1)"])
    def test_columns_counted_before_are_kept(self, call):
        kept, lost, reasons = interrupted(call, 2)
        assert kept == ["a"]
        assert lost == ["b", "c"]
        assert reasons == ["interrupted"]

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("call", EACH)
    @pytest.mark.parametrize("first", [0, 1])  # while all rows are counted; while the first column is
    def test_it_is_raised_where_nothing_was_counted(self, call, first, engine):
        assert interrupted(call, first, ENGINES[engine]) == "KeyboardInterrupt"

    def test_it_is_raised_where_errors_are(self):
        assert interrupted("count(lazy, 'y', on_error='raise')", 2) == "KeyboardInterrupt"

    @pytest.mark.parametrize("columns", ["['a', 'y']", "['a', 'b', 'y']"])
    def test_one_model(self, columns):
        assert interrupted(f"optimize(lazy.select({columns}), 'y', progress=False)", 1) == "KeyboardInterrupt"


def test_counts_say_which_columns_were_not_counted(monkeypatch):
    """And can be written and used without them."""
    lazy, clock = frame().lazy(), Clock()
    monkeypatch.setattr("gridmodl.fit.lazy.count.Clock", lambda: clock)
    run = nw.LazyFrame.collect

    def collect(one, *arguments, **options):
        found = run(one, *arguments, **options)
        queries.append(one)
        clock.stopped = "interrupted" if len(queries) == 2 else None
        return found

    queries = []
    monkeypatch.setattr(nw.LazyFrame, "collect", collect)
    with pytest.warns(gridmodl.CountWarning, match="interrupted before its engine had the answer"):
        found = count(lazy, "y")
    assert set(found) == {"real"}
    assert set(found.errors) == {"whole", "text"}
    clock.stopped = None
    assert list(optimize_each(found, None)) == ["real"]
