"""Room for what is drawn: the slot of given axes, fonts that suit it, titles and legends, and nothing outside of it.

The slot of axes is the part of their figure that is theirs: half the way to the axes beside them, or up to the edge of
the figure. A figure with a layout engine makes room for labels by itself; in others, axes are made smaller until all
that is written around them is in their slot.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator
from matplotlib.text import Text
from matplotlib.ticker import AutoLocator, EngFormatter, FixedLocator, MaxNLocator
from matplotlib.transforms import Bbox

from gridmodl.plot.style import fitted

SMALLEST = 5.5  # points, the smallest readable font
LARGEST = 9.0  # points, the largest font of labels
LINE = 1.25  # height of a line of text, in heights of its font
LETTER = 0.6  # width of a letter, in heights of its font
INCH = 72.0  # points
USUAL = 360.0, 230.0  # points, width and height of a slot from which on fonts are the largest
PAD = 3.0  # points between what is written and the edge of a slot
LEAST_SHARE = 0.12  # of the slot that axes keep at least, across and down
INSIDE = 0.6  # estimated share of the width and height of a slot that labels leave
SHARED = 0.42  # the same share of the width where layouts give all subplots of a column the same margins
ENTRY = 1.4  # height of a line of a legend, in heights of its font
MOST_ENTRIES = 0.22  # share of the height of a slot for a legend
MOST_TITLE = 0.22  # share of it for a title of more than two lines
BESIDE_ROWS = 0.76  # share of the width of axes that bars of rows at their right leave
MOST_TICKS, TICK_GAP = 7, 3.0  # ticks below axes whose labels would touch, and points between two labels
FEWEST_DATES, MOST_DATES = 2, 5  # of ticks at dates; with fewer than the latter matplotlib may find no interval
SIDE_LINES = 3  # of the name of an axis
BEYOND_SIDE = 1.3  # lengths of a side that a long word in the name of its axis may take
SHORT = 0.4  # of the first line: a last line below that looks like a leftover
FIXED = "\N{NO-BREAK SPACE}"  # in a label or a title, a blank where no line ends
CUT = " …"  # at the end of a text that there is no room for
HANDLE = 4  # characters that the mark of an entry of a legend takes


def axes_for(ax: Axes | None, width: float, height: float) -> Axes:
    """`ax`, or the axes of a new figure of this size in inches, whose layout makes room for labels."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # only here: a given ax leaves the figures of pyplot alone

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def _slot(ax: Axes) -> Bbox:
    """The slot of the axes, in shares of their figure."""
    mine = _given_place(ax)
    x0, y0, x1, y1 = 0.0, 0.0, 1.0, 1.0
    for other in ax.figure.axes:
        box = _given_place(other)
        if other is ax or np.allclose(box.extents, mine.extents):  # a twin
            continue
        if box.y0 < mine.y1 and mine.y0 < box.y1:
            x0 = max(x0, (box.x1 + mine.x0) / 2.0) if box.x1 <= mine.x0 else x0
            x1 = min(x1, (box.x0 + mine.x1) / 2.0) if box.x0 >= mine.x1 else x1
        if box.x0 < mine.x1 and mine.x0 < box.x1:
            y0 = max(y0, (box.y1 + mine.y0) / 2.0) if box.y1 <= mine.y0 else y0
            y1 = min(y1, (box.y0 + mine.y1) / 2.0) if box.y0 >= mine.y1 else y1
    return Bbox.from_extents(x0, y0, x1, y1)


def _given_place(ax: Axes) -> Bbox:
    """Place of the axes in their figure before they were made smaller, if they are one of several subplots."""
    spec = ax.get_subplotspec()
    return ax.get_position(original=True) if spec is None else spec.get_position(ax.figure)  # type: ignore[arg-type]


def slot_size(ax: Axes) -> tuple[float, float]:
    """Width and height in points of the slot of the axes."""
    box, slot = ax.figure.bbox, _slot(ax)
    scale = INCH / ax.figure.dpi
    return slot.width * box.width * scale, slot.height * box.height * scale


def is_laid_out(ax: Axes) -> bool:
    """Whether the figure makes room for labels by itself."""
    return ax.figure.get_layout_engine() is not None


def font_for(ax: Axes) -> float:
    """Largest font size of labels: `LARGEST`, or less in a small slot."""
    width, height = slot_size(ax)
    return max(SMALLEST, LARGEST * min(1.0, min(width / USUAL[0], height / USUAL[1]) ** 0.5))


def size_in_points(ax: Axes) -> tuple[float, float]:
    """Estimated width and height of the axes, as layout is only known at the end."""
    box = ax.get_window_extent()
    scale = INCH / ax.figure.dpi
    width, height = box.width * scale, box.height * scale
    across, down = slot_size(ax)
    share = SHARED if is_laid_out(ax) and _n_rows(ax) > 1 else INSIDE
    return min(width, share * across), height if is_laid_out(ax) else min(height, INSIDE * down)


def _is_only_subplot(ax: Axes) -> bool:
    spec = ax.get_subplotspec()
    return spec is not None and spec.get_geometry()[:2] == (1, 1)


def _n_rows(ax: Axes) -> int:
    """Rows of subplots in the figure of the axes."""
    spec = ax.get_subplotspec()
    return 1 if spec is None else spec.get_gridspec().nrows


def fitting_font(room: float, largest: float = LARGEST) -> float | None:
    """Font size for lines at most `room` points apart; None if it would be unreadable."""
    size = min(largest, room / LINE)
    return size if size >= SMALLEST else None


def plain_frame(ax: Axes, *kept: str) -> None:
    """Remove the lines around the axes, except on the sides in `kept`."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in kept)


def count_ticks(axis: Any, n_ticks: int = 2) -> None:
    """Set at most about `n_ticks` ticks at whole numbers, such as 500, 20k, 1M."""
    axis.set_major_locator(MaxNLocator(n_ticks, integer=True, min_n_ticks=1))
    axis.set_major_formatter(EngFormatter(sep=""))


def finish(
    ax: Axes,
    title: str | Sequence[str],
    entries: Sequence[tuple[Any, str]] = (),
    twins: Sequence[Axes] = (),
    label: Callable[[], None] | None = None,
) -> None:
    """Write the title, and the legend below it if there are entries; then make all of it stay inside the slot.

    Of several titles, the first that there is room for is written. `twins` are axes in the same place. `label` writes
    the labels of the axes again, for the size that they have then.
    """
    font, around = font_for(ax), (ax, *twins)
    children = [child for child in ax.child_axes if isinstance(child, Axes)]
    for one in (*around, *children):
        _limit_fonts(one, font)
    _wrap_sides(ax, around, children, font)
    _fit(ax, around)
    _write_above(ax, around, title, entries, font)
    if label is not None:
        for _ in range(2):  # as labels that take other room change the size
            label()
            _wrap_sides(ax, around, children, font)
            _fit(ax, around)
    for one in around:
        _thin_ticks(one)
    legend = ax.get_legend() if entries else None
    if legend is not None:
        if _width(legend) > _room_above(ax, around):  # as labels took more room
            _write_above(ax, around, title, entries, font)
            legend = ax.get_legend()
        _let_in(legend, ax, around)


def _thin_ticks(ax: Axes) -> None:
    """Leave out ticks below the axes, where matplotlib chose them, until no two of their labels touch."""
    axis = ax.xaxis
    locator = axis.get_major_locator()
    if isinstance(locator, FixedLocator) and _are_shares(ax) and _do_touch(ax):
        ends, labels = axis.get_ticklocs()[[0, -1]], axis.get_ticklabels()
        sides = [labels[0].get_horizontalalignment(), labels[-1].get_horizontalalignment()]
        ax.set_xticks(ends, [labels[0].get_text(), labels[-1].get_text()])
        for label, side in zip(axis.get_ticklabels(), sides, strict=True):
            label.set_horizontalalignment(side)
    if not isinstance(locator, (AutoLocator, AutoDateLocator)):
        return
    for n_ticks in range(MOST_TICKS, 1, -1):
        if not _do_touch(ax):
            return
        if isinstance(locator, AutoDateLocator):
            locator.minticks = FEWEST_DATES
            locator.maxticks = dict.fromkeys(locator.maxticks, max(MOST_DATES, n_ticks))
        else:
            axis.set_major_locator(MaxNLocator(n_ticks, steps=[1, 2, 2.5, 5, 10]))


def _are_shares(ax: Axes) -> bool:
    """Whether the axis below has three ticks at shares."""
    texts = [label.get_text() for label in ax.get_xticklabels()]
    return len(texts) == 3 and all(text.endswith("%") for text in texts)


def _do_touch(ax: Axes) -> bool:
    """Whether labels of ticks below the axes touch."""
    boxes = [
        label.get_window_extent()
        for label in ax.get_xticklabels()
        if label.get_text() and _is_within(label.get_position()[0], ax.get_xlim())
    ]
    boxes.sort(key=lambda box: box.x0)
    gap = TICK_GAP * ax.figure.dpi / INCH
    return any(after.x0 - before.x1 < gap for before, after in itertools.pairwise(boxes))


def _is_within(value: Any, limits: tuple[float, float]) -> bool:
    return min(limits) <= float(value) <= max(limits)


def _write_above(
    ax: Axes, around: Sequence[Axes], title: str | Sequence[str], entries: Sequence[tuple[Any, str]], font: float
) -> None:
    """Write the title, and the legend below it if there are entries, for the room above the axes."""
    room = _room_above(ax, around)
    n_lines = _add_legend(ax, entries, room, font) if entries else 0
    size = font * (LARGEST + 1.0) / LARGEST
    most = int(np.clip(slot_size(ax)[1] * MOST_TITLE / (size * LINE), 2, 4))
    titles, letters = [title] if isinstance(title, str) else title, max(12, int(room / (size * LETTER)))
    variants = [wrapped(one, letters, most) for one in titles]
    lines = next((lines for lines in variants if not lines or not lines[-1].endswith(CUT)), variants[-1])
    pad = 4.0 + (3.0 + n_lines * font * ENTRY if n_lines else 2.0)  # which keeps room for the legend
    ax.set_title("\n".join(lines).replace(FIXED, " "), fontsize=size, loc="left", pad=pad)
    _fit(ax, around)


def _let_in(legend: Any, ax: Axes, around: Sequence[Axes]) -> None:
    """Let layouts see the legend, unless it could make the axes narrow.

    A legend that ends right of all else is not less wide on narrower axes, so that layouts would make them narrower
    again and again. Alone in a figure such a legend has room; axes beside them may take it away.
    """
    is_alone = all(other in around or other in ax.child_axes for other in ax.figure.axes)
    is_inside = legend.get_window_extent().x1 <= _extent(around).x1
    legend.set_in_layout(is_inside or (is_alone and _width(legend) <= _room_above(ax, around)))


def wrapped(text: str, letters: int, most: int) -> list[str]:
    """Lines of at most `letters`, at most `most` of them; a short last line takes words from those before it."""
    lines = wrap(text, letters, break_on_hyphens=False, max_lines=most, placeholder=CUT)
    if len(lines) < 2 or len(lines[-1]) >= SHORT * len(lines[0]) or " ".join(lines) != " ".join(text.split()):
        return lines
    for fewer in range(len(lines[-1]), letters):
        balanced = wrap(text, fewer, break_on_hyphens=False, break_long_words=False)
        if len(balanced) == len(lines) and max(map(len, balanced)) <= letters:
            return balanced
    return lines


def _limit_fonts(ax: Axes, font: float) -> None:
    """Make texts that are larger than `font` as large."""
    for axis in (ax.xaxis, ax.yaxis):
        sizes = [float(label.get_fontsize()) for label in axis.get_ticklabels()]
        if sizes and max(sizes) > font:
            axis.set_tick_params(labelsize=font)
    for text in ax.findobj(Text):
        if float(text.get_fontsize()) > font:
            text.set_fontsize(font)


def _wrap_sides(ax: Axes, around: Sequence[Axes], children: Sequence[Axes], font: float) -> None:
    """Break names of axes that are longer than the axes into lines."""
    width, height = size_in_points(ax)
    for one in (*around, *children):
        for axis, room in ((one.xaxis, width * (BESIDE_ROWS if children else 1.0)), (one.yaxis, height)):
            text = axis.label.get_text().replace("\n", " ")
            letters = max(12, int(room / (font * LETTER)))
            longest = max(map(len, text.split()), default=0)
            letters = max(letters, min(longest, int(letters * BEYOND_SIDE)))  # no line ends inside a word
            axis.label.set_text("\n".join(wrapped(text, letters, SIDE_LINES)))


def _room_above(ax: Axes, around: Sequence[Axes]) -> float:
    """Width in points from the left end of the axes to the right end of their slot."""
    scale = INCH / ax.figure.dpi
    box, slot = ax.get_window_extent(), _slot(ax).transformed(ax.figure.transSubfigure)
    if not is_laid_out(ax) or _is_only_subplot(ax):
        return float((slot.x1 - box.x0) * scale) - PAD
    return float((slot.width - (box.x0 - _extent(around).x0)) * scale) - PAD


def _extent(around: Sequence[Axes]) -> Bbox:
    return Bbox.union([box for box in (one.get_tightbbox() for one in around) if box is not None])


def _width(legend: Any) -> float:
    """Width in points."""
    return float(legend.get_window_extent().width) * INCH / float(legend.figure.dpi)


def _add_legend(ax: Axes, entries: Sequence[tuple[Any, str]], room: float, font: float) -> int:
    """Add a legend above the axes in as many columns as there is room for; return its number of lines."""
    handles, texts = [handle for handle, _ in entries], [name for _, name in entries]
    most = max(1, int(slot_size(ax)[1] * MOST_ENTRIES / (font * ENTRY)))

    def may_be_whole(n_columns: int) -> bool:
        widths = [max(map(len, texts[i::n_columns])) + HANDLE for i in range(n_columns)]
        return sum(widths) <= room / (font * LETTER)

    for n_columns in range(len(texts), 0, -1):
        letters = int(room / n_columns / (font * LETTER)) - HANDLE
        n_lines = -(-len(texts) // n_columns)
        if may_be_whole(n_columns):
            letters = max(map(len, texts))
            break
        if n_columns == 1 or (n_lines + 1 > most + may_be_whole(n_columns - 1) and letters >= 8):
            break
    letters = max(8, letters)
    # matplotlib fills columns, and a legend is read line by line.
    order = [i for first in range(n_columns) for i in range(first, len(texts), n_columns)]
    while True:
        shown = fitted(texts, letters)
        legend = ax.legend(
            [handles[i] for i in order], [shown[i] for i in order],
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=n_columns,
            frameon=False, fontsize=font, borderaxespad=0.2, borderpad=0.2, handlelength=1.2, handletextpad=0.5,
            columnspacing=1.2, labelspacing=ENTRY - 1.1,
        )  # fmt: skip
        legend.set_in_layout(False)  # see `_let_in`
        if letters <= 8 or _width(legend) <= room:
            return n_lines
        letters = min(letters, max(map(len, texts))) - 2


def _fit(ax: Axes, around: Sequence[Axes]) -> None:
    """Make axes smaller until all that is around them is in their slot, or let the layout engine do it, if any."""
    engine = ax.figure.get_layout_engine()
    if engine is not None:
        engine.execute(ax.figure.figure)  # of subfigures, the whole
        return
    figure, pad = ax.figure, PAD * ax.figure.dpi / INCH
    slot = _slot(ax).transformed(figure.transSubfigure)
    for _ in range(3):  # as ticks change with the size
        box, all_of_it = ax.get_window_extent(), _extent(around)
        x0, x1 = _moved(box.x0, box.x1, slot.x0 + pad - all_of_it.x0, all_of_it.x1 - slot.x1 + pad, slot.width)
        y0, y1 = _moved(box.y0, box.y1, slot.y0 + pad - all_of_it.y0, all_of_it.y1 - slot.y1 + pad, slot.height)
        if abs(x0 - box.x0) + abs(x1 - box.x1) + abs(y0 - box.y0) + abs(y1 - box.y1) < 1.0:
            return
        ax.set_position(figure.transSubfigure.inverted().transform_bbox(Bbox.from_extents(x0, y0, x1, y1)))
        ax.set_in_layout(True)  # which `set_position` takes away


def _moved(low: float, high: float, below: float, above: float, whole: float) -> tuple[float, float]:
    """Ends of axes that are `below` and `above` too far out, which keep a share of the `whole` between them."""
    low, high = low + max(0.0, below), high - max(0.0, above)
    lacking = LEAST_SHARE * whole - (high - low)
    return (low, high) if lacking <= 0.0 else (low - lacking / 2.0, high + lacking / 2.0)
