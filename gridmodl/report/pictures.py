"""Colours of classes, and HTML elements and small SVG pictures for notebooks.

All text is escaped: no name or value of the user's becomes a tag. Lines have the colour of the text around them, which
suits a dark page as well as a light one.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.model.labels import counted
from gridmodl.model.names import shortened
from gridmodl.report.tables import largest, with_others

# Colours of M. Okabe and K. Ito, "Color universal design", 2008, without black, which a dark page would hide; the same
# in matplotlib, notebooks and pages (`chart.js` repeats them).
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442")
OTHER = "#999999"  # of all classes that have no colour of their own, and of rows without a class
PALETTE = (*OKABE_ITO, OTHER)
# Colours of the largest classes of each part, where there are too many classes for a colour each.
RANKS = {
    "largest": "#08306B", "second": "#08519C", "third": "#2171B5", "fourth": "#4292C6", "fifth": "#6BAED6",
    "sixth": "#9ECAE1", "seventh": "#C6DBEF", "eighth": "#DEEBF7",
}  # fmt: skip
REST = "#EEEEEE"  # of the classes beyond these ranks: so pale that what is known of a part is what one sees
FAINT = "rgba(128,128,128,0.2)"  # the same on a page that may be light or dark
MOSTLY = 0.8  # share of the rows that classes with colours have, or else each part has its own largest classes

WIDTH, HEIGHT = 480, 80
MAX_DRAWN = 100  # parts drawn one by one; the rest is drawn as one
GAP = 1.0  # between two parts

MAX_TEXT = 60  # characters of a name
MAX_LEFT_OUT, MAX_REASON = 100, 200  # columns left out, and characters of the reason
MAX_LABEL = 200  # characters of the label of a part, which may name several values
ONE_LINE = 48  # characters of a text that is not broken: dates and numbers would break at their signs

CELL = "padding:2px 8px;border:none"
LEFT = "text-align:left;overflow-wrap:normal;word-break:normal"
RIGHT = "text-align:right;white-space:nowrap"
LINE = "border-bottom:1px solid rgba(128,128,128,0.5)"


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def plain(value: Any, most: int = MAX_TEXT) -> str:
    """The value as text, shortened to `most` characters; characters that cannot be printed are escaped.

    No character that changes the direction of a line, ends it or is no valid text reaches the page.
    """
    text = shortened(str(value), most)
    return text if text.isprintable() else repr(text)[1:-1]


def escaped(value: Any) -> Markup:
    """Markup unchanged; any other value as escaped text."""
    return value if isinstance(value, Markup) else Markup(html.escape(str(value), quote=True))


def tag(name: str, *children: Any, **attributes: Any) -> Markup:
    """An element. In names of attributes ``_`` stands for ``-``; a trailing ``_`` is dropped (``class_``)."""
    written = "".join(f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: Any) -> Markup:
    return Markup("".join(map(escaped, children)))


def name_tag(value: Any, most: int = MAX_TEXT) -> Markup:
    """A name, isolated from its surroundings as it may run from right to left."""
    return tag("bdi", plain(value, most))


def label_tag(label: str) -> Markup:
    """The label of a part."""
    return name_tag(label, MAX_LABEL)


def frame(*children: Any) -> Markup:
    """The outermost element of what a notebook shows of one object."""
    style = "font-size:13px;line-height:1.5;overflow-x:auto"
    return tag("div", *children, class_="mathjax_ignore tex2jax_ignore", style=style)  # names are no formulas


def lines(*texts: Any) -> Markup:
    return joined(*(tag("div", text) for text in texts))


def table(heads: Sequence[Any], rows: Sequence[Sequence[Any]], n_left: int = 1) -> Markup:
    """A table whose first `n_left` columns are aligned left and the others right."""
    head = [tag("th", text, style=f"{CELL};{LINE};{_side(text, i < n_left)}") for i, text in enumerate(heads)]
    body = [
        tag("tr", *(tag("td", text, style=f"{CELL};{_side(text, i < n_left)}") for i, text in enumerate(row)))
        for row in rows
    ]
    # No colours, so that the table suits a dark page as well as a light one.
    style = "border-collapse:collapse;border:none;margin:4px 0;table-layout:auto;width:auto;font-size:inherit"
    return tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body), style=style)


def _side(text: Any, is_left: bool) -> str:
    """Style of a cell; only a long text of a column that is aligned left may take several lines."""
    if not is_left:
        return RIGHT
    shown = html.unescape(re.sub(r"<[^<>]*>", "", escaped(text)))
    return f"{LEFT};white-space:{'nowrap' if len(shown) <= ONE_LINE else 'normal'}"


def folded(head: Any, *children: Any, is_open: bool = False) -> Markup:
    """Children that a click on `head` opens and closes, without a script."""
    state = {"open": "open"} if is_open else {}
    return tag("details", tag("summary", head, style="cursor:pointer"), *children, **state)


def left_out_fold(left_out: Mapping[Name, str]) -> Markup:
    """A fold with the columns that are left out, and why; nothing without any."""
    if not left_out:
        return Markup("")
    rows = [[name_tag(name), plain(why, MAX_REASON)] for name, why in list(left_out.items())[:MAX_LEFT_OUT]]
    n_more = len(left_out) - len(rows)
    more = tag("div", f"... and {counted(n_more, 'more column')}") if n_more else Markup("")
    return folded(f"columns left out: {len(left_out)}", table(["column", "why"], rows, 2), more)


class ShownClasses(NamedTuple):
    """The classes of a picture: all, or the largest ones and all others as one."""

    names: list[str]
    colours: list[str]
    counts: NDArray[np.int64]  # rows by class, along the last axis


def shown_classes(
    counts: NDArray[np.int64], names: Sequence[str], palette: Sequence[str] = PALETTE, most: int = len(PALETTE)
) -> ShownClasses:
    """At most `most` classes, in their order, a colour each; the last stands for all others if there are more.

    The last colour of the palette is that of all others.
    """
    if most < 2:
        raise ValueError(f"max_classes must be at least 2, one for all others among them, got {most!r}")
    n, n_colours = len(names), len(palette) - 1
    if n <= min(most, n_colours):
        return ShownClasses(list(names), list(palette[:n]), counts)
    kept = largest(counts.reshape(-1, n).sum(axis=0), min(most - 1, n_colours))
    return ShownClasses(
        [*(names[j] for j in kept), counted_others(n - len(kept))],
        [*palette[: len(kept)], palette[-1]],
        with_others(counts, kept),
    )


def is_too_many(counts: NDArray[np.int64], most: int) -> bool:
    """Whether colours for `most` classes, the last for all others, would leave many rows without one of their own."""
    n_classes = counts.shape[-1]
    if n_classes <= most:
        return False
    rows = np.sort(counts.reshape(-1, n_classes).sum(axis=0))[::-1]
    return bool(rows[: most - 1].sum() < MOSTLY * rows.sum())


def ranked_classes(
    counts: NDArray[np.int64], n_ranks: int = len(RANKS), others: str = REST
) -> tuple[ShownClasses, NDArray[np.int64]]:
    """The largest classes of each part by their rank, and all `others`, a colour; and which class has which rank."""
    order = np.argsort(-counts, axis=-1, kind="stable")[..., :n_ranks]
    ranked = np.take_along_axis(counts, order, axis=-1)
    rest = counts.sum(axis=-1, keepdims=True) - ranked.sum(axis=-1, keepdims=True)
    names = [*list(RANKS)[:n_ranks], counted_others(counts.shape[-1] - n_ranks)]
    colours = [*list(RANKS.values())[:n_ranks], others]
    return ShownClasses(names, colours, np.concatenate([ranked, rest], axis=-1)), order


def counted_others(n: int) -> str:
    """Name of `n` classes that are drawn as one."""
    return f"{n} other class{'es' * (n != 1)}"


def legend(shares: ShownClasses) -> Markup:
    """The colour of each class."""
    entries = [
        tag("span", _square(colour), name_tag(name), style="margin-right:12px;white-space:nowrap")
        for name, colour in zip(shares.names, shares.colours, strict=True)
    ]
    return tag("div", *entries)


def _square(colour: str) -> Markup:
    return tag("span", style=f"display:inline-block;width:10px;height:10px;margin-right:4px;background:{colour}")


def mosaic(
    shares: ShownClasses, rows: NDArray[np.int64], labels: Sequence[str], width: int = WIDTH, height: int = HEIGHT
) -> Markup:
    """A column for each part, as wide as its share of the rows, divided by the shares of the classes."""
    counts, rows, labels = _few(shares.counts, rows, labels)
    edges = _edges(rows, width)
    drawn = []
    for i, label in enumerate(labels):
        place = edges[i], max(edges[i + 1] - edges[i] - GAP, 0.5)
        boxes = _column(counts[i].tolist(), shares, place, height) or [_box(*place, 0.0, height, OTHER, 0.3)]
        drawn.append(tag("g", tag("title", f"{label}: {rows[i]} rows"), *boxes))
    return picture(f"shares of classes in {len(labels)} parts", drawn, width, height)


def _column(counts: list[int], shares: ShownClasses, place: tuple[float, float], height: float) -> list[Markup]:
    """Boxes of the shares in one part, the first class at the bottom; none if the part has no labelled rows."""
    boxes, n, below = [], sum(counts), 0
    for count, colour in zip(counts, shares.colours, strict=True):
        if count:
            top = height * (1.0 - (below + count) / n)
            boxes.append(_box(*place, top, height * count / n, colour))
            below += count
    return boxes


def bars(rows: NDArray[np.int64], labels: Sequence[str], width: int = WIDTH, height: int = HEIGHT) -> Markup:
    """A bar for each part, its height proportional to its rows."""
    _, rows, labels = _few(rows[:, None], rows, labels)
    step, most = width / len(rows), max(1, int(rows.max()))
    drawn = []
    for i, label in enumerate(labels):
        size = height * int(rows[i]) / most
        box = _box(i * step, max(step - GAP, 0.5), height - size, size, OKABE_ITO[0])
        drawn.append(tag("g", tag("title", f"{label}: {rows[i]} rows"), box))
    return picture(f"rows in {len(labels)} parts", drawn, width, height)


def histogram(
    shares: NDArray[np.float64],
    densities: NDArray[np.float64],
    titles: Sequence[str],
    masses: Sequence[tuple[float, float, str]] = (),
) -> Markup:
    """A box for each part, as wide as its share of the domain and as high as its density.

    A mass is a stroke: its place from 0 to 1, its share of the rows, as high as that, and its title.
    """
    edges = np.append(0.0, np.cumsum(shares)) * WIDTH
    heights = HEIGHT * densities / densities.max()
    drawn = []
    for i, title in enumerate(titles):
        box = _box(edges[i], max(edges[i + 1] - edges[i], 0.5), HEIGHT - heights[i], heights[i], OKABE_ITO[0])
        drawn.append(tag("g", tag("title", title), box))
    for at, share, title in masses:
        left = min(max(at * WIDTH - 1.5, 0.0), WIDTH - 3.0)
        box = _box(left, 3.0, HEIGHT * (1.0 - share), HEIGHT * share, OKABE_ITO[3])
        drawn.append(tag("g", tag("title", title), box))
    return picture(f"density in {len(titles)} parts", drawn, WIDTH, HEIGHT)


def ranges(
    quantiles: NDArray[np.float64],
    rows: NDArray[np.int64],
    labels: Sequence[str],
    width: int = WIDTH,
    height: int = HEIGHT,
) -> Markup:
    """Quantiles of a numerical target in each part: a line (5 to 95 %), a box (25 to 75 %) and a mark (50 %)."""
    filled = np.flatnonzero(rows)[:MAX_DRAWN]
    low, high = float(quantiles[filled].min()), float(quantiles[filled].max())
    # Each is divided before they are subtracted: the difference may be above the largest float.
    span = high / 4.0 - low / 4.0
    heights = height * ((high / 4.0 - quantiles / 4.0) / (span if span > 0.0 else 1.0))
    step = width / len(filled)
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
    return picture(f"quantiles of the target in {len(filled)} parts", drawn, width, height)


def heat_map(
    cells: NDArray[np.int64], lifts: NDArray[np.float64], labels: tuple[Sequence[str], Sequence[str]]
) -> Markup:
    """A box for each cell of two variables: orange where the cell has more rows than expected, blue where fewer."""
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
    """A bar filled by `share`, from 0 to 1."""
    boxes = [
        _box(0.0, width, 0.0, 10.0, OTHER, 0.3),
        _box(0.0, width * min(max(share, 0.0), 1.0), 0.0, 10.0, OKABE_ITO[0]),
    ]
    return picture(f"{share:.4f}", boxes, width, 10)


def picture(what: str, drawn: Sequence[Markup], width: int, height: float) -> Markup:
    """An SVG element of these drawings, which shrinks with the page."""
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
    style = {} if opacity >= 1.0 else {"fill_opacity": f"{opacity:.3g}"}
    return tag("rect", x=f"{x:.6g}", y=f"{y:.6g}", width=f"{width:.6g}", height=f"{height:.6g}", fill=colour, **style)


def _edges(rows: NDArray[np.int64], width: int) -> list[float]:
    """Left edges of the parts and the right edge of the last; a part without rows has no width."""
    before = np.append(0, np.cumsum(rows))
    return (width * (before / max(1, int(before[-1])))).tolist()


def _few(
    counts: NDArray[np.int64], rows: NDArray[np.int64], labels: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
    """At most `MAX_DRAWN` parts: the first ones, and all others as one without shares."""
    n = len(rows)
    if n <= MAX_DRAWN:
        return counts, rows, [plain(label) for label in labels]
    kept = MAX_DRAWN - 1
    return (
        np.vstack([counts[:kept], np.zeros_like(counts[:1])]),
        np.append(rows[:kept], rows[kept:].sum()),
        [*(plain(label) for label in labels[:kept]), f"{n - kept} more parts"],
    )
