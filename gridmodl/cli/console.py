"""What is said to the user on the error stream: messages, and a bar if that is a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import click

from gridmodl.progress import bar, make_room


def visible(text: str) -> str:
    """The text for a person: what would move the cursor or colour the terminal is shown as an escape."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode("ascii") for c in text)


def echo(message: str) -> None:
    """Write a message on the error stream, above the bar if there is one."""
    make_room()
    click.echo(visible(message), err=True)


class Talk:
    """Messages of one run of a command."""

    def __init__(self, quiet: bool = False, no_color: bool = False) -> None:
        self.quiet, self.no_color = quiet, no_color

    def say(self, message: str) -> None:
        if not self.quiet:
            echo(message)

    def console(self, file: Any) -> Any:
        """A console of rich, which keeps to NO_COLOR by itself."""
        from rich.console import Console

        return Console(file=file, no_color=self.no_color or None, highlight=False, soft_wrap=False)

    @contextlib.contextmanager
    def reading(self, label: str, n_expected: int | None) -> Iterator[Callable[[int], None]]:
        """A bar for reading a file, of about `n_expected` rows; what is yielded is told how many were read."""
        work = _Reading(f"reading {visible(label)}", n_expected)
        with contextlib.nullcontext() if self.quiet else bar(work):
            yield work.note


class _Reading:
    """How far a file was read, for a bar."""

    def __init__(self, label: str, n_expected: int | None) -> None:
        self.label, self.n_expected, self.n_rows = label, n_expected, 0

    def note(self, n_rows: int) -> None:
        self.n_rows = n_rows

    @property
    def step(self) -> str:
        return f"{self.label}: {self.n_rows:,} rows"

    @property
    def share(self) -> float | None:
        return min(1.0, self.n_rows / self.n_expected) if self.n_expected else None
