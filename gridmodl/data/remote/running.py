"""Run a query of a lazy frame so that Ctrl-C and the time limit end it: in a thread that is waited for.

Engines run for long without a word, and hear of no limit. Where an engine can, its query is cancelled; else the thread
is left alone, and what it returns is dropped.
"""

from __future__ import annotations

import contextlib
import contextvars
import importlib
import secrets
import threading
from collections.abc import Callable, Iterator
from typing import Any

from gridmodl.clock import LOOK_SECONDS, current_clock

MORE_SECONDS = 0.7  # that queries may take beyond the time limit, so that small tables are counted whatever it is
END_SECONDS = 0.5  # that a cancelled query is waited for, so that its engine is free again

Cancel = Callable[[], Any]


class QueryEnded(Exception):
    """A query was ended before it had an answer; the argument says why, as `Clock.stopped` does."""


class _Query:
    """One query in a thread of its own: its answer or its error, and how it is cancelled."""

    def __init__(self, lazy: Any) -> None:
        self.answer: Any = None
        self.error: BaseException | None = None
        self._lazy, self._cancel = lazy, threading.Event()
        self._cancels: list[Cancel] = []
        self._is_done = threading.Event()
        context = contextvars.copy_context()  # engines keep their settings there
        self._thread = threading.Thread(target=context.run, args=(self._run,), name="gridmodl query", daemon=True)

    def _run(self) -> None:
        try:
            with _cancelling(self._lazy, self._cancel.is_set) as cancel:
                self._cancels.append(cancel)
                self.answer = self._lazy.collect(backend="pyarrow")
            _load_pandas()
        except BaseException as error:
            self.error = error
        finally:
            self._is_done.set()

    def wait(self) -> None:
        """Wait for the answer; raise `QueryEnded` where the clock of this thread says so."""
        clock = current_clock()
        self._thread.start()
        try:
            while not self._is_done.wait(LOOK_SECONDS):
                reason = None if clock is None else clock.must_end(MORE_SECONDS)
                if reason is not None:
                    raise QueryEnded(reason)
        except BaseException:  # Ctrl-C too
            self._end()
            raise

    def _end(self) -> None:
        """Cancel the query; wait a moment until it ends."""
        self._cancel.set()
        for cancel in self._cancels:
            with contextlib.suppress(Exception):  # it may have ended meanwhile
                cancel()
        if self._cancels:
            self._is_done.wait(END_SECONDS)


def _load_pandas() -> None:
    """Import what pyarrow imports to make arrays of numpy, in a thread that gets no Ctrl-C: it would be dropped."""
    with contextlib.suppress(ImportError):
        importlib.import_module("pandas")


def answer_of(lazy: Any) -> Any:
    """Run a query; its result as a narwhals frame of pyarrow.

    Raises `QueryEnded` where the clock of the running work has stopped, or is late by MORE_SECONDS.
    """
    clock = current_clock()
    reason = None if clock is None else clock.must_end(MORE_SECONDS)
    if reason is not None:
        raise QueryEnded(reason)
    if _keeps_to_its_thread(lazy):
        return lazy.collect(backend="pyarrow")
    query = _Query(lazy)
    query.wait()
    if query.error is not None:
        raise query.error
    return query.answer


def _keeps_to_its_thread(lazy: Any) -> bool:
    """Whether a query must run in this thread.

    Connections of SQLite belong to the thread that has opened them. DuckDB before 2.0 does not tell the connection of a
    relation, so that nobody can cancel it, but hears Ctrl-C itself in the main thread.
    """
    engine = lazy.implementation
    if engine.is_ibis():
        return str(getattr(lazy.to_native().get_backend(), "name", "")) == "sqlite"
    is_main = threading.current_thread() is threading.main_thread()
    return bool(engine.is_duckdb() and is_main and current_clock() is None and _connection(lazy) is None)


def _connection(lazy: Any) -> Any:
    """The connection of a relation of DuckDB, or of the engine behind Ibis; None if it is not told."""
    native = lazy.to_native()
    if lazy.implementation.is_ibis():
        return getattr(native.get_backend(), "con", None)
    return getattr(native, "_con", None)


@contextlib.contextmanager
def _cancelling(lazy: Any, is_cancelled: Callable[[], bool]) -> Iterator[Cancel]:
    """Prepare the engine, in the thread of the query, so that the function that is returned cancels it."""
    engine = lazy.implementation
    if engine.is_dask():
        with _cancelling_dask(is_cancelled):
            yield _nothing
    elif engine.is_pyspark() or engine.is_pyspark_connect():
        with _cancelling_spark(lazy.to_native().sparkSession, engine.is_pyspark_connect()) as cancel:
            yield cancel
    elif engine.is_duckdb() or engine.is_ibis():
        connection = _connection(lazy)
        yield getattr(connection, "interrupt", None) or getattr(connection, "cancel", None) or _nothing
    else:  # Polars has a way to cancel a query, which its streaming engine does not heed
        yield _nothing


def _nothing() -> None:
    """Cancel nothing."""


@contextlib.contextmanager
def _cancelling_dask(is_cancelled: Callable[[], bool]) -> Iterator[None]:
    """Let the schedulers of this machine begin no further task of this thread's query once it is cancelled."""
    from dask.callbacks import Callback

    own = threading.get_ident()

    def before_task(*_: Any) -> None:
        if threading.get_ident() == own and is_cancelled():
            raise QueryEnded("cancelled")

    with Callback(pretask=before_task):  # type: ignore[no-untyped-call]
        yield


@contextlib.contextmanager
def _cancelling_spark(session: Any, is_remote: bool) -> Iterator[Cancel]:
    """Mark the jobs of this thread with a tag, by which they are cancelled."""
    tag = f"gridmodl-{secrets.token_hex(8)}"
    if is_remote:
        add, remove, cancel = session.addTag, session.removeTag, session.interruptTag
    else:
        context = session.sparkContext
        add, remove, cancel = context.addJobTag, context.removeJobTag, context.cancelJobsWithTag
    add(tag)
    try:
        yield lambda: cancel(tag)
    finally:
        remove(tag)
