"""The progress bar: shown on the error stream, once work has taken long enough to wonder."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from gridmodl.clock import Clock, Progress

SHOWN_AFTER = 0.5  # seconds


@contextlib.contextmanager
def showing(progress: bool | Callable[[Progress], Any] | None, clock: Clock) -> Iterator[None]:
    """Report to the user what `clock` is told, while the block runs."""
    if progress is None or progress is False:
        yield
    elif progress is True:
        with _bar() as report:
            clock.report = report
            yield
    elif callable(progress):
        clock.report = progress
        yield
    else:
        raise TypeError(f"progress must be True, False, None or a callable, got {progress!r}")


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[Progress], None]]:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar
    except ImportError as error:
        raise ImportError("progress=True needs rich: pip install 'gridmodl[progress]'") from error
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn()
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    line = bar.add_task("", total=1.0)

    def report(done: Progress) -> None:
        if done.elapsed >= SHOWN_AFTER:
            if not bar.live.is_started:
                bar.start()
            bar.update(line, description=done.step, completed=done.share)

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()
