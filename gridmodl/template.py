"""How a criterion's terms reach a compiled kernel.

A kernel is a plain function that calls the free terms of `gridmodl.terms`. Binding makes a new function of its
code in which those names mean the criterion's terms, compiles it with numba, and keeps it on disk (`gridmodl.cache`)
under a name that ends in a digest of everything the kernel can reach. So a bound kernel runs as fast as one
with the formula written in, a second process finds it compiled, and no edit of a file can leave it stale. (Within one
process a class is bound once: whoever assigns a new helper in a notebook runs the class's cell again.)

Measured (numba 0.68, ratio to the hand-written kernel): this 1.01-1.04; dispatchers as arguments 1.07-1.14 and
never cached; function pointers 2.4-19; overloads silently stale after an edit.
"""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numba
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.core.event import Listener, register

from gridmodl.cache import KernelCache
from gridmodl.clock import begin_compiling, end_compiling
from gridmodl.digest import Reachable, TermError, digest_of
from gridmodl.progress import notice
from gridmodl.terms import FLOORS, TERMS, Criterion

# fastmath changed the result of a greedy merge: off. nogil is free. error_model="numpy" drops a branch per
# division. boundscheck costs up to 25 %, so it is off except in the checked lane (tests/test_lanes.py).
# Wrappers that nobody calls, one for C and for helpers one for Python too, are left out: a third of the compile time.
JIT_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
HELPER_OPTIONS: dict[str, Any] = {**JIT_OPTIONS, "no_cpython_wrapper": True}


class _Stopwatch(Listener):
    """Tells clocks and the user when numba compiles; compiling a kernel compiles its helpers on the way."""

    def __init__(self) -> None:
        self.depth = 0

    def on_start(self, event: Any) -> None:
        self.depth += 1  # numba calls `on_end` too where the user's progress callable raises an error below
        if self.depth == 1:
            begin_compiling()
            if (event.data["dispatcher"].py_func.__module__ or "").startswith("gridmodl."):  # and is none of the user's
                notice.expect()

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            end_compiling()
            notice.drop()


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
    function = _Binder(terms).copy(kernel)
    bound: Any = numba.njit(**JIT_OPTIONS)(function)
    if isinstance(bound, Dispatcher):  # not under NUMBA_DISABLE_JIT
        bound._cache = KernelCache(function)  # type: ignore[attr-defined]
    return bound


_helpers: dict[tuple[str, str, bool], Any] = {}  # by name, which ends in the digest: shared by kernels and criteria


class _Binder:
    """Copies functions so that the functions they call are the compiled copies of one binding.

    A helper that means the same in several kernels, of whatever criteria, compiles once. Each has a digest in its name:
    the name becomes a symbol of the machine code, and of two kernels from the disk cache that both bring a symbol, one
    would silently run the helper of the other, of another criterion.
    """

    def __init__(self, terms: Mapping[Any, Any]) -> None:
        self.terms = terms
        self.compiled: dict[tuple[Any, bool], Any] = {}

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
            copy = self.copy(value, inline)
            name = (copy.__module__, copy.__qualname__, inline)
            if name not in _helpers:
                _helpers[name] = numba.njit(inline="always" if inline else "never", **HELPER_OPTIONS)(copy)
            self.compiled[value, inline] = _helpers[name]
        return self.compiled[value, inline]
