"""Decide when to compile a kernel: it runs as plain Python until its work would pay for the compiler.

Compiling takes seconds per kernel, and small work needs less without it: plain Python finds the best intervals of a
column of 150 rows in milliseconds. So a kernel that is not on disk stays plain while its plain run time, past and
expected, is below its compile time. The expected run time comes from the size of the arguments and from the pace of
the current step of the search; the compile time comes from the number of byte code instructions.

Both tiers give the same result. A kernel keeps its state in its arguments, so a search may start plain and continue
compiled. ``GRIDMODL_COMPILE`` selects the mode: ``auto`` decides as above, ``always`` compiles every kernel at its
first call, ``never`` compiles nothing (``NUMBA_DISABLE_JIT=1`` does the same). `python -m benchmarks.startup` in
asv_benchmarks measures first calls.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
from collections.abc import Iterator
from typing import Any

from gridmodl.spelling import check_choice

MODES = ("auto", "always", "never")
VARIABLE = "GRIDMODL_COMPILE"

# Plain numpy multiplies 32-bit integers in 32 bits, compiled code in 64 bits: in plain runs the product of two row
# counts must fit into 32 bits.
MAX_PLAIN_ROWS = 46_340
SECONDS_PER_INSTRUCTION = 0.001  # to compile one instruction of byte code
SECONDS_PER_ELEMENT = 2e-6  # to read one array element in plain Python
TERM_SECONDS = 0.8  # to load numba and compile the terms of a criterion
MAX_COMPILE_SECONDS = 2.5  # large kernels share helpers with others, which are often compiled already
MIN_PATIENCE = 0.05  # lowest value of `Patience.share`


def compile_seconds(n_instructions: int) -> float:
    """Estimated seconds to compile a kernel of `n_instructions` of byte code."""
    return min(MAX_COMPILE_SECONDS, SECONDS_PER_INSTRUCTION * n_instructions)


class Patience:
    """Plain run time that a kernel may use, as a share of its compile time; one instance per process.

    The share halves whenever a kernel exceeds it. It begins low: a kernel compiles once for all criteria, and with a
    share of 1 half of a first joint search was plain Python. A grid search calls a dozen kernels in turn, and with a
    share of its own each of them would waste its full plain time before it is compiled.
    """

    def __init__(self) -> None:
        self.share = 0.4

    def halve(self) -> None:
        """Halve the share, because a kernel has exceeded it."""
        self.share = max(MIN_PATIENCE, self.share / 2)


patience = Patience()


_overrides: list[str] = []  # modes set by `compile_as`, the innermost last


@contextlib.contextmanager
def compile_as(mode: str) -> Iterator[None]:
    """Use `mode` instead of the environment variable while the block runs, in all threads of the process.

    ``"native"``, which no variable selects, is ``"auto"`` without plain Python.
    """
    _overrides.append(mode)
    try:
        yield
    finally:
        _overrides.pop()


def compile_mode() -> str:
    """Mode set by `compile_as` or else by the environment."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return "never"
    if _overrides:
        return _overrides[-1]
    mode = os.environ.get(VARIABLE, "auto")
    check_choice(VARIABLE, mode, MODES)
    return mode


def expected_seconds(arguments: tuple[Any, ...]) -> float:
    """Estimated seconds of a plain run, from the array sizes in `arguments`; infinite if the run might overflow."""
    import numpy as np  # imported here, so that the help of the command line needs no numpy

    n_elements, waiting = 0, [*arguments]
    while waiting:
        value = waiting.pop()
        if isinstance(value, np.ndarray):
            n_elements += value.size
        elif isinstance(value, tuple):
            record: Any = value
            if hasattr(record, "log_rows") and record.n_rows > MAX_PLAIN_ROWS:
                return math.inf
            waiting.extend(value)
    return n_elements * SECONDS_PER_ELEMENT


class Pace(threading.local):
    """Run times of plain kernels in one thread, in seconds."""

    plain = 0.0  # all plain runs so far
    expected = 0.0  # estimate for the rest of the current step, from its turns so far


pace = Pace()
