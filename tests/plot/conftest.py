"""Pictures of tests are drawn into memory, and none stays open."""

from __future__ import annotations

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _no_figure_stays():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")
