"""HTML for notebooks of curves: cost by number of parts, information by number of merges, posterior of one bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.model.labels import counted, time_texts
from gridmodl.report.pictures import (
    HEIGHT,
    OKABE_ITO,
    WIDTH,
    Markup,
    folded,
    frame,
    joined,
    lines,
    name_tag,
    picture,
    plain,
    table,
    tag,
)
from gridmodl.report.text import MAX_SHOWN, cost_text

if TYPE_CHECKING:
    from gridmodl.analysis.curve import CostByParts
    from gridmodl.analysis.hierarchy import Hierarchy
    from gridmodl.analysis.posterior import BoundPosterior

MAX_BARS = 240  # of a posterior; the probabilities of more bounds are added up
MAX_LIKELY = 10  # bounds in a table
KEPT = (0.99, 0.95, 0.9, 0.8, 0.5, 0.25)  # shares of the information whose smallest grids are listed
MAX_SHAPE = 6  # variables whose parts are listed
TAILS = (0.05, 0.5, 0.95)
DOT = 6.0


def curve_html(curve: CostByParts) -> str:
    """The cheapest number of parts, the curve, and a table of costs."""
    if not len(curve.cost):
        return frame(lines("cost by number of parts: none was found"))
    best = int(np.argmin(curve.cost))
    name = curve.partitions[best].name
    head = f"cost by number of parts of {plain(name)}: lowest with {counted(int(curve.n_parts[best]), 'part')}"
    rows = [
        [
            int(curve.n_parts[i]), cost_text(curve.cost[i]), f"{curve.cost[i] - curve.cost[best]:.2f}",
            _gap_text(float(curve.gap[i])),
        ]
        for i in range(min(len(curve.cost), MAX_SHOWN))
    ]  # fmt: skip
    stopped = [f"stopped: {curve.stopped}"] if curve.stopped else []
    costs = table(["parts", "cost", "above the lowest", "proven"], rows, 0)
    last = int(curve.n_parts[-1])
    axis = f"{cost_text(curve.cost.min())} to {cost_text(curve.cost.max())}, of 1 to {counted(last, 'part')}"
    return frame(lines(head, *stopped), _dots(curve, best), lines(f"cost, from {axis}"), folded("costs", costs))


def _gap_text(gap: float) -> str:
    if np.isnan(gap):
        return "no"
    return "yes" if gap == 0.0 else f"within {gap:.3g}"


def _dots(curve: CostByParts, best: int) -> Markup:
    """A dot for each number of parts, the cheapest in another colour, and a line through them."""
    low, high = float(curve.cost.min()), float(curve.cost.max())
    x = np.linspace(DOT, WIDTH - DOT, len(curve.cost)) if len(curve.cost) > 1 else np.array([WIDTH / 2.0])
    y = DOT + (HEIGHT - 2.0 * DOT) * (high - curve.cost) / (high - low if high > low else 1.0)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    drawn = [tag("polyline", points=points, fill="none", stroke="currentColor", stroke_opacity="0.5")]
    for i in range(len(x)):
        title = f"{counted(int(curve.n_parts[i]), 'part')}: cost {cost_text(curve.cost[i])}"
        dot = tag("circle", cx=f"{x[i]:.1f}", cy=f"{y[i]:.1f}", r=f"{DOT * (0.8 if i == best else 0.5):.1f}",
                  fill=OKABE_ITO[3 if i == best else 0])  # fmt: skip
        drawn.append(tag("g", tag("title", title), dot))
    return picture(f"cost of {counted(len(x), 'number')} of parts", drawn, WIDTH, HEIGHT)


def hierarchy_html(found: Hierarchy) -> str:
    """The information kept after each merge, and how few parts keep most of it."""
    names = [name for name, n in found.n_parts.items() if n > 1]
    if not names:
        return frame(lines("hierarchy of a single cell: there is nothing to merge"))
    parts = [joined(name_tag(name), f" ({counted(found.n_parts[name], 'part')})") for name in names[:MAX_SHOWN]]
    head = joined(f"hierarchy of {counted(len(found), 'merge')}, down to a single cell: ", Markup(", ".join(parts)))
    more = [f"... and {counted(len(names) - MAX_SHOWN, 'more variable')}"] if len(names) > MAX_SHOWN else []
    steps = [int(np.flatnonzero(found.information >= share)[-1]) for share in KEPT if share <= found.information.max()]
    rows = []
    for step in dict.fromkeys(steps):
        shape = found.shape_at(step)
        rows.append([step, f"{found.information[step]:.1%}", *(shape[name] for name in names[:MAX_SHAPE])])
    heads = ["merges", "information kept", *(joined("parts of ", name_tag(name)) for name in names[:MAX_SHAPE])]
    drawn = joined(
        _information(found), lines(f"information kept, from all of it to none, by merges from 0 to {len(found)}")
    )
    return frame(lines(head, *more), drawn, table(heads, rows, 0))


def _information(found: Hierarchy) -> Markup:
    """A line from the information of the model to that of a single cell."""
    kept = np.clip(found.information, 0.0, 1.0)
    x = np.linspace(DOT, WIDTH - DOT, len(kept))
    y = DOT + (HEIGHT - 2.0 * DOT) * (1.0 - kept)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    line = tag("polyline", points=points, fill="none", stroke=OKABE_ITO[0], stroke_opacity="1")
    return picture(f"information kept by {counted(len(found), 'merge')}", [line], WIDTH, HEIGHT)


def posterior_html(found: BoundPosterior) -> str:
    """The most likely bound, where it lies with a probability of 90 %, a picture, and the likeliest bounds."""
    if not len(found.bounds):
        return frame(lines("posterior of one bound: the column has one value, so there is none"))
    last = len(found.bounds) - 1
    low, middle, high = (
        found.bounds[min(int(np.searchsorted(np.cumsum(found.posterior), share)), last)] for share in TAILS
    )
    order = np.argsort(-found.posterior, kind="stable")[:MAX_LIKELY]
    rows = [[bound_text(found.bounds[i]), f"{found.posterior[i]:.4f}"] for i in order.tolist()]
    head = f"posterior of one bound, of {len(found.bounds):,}: median {bound_text(middle)}"
    where = f"with a probability of 90% between {bound_text(low)} and {bound_text(high)}"
    axis = f"probability of each bound, from {bound_text(found.bounds[0])} to {bound_text(found.bounds[-1])}"
    likely = folded("most likely bounds", table(["bound", "probability"], rows))
    return frame(lines(head, where), _bars(found), lines(axis), likely)


def bound_text(bound: Any) -> str:
    """Text of a bound: a date or duration in the unit that is exact, a number with six digits."""
    if isinstance(bound, (np.datetime64, np.timedelta64)):
        return time_texts(np.array([bound]), False)[0]
    return f"{bound:.6g}" if isinstance(bound, (float, np.floating)) else plain(bound)


def _bars(found: BoundPosterior) -> Markup:
    starts = np.unique(np.linspace(0, len(found.bounds), MAX_BARS, endpoint=False).astype(np.int64))
    sums: NDArray[np.float64] = np.add.reduceat(found.posterior, starts)
    ends = np.append(starts[1:], len(found.bounds)) - 1
    step, most = WIDTH / len(starts), max(float(sums.max()), 1e-300)
    drawn = []
    for i, share in enumerate(sums.tolist()):
        height = HEIGHT * share / most
        first, last = bound_text(found.bounds[starts[i]]), bound_text(found.bounds[ends[i]])
        box = tag("rect", x=f"{i * step:.6g}", y=f"{HEIGHT - height:.6g}", width=f"{max(step - 0.5, 0.5):.6g}",
                  height=f"{height:.6g}", fill=OKABE_ITO[0])  # fmt: skip
        where = first if starts[i] == ends[i] else f"{first} to {last}"
        drawn.append(tag("g", tag("title", f"{where}: {share:.4f}"), box))
    return picture(f"probabilities of {len(found.bounds)} bounds", drawn, WIDTH, HEIGHT)
