"""How much memory a search needs, and what can be done where there is less."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from gridmodl.cli.failures import Failure

# Bytes per row. Measured as the peak of processes with one to 18 million rows, rounded up: a column that is held is 8,
# and what reading it leaves behind; the search of one took 50 (text) to 180 (numbers); that of a grid 75 to 120 for
# each column, and 55 more in each further thread.
HELD, SEARCHED, GRID, GRID_THREAD = 10, 200, 130, 60
FREE_SHARE = 0.8  # of what is free now, left to ourselves


class Plan(NamedTuple):
    """Columns that are read and searched together, and the threads for them."""

    passes: list[list[str]]
    n_jobs: int


def free_memory() -> int | None:
    """Bytes that this process may still take; None where the system does not say."""
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
    """What a container leaves."""
    folder = Path("/sys/fs/cgroup")
    try:
        most, used = ((folder / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current"))
        return max(0, int(most) - int(used))
    except (OSError, ValueError):
        return None


def limit_of(given: int | None) -> int | None:
    """The bytes that data and search may take."""
    if given is not None:
        return given
    free = free_memory()
    return None if free is None else int(FREE_SHARE * free)


def check_grid(n_rows: int | None, n_columns: int, n_jobs: int, limit: int | None, has_target: bool) -> None:
    """A grid holds all its columns at a time: said here, before they are read, if they are too many."""
    if n_rows is None or limit is None:
        return
    per_column = GRID + GRID_THREAD * (n_jobs - 1)
    needed = n_rows * per_column * n_columns
    if needed <= limit:
        return
    ways = [f"--sample {_round_down(limit // (per_column * n_columns))} takes so many rows at random"]
    fitting = limit // (per_column * n_rows)
    if fitting > 1:
        ways.insert(0, f"--columns names at most {fitting} columns")
    if has_target:
        ways.insert(0, "--each takes every column on its own")
    raise Failure(
        f"one grid of {n_columns} columns and about {n_rows:,} rows needs about {in_words(needed)} of memory, and "
        f"{in_words(limit)} are there: {'; '.join(ways)}; --memory-limit says that there is more"
    )


def plan_each(names: list[str], n_rows: int | None, n_jobs: int, limit: int | None) -> Plan:
    """As many columns at a time as memory holds beside the target, in fewer threads if need be."""
    if n_rows is None or limit is None or n_rows == 0:
        return Plan([names], n_jobs)
    columns_held = limit // (HELD * n_rows) - 2  # the target and weights
    for threads in range(min(n_jobs, len(names)), 0, -1):
        fitting = columns_held - threads * SEARCHED // HELD
        if fitting >= threads:
            return Plan([names[i : i + fitting] for i in range(0, len(names), fitting)], threads)
    needed = n_rows * (3 * HELD + SEARCHED)
    raise Failure(
        f"a single column of about {n_rows:,} rows needs about {in_words(needed)} of memory, and {in_words(limit)} are "
        f"there: --sample {_round_down(n_rows * limit // needed)} takes so many rows at random; --memory-limit says "
        "that there is more"
    )


def in_words(n_bytes: int) -> str:
    amount = float(n_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{amount:.3g} {unit}" if amount < 1000 else f"{amount:,.0f} {unit}"
        amount /= 1000
    raise AssertionError(unit)


def _round_down(n: int) -> int:
    """Two digits of a number, as it is an estimate."""
    unit = 10 ** max(0, len(str(n)) - 2)
    return max(1, n // unit * unit)
