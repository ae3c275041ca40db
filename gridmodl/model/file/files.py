"""Read and write strict JSON texts and their files.

Reading refuses NaN, infinite numbers and repeated keys; a file must be a regular file of at most MAX_BYTES. Writing
replaces a file as a whole.
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from gridmodl.model.file.fields import MAX_BYTES, ModelFileError, shown
from gridmodl.writing import replace_file

Kind = TypeVar("Kind")  # Model, Models or DensityModel
MAX_DIGITS = 20  # digits of an untagged integer: enough for 64 bits; larger integers are tagged
MAX_LINE = 100  # characters of a line; longer values are broken up


def write_checked(
    model: Kind, check: Callable[[Kind], None], record: Callable[[Kind], Any], path: str | os.PathLike[str] | None
) -> str:
    """Check a model and return its JSON text; also write it to the file `path` unless None."""
    check(model)
    text = render_json(record(model)) + "\n"
    if path is not None:
        replace_file(path, text)
    return text


def read_checked(source: Any, read: Callable[[Any], Kind], check: Callable[[Kind], None]) -> Kind:
    """Read a model from a JSON text or a file, and check it."""
    record = parse_json(text_of(source))
    try:
        model = read(record)
        check(model)
    except RecursionError as error:
        raise ModelFileError("the text is nested too deeply to be a model") from error
    return model


def text_of(source: Any) -> str:
    """Text of `source`, a JSON text (str or bytes) or a path; a str that does not begin with a brace is a path."""
    if isinstance(source, str) and source.lstrip().startswith("{"):
        if len(source) > MAX_BYTES:
            raise ModelFileError(f"the text has more than {MAX_BYTES} characters")
        return source
    if isinstance(source, str):
        source = _bytes_of(_path_in(source))
    elif isinstance(source, os.PathLike):
        source = _bytes_of(Path(os.fsdecode(source)))
    if not isinstance(source, bytes):
        raise TypeError(f"source must be a JSON text or the path of a file, got {type(source).__name__}")
    if len(source) > MAX_BYTES:
        raise ModelFileError(f"the text has more than {MAX_BYTES} bytes")
    try:
        return source.decode("utf-8-sig")  # some editors write a byte order mark first
    except UnicodeDecodeError as error:
        raise ModelFileError(f"the text is not UTF-8: {error}") from error


def _path_in(text: str) -> Path:
    """Check that `text` is the path of a file that exists."""
    try:
        exists = text.strip() != "" and os.path.exists(text)
    except ValueError:  # a character that no path may have
        exists = False
    if not exists:
        raise ModelFileError(
            f"{shown(text)} is neither a JSON object, which begins with a brace, nor the path of a file that exists"
        )
    return Path(text)


def _bytes_of(path: Path) -> bytes:
    """Read a regular file of at most MAX_BYTES."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):  # a pipe or a device might never end
        raise ModelFileError(f"{str(path)!r} is not a regular file")
    if about.st_size > MAX_BYTES:
        raise ModelFileError(f"{str(path)!r} has {about.st_size} bytes; a model has at most {MAX_BYTES}")
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)  # the file may have grown since


def parse_json(text: str) -> Any:
    """Parse a text as strict JSON."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_no_constant,
            parse_float=_finite_float,
            parse_int=_short_integer,
        )
    except json.JSONDecodeError as error:
        raise ModelFileError(f"the text is not JSON: {error}") from error
    except RecursionError as error:
        raise ModelFileError("the text is nested too deeply to be a model") from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Object of the pairs; refuse repeated keys."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ModelFileError(f"the text has the key {shown(key)} twice in one object")
        found[key] = value
    return found


def _no_constant(text: str) -> Any:
    """Refuse NaN and Infinity."""
    raise ModelFileError(f"the text holds {text}, which is not JSON")


def _finite_float(text: str) -> float:
    """Read a float; refuse one that overflows."""
    number = float(text)
    if not math.isfinite(number):
        raise ModelFileError(f"the text holds the number {shown(text)}, too large for a float")
    return number


def _short_integer(text: str) -> int:
    """Read an integer of at most MAX_DIGITS digits."""
    if len(text.lstrip("-")) > MAX_DIGITS:
        raise ModelFileError(f"the text holds an integer of {len(text)} digits, {shown(text)}")
    return int(text)


def render_json(value: Any, indent: int = 0) -> str:
    """Write JSON on one line if it is short or a list of values; else one line per field, or per row of a list."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if indent + len(line) <= MAX_LINE:
        return line
    if isinstance(value, dict) and len(value) > 1:
        fields = [f"{json.dumps(key, ensure_ascii=False)}: {render_json(v, indent + 2)}" for key, v in value.items()]
        return _in_lines("{", fields, "}", indent)
    if isinstance(value, list) and any(_is_row(item) for item in value):
        return _in_lines("[", [render_json(item, indent + 2) for item in value], "]", indent)
    return line


def _is_row(item: Any) -> bool:
    """Whether an item is a list, or an object that is not a tagged value."""
    return isinstance(item, list) or (isinstance(item, dict) and len(item) > 1)


def _in_lines(opening: str, items: Sequence[str], closing: str, indent: int) -> str:
    """Text of a list or an object with one item per line."""
    margin = "\n" + " " * indent
    return f"{opening}{margin}  {f',{margin}  '.join(items)}{margin}{closing}"
