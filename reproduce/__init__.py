"""Scripts that make the results of the documentation anew, run as modules from the root of the repository.

    python -m reproduce.FOLDER.NAME --help

papers      tables and figures of the papers beside ours, to docs/results
grids       the experiments on grids of made data, and what each step of the search of a grid adds
peers       other libraries on the same data, each in an environment of its own
proof       the proven optimum against oracles, what it is worth, and how its time grows: the tables of docs/exact.md
measured    costs, seconds and memory of docs/measured.md, most of them against known ones
pictures    the pictures of README.md and of docs/use/html_report.md

`run.py` has what the scripts that write a page share: arguments, data, tables, pages. `matrices.py` reads the sparse
matrices. This file needs nothing but Python: processes of other environments import it too.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "tests"))  # some scripts use the oracles of the tests


def environment() -> dict[str, str]:
    """Environment variables of a process that runs a module of this package, in whatever folder and Python."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}
