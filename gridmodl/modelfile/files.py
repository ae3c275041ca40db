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
    """The text itself, or that of bytes, or of the file at a path: a str that does not begin with a brace is one."""
    if isinstance(source, str) and source.lstrip().startswith("{"):
        if len(source) > MAX_BYTES:
            raise ModelFileError(f"the text is of more than {MAX_BYTES} characters")
        return source
    if isinstance(source, str):
        source = _bytes_of(_path_in(source))
    elif isinstance(source, os.PathLike):
        source = _bytes_of(Path(os.fsdecode(source)))
    if not isinstance(source, bytes):
        raise TypeError(f"source must be a JSON text or the path of a file, got {type(source).__name__}")
    if len(source) > MAX_BYTES:
        raise ModelFileError(f"the text is of more than {MAX_BYTES} bytes")
    try:
        return source.decode("utf-8-sig")  # some editors put a mark before the text
    except UnicodeDecodeError as error:
        raise ModelFileError(f"the text is not UTF-8: {error}") from error


def _path_in(text: str) -> Path:
    """The path of a file that is there."""
    try:
        is_there = text.strip() != "" and os.path.exists(text)
    except ValueError:  # a character that no path has
        is_there = False
    if not is_there:
        raise ModelFileError(
            f"{shown(text)} is neither a JSON object, which begins with a brace, nor the path of a file that is there"
        )
    return Path(text)


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
