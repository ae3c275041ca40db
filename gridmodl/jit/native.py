"""Kernels in machine code: find their code in the library, on disk, or by the compiler, and call it.

The terms of a criterion are found in the same places, once for each `p`; kernels call them through addresses.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import operator
import pickle
import struct
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from gridmodl.jit import cache, library
from gridmodl.jit.arguments import describe, paths_to, read_arguments, slots_of, steps_of
from gridmodl.jit.digest import Reachable, TermError, digest_of
from gridmodl.jit.term_errors import compile_failure, failure
from gridmodl.jit.watch import Watch
from gridmodl.terms import FAILED, FAILED_TERM, FUNCTIONS, Criterion, Params

MISMATCH = object()  # what a call returns whose arguments are of other types
N_SLOTS = 1024  # of most kernels; more are filled in Python
ENTRY = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_entry = ctypes.CFUNCTYPE(ctypes.c_int32, *ENTRY)  # other threads of Python run meanwhile
_holding_entry = ctypes.PYFUNCTYPE(ctypes.c_int32, *ENTRY)  # they do not, as Python's objects are read
_reading = struct.Struct("10q")  # the slots of `read_arguments`
_compiler_lock = threading.RLock()  # two threads that need one kernel compile it once
_known_lock = threading.RLock()  # another one: who compiles nothing does not wait for who does
symbols: Any = None  # while the library is built: what names its functions, and hears of kernels that are asked for


class Code(NamedTuple):
    """Machine code in this process."""

    addresses: dict[str, int]  # of a kernel, or of the terms that a criterion writes, by name
    returns: str = ""  # what a kernel returns


class Terms(NamedTuple):
    """Terms of one criterion for fields of certain types, in this process."""

    name: str  # digest of everything that decides them
    code: Code


class _Buffers(threading.local):
    """Memory of one thread for arguments and results."""

    def __init__(self) -> None:
        self.slots, self.objects = np.empty(N_SLOTS, dtype=np.int64), np.empty(N_SLOTS, dtype=np.int64)
        self.at_slots, self.at_objects = self.slots.ctypes.data, self.objects.ctypes.data
        self.given = ctypes.cast(self.at_slots, ctypes.c_char_p)
        self.integers = (ctypes.c_int64 * 64)()
        self.out = ctypes.addressof(self.integers)
        self.floats = (ctypes.c_double * 64).from_address(self.out)
        self.status = (ctypes.c_int64 * 2)()  # what numba's functions return beside it, and where an error is
        self.result, self.error = ctypes.addressof(self.status), ctypes.addressof(self.status) + 8


_buffers = _Buffers()


class Native:
    """A kernel in machine code, for arguments of the same types as `arguments`.

    Parameters
    ----------
    code : Code
        Its machine code.
    criterion : subclass of Criterion, optional
        Whose terms it calls; None for a kernel that calls none.
    arguments : tuple
        Canonical arguments.
    text : str
        What `describe` says of them.
    terms : Terms, optional
        Those that are written into it; None for a kernel that calls terms by their addresses, or none at all.
    """

    def __init__(
        self, code: Code, criterion: type[Criterion] | None, arguments: tuple[Any, ...], text: str, terms: Terms | None
    ) -> None:
        self.code, self.criterion, self.text, self.terms = code, criterion, text, terms
        self.function = _entry(code.addresses["kernel"])
        self.paths = paths_to(arguments, Params)
        self.steps, self.types = steps_of(arguments)
        self.at_steps = self.steps.ctypes.data
        self.reads_memory = len(self.steps) < N_SLOTS and len(slots_of(arguments)) < N_SLOTS

    def __call__(self, arguments: tuple[Any, ...]) -> Any:
        """Run the kernel, or return MISMATCH if the `arguments` are of other types or have no terms yet."""
        reader = _reader() if self.reads_memory else None
        if reader is None:
            return MISMATCH
        buffers = _buffers
        given = _reading.pack(
            self.at_steps, len(self.steps), 5, id(arguments), _ARRAY, _TRUE,
            buffers.at_objects, N_SLOTS, buffers.at_slots, N_SLOTS,
        )  # fmt: skip
        reader(buffers.result, buffers.error, given, buffers.out)
        if not buffers.integers[0]:
            return MISMATCH
        params = [_at(arguments, path) for path in self.paths]
        for p in params:
            if p.addresses is None or (self.terms is not None and p.addresses is not self.terms):
                return MISMATCH
            if p.criterion is not self.criterion and self.criterion is not None:
                return MISMATCH
        return self._run(buffers.given, params)

    def run(self, arguments: tuple[Any, ...]) -> Any:
        """Run the kernel for canonical `arguments` of the right types and with terms, told by Python."""
        flat = np.array(slots_of(arguments), dtype=np.int64)
        params = [_at(arguments, path) for path in self.paths]
        return self._run(ctypes.cast(flat.ctypes.data, ctypes.c_char_p), params)

    def _run(self, slots: Any, params: list[Params]) -> Any:
        buffers = _buffers
        if self.function(buffers.result, buffers.error, slots, buffers.out):
            raise _raised(buffers.status[1])
        for p in params:
            if p.slots[FAILED]:
                description, p.slots[FAILED] = int(p.slots[FAILED]), 0
                term, error = FUNCTIONS[p.slots[FAILED_TERM]].__name__, _raised(description)
                raise failure(f"term {term!r} of criterion {p.criterion.name!r}", error) from error
        return _result(self.code.returns, buffers)


_ARRAY, _TRUE = id(np.ndarray), id(True)


def _result(returns: str, buffers: Any) -> Any:
    """What a kernel has written to the buffers."""
    if returns == "n":
        return None
    if len(returns) == 1:
        return _word(returns, 0, buffers)
    return _nested(iter(returns[1:]), iter(range(64)), buffers)


def _word(kind: str, place: int, buffers: Any) -> Any:
    if kind == "f":
        return buffers.floats[place]
    return bool(buffers.integers[place]) if kind == "b" else buffers.integers[place]


def _nested(kinds: Any, places: Any, buffers: Any) -> Any:
    found: list[Any] = []
    for kind in kinds:
        if kind == ")":
            break
        if kind == "(":
            found.append(_nested(kinds, places, buffers))
        else:
            found.append(None if kind == "n" else _word(kind, next(places), buffers))
    return tuple(found)


def _raised(description: int) -> BaseException:
    """The exception that numba describes at an address: the size and the bytes of its class and arguments."""
    if not description:
        return RuntimeError("a kernel has failed")
    data = ctypes.c_void_p.from_address(description).value
    size = ctypes.c_int32.from_address(description + 8).value
    kind, arguments, *_ = pickle.loads(ctypes.string_at(data or 0, size))  # noqa: S301  from machine code that runs
    error: BaseException = kind(*(arguments or ()))
    return error


@functools.cache
def _reader() -> Any:
    """`read_arguments` in machine code; None where this Python has its objects in another way, or nothing compiles."""
    probe = (np.arange(6, dtype=np.int64).reshape(2, 3), (1, 2.5), np.zeros(4)[::2], -1, True, None)
    steps, types = steps_of(probe)
    slots, objects = np.zeros(N_SLOTS, dtype=np.int64), np.zeros(N_SLOTS, dtype=np.int64)
    arguments = (steps, id(probe), _ARRAY, _TRUE, objects, slots)
    # The process that builds a library compiles it too, whatever an older library has.
    code = kernel_code(read_arguments, arguments, describe(arguments), uses_library=symbols is None)
    if code is None:
        return None
    reader, out = _holding_entry(code.addresses["kernel"]), np.zeros(3, dtype=np.int64)
    at, wanted = out.ctypes.data, slots_of(probe)
    reader(at, at + 8, np.array(slots_of(arguments), dtype=np.int64).tobytes(), at + 16)
    return reader if out[2] and slots[: len(wanted)].tolist() == wanted and types else None


# Where code is found.


def with_terms_of(criterion: type[Criterion], value: Any) -> Any:
    """`value`, in which each `Params` of another criterion has the terms of this one, and the same fields."""
    if isinstance(value, Params):
        return value if value.criterion is criterion else Params.of(criterion, value.own)
    if not isinstance(value, tuple):
        return value
    new = [with_terms_of(criterion, item) for item in value]
    if all(map(operator.is_, new, value)):
        return value
    record: Any = value
    return record._replace(**dict(zip(record._fields, new, strict=True))) if hasattr(record, "_fields") else tuple(new)


def find_native(
    kernel: Callable[..., Any], criterion: type[Criterion] | None, arguments: tuple[Any, ...], text: str,
    terms: Terms | None, uses_library: bool,
) -> Native | None:  # fmt: skip
    """The kernel for arguments of this signature, compiled if it must be; None where numba is not installed."""
    if symbols is not None:
        symbols.hear(kernel, text, arguments)
    if terms is not None and uses_library:
        inlined = library.find_kernel(kernel, text, terms.name)
        if inlined is not None:
            return Native(Code(*inlined), criterion, arguments, text, terms)
    code = kernel_code(kernel, arguments, text, uses_library)
    return None if code is None else Native(code, criterion, arguments, text, None)


def kernel_code(kernel: Callable[..., Any], arguments: tuple[Any, ...], text: str, uses_library: bool) -> Code | None:
    """Machine code of a kernel with open terms, compiled if it must be; None where numba is not installed."""
    shipped = library.find_kernel(kernel, text) if uses_library else None
    if shipped is not None:
        return Code(*shipped)
    name = f"{kernel_name(kernel)}-{_short(text)}"
    symbol = symbols.of_kernel(kernel, text) if symbols else f"k_{_short(name)}"
    with _compiler_lock:
        return _saved_or_compiled(
            name, lambda compiler, target: compiler.compile_kernel(kernel, arguments, symbol, target)
        )


def kernel_exists(kernel: Callable[..., Any], text: str, uses_library: bool) -> bool:
    """Whether the kernel is in the library or on disk."""
    if uses_library and library.find_kernel(kernel, text) is not None:
        return True
    name = f"{kernel_name(kernel)}-{_short(text)}"
    return name in _loaded_code or (loads_objects() and cache.holds(name))


@functools.cache
def kernel_name(kernel: Callable[..., Any]) -> str:
    """Name of a kernel on disk, with a digest of everything that decides its machine code."""
    return f"{_readable(kernel)}-{digest_of(Reachable(kernel, {}))}"


def _readable(named: Any) -> str:
    return f"{named.__module__}.{named.__qualname__}".replace("<", "").replace(">", "")


@functools.cache
def loads_objects() -> bool:
    """Whether LLVM is installed, which comes with numba."""
    try:
        import gridmodl.jit.engine  # noqa: F401
    except ImportError:
        _warn_of_plain_python()
        return False
    return True


@functools.cache
def _warn_of_plain_python() -> None:
    warnings.warn(
        "numba is not installed: what the library of kernels lacks, such as a criterion of your own, runs as plain "
        "Python, which is slow",
        RuntimeWarning,
        stacklevel=2,
    )


_loaded_code: dict[str, Code] = {}


def _saved_or_compiled(name: str, compiled: Callable[[Any, Any], Any]) -> Code | None:
    """Code on disk, or else compiled now and kept; None where numba is not installed."""
    if name in _loaded_code or not loads_objects():
        return _loaded_code.get(name)
    from gridmodl.jit.engine import load_object, this_processor

    found = cache.read(name)
    addresses = None if found is None else load_object(found.code, found.symbols, found.needs)
    if addresses is None:
        try:
            from gridmodl.jit import compiler
        except ImportError:
            _warn_of_plain_python()
            return None
        if found is not None:  # it needs more than other libraries have
            compiler.register_symbols()
            addresses = load_object(found.code, found.symbols, found.needs)
        if addresses is None:
            found = compiled(compiler, this_processor())
            addresses = load_object(found.code, found.symbols, found.needs)
            if addresses is None:
                raise RuntimeError(f"{name} needs functions that this process does not have: {', '.join(found.needs)}")
            cache.write(name, found)
    _loaded_code[name] = Code(addresses, "" if found is None else found.returns)
    return _loaded_code[name]


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def params_in(arguments: tuple[Any, ...]) -> list[Params]:
    """All `Params` among nested arguments."""
    return [_at(arguments, path) for path in paths_to(arguments, Params)]


def _at(arguments: tuple[Any, ...], path: tuple[int, ...]) -> Params:
    found: Any = arguments
    for place in path:
        found = found[place]
    return found


# Terms.


@contextlib.contextmanager
def naming(criterion: type[Criterion] | None) -> Iterator[None]:
    """Add the name of the criterion to a TermError."""
    try:
        yield
    except TermError as error:
        if criterion is None or f"criterion {criterion.name!r}" in str(error):
            raise
        raise TermError(f"criterion {criterion.name!r}: {error}") from error


class Known:
    """Terms of one criterion by the types of its fields, as long as its functions stay what they are."""

    def __init__(self, criterion: type[Criterion]) -> None:
        self.own = {term: getattr(criterion, term.__name__) for term in FUNCTIONS}
        written = {term.__name__: found for term, found in self.own.items() if found is not term}
        with naming(criterion):
            self.reachable = {name: Reachable(found, self.own, inline=True) for name, found in written.items()}
        self.watch = Watch(criterion)
        for reachable in self.reachable.values():
            self.watch.add(reachable)
        self.by_layout: dict[tuple[bool, str], Terms | None] = {}

    @functools.cached_property
    def digest(self) -> str:
        """Digest of which terms are written, and of everything that they can reach."""
        with naming(self.watch.criterion):
            return _short(" ".join(f"{name} {digest_of(reachable)}" for name, reachable in self.reachable.items()))

    def name_for(self, criterion: type[Criterion], layout: str) -> str:
        """Name on disk of these terms for fields of certain types."""
        return f"{_readable(criterion)}-{self.digest}-{_short(layout)}"


_known: dict[type[Criterion], Known] = {}


def known_terms(criterion: type[Criterion]) -> Known:
    """What is known of the terms of a criterion; anew after one was changed."""
    with _known_lock:
        known = _known.get(criterion)
        if known is None or known.watch.has_changed():
            known = _known[criterion] = Known(criterion)
        return known


def terms_of(p: Params, uses_library: bool) -> Terms | None:
    """The terms of `p` in machine code, compiled if they must be; None where numba is not installed."""
    known, layout = known_terms(p.criterion), describe(p.own)
    if _existing_terms(known, p, layout, uses_library) is None:
        name = known.name_for(p.criterion, layout)
        with _compiler_lock, naming(p.criterion):
            symbol = symbols.of_terms(p.criterion, layout) if symbols else f"t_{_short(name)}"
            code = _saved_or_compiled(name, lambda compiler, target: _compile_terms(compiler, target, p, symbol))
            if code is not None and known.by_layout[uses_library, layout] is None:
                known.by_layout[uses_library, layout] = Terms(name, code)
    return known.by_layout[uses_library, layout]


def _compile_terms(compiler: Any, target: Any, p: Params, symbol: str) -> Any:
    from numba.core.errors import NumbaError

    try:
        return compiler.compile_terms(p, symbol, target)
    except NumbaError as error:
        raise compile_failure(p.criterion, error) from None


def _existing_terms(known: Known, p: Params, layout: str, uses_library: bool) -> Terms | None:
    """The terms of `p` if this process has them, or the library, which is asked once."""
    key = uses_library, layout
    if key not in known.by_layout:
        found = library.find_terms(p.criterion, layout) if uses_library else None
        known.by_layout.setdefault(key, None if found is None else Terms(found[0], Code(found[1])))
    return known.by_layout[key]


def terms_exist(p: Params, uses_library: bool) -> bool:
    """Whether the terms of `p` need not be compiled."""
    if p.addresses is not None:
        return True
    known, layout = known_terms(p.criterion), describe(p.own)
    if _existing_terms(known, p, layout, uses_library) is not None:
        return True
    return loads_objects() and cache.holds(known.name_for(p.criterion, layout))


def give_addresses(p: Params, uses_library: bool) -> bool:
    """Write the addresses of its terms to the slots of `p`; False where they cannot be compiled."""
    if p.addresses is None:
        found = terms_of(p, uses_library)
        if found is None:
            return False
        for place, term in enumerate(FUNCTIONS):
            p.slots[place] = found.code.addresses.get(term.__name__, 0)
        p.addresses = found
    return True
