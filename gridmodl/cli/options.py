"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from gridmodl.cli.console import Talk
from gridmodl.progress import notice

Command = Callable[..., Any]

OUTPUTS = ("parts", "labels", "cell", "predict", "proba")  # of --as


def every(command: Command) -> Command:
    """Those of all commands; what they say is found in the context."""
    for option in (
        _noted("--no-color", "No colours; so does the variable NO_COLOR."),
        _noted("--debug", "Show where in the program an error comes from."),
    ):
        command = option(command)
    return command


def _noted(flag: str, text: str) -> Callable[[Command], Command]:
    def note(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        ctx.ensure_object(dict)[param.name] = value

    return click.option(flag, is_flag=True, expose_value=False, callback=note, help=text)


def quiet(command: Command) -> Command:
    return click.option("-q", "--quiet", is_flag=True, help="No messages, only errors.")(command)


def talk(is_quiet: bool = False) -> Talk:
    """Who speaks to the user of this command."""
    context = click.get_current_context()
    if is_quiet:
        context.with_resource(notice.hidden())
    return Talk(is_quiet, bool(context.ensure_object(dict).get("no_color")))


def reading(command: Command) -> Command:
    """How a data file is written."""
    from_user = (
        click.option("--format", type=click.Choice(["csv", "tsv", "parquet", "arrow"]), help="Of the data, where its "
                     "name does not tell; needed for text on standard input."),
        click.option("--delimiter", metavar="CHARACTER", help="Between fields of a text file. [default: , or a tab]"),
        click.option("--encoding", default="utf-8", show_default=True, help="Of a text file, such as latin-1."),
        click.option("--no-header", is_flag=True, help="A text file without names: its columns are x0, x1, ..."),
        click.option("--null", "nulls", multiple=True, metavar="TEXT", help="Text that stands for a missing value, "
                     "in place of the usual ones (empty, NA, NaN, null, None, ...); may be given again."),
    )  # fmt: skip
    for option in reversed(from_user):
        command = option(command)
    return command


def checked_dialect(delimiter: str | None, encoding: str) -> tuple[str | None, str]:
    """A delimiter of one character, and an encoding that exists."""
    if delimiter is not None:
        delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii():
            raise click.UsageError(f"--delimiter must be one ASCII character, such as ';' or tab, got {delimiter!r}")
    try:
        "a".encode(encoding)  # codecs.lookup would find zlib too, which is none of text
    except LookupError:
        raise click.UsageError(f"--encoding {encoding!r} is not known; try utf-8, latin-1, cp1252 or utf-16") from None
    return delimiter, encoding


def examples(*lines: str) -> str:
    """The end of a help text: commands that can be copied, and that a test runs."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
