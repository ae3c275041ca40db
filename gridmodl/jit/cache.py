"""Objects of machine code on disk, under names that contain a digest of their code.

A file holds one kernel for one signature, or the terms of one criterion, for one kind of processor. Its name ends in
digests of everything that decides the code (`gridmodl.jit.digest`), so it is never stale. Paths, time stamps and
comments of source files do not matter: a second checkout of the same code compiles nothing. Loading machine code means
trusting it: a folder or a file that other users could have changed (`gridmodl.jit.ownership`) is refused, and a file
whose checksum is wrong is not loaded.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gridmodl.jit.digest import versions
from gridmodl.jit.ownership import ForeignFileError, distrust_reason, read_trusted

SUFFIX = ".kernel"
HEADER = b"gridmodl kernel 3\n"
PARTIAL_SUFFIX = ".part"  # of files that are being written
MAX_BYTES = 1 << 30  # all kernels and built-in criteria take about 10 MB
UNCACHED = "kernels are compiled anew in every process"
OWN_FOLDER = "set NUMBA_CACHE_DIR to a folder of your own that can be written to"
MAX_WRITE_SECONDS = 3600.0  # older partial files are left over from a process that died


class Object(NamedTuple):
    """Machine code of one kernel, or of the terms of one criterion."""

    code: bytes  # of the format of the system's linker
    symbols: dict[str, str]  # name of each function, by what it is
    returns: str  # what a kernel returns, see `gridmodl.jit.native`
    needs: tuple[str, ...]  # symbols that other libraries have


class CacheFolder(NamedTuple):
    """Folder of the kernels."""

    path: Path
    refusal: str | None  # why the folder is not used, or None


def read(name: str) -> Object | None:
    """The object of this `name` for this machine; None if there is none, and with a warning if it is damaged."""
    folder = cache_folder()
    if folder.refusal is not None:
        _warn(f"{UNCACHED}: {folder.refusal}; {OWN_FOLDER}")
        return None
    file = _file_of(folder, name)
    try:
        content = read_trusted(file)
    except ForeignFileError as error:
        _warn(f"a compiled kernel is not loaded and is compiled again: {error.strerror}")
        return None
    except OSError:
        return None
    with contextlib.suppress(OSError):
        os.utime(file)  # `purge_cache` deletes the least recently used files first
    found = parse(content)
    if found is None:
        _warn(f"compiled kernels in {folder.path} are damaged and are compiled again")
    return found


def parse(content: bytes) -> Object | None:
    """The object of a file, or None if the file is truncated, empty or changed."""
    start = len(HEADER) + hashlib.sha256().digest_size
    payload = content[start:]
    if content[:start] != HEADER + hashlib.sha256(payload).digest():
        return None
    facts, _, code = payload.partition(b"\n")
    try:
        symbols, returns, needs = json.loads(facts)
    except ValueError:
        return None
    return Object(code, symbols, returns, tuple(needs))


def holds(name: str) -> bool:
    """Whether there is a file for the object of this `name`, for this machine."""
    folder = cache_folder()
    return folder.refusal is None and os.path.exists(_file_of(folder, name))


def write(name: str, found: Object) -> None:
    """Keep an object that was just compiled."""
    folder = cache_folder()
    if folder.refusal is not None:
        return
    payload = json.dumps([found.symbols, found.returns, found.needs]).encode() + b"\n" + found.code
    try:
        _write_atomically(_file_of(folder, name), HEADER + hashlib.sha256(payload).digest() + payload)
        purge_cache()
    except OSError as error:
        _warn(f"{UNCACHED}: {folder.path} cannot be written to ({error.strerror}); {OWN_FOLDER}")


def _file_of(folder: CacheFolder, name: str) -> Path:
    return folder.path / f"{name}-{_machine_digest()}{SUFFIX}"


@functools.cache
def _machine_digest() -> str:
    """Digest of what decides a file besides its kernel and signature: versions and the processor."""
    from gridmodl.jit.engine import this_processor

    return hashlib.sha256(repr((versions(), this_processor().name)).encode()).hexdigest()[:16]


def _write_atomically(file: Path, content: bytes) -> None:
    """Write `content` to `file` atomically: no reader in any process sees a partial file."""
    handle, name = tempfile.mkstemp(prefix=file.stem, suffix=PARTIAL_SUFFIX, dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.replace(name, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


@functools.cache
def cache_folder() -> CacheFolder:
    """Folder of the kernels: in NUMBA_CACHE_DIR if that is set, else in the user's cache folder."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    path = Path(chosen, "gridmodl") if chosen else _user_cache() / "gridmodl" / "kernels"
    try:
        refusal = distrust_reason(path)  # nothing is made in a place of others
        if refusal is None:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            refusal = distrust_reason(path)
        return CacheFolder(path, refusal)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        return CacheFolder(path, f"{path} cannot be made ({getattr(error, 'strerror', None) or error})")


def _user_cache() -> Path:
    """The user's cache folder, as the system has it."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def kernel_files() -> Iterator[tuple[Path, os.stat_result]]:
    """Files of the cache folder with their stat results, partial files included."""
    folder = cache_folder()
    if folder.refusal is not None:
        return
    for file in sorted(folder.path.glob("*")):
        if file.suffix in (SUFFIX, PARTIAL_SUFFIX):
            with contextlib.suppress(OSError):  # another process may have deleted it
                yield file, file.stat()


def purge_cache() -> None:
    """Delete the least recently used kernels if all take more than MAX_BYTES, until they take three quarters of it.

    Partial files older than MAX_WRITE_SECONDS are deleted too.
    """
    files = sorted(kernel_files(), key=lambda found: found[1].st_mtime)
    n_bytes = sum(facts.st_size for _, facts in files)
    is_full = n_bytes > MAX_BYTES
    for file, facts in files:
        is_left_over = file.suffix == PARTIAL_SUFFIX and facts.st_mtime < time.time() - MAX_WRITE_SECONDS
        if is_left_over or (is_full and n_bytes > 0.75 * MAX_BYTES):
            file.unlink(missing_ok=True)
            n_bytes -= facts.st_size


def clear_cache() -> int:
    """Delete every compiled kernel that gridmodl cached on disk, and return the number of deleted files.

    Kernels compile again on next use.
    """
    n_deleted = 0
    for file, _ in kernel_files():
        file.unlink(missing_ok=True)
        n_deleted += 1
    return n_deleted


def cache_facts() -> dict[str, Any]:
    """Folder, number and size of the cached kernels, and whether the library of kernels is used."""
    from gridmodl.jit.library import library_facts

    folder = cache_folder()
    files = [(file, facts) for file, facts in kernel_files() if file.suffix == SUFFIX]
    return {
        "folder": str(folder.path),
        "refused": folder.refusal,
        "kernels": len(files),
        "bytes": sum(facts.st_size for _, facts in files),
        "limit": MAX_BYTES,
        "library": library_facts(),
    }


@functools.cache
def _warn(text: str) -> None:
    """Warn once in this process."""
    warnings.warn(text, RuntimeWarning, stacklevel=2)
