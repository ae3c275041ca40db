"""Kernels of the tests are cached apart from the user's own, in a folder that CI may empty."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parent.parent / ".numba_cache"))
