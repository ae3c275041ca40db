"""What options mean: names with values, lists of columns, sizes."""

from __future__ import annotations

import csv
import datetime
import re
from collections.abc import Sequence
from typing import Any

import click

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
