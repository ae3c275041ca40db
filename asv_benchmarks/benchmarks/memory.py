"""The peak of memory, which in a process never goes down: each measurement has a process of its own."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path


def peak_bytes() -> int:
    """Of this process."""
    status = Path("/proc/self/status")  # ru_maxrss of Linux begins at the peak of the parent
    if status.exists():
        return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def printed_apart(script: str) -> float:
    """The number that a script prints in a process of its own; it may import `peak_bytes` from `memory`."""
    begin = f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    command = [sys.executable, "-c", begin + script]
    return round(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout), 2)
