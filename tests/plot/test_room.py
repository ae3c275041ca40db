"""Names that are long, alike and many: no two labels of a picture look alike, and nothing is outside of its figure."""

from __future__ import annotations

import itertools
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from plot.drawn import legend_lines, legend_of
from plot.plot_cases import COUNTS, LINKAGE, contributions, event_display, intervals, many_classes, numbers_display

import gridmodl
from gridmodl import plot
from gridmodl.plot.axes.layout import FIXED, SMALLEST
from gridmodl.plot.cells import cell_labels
from gridmodl.plot.style import fitted, part_labels
from gridmodl.report.averages import Curve

LONG = "https://www.example.org/departments/of/the/company/"
SIDES = "north", "south", "east", "west"


def sites(n_groups: int, n_values: int = 60, name: str = "the department of the application") -> gridmodl.Partition:
    """Groups of many long names that begin alike."""
    groups = tuple(
        tuple(f"{LONG}unit {i:02d}{j:03d} of {SIDES[j % 4]}" for j in range(n_values)) for i in range(n_groups)
    )
    return gridmodl.Partition(name, "categorical", COUNTS[:n_groups, 1, :2], groups=groups)


def renamed() -> gridmodl.Partition:
    partition = sites(4)
    names = tuple(f"All departments whose customers are in risk class {i} of the handbook of 2024" for i in range(4))
    return gridmodl.Partition("unit", "categorical", partition.counts, groups=partition.groups, given_names=names)


def moments(n_parts: int = 5) -> gridmodl.Partition:
    bounds = np.datetime64("2020-01-01T05:27:24.328") + np.arange(1, n_parts) * np.timedelta64(3_333_333, "ms")
    return gridmodl.Partition("moment of the first contact", "numerical", COUNTS[:n_parts, 0, :2], bounds=bounds)


def one_large(n_parts: int = 23) -> gridmodl.Partition:
    counts = np.ones((n_parts, 2), dtype=np.int64) * 9
    counts[0] = 9000
    return gridmodl.Partition("capital_gain", "numerical", counts, bounds=np.geomspace(50.5, 99_999.5, n_parts - 1))


def cells(n_cells: int = 30, n_classes: int = 2) -> plot.CellsDisplay:
    parts = [[intervals(6).names[i % 6], sites(5).names[i // 6], "0: what all share"] for i in range(n_cells)]
    classes = [f"diagnosis group number {j:03d} of chapter {j // 10}" for j in range(n_classes)]
    counts = many_classes(n_cells, max(n_classes, 3 * n_cells)).counts[:, :n_classes]
    return plot.CellsDisplay(["annual income of the household", "department", "country"], parts, counts, classes)


def joint() -> plot.GridDisplay:
    counts = np.array([[40, 2, 0, 0], [3, 0, 30, 1], [0, 20, 0, 2], [1, 0, 0, 900]])[..., None]
    return plot.GridDisplay(sites(4), renamed(), counts, (), LINKAGE, LINKAGE)


def chain(n: int) -> np.ndarray:
    """Merges of `n` parts, each with all before it."""
    return np.array([[i - 1 if i == 1 else n + i - 2, i, i / (n - 1.0), i + 1] for i in range(1, n)], dtype=float)


def classes_of_map(n_classes: int) -> plot.GridDisplay:
    counts = many_classes(9, n_classes).counts.reshape(3, 3, n_classes)
    return plot.GridDisplay(
        intervals(3), sites(3), counts, [f"diagnosis group number {j:03d}" for j in range(n_classes)]
    )


def columns(n: int = 45) -> plot.ColumnsDisplay:
    names = [f"measurement of the sensor in the north hall, channel number {i:02d}" for i in range(n)]
    return plot.ColumnsDisplay(names, np.linspace(0.4, 0.0, n), ["12 parts, iv 1.23"] * n)


def levels() -> plot.AverageDisplay:
    shares = np.linspace(0.1, 0.9, 12)
    texts = [f"very long level of the rating, number {i}" for i in range(12)]
    bounds, best = np.array([1.5]), np.array([0.2, 0.6])
    curve = Curve("rating", "customer paid back everything in time", np.arange(12), shares, shares - 0.05,
                  shares + 0.05, 0.9, np.full(12, 9.0), bounds, best, [], False, texts)  # fmt: skip
    return plot.AverageDisplay(curve)


def drift(name=None, n_periods: int = 0) -> plot.DriftDisplay:
    x = np.arange(1200) % 40
    data = {"a": x, "the department of the application": np.array([f"{LONG}unit {i:03d}" for i in x * 7 % 60])}
    groups = sorted(set(data["the department of the application"]))
    parts = {"a": [10, 20, 30], "the department of the application": [groups[:20], groups[20:]]}
    model = gridmodl.Model.from_partitions(data, x > 20, parts)
    by = None if n_periods == 0 else [f"2024-{1 + i % n_periods:02d}" for i in range(1200)]
    return plot.DriftDisplay(model.compare({**data, "a": x // 2}, None, by, refit=False), name)


ONE_PART = gridmodl.Partition("x", "numerical", np.array([[9, 3]]))
CASES = {
    "parts": lambda ax: plot.PartsDisplay(sites(5), ["customer defaulted within a year", "customer paid"]).plot(ax),
    "parts renamed": lambda ax: plot.PartsDisplay(renamed(), ["no", "yes"], 0.2, 1).plot(ax),
    "parts dates": lambda ax: plot.PartsDisplay(moments(), ["no", "yes"]).plot(ax),
    "parts forty": lambda ax: plot.PartsDisplay(intervals(40), ["no", "yes"]).plot(ax),
    "parts classes": lambda ax: plot.PartsDisplay(
        many_classes(6, 100), [f"diagnosis group number {j:03d} of chapter {j // 10}" for j in range(100)]
    ).plot(ax),
    "parts one": lambda ax: plot.PartsDisplay(ONE_PART, ["no", "yes"]).plot(ax),
    "event": lambda ax: event_display(sites(5)).plot(ax),
    "event renamed": lambda ax: event_display(renamed()).plot(ax),
    "event dates": lambda ax: event_display(moments()).plot(ax, statistic="woe"),
    "event skewed": lambda ax: event_display(one_large()).plot(ax),
    "event forty": lambda ax: event_display(intervals(40)).plot(ax),
    "cells": lambda ax: cells().plot(ax),
    "cells classes": lambda ax: cells(20, 60).plot(ax),
    "grid joint": lambda ax: joint().plot(ax),
    "grid classes": lambda ax: classes_of_map(40).plot(ax),
    "grid event": lambda ax: plot.GridDisplay(sites(9), sites(12), COUNTS[:12, :9, :2], ["no", "yes"]).plot(ax),
    "hierarchy": lambda ax: plot.HierarchyDisplay([sites(4), renamed()], [LINKAGE, LINKAGE]).plot(ax),
    "hierarchy forty": lambda ax: plot.HierarchyDisplay([intervals(40), sites(30)], [chain(40), chain(30)]).plot(ax),
    "target groups": lambda ax: plot.TargetDisplay(sites(6), sites(5), COUNTS[:6, 4, :5]).plot(ax),
    "target numbers": lambda ax: numbers_display().plot(ax),
    "columns": lambda ax: columns().plot(ax),
    "contributions": lambda ax: plot.ContributionsDisplay(contributions()).plot(ax),
    "average levels": lambda ax: levels().plot(ax),
    "drift columns": lambda ax: drift().plot(ax),
    "drift periods": lambda ax: drift(n_periods=12).plot(ax),
    "drift groups": lambda ax: drift("the department of the application").plot(ax),
    "drift cells": lambda ax: drift("cells").plot(ax),
    "grid classes crowded": lambda ax: plot.GridDisplay(
        intervals(12),
        sites(9),
        many_classes(108, 324).counts.reshape(9, 12, 324),
        [f"diagnosis group number {j:03d}" for j in range(324)],
    ).plot(ax),
    "event rare": lambda ax: event_display(
        gridmodl.Partition("x", "numerical", np.array([[9995, 5], [9990, 10], [9960, 40]]), bounds=np.array([1.0, 2.0]))
    ).plot(ax),
}


def figure_of(case, how):
    """The figure of a case: a new one, twice among four axes, or alone and small."""
    if how == "new":
        return case(None).figure_
    figure, axes = plt.subplots(2, 2) if how == "four" else plt.subplots(figsize=(3, 2), squeeze=False)
    for ax in np.diagonal(axes):
        case(ax)
    return figure


def shown_texts(axes):
    """Texts of axes that are drawn, those of insets included."""
    return [
        text for text in axes.findobj(Text)
        if text.get_visible() and text.get_text().strip() and text.axes is not None
    ]  # fmt: skip


@pytest.mark.parametrize("how", ["new", "four", "small"])
@pytest.mark.parametrize("name", CASES)
def test_nothing_is_outside_and_no_two_labels_look_alike(name, how):
    figure = figure_of(CASES[name], how)
    figure.canvas.draw()  # a warning, as of a layout that fails, would be an error
    scale = figure.dpi / 72.0
    page = Bbox.from_extents(-scale, -scale, figure.bbox.width + scale, figure.bbox.height + scale)
    for ax in figure.axes:
        rows = [label.get_window_extent() for label in ax.get_yticklabels() if label.get_text()]
        rows.sort(key=lambda box: box.y0 + box.y1)
        assert all(low.y1 <= high.y0 + 2.0 * scale for low, high in itertools.pairwise(rows))
        for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
            texts = [label.get_text() for label in labels if label.get_text()]
            assert [text for text, n in Counter(texts).items() if n > 1] == []
        legend = ax.get_legend()
        entries = [] if legend is None else [text.get_text() for text in legend.get_texts()]
        assert len(set(entries)) == len(entries) <= 9
        assert ax.get_window_extent().width > 0.05 * figure.bbox.width
        assert ax.get_window_extent().height > 0.05 * figure.bbox.height
        for text in shown_texts(ax):
            box = text.get_window_extent()
            assert page.x0 <= box.x0, text
            assert box.x1 <= page.x1, text
            assert page.y0 <= box.y0, text
            assert box.y1 <= page.y1, text
            assert text.get_fontsize() >= SMALLEST


def test_subplots_stay_apart():
    figure, axes = plt.subplots(2, 2)
    for ax in axes.flat:
        CASES["parts renamed"](ax)
    figure.canvas.draw()
    boxes = [ax.get_tightbbox() for ax in figure.axes]
    assert all(
        Bbox.intersection(one, other) is None or min(Bbox.intersection(one, other).size) < 2.0
        for one, other in itertools.combinations(boxes, 2)
    )


@given(st.lists(st.text(max_size=40), max_size=12, unique=True), st.integers(8, 40))
@settings(max_examples=60, deadline=None)
def test_fitted_texts_are_short_and_apart(texts, room):
    found = fitted(texts, room)
    assert len(set(found)) == len(texts)
    assert all(len(text.replace(r"\$", "$")) <= room for text in found)


def test_what_texts_share_goes_first():
    names = [f"measurement of the sensor, channel {i}" for i in range(3)]
    assert fitted(names, 40) == names
    assert fitted(names, 20) == [f"…sensor, channel {i}" for i in range(3)]
    ends = ["a very long name of the first kind", "a very long name of the second kind"]
    assert fitted(ends, 16) == ["…the first kind", "…the second kind"]


@pytest.mark.parametrize("room", [8, 12, 20, 40])
def test_names_of_groups_get_shorter_by_whole_values(room):
    labels = part_labels(sites(12), room)
    assert len(set(labels)) == 12
    assert max(map(len, labels)) <= room
    if room >= 20:
        assert all(label.endswith(("+58", "+59")) for label in labels)


def test_bars_with_names_of_their_own_are_as_many_as_have_room():
    """Of columns, unlike intervals, no name can be guessed from those of its neighbours."""
    display = columns(45).plot(plt.subplots(figsize=(3, 2))[1])
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    n = len(display.ax_.containers[0])
    assert 3 <= n < 45
    assert len(names) == n
    assert display.ax_.get_title(loc="left").replace("\n", " ") == f"the {n} most informative of 45 columns"
    shown = plot.ContributionsDisplay(contributions()).plot(plt.subplots(figsize=(3, 1.4))[1])
    assert len(shown.ax_.get_yticklabels()) == len(shown.ax_.containers[0]) == len(shown.names)
    assert shown.lengths.sum() == pytest.approx(plot.ContributionsDisplay(contributions()).lengths.sum())
    plt.close("all")


@pytest.mark.parametrize("scale", [1e15, 1e-12, 1e300])
def test_bounds_on_small_axes_are_numbers_that_are_not_cut(scale):
    bounds = scale * np.array([0.999895, 2.07373, 2.99914, 4.00221, 4.99771])
    partition = gridmodl.Partition("x", "numerical", COUNTS[:6, 0, :2], bounds=bounds)
    display = event_display(partition).plot(plt.subplots(figsize=(3, 2))[1])
    texts = [label.get_text().replace("\n", " ") for label in display.ax_.get_xticklabels()]
    assert [text[:2] for text in texts] == ["≤ "] * 5 + ["> "]
    assert [float(text[2:]) for text in texts[:5]] == pytest.approx(bounds.tolist(), rel=0.05)
    plt.close("all")


def test_bounds_that_begin_alike_have_their_ends():
    bounds = 1e6 + 1e-6 * np.array([1.0, 2.07, 3.0])
    partition = gridmodl.Partition("x", "numerical", COUNTS[:4, 0, :2], bounds=bounds)
    assert part_labels(partition, 12) == ["≤ …000001", "≤ …00000207", "≤ …000003", "> …000003"]


def test_labels_break_between_words_only():
    groups = tuple((name,) for name in ("Other-service", "Handlers-cleaners", "Transportation", "Prof-specialty"))
    partition = gridmodl.Partition("work", "categorical", COUNTS[:4, 1, :2], groups=groups)
    display = event_display(partition).plot(plt.subplots(figsize=(2.6, 2))[1])
    words = {word for i, (name,) in enumerate(groups) for word in (f"{i}:", name, *name.replace("-", "- ").split())}
    for label in display.ax_.get_xticklabels():
        assert all(word in words or "…" in word for word in label.get_text().split())
    plt.close("all")


def test_names_of_axes_break_between_words_only():
    counts = np.array([[40, 2, 0, 0], [3, 0, 30, 1], [0, 20, 0, 2], [1, 0, 0, 900]])[..., None]
    left = sites(4, name="SporePrintColor")
    display = plot.GridDisplay(intervals(4), left, counts, (), LINKAGE, LINKAGE).plot(plt.subplots(figsize=(3, 2))[1])
    assert display.ax_.get_ylabel() == "SporePrintColor"
    plt.close("all")


def test_lines_of_large_trees_on_small_axes_leave_gaps():
    display = plot.HierarchyDisplay([intervals(40)], [chain(40)])
    small, large = (display.plot(plt.subplots(figsize=size)[1]).ax_ for size in ((3, 2), (6, 12)))
    assert max(small.collections[0].get_linewidths()) < max(large.collections[0].get_linewidths()) == 1.2
    plt.close("all")


def test_labels_of_many_narrow_columns_are_apart():
    groups = tuple((letter,) for letter in "ABCDEFGHIJKLMNOPQRSTUVWX")
    target = gridmodl.Partition("letter", "categorical", COUNTS[:24, 1, :1], groups=groups)
    display = plot.TargetDisplay(intervals(11, 1), target, COUNTS[:11, 0, :24]).plot()
    display.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in display.ax_.get_xticklabels()]
    assert not any(one.overlaps(other) for one, other in itertools.pairwise(boxes))
    plt.close("all")


def test_intervals_of_a_target_have_colours_in_their_order():
    rng = np.random.default_rng(0)
    x, z = rng.random(800), rng.random(800)
    model = gridmodl.optimize({"x": x, "z": z}, np.round(8 * x * z) + 0.1 * rng.random(800), target_kind="numerical")
    assert model.target is not None
    assert model.target.n_parts > 2
    display = plot.CellsDisplay.from_model(model).plot()
    colours = [bars.patches[0].get_facecolor()[:3] for bars in display.ax_.containers[: model.target.n_parts]]
    lightness = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in colours]
    assert np.all(np.diff(lightness) > 0.0)
    assert len(legend_lines(display)) == 2  # read line by line
    assert legend_of(display) == model.target.names
    plt.close("all")


def test_cells_on_small_axes_keep_the_bounds_of_intervals():
    names = cell_labels([["(-inf, 28.5]", "3: Prof-specialty, Exec-managerial", "(34.5, 40.5]"],
                         ["(36.5, inf)", "1: Adm-clerical, +4", "(40.5, inf)"]], 37)  # fmt: skip
    assert names[0].replace(FIXED, " ").startswith("≤ 28.5 · 3: Prof")
    assert names[0].replace(FIXED, " ").endswith(" · (34.5, 40.5]")
    assert names[1].replace(FIXED, " ") == "> 36.5 · 1: Adm-c…, +4 · > 40.5"


def test_cells_with_little_room_have_numbers_of_groups_and_bounds():
    cells = [
        ["1: CONVEX, FLAT", "(0.29275, 0.40975]", "0: BRUISES"],
        ["0: BELL, CONICAL", "(0.1925, 0.29275]", "1: NO"],
    ]
    names = [name.replace(FIXED, " ") for name in cell_labels(cells, 32)]
    assert names == ["1: CONVE… · ≤ 0.40975 · 0: BRUI…", "0: BELL… · ≤ 0.29275 · 1: NO"]


def test_cells_with_no_room_for_names_of_groups_have_their_numbers_and_whole_bounds():
    cells = [
        ["1: M, F", "(0.5275, inf)", "(0.29275, 0.40975]"],
        ["1: M, F", "(0.5275, inf)", "(0.1925, 0.29275]"],
        ["0: Infant", "(0.2575, 0.5275]", "(0.0555, 0.11975]"],
    ]
    names = [name.replace(FIXED, " ") for name in cell_labels(cells, 26)]
    assert names == ["1:… · > 0.5275 · ≤ 0.40975", "1:… · > 0.5275 · ≤ 0.29275", "0:… · ≤ 0.5275 · ≤ 0.11975"]


def test_no_line_of_a_label_or_title_begins_between_two_parts():
    display = cells().plot(plt.subplots(figsize=(3, 2))[1])
    texts = [label.get_text() for label in display.ax_.get_yticklabels()] + [display.ax_.get_title(loc="left")]
    assert not any(line.startswith("·") for text in texts for line in text.split("\n"))
    plt.close("all")


@pytest.mark.parametrize("layout", ["constrained", "tight", None])
def test_a_wide_legend_does_not_make_axes_narrow(layout):
    figure, ax = plt.subplots(figsize=(3, 2), layout=layout)
    display = event_display(one_large()).plot(ax, statistic="woe")
    figure.canvas.draw()
    assert ax.get_window_extent().width > 0.3 * figure.bbox.width
    assert display.ax_.get_legend().get_window_extent().x1 <= figure.bbox.width
    plt.close("all")


def ticks_of(ax):
    low, high = ax.get_xlim()
    labels = [one for one in ax.get_xticklabels() if one.get_text() and low <= one.get_position()[0] <= high]
    return sorted((label.get_window_extent() for label in labels), key=lambda box: box.x0)


@pytest.mark.parametrize("layout", ["constrained", None])
def test_ticks_on_small_axes_are_apart(layout):
    moments = np.datetime64("2020-01-01") + np.arange(5) * np.timedelta64(200, "D")
    bounds = np.array([0.0, 5000.0, 70_000.0])
    for draw in (
        lambda ax: plot.DensityDisplay(moments, np.array([0.001, 0.002, 0.001, 0.001]), "when").plot(ax),
        lambda ax: plot.PosteriorDisplay(bounds, np.array([0.1, 0.8, 0.1]), "gain").plot(ax),
        lambda ax: plot.PartsDisplay(sites(5), ["no", "yes"]).plot(ax),
    ):
        figure, ax = plt.subplots(figsize=(2.4, 2), layout=layout)
        draw(ax)
        figure.canvas.draw()
        boxes = ticks_of(ax)
        assert len(boxes) >= 2
        assert all(before.x1 < after.x0 for before, after in itertools.pairwise(boxes))
        plt.close("all")


@pytest.mark.parametrize("size", [(2.4, 2), (3, 2), (7, 4)])
@pytest.mark.parametrize(
    ("step", "shared", "length"),
    [
        (np.timedelta64(3000, "D"), "", 4),
        (np.timedelta64(200, "D"), "", 7),
        (np.timedelta64(9, "D"), "2020", 5),
        (np.timedelta64(9, "h"), "2020", 11),
        (np.timedelta64(50, "m"), "2020-10-30", 5),
        (np.timedelta64(40, "s"), "2020-10-30", 8),
    ],
)
def test_no_two_ticks_of_dates_look_alike(step, shared, length, size):
    moments = np.datetime64("2020-10-30T00:00") + np.arange(5) * step
    ax = plt.subplots(figsize=size)[1]
    plot.DensityDisplay(moments, np.array([0.001, 0.002, 0.001, 0.001]), "when").plot(ax)
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    ticks = ax.xaxis.get_major_ticks()
    texts = [tick.label1.get_text() for tick in ticks if low <= tick.get_loc() <= high]
    assert len(set(texts)) == len(texts) >= 2
    (one_length,) = {len(text) for text in texts}
    assert one_length <= length  # on small axes less, such as years alone
    assert ax.xaxis.get_offset_text().get_text() == shared
    boxes = ticks_of(ax)
    assert all(before.x1 < after.x0 for before, after in itertools.pairwise(boxes))
    plt.close("all")


def test_rows_on_small_axes_have_a_scale():
    display = plot.PartsDisplay(intervals(5), ["no", "yes"]).plot(plt.subplots(figsize=(3, 2))[1])
    (tick,) = display.rows_ax_.get_xticks()
    assert 0.5 * display.rows_ax_.get_xlim()[1] < tick <= display.rows_ax_.get_xlim()[1]
    plt.close("all")


def test_small_cells_of_a_map_have_no_white_lines():
    counts = COUNTS[:40, :40, :2]
    for size, n_lines in (((3, 2), 0), ((12, 9), 1)):
        ax = plt.subplots(figsize=size)[1]
        plot.GridDisplay(intervals(40), intervals(40), counts, ["no", "yes"]).plot(ax)
        widths = ax.collections[0].get_linewidths()
        assert bool(np.max(widths) > 0.0) == bool(n_lines)
        plt.close("all")


def test_marks_at_the_ends_of_the_scale_are_whole():
    display = event_display(one_large()).plot()
    assert not any(line.get_clip_on() for line in display.event_ax_.lines if line.get_marker() == "o")
    plt.close("all")


def test_numbers_of_cells_that_a_layout_made_smaller_are_not_drawn(monkeypatch):
    display = plot.GridDisplay(intervals(4), intervals(4), COUNTS[:4, :4, :2], ["no", "yes"]).plot(sizes="equal")
    drawn = []
    monkeypatch.setattr("matplotlib.text.Text.draw", lambda text, renderer: drawn.append(text))
    for height, is_drawn in ((0.7, True), (0.05, False)):
        display.ax_.set_position((0.1, 0.2, 0.8, height))
        drawn.clear()
        display.figure_.draw_without_rendering()
        assert len(display.ax_.texts) == 16
        assert (set(display.ax_.texts) <= set(drawn)) == is_drawn
        assert (set(display.ax_.texts) & set(drawn) == set()) != is_drawn
