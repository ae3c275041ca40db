"""Options that several commands share, and parsers of the texts given to options."""

from __future__ import annotations

import csv
import datetime
import re
from collections.abc import Callable, Sequence
from typing import Any

import click

from gridmodl.cli.messages import Messages

Command = Callable[..., Any]

OUTPUTS = ("parts", "labels", "cell", "predict", "proba")  # of --as


def every(command: Command) -> Command:
    """Add the options that all commands have; their values are kept in the context."""
    for option in (
        _noted("--no-color", "No colours; the variable NO_COLOR does the same."),
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


def messages(is_quiet: bool = False) -> Messages:
    """Messages of the current command."""
    from gridmodl.progress import notice

    context = click.get_current_context()
    if is_quiet:
        context.with_resource(notice.hidden())
    return Messages(is_quiet, bool(context.ensure_object(dict).get("no_color")))


def reading(command: Command) -> Command:
    """Add the options that describe a data file."""
    from_user = (
        click.option("--format", type=click.Choice(["csv", "tsv", "parquet", "arrow"]), help="Format of the data, if "
                     "its name does not tell; needed for text on standard input."),
        click.option("--delimiter", metavar="CHARACTER", help="Between fields of a text file. [default: , or a tab]"),
        click.option("--encoding", default="utf-8", show_default=True, help="Of a text file, such as latin-1."),
        click.option("--no-header", is_flag=True, help="The text file has no header: its columns are x0, x1, ..."),
        click.option("--null", "nulls", multiple=True, metavar="TEXT", help="Text that stands for a missing value, "
                     "in place of the usual ones (empty, NA, NaN, null, None, ...); may be given again."),
    )  # fmt: skip
    for option in reversed(from_user):
        command = option(command)
    return command


def checked_dialect(delimiter: str | None, encoding: str) -> tuple[str | None, str]:
    """Check that the delimiter is one character and that the encoding exists."""
    if delimiter is not None:
        delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii():
            raise click.UsageError(f"--delimiter must be one ASCII character, such as ';' or tab, got {delimiter!r}")
    try:
        "a".encode(encoding)  # codecs.lookup would accept zlib too, which is not for text
    except LookupError:
        raise click.UsageError(f"--encoding {encoding!r} is not known; try utf-8, latin-1, cp1252 or utf-16") from None
    return delimiter, encoding


def examples(*lines: str) -> str:
    """Format commands for the end of a help text; a test runs them."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


class Amount(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4
    """Whole number, or a share with a decimal point."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        try:
            return int(value)
        except ValueError:
            pass
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is no number", param, ctx)


class Size(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """Number of bytes, such as 500MB or 4G."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)i?b?\s*", str(value), re.IGNORECASE)
        try:
            return int(float(found[1]) * _UNITS[found[2].lower()])  # type: ignore[index]
        except (TypeError, ValueError, OverflowError):  # no match, two points, infinite
            self.fail(f"{value!r} is no size; write it like 500MB or 4GB", param, ctx)


def pairs(texts: Sequence[str], option: str, example: str) -> dict[str, str]:
    """Parse the ``name=value`` texts of a repeated option; a name may contain ``=``."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not sign or not name or not value:
            raise click.UsageError(f"{option} {text!r} must be a name and a value, such as {option} {example}")
        if name in found:
            raise click.UsageError(f"{option} is given twice for {name!r}")
        found[name] = value
    return found


def listed(texts: Sequence[str], known: Sequence[str]) -> list[str]:
    """Split names of columns at commas; a name that contains a comma must be in `known` or in quotes."""
    names: list[str] = []
    for text in texts:
        names += [text] if text in known else _fields(text)
    return list(dict.fromkeys(name for name in names if name))


def _fields(text: str) -> list[str]:
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:  # a line break outside quotes: taken as a name, which no column has
        return [text]


def value_of(text: str) -> bool | int | float | str:
    """Parse a text as true, false or a number; else the text."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return number_of(text)


def number_of(text: str) -> int | float | str:
    """Parse a text as a number; else the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def codes_of(text: str, column: str) -> list[Any]:
    """Parse special codes of `column`: numbers or dates, separated by commas."""
    codes: list[Any] = []
    for part in text.split(","):
        code = value_of(part.strip())
        if isinstance(code, (str, bool)):
            try:
                code = datetime.datetime.fromisoformat(part.strip())  # type: ignore[assignment]
            except ValueError:
                raise click.UsageError(f"--special of {column!r}: {part.strip()!r} is no number and no date") from None
        codes.append(code)
    return codes
