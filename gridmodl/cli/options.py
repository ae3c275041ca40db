"""Options that several commands have, and the values that texts of options stand for."""

from __future__ import annotations

import csv
import datetime
import re
from collections.abc import Callable, Sequence
from typing import Any

import click

from gridmodl.cli.messages import Talk

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
    from gridmodl.progress import notice

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


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


class Amount(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4
    """A whole number, or a share with a point."""

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
    """Bytes, such as 500MB or 4G."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)i?b?\s*", str(value), re.IGNORECASE)
        try:
            return int(float(found[1]) * _UNITS[found[2].lower()])  # type: ignore[index]
        except (TypeError, ValueError, OverflowError):  # no match, two points, more than there are numbers
            self.fail(f"{value!r} is no size; write it like 500MB or 4GB", param, ctx)


def pairs(given: Sequence[str], option: str, example: str) -> dict[str, str]:
    """``name=value`` of an option that may be given again and again; a name may hold the sign too."""
    found: dict[str, str] = {}
    for text in given:
        name, sign, value = text.rpartition("=")
        if not sign or not name or not value:
            raise click.UsageError(f"{option} {text!r} must be a name and a value, such as {option} {example}")
        if name in found:
            raise click.UsageError(f"{option} is given twice for {name!r}")
        found[name] = value
    return found


def listed(given: Sequence[str], known: Sequence[str]) -> list[str]:
    """Names of columns, separated by commas; one that holds a comma is known as it is, or in quotes."""
    names: list[str] = []
    for text in given:
        names += [text] if text in known else _fields(text)
    return list(dict.fromkeys(name for name in names if name))


def _fields(text: str) -> list[str]:
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:  # a line break outside of quotes: a name then, which no column has
        return [text]


def value_of(text: str) -> bool | int | float | str:
    """What a text most simply is: a number, true or false, or just a text."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return number_of(text)


def number_of(text: str) -> int | float | str:
    """A text as a number, if it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def codes_of(text: str, column: str) -> list[Any]:
    """Special codes: numbers or dates, separated by commas."""
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
