"""Time, memory and quality of the same runs; what has a target is a ratio of two times measured in turns.

The machine is noisy, and both sides of a ratio suffer alike. Run them all from this folder's parent with
``asv run --python=same``, add ``--quick`` to run each once. With the environment variable BENCH_SMALL=1 they only show
that they work, as in CI: a ratio takes one round, what is long has a tenth of its rows, and the numbers mean nothing.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Before anything imports numba: kernels compiled here stay apart from the user's own.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".asv" / "numba"))
# Small calls in `setup` compile what is measured; how long first calls take is in `startup`.
os.environ.setdefault("GRIDMODL_COMPILE", "always")


SMALL = os.environ.get("BENCH_SMALL") == "1"


def shortened(n: int) -> int:
    """`n` rows, or a tenth of them in a small run."""
    return n // 10 if SMALL else n


MILLION = shortened(1_000_000)


def seconds(call: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def best_seconds(*calls: Callable[[], Any], rounds: int = 5) -> list[float]:
    """The shortest time of each call, all of them in every round; a small run has one round."""
    n_rounds = 1 if SMALL else rounds
    return [min(times) for times in zip(*([seconds(call) for call in calls] for _ in range(n_rounds)), strict=True)]


def ratio(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int = 5) -> float:
    over, under = best_seconds(ours, theirs, rounds=rounds)
    return round(over / under, 3)


def power(small: float, large: float, factor: float) -> float:
    """The k of time ~ size^k, from the times at two sizes that differ by `factor`."""
    return round(math.log(large / small) / math.log(factor), 3)
