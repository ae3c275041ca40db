"""Labels beside and below axes: whole if there is room, on several lines, smaller, shorter, or of some places only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from textwrap import wrap

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gridmodl.plot.axes.layout import FIXED, LETTER, LINE, SMALLEST, USUAL, font_for, size_in_points, slot_size
from gridmodl.plot.style import fitted

Labels = Callable[[int], list[str]]  # from the most characters of a label to the labels; no two look alike

WHOLE = 300  # characters that no label has
LARGE_ENOUGH = 0.75  # of a font, for labels on several lines; else they are shortened
MOST_LINES = 3  # of a label
FEWEST = 6  # characters of a shortened label
BESIDE, BELOW = 0.4, 0.36  # shares of a slot for labels on the left, and below
BELOW_LOW = 0.26  # share for labels below in a low slot, which a title and a legend take much of
SLANTED = 35.0  # degrees
WIDE = 14  # characters between labels below, from which on they are not slanted
STEEP = 3.0  # heights of a font between labels, below which they are upright


def as_labels(texts: Sequence[str]) -> Labels:
    return partial(fitted, texts)


def label_rows(ax: Axes, places: NDArray[np.float64], labels: Labels | Sequence[str]) -> None:
    """Write labels on the left, of every second, third, ... row if there is no room for all."""
    labels = labels if callable(labels) else as_labels(labels)
    ax.tick_params(axis="y", length=0)
    if not len(places):
        ax.set_yticks([])
        return
    pitch = size_in_points(ax)[1] / _span(ax.get_ylim()) * _closest(places)
    step = max(1, int(np.ceil(SMALLEST * LINE / pitch)))
    texts, size = in_lines(labels, BESIDE * slot_size(ax)[0], pitch * step, font_for(ax))
    ax.set_yticks(places[::step], texts[::step], fontsize=size, linespacing=1.0)


def label_columns(ax: Axes, places: NDArray[np.float64], labels: Labels | Sequence[str], width: float) -> None:
    """Write labels below axes that will be `width` points wide: side by side if there is room, else slanted or upright,
    and of every second, third, ... column if there are many."""
    labels, font = labels if callable(labels) else as_labels(labels), font_for(ax)
    ax.tick_params(axis="x", length=0)
    if not len(places):
        ax.set_xticks([])
        return
    pitch = width / _span(ax.get_xlim()) * _closest(places)
    whole, room = labels(WHOLE), max(1, int(pitch / (font * LETTER)) - 1)
    if max(len(word) for text in whole for word in text.split()) <= room and (
        room >= WIDE or all(len(_wrapped(text, room)) <= MOST_LINES for text in whole)
    ):
        texts, size = in_lines(labels, (room + 0.5) * font * LETTER, MOST_LINES * LINE * font, font)
        ax.set_xticks(places, texts, fontsize=size, linespacing=1.15)  # brackets of two lines do not touch
        return
    step = max(1, int(np.ceil(SMALLEST * LINE / pitch)))
    slant_labels(ax, places[::step], lambda room: labels(room)[::step], pitch * step)


def slant_labels(ax: Axes, places: NDArray[np.float64], labels: Labels, pitch: float) -> None:
    """Write labels below axes, slanted or upright if they are near, as long as the slot of the axes allows."""
    (width, height), font = slot_size(ax), font_for(ax)
    is_upright = pitch < STEEP * font
    angle = np.deg2rad(90.0 if is_upright else SLANTED)
    below = BELOW if height >= USUAL[1] else BELOW_LOW
    length = min(below * height / np.sin(angle), BELOW * width / max(1e-9, np.cos(angle)))
    texts, size = in_lines(labels, length, pitch * np.sin(angle), font)
    ax.set_xticks(places, texts, fontsize=size, ha="right", rotation_mode="anchor", linespacing=1.0)
    for label in ax.get_xticklabels():
        label.set(rotation=90.0 if is_upright else SLANTED, va="center" if is_upright else "top")


def in_lines(labels: Labels, width: float, height: float, font: float) -> tuple[list[str], float]:
    """The labels on lines that fit into `width` and `height` points, and their font size; shorter if they must be."""
    whole, found = labels(WHOLE), []
    for n_lines in range(1, MOST_LINES + 1):
        size = min(font, height / (n_lines * LINE))
        if n_lines > 1 and size < max(SMALLEST, LARGE_ENOUGH * font):
            break
        size = max(size, SMALLEST)
        room = max(1, int(width / (size * LETTER)))
        texts = [_wrapped(text, room) for text in whole]
        if _fit(texts, n_lines, room):
            return ["\n".join(text) for text in texts], size
        found.append((n_lines * room, n_lines, size, max(FEWEST, room)))
    size = min(found[0][2], max(SMALLEST, LARGE_ENOUGH * font))
    room = max(1, int(width / (size * LETTER)))
    if _fit([[text] for text in whole], 1, room):
        return [text.replace(FIXED, " ") for text in whole], size
    found.append((room, 1, size, max(FEWEST, room)))
    most, n_lines, size, room = max(found)
    while most > room:
        texts = [_wrapped(text, room) for text in labels(most)]
        if _fit(texts, n_lines, room):
            return ["\n".join(text) for text in texts], size
        most -= max(1, room // 8)
    return [text.replace(FIXED, " ") for text in labels(room)], size


def _wrapped(text: str, room: int) -> list[str]:
    """The text in lines of at most `room` characters, broken between words only; a longer word is a line."""
    return [line.replace(FIXED, " ") for line in wrap(text, room, break_long_words=False)]


def _fit(texts: Sequence[Sequence[str]], n_lines: int, room: int) -> bool:
    """Whether each text has at most `n_lines` lines, none of more than `room` characters."""
    return all(len(lines) <= n_lines and max(map(len, lines), default=0) <= room for lines in texts)


def _span(limits: tuple[float, float]) -> float:
    return abs(limits[1] - limits[0]) or 1.0


def _closest(places: NDArray[np.float64]) -> float:
    return float(np.diff(places).min(initial=1.0))
