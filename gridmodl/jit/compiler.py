"""Compile bound functions: the options, and a shorter pipeline for known versions of numba.

A kernel is called from Python, a helper only from kernels and other helpers. Numba compiles both in the same way, and
most of the time of a first call was wasted. For the versions of numba in KNOWN_VERSIONS, which the tests have covered:

    helpers are linked, not compiled    LLVM sees a helper only inside a kernel, and generates no separate code for it
    no reference counts                 kernels do not allocate memory, so nothing is counted; one run of LLVM is then
                                        enough, where numba first needs a cheap run to prune the counts
    inlined by LLVM                     numba's own inlining copies the function before types are known: each copy is
                                        inferred and lowered again (40 % of a joint grid's time)
    no literal arguments                a helper that is called with a literal 0 is not compiled again for that 0

Processor seconds of a first call of `modl`, before and after, single runs on a busy machine (read the ratios): a column
of 200 values 15-19 -> 5-6, of 5,000 with proof 20-27 -> 10, a grid 97 -> 31, a joint grid 58-65 -> 14, a grouped target
122 -> 17. Of `bic`, whose terms are short and so were cheap to copy, 200 values 5.2-6.5 -> 3.9-5.4.
Tried without gain: leaving out LLVM's run over each function, because the run over the kernel then takes longer.

A term of a plugin may allocate; the compiler detects this and compiles its kernels with reference counts. Other
versions of numba use plain `numba.njit`. The shorter pipeline is in `gridmodl.jit.short_pipeline`.
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

# fastmath is off because it changed the result of a greedy merge. nogil is free. error_model="numpy" saves a branch per
# division. boundscheck costs up to 25 %, so it is off except in the checked lane (tests/testing/test_lanes.py).
# Unused wrappers, for C and in helpers also for Python, are left out: they took a third of the compile time.
JIT_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
HELPER_OPTIONS: dict[str, Any] = {**JIT_OPTIONS, "no_cpython_wrapper": True}


def is_known_version() -> bool:
    """Whether the installed numba is one of KNOWN_VERSIONS."""
    return ".".join(numba.__version__.split(".")[:2]) in KNOWN_VERSIONS


def digest_options(allocates: bool) -> dict[str, Any]:
    """Options that decide the machine code, for the digest; increase `way` when `short_pipeline` changes."""
    return {**JIT_OPTIONS, "way": 1 if is_known_version() else 0, "counts": allocates or not is_known_version()}


def compile_kernel(function: pytypes.FunctionType, allocating: Callable[[], Any] | None) -> Any:
    """Make a dispatcher that compiles `function` at its first call.

    `allocating` makes the dispatcher of the same kernel with reference counts, which is used if the kernel needs them;
    None if `function` and its helpers already have reference counts.
    """
    if not is_known_version():
        return numba.njit(**JIT_OPTIONS)(function)
    from gridmodl.jit.short_pipeline import make_kernel

    return make_kernel(function, {**JIT_OPTIONS, "_nrt": allocating is None}, allocating)


def compile_helper(function: pytypes.FunctionType, inline: bool, allocates: bool) -> Any:
    """Make a dispatcher that compiles `function` for the kernels that call it; `inline` copies it into its callers."""
    if not is_known_version():
        return numba.njit(inline="always" if inline else "never", **HELPER_OPTIONS)(function)
    from gridmodl.jit.short_pipeline import make_helper

    return make_helper(function, {**HELPER_OPTIONS, "_nrt": allocates, "forceinline": inline})


class _CompileListener(Listener):
    """Notify the clocks and the user when numba compiles; compiles of helpers within a compile are not counted."""

    def __init__(self) -> None:
        self.depth = 0

    def on_start(self, event: Any) -> None:
        self.depth += 1  # numba calls `on_end` even if the user's progress callable raises an error below
        if self.depth == 1:
            begin_compiling()
            if (event.data["dispatcher"].py_func.__module__ or "").startswith("gridmodl."):  # not the user's function
                notice.compile_began()

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            end_compiling()
            notice.compile_ended()


register("numba:compile", _CompileListener())  # type: ignore[no-untyped-call]
