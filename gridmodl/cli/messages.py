"""Messages on the error stream: a progress bar on a terminal, and errors in one line.

Errors of the library name its arguments; `with_option_names` replaces them by options of the command line.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

import click

from gridmodl.cli import INTERRUPTED
from gridmodl.spelling import did_you_mean

STDIN = "-"
FAILED = 1  # exit code


def visible(text: str) -> str:
    """Escape characters that would move the cursor or colour the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode("ascii") for c in text)


def echo(message: str) -> None:
    """Write a message on the error stream, above the bar if there is one."""
    from gridmodl.progress import clear_bar

    clear_bar()
    click.echo(visible(message), err=True)


def label_of(path: str) -> str:
    """Name of a file in messages."""
    return "standard input" if path == STDIN else path


class Messages:
    """Messages of one run of a command."""

    def __init__(self, quiet: bool = False, no_color: bool = False) -> None:
        self.quiet, self.no_color = quiet, no_color

    def say(self, message: str) -> None:
        if not self.quiet:
            echo(message)

    def console(self, file: Any) -> Any:
        """Make a console of rich, which obeys NO_COLOR."""
        from rich.console import Console

        return Console(file=file, no_color=self.no_color or None, highlight=False, soft_wrap=False)

    @contextlib.contextmanager
    def reading(self, label: str, n_expected: int | None) -> Iterator[Callable[[int], None]]:
        """Show a bar while a file of about `n_expected` rows is read; the yielded function takes the rows so far."""
        from gridmodl.progress import bar

        work = _ReadProgress(f"reading {visible(label)}", n_expected)
        with contextlib.nullcontext() if self.quiet else bar(work):
            yield work.note


class _ReadProgress:
    """Rows of a file read so far, for a bar."""

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


# Arguments in messages of the library, and their options on the command line.
OPTIONS = {
    "kinds": "--kind", "n_jobs": "--jobs", "random_state": "--seed", "keep_optima": "--keep-optima",
    **{
        name: "--" + name.replace("_", "-")
        for name in (
            "target_kind", "unlabelled", "placement", "event", "special", "monotone", "max_parts", "min_rows",
            "min_events", "min_difference", "stable_over", "min_period_rows", "time_limit", "order", "search", "effort",
            "weights", "unknown", "missing", "by",
        )
    },
}  # fmt: skip
_ARGUMENT = re.compile(rf"\b({'|'.join(OPTIONS)})=(?:'([^']*)'|(None)|(-?\w+))?")
_REFUSED = re.compile(rf"^({'|'.join(OPTIONS)})(?= must)")  # the argument that a message starts with
_EACH = re.compile(r"\boptimize_each(?= takes each| partitions)")


class Failure(click.ClickException):
    """Error in the data, a model or a file."""

    exit_code = FAILED

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"gridmodl: error: {visible(self.format_message())}", file=file, err=file is None)


class Interrupted(Failure):
    """The user has stopped the command."""

    exit_code = INTERRUPTED

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"gridmodl: {visible(self.format_message())}", file=file, err=file is None)


def with_option_names(message: str) -> str:
    """Replace arguments in a message of the library by options: ``unlabelled='?'`` becomes ``--unlabelled ?``."""

    def option(match: re.Match[str]) -> str:
        name, text, nothing, word = match.groups()
        value = "''" if nothing else text if text is not None else word
        return OPTIONS[name] + ("" if value is None else f" {value}")

    line = _REFUSED.sub(lambda match: OPTIONS[match[1]], " ".join(message.split()))
    return _EACH.sub("--each", _ARGUMENT.sub(option, line))


def describe_error(error: BaseException) -> str:
    """Describe an exception in one line."""
    if isinstance(error, MemoryError):
        return "there is not enough memory; see --columns, --each and --sample of gridmodl fit"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, (ValueError, TypeError, NotImplementedError, OSError, ImportError)):
        return with_option_names(str(error)) or type(error).__name__
    if isinstance(error, RuntimeError):
        from gridmodl.data.remote.queries import EngineError

        if isinstance(error, EngineError):
            return with_option_names(str(error))
    return f"internal error, {type(error).__name__}: {error}; run the command again with --debug to see the traceback"


def suggest(name: str, known: Sequence[str]) -> str:
    """Suggest a known name that is spelled like `name`; list the known names if none is."""
    question = did_you_mean(name, known)
    if question:
        return question.removeprefix("; ")
    listed = ", ".join(repr(one if len(one) <= 60 else one[:59] + "…") for one in known[:10])
    return f"it has {listed}{f' and {len(known) - 10} more' if len(known) > 10 else ''}"
