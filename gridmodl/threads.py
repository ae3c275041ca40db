"""Columns in threads: kernels run without the interpreter's lock.

Threads do the work even if it is a single one: so the user's own thread hears Ctrl-C, which stops the clock, and then
every column ends with the best it has so far. Those that have not begun are still read; a second Ctrl-C drops them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from gridmodl.clock import Clock
from gridmodl.frames import Name

Answer = TypeVar("Answer")


def in_threads(work: Callable[[Name], Answer], names: list[Name], n_threads: int, clock: Clock) -> dict[Name, Answer]:
    """The answer for each name, in the order of the names."""
    with ThreadPoolExecutor(n_threads, "gridmodl") as pool:
        futures = {name: pool.submit(work, name) for name in names}
        try:
            _report_each(futures, clock)
        except KeyboardInterrupt:
            clock.stopped = "interrupted"
        except BaseException:
            clock.stopped = "failed"  # the user's progress callable: do not go on behind its back
            raise
        try:
            return {name: future.result() for name, future in futures.items()}
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _report_each(futures: Mapping[Name, Future[Any]], clock: Clock) -> None:
    clock.step = "columns"
    for n_done, _ in enumerate(clock.as_done(futures.values()), start=1):
        clock.tell(n_done / len(futures))
