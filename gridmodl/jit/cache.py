"""Store compiled kernels on disk, under names that contain a digest of their code.

A file holds the machine code of one kernel for one signature and one kind of processor. Its name ends in digests of
everything that decides the code (`gridmodl.jit.digest`), so it is never stale. Paths, time stamps and comments of
source files do not matter: a second checkout of the same code compiles nothing. Loading machine code means trusting
it: a folder or a file that other users could have changed (`gridmodl.jit.ownership`) is refused, and a file whose
checksum is wrong is not loaded.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
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

from gridmodl.jit.ownership import ForeignFileError, distrust_reason, read_trusted
from gridmodl.jit.shipped import SUFFIX, Processor, shipped_kernels, this_processor

HEADER = b"gridmodl kernel 2\n"
PARTIAL_SUFFIX = ".part"  # of files that are being written
MAX_BYTES = 1 << 30  # all built-in criteria for all problems take about 100 MB
OWN_FOLDER = "set NUMBA_CACHE_DIR to a folder of your own that can be written to"
MAX_WRITE_SECONDS = 3600.0  # older partial files are left over from a process that died
SAVED_NAMES: set[str] = set()  # files that this process has written


class CacheFolder(NamedTuple):
    """Folder of the kernels."""

    path: Path
    refusal: str | None  # why the folder is not used, or None


class KernelCache(NullCache):
    """Disk cache of one bound kernel, whose ``__qualname__`` ends in its digest."""

    def __init__(self, kernel: Callable[..., Any]) -> None:
        self.name = f"{kernel.__module__}.{kernel.__qualname__}".replace("<", "").replace(">", "")

    @property
    def cache_path(self) -> str:
        return str(cache_folder().path)

    def exists(self) -> bool:
        """Whether a compiled kernel exists for this machine, of any signature.

        The first call in a process lists the folders; later calls take microseconds.
        """
        package = shipped_kernels()
        if package.refusal is None and machine_digest(package.processor) in _shipped_machines().get(self.name, ()):
            return True
        machines = _saved_machines().get(self.name)
        return machines is not None and machine_digest(this_processor()) in machines

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the compiled kernel, shipped or saved; None if it must be compiled."""
        package = shipped_kernels()
        if package.refusal is None and self.name in _shipped_machines():
            name = self._file_name(sig, package.processor)
            content = package.read(name)
            if content is not None:
                return _rebuild_kernel(content, package.folder / name, target_context)
        folder = cache_folder()
        if folder.refusal is not None:
            _warn_uncached(f"{folder.refusal}; {OWN_FOLDER}")
            return _prepare_compiling(target_context)
        file = folder.path / self._file_name(sig, target_context.codegen().magic_tuple())
        try:
            content = read_trusted(file)
        except ForeignFileError as error:
            _warn_foreign(error.strerror)
            return _prepare_compiling(target_context)
        except OSError:
            return _prepare_compiling(target_context)
        with contextlib.suppress(OSError):
            os.utime(file)  # `purge_cache` deletes the least recently used files first
        return _rebuild_kernel(content, file, target_context)

    def holds(self, sig: Any, target_context: Any) -> bool:
        """Whether a compiled kernel exists for the signature `sig`, shipped or saved."""
        package, folder = shipped_kernels(), cache_folder()
        if package.refusal is None and self._file_name(sig, package.processor) in package.hashes:
            return True
        file = folder.path / self._file_name(sig, target_context.codegen().magic_tuple())
        return folder.refusal is None and file.exists()

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a kernel that was just compiled."""
        folder = cache_folder()
        if folder.refusal is not None:
            return
        if data.library.has_dynamic_globals:
            _warn_uncached(f"{self.name} uses a global array too large to be stored; pass it through `constants`")
            return
        payload = _payload(data)
        processor = data.codegen.magic_tuple()
        try:
            _write_atomically(
                folder.path / self._file_name(sig, processor), HEADER + hashlib.sha256(payload).digest() + payload
            )
            SAVED_NAMES.add(self._file_name(sig, processor))
            _saved_machines().setdefault(self.name, set()).add(machine_digest(processor))
            purge_cache()
        except OSError as error:
            _warn_uncached(f"{folder.path} cannot be written to ({error.strerror}); {OWN_FOLDER}")

    def _file_name(self, sig: Any, processor: Processor) -> str:
        signature = _short_digest(repr([_full_type_name(argument) for argument in sig]))
        return f"{self.name}-{machine_digest(processor)}-{signature}{SUFFIX}"


@functools.cache
def machine_digest(processor: Processor) -> str:
    """Digest of what decides a file besides kernel and signature: versions, processor, and the name of this package.

    Numba finds the functions of a loaded kernel by the name of their module, so moving the module needs new files.
    """
    return _short_digest(
        repr((__package__, sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, *processor))
    )


def _short_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# Which kernels exist: machine digests by kernel name.


@functools.cache
def _saved_machines() -> dict[str, set[str]]:
    """Machine digests of the kernels in the cache folder, by kernel name."""
    folder = cache_folder()
    files: list[str] = []
    if folder.refusal is None:
        with contextlib.suppress(OSError):  # another process may have deleted the folder
            files = os.listdir(folder.path)
    return _machines_by_name(files)


@functools.cache
def _shipped_machines() -> dict[str, set[str]]:
    """Machine digests of the shipped kernels, by kernel name."""
    return _machines_by_name(shipped_kernels().hashes)


def _machines_by_name(files: Iterable[str]) -> dict[str, set[str]]:
    """Machine digests in the names of `files`, by kernel name."""
    machines: dict[str, set[str]] = {}
    for file in files:
        name, *rest = file.rsplit("-", 2)
        if file.endswith(SUFFIX) and len(rest) == 2:
            machines.setdefault(name, set()).add(rest[0])
    return machines


def forget_listing() -> None:
    """List the folder again at the next use, because other processes have written to it."""
    _saved_machines.cache_clear()


# Content of a file.


def _payload(data: Any) -> bytes:
    """Serialize a compiled kernel: the external symbols that it needs, and what numba rebuilds it from."""
    module = data.library._final_module
    symbols = [s.name for s in (*module.functions, *module.global_variables) if s.is_declaration]
    # The annotated source is for inspection only, and would contain paths.
    (library, kind, (machine_code, _)), *rest = data._replace(type_annotation="")._reduce()
    # Numba adds the bit code, half of the file, for kernels that call this one. None does. Numba only checks that
    # the bit code defines the function that Python calls, so a stub is enough.
    stub = f'define void @"{data.fndesc.llvm_cpython_wrapper_name}"() {{ unreachable }}'
    reduced = ((library, kind, (machine_code, llvm.parse_assembly(stub).as_bitcode())), *rest)
    content: bytes = dumps(([s for s in symbols if not s.startswith("llvm.")], reduced))  # type: ignore[no-untyped-call]
    return content


def _rebuild_kernel(content: bytes, file: Path, target_context: Any) -> Any:
    """Rebuild the kernel from the `content` of a trusted file; warn and return None if it is damaged."""
    payload = _checked_payload(content)
    try:
        if payload is None:
            raise ValueError("not what was written")
        symbols, data = pickle.loads(payload)  # noqa: S301
        # Registers the symbols of numba's memory manager. All other symbols nearly always exist already: a refresh of
        # the context, which imports the rest of numba, takes a quarter of a second in each process.
        rtsys.initialize(target_context)
        if not all(llvm.address_of_symbol(name) for name in symbols):
            target_context.refresh()
        kernel = CompileResult._rebuild(target_context, *data)  # type: ignore[no-untyped-call]
        if not kernel.library.get_pointer_to_function(kernel.fndesc.llvm_cpython_wrapper_name):
            raise ValueError("without the function that Python calls")
        return kernel
    except Exception:  # any damage: compile the kernel again
        _warn_damaged(file)
        return _prepare_compiling(target_context)


def _prepare_compiling(target_context: Any) -> None:
    """Load what numba needs to compile; returns None, which means that no kernel was found."""
    target_context.refresh()


def _full_type_name(argument: Any) -> str:
    """Full name of a type: numba's own name of a record lacks its fields and its module."""
    if not isinstance(argument, BaseTuple):
        return str(argument)
    record: Any = argument
    inner = ", ".join(_full_type_name(item) for item in record)
    if not isinstance(argument, BaseNamedTuple):
        return f"({inner})"
    cls = record.instance_class
    return f"{cls.__module__}.{cls.__qualname__} {record.fields} ({inner})"


def _checked_payload(content: bytes) -> bytes | None:
    """Payload of a file, or None if the file is truncated, empty or changed."""
    start = len(HEADER) + hashlib.sha256().digest_size
    payload = content[start:]
    whole = content[:start] == HEADER + hashlib.sha256(payload).digest()
    return payload if whole else None


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
    chosen = getattr(config, "CACHE_DIR", "")
    dirs = AppDirs(appname="gridmodl", appauthor=False)  # type: ignore[no-untyped-call]
    path = Path(chosen, "gridmodl") if chosen else Path(dirs.user_cache_dir, "kernels")
    try:
        refusal = distrust_reason(path)  # nothing is made in a place of others
        if refusal is None:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            refusal = distrust_reason(path)
        return CacheFolder(path, refusal)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        return CacheFolder(path, f"{path} cannot be made ({getattr(error, 'strerror', None) or error})")


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
            forget_listing()


def clear_cache() -> int:
    """Delete every compiled kernel that gridmodl cached on disk, and return the number of deleted files.

    Kernels compile again on next use.
    """
    n_deleted = 0
    for file, _ in kernel_files():
        file.unlink(missing_ok=True)
        n_deleted += 1
    forget_listing()
    return n_deleted


def cache_facts() -> dict[str, Any]:
    """Folder, number and size of the cached kernels, and whether the kernels of ``gridmodl-kernels`` are used."""
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


@functools.cache
def _warn_foreign(reason: str) -> None:
    warnings.warn(f"a compiled kernel is not loaded and is compiled again: {reason}", RuntimeWarning, stacklevel=2)
