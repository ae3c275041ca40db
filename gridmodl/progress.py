"""Show progress: one bar for Python, notebooks and the command line, and a notice while kernels compile.

The bar is a line on the error stream, drawn by a thread of its own, so that it moves while a kernel compiles. It fills
if the share of the step that is done is known, and pulses if it is not. It has no colours. There is no bar if the error
stream is not a terminal, as in log files and pipes.
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

SHOWN_AFTER = 0.5  # seconds; shorter work shows no bar
WIDTH, MIN_WIDTH = 30, 6  # characters between the brackets
COLUMNS = 80  # width of a terminal that does not report its width

NOTICE_AFTER = 3.0  # seconds of compiling
MAX_PAUSE = 1.0  # seconds; compiles with a shorter pause between them count as one
NOTICE = (
    "gridmodl: compiling the search: once for each kind of task, the next start finds it on disk "
    "(GRIDMODL_QUIET=1 hides this line)"
)


class HasProgress(Protocol):
    """Work whose progress a bar shows."""

    @property
    def step(self) -> str: ...

    @property
    def share(self) -> float | None: ...  # share of the step that is done; None if unknown


@contextlib.contextmanager
def showing(progress: bool | Callable[[Progress], Any] | None, clock: Clock) -> Iterator[None]:
    """Show the progress of `clock` while the block runs.

    `progress` is True for a bar, a callable that gets `Progress` records, None for only one line if kernels compile
    for more than NOTICE_AFTER seconds, or False for nothing.
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
def bar(work: HasProgress) -> Iterator[None]:
    """Show a bar of `work` while the block runs, if there is a terminal or notebook and no other bar."""
    display = _display()
    if display is None:
        yield
        return
    with notice.hidden():
        if not _screen.acquire(blocking=False):
            yield
            return
        try:
            with _Bar(work, display):
                yield
        finally:
            _screen.release()


_screen = threading.Lock()  # one bar at a time in all threads
_active_bar: _Bar | None = None


def clear_bar() -> None:
    """Clear the line of the bar for a message; the bar is drawn again below the message."""
    active = _active_bar
    if active is not None:
        active.clear()


class _Bar:
    """Draw the progress of `work` repeatedly, in a thread of its own."""

    def __init__(self, work: HasProgress, display: _Terminal | _Notebook) -> None:
        self.work, self.display = work, display
        self.begun = time.perf_counter()
        self.drawing, self.is_over = threading.Lock(), threading.Event()
        # A copy of the context tells notebooks which cell the output belongs to.
        run = contextvars.copy_context().run
        self.thread = threading.Thread(target=run, args=(self._draw,), name="gridmodl-progress", daemon=True)

    def __enter__(self) -> None:
        global _active_bar
        _active_bar = self
        self.thread.start()

    def __exit__(self, *error: object) -> None:
        global _active_bar
        _active_bar = None
        self.is_over.set()
        self.thread.join()
        self.clear()

    def _draw(self) -> None:
        wait = SHOWN_AFTER
        while not self.is_over.wait(wait):
            wait = self.display.tick
            step, share = (COMPILING, None) if is_compiling() else (self.work.step or "search", self.work.share)
            with self.drawing:
                try:
                    self.display.write(line_of(step, share, time.perf_counter() - self.begun, self.display.width))
                except (OSError, ValueError):  # the stream is closed: the work continues without a bar
                    return

    def clear(self) -> None:
        with self.drawing, contextlib.suppress(OSError, ValueError):
            self.display.clear()


def line_of(step: str, share: float | None, seconds: float, width: int) -> str:
    """Line of at most `width` characters: the step, a bar that fills or pulses, the share, the time."""
    percent = "    " if share is None else f"{int(100 * share):3d}%"  # rounded down: 100 % only at the end
    time_text = f"{seconds:.0f} s" if seconds < 100 else f"{seconds // 60:.0f} min {int(seconds) % 60:02d} s"
    end = f" {percent} {time_text}"
    n = min(WIDTH, width - _width(step) - len(end) - 3)
    if n >= MIN_WIDTH:
        return f"{step} [{_filled(n, share, seconds)}]{end}"
    while step and _width(step) + len(end) > width:
        step = step[:-1]
    return f"{step}{end}"[:width]


def _filled(n: int, share: float | None, seconds: float) -> str:
    """`n` characters of a bar: filled up to `share`, or with a block that moves to and fro if `share` is None."""
    if share is not None:
        return f"{'#' * int(n * share):-<{n}}"
    block = n // 5
    way = n - block
    at = int(10 * seconds) % (2 * way)
    return f"{'-' * min(at, 2 * way - at)}{'#' * block}".ljust(n, "-")


def _width(text: str) -> int:
    """Number of terminal columns that `text` takes."""
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _display() -> _Terminal | _Notebook | None:
    """Where to draw a bar, or None; worker processes draw none, as their bars would overwrite each other."""
    if parent_process() is not None:
        return None
    ipython = sys.modules.get("IPython")
    if ipython is not None and hasattr(ipython.get_ipython(), "kernel"):
        return _Notebook()
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return None
    return _Terminal(sys.stderr)


class _Terminal:
    """Draws on the last line of a terminal."""

    tick = 0.1  # seconds

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.n_shown = 0  # width of the line that is shown now

    @property
    def width(self) -> int:
        """Width of the terminal minus 1, as some terminals begin a new line after the last column."""
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
    """Draws a line of text among the outputs of a cell."""

    tick = 0.5  # seconds; each tick sends a message to the browser
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
    """Print NOTICE, once in a process, when kernels compile for more than NOTICE_AFTER seconds."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.is_said = False
        self.n_hiding = 0
        self.timer: threading.Timer | None = None
        self.begun: float | None = None
        self.ended = self.waited = 0.0

    def compile_began(self) -> None:
        """Start the timer of the notice; call it when a compile begins."""
        self.begun = time.perf_counter()
        if self.begun - self.ended > MAX_PAUSE:
            self.waited = 0.0
        if not self.is_said:
            run = contextvars.copy_context().run  # so that the output belongs to the notebook's cell
            self.timer = threading.Timer(max(0.0, NOTICE_AFTER - self.waited), run, (self._say,))
            self.timer.daemon = True
            self.timer.start()

    def compile_ended(self) -> None:
        """Cancel the timer of the notice; call it when a compile ends."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if self.begun is not None:
            self.ended = time.perf_counter()
            self.waited += self.ended - self.begun
            self.begun = None

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        """Print no notice while the block runs, in any thread."""
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
            with contextlib.suppress(OSError, ValueError):  # the stream may be closed
                sys.stderr.write(NOTICE + "\n")
                sys.stderr.flush()


notice = _Notice()
