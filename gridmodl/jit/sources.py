"""Names of kernels and terms in the library: digests of the source text of all that they reach.

Byte code differs between versions of Python, and the library serves all of them; so what stands in a file decides. A
function that has no text in a file, or reaches something that is no number, array, record or function, has no name here.
Finding the name of a kernel takes 1 to 5 ms.
"""

from __future__ import annotations

import functools
import hashlib
import os
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gridmodl.jit.digest import COMPILERS, is_known

UNKNOWN = "unknown"  # in place of a text or a value that the library cannot have


def source_digest(roots: Iterable[Any], replaced: Mapping[Any, Any] | None = None) -> str | None:
    """Digest of the source of the functions `roots` and of all that they reach, or None if there is none.

    `replaced` maps functions to those that stand for them.
    """
    found: dict[Any, str] = {}
    waiting = list(roots)
    while waiting:
        function = waiting.pop()
        if function in found:
            continue
        text = _text_of(function.__code__)
        tokens = [f"{function.__module__}.{function.__qualname__}", UNKNOWN if text is None else text]
        parts = [*_names(function), *((f"default {i}", value) for i, value in enumerate(function.__defaults__ or ()))]
        parts += [(f"closure {i}", cell.cell_contents) for i, cell in enumerate(function.__closure__ or ())]
        for name, value in parts:
            value = (replaced or {}).get(value, value) if isinstance(value, types.FunctionType) else value
            if isinstance(value, types.FunctionType) and not is_known(value):
                waiting.append(value)
            tokens += [name, _token(value)]
        if UNKNOWN in tokens:
            return None
        found[function] = "\n".join(tokens)
    return hashlib.sha256("\n\n".join([_compilers(), *sorted(found.values())]).encode()).hexdigest()[:16]


@functools.cache
def _compilers() -> str:
    """Digest of the files that decide how kernels are compiled and called."""
    return hashlib.sha256(b"".join((Path(__file__).parent / name).read_bytes() for name in COMPILERS)).hexdigest()


def _names(function: Any) -> list[tuple[str, Any]]:
    """Global names that a function, or one inside it, may use, with their values."""
    return [(name, function.__globals__[name]) for name in _names_of(function.__code__) if name in function.__globals__]


@functools.cache
def _names_of(code: types.CodeType) -> tuple[str, ...]:
    inner = [name for value in code.co_consts if isinstance(value, types.CodeType) for name in _names_of(value)]
    return tuple(sorted({*code.co_names, *inner}))


@functools.lru_cache(256)
def _lines_of(path: str, changed: int, size: int) -> list[str] | None:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None


def _text_of(code: types.CodeType) -> str | None:
    """Source of a function, with its head."""
    try:
        facts = os.stat(code.co_filename)
    except OSError:
        return None
    lines = _lines_of(code.co_filename, facts.st_mtime_ns, facts.st_size)
    if lines is None or code.co_firstlineno > len(lines):
        return None
    taken, depth, in_body = [], 0, False
    for line in lines[code.co_firstlineno - 1 :]:
        indent = len(line) - len(line.lstrip())
        if not taken:
            depth = indent
        if in_body and line.strip() and indent <= depth:
            break
        in_body = in_body or line.partition("#")[0].rstrip().endswith(":")
        taken.append(line)
    return "\n".join(taken).rstrip()


def _token(value: Any) -> str:
    """Text that stands for `value`; UNKNOWN for what the library cannot hold."""
    if isinstance(value, types.FunctionType):
        return f"{value.__module__}.{value.__qualname__}"
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return f"array {value.dtype.str} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, (np.generic, np.dtype)):
        return f"{type(value).__name__} {value.item() if isinstance(value, np.generic) else value.descr!r}"
    if isinstance(value, tuple) and type(value) is tuple:
        inner = [_token(item) for item in value]
        return UNKNOWN if UNKNOWN in inner else f"({', '.join(inner)})"
    if isinstance(value, type):
        return f"record {value.__module__}.{value.__qualname__} {getattr(value, '_fields', ())}"
    if is_known(value):
        return f"known {getattr(value, '__module__', '')} {getattr(value, '__qualname__', repr(value))}"
    return UNKNOWN
