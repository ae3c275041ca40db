"""Options that several commands share, and parsers of the texts given to options."""

from __future__ import annotations

import contextlib
import csv
import datetime
import functools
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from gridmodl.cli.messages import Messages
from gridmodl.cli.outputs import STDOUT, check_html, check_outputs
from gridmodl.spelling import did_you_mean

Command = Callable[..., Any]

OUTPUTS = ("parts", "labels", "woe", "cell", "predict", "proba", "log_density")  # of --as


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


def page(command: Command) -> Command:
    command = click.option("--about", help="What readers should know of the data and the target.")(command)
    return click.option("--title", help="Title of the page.")(command)


def safe_csv(command: Command) -> Command:
    text = "Put a ' before text that begins with = + - @, which a spreadsheet would take for a formula."
    return click.option("--safe-csv", is_flag=True, help=text)(command)


smoothing = click.option(
    "--smoothing",
    is_flag=True,
    help="Of --as proba: what the criterion expects of the next row: under modl (n_j + 1) / (n + J), never 0.",
)
exclude = click.option(
    "-x", "--exclude", multiple=True, metavar="NAMES", help="Leave out these columns; may be given again."
)
kind = click.option(
    "--kind",
    multiple=True,
    metavar="COLUMN=KIND",
    help="numerical, categorical or ordinal, where the type of the column says otherwise.",
)
order = click.option(
    "--order",
    multiple=True,
    metavar="COLUMN=LEVELS",
    help="Levels of an ordinal column from low to high, such as rating=A,B,C.",
)
weights = click.option(
    "--weights", metavar="COLUMN", help="Column of whole numbers: a row of weight w counts as w rows."
)
unlabelled = click.option(
    "--unlabelled", metavar="VALUE", help="Value of the target that marks rows without a class; '' for missing values."
)
sample = click.option(
    "--sample", type=click.IntRange(min=1), metavar="ROWS", help="Read a random sample of this number of rows."
)


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


def checked_fit(settings: Any) -> Any:
    """Settings of a command that fits, with the delimiter checked; raise UsageError for roles or outputs that clash."""
    if settings.as_json and settings.output == STDOUT:
        raise click.UsageError("--json and --output - cannot both go to standard output")
    check_html(settings.html)
    if settings.target is not None and settings.target == settings.weights:
        raise click.UsageError(f"{settings.target!r} cannot be both target and weights; name two columns")
    check_outputs({"the data": settings.data}, {"--output": settings.output, "--html": settings.html})
    delimiter, encoding = checked_dialect(settings.delimiter, settings.encoding)
    return settings._replace(delimiter=delimiter, encoding=encoding)


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
        names += [text] if text in known else fields(text)
    return list(dict.fromkeys(name for name in names if name))


def fields(text: str) -> list[str]:
    """Split a text at commas that are not in quotes."""
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


@functools.cache
def limits_of(path: str | None) -> dict[str, Any]:
    """Read the file of --limits: options of `optimize`, each for all columns or by column name.

    A key of the file is the name of an option, with a value or values by column; or the name of a column, with options.
    """
    if path is None:
        return {}
    from gridmodl.fit.options import ColumnOptions

    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"--limits {path} cannot be read: {error}") from None
    try:
        record = json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"--limits {path} is no JSON: {error}") from None
    example = '{"min_rows": 50, "age": {"monotone": "peak"}}'
    if not isinstance(record, dict):
        raise click.UsageError(f"--limits {path} must be an object, such as {example}")
    found: dict[str, Any] = {}
    for key, given in record.items():
        if key in ColumnOptions._fields:
            _add_limit(found, key, given, path)
        elif isinstance(given, dict):
            for option, value in given.items():
                if option not in ColumnOptions._fields:
                    known = ", ".join(ColumnOptions._fields)
                    hint = did_you_mean(option, ColumnOptions._fields)
                    raise click.UsageError(f"--limits {path}: {key!r} has {option!r}; known limits: {known}{hint}")
                _add_limit(found, option, {key: value}, path)
        else:
            hint = did_you_mean(key, ColumnOptions._fields)
            raise click.UsageError(
                f"--limits {path}: {key!r} is no limit ({', '.join(ColumnOptions._fields)}), and its value no object "
                f"with the limits of a column, such as {example}{hint}"
            )
    if isinstance(found.get("special"), dict):  # the library takes dates, and JSON has none
        found["special"] = {name: _with_dates(codes) for name, codes in found["special"].items()}
    return found


def _with_dates(codes: Any) -> Any:
    """Special values of a JSON file, alone or in lists, with texts such as 2020-01-31 as dates."""
    if isinstance(codes, list):
        return [_with_dates(code) for code in codes]
    if isinstance(codes, str) and "-" in codes:
        with contextlib.suppress(ValueError):
            return datetime.datetime.fromisoformat(codes)
    return codes


def _add_limit(found: dict[str, Any], option: str, given: Any, path: str) -> None:
    """Add one entry of a file of limits to those `found`; an option is for all columns or by column, not both."""
    before = found.get(option)
    if before is not None and not (isinstance(before, dict) and isinstance(given, dict)):
        raise click.UsageError(f"--limits {path} has {option!r} for all columns and by column; give it by column")
    found[option] = {**before, **given} if before is not None else given


def codes_of(text: str, column: str) -> list[Any]:
    """Parse special values of `column`: parts separated by commas, the values of a part by ``|``.

    Numbers and dates are taken as such, other texts as categories.
    """
    parts = [[_code_of(code.strip()) for code in part.split("|")] for part in text.split(",")]
    if any(code == "" for part in parts for code in part):
        raise click.UsageError(f"--special of {column!r}: a value is missing in {text!r}, such as age=-999|-998,-1")
    return [part[0] if len(part) == 1 else part for part in parts]


def _code_of(text: str) -> Any:
    """A number, a date, or the text."""
    code = number_of(text)
    if isinstance(code, str):
        with contextlib.suppress(ValueError):
            return datetime.datetime.fromisoformat(text)
    return code
