"""The command ``gridmodl``: its subcommands, errors in one line, warnings as messages, Ctrl-C."""

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


def handle_interrupts() -> None:
    """Let the first Ctrl-C end a search with the best result so far, and the second end the process at once."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # a process in the background ignores Ctrl-C
        return

    def interrupt(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, _end_at_once)
        threading.Thread(target=_end_at_next, args=(_signals(),), daemon=True).start()
        _say_stopping()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)


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


def _end_at_next(signals: socket.socket) -> None:
    """End the process at the next Ctrl-C: handlers run in the main thread, which waits while DuckDB cancels a query."""
    while signal.SIGINT not in signals.recv(64):
        pass
    _end_at_once()


_ending = threading.RLock()  # two threads may hear of the same Ctrl-C


def _end_at_once(*_: Any) -> None:
    """End the process; what is half written is deleted."""
    with _ending:
        drop_unfinished()
        _write(b"\ngridmodl: interrupted again; nothing more was written\n")
        os._exit(INTERRUPTED)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="gridmodl")
def gridmodl() -> None:
    """Find the partition of the data that explains it best.

    Data goes to standard output, messages to the error stream. Exit codes: 0 success (a time limit may have stopped the
    search), 1 an error in the data, a model or a file, 2 an error in the command, 3 drift that gridmodl compare
    found, 130 interrupted by Ctrl-C.
    """


COMMANDS = (
    fit, average, scorecard, apply, compare, sample, show, report, edit, sql, export, criteria, demo, cache, completion,
)  # fmt: skip
for command in COMMANDS:
    gridmodl.add_command(command)
