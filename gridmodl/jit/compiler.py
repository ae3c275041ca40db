"""How bound functions are compiled: the options, and a shorter way through numba where its version is known.

A kernel is called from Python; a helper only from kernels and other helpers. Numba compiles both alike, and most of the
time of a first call went into work that nobody needs. Where the version of numba is one that the tests have seen:

    helpers are linked, not compiled    LLVM sees each within a kernel only, and makes no machine code of it alone
    no reference counts                 no kernel allocates memory, so none has to be counted; without the counts one
                                        run of LLVM is enough, where numba has a cheap one before it to prune them
    inlined by LLVM                     numba's own inlining copies the function before types are known: each copy is
                                        inferred and lowered again (40 % of a joint grid's time)
    no literal arguments                a helper called with a 0 is not compiled again for that 0

Processor seconds of a first call of `modl`, before and after, single runs on a busy machine (read the ratios): a column
of 200 values 15-19 -> 5-6, of 5,000 with proof 20-27 -> 10, a grid 97 -> 31, a joint grid 58-65 -> 14, a grouped target
122 -> 17. Of `bic`, whose terms are short and so were cheap to copy, 200 values 5.2-6.5 -> 3.9-5.4.
Of no use: to leave out LLVM's run over each function before that over the kernel, which then takes as much longer.

A term of a plugin may allocate, and then the compiler says so: its kernels are compiled with counts. Another version of
numba takes the plain way through `numba.njit`. How the shorter way is made is in `gridmodl.jit.short_pipeline`.
"""

from __future__ import annotations

import types as pytypes
from collections.abc import Callable
from typing import Any

import numba
from numba.core.event import Listener, register

from gridmodl.clock import begin_compiling, end_compiling
from gridmodl.progress import notice

KNOWN_VERSIONS = ("0.68",)

# fastmath changed the result of a greedy merge: off. nogil is free. error_model="numpy" drops a branch per
# division. boundscheck costs up to 25 %, so it is off except in the checked lane (tests/testing/test_lanes.py).
# Wrappers that nobody calls, one for C and for helpers one for Python too, are left out: a third of the compile time.
JIT_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
HELPER_OPTIONS: dict[str, Any] = {**JIT_OPTIONS, "no_cpython_wrapper": True}


def is_known_version() -> bool:
    """Whether the tests have seen numba's inside as it is here."""
    return ".".join(numba.__version__.split(".")[:2]) in KNOWN_VERSIONS


def digest_options(allocates: bool) -> dict[str, Any]:
    """All in this file that decides machine code, for the digest. A change of `short_pipeline` is a new `way`."""
    return {**JIT_OPTIONS, "way": 1 if is_known_version() else 0, "counts": allocates or not is_known_version()}


def compile_kernel(function: pytypes.FunctionType, allocating: Callable[[], Any] | None) -> Any:
    """A dispatcher that compiles `function` when called.

    `allocating` makes the dispatcher of the same kernel with reference counts, for the case that it needs them; None
    if `function` and its helpers already have them.
    """
    if not is_known_version():
        return numba.njit(**JIT_OPTIONS)(function)
    from gridmodl.jit.short_pipeline import make_kernel

    return make_kernel(function, {**JIT_OPTIONS, "_nrt": allocating is None}, allocating)


def compile_helper(function: pytypes.FunctionType, inline: bool, allocates: bool) -> Any:
    """A dispatcher that compiles `function` for the kernels that call it; `inline`: as a part of its caller."""
    if not is_known_version():
        return numba.njit(inline="always" if inline else "never", **HELPER_OPTIONS)(function)
    from gridmodl.jit.short_pipeline import make_helper

    return make_helper(function, {**HELPER_OPTIONS, "_nrt": allocates, "forceinline": inline})


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
