"""The command ``gridmodl``: fit, apply, show and export models without Python.

group                            the command, its exit codes, signals
fit, use, showing, about         commands that make a model, use one on rows, show or export one, and all others; quick
                                 to import, for --help
fitting, applying, comparing     the work of gridmodl fit and average, of apply and sample, and of compare
scorecard/                       the command for scorecards, and its work
modelfiles, outputs              model files read and shown; what commands write
reading/                         data files, from typed columns down to bytes; DuckDB, which parses text and counts long
                                 tables; what memory holds
options, messages                options that commands share; messages and errors
"""

from __future__ import annotations

import os
import signal
import sys
from importlib.util import find_spec

NEEDED = ("click", "duckdb", "pyarrow", "rich")
INTERRUPTED = 130


def main() -> None:
    """Run the command line; exit with one line if a package it needs is not installed."""
    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        sys.exit(f'gridmodl: error: the command line needs {", ".join(absent)}: pip install "gridmodl[cli]"')
    if sys.stdin is None:  # closed, by `<&-` or by a service: read as empty
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.exit(f"gridmodl: error: standard output is closed; send it to {os.devnull} to discard it")
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends the command quietly, as it does cat
    try:
        from gridmodl.cli.group import gridmodl, handle_signals

        handle_signals()
        gridmodl(prog_name="gridmodl")
    except KeyboardInterrupt:  # before a command has started
        sys.exit(INTERRUPTED)
