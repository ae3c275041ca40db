"""Small pictures of parts and cells, as SVG in the page.

Lines have the colour of the text around them, which suits a dark page as well as a light one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.labels import counted
from gridmodl.report.classes import OKABE_ITO, largest, with_others
from gridmodl.report.notebook.markup import Markup, joined, name_tag, plain, tag

OTHER = "#999999"  # of all classes that have no colour of their own, and of what has no class
WIDTH, HEIGHT = 480, 80
MAX_DRAWN = 100  # parts; those beyond are one
GAP = 1.0  # between two parts


class Shares(NamedTuple):
    """Rows by part and class, of at most so many classes as there are colours."""

    counts: NDArray[np.int64]
    names: list[str]
    colours: list[str]


def shown_classes(counts: NDArray[np.int64], names: Sequence[Any]) -> Shares:
    """The largest classes with a colour each, and all others as one."""
    most = len(OKABE_ITO)
    if len(names) <= most:
        return Shares(counts, [plain(name) for name in names], list(OKABE_ITO[: len(names)]))
    kept = largest(counts.sum(axis=0), most)
    shown = [*(plain(names[j]) for j in kept), counted(len(names) - most, "other")]
    return Shares(with_others(counts, kept), shown, [*OKABE_ITO, OTHER])


def legend(shares: Shares) -> Markup:
    """Which colour is which class."""
    entries = [
        tag("span", _square(colour), name_tag(name), style="margin-right:12px;white-space:nowrap")
        for name, colour in zip(shares.names, shares.colours, strict=True)
    ]
    return tag("div", *entries)


def _square(colour: str) -> Markup:
    return tag("span", style=f"display:inline-block;width:10px;height:10px;margin-right:4px;background:{colour}")


def mosaic(
    shares: Shares, rows: NDArray[np.int64], labels: Sequence[str], width: int = WIDTH, height: int = HEIGHT
) -> Markup:
    """A column for each part, as wide as its share of the rows, in it the shares of the classes one above the other."""
    counts, rows, labels = _few(shares.counts, rows, labels)
    edges = _edges(rows, width)
    drawn = []
    for i, label in enumerate(labels):
        place = edges[i], max(edges[i + 1] - edges[i] - GAP, 0.5)
        boxes = _column(counts[i].tolist(), shares, place, height) or [_box(*place, 0.0, height, OTHER, 0.3)]
        drawn.append(tag("g", tag("title", f"{label}: {rows[i]} rows"), *boxes))
    return picture(f"shares of classes in {len(labels)} parts", drawn, width, height)


def _column(counts: list[int], shares: Shares, place: tuple[float, float], height: float) -> list[Markup]:
    """The shares in one part, the first class at the bottom; nothing if none of its rows has a class."""
    boxes, n, below = [], sum(counts), 0
    for count, colour in zip(counts, shares.colours, strict=True):
        if count:
            top = height * (1.0 - (below + count) / n)
            boxes.append(_box(*place, top, height * count / n, colour))
            below += count
    return boxes


def bars(rows: NDArray[np.int64], labels: Sequence[str], width: int = WIDTH, height: int = HEIGHT) -> Markup:
    """A bar for each part, as high as its rows."""
    _, rows, labels = _few(rows[:, None], rows, labels)
    step, most = width / len(rows), max(1, int(rows.max()))
    drawn = []
    for i, label in enumerate(labels):
        size = height * int(rows[i]) / most
        box = _box(i * step, max(step - GAP, 0.5), height - size, size, OKABE_ITO[0])
        drawn.append(tag("g", tag("title", f"{label}: {rows[i]} rows"), box))
    return picture(f"rows in {len(labels)} parts", drawn, width, height)


def histogram(shares: NDArray[np.float64], densities: NDArray[np.float64], titles: Sequence[str]) -> Markup:
    """A box for each part, as wide as its share of the domain and as high as its density."""
    edges = np.append(0.0, np.cumsum(shares)) * WIDTH
    heights = HEIGHT * densities / densities.max()
    drawn = []
    for i, title in enumerate(titles):
        box = _box(edges[i], max(edges[i + 1] - edges[i], 0.5), HEIGHT - heights[i], heights[i], OKABE_ITO[0])
        drawn.append(tag("g", tag("title", title), box))
    return picture(f"density in {len(titles)} parts", drawn, WIDTH, HEIGHT)


def ranges(quantiles: NDArray[np.float64], rows: NDArray[np.int64], labels: Sequence[str]) -> Markup:
    """Of each part the quantiles of a numerical target at 5, 25, 50, 75 and 95 %: a line, a box on it, a mark."""
    filled = np.flatnonzero(rows)[:MAX_DRAWN]
    low, high = float(quantiles[filled].min()), float(quantiles[filled].max())
    heights = HEIGHT * (high - quantiles) / (high - low if high > low else 1.0)
    step = WIDTH / len(filled)
    wide = min(step - GAP, 40.0)
    drawn = []
    for place, i in enumerate(filled.tolist()):
        q95, q75, q50, q25, q5 = heights[i, ::-1].tolist()
        middle = (place + 0.5) * step
        boxes = [
            _box(middle - 0.5, 1.0, q95, max(q5 - q95, 0.5), OTHER),
            _box(middle - wide / 2, wide, q75, max(q25 - q75, 0.5), OKABE_ITO[0]),
            _box(middle - wide / 2, wide, q50 - 1.0, 2.0, OKABE_ITO[1]),
        ]
        drawn.append(
            tag("g", tag("title", f"{plain(labels[i])}: median {quantiles[i, 2]:.6g}, {rows[i]} rows"), *boxes)
        )
    return picture(f"quantiles of the target in {len(filled)} parts", drawn, WIDTH, HEIGHT)


def heat_map(
    cells: NDArray[np.int64], lifts: NDArray[np.float64], labels: tuple[Sequence[str], Sequence[str]]
) -> Markup:
    """A box for each cell of two variables: orange where more rows are than its parts let expect, blue where fewer."""
    across, up = (len(of) for of in labels)
    width, height = WIDTH / across, HEIGHT * 2 / up
    drawn = []
    for (a, b), lift in zip(cells.tolist(), lifts.tolist(), strict=True):
        strength = min(1.0, abs(float(np.log(lift))) / np.log(4.0))  # four times, or a quarter of, what is expected
        colour = OKABE_ITO[1] if lift > 1.0 else OKABE_ITO[0]
        box = _box(
            a * width, max(width - GAP, 0.5), HEIGHT * 2 - (b + 1) * height, max(height - GAP, 0.5), colour, strength
        )
        drawn.append(tag("g", tag("title", f"{labels[0][a]}, {labels[1][b]}: {lift:.3g} times what is expected"), box))
    return picture(f"{across} by {up} cells", drawn, WIDTH, HEIGHT * 2)


def meter(share: float, width: int = 80) -> Markup:
    """A bar of a share from 0 to 1."""
    boxes = [
        _box(0.0, width, 0.0, 10.0, OTHER, 0.3),
        _box(0.0, width * min(max(share, 0.0), 1.0), 0.0, 10.0, OKABE_ITO[0]),
    ]
    return picture(f"{share:.4f}", boxes, width, 10)


def picture(what: str, drawn: Sequence[Markup], width: int, height: float) -> Markup:
    """The drawing in its frame, which shrinks with the page."""
    return tag(
        "svg",
        joined(*drawn),
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        aria_label=what,
        viewBox=f"0 0 {width} {height:g}",
        width=width,
        height=f"{height:g}",
        preserveAspectRatio="none",
        style="max-width:100%;vertical-align:middle",
    )


def _box(x: float, width: float, y: float, height: float, colour: str, opacity: float = 1.0) -> Markup:
    given = {} if opacity >= 1.0 else {"fill_opacity": f"{opacity:.3g}"}
    return tag("rect", x=f"{x:.6g}", y=f"{y:.6g}", width=f"{width:.6g}", height=f"{height:.6g}", fill=colour, **given)


def _edges(rows: NDArray[np.int64], width: int) -> list[float]:
    """Where parts begin, and where the last ends; one without rows has no width."""
    before = np.append(0, np.cumsum(rows))
    return (width * (before / max(1, int(before[-1])))).tolist()


def _few(
    counts: NDArray[np.int64], rows: NDArray[np.int64], labels: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
    """The first parts, and all beyond as one, of which no shares are told."""
    n = len(rows)
    if n <= MAX_DRAWN:
        return counts, rows, [plain(label) for label in labels]
    kept = MAX_DRAWN - 1
    return (
        np.vstack([counts[:kept], np.zeros_like(counts[:1])]),
        np.append(rows[:kept], rows[kept:].sum()),
        [*(plain(label) for label in labels[:kept]), f"{n - kept} more parts"],
    )
