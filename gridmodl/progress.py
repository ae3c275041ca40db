"""The progress bar: a line on the error stream, once work has taken long enough to wonder."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from gridmodl.clock import Clock, Progress

SHOWN_AFTER = 0.5  # seconds
WIDTH = 30


@contextlib.contextmanager
def showing(progress: bool | Callable[[Progress], Any] | None, clock: Clock) -> Iterator[None]:
    """Report to the user what `clock` is told, while the block runs."""
    if progress is None or progress is False:
        yield
    elif progress is True:
        bar = _Bar()
        clock.report = bar.show
        try:
            yield
        finally:
            bar.clear()
    elif callable(progress):
        clock.report = progress
        yield
    else:
        raise TypeError(f"progress must be True, False, None or a callable, got {progress!r}")


class _Bar:
    def __init__(self) -> None:
        self.shown = 0  # characters on the line now

    def show(self, done: Progress) -> None:
        if done.elapsed >= SHOWN_AFTER:
            filled = "#" * round(WIDTH * done.share)
            self._write(f"{done.step} [{filled:-<{WIDTH}}] {done.share:4.0%} {done.elapsed:.0f} s")

    def clear(self) -> None:
        if self.shown:
            self._write("")
            sys.stderr.write("\r")

    def _write(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self.shown))
        sys.stderr.flush()
        self.shown = len(line)
