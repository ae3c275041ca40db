"""When to stop, and what to tell the user meanwhile.

Kernels work in turns of about a twentieth of a second: between turns the time limit is checked, progress is
shown, and Ctrl-C is heard. A stopped search keeps the best it has found. Seconds of compiling do not count for the
limit: else what a search finds within ten of them would depend on what was compiled before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from gridmodl.tiers import pace

TURN_SECONDS = 0.05
FIRST_TURN = 16  # times smaller than what compiled kernels do in such a time


_compiled = 0.0  # seconds of this process


def note_compiled(seconds: float) -> None:
    """Kernels were compiled for so long; one at a time, as numba has one lock for all threads."""
    global _compiled
    _compiled += seconds


class Progress(NamedTuple):
    """What a progress callback is told."""

    step: str  #: of the search, in a word
    share: float  #: of the current step, or of its current sweep, that is done
    elapsed: float  #: seconds, those of compiling not counted


class Clock:
    """Time limit, interruption and progress of one search.

    Parameters
    ----------
    time_limit : float, optional
        Seconds from now, those of compiling not counted.
    report : callable, optional
        Called with a `Progress` between turns.
    """

    def __init__(self, time_limit: float | None = None, report: Callable[[Progress], Any] | None = None) -> None:
        self.begun, self._compiled_before = time.perf_counter(), _compiled
        self._latest = 0.0
        self.time_limit = time_limit
        self.report = report
        self.step = ""
        self.stopped: str | None = None  # why the search was cut short
        self._parent: Clock | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was made, without those of compiling; never fewer than it has said before."""
        # What another thread compiles is known when it is done, and then is taken off.
        self._latest = max(self._latest, self._seconds)
        return self._latest

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self.begun - (_compiled - self._compiled_before)

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return self.time_limit is not None and self._seconds >= self.time_limit

    def child(self) -> Clock:
        """A clock for one of many columns: it starts now, ends with this one, and tells nobody."""
        child = Clock()
        child._parent = self
        return child

    def tell(self, share: float) -> None:
        if self.report is not None:
            self.report(Progress(self.step, share, self.elapsed))

    def look(self) -> bool:
        """Whether to stop; call it before a long step that is not a turn."""
        if self.stopped is None and self._parent is not None and self._parent.look():
            self.stopped = self._parent.stopped
        if self.stopped is None and self.is_late:
            self.stopped = "time limit"
        return self.stopped is not None

    def repeat(self, turn: Callable[[int], bool], share: Callable[[], float], size: int = 1024) -> None:
        """Call `turn` with an amount of work until it returns True, the time is up or the user interrupts.

        The amount adapts to the speed of the machine, and the first is small, as the kernel may not be compiled yet.
        How the work is cut into turns never changes a result.
        """
        size, before, begun_all = max(1, size // FIRST_TURN), share(), time.thread_time()
        try:
            while not self.look():
                begun = time.perf_counter()
                done = turn(size)
                took = time.perf_counter() - begun
                now, in_all = share(), time.thread_time() - begun_all
                pace.expected = in_all * (1.0 - now) / (now - before) if before < now and not done else 0.0
                if self.report is not None:
                    self.tell(1.0 if done else now)
                if done:
                    return
                size = max(1, int(size * min(8.0, max(0.125, TURN_SECONDS / max(took, 1e-9)))))
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        finally:
            pace.expected = 0.0
