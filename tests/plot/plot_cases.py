"""The pictures whose stored images are compared, each drawn on axes of a fixed place and size.

After a change that is meant to be seen, look at each, then store them anew:

    .venv/bin/python tests/plot/plot_cases.py
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import PlaceHolderLayoutEngine
from matplotlib.legend import Legend
from matplotlib.text import Text

import gridmodl
from gridmodl import plot
from gridmodl.evidence.contributions import Contributions
from gridmodl.report.averages import Curve
from gridmodl.search.grid.optima import Improvement

IMAGES = Path(__file__).parent / "images"
DPI = 75
HOSTILE = "<b>$x^2$</b>\nand 中文"

rng = np.random.default_rng(0)
COUNTS = rng.integers(1, 100, (60, 60, 30))
UNLABELLED = np.array([4, 50, 0, 8])
LINKAGE = np.array([[0, 1, 0.1, 2], [2, 3, 0.3, 2], [4, 5, 1.0, 4]], dtype=float)
CROSSED = np.array([[0, 2, 0.05, 2], [1, 3, 0.4, 2], [4, 5, 0.9, 4]], dtype=float)


def intervals(n_parts: int, n_classes: int = 2, name: Any = "x") -> gridmodl.Partition:
    return gridmodl.Partition(
        name, "numerical", COUNTS[:n_parts, 0, :n_classes], bounds=np.sqrt(2.0 + np.arange(n_parts - 1))
    )


def groups(n_groups: int, name: str = "group") -> gridmodl.Partition:
    values = tuple((f"value {i}", f"another long value of group {i}") for i in range(n_groups))
    return gridmodl.Partition(name, "categorical", COUNTS[:n_groups, 1, :1], groups=values)


def many_classes(n_parts: int, n_classes: int) -> gridmodl.Partition:
    """Parts with three large classes each, no two the same."""
    counts = np.ones((n_parts, n_classes), dtype=np.int64)
    for i in range(n_parts):
        counts[i, 3 * i : 3 * i + 3] = 300, 200, 100
    return gridmodl.Partition("x", "numerical", counts, bounds=np.arange(n_parts - 1.0))


def special_parts() -> gridmodl.Partition:
    counts = np.array([[10, 5], [30, 40], [0, 0], [7, 100], [20, 3], [0, 0]])
    return gridmodl.Partition(
        HOSTILE, "numerical", counts, bounds=np.array([-5.123456789, 1000.5]), missing=0,
        special=np.array([-999.0, -1.0]), unlabelled=np.array([5, 0, 0, 60, 2, 4]),
    )  # fmt: skip


def groups_of_two(n_groups: int) -> gridmodl.Partition:
    return gridmodl.Partition("group", "categorical", COUNTS[:n_groups, 1, :2], groups=groups(n_groups).groups)


def event_display(partition: gridmodl.Partition) -> plot.EventDisplay:
    rest, events = partition.counts.T
    woe = np.log((events + 0.5) / (rest + 0.5)) - np.log(events.sum() / rest.sum())
    return plot.EventDisplay(partition, "$yes$", events, rest, woe, 0.2, "no")


def grid_counts(n_rows: int, n_columns: int, n_classes: int) -> np.ndarray:
    counts = COUNTS[:n_rows, :n_columns, :n_classes].copy()
    counts[1, 1] = 0
    return counts


def numbers_display() -> plot.TargetDisplay:
    partition = intervals(5, 1)
    means = np.array([1.0, 2.0, 4.0, 3.0, 6.0])
    quantiles = means[:, None] + np.array([-2.0, -1.0, 0.2, 1.0, 3.0])
    target = gridmodl.Partition("price", "numerical", np.ones((3, 1), dtype=int), bounds=np.array([1.5, 4.5]))
    return plot.TargetDisplay(partition, target, COUNTS[:5, 2, :3], means, quantiles, 0.25)


def joint_display() -> plot.GridDisplay:
    counts = np.array([[40, 2, 0, 0], [3, 0, 30, 1], [0, 20, 0, 2], [1, 0, 0, 50]])[..., None]
    return plot.GridDisplay(groups(4), intervals(4), counts, (), LINKAGE, LINKAGE[:, [1, 0, 2, 3]])


def cells_display(classes: tuple[str, ...]) -> plot.CellsDisplay:
    names, parts = [HOSTILE, "colour", "size"], [[f"({i}, {i + 1}]", "0: red, blue", f"{i}: {i}"] for i in range(4)]
    counts = COUNTS[:4, 3, : max(1, len(classes))]
    if classes:
        return plot.CellsDisplay(names, parts, counts, classes, unlabelled=UNLABELLED)
    information, lifts = np.array([0.3, -0.1, 0.2, 0.05]), np.array([3.0, 0.2, 20.0, 1.1])
    return plot.CellsDisplay(names, parts, counts, (), information, lifts)


def dates_display() -> plot.DensityDisplay:
    edges = np.array(["2020-01-01", "2020-03-01", "2021-01-01", "2021-06-01"], dtype="datetime64[D]")
    return plot.DensityDisplay(edges, np.array([0.01, 0.001, 0.003]), "when", "density per day")


COST = 50.0 + (np.arange(1.0, 13.0) - 5.0) ** 2
GAP = np.array([0.0] * 6 + [12.0] * 3 + [np.nan] * 3)


def average_curve():
    values = np.linspace(-2.0, 3.0, 40)
    shares = 1.0 / (1.0 + np.exp(-2.0 * values))
    width = 0.05 + 0.1 * np.abs(np.sin(values))
    return Curve("$x$", "yes", values, shares, np.maximum(shares - width, 0.0), np.minimum(shares + width, 1.0), 0.9,
                 np.exp(-values**2) * 100.0, np.array([-0.5, 1.0]), np.array([0.1, 0.5, 0.9]), ["missing 0.5"],
                 False)  # fmt: skip


def level_curve():
    shares = np.array([0.1, 0.15, 0.4, 0.85])
    return Curve("rating", "yes", np.array([0, 1, 2, 4]), shares, shares - 0.08, shares + 0.08, 0.9,
                 np.array([30.0, 10.0, 20.0, 5.0]), np.array([1.5, 3.5]), np.array([0.12, 0.4, 0.8]), [], False,
                 ["AAA", "AA", "$A$", "C"])  # fmt: skip


LOSSES = (
    [[np.inf, 5.0, 1.0, 0.3], [np.inf, 9.0, 0.4]],
    [[0.69, 0.5, 0.4, 0.45], [0.69, 0.55, 0.6]],
)


def scorecard() -> tuple[Any, Any]:
    """A scorecard of two columns, and its cut-offs."""
    a, b = np.arange(600) % 30, np.arange(600) * 7 % 11
    y = (a + b + np.arange(600) % 7) > 24
    model = gridmodl.GridScorecard(averaged=False, validate=False, rounded=True).fit(np.column_stack([a, b]), y)
    return model.scorecard_, model.cutoffs(np.column_stack([a, b]), y)


def contributions():
    scores = np.array([[[0.5, -0.5], [-1.5, 1.0], [0.2, 0.1], [0.0, 2.0]]])
    names, values = ("size", HOSTILE, "colour", "date"), (("1.5", "red", "$a$", "2020-01-01"),)
    return Contributions(names, values, scores, np.log([0.7, 0.3]), np.array(["no", "yes"]), 1)


RECORDS = [Improvement(i, 100.0 / (i + 1), i / 10.0, 0.3 * i * i) for i in range(6)]


def comparison(n_periods: int) -> gridmodl.Comparison:
    x = np.arange(600) % 40
    model = gridmodl.Model.from_partitions({"$x$": x, "y": x[::-1].copy()}, x > 20, {"$x$": [10, 20, 30], "y": [5, 25]})
    new = (np.arange(300) * 7 % 40 + np.arange(300) // 30).clip(0, 39)
    by = None if n_periods == 0 else [f"2024-{1 + i % n_periods:02d}" for i in range(300)]
    return model.compare({"$x$": new, "y": new // 2}, new > 20, by, refit=False)


CASES: dict[str, Callable[[Axes], Any]] = {
    "parts_two": lambda ax: plot.PartsDisplay(intervals(2), ["no", "yes"], 0.2).plot(ax),
    "parts_special": lambda ax: plot.PartsDisplay(special_parts(), ["$no$", "yes"]).plot(ax),
    "parts_fifty": lambda ax: plot.PartsDisplay(intervals(50, 3), ["a", "b", "c"]).plot(ax),
    "parts_classes": lambda ax: plot.PartsDisplay(intervals(6, 30), [f"class {i}" for i in range(30)]).plot(ax),
    "parts_ranks": lambda ax: plot.PartsDisplay(many_classes(6, 100), np.arange(100)).plot(ax),
    "parts_rows": lambda ax: plot.PartsDisplay(groups(7)).plot(ax),
    "event_rates": lambda ax: event_display(special_parts()).plot(ax),
    "event_woe": lambda ax: event_display(groups_of_two(7)).plot(ax, statistic="woe"),
    "event_rows": lambda ax: event_display(intervals(30)).plot(ax, widths="rows"),
    "columns": lambda ax: plot.ColumnsDisplay(
        ["a", HOSTILE, "c"], [0.4, 0.1, np.nan], ["3 parts, iv 1.2", "2 parts", "1 part"], 5
    ).plot(ax),
    "hierarchy": lambda ax: plot.HierarchyDisplay([intervals(4, name=HOSTILE), groups(4)], [LINKAGE, CROSSED]).plot(ax),
    "grid_two": lambda ax: plot.GridDisplay(intervals(4), groups(3), grid_counts(3, 4, 2), ["no", "yes"]).plot(ax),
    "grid_three": lambda ax: plot.GridDisplay(intervals(4), groups(3), grid_counts(3, 4, 3), list("abc")).plot(ax),
    "grid_classes": lambda ax: plot.GridDisplay(
        intervals(3), groups(3), many_classes(9, 40).counts.reshape(3, 3, 40), np.arange(40)
    ).plot(ax),
    "grid_equal": lambda ax: joint_display().plot(ax, sizes="equal"),
    "grid_fifty": lambda ax: plot.GridDisplay(intervals(50), intervals(40), grid_counts(40, 50, 2), [0, 1]).plot(ax),
    "grid_joint": lambda ax: joint_display().plot(ax),
    "target_groups": lambda ax: plot.TargetDisplay(intervals(5), groups(3), COUNTS[:5, 4, :3]).plot(ax),
    "target_numbers": lambda ax: numbers_display().plot(ax),
    "cells_classes": lambda ax: cells_display(("no", "yes")).plot(ax),
    "cells_joint": lambda ax: cells_display(()).plot(ax),
    "cost": lambda ax: plot.CostDisplay(np.arange(1, 13), COST, GAP, "x").plot(ax),
    "posterior": lambda ax: plot.PosteriorDisplay(np.arange(1.5, 9.5), COST[:8] / COST[:8].sum(), "$x$").plot(ax),
    "penalty": lambda ax: plot.PenaltyDisplay(*LOSSES, ["beta 0", "beta 1"], (0.7, 0.4), "alpha", "$x$: 3 parts").plot(
        ax
    ),
    "average": lambda ax: plot.AverageDisplay(average_curve()).plot(ax),
    "average_levels": lambda ax: plot.AverageDisplay(level_curve()).plot(ax),
    "contributions": lambda ax: plot.ContributionsDisplay(contributions()).plot(ax),
    "drift_columns": lambda ax: plot.DriftDisplay(comparison(0)).plot(ax),
    "drift_periods": lambda ax: plot.DriftDisplay(comparison(6)).plot(ax),
    "drift_parts": lambda ax: plot.DriftDisplay(comparison(3), "$x$", period="2024-02").plot(ax),
    "scorecard": lambda ax: plot.ScorecardDisplay(scorecard()[0]).plot(ax),
    "scores": lambda ax: plot.ScoresDisplay(scorecard()[1], bins=12).plot(ax),
    "density": lambda ax: plot.DensityDisplay(np.array([0.0, 1.0, 1.5, 4.0]), np.array([0.2, 1.0, 0.12])).plot(
        ax, sample=np.arange(0.0, 4.0, 0.3)
    ),
    "density_masses": lambda ax: plot.DensityDisplay(
        np.array([0.0, 1.0, 4.0]),
        np.array([0.2, 0.1]),
        masses=np.array([2.0, 0.0, 0.1]),
        probabilities=np.array([0.2, 0.3, 0.1]),
    ).plot(ax),
    "density_dates": lambda ax: dates_display().plot(ax),
    "progress": lambda ax: plot.ProgressDisplay(RECORDS).plot(ax),
}


def picture(draw: Callable[[Axes], Any]) -> np.ndarray:
    """The pixels of a picture, red, green and blue from 0 to 1, drawn without pyplot and in matplotlib's own style.

    Texts and legends are taken out, as the shapes of letters are not the same in all versions of matplotlib; tests look
    at what they say instead.
    """
    with style.context("default"):
        figure = Figure(figsize=(6.0, 4.0), dpi=DPI)
        figure.set_layout_engine(PlaceHolderLayoutEngine(True, True))  # axes stay where they are, whatever the font
        canvas = FigureCanvasAgg(figure)
        draw(figure.add_axes((0.34, 0.3, 0.58, 0.5)))
        canvas.draw()  # which makes the ticks
        for artist in [*figure.findobj(Text), *figure.findobj(Legend)]:
            artist.set_visible(False)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3] / 255.0


if __name__ == "__main__":
    for name, draw in CASES.items():
        matplotlib.image.imsave(IMAGES / f"{name}.png", picture(draw), pil_kwargs={"optimize": True})
