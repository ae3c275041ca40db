"""A terminal to run processes on."""

from __future__ import annotations

import os
import select
import struct
import subprocess
import time


def on_terminal(words, environment=None, columns=80, stdout=None, seconds=60.0):
    """Run a command on a terminal of `columns` columns; return its exit code, what the terminal shows, and its output.

    The output is shown too, and not returned, unless `stdout` is `subprocess.PIPE`.
    """
    import fcntl
    import pty
    import termios

    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = os.environ | {"TERM": "xterm"} | (environment or {})
    streams = {"stdout": child if stdout is None else stdout, "stderr": child}
    with subprocess.Popen(list(map(str, words)), env=environment, **streams) as running:
        os.close(child)
        shown, end = b"", time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([parent], [], [], 0.2)[0]:
                try:
                    piece = os.read(parent, 65536)
                except OSError:  # the other end is closed
                    break
                if not piece:
                    break
                shown += piece
        output = running.stdout.read().decode() if running.stdout else ""
        running.wait(timeout=seconds)
    os.close(parent)
    return running.returncode, shown.decode(), output
