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
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def x_labels(display: Any) -> list[str]:
    return [label.get_text() for label in display.ax_.get_xticklabels()]


def y_labels(display: Any) -> list[str]:
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def texts_of(display: Any) -> list[str]:
    return [text.get_text() for text in display.ax_.texts]


def title_of(display: Any) -> str:
    return display.ax_.get_title(loc="left")
