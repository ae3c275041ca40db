"""Averages as HTML for notebooks; pictures are SVG.

`curves_of` has what is drawn, here, on pages and by `gridmodl.plot`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.model.labels import counted
from gridmodl.report.hints import hints_of_averages
from gridmodl.report.pictures import OKABE_ITO, Markup, folded, frame, joined, lines, name_tag, plain, table, tag
from gridmodl.report.text import MAX_SHOWN

if TYPE_CHECKING:
    from gridmodl.averaging.averages import Averages
    from gridmodl.averaging.record import Average

MAX_POINTS = 100  # of a curve; the band takes about 1 ms a point
MAX_COLUMNS = 100  # rows of a table of averages
WIDTH, HEIGHT, FOOT = 480.0, 180.0, 26.0
LIKELY = 0.05  # probability of a bound that is listed
CROWDED = 0.05  # of the span of the values: where half of them lie within so little of it, ranks are drawn
FEW_VALUES = 10  # up to this many, values are never drawn by rank
MAX_ERROR = 500  # characters of the reason why a column has no average


class Curve(NamedTuple):
    """Probability of one class along a column, at some knots."""

    name: Any
    label: Any  # the class
    values: NDArray[Any]
    shares: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    coverage: float
    rows: NDArray[np.float64]  # near each value
    bounds: NDArray[Any]  # of the best partition
    best: NDArray[np.float64]  # share of the class in each of its intervals
    apart: list[str]  # predictions for missing values and special codes, in words
    is_utc: bool
    levels: Sequence[str] = ()  # text of each value of an ordinal column, whose values are places
    apart_names: Sequence[str] = ()  # missing values and special codes
    apart_shares: NDArray[np.float64] = np.empty(0)  # share of the class in each of these
    apart_bands: NDArray[np.float64] = np.empty((0, 2))  # ends of the band of each share
    apart_rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)  # rows of each
    ranks: Sequence[str] = ()  # text of each value where the values are ranks


def curve_of(average: Average, label: Any = None, coverage: float = 0.9) -> Curve:
    """The curve of one class, by default the event or the last class."""
    classes = average.classes.tolist()
    if label is None:
        c = len(classes) - 1 if average.event_index is None else average.event_index
    elif label in classes:
        c = classes.index(label)
    else:
        raise ValueError(f"label must be one of the classes, {', '.join(map(repr, classes[:20]))}; got {label!r}")
    return curves_of(average, [c], coverage)[0]


def curves_of(average: Average, chosen: Sequence[int], coverage: float = 0.9) -> list[Curve]:
    """The curves of the classes with the numbers `chosen`."""
    segments, n = average.segments, len(average.knots)
    first = int(segments.is_missing_apart)
    at = np.unique(np.linspace(0, n - 1, min(n, MAX_POINTS)).astype(np.int64)) if n else np.empty(0, dtype=np.int64)
    values = average.knots[at]
    names, apart = _apart(average)
    places = np.concatenate([apart, first + at])
    bands = np.empty((0, len(average.classes), 2))
    if len(places):
        bands = average._bands(np.column_stack([places, np.zeros(len(places))]), coverage)
    is_ordinal = segments.kind == "ordinal"
    (partition,) = average.best.partitions.values()
    begin = int(partition.is_missing_apart)
    counts = partition.counts[begin : begin + len(partition.bounds) + 1]
    best = (counts + 1.0) / (counts.sum(axis=1, keepdims=True) + len(average.classes))
    rows = np.add.reduceat(segments.rows[first : first + n], at).astype(np.float64) if n else np.empty(0)
    along = bands[len(apart) :]
    return [
        Curve(
            average.name, average.classes.tolist()[c], values, average.shares[first + at, c], along[:, c, 0],
            along[:, c, 1], coverage, rows, partition.bounds + 0.5 if is_ordinal else partition.bounds, best[:, c],
            [f"{name} {share:.3g}" for name, share in zip(names, average.shares[apart, c], strict=True)],
            segments.is_utc, average._labels_of(values) if is_ordinal else (), names, average.shares[apart, c],
            bands[: len(apart), c], segments.rows[apart],
        )
        for c in chosen
    ]  # fmt: skip


def ranked(curve: Curve) -> Curve:
    """The curve over the ranks of its values if half of these would be crowded on an axis; else the same curve.

    Such are amounts: most of them small, and a few a hundred times larger.
    """
    if curve.levels or curve.values.dtype.kind in "mM" or len(curve.values) < FEW_VALUES:
        return curve
    values = curve.values.astype(np.float64)
    if not np.isfinite(values).all():
        return curve
    low, first, third, high = np.quantile(values / 4.0, [0.0, 0.25, 0.75, 1.0])  # as differences may overflow
    if third - first >= CROWDED * (high - low):
        return curve
    ranks = np.arange(len(values), dtype=np.float64)
    bounds = np.interp(curve.bounds.astype(np.float64), values, ranks)
    return curve._replace(values=ranks, bounds=bounds, ranks=[f"{value:.6g}" for value in values.tolist()])


def _apart(average: Average) -> tuple[list[str], NDArray[np.int64]]:
    """Names and numbers of the segments of missing values and special codes."""
    segments, names, numbers = average.segments, [], []
    if segments.missing is not None:
        names, numbers = ["missing"], [segments.missing]
    for i, codes in enumerate(segments.special_parts, average._counted.n_intervals):
        names.append(", ".join(map(str, codes)))
        numbers.append(i)
    return names, np.array(numbers, dtype=np.int64)


def average_html(average: Average) -> str:
    """A picture, and the most important facts."""
    head = joined(tag("b", name_tag(average.name)), ": average over all partitions")
    facts = [plain(line.strip(), 200) for line in average.summary().splitlines()[1:]]
    curve = curve_of(average)
    drawn = f"average and {curve.coverage:.0%} band (blue), best partition (dashed), rows (grey)"
    words = f"probability of {plain(curve.label)}, from 0 to 1: {drawn}"
    labels = average._labels_of(curve.values[[0, -1]]) if len(curve.values) else []
    by_rank = ", by rank" if ranked(curve).ranks else ""
    what = "levels" if curve.levels else "values"
    across = [f"{what} from {' to '.join(map(plain, labels))}{by_rank}"] if labels else []
    apart = [f"apart: {plain(', '.join(curve.apart), 200)}"] if curve.apart else []
    return frame(lines(head), picture(curve), lines(words, *across, *apart, *facts), _likely_bounds(average))


def _likely_bounds(average: Average) -> Markup:
    """A table of the bounds that are likely."""
    likely = np.flatnonzero(average.p_bounds >= LIKELY)
    if not len(likely):
        return Markup("")
    likely = likely[np.argsort(-average.p_bounds[likely], kind="stable")][:MAX_SHOWN]
    likely = np.sort(likely)
    labels = average._labels_of(average.bounds[likely])
    rows = [[plain(label), f"{p:.3f}"] for label, p in zip(labels, average.p_bounds[likely], strict=True)]
    what = "last level below" if average.segments.levels else "bound"
    return folded(f"likely bounds: {len(rows)}", table([what, "probability"], rows))


def averages_html(averages: Averages) -> str:
    """A table with a row for each column."""
    rows = []
    for name, average in list(averages.items())[:MAX_COLUMNS]:
        p, loss = average.p_informative, average.loo_loss
        rows.append([
            name_tag(name), "" if p is None else f"{p:.3g}", "" if loss is None else f"{loss:.4f}",
            int(np.argmax(average.p_parts)) + 1, "yes" if average.exact else "no",
        ])  # fmt: skip
    body = table(["column", "informative", "leave-one-out loss", "likely parts", "exact"], rows)
    more = [f"... and {len(averages) - MAX_COLUMNS} more columns"] if len(averages) > MAX_COLUMNS else []
    failed = [plain(reason, MAX_ERROR) for reason in averages._reasons()]
    notes = [plain(f"note: {hint}", MAX_ERROR) for hint in hints_of_averages(averages)]
    return frame(lines(counted(len(averages), "column")), body, lines(*more, *failed[:MAX_SHOWN], *notes))


def picture(curve: Curve) -> Markup:
    """The curve, its band, the best partition and the rows as SVG."""
    curve = ranked(curve)
    x = _across(curve.values, curve.values)
    if not len(x):
        return Markup("")
    if len(x) == 1:
        x, curve = np.array([0.0, WIDTH]), curve._replace(
            shares=curve.shares.repeat(2), low=curve.low.repeat(2), high=curve.high.repeat(2), rows=curve.rows.repeat(2)
        )  # fmt: skip
    colour = OKABE_ITO[0]
    band = [*zip(x, curve.low, strict=True), *zip(x[::-1], curve.high[::-1], strict=True)]
    edges = np.concatenate([[0.0], _across(curve.bounds, curve.values), [WIDTH]])
    steps = [point for i, p in enumerate(curve.best.tolist()) for point in ((edges[i], p), (edges[i + 1], p))]
    n_bins = 40
    rows, bins = np.histogram(x, bins=n_bins, range=(0.0, WIDTH), weights=curve.rows)
    heights = rows / max(1.0, rows.max()) * (FOOT - 4.0)
    bars = [
        tag("rect", x=f"{left:.1f}", y=f"{HEIGHT + FOOT - height:.1f}", width=f"{WIDTH / n_bins:.1f}",
            height=f"{height:.1f}", fill="#999999", fill_opacity="0.5")
        for left, height in zip(bins[:-1], heights, strict=True)
        if height > 0
    ]  # fmt: skip
    return tag(
        "svg",
        *(
            tag("line", x1="0", x2=f"{WIDTH:g}", y1=y, y2=y, stroke="currentColor", stroke_opacity="0.3")
            for y in ("0.5", f"{HEIGHT:g}")  # probabilities of 1 and 0
        ),
        *bars,
        tag("polygon", points=_points(band), fill=colour, fill_opacity="0.25"),
        tag("polyline", points=_points(steps), fill="none", stroke="currentColor", stroke_dasharray="4 3"),
        tag(
            "polyline", points=_points(zip(x, curve.shares, strict=True)), fill="none", stroke=colour, stroke_width="2"
        ),
        width=f"{WIDTH:g}",
        height=f"{HEIGHT + FOOT:g}",
        viewBox=f"0 0 {WIDTH:g} {HEIGHT + FOOT:g}",
        role="img",
        aria_label=f"probability of {plain(curve.label)} along {plain(curve.name)}, from "
        f"{float(curve.shares.min()):.3g} to {float(curve.shares.max()):.3g}",
    )


def _across(values: NDArray[Any], frame_of: NDArray[Any]) -> NDArray[np.float64]:
    """Places of values in the picture, between the lowest and the highest finite of `frame_of`."""

    def plain_floats(array: NDArray[Any]) -> NDArray[np.float64]:
        return (array.view(np.int64) if array.dtype.kind in "mM" else array).astype(np.float64)

    known = plain_floats(frame_of)
    finite = known[np.isfinite(known)] / 2.0  # halves, as differences may overflow
    if not len(finite):
        return np.linspace(0.0, WIDTH, len(values))
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        return np.full(len(values), WIDTH / 2.0)
    return np.clip((plain_floats(values) / 2.0 - low) / (high - low), 0.0, 1.0) * WIDTH


def _points(points: Any) -> str:
    return " ".join(f"{x:.1f},{(1.0 - p) * HEIGHT:.1f}" for x, p in points)
