"""The library of kernels that an installed gridmodl carries: built with it, answering without numba.

The file ``kernels.so`` has all kernels with open terms, the terms of all built-in criteria, and the kernels with the
terms of some written into them. Its functions are named by the source text of all that they reach: byte code differs
between versions of Python, and the library serves all of them. After an edit a name is not found, and the call goes on
without the library; so it does for a function that has no text in a file, or reaches what is no number, array, record
or function. Finding the name of a kernel takes 1 to 5 ms. ``kernels.json`` beside it has the digest of the file, the
processor that it needs, and what each function returns. A file that does not fit is refused with a warning.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import platform
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from gridmodl.jit.digest import constant_token, is_known, way_to_compile
from gridmodl.terms import FUNCTIONS, Criterion

UNKNOWN = "unknown"  # in place of a text or a value that the library cannot have
FOLDER = Path(__file__).parent
LIBRARY, FACTS = "kernels.so", "kernels.json"
# Facts of processors of the level x86-64-v3 (Intel since 2013, AMD since 2015), as Linux names them.
FEATURES = ("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave")


class Library:
    """The shared library in `folder`; `refusal` says why it is not used, or is None."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / LIBRARY
        self.returns: dict[str, str] = {}  # what each kernel returns
        self.terms: dict[str, list[str]] = {}  # names of the terms that each criterion writes
        self.handle: Any = None
        self.refusal = self._load(folder)

    def _load(self, folder: Path) -> str | None:
        if sys.platform != "linux":
            return "it is built for Linux only"
        if os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0"):
            return "NUMBA_BOUNDSCHECK asks for other code"
        try:
            facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
            content = self.file.read_bytes()
        except FileNotFoundError:
            return "gridmodl was installed without it"
        except (OSError, ValueError) as error:
            return self._refuse(f"it cannot be read ({error})")
        if hashlib.sha256(content).hexdigest() != facts.get("sha256"):
            return self._refuse("it is not the file that was built")
        lacking = lacking_features(facts["machine"], facts["features"])
        if lacking:
            return self._refuse(f"it was built for {facts['machine']} with {', '.join(lacking)}, and this is another")
        try:
            self.handle = ctypes.CDLL(str(self.file), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            return self._refuse(f"the system does not load it ({error})")
        self.returns, self.terms = facts["returns"], facts["terms"]
        return None

    def _refuse(self, why: str) -> str:
        """Warn that the library is not used, and return why."""
        warnings.warn(
            f"the library of kernels {self.file} is not used: {why}; numba compiles instead. Install gridmodl again",
            RuntimeWarning,
            stacklevel=2,
        )
        return why

    def address(self, symbol: str) -> int:
        """Address of a function that the facts name."""
        return ctypes.cast(getattr(self.handle, symbol), ctypes.c_void_p).value or 0


def lacking_features(machine: str, features: list[str]) -> list[str]:
    """Which of the `features` of a processor this one lacks; the machine itself if it is another."""
    if platform.machine().lower() != machine:
        return [machine]
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:  # nothing says what the processor has
        lines = []
    known = next((line for line in lines if line.startswith("flags")), "").split()
    return [feature for feature in features if feature not in known]


@functools.cache
def _installed() -> Library:
    return Library(FOLDER)


def the_library() -> Library | None:
    """The library of this installation; None where it is not used."""
    return _installed() if _installed().refusal is None else None


def library_facts() -> dict[str, Any]:
    """File of the library, number of its kernels, and why it is not used, or None."""
    library = _installed()
    return {"file": str(library.file), "kernels": len(library.returns), "refused": library.refusal}


def kernel_symbol(kernel: Callable[..., Any], text: str, terms: str = "") -> str | None:
    """Name of a kernel for arguments of the signature `text`, with the `terms` of this name written into it, if any."""
    return _symbol("k", _kernel_digest(kernel), text, terms)


def terms_symbol(criterion: type[Criterion], layout: str) -> str | None:
    """First part of the names of the terms of a criterion, for fields of the types `layout`."""
    own = {term: getattr(criterion, term.__name__) for term in FUNCTIONS}
    written = {term.__name__: found for term, found in own.items() if found is not term}
    roles = [f"{name} {found.__module__}.{found.__qualname__}" for name, found in written.items()]
    named = f"{criterion.__module__}.{criterion.__qualname__}"
    return _symbol("t", source_digest(written.values(), own), named, *roles, layout)


_kernel_digest = functools.cache(lambda kernel: source_digest([kernel]))


def _symbol(kind: str, digest: str | None, *facts: str) -> str | None:
    if digest is None:
        return None
    return f"{kind}_{hashlib.sha256(' '.join((digest, *facts)).encode()).hexdigest()[:20]}"


def find_kernel(kernel: Callable[..., Any], text: str, terms: str = "") -> tuple[dict[str, int], str] | None:
    """Address and result of a kernel, or None if the library does not have it."""
    library = the_library()
    symbol = None if library is None else kernel_symbol(kernel, text, terms)
    if library is None or symbol not in library.returns:
        return None
    return {"kernel": library.address(symbol)}, library.returns[symbol]


def find_terms(criterion: type[Criterion], layout: str) -> tuple[str, dict[str, int]] | None:
    """Name and addresses of the terms of a criterion, or None if the library does not have them."""
    library = the_library()
    symbol = None if library is None else terms_symbol(criterion, layout)
    if library is None or symbol is None or symbol not in library.terms:
        return None
    return symbol, {name: library.address(f"{symbol}_{name}") for name in library.terms[symbol]}


# Names.


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
        parts = [*_names(function), *(function.__kwdefaults__ or {}).items()]
        parts += [(f"default {i}", value) for i, value in enumerate(function.__defaults__ or ())]
        parts += [(f"closure {i}", cell.cell_contents) for i, cell in enumerate(function.__closure__ or ())]
        for name, value in parts:
            value = (replaced or {}).get(value, value) if isinstance(value, types.FunctionType) else value
            if isinstance(value, types.FunctionType) and not is_known(value):
                waiting.append(value)
            tokens += [name, _token(value)]
        if UNKNOWN in tokens:
            return None
        found[function] = "\n".join(tokens)
    return hashlib.sha256("\n\n".join([way_to_compile(), *sorted(found.values())]).encode()).hexdigest()[:16]


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
    taken: list[str] = []
    depth, in_body = 0, False
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
    if type(value) is tuple:
        inner = [_token(item) for item in value]
        return UNKNOWN if UNKNOWN in inner else f"({', '.join(inner)})"
    if isinstance(value, type):
        return f"class {value.__module__}.{value.__qualname__} {getattr(value, '_fields', ())}"
    return constant_token(value) or UNKNOWN
