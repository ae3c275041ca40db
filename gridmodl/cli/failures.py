"""What goes wrong, in one line and an exit code; the library's words for arguments become those of the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import IO, Any

import click

from gridmodl.cli import INTERRUPTED
from gridmodl.cli.console import visible
from gridmodl.spelling import did_you_mean

FAILED = 1

# Arguments of the library, as its messages name them, and what they are called here.
OPTIONS = {
    "kinds": "--kind", "n_jobs": "--jobs", "random_state": "--seed", "keep_optima": "--keep-optima",
    **{
        name: "--" + name.replace("_", "-")
        for name in (
            "target_kind", "unlabelled", "placement", "special", "monotone", "max_parts", "min_rows", "time_limit",
            "search", "effort", "weights", "unknown",
        )
    },
}  # fmt: skip
_ARGUMENT = re.compile(rf"\b({'|'.join(OPTIONS)})=(?:'([^']*)'|(None)|(-?\w+))?")
_REFUSED = re.compile(rf"^({'|'.join(OPTIONS)})(?= must)")  # what a message is about
_EACH = re.compile(r"\boptimize_each(?= takes each| partitions)")


class Failure(click.ClickException):
    """Something is wrong with the data, a model or a file."""

    exit_code = FAILED

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"gridmodl: error: {visible(self.format_message())}", file=file, err=file is None)


class Interrupted(Failure):
    """The user has stopped the work."""

    exit_code = INTERRUPTED

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"gridmodl: {visible(self.format_message())}", file=file, err=file is None)


def in_cli_words(message: str) -> str:
    """A message of the library for who typed options: ``unlabelled='?'`` as ``--unlabelled '?'``."""

    def option(match: re.Match[str]) -> str:
        name, text, nothing, word = match.groups()
        value = "''" if nothing else text if text is not None else word
        return OPTIONS[name] + ("" if value is None else f" {value}")

    line = _REFUSED.sub(lambda match: OPTIONS[match[1]], " ".join(message.split()))
    return _EACH.sub("--each", _ARGUMENT.sub(option, line))


def described(error: BaseException) -> str:
    """An exception in one line."""
    if isinstance(error, MemoryError):
        return "there is not enough memory; see --columns, --each and --sample of gridmodl fit"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, (ValueError, TypeError, NotImplementedError, OSError, ImportError)):
        return in_cli_words(str(error)) or type(error).__name__
    return f"internal error, {type(error).__name__}: {error}; run it again with --debug for all that is known of it"


def near(name: str, known: Sequence[str]) -> str:
    """Names that may have been meant, or those that there are."""
    question = did_you_mean(name, known)
    if question:
        return question.removeprefix("; ")
    listed = ", ".join(map(repr, known[:10]))
    return f"it has {listed}{f' and {len(known) - 10} more' if len(known) > 10 else ''}"
