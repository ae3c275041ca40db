"""Files written whole or not at all, and never over an input."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import click

STDOUT = "-"
# Errors of writing that name no file: the disk, the user's quota or the file is full.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_unfinished: set[Path] = set()


@contextlib.contextmanager
def replaced(path: str) -> Iterator[Path]:
    """Yield a path to write to; its file replaces `path` if the block raises nothing. A device is written to itself."""
    if Path(path).exists() and not Path(path).is_file():  # not resolved: a pipe has no other name
        with _named(path, path):
            yield Path(path)
        return
    there = Path(path).resolve()
    beside = there.parent / f".gridmodl-{secrets.token_hex(8)}{''.join(there.suffixes[-2:])}"
    _unfinished.add(beside)
    try:
        with _named(path, str(beside)):
            yield beside
            os.replace(beside, there)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()
        _unfinished.discard(beside)


@contextlib.contextmanager
def _named(path: str, beside: str) -> Iterator[None]:
    """Make errors of writing name `path`, which the user knows, not the temporary file `beside`."""
    try:
        yield
    except OSError as error:
        if error.filename == beside or (error.filename is None and error.errno in FULL):
            raise OSError(error.errno, error.strerror, path) from error
        raise


def write_text(path: str, text: str) -> None:
    """Write a text to a file, or to standard output for ``-``."""
    if path == STDOUT:
        click.echo(text, nl=not text.endswith("\n"))
        return
    with replaced(path) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")


def drop_unfinished() -> None:
    """Delete files that are half written, before the process ends at once."""
    for path in list(_unfinished):
        with contextlib.suppress(OSError):
            path.unlink()


def check_outputs(inputs: dict[str, str], outputs: dict[str, str | None]) -> None:
    """Check that no output is an input or another output, and that its folder exists."""
    taken = {Path(path).resolve(): name for name, path in inputs.items() if path != STDOUT}
    on_stdout = [name for name, path in outputs.items() if path == STDOUT]
    if len(on_stdout) > 1:
        raise click.UsageError(f"{' and '.join(on_stdout)} cannot both go to standard output")
    for name, path in outputs.items():
        if path is None or path == STDOUT:
            continue
        there = Path(path).resolve()
        if there.is_dir():
            raise click.UsageError(f"{name} {path} is a folder; give the name of a file")
        if not there.parent.is_dir():
            raise click.UsageError(f"{name} {path}: there is no folder {str(there.parent)!r}")
        if there in taken and (not there.exists() or there.is_file()):
            raise click.UsageError(f"{name} {path} would write over {taken[there]}; give another name")
        taken[there] = name
