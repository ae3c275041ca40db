"""Compiled kernels on disk, found by what they are made of.

A file holds the machine code of one kernel for one signature and one kind of processor. Its name ends in digests of
everything that decides the code (see `digest`), so it is never stale, and neither the path nor the time stamp
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
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding as llvm
import numba
from numba.core import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.core.types import BaseNamedTuple, BaseTuple
from numba.misc.appdirs import AppDirs

from gridmodl.jit.shipped import SUFFIX, Processor, shipped_kernels, this_processor

HEADER = b"gridmodl kernel 2\n"
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

    def exists(self) -> bool:
        """Whether the kernel was compiled before, for this machine and whatever signature: it loads, or nearly always.

        Costs a listing of the folders once per process, and then microseconds.
        """
        package = shipped_kernels()
        if package.refusal is None and machine_digest(package.processor) in _shipped_machines().get(self.name, ()):
            return True
        machines = _saved_machines().get(self.name)
        return machines is not None and machine_digest(this_processor()) in machines

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel, shipped or saved, or None where it must be compiled."""
        package = shipped_kernels()
        if package.refusal is None and self.name in _shipped_machines():
            name = self._file_name(sig, package.processor)
            content = package.read(name)
            if content is not None:
                return _rebuilt(content, package.folder / name, target_context)
        folder = cache_folder()
        if folder.refusal is not None:
            _warn_uncached(f"{folder.refusal}; {OWN_FOLDER}")
            return _to_be_compiled(target_context)
        file = folder.path / self._file_name(sig, target_context.codegen().magic_tuple())
        try:
            content = file.read_bytes()
        except OSError:
            return _to_be_compiled(target_context)
        with contextlib.suppress(OSError):
            os.utime(file)  # what is not used for long is deleted first
        return _rebuilt(content, file, target_context)

    def holds(self, sig: Any, target_context: Any) -> bool:
        """Whether the kernel is there for a signature, shipped or saved."""
        package, folder = shipped_kernels(), cache_folder()
        if package.refusal is None and self._file_name(sig, package.processor) in package.hashes:
            return True
        file = folder.path / self._file_name(sig, target_context.codegen().magic_tuple())
        return folder.refusal is None and file.exists()

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel that was just compiled."""
        folder = cache_folder()
        if folder.refusal is not None:
            return
        if data.library.has_dynamic_globals:
            _warn_uncached(f"{self.name} uses a global array too large to be stored; hand it over by `constants`")
            return
        payload = _payload(data)
        processor = data.codegen.magic_tuple()
        try:
            _write_whole(
                folder.path / self._file_name(sig, processor), HEADER + hashlib.sha256(payload).digest() + payload
            )
            _saved_machines().setdefault(self.name, set()).add(machine_digest(processor))
            purge_cache()
        except OSError as error:
            _warn_uncached(f"{folder.path} cannot be written to ({error.strerror}); {OWN_FOLDER}")

    def _file_name(self, sig: Any, processor: Processor) -> str:
        signature = _short_digest(repr([_spelled(argument) for argument in sig]))
        return f"{self.name}-{machine_digest(processor)}-{signature}{SUFFIX}"


@functools.cache
def machine_digest(processor: Processor) -> str:
    """Digest of what decides a file beside kernel and signature: versions, processor, where the module of kernels is.

    Machine code is found again by the name of the module that its functions were made in, so a move makes new files.
    """
    return _short_digest(
        repr((__package__, sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, *processor))
    )


def _short_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# Which kernels are there: by name, which ends in the digest, the machines that they were compiled for.


@functools.cache
def _saved_machines() -> dict[str, set[str]]:
    folder = cache_folder()
    files: list[str] = []
    if folder.refusal is None:
        with contextlib.suppress(OSError):  # somebody may have deleted it
            files = os.listdir(folder.path)
    return _machines_by_name(files)


@functools.cache
def _shipped_machines() -> dict[str, set[str]]:
    return _machines_by_name(shipped_kernels().hashes)


def _machines_by_name(files: Iterable[str]) -> dict[str, set[str]]:
    machines: dict[str, set[str]] = {}
    for file in files:
        name, *rest = file.rsplit("-", 2)
        if file.endswith(SUFFIX) and len(rest) == 2:
            machines.setdefault(name, set()).add(rest[0])
    return machines


def forget_listing() -> None:
    """Look at the folder anew: other processes have written to it."""
    _saved_machines.cache_clear()


# What a file holds.


def _payload(data: Any) -> bytes:
    """A compiled kernel as bytes: the symbols that it needs from outside, and what numba rebuilds it from."""
    module = data.library._final_module
    symbols = [s.name for s in (*module.functions, *module.global_variables) if s.is_declaration]
    # The annotated source is for inspection only, and would hold paths.
    (library, kind, (machine_code, _)), *rest = data._replace(type_annotation="")._reduce()
    # Numba adds the bit code, for kernels that call this one. None does: all that numba asks of it is whether
    # it has the function that Python calls, and the rest would be half of the file.
    asked = f'define void @"{data.fndesc.llvm_cpython_wrapper_name}"() {{ unreachable }}'
    reduced = ((library, kind, (machine_code, llvm.parse_assembly(asked).as_bitcode())), *rest)
    content: bytes = dumps(([s for s in symbols if not s.startswith("llvm.")], reduced))  # type: ignore[no-untyped-call]
    return content


def _rebuilt(content: bytes, file: Path, target_context: Any) -> Any:
    """The kernel of a file that was written by this user or came with a checked package; None if it is damaged."""
    payload = _checked_payload(content)
    try:
        if payload is None:
            raise ValueError("not what was written")
        symbols, data = pickle.loads(payload)  # noqa: S301
        # Symbols of numba's memory manager. All others nearly always are there: to refresh the context, which imports
        # the rest of numba, takes a quarter of a second in each process.
        rtsys.initialize(target_context)
        if not all(llvm.address_of_symbol(name) for name in symbols):
            target_context.refresh()
        kernel = CompileResult._rebuild(target_context, *data)  # type: ignore[no-untyped-call]
        if not kernel.library.get_pointer_to_function(kernel.fndesc.llvm_cpython_wrapper_name):
            raise ValueError("without the function that Python calls")
        return kernel
    except Exception:  # whatever it is: compiling is the answer
        _warn_damaged(file)
        return _to_be_compiled(target_context)


def _to_be_compiled(target_context: Any) -> None:
    target_context.refresh()


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


def kernel_files() -> Iterator[tuple[Path, os.stat_result]]:
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
    files = sorted(kernel_files(), key=lambda found: found[1].st_mtime)
    n_bytes = sum(facts.st_size for _, facts in files)
    is_full = n_bytes > MAX_BYTES
    for file, facts in files:
        is_left_over = file.suffix == HALF_WRITTEN and facts.st_mtime < time.time() - LONGEST_WRITE
        if is_left_over or (is_full and n_bytes > 0.75 * MAX_BYTES):
            file.unlink(missing_ok=True)
            n_bytes -= facts.st_size
            forget_listing()


def clear_cache() -> int:
    """Delete every compiled kernel that gridmodl cached on disk, and say how many files that were.

    Kernels compile again on next use.
    """
    n_deleted = 0
    for file, _ in kernel_files():
        file.unlink(missing_ok=True)
        n_deleted += 1
    forget_listing()
    return n_deleted


def cache_facts() -> dict[str, Any]:
    """Where kernels are kept and how many there are, and whether those of an installed package are used."""
    folder, package = cache_folder(), shipped_kernels()
    files = [(file, facts) for file, facts in kernel_files() if file.suffix == SUFFIX]
    return {
        "folder": str(folder.path),
        "refused": folder.refusal,
        "kernels": len(files),
        "bytes": sum(facts.st_size for _, facts in files),
        "limit": MAX_BYTES,
        "shipped": {
            "folder": str(package.folder) if package.is_installed else None,
            "kernels": len(package.hashes),
            "used": package.refusal is None,
            "refused": package.refusal,
        },
    }


@functools.cache
def _warn_uncached(reason: str) -> None:
    warnings.warn(f"kernels are compiled anew in every process: {reason}", RuntimeWarning, stacklevel=2)


@functools.cache
def _warn_damaged(file: Path) -> None:
    warnings.warn(f"the compiled kernel {file} is damaged and is compiled again", RuntimeWarning, stacklevel=2)
