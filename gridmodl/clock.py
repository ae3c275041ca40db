"""When to stop, and what to tell the user meanwhile.

Kernels work in turns of about a twentieth of a second: between turns the time limit is checked, progress is
told, and Ctrl-C is heard. A stopped search keeps the best it has found. Seconds of compiling do not count for the
limit: else what a search finds within ten of them would depend on what was compiled before.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple, TypeVar

from gridmodl.jit.tiers import pace

TURN_SECONDS = 0.05
FIRST_TURN = 16  # times smaller than what compiled kernels do in such a time
LOOK_SECONDS = 0.1  # between two looks of a waiting thread at what others compile
ROUNDING = 1e-9  # of shares
COMPILING = "compiling"


class Progress(NamedTuple):
    """What a progress callback is told, in the thread that called for the search.

    A callback is told after every turn of work, and when compiling begins.
    """

    step: str  #: of the search, in a word; ``"compiling"`` while kernels are compiled
    share: float | None  #: of the step that is done, which never falls; None where nobody knows when the step ends
    elapsed: float  #: seconds, those of compiling not counted


class _Compiled(NamedTuple):
    seconds: float  # of this process, up to the last compile that has ended
    since: float | None  # when the compile under way began

    def now(self) -> float:
        """Seconds of compiling until now."""
        return self.seconds + (0.0 if self.since is None else time.perf_counter() - self.since)


_compiled = _Compiled(0.0, None)  # one compile at a time, as numba has one lock for all threads; replaced as a whole


_of_threads: dict[int, tuple[Clock, ...]] = {}  # those whose callable is told of what their thread compiles


def begin_compiling() -> None:
    """Note that numba begins to compile; whoever asked for it in this thread is told."""
    global _compiled
    _compiled = _compiled._replace(since=time.perf_counter())
    for clock in _of_threads.get(threading.get_ident(), ()):
        clock.tell_compiling()


def end_compiling() -> None:
    """Note that numba has compiled."""
    global _compiled
    _compiled = _Compiled(_compiled.now(), None)


def is_compiling() -> bool:
    """Whether a thread of this process compiles."""
    return _compiled.since is not None


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
        self.begun, self._compiled_before = time.perf_counter(), _compiled.now()
        self._latest = 0.0
        self.time_limit = time_limit
        self.report = report
        self.share: float | None = None  # of the step that is done, as far as is known
        self._step, self._steps = "", {""}
        self._is_endless = False  # whether no share of this step can be believed
        self._told_of: float | None = None  # the compile that the callable was told of
        self.stopped: str | None = None  # why the search was cut short
        self._parent: Clock | None = None

    @property
    def step(self) -> str:
        """What the search does, in a word; setting it begins a step.

        A step that comes again, as a merge from another start, has no share: nobody knows how often it will come.
        """
        return self._step

    @step.setter
    def step(self, step: str) -> None:
        self._is_endless = step in self._steps
        self._steps.add(step)
        self._step, self.share = step, None

    def rename(self, step: str) -> None:
        """Say more of the step that goes on."""
        self._step = step

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was made, without those of compiling; never fewer than it has said before."""
        self._latest = max(self._latest, self._seconds)
        return self._latest

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self.begun - (_compiled.now() - self._compiled_before)

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return self.time_limit is not None and self._seconds >= self.time_limit

    def child(self) -> Clock:
        """A clock for one of many columns: it starts now, ends with this one, and tells nobody."""
        child = Clock()
        child._parent = self
        return child

    @contextlib.contextmanager
    def reporting(self, report: Callable[[Progress], Any]) -> Iterator[None]:
        """Tell `report`, while the block runs, of the steps and of compiling."""
        thread = threading.get_ident()
        before = _of_threads.get(thread, ())
        self.report, _of_threads[thread] = report, (*before, self)
        try:
            yield
        finally:
            self.report = None
            _of_threads[thread] = before
            if not before:
                del _of_threads[thread]

    def tell(self, share: float | None) -> None:
        """Tell what share of the step is done; None adds nothing to what is known.

        A share that falls is none of the step: from then on, the end of the step counts as unknown.
        """
        if share is not None and not self._is_endless:
            known = 0.0 if self.share is None else self.share
            self._is_endless = share < known - ROUNDING
            self.share = None if self._is_endless else min(1.0, max(known, share))
        if self.report is not None:
            self.report(Progress(self.step, self.share, self.elapsed))

    def tell_compiling(self) -> None:
        """Tell that kernels are compiled, in this thread or another, once for each compile."""
        since = _compiled.since
        if self.report is not None and since is not None and since != self._told_of:
            self._told_of = since
            self.report(Progress(COMPILING, None, self.elapsed))

    def look(self) -> bool:
        """Whether to stop; call it before a long step that is not a turn."""
        if self.stopped is None and self._parent is not None and self._parent.look():
            self.stopped = self._parent.stopped
        if self.stopped is None and self.is_late:
            self.stopped = "time limit"
        return self.stopped is not None

    def repeat(self, turn: Callable[[int], bool], share: Callable[[], float] | None, size: int = 1024) -> None:
        """Call `turn` with an amount of work until it returns True, the time is up or the user interrupts.

        `share` says how much of the step is done; None if nobody knows, as where sweeps go on while one pays. The
        amount adapts to the speed of the machine, and the first is small, as the kernel may not be compiled yet; how
        the work is cut into turns never changes a result.
        """
        size, before, plain_before = max(1, size // FIRST_TURN), share() if share else None, pace.plain
        try:
            while not self.look():
                begun = time.perf_counter()
                done = turn(size)
                took = time.perf_counter() - begun
                now = None if share is None else share()
                pace.expected = 0.0 if done else _rest(pace.plain - plain_before, before, now)
                self.tell(now)
                if done:
                    return
                size = max(1, int(size * min(8.0, max(0.125, TURN_SECONDS / max(took, 1e-9)))))
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        finally:
            pace.expected = 0.0

    def as_done(self, futures: Collection[Future[Any]]) -> Iterator[Future[Any]]:
        """Each piece of work of other threads when it is done; meanwhile the callable is told of compiling."""
        left = set(futures)
        while left:
            done, left = wait(left, None if self.report is None else LOOK_SECONDS, FIRST_COMPLETED)
            self.tell_compiling()
            yield from done


def _rest(seconds: float, before: float | None, now: float | None) -> float:
    """Seconds that the rest of a step takes if its share rose from `before` to `now` in `seconds`; 0 if unknown."""
    if before is None or now is None or now <= before:
        return 0.0
    return seconds * (1.0 - now) / (now - before)


# Columns in threads: kernels run without the interpreter's lock.
#
# Threads do the work even if it is a single one: so the user's own thread hears Ctrl-C, which stops the clock, and then
# every column ends with the best it has so far. Those that have not begun are still read; a second Ctrl-C drops them.

Answer = TypeVar("Answer")
Key = TypeVar("Key", bound=Hashable)


def in_threads(work: Callable[[Key], Answer], names: list[Key], n_threads: int, clock: Clock) -> dict[Key, Answer]:
    """The answer for each name, in the order of the names."""
    with ThreadPoolExecutor(n_threads, "gridmodl") as pool:
        futures = {name: pool.submit(work, name) for name in names}
        try:
            _report_each(futures, clock)
        except KeyboardInterrupt:
            clock.stopped = "interrupted"
        except BaseException:
            clock.stopped = "failed"  # the user's progress callable: do not go on behind its back
            raise
        try:
            return {name: future.result() for name, future in futures.items()}
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _report_each(futures: Mapping[Key, Future[Any]], clock: Clock) -> None:
    clock.step = "columns"
    for n_done, _ in enumerate(clock.as_done(futures.values()), start=1):
        clock.tell(n_done / len(futures))
