"""The file of a model: only a regular one, of a size that memory holds, replaced as a whole."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from gridmodl.modelfile.text import MAX_BYTES, ModelFileError, parse_json, render_json, shown

Kind = TypeVar("Kind")  # of model


def write_checked(
    model: Kind, check: Callable[[Kind], None], record: Callable[[Kind], Any], path: str | os.PathLike[str] | None
) -> str:
    """The JSON text of a model that is fit to be read back, also written to a file if there is a path."""
    check(model)
    text = render_json(record(model)) + "\n"
    if path is not None:
        replace_file(Path(path), text)
    return text


def read_checked(source: Any, read: Callable[[Any], Kind], check: Callable[[Kind], None]) -> Kind:
    """The model of a JSON text or of a file."""
    record = parse_json(text_of(source))
    try:
        model = read(record)
        check(model)
    except RecursionError as error:
        raise ModelFileError("the text is nested too deeply to be a model") from error
    return model


def text_of(source: Any) -> str:
    """The text itself, or that of bytes, or of the file at a path."""
    if isinstance(source, str):
        if not source.lstrip().startswith("{"):
            hint = "to read a file, pass its path as pathlib.Path(...)"
            raise ModelFileError(f"the text is no JSON object: {shown(source)}; {hint}")
        if len(source) > MAX_BYTES:
            raise ModelFileError(f"the text is of more than {MAX_BYTES} characters")
        return source
    if isinstance(source, os.PathLike):
        source = _bytes_of(Path(source))
    if not isinstance(source, bytes):
        raise TypeError(f"source must be a str, bytes or pathlib.Path, got {type(source).__name__}")
    if len(source) > MAX_BYTES:
        raise ModelFileError(f"the text is of more than {MAX_BYTES} bytes")
    try:
        return source.decode("utf-8-sig")  # some editors put a mark before the text
    except UnicodeDecodeError as error:
        raise ModelFileError(f"the text is not UTF-8: {error}") from error


def _bytes_of(path: Path) -> bytes:
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):  # a pipe or a device might never end
        raise ModelFileError(f"{str(path)!r} is no file")
    if about.st_size > MAX_BYTES:
        raise ModelFileError(f"{str(path)!r} is of {about.st_size} bytes; a model has at most {MAX_BYTES}")
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)  # it may have grown since


def replace_file(path: Path, text: str) -> None:
    """Write beside the file, then put that in its place: whoever reads it sees the old or the new one, whole."""
    if path.exists() and not path.is_file():  # a device must not become a file
        raise ModelFileError(f"{str(path)!r} is there and is no file")
    beside = path.parent / f".gridmodl-{secrets.token_hex(8)}.tmp"
    try:
        with beside.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError) and error.filename is not None:  # that of what stands beside, which nobody knows
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
