"""When a kernel is worth compiling: it runs as plain Python until its work would pay for the compiler.

A compiler takes seconds for each kernel, and small work takes less without it: the best intervals of a column of 150
rows are found in milliseconds by the same functions, uncompiled. So a kernel that nobody has compiled before stays
plain while its seconds so far, and those that are to come, are below what compiling would take. Those to
come are estimated: by the size of the arrays that it is handed, and by the pace of the step that it is a turn of.
What compiling would take is estimated by the number of its instructions.

The result is the same: kernels keep their state in the arrays that they are handed, so that one may begin plain and go
on compiled. ``GRIDMODL_COMPILE`` chooses: ``auto`` is this, ``always`` compiles everything at its first call,
``never`` compiles nothing (and so does ``NUMBA_DISABLE_JIT=1``).

Measured (numba 0.68, processor seconds from the start of Python, empty cache; `python -m benchmarks.startup` in
asv_benchmarks): iris column 0.6, compiled 3.3; 5,000 rows with proof 1.9, compiled 10; grid of two columns like those
of iris 2.0, compiled 23; grid of 2,000 rows 24, compiled at once 27 (39 where each kernel had patience of its own).
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

# Where numbers of 32 bits are multiplied, plain numpy stays with 32 bits, and compiled code does not: products of two
# counts of rows must fit.
MOST_ROWS = 46_340
SECONDS_PER_INSTRUCTION = 0.001  # of byte code, to compile it
SECONDS_PER_ELEMENT = 2e-6  # of an array, to look at it once in plain Python
LONGEST_COMPILE = 2.5  # seconds; what a large kernel is made of, others have often brought
LEAST_PATIENCE = 0.2  # as a share, however much work there turned out to be


def compile_seconds(n_instructions: int) -> float:
    """Estimated seconds to compile a kernel of `n_instructions` of byte code."""
    return min(LONGEST_COMPILE, SECONDS_PER_INSTRUCTION * n_instructions)


class Patience:
    """Share of the compile time of a kernel that its plain runs may take, one for the process.

    The share halves whenever a kernel exceeds it. A search for a grid calls a dozen kernels in turn, and without a
    common share each of them would waste its own time before it is compiled.
    """

    def __init__(self) -> None:
        self.share = 1.0

    def lose(self) -> None:
        """Halve the share: a kernel has turned out to have much work."""
        self.share = max(LEAST_PATIENCE, self.share / 2)


patience = Patience()


_chosen: list[str] = []  # by `compile_as`, the innermost last


@contextlib.contextmanager
def compile_as(mode: str) -> Iterator[None]:
    """Let `mode` count instead of the environment while the block runs, in all threads of the process."""
    _chosen.append(mode)
    try:
        yield
    finally:
        _chosen.pop()


def compile_mode() -> str:
    """``"auto"``, ``"always"`` or ``"never"``, as `compile_as` or else the environment says."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return "never"
    mode = _chosen[-1] if _chosen else os.environ.get(VARIABLE, "auto")
    check_choice(VARIABLE, mode, MODES)
    return mode


def expected_seconds(arguments: tuple[Any, ...]) -> float:
    """Estimated seconds of a plain run, from the sizes of the arrays in `arguments`; infinite where it may overflow."""
    import numpy as np  # not above: the command line says how it is used without it

    n_elements, waiting = 0, [*arguments]
    while waiting:
        value = waiting.pop()
        if isinstance(value, np.ndarray):
            n_elements += value.size
        elif isinstance(value, tuple):
            record: Any = value
            if hasattr(record, "log_rows") and record.n_rows > MOST_ROWS:
                return math.inf
            waiting.extend(value)
    return n_elements * SECONDS_PER_ELEMENT


class Pace(threading.local):
    """How fast plain kernels of one thread are; each thread has its own."""

    plain = 0.0  # seconds of all plain runs so far
    expected = 0.0  # seconds of plain runs that the rest of the step would take, at the pace of its turns so far


pace = Pace()
