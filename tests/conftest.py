"""Kernels of the tests are cached apart from the user's own, in a folder that CI may empty; plugins need no install."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PROJECT = Path(__file__).parent.parent

os.environ.setdefault("NUMBA_CACHE_DIR", str(PROJECT / ".numba_cache"))
os.environ["GRIDMODL_QUIET"] = "1"  # what a test reads on the error stream does not depend on what was compiled before
# The formulas are tested through a plugin's terms too, from its folder: what it prices is no part of gridmodl.
sys.path.append(str(PROJECT / "plugins" / "gridmodl-khiops11"))
