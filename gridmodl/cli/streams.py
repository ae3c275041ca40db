"""Bytes of a file or of standard input: decompressed, in UTF-8, their format recognised by the first bytes."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import IO, Any, BinaryIO

import click
import pyarrow as pa

from gridmodl.cli.messages import STDIN, Failure, label_of

FORMATS = ("csv", "tsv", "parquet", "arrow")
_SUFFIXES = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".arrows": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
PACKED_SUFFIXES = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_BEGINNINGS = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_OTHERS = {b"FEA1": "Feather version 1", b"PK\x03\x04": "a zip or Excel file", b"\xd0\xcf\x11\xe0": "an old Excel file"}


class JoinedStream(io.RawIOBase):
    """Bytes that were read ahead, then the rest of their stream; setting `is_ended` ends it early."""

    def __init__(self, head: bytes, tail: Any) -> None:
        self._head, self._tail = memoryview(head), tail
        self.n_quotes = 0
        self.is_ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.is_ended:
            return 0
        n = min(len(buffer), len(self._head))
        buffer[:n] = self._head[:n]
        self._head = self._head[n:]
        while n < len(buffer):  # a pipe returns few bytes per read, and blocks of rows should be large
            data = self._tail.read(len(buffer) - n)
            if not data:
                break
            buffer[n : n + len(data)] = data
            n += len(data)
        self.n_quotes += bytes(buffer[:n]).count(b'"')
        return n

    def close(self) -> None:
        self._tail.close()
        super().close()


def size_of(path: str) -> int | None:
    """Size of a file in bytes; None for standard input, a pipe or a device, which can be read only once."""
    if path == STDIN:
        return None
    about = os.stat(path)
    if stat.S_ISDIR(about.st_mode):
        raise Failure(f"{path} is a folder; give a file")
    return about.st_size if stat.S_ISREG(about.st_mode) else None


def open_stream(path: str) -> IO[bytes]:
    """Open standard input, a pipe or a device, which can be read only once."""
    return sys.stdin.buffer if path == STDIN else closed_at_the_end(open(path, "rb"))


def closed_at_the_end(file: Any) -> Any:
    """Close `file` when the command ends; return the file."""
    command = click.get_current_context(silent=True)
    if command is not None:
        command.call_on_close(file.close)
    return file


def spool(path: str) -> BinaryIO:
    """Copy a stream to a temporary file that can be read more than once; closing the file deletes it."""
    file: Any = closed_at_the_end(tempfile.TemporaryFile())  # noqa: SIM115  stays open for its readers
    shutil.copyfileobj(open_stream(path), file, 2**20)
    return file


def native(stream: Any) -> pa.NativeFile:
    return stream if isinstance(stream, pa.NativeFile) else pa.PythonFile(stream, mode="r")


def peek(stream: Any) -> tuple[bytes, Any]:
    """Read the first bytes of a stream; return them and a stream that starts with them again."""
    head = b""
    while len(head) < 8:
        more = stream.read(8 - len(head))
        if not more:
            break
        head += more
    if stream.seekable():
        stream.seek(0)
        return head, stream
    return head, io.BufferedReader(JoinedStream(head, stream), 2**16)


def decompressed(stream: Any) -> Any:
    """Decompress a stream of gzip, bzip2 or zstd; return any other stream as it is."""
    head, stream = peek(stream)
    for beginning, codec in _PACKED.items():
        if head.startswith(beginning):
            return pa.CompressedInputStream(native(stream), codec)
    return stream


def as_utf8(stream: Any, encoding: str) -> Any:
    if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig"):
        return stream
    return pa.transcoding_input_stream(native(stream), encoding, "utf-8")


def format_of(path: str, head: bytes, chosen: str | None) -> str:
    """Format of a file: the one `chosen` by the user, else by its first bytes, else by its suffix."""
    if chosen is not None:
        return chosen
    for beginning, found in _BEGINNINGS.items():
        if head.startswith(beginning):
            return found
    for beginning, what in _OTHERS.items():
        if head.startswith(beginning):
            raise Failure(f"{label_of(path)} is {what}; gridmodl reads CSV, TSV, Parquet and Arrow")
    if path == STDIN:
        raise Failure("standard input may be CSV or TSV; give --format csv or --format tsv")
    found_suffix = suffix_format(path)
    if found_suffix is None:
        raise Failure(f"{path}: its name does not tell the format; give --format, one of {', '.join(FORMATS)}")
    if found_suffix not in ("csv", "tsv"):
        raise Failure(
            f"{path} does not begin like a file of format {found_suffix}; if it has another format, give --format"
        )
    return found_suffix


def suffix_format(path: str) -> str | None:
    """Format that the suffix of a name tells, before a suffix of compression."""
    name = Path(path)
    if name.suffix.lower() in PACKED_SUFFIXES:
        name = name.with_suffix("")
    return _SUFFIXES.get(name.suffix.lower())


@contextlib.contextmanager
def closing_quietly(stream: Any) -> Any:
    try:
        yield stream
    finally:
        with contextlib.suppress(OSError, ValueError):
            stream.close()
