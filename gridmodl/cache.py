"""Compiled kernels on disk, found by what they are made of.

A file holds the machine code of one kernel for one signature and one kind of processor. Its name ends in digests of
everything that decides the code (see `gridmodl.digest`), so it is never stale, and neither the path nor the time stamp
nor a comment of a source file matters: another checkout of the same code compiles nothing. Loading machine code means
trusting it: a folder that other users can write to is refused, and a file that is not what was written is not loaded.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba
from numba.core import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.types import BaseNamedTuple, BaseTuple
from numba.misc.appdirs import AppDirs

HEADER = b"gridmodl kernel 1\n"
SUFFIX = ".kernel"
HALF_WRITTEN = ".part"
MAX_BYTES = 1 << 30  # every built-in criterion with every problem takes about 100 MB
OWN_FOLDER = "set NUMBA_CACHE_DIR to a folder of your own that can be written to"
LONGEST_WRITE = 3600.0  # seconds after which a file still half-written has no writer


class CacheFolder(NamedTuple):
    """Where kernels are kept, or why they are not."""

    path: Path
    refusal: str | None


class KernelCache(NullCache):
    """The disk cache of one bound kernel, whose ``__qualname__`` ends in its digest."""

    def __init__(self, kernel: Callable[..., Any]) -> None:
        self.name = f"{kernel.__module__}.{kernel.__qualname__}".replace("<", "").replace(">", "")

    @property
    def cache_path(self) -> str:
        return str(cache_folder().path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel, or None where it must be compiled."""
        target_context.refresh()
        folder = cache_folder()
        if folder.refusal is not None:
            _warn_uncached(f"{folder.refusal}; {OWN_FOLDER}")
            return None
        file = folder.path / self._file_name(sig, target_context.codegen())
        try:
            content = file.read_bytes()
        except OSError:
            return None
        with contextlib.suppress(OSError):
            os.utime(file)  # what is not used for long is deleted first
        payload = _checked_payload(content)
        if payload is None:
            _warn_damaged(file)
            return None
        try:
            data = pickle.loads(payload)  # noqa: S301  written by this user alone
            return CompileResult._rebuild(target_context, *data)  # type: ignore[no-untyped-call]
        except Exception:  # whatever it is: compiling is the answer
            _warn_damaged(file)
            return None

    def holds(self, sig: Any, target_context: Any) -> bool:
        """Whether the kernel is on disk for a signature."""
        folder = cache_folder()
        return folder.refusal is None and (folder.path / self._file_name(sig, target_context.codegen())).exists()

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel that was just compiled."""
        folder = cache_folder()
        if folder.refusal is not None:
            return
        if data.library.has_dynamic_globals:
            _warn_uncached(f"{self.name} uses a global array too large to be stored; hand it over by `constants`")
            return
        # The annotated source is for inspection only, and would hold paths.
        payload = dumps(data._replace(type_annotation="")._reduce())  # type: ignore[no-untyped-call]
        file = folder.path / self._file_name(sig, data.codegen)
        try:
            _write_whole(file, HEADER + hashlib.sha256(payload).digest() + payload)
            purge_cache()
        except OSError as error:
            _warn_uncached(f"{folder.path} cannot be written to ({error.strerror}); {OWN_FOLDER}")

    def _file_name(self, sig: Any, codegen: Any) -> str:
        versions = (sys.implementation.cache_tag, numba.__version__, llvmlite.__version__)
        key = repr((versions, codegen.magic_tuple(), [_spelled(argument) for argument in sig]))
        return f"{self.name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}{SUFFIX}"


def _spelled(argument: Any) -> str:
    """A type in full: numba's own name of a record has neither its fields nor its module."""
    if not isinstance(argument, BaseTuple):
        return str(argument)
    record: Any = argument
    inner = ", ".join(_spelled(item) for item in record)
    if not isinstance(argument, BaseNamedTuple):
        return f"({inner})"
    cls = record.instance_class
    return f"{cls.__module__}.{cls.__qualname__} {record.fields} ({inner})"


def _checked_payload(content: bytes) -> bytes | None:
    """What was written, or None if the file is cut, empty or changed."""
    start = len(HEADER) + hashlib.sha256().digest_size
    payload = content[start:]
    whole = content[:start] == HEADER + hashlib.sha256(payload).digest()
    return payload if whole else None


def _write_whole(file: Path, content: bytes) -> None:
    """Write so that no reader, in whatever process, ever sees half of it."""
    handle, name = tempfile.mkstemp(prefix=file.stem, suffix=HALF_WRITTEN, dir=file.parent)
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
    """The folder of the kernels: in NUMBA_CACHE_DIR where that is set, else in the user's cache folder."""
    chosen = getattr(config, "CACHE_DIR", "")
    dirs = AppDirs(appname="gridmodl", appauthor=False)  # type: ignore[no-untyped-call]
    path = Path(chosen, "gridmodl") if chosen else Path(dirs.user_cache_dir, "kernels")
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return CacheFolder(path, _danger(path))
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home
        return CacheFolder(path, f"{path} cannot be made ({getattr(error, 'strerror', None) or error})")


def _danger(folder: Path) -> str | None:
    """Why machine code from a folder cannot be trusted."""
    if not hasattr(os, "geteuid"):  # Windows keeps the folders of users apart by itself
        return None
    facts = folder.stat()
    if facts.st_uid not in (os.geteuid(), 0):
        return f"{folder} belongs to another user, who could put any code there"
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"other users can write to {folder} and so put any code there; chmod go-w makes it yours alone"
    return None


def _kernel_files() -> Iterator[tuple[Path, os.stat_result]]:
    """Kernels on disk, also what a process that died had half written."""
    folder = cache_folder()
    if folder.refusal is not None:
        return
    for file in sorted(folder.path.glob("*")):
        if file.suffix in (SUFFIX, HALF_WRITTEN):
            with contextlib.suppress(OSError):  # another process may have deleted it
                yield file, file.stat()


def purge_cache() -> None:
    """Delete the kernels not used for longest where all take more than MAX_BYTES, until three quarters of it are left.

    Files half written long ago are deleted too.
    """
    files = sorted(_kernel_files(), key=lambda found: found[1].st_mtime)
    n_bytes = sum(facts.st_size for _, facts in files)
    is_full = n_bytes > MAX_BYTES
    for file, facts in files:
        is_left_over = file.suffix == HALF_WRITTEN and facts.st_mtime < time.time() - LONGEST_WRITE
        if is_left_over or (is_full and n_bytes > 0.75 * MAX_BYTES):
            file.unlink(missing_ok=True)
            n_bytes -= facts.st_size


def clear_cache() -> int:
    """Delete every compiled kernel that gridmodl cached on disk, and say how many files that were.

    Kernels compile again on next use.
    """
    n_deleted = 0
    for file, _ in _kernel_files():
        file.unlink(missing_ok=True)
        n_deleted += 1
    return n_deleted


@functools.cache
def _warn_uncached(reason: str) -> None:
    warnings.warn(f"kernels are compiled anew in every process: {reason}", RuntimeWarning, stacklevel=2)


@functools.cache
def _warn_damaged(file: Path) -> None:
    warnings.warn(f"the compiled kernel {file} is damaged and is compiled again", RuntimeWarning, stacklevel=2)
