"""DuckDB, which parses text files and counts tables that memory does not hold; and what memory holds.

Text that users write reaches SQL only through `literal` and `identifier`.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from rich.filesize import decimal

from gridmodl.cli.messages import Failure
from gridmodl.cli.outputs import folder_of_command
from gridmodl.data.remote.queries import is_interrupt
from gridmodl.writing import drop

ROWS = 2**16  # in a batch
LEAST_MEMORY = 128_000_000  # bytes that DuckDB gets at least; a choice, not a measured need

# Bytes per row, measured as the peak of processes with 1 to 18 million rows and rounded up. A column in memory takes 8
# and some overhead of reading; the search of one column took 50 (text) to 180 (numbers); the search of a grid 75 to 120
# per column, and 55 more per column in each further thread.
HELD, SEARCHED, GRID, GRID_THREAD = 10, 200, 130, 60
FREE_SHARE = 0.8  # of the free memory, used if --memory-limit is not given
EXACT_ROWS = 2**20  # columns of longer tables are counted by DuckDB, whatever the memory: results are the same anywhere


class EngineLimits(NamedTuple):
    """Memory and threads of DuckDB; None for its own choice."""

    memory: int | None = None
    threads: int | None = None


@contextlib.contextmanager
def connected(limits: EngineLimits) -> Iterator[Any]:
    """Connection to a new database in memory, which spills to a temporary folder; nothing is downloaded.

    Ctrl-C while it runs a query is a KeyboardInterrupt.
    """
    import duckdb

    folder = folder_of_command()
    settings: dict[str, Any] = {
        "temp_directory": str(folder),
        "autoinstall_known_extensions": "false",
        "TimeZone": "UTC",
    }
    if limits.memory is not None:
        settings["memory_limit"] = f"{max(limits.memory, LEAST_MEMORY)}B"
    if limits.threads is not None:
        settings["threads"] = limits.threads
    connection = duckdb.connect(config=settings)
    try:
        with _cancelled_by_interrupts(connection):
            yield connection
    except Exception as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        raise
    finally:
        connection.close()
        drop(folder)


@contextlib.contextmanager
def _cancelled_by_interrupts(connection: Any) -> Iterator[None]:
    """Let Ctrl-C cancel the query that runs: DuckDB alone waits for what its threads have begun, which may be all."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return

    def cancel(number: int, frame: Any) -> Any:
        connection.interrupt()
        return handler(number, frame)

    signal.signal(signal.SIGINT, cancel)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is cancel:
            signal.signal(signal.SIGINT, handler)


def literal(text: str) -> str:
    """Write a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Write the name of a column in SQL."""
    return '"' + name.replace('"', '""') + '"'


def path_literal(path: str) -> str:
    """Write the path of one file, in which DuckDB is to see no pattern."""
    return literal(re.sub(r"([*?[])", r"[\1]", os.path.abspath(path)))


def batches_of(relation: Any) -> Iterator[pa.RecordBatch]:
    """Rows of a relation of DuckDB, in their order, read batch by batch."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch  # the name before DuckDB 2
    with contextlib.closing(read(ROWS)) as reader:
        yield from reader


def is_engine_error(error: BaseException) -> bool:
    """Whether DuckDB raised an error."""
    import duckdb

    return isinstance(error, duckdb.Error)


class Plan(NamedTuple):
    """Columns to read and search together, pass by pass, and the number of threads."""

    passes: list[list[str]]
    n_jobs: int


def free_memory() -> int | None:
    """Bytes that this process may still take; None if the system does not tell."""
    found = [bytes_free for bytes_free in (_free_of_machine(), _free_of_group()) if bytes_free is not None]
    return min(found) if found else None


def _free_of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _free_of_group() -> int | None:
    """Bytes that the limit of a container leaves."""
    folder = Path("/sys/fs/cgroup")
    try:
        most, used = ((folder / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current"))
        return max(0, int(most) - int(used))
    except (OSError, ValueError):
        return None


def limit_of(memory_limit: int | None) -> int | None:
    """Bytes that data and search may take: `memory_limit`, or a share of the free memory."""
    if memory_limit is not None:
        return memory_limit
    free = free_memory()
    return None if free is None else int(FREE_SHARE * free)


def holds_grid(n_rows: int | None, n_columns: int, n_jobs: int, limit: int | None) -> bool:
    """Whether memory holds all columns of a grid and their search."""
    return n_rows is None or limit is None or n_rows * n_columns * (GRID + GRID_THREAD * (n_jobs - 1)) <= limit


def check_grid(n_rows: int | None, n_columns: int, n_jobs: int, limit: int | None, has_target: bool) -> None:
    """Raise a Failure, before the data is read, if memory cannot hold all columns of a grid at a time."""
    if n_rows is None or limit is None or holds_grid(n_rows, n_columns, n_jobs, limit):
        return
    per_column = GRID + GRID_THREAD * (n_jobs - 1)
    needed = n_rows * per_column * n_columns
    ways = [_sample_advice(limit // (per_column * n_columns))]
    fitting = limit // (per_column * n_rows)
    if fitting > 1:
        ways.insert(0, f"--columns names at most {fitting} columns")
    if has_target:
        ways.insert(0, "--each takes every column on its own")
    raise Failure(
        f"one grid of {n_columns} columns and about {n_rows:,} rows needs about {decimal(needed)} of memory, and "
        f"{decimal(limit)} are there: {'; '.join(ways)}; --memory-limit says that there is more"
    )


def plan_each(names: Sequence[str], n_rows: int | None, n_jobs: int, limit: int | None) -> Plan:
    """Plan passes with as many columns as memory holds beside the target, with fewer threads if needed."""
    if n_rows is None or limit is None or n_rows == 0:
        return Plan([list(names)], n_jobs)
    columns_held = limit // (HELD * n_rows) - 2  # the target and weights
    for threads in range(min(n_jobs, len(names)), 0, -1):
        fitting = columns_held - threads * SEARCHED // HELD
        if fitting >= threads:
            return Plan([list(names[i : i + fitting]) for i in range(0, len(names), fitting)], threads)
    needed = n_rows * (3 * HELD + SEARCHED)
    raise Failure(
        f"a single column of about {n_rows:,} rows needs about {decimal(needed)} of memory, and "
        f"{decimal(limit)} are there: {_sample_advice(n_rows * limit // needed)}; --memory-limit says that there "
        "is more"
    )


def _sample_advice(n_rows: int) -> str:
    """Advise a sample of about `n_rows` rows, rounded down to two digits because the number is an estimate."""
    unit = 10 ** max(0, len(str(n_rows)) - 2)
    return f"--sample {max(1, n_rows // unit * unit)} takes that number of rows at random"


def holds_column(n_rows: int | None, memory_limit: int | None) -> bool:
    """Whether memory holds one column, its target and its search."""
    limit = limit_of(memory_limit)
    return n_rows is None or limit is None or n_rows * (3 * HELD + SEARCHED) <= limit


def is_counted(n_rows: int | None, memory_limit: int | None) -> bool:
    """Whether DuckDB counts the columns of a table: it is long, or memory does not hold one column and its search."""
    is_long = n_rows is not None and n_rows > EXACT_ROWS
    return has_room(memory_limit) and (is_long or not holds_column(n_rows, memory_limit))


def has_room(memory_limit: int | None) -> bool:
    """Whether DuckDB may take as much memory as it needs at least."""
    return memory_limit is None or memory_limit >= LEAST_MEMORY
