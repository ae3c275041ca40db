"""Trees of merges: the order of their leaves, and a bracket for each merge."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from numpy.typing import NDArray

from gridmodl.plot.style import INK

LINES = 0.8  # points, width of the lines of a tree


def leaf_order(linkage: NDArray[np.float64]) -> NDArray[np.int64]:
    """Order of the parts in which no lines of the tree cross.

    The branch with the lower part comes first, so that intervals stay in ascending order.
    """
    n = len(linkage) + 1
    members: list[list[int]] = [[i] for i in range(n)]
    for left, right in linkage[:, :2].astype(np.int64).tolist():
        first, second = sorted((members[left], members[right]), key=min)
        members.append(first + second)
        members[left] = members[right] = []  # so that a long chain takes no more memory than its leaves
    return np.array(members[-1], dtype=np.int64)


def tree_lines(
    linkage: NDArray[np.float64], order: NDArray[np.int64], places: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Corners of the bracket of each merge, four per merge: place along the parts, and height.

    `places` are those of the parts in their `order`, by default 0, 1, 2, ...
    """
    n = len(linkage) + 1
    place, height = np.zeros(2 * n - 1), np.zeros(2 * n - 1)
    place[order] = np.arange(n) if places is None else places
    corners = np.empty((n - 1, 4, 2))
    for i, (left, right) in enumerate(linkage[:, :2].astype(np.int64).tolist()):
        top = height[n + i] = linkage[i, 2]
        place[n + i] = (place[left] + place[right]) / 2.0
        corners[i] = (place[left], height[left]), (place[left], top), (place[right], top), (place[right], height[right])
    return corners


def add_brackets(ax: Axes, corners: NDArray[np.float64], width: float = LINES) -> LineCollection:
    """Draw brackets with the `corners` that `tree_lines` returns, moved to their places on the axes."""
    drawn = LineCollection(list(corners), colors=INK, linewidths=width, clip_on=False)
    ax.add_collection(drawn, autolim=False)
    return drawn
