"""How a criterion's terms reach a compiled kernel.

A kernel is a plain function that calls the free terms of `gridmodl.terms`. Binding makes a new function of its
code in which those names mean the criterion's terms, compiles it with numba, and lets numba cache it on disk
under a name that ends in a digest of everything the kernel can reach. So a bound kernel runs as fast as one
with the formula written in, a second process finds it compiled, and no edit of a file can leave it stale. (Within one
process a class is bound once: whoever assigns a new helper in a notebook runs the class's cell again.)

Measured (numba 0.68, ratio to the hand-written kernel): this 1.01-1.04; dispatchers as arguments 1.07-1.14 and
never cached; function pointers 2.4-19; overloads silently stale after an edit.
"""

from __future__ import annotations

import functools
import threading
import time
import types
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import FunctionCache
from numba.core.errors import NumbaError
from numba.core.event import Listener, register

from gridmodl.clock import note_compiled
from gridmodl.digest import Reachable, TermError, digest_of
from gridmodl.terms import FLOORS, TERMS, Criterion

# fastmath changed the result of a greedy merge: off. nogil is free. error_model="numpy" drops a branch per
# division. boundscheck costs up to 25 %, so it stays a flag of the tests (NUMBA_BOUNDSCHECK).
# Wrappers that nobody calls, one for C and for helpers one for Python too, are left out: a third of the compile time.
JIT_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
HELPER_OPTIONS: dict[str, Any] = {**JIT_OPTIONS, "no_cpython_wrapper": True}


class _Stopwatch(Listener):
    """Tells clocks how long numba compiles; compiling a kernel compiles its helpers on the way."""

    def __init__(self) -> None:
        self.depth, self.begun = 0, 0.0

    def on_start(self, event: Any) -> None:
        self.begun = time.perf_counter() if self.depth == 0 else self.begun
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            note_compiled(time.perf_counter() - self.begun)


register("numba:compile", _Stopwatch())  # type: ignore[no-untyped-call]

_binding = threading.RLock()  # two threads that bind one kernel would compile it twice

Function = TypeVar("Function", bound=Callable[..., Any])


def inlined(function: Function) -> Function:
    """Mark a helper of a kernel to be copied into its caller.

    For small functions that take a large record: handing one over in a loop cost 15 times the work itself.
    """
    function.inlined = True  # type: ignore[attr-defined]
    return function


def bind(kernel: Callable[..., Any], criterion: type[Criterion] | None = None) -> Callable[..., Any]:
    """`kernel`, compiled on its first call with the terms of `criterion` in place of the free ones."""
    try:
        with _binding:
            bound = _bind(kernel, criterion)  # type: ignore[arg-type]  # mypy thinks a class cannot be hashed
    except TermError as error:
        raise TermError(f"criterion {criterion.name!r}: {error}" if criterion is not None else str(error)) from error

    def call(*arguments: Any) -> Any:
        try:
            return bound(*arguments)
        except NumbaError as error:
            if criterion is None:
                raise
            raise TermError(
                f"criterion {criterion.name!r} does not compile; its terms may use numbers, tuples, arrays, "
                f"`math`, and functions made of these. The compiler says: {str(error).strip()}"
            ) from error

    return call


@functools.cache
def _bind(kernel: Callable[..., Any], criterion: Any) -> Any:
    terms = {free: getattr(criterion, free.__name__) for free in (*TERMS, *FLOORS)} if criterion is not None else {}
    function = _Binder(terms, _helpers(criterion)).copy(kernel)
    try:
        return numba.njit(cache=True, **JIT_OPTIONS)(function)
    except RuntimeError as error:
        if "no locator" not in str(error):
            raise
        _warn_uncached()
        return numba.njit(**JIT_OPTIONS)(function)


@functools.cache
def _helpers(criterion: Any) -> dict[Any, Any]:
    return {}


@functools.cache
def _warn_uncached() -> None:
    warnings.warn(
        "gridmodl compiles its kernels anew in every process: neither its own folder nor a user cache folder can "
        "be written to; set NUMBA_CACHE_DIR to a folder that can",
        RuntimeWarning,
        stacklevel=2,
    )


class _Binder:
    """Copies functions so that the functions they call are the compiled copies of one binding.

    Those copies are shared by all kernels of a criterion: a helper compiles once. Each has a digest in its name: the
    name becomes a symbol of the machine code, and of two kernels from the disk cache that both bring a symbol, one
    would silently run the helper of the other, of another criterion.
    """

    def __init__(self, terms: Mapping[Any, Any], compiled: dict[Any, Any]) -> None:
        self.terms = terms
        self.compiled = compiled

    def copy(self, function: Any, inline: bool = False) -> types.FunctionType:
        reachable = Reachable(function, self.terms, inline)
        uses = reachable.uses[function]
        scope = {
            key: value for key, value in function.__globals__.items() if key in ("__name__", "__file__", "__builtins__")
        }
        scope.update({name: self.value(value, reachable) for name, value in uses.names.items()})
        cells = tuple(types.CellType(self.value(value, reachable)) for value in uses.closure)
        copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells or None)
        copy.__kwdefaults__, copy.__module__ = function.__kwdefaults__, function.__module__
        copy.__qualname__ = f"{function.__qualname__}-{digest_of(reachable, JIT_OPTIONS)}"
        return copy

    def value(self, value: Any, reachable: Reachable) -> Any:
        value = reachable.meaning(value)
        if not isinstance(value, types.FunctionType) or value not in reachable.uses:
            return value
        inline = value in reachable.inlined
        if (value, inline) not in self.compiled:
            jit: Any = numba.njit(inline="always" if inline else "never", **HELPER_OPTIONS)
            self.compiled[value, inline] = jit(self.copy(value, inline))
        return self.compiled[value, inline]


def clear_cache() -> int:
    """Delete every compiled kernel that gridmodl cached on disk, and say how many files that were.

    Numba never deletes entries of earlier versions or criteria by itself. Kernels compile again on next use.
    """
    n_deleted = 0
    # Numba has a folder for each folder of source files.
    for file in sorted(Path(__file__).parent.rglob("__init__.py")):
        stand_in = types.FunctionType(clear_cache.__code__.replace(co_filename=str(file)), {})
        try:
            folder = Path(FunctionCache(stand_in).cache_path)  # type: ignore[no-untyped-call]
        except RuntimeError:  # no place for a cache
            continue
        for cached in folder.glob("*.nb[ic]"):
            cached.unlink()
            n_deleted += 1
    return n_deleted
