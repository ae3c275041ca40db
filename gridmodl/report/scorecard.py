"""HTML of a scorecard for notebooks: its columns with a bar for each part, and the points of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gridmodl.data.frames import ARRAYS
from gridmodl.model.labels import counted
from gridmodl.report.hints import hints_of_models
from gridmodl.report.pictures import (
    OKABE_ITO,
    Markup,
    folded,
    frame,
    joined,
    label_tag,
    left_out_fold,
    lines,
    name_tag,
    plain,
    table,
    tag,
)
from gridmodl.report.text import MAX_SHOWN

if TYPE_CHECKING:
    from gridmodl.scorecard.cutoffs import Cutoffs
    from gridmodl.scorecard.record import Scorecard

MAX_COLUMNS = 100
MAX_SENTENCE = 1000  # characters
OTHER_POINTS = {"neutral": "0 points", "largest": "those of the largest part", "error": "an error"}
BAR = 120.0  # pixels of the largest points


def scale_text(card: Scorecard) -> str:
    """The scale in words."""
    scale = card.scaling
    whose = "the rest against the event" if scale.odds_of == "rest" else "the event"
    whole = "; whole points" if scale.rounded else ""
    at = f"{scale.base_points:g} points at odds of {scale.base_odds:g} of {whose}"
    return f"{at}; {scale.pdo:g} points double the odds{whole}"


def points_text(card: Scorecard, points: float) -> str:
    """Points as they are shown."""
    return f"{points:.{0 if card.scaling.rounded else 2}f}"


def other_values_text(card: Scorecard) -> str:
    """The points of values that have no part."""
    return (
        f"unknown categories: {OTHER_POINTS[str(card.policy.unknown)]}; missing values where training had none: "
        f"{OTHER_POINTS[str(card.policy.missing)]}"
    )


def scorecard_html(card: Scorecard) -> str:
    """The scale, a table of the columns, and for each column its parts with their points."""
    head = lines(
        joined(tag("b", "scorecard"), f" of {counted(len(card.models), 'column')}, event {plain(card.event)}"),
        scale_text(card),
        f"base: {points_text(card, card.base)} points",
    )
    columns = card.columns(ARRAYS)
    rows = [
        [
            name_tag(columns["column"][i]), int(columns["parts"][i]), f"{columns['iv'][i]:.4f}",
            f"{columns['weight'][i]:.4f}", points_text(card, columns["lowest"][i]),
            points_text(card, columns["highest"][i]),
        ]
        for i in range(min(len(card.models), MAX_COLUMNS))
    ]  # fmt: skip
    overview = table(["column", "parts", "iv", "weight", "lowest points", "highest points"], rows)
    folds = [folded(tag("b", name_tag(name)), _parts(card, name)) for name in columns["column"][:MAX_COLUMNS]]
    if len(card.models) > MAX_COLUMNS:
        folds.append(tag("div", f"... and {counted(len(card.models) - MAX_COLUMNS, 'more column')}"))
    notes = [plain(f"note: {hint}", MAX_SENTENCE) for hint in hints_of_models(card.models)]
    others = [other_values_text(card)] if any(map(card.has_other_values, card.models)) else []
    return frame(head, overview, *folds, left_out_fold(card.left_out), lines(*others, *notes))


def cutoffs_html(cutoffs: Cutoffs) -> str:
    """How well the score tells the classes apart, and a table of what each cut-off approves."""
    shares = "approval_rate", "event_rate", "events_rejected", "rest_rejected", "ks"
    columns = cutoffs.table(ARRAYS)
    texts = []
    for name, column in columns.items():
        size = len(f"{np.abs(column).max():.0f}")
        decimals = 4 if name == "gini" else 0 if np.all(column == np.round(column)) else max(0, 5 - size)
        texts.append([f"{value:.1%}" if name in shares else f"{value:,.{decimals}f}" for value in column])
    # NaN where a cut-off approves no row, or rows of one class
    rows = [["" if text.startswith("nan") else text for text in row] for row in zip(*texts, strict=True)]
    more = len(rows) - MAX_SHOWN
    best = ""
    if not np.isnan(cutoffs.ks):
        best = f", gini {cutoffs.gini:.4f}, largest ks {cutoffs.ks:.1%} at a score of {cutoffs.best:.6g}"
    return frame(
        lines(joined(tag("b", "cut-offs"), f" of a score: event rate {cutoffs.event_rate:.1%}{best}")),
        table([name.replace("_", " ") for name in columns], rows[:MAX_SHOWN], 0),
        tag("div", f"... and {counted(more, 'more cut-off')}") if more > 0 else Markup(""),
    )


def _parts(card: Scorecard, name: Any) -> Markup:
    columns = card.parts_table(name)
    points = np.array(columns["points"])
    most = max(1e-300, float(np.abs(points).max()))
    names = card.partition(name).names
    rows = [
        [
            label_tag(names[i]), int(columns["rows"][i]),
            "" if np.isnan(columns["event_rate"][i]) else f"{columns['event_rate'][i]:.2%}",
            f"{columns['woe'][i]:.4f}", points_text(card, points[i]), _bar(points[i] / most),
        ]
        for i in range(min(len(points), MAX_SHOWN))
    ]  # fmt: skip
    more = len(points) - MAX_SHOWN
    note = tag("div", f"... and {counted(more, 'more part')}") if more > 0 else Markup("")
    return joined(table(["part", "rows", "event rate", "woe", "points", ""], rows), note)


def _bar(share: float) -> Markup:
    """A bar to the right of the middle for points above 0, to the left for those below."""
    colour, width = OKABE_ITO[0] if share >= 0 else OKABE_ITO[3], abs(share) * BAR / 2.0
    left = BAR / 2.0 + min(0.0, share * BAR / 2.0)
    inner = tag(
        "span", style=f"position:absolute;left:{left:.1f}px;width:{width:.1f}px;height:10px;background:{colour}"
    )
    return tag("span", inner, style=f"display:inline-block;position:relative;width:{BAR:g}px;height:10px")
