"""The tree of merges of one variable, drawn beside the cells of a grid."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from numpy.typing import NDArray

from gridmodl.plot.colours import INK

BESIDE = 0.2  # room for a tree, in widths of the cells
GAP = 0.02  # between cells and tree, likewise
LINES = 0.8  # points


def leaf_order(linkage: NDArray[np.float64]) -> NDArray[np.int64]:
    """Parts in an order in which no lines cross; of two branches that with the lower part first, so that intervals
    stay in ascending order."""
    n = len(linkage) + 1
    members: list[list[int]] = [[i] for i in range(n)]
    for left, right in linkage[:, :2].astype(np.int64).tolist():
        first, second = sorted((members[left], members[right]), key=min)
        members.append(first + second)
        members[left] = members[right] = []  # so that a long chain takes no more memory than its leaves
    return np.array(members[-1], dtype=np.int64)


def tree_lines(linkage: NDArray[np.float64], order: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of each merge the four corners of its bracket: places along the parts, and heights."""
    n = len(linkage) + 1
    place, height = np.zeros(2 * n - 1), np.zeros(2 * n - 1)
    place[order] = np.arange(n)
    corners = np.empty((n - 1, 4, 2))
    for i, (left, right) in enumerate(linkage[:, :2].astype(np.int64).tolist()):
        top = height[n + i] = linkage[i, 2]
        place[n + i] = (place[left] + place[right]) / 2.0
        corners[i] = (place[left], height[left]), (place[left], top), (place[right], top), (place[right], height[right])
    return corners


def draw_tree(ax: Axes, corners: NDArray[np.float64], n_across: int, on_top: bool) -> LineCollection:
    """The tree above the cells, or to their right; `n_across` is how many cells are below it."""
    lines = corners.copy()
    highest = float(corners[..., 1].max()) or 1.0
    lines[..., 1] = n_across * (1.0 + GAP + (BESIDE - GAP) * corners[..., 1] / highest) - 0.5
    drawn = LineCollection(list(lines if on_top else lines[..., ::-1]), colors=INK, linewidths=LINES, clip_on=False)
    ax.add_collection(drawn, autolim=False)
    return drawn
