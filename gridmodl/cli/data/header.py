"""The first record of a CSV file: the names of its columns."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import Any, NamedTuple

from gridmodl.cli.failures import Failure

PIECE = 2**16
BLOCK = 2**22  # bytes that are parsed at a time; no row may be longer
BOM = b"\xef\xbb\xbf"
DELIMITERS = (";", "\t", "|", ",")


class Header(NamedTuple):
    """The names, and what was read of the rows behind them."""

    names: list[str]
    rest: bytes


def read_header(stream: Any, delimiter: str, label: str, has_names: bool = True) -> Header:
    """The names of the columns of a CSV in UTF-8; x0, x1, ... if it has none."""
    text, is_all = b"", False
    while True:
        piece = stream.read(PIECE)
        text, is_all = text + piece, not piece
        fields, n_bytes = _first_record(text.removeprefix(BOM), delimiter, is_all, label)
        if n_bytes is not None:
            break
        if len(text) > BLOCK:
            raise Failure(
                f"the first line of {label} is longer than {BLOCK} bytes; a quote that is opened and never closed "
                "makes one, and so does a file that is no CSV"
            )
    if not fields:
        raise Failure(f"{label} is empty: it has no columns")
    text = text.removeprefix(BOM)
    if not has_names:
        return Header([f"x{i}" for i in range(len(fields))], text)
    return Header(_checked(fields, label), text[n_bytes:])


def _first_record(text: bytes, delimiter: str, is_all: bool, label: str) -> tuple[list[str], int | None]:
    """The fields of the first record that is not blank, and its end; None while it may go on."""
    whole = text if is_all else text[: max(text.rfind(b"\n"), text.rfind(b"\r")) + 1]
    try:
        lines = io.StringIO(whole.decode("utf-8"), newline="").readlines()
    except UnicodeDecodeError as error:
        raise Failure(f"{label} is not in UTF-8; say what it is in, such as --encoding latin-1 or utf-16") from error
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        fields = next((record for record in reader if record), [])
    except csv.Error as error:
        raise Failure(f"the first line of {label} cannot be read as CSV: {error}") from error
    if not is_all and (not fields or reader.line_num == len(lines)):  # a quoted name may hold a line break
        return [], None
    return fields, len("".join(lines[: reader.line_num]).encode())


def _checked(fields: list[str], label: str) -> list[str]:
    names = [name if name.strip() else f"column_{i}" for i, name in enumerate(fields, start=1)]
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        where = [str(i) for i, name in enumerate(names, start=1) if name == twice[0]]
        raise Failure(
            f"columns {' and '.join(where)} of {label} have the same name {twice[0]!r}; give each a name of its own"
        )
    return names


def other_delimiter(names: list[str], delimiter: str) -> str | None:
    """What separates the columns more likely, if all names came as one."""
    if len(names) != 1:
        return None
    return next((other for other in DELIMITERS if other != delimiter and other in names[0]), None)
