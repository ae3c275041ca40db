"""What is shown while work goes on: one bar for Python, notebooks and the command line, and a word on compiling.

The bar is a line on the error stream that a thread of its own draws anew, so that it moves while a kernel compiles. It
fills where the share of the step that is done is known, and pulses where it is not. Where the error stream is no
terminal, as in log files and pipes, there is no bar. It has no colours.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from multiprocessing import parent_process
from typing import Any, Protocol

from gridmodl.clock import COMPILING, Clock, Progress, is_compiling

SHOWN_AFTER = 0.5  # seconds; who gets an answer at once need not see a bar
WIDTH, LEAST_WIDTH = 30, 6  # characters between the brackets
COLUMNS = 80  # of a terminal that does not say how wide it is

NOTICE_AFTER = 3.0  # seconds of compiling
LULL = 1.0  # seconds; kernels that compile one after the other with less between them count as one wait
NOTICE = (
    "gridmodl: compiling the search: once for each criterion and kind of task, the next start finds it on disk "
    "(GRIDMODL_QUIET=1 hides this line)"
)


class Work(Protocol):
    """What a bar is about."""

    @property
    def step(self) -> str: ...

    @property
    def share(self) -> float | None: ...  # of the step that is done; None if that is not known


@contextlib.contextmanager
def showing(progress: bool | Callable[[Progress], Any] | None, clock: Clock) -> Iterator[None]:
    """Report to the user what `clock` is told, while the block runs.

    True shows a bar, a callable is given `Progress` records, and None leaves it at one line if kernels compile for
    long; False says nothing at all.
    """
    if progress is None:
        yield
    elif progress is True:
        with bar(clock):
            yield
    elif progress is False:
        with notice.hidden():
            yield
    elif callable(progress):
        with notice.hidden(), clock.reporting(progress):
            yield
    else:
        raise TypeError(f"progress must be True, False, None or a callable, got {progress!r}")


@contextlib.contextmanager
def bar(work: Work) -> Iterator[None]:
    """Show a bar of `work` while the block runs, if somebody is there to see it and no other bar is."""
    surface = _surface()
    if surface is None:
        yield
        return
    with notice.hidden():
        if not _screen.acquire(blocking=False):
            yield
            return
        try:
            with _Bar(work, surface):
                yield
        finally:
            _screen.release()


_screen = threading.Lock()  # one bar at a time, whatever the threads
_shown: _Bar | None = None


def make_room() -> None:
    """Clear the line of the bar for a message; the bar comes back below it."""
    shown = _shown
    if shown is not None:
        shown.clear()


class _Bar:
    """Draws the state of `work` again and again, in a thread of its own."""

    def __init__(self, work: Work, surface: _Terminal | _Notebook) -> None:
        self.work, self.surface = work, surface
        self.begun = time.perf_counter()
        self.drawing, self.is_over = threading.Lock(), threading.Event()
        # In a copy of the context: by it, notebooks know which cell an output belongs to.
        run = contextvars.copy_context().run
        self.thread = threading.Thread(target=run, args=(self._draw,), name="gridmodl-progress", daemon=True)

    def __enter__(self) -> None:
        global _shown
        _shown = self
        self.thread.start()

    def __exit__(self, *error: object) -> None:
        global _shown
        _shown = None
        self.is_over.set()
        self.thread.join()
        self.clear()

    def _draw(self) -> None:
        wait = SHOWN_AFTER
        while not self.is_over.wait(wait):
            wait = self.surface.tick
            step, share = (COMPILING, None) if is_compiling() else (self.work.step or "search", self.work.share)
            with self.drawing:
                try:
                    self.surface.write(line_of(step, share, time.perf_counter() - self.begun, self.surface.width))
                except (OSError, ValueError):  # the stream is closed: nobody sees a bar any more, and the work goes on
                    return

    def clear(self) -> None:
        with self.drawing, contextlib.suppress(OSError, ValueError):
            self.surface.clear()


def line_of(step: str, share: float | None, seconds: float, width: int) -> str:
    """A line of at most `width` characters: the step, a bar that is filled or pulses, the share, the time."""
    percent = "    " if share is None else f"{int(100 * share):3d}%"  # 100 % is the end, not what is near
    time_text = f"{seconds:.0f} s" if seconds < 100 else f"{seconds // 60:.0f} min {int(seconds) % 60:02d} s"
    end = f" {percent} {time_text}"
    n = min(WIDTH, width - _width(step) - len(end) - 3)
    if n >= LEAST_WIDTH:
        return f"{step} [{_filled(n, share, seconds)}]{end}"
    while step and _width(step) + len(end) > width:
        step = step[:-1]
    return f"{step}{end}"[:width]


def _filled(n: int, share: float | None, seconds: float) -> str:
    if share is not None:
        return f"{'#' * int(n * share):-<{n}}"
    block = n // 5
    way = n - block  # there and back
    at = int(10 * seconds) % (2 * way)
    return f"{'-' * min(at, 2 * way - at)}{'#' * block}".ljust(n, "-")


def _width(text: str) -> int:
    """Columns of a terminal that `text` takes."""
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _surface() -> _Terminal | _Notebook | None:
    """Where a bar can be seen; worker processes have none, as their bars would write over each other."""
    if parent_process() is not None:
        return None
    ipython = sys.modules.get("IPython")
    if ipython is not None and hasattr(ipython.get_ipython(), "kernel"):
        return _Notebook()
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return None
    return _Terminal(sys.stderr)


class _Terminal:
    """The last line of a terminal."""

    tick = 0.1  # seconds

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.n_shown = 0  # columns of the line that are written on now

    @property
    def width(self) -> int:
        """All columns but the last, in which some terminals begin a new line."""
        try:
            n_columns = os.get_terminal_size(self.stream.fileno()).columns
        except OSError:
            n_columns = 0
        return (n_columns or COLUMNS) - 1

    def write(self, line: str) -> None:
        n = _width(line)
        self.stream.write("\r" + line + " " * (self.n_shown - n))
        self.stream.flush()
        self.n_shown = n

    def clear(self) -> None:
        if self.n_shown:
            self.stream.write("\r" + " " * min(self.n_shown, self.width) + "\r")
            self.stream.flush()
            self.n_shown = 0


class _Notebook:
    """A line of text among the outputs of a cell."""

    tick = 0.5  # seconds; each is a message to the browser
    width = COLUMNS

    def __init__(self) -> None:
        self.handle: Any = None

    def write(self, line: str) -> None:
        if self.handle is None:
            from IPython.display import display

            self.handle = display({"text/plain": line}, raw=True, display_id=True)
        else:
            self.handle.update({"text/plain": line}, raw=True)

    def clear(self) -> None:
        if self.handle is not None:
            self.handle.update({"text/plain": ""}, raw=True)


class _Notice:
    """Says once in a process, while kernels compile for long, that they do."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.is_said = False
        self.n_hiding = 0
        self.timer: threading.Timer | None = None
        self.begun: float | None = None
        self.ended = self.waited = 0.0

    def compile_began(self) -> None:
        """A kernel begins to compile."""
        self.begun = time.perf_counter()
        if self.begun - self.ended > LULL:
            self.waited = 0.0
        if not self.is_said:
            run = contextvars.copy_context().run  # of the notebook's cell
            self.timer = threading.Timer(max(0.0, NOTICE_AFTER - self.waited), run, (self._say,))
            self.timer.daemon = True
            self.timer.start()

    def compile_ended(self) -> None:
        """Nothing compiles any more."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if self.begun is not None:
            self.ended = time.perf_counter()
            self.waited += self.ended - self.begun
            self.begun = None

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        """Say nothing while the block runs, in whatever thread."""
        with self.lock:
            self.n_hiding += 1
        try:
            yield
        finally:
            with self.lock:
                self.n_hiding -= 1

    def _say(self) -> None:
        with self.lock:
            if self.is_said or self.n_hiding or os.environ.get("GRIDMODL_QUIET") or parent_process() is not None:
                return
            self.is_said = True
        if sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):  # a closed stream is no reason to fail
                sys.stderr.write(NOTICE + "\n")
                sys.stderr.flush()


notice = _Notice()
