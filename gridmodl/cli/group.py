"""The command ``gridmodl``: its subcommands, errors in one line, warnings as messages, signals."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from gridmodl import __version__
from gridmodl.cli import INTERRUPTED
from gridmodl.cli.about import cache, completion, criteria, demo
from gridmodl.cli.fit import average, fit
from gridmodl.cli.messages import Failure, Interrupted, describe_error, echo
from gridmodl.cli.scorecard.command import scorecard
from gridmodl.cli.showing import edit, export, report, show, sql
from gridmodl.cli.use import apply, compare, sample
from gridmodl.writing import drop_unfinished

STOPPING = b"gridmodl: stopping; Ctrl-C again ends at once, without a result\n"
# Signals by which schedulers, services and closed terminals end a process.
ENDING = {getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)}


class Commands(click.Group):
    """Group whose commands report an error in one line; with --debug the traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        ctx.obj = {}  # shared with the command, which stores --debug here
        with _warnings_as_messages():
            try:
                return super().invoke(ctx)
            except click.UsageError as error:
                hint = _of_unquoted_pattern(error.message)
                if not hint:
                    raise
                raise click.UsageError(error.message + hint, error.ctx) from error
            except (click.ClickException, click.exceptions.Exit, click.Abort):
                raise
            except KeyboardInterrupt:
                raise Interrupted("interrupted") from None
            except Exception as error:
                if ctx.obj.get("debug"):
                    raise
                raise Failure(describe_error(error)) from error


def _of_unquoted_pattern(message: str) -> str:
    """What to say of file names beyond the arguments of a command: a shell makes them of a pattern without quotes."""
    found = re.match(r"Got unexpected extra arguments? \((.*)\)", message, re.DOTALL)
    if found is None or not any(map(os.path.isfile, [found[1], *found[1].split(" ")])):
        return ""
    return ". Several files of one table are given as a pattern in quotes, such as 'folder/*.parquet'"


@contextmanager
def _warnings_as_messages() -> Iterator[None]:
    """Print warnings of the library as messages, without the line of code that raised them."""

    told: set[str] = set()  # as of batches of rows, each of which may issue it

    def tell(message: Warning | str, *place: Any) -> None:
        described = _described_warning(message)
        if described not in told:
            told.add(described)
            echo(f"gridmodl: warning: {described}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", kind)
        warnings.showwarning = tell  # type: ignore[assignment]
        yield


def _described_warning(message: Warning | str) -> str:
    return describe_error(ValueError(str(message)))


def handle_signals() -> None:
    """Let the first Ctrl-C end a search with the best result so far; the second, and any of ENDING, end the process.

    Handlers run in the main thread, which waits while DuckDB works or a kernel is compiled, so a thread hears of all
    signals too. What a parent process has told to be ignored, as nohup does, stays ignored.
    """
    heard = {number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL}
    has_interrupts = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not heard and not has_interrupts:
        return
    threading.Thread(target=_listen, args=(_signals(),), daemon=True).start()
    for number in heard:
        signal.signal(number, _end_at_once)
    if has_interrupts:
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, frame: Any) -> None:
    signal.signal(signal.SIGINT, _end_at_once)
    _say_stopping()
    raise KeyboardInterrupt


def _say_stopping() -> None:
    """Write STOPPING, also where the same Ctrl-C has ended the reader; at once, as a query of DuckDB may go on."""
    at_broken_pipe = signal.signal(signal.SIGPIPE, signal.SIG_IGN) if hasattr(signal, "SIGPIPE") else None
    _write(b"\n" * os.isatty(2) + STOPPING)
    if at_broken_pipe is not None:
        signal.signal(signal.SIGPIPE, at_broken_pipe)


def _write(message: bytes) -> None:
    """Write on the error stream, if there is one and somebody reads it."""
    if sys.stderr is not None:
        with suppress(OSError):
            os.write(2, message)


def _signals() -> socket.socket:
    """A socket that gets the number of each signal as a byte when it comes, whatever the main thread does."""
    signals, written = socket.socketpair()
    written.setblocking(False)
    signal.set_wakeup_fd(written.detach())
    return signals


def _listen(signals: socket.socket) -> None:
    """End the process at the second Ctrl-C, or at any of ENDING."""
    n_interrupts = 0
    while True:
        for number in signals.recv(64):
            n_interrupts += number == signal.SIGINT
            if number in ENDING or n_interrupts == 2:
                _end_at_once(number)


_ending = threading.RLock()  # two threads may hear of the same signal


def _end_at_once(number: int, frame: Any = None) -> None:
    """End the process with the exit code that shells give a signal; what is half written is deleted."""
    with _ending:
        drop_unfinished()
        what = "interrupted again" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
        _write(f"\ngridmodl: {what}; nothing more was written\n".encode())
        os._exit(INTERRUPTED if number == signal.SIGINT else 128 + number)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="gridmodl")
def gridmodl() -> None:
    """Find the partition of the data that explains it best.

    Data goes to standard output, messages to the error stream. Exit codes: 0 success (a time limit may have stopped the
    search), 1 an error in the data, a model or a file, 2 an error in the command, 3 drift that gridmodl compare
    found, 130 interrupted by Ctrl-C, 143 and 129 ended by SIGTERM and SIGHUP.
    """


COMMANDS = (
    fit, average, scorecard, apply, compare, sample, show, report, edit, sql, export, criteria, demo, cache, completion,
)  # fmt: skip
for command in COMMANDS:
    gridmodl.add_command(command)
