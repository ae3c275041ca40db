"""How numba compiles bound kernels and their helpers."""

from __future__ import annotations

import time
import types
from typing import Any

import numba
from numba.core.event import Listener, register

from gridmodl.cache import KernelCache
from gridmodl.clock import note_compiled

# fastmath changed the result of a greedy merge: off. nogil is free. error_model="numpy" drops a branch per
# division. boundscheck costs up to 25 %, so it is off except in the checked lane (tests/test_lanes.py).
# Wrappers that nobody calls, one for C and for helpers one for Python too, are left out: a third of the compile time.
JIT_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
HELPER_OPTIONS: dict[str, Any] = {**JIT_OPTIONS, "no_cpython_wrapper": True}


def compile_kernel(function: types.FunctionType) -> Any:
    """A kernel that numba compiles at its first call, kept on disk under its name, which ends in a digest."""
    bound: Any = numba.njit(**JIT_OPTIONS)(function)
    bound._cache = KernelCache(function)
    return bound


def compile_helper(function: types.FunctionType, inline: bool) -> Any:
    """A function that kernels call, to be copied into its callers if `inline`."""
    return numba.njit(inline="always" if inline else "never", **HELPER_OPTIONS)(function)


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
