"""The command ``gridmodl``: fit, apply, show and hand on models without writing Python."""

from __future__ import annotations

import os
import signal
import sys
from importlib.util import find_spec

NEEDED = ("click", "pyarrow", "rich")
INTERRUPTED = 130


def main() -> None:
    """Run the command line; what is missing is told in one line."""
    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        sys.exit(f'gridmodl: error: the command line needs {", ".join(absent)}: pip install "gridmodl[cli]"')
    if sys.stdin is None:  # closed, by `<&-` or by a service: as if there was nothing in it
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.exit(f"gridmodl: error: standard output is closed; send it to {os.devnull} if nobody is to read it")
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # who reads no further (`| head`) ends this quietly, as cat does
    try:
        from gridmodl.cli.group import gridmodl, listen_twice

        listen_twice()
        gridmodl(prog_name="gridmodl")
    except KeyboardInterrupt:  # before there was anything to interrupt
        sys.exit(INTERRUPTED)
