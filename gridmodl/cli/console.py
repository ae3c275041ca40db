"""What is said to the user: messages and progress on the error stream, the latter on a terminal only."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from gridmodl.clock import Progress

COMPILING = "search; the first one of a kind is compiled"
SHOWN_AFTER = 0.5  # seconds; who gets an answer at once need not see a bar


def visible(text: str) -> str:
    """The text for a person: what would move the cursor or colour the terminal is shown as an escape."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode("ascii") for c in text)


class Talk:
    """Messages of one run of a command."""

    def __init__(self, quiet: bool = False, no_color: bool = False) -> None:
        self.quiet, self.no_color = quiet, no_color

    def say(self, message: str) -> None:
        if not self.quiet:
            click.echo(visible(message), err=True)

    def console(self, file: Any) -> Any:
        """A console of rich, which keeps to NO_COLOR by itself."""
        from rich.console import Console

        return Console(file=file, no_color=self.no_color or None, highlight=False, soft_wrap=False)

    @contextlib.contextmanager
    def meter(self) -> Iterator[Meter]:
        """A bar for reading and searching, if somebody is there to see it."""
        if self.quiet or not sys.stderr.isatty():
            yield Meter(None)
            return
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self.console(sys.stderr), transient=True) as bar:
            yield Meter(bar)


class Meter:
    """What a bar shows; nothing if there is none."""

    def __init__(self, bar: Any) -> None:
        self.bar = bar
        self.begun = time.perf_counter()
        self.task: Any = None

    def reading(self, label: str, n_rows: int, expected: int | None) -> None:
        share = None if not expected else min(1.0, n_rows / expected)
        self._show(f"reading {visible(label)}: {n_rows:,} rows", share)

    def searching(self, done: Progress) -> None:
        self._show(done.step or "search", done.share)

    def waiting(self, what: str) -> None:
        """Something whose end nobody knows, such as compiling."""
        self._show(what, None)

    def _show(self, what: str, share: float | None) -> None:
        if self.bar is None or time.perf_counter() - self.begun < SHOWN_AFTER:
            return
        if self.task is None:
            self.task = self.bar.add_task(what, total=None)
        self.bar.update(self.task, description=what, total=None if share is None else 1.0, completed=share or 0.0)
