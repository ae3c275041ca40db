"""Small tasks of random rows."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.tiny import NO_LIMITS, Tiny


@pytest.fixture
def make_tiny():
    def make(seed, n_cells=3, name="modl", n_atoms=7, limits=NO_LIMITS):
        rng = np.random.default_rng(seed)
        counts = rng.integers(0, 4, (n_atoms, n_cells, 2)) * (rng.random((n_atoms, n_cells, 1)) < 0.6)
        counts[:, 0, 0] += ~counts.any(axis=(1, 2))  # no atom without rows
        return Tiny(counts, name, limits)

    return make
