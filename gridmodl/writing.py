"""Write files whole or not at all; delete what is half written when the process ends.

Each file is written beside its place and then renamed: whatever ends the process, a reader finds all of the old content
or all of the new.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

# Errors of writing that name no file: the disk, the user's quota or the file is full.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_unfinished: set[Path] = set()


@contextlib.contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a path to write to; its file replaces `path`, or what a link there leads to, if the block raises nothing.

    Raise ValueError if `path` is a folder, a pipe or a device.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"{os.fspath(path)!r} exists and is not a regular file")
    there = Path(path).resolve()
    beside = there.parent / f".gridmodl-{secrets.token_hex(8)}.tmp"
    _unfinished.add(beside)
    try:
        with naming(path, beside):
            yield beside
            with beside.open("r+b") as file:
                os.fsync(file.fileno())
            os.replace(beside, there)
    finally:
        drop(beside)


def replace_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a text, as UTF-8, or bytes as the file `path`."""
    with replaced(path) as beside:
        beside.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


@contextlib.contextmanager
def naming(path: str | os.PathLike[str], beside: str | os.PathLike[str]) -> Iterator[None]:
    """Make errors of writing name `path`, which the user knows, not the temporary file `beside`."""
    try:
        yield
    except OSError as error:
        is_beside = error.filename is not None and str(error.filename) == str(beside)
        is_full = error.filename is None and error.errno in FULL
        if error.errno is not None and (is_beside or is_full):
            raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error
        raise


def temporary_folder() -> Path:
    """Make a folder for temporary files; who makes it calls `drop` at the end."""
    folder = Path(tempfile.gettempdir(), f"gridmodl-{secrets.token_hex(8)}")
    _unfinished.add(folder)  # before it is there: the process may end at any moment
    try:
        folder.mkdir(mode=0o700)
    except OSError:
        _unfinished.discard(folder)  # not made, or by somebody else
        raise
    return folder


def drop_unfinished() -> None:
    """Delete all files that are half written and temporary folders, before the process ends at once."""
    for path in list(_unfinished):
        drop(path)


def drop(path: Path) -> None:
    """Delete a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        path.unlink()
    _unfinished.discard(path)
