"""Kernels of the tests are cached apart from the user's own, in a folder that CI may empty; plugins need no install."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PROJECT = Path(__file__).parent.parent

os.environ.setdefault("NUMBA_CACHE_DIR", str(PROJECT / ".numba_cache"))
# The formulas are tested through a plugin's terms too, from its folder: what it prices is no part of gridmodl.
sys.path.append(str(PROJECT / "plugins" / "gridmodl-khiops11"))
