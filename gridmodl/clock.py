"""Time limit, Ctrl-C, progress and threads of a search.

Kernels work in turns of about TURN_SECONDS. Between turns, the clock checks the time limit, reports progress and
handles Ctrl-C. A stopped search keeps the best result so far. Compile time does not count for the limit: otherwise
the result of a search with a limit would depend on which kernels are compiled already.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

from gridmodl.jit.tiers import pace

TURN_SECONDS = 0.05
FIRST_TURN = 16  # factor by which the first turn is smaller, because the kernel may not be compiled
LOOK_SECONDS = 0.1  # seconds after which a waiting thread checks whether other threads compile
ROUNDING = 1e-9  # tolerance when shares are compared
COMPILING = "compiling"


class Progress(NamedTuple):
    """Record that is passed to a progress callback, in the thread that started the search.

    The callback is called after every turn of work, and when compiling begins.
    """

    step: str  #: name of the current step; ``"compiling"`` while kernels are compiled
    share: float | None  #: share of the step that is done, which never decreases; None if the end is unknown
    elapsed: float  #: seconds so far, without the time of compiling


class _Compiled(NamedTuple):
    """Compile time of this process."""

    seconds: float  # of all compiles that have ended
    since: float | None  # when the current compile began; None if there is none

    def now(self) -> float:
        """Seconds of compiling so far, the current compile included."""
        return self.seconds + (0.0 if self.since is None else time.perf_counter() - self.since)


# There is one compile at a time, because numba has one lock for all threads. The record is replaced as a whole.
_compiled = _Compiled(0.0, None)

_current: ContextVar[Clock | None] = ContextVar("gridmodl_clock", default=None)  # of the work that this thread does
_clocks_by_thread: dict[int, tuple[Clock, ...]] = {}  # clocks with a progress callback, by thread


def begin_compiling() -> None:
    """Record that numba begins to compile, and tell the callbacks of this thread."""
    global _compiled
    _compiled = _compiled._replace(since=time.perf_counter())
    for clock in _clocks_by_thread.get(threading.get_ident(), ()):
        clock.tell_compiling()


def end_compiling() -> None:
    """Record that numba has finished compiling."""
    global _compiled
    _compiled = _Compiled(_compiled.now(), None)


def is_compiling() -> bool:
    """Whether any thread of this process compiles."""
    return _compiled.since is not None


def current_clock() -> Clock | None:
    """The clock of the work that this thread does, if that may be cut short; see `Clock.governing`."""
    return _current.get()


class Clock:
    """Time limit, interruption and progress of one search.

    Parameters
    ----------
    time_limit : float, optional
        Seconds from now, without the time of compiling.
    report : callable, optional
        Called with a `Progress` record between turns.
    """

    def __init__(self, time_limit: float | None = None, report: Callable[[Progress], Any] | None = None) -> None:
        self.begun, self._compiled_before = time.perf_counter(), _compiled.now()
        self._latest = 0.0
        self.time_limit = time_limit
        self.report = report
        self.share: float | None = None  # share of the step that is done; None if unknown
        self._step, self._steps = "", {""}
        self._is_endless = False  # whether the end of this step is unknown, so that shares are ignored
        self._reported_compile: float | None = None  # start of the last compile that was reported
        self.stopped: str | None = None  # why the search was cut short
        self._parent: Clock | None = None

    @property
    def step(self) -> str:
        """Name of the current step of the search; setting it begins a step.

        A repeated step, such as a merge from another start, has no share, because the number of repeats is unknown.
        """
        return self._step

    @step.setter
    def step(self, step: str) -> None:
        self._is_endless = step in self._steps
        self._steps.add(step)
        self._step, self.share = step, None

    def rename(self, step: str) -> None:
        """Rename the current step, without beginning another."""
        self._step = step

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was made, without the time of compiling; never decreases."""
        self._latest = max(self._latest, self._seconds)
        return self._latest

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self.begun - (_compiled.now() - self._compiled_before)

    @property
    def is_late(self) -> bool:
        """Whether the time limit is reached."""
        return self.time_limit is not None and self._seconds >= self.time_limit

    def must_end(self, seconds: float) -> str | None:
        """Why work that has no result yet must end, or None: a time limit leaves it so many `seconds` more."""
        if not self.look():
            return None
        late = 0.0 if self.time_limit is None else self._seconds - self.time_limit
        return None if self.stopped == "time limit" and late < seconds else self.stopped

    @contextlib.contextmanager
    def governing(self) -> Iterator[None]:
        """Make this the `current_clock` while the block runs, which queries of engines ask."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def child(self) -> Clock:
        """Make a clock for one of many columns: it starts now, stops with this clock, and reports to no callback."""
        child = Clock()
        child._parent = self
        return child

    @contextlib.contextmanager
    def reporting(self, report: Callable[[Progress], Any]) -> Iterator[None]:
        """Report steps and compiling to `report` while the block runs."""
        thread = threading.get_ident()
        before = _clocks_by_thread.get(thread, ())
        self.report, _clocks_by_thread[thread] = report, (*before, self)
        try:
            yield
        finally:
            self.report = None
            _clocks_by_thread[thread] = before
            if not before:
                del _clocks_by_thread[thread]

    def tell(self, share: float | None) -> None:
        """Report the `share` of the step that is done; None keeps the last known share.

        If `share` decreases, the end of the step counts as unknown from then on.
        """
        if share is not None and not self._is_endless:
            known = 0.0 if self.share is None else self.share
            self._is_endless = share < known - ROUNDING
            self.share = None if self._is_endless else min(1.0, max(known, share))
        if self.report is not None:
            self.report(Progress(self.step, self.share, self.elapsed))

    def tell_compiling(self) -> None:
        """Report that a kernel is being compiled, in this thread or another; once per compile."""
        since = _compiled.since
        if self.report is not None and since is not None and since != self._reported_compile:
            self._reported_compile = since
            self.report(Progress(COMPILING, None, self.elapsed))

    def look(self) -> bool:
        """Whether to stop the search; call it before long work outside of `repeat`."""
        if self.stopped is None and self._parent is not None and self._parent.look():
            self.stopped = self._parent.stopped
        if self.stopped is None and self.is_late:
            self.stopped = "time limit"
        return self.stopped is not None

    def repeat(self, turn: Callable[[int], bool], share: Callable[[], float] | None, size: int = 1024) -> None:
        """Call `turn` with an amount of work until it returns True, the time limit is reached or the user interrupts.

        `share` returns the share of the step that is done; None if that is unknown, as for sweeps that repeat while
        they improve. The amount of work begins at `size` / FIRST_TURN and adapts to the speed of the machine. How the
        work is cut into turns never changes a result.
        """
        size, before, plain_before = max(1, size // FIRST_TURN), share() if share else None, pace.plain
        try:
            with self._hearing_lost_interrupts():
                while not self.look():
                    begun = time.perf_counter()
                    done = turn(size)
                    took = time.perf_counter() - begun
                    now = None if share is None else share()
                    pace.expected = 0.0 if done else _remaining_seconds(pace.plain - plain_before, before, now)
                    self.tell(now)
                    if done:
                        return
                    size = max(1, int(size * min(8.0, max(0.125, TURN_SECONDS / max(took, 1e-9)))))
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        finally:
            pace.expected = 0.0

    @contextlib.contextmanager
    def _hearing_lost_interrupts(self) -> Iterator[None]:
        """Stop also at a Ctrl-C that Python drops: LLVM calls back while a kernel is loaded or compiled."""
        if threading.current_thread() is not threading.main_thread():  # others get no Ctrl-C
            yield
            return
        hook = sys.unraisablehook

        def hear(dropped: Any) -> None:
            if issubclass(dropped.exc_type, KeyboardInterrupt):
                self.stopped = "interrupted"
            else:
                hook(dropped)

        sys.unraisablehook = hear
        try:
            yield
        finally:
            sys.unraisablehook = hook

    def as_done(self, futures: Collection[Future[Any]]) -> Iterator[Future[Any]]:
        """Yield each future when it is done; meanwhile, report compiling to the callback."""
        left = set(futures)
        while left:
            done, left = wait(left, None if self.report is None else LOOK_SECONDS, FIRST_COMPLETED)
            self.tell_compiling()
            yield from done


def _remaining_seconds(seconds: float, before: float | None, now: float | None) -> float:
    """Estimated seconds for the rest of a step whose share rose from `before` to `now` in `seconds`; 0 if unknown."""
    if before is None or now is None or now <= before:
        return 0.0
    return seconds * (1.0 - now) / (now - before)


# Threads, one column at a time in each: kernels release the interpreter's lock.
#
# A single thread is used for a single job too, so that the user's own thread receives Ctrl-C. Ctrl-C stops the clock,
# and every column returns its best result so far. Columns that have not begun are still read; a second Ctrl-C cancels
# them. Columns that an engine would have to count are not.

Answer = TypeVar("Answer")
Key = TypeVar("Key", bound=Hashable)


def in_threads(work: Callable[[Key], Answer], names: list[Key], n_threads: int, clock: Clock) -> dict[Key, Answer]:
    """Call `work` for each of `names` in `n_threads` threads; return the results by name, in the order of `names`."""
    with ThreadPoolExecutor(n_threads, "gridmodl") as pool:
        futures = {name: pool.submit(_governed, work, name, clock) for name in names}
        try:
            _report_each(futures, clock)
        except KeyboardInterrupt:
            clock.stopped = "interrupted"
        except BaseException:
            clock.stopped = "failed"  # an error of the progress callback also stops the other threads
            raise
        try:
            return {name: future.result() for name, future in futures.items()}
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _governed(work: Callable[[Key], Answer], name: Key, clock: Clock) -> Answer:
    """Call `work`, whose queries ask the clock."""
    with clock.governing():
        return work(name)


def _report_each(futures: Mapping[Key, Future[Any]], clock: Clock) -> None:
    """Report the share of finished columns until all are finished."""
    clock.step = "columns"
    for n_done, _ in enumerate(clock.as_done(futures.values()), start=1):
        clock.tell(n_done / len(futures))
