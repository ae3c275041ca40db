"""Classes in pictures: which of many are shown, and in which colours, the same in matplotlib, notebooks and pages.

The colours are those of M. Okabe and K. Ito, "Color universal design", 2008, but for black, which a dark page would
hide; `chart.js` of the pages has them too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442")


def largest(rows: NDArray[np.int64], most: int) -> list[int]:
    """The numbers of the classes with the most rows, ascending."""
    return np.sort(np.argsort(-rows, kind="stable")[:most]).tolist()


def with_others(counts: NDArray[np.int64], kept: list[int]) -> NDArray[np.int64]:
    """Rows of the classes that are kept, along the last axis, and behind them those of all others as one."""
    others = counts.sum(axis=-1, keepdims=True) - counts[..., kept].sum(axis=-1, keepdims=True)
    return np.concatenate([counts[..., kept], others], axis=-1)
