"""What tests read off a picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure


def new_axes(width: float = 6.0, height: float = 4.0) -> Axes:
    """Axes of a figure that pyplot knows nothing of."""
    return Figure(figsize=(width, height), layout="constrained").subplots()


def widths(bars: Any) -> np.ndarray:
    return np.array([bar.get_width() for bar in bars])


def legend_of(display: Any) -> list[str]:
    """Entries of the legend in the order in which they are read: line by line."""
    return [name for line in legend_lines(display) for name in line]


def legend_lines(display: Any) -> list[list[str]]:
    display.figure_.draw_without_rendering()  # which puts entries at their places
    texts = display.ax_.get_legend().get_texts()
    boxes = [text.get_window_extent() for text in texts]
    lines: dict[int, list[int]] = {}
    for i, box in enumerate(boxes):
        near = next((y for y in lines if abs(y - box.y0) < box.height / 2), round(box.y0))
        lines.setdefault(near, []).append(i)
    return [[texts[i].get_text() for i in sorted(lines[y], key=lambda i: boxes[i].x0)] for y in sorted(lines)[::-1]]


def x_labels(display: Any) -> list[str]:
    return [label.get_text() for label in display.ax_.get_xticklabels()]


def y_labels(display: Any) -> list[str]:
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def texts_of(display: Any) -> list[str]:
    return [text.get_text() for text in display.ax_.texts]


def title_of(display: Any) -> str:
    return display.ax_.get_title(loc="left")
