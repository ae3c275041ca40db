"""Reason codes: the columns that cost a row the most points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Frame, Name, object_array
from gridmodl.model.names import output_labels
from gridmodl.scorecard.rows import check_count
from gridmodl.spelling import check_choice, did_you_mean

if TYPE_CHECKING:
    from gridmodl.scorecard.record import Scorecard

AGAINST = ("best", "mean", "neutral")
NO_PART_TEXT = ""


def reasons_of(card: Scorecard, frame: Frame, n: Any, against: Any, codes: Any) -> dict[str, Any]:
    """Columns of the table of `Scorecard.reasons`."""
    check_count(n, "reasons")
    check_choice("against", against, AGAINST)
    names, texts = list(card.models), _texts(card, codes)
    points = {name: np.append(card.points_of(name), 0.0) for name in names}
    # A loss is what a row has less than it could have, or more where high scores are the bad ones.
    sign = -card.scaling.sign
    compared = np.array([_compared(card, name, points[name], against, sign) for name in names])
    labels = [object_array([*output_labels(card.partition(name)), NO_PART_TEXT]) for name in names]
    found: list[tuple[NDArray[Any], ...]] = []
    most = min(int(n), len(names))
    for rows, parts in card.parts_in_blocks(frame):
        of_rows = np.column_stack([points[name][parts[:, k]] for k, name in enumerate(names)] or [parts])
        lost = sign * (compared - of_rows) + 0.0
        order = np.argsort(-lost, axis=1, kind="stable")[:, :most]
        sizes = np.take_along_axis(lost, order, axis=1)
        row, rank = np.nonzero(sizes > 0.0)
        column = order[row, rank]
        label = np.empty(len(row), dtype=object)
        for k in range(len(names)):
            mine = column == k
            label[mine] = labels[k][parts[row[mine], k]]
        found.append((row + rows.start, rank + 1, column, label, of_rows[row, column], sizes[row, rank]))
    kinds = (np.int64, np.int64, np.int64, object, np.float64, np.float64)
    row, rank, column, label, own, lost = (
        np.concatenate([np.empty(0, dtype=kind), *(one[i] for one in found)]) for i, kind in enumerate(kinds)
    )
    return {
        "row": row,
        "rank": rank,
        "reason": [texts[k] for k in column.tolist()],
        "column": [str(names[k]) for k in column.tolist()],
        "part": list(label),
        "points": own,
        "lost": lost,
    }


def _compared(card: Scorecard, name: Name, points: NDArray[np.float64], against: str, sign: float) -> float:
    """Points that those of a column are compared with; `points` end with those of no part."""
    if against == "neutral":
        return 0.0
    if against == "best":
        return float(sign * (sign * points[:-1]).max())
    return float(np.average(points[:-1], weights=card.partition(name).rows))


def _texts(card: Scorecard, codes: Any) -> list[str]:
    """Reason of each column: its name, or what `codes` say."""
    if codes is not None and not isinstance(codes, Mapping):
        raise TypeError(f"codes must be a dict of texts by column name, got {codes!r}")
    for name in codes or ():
        if name not in card.names:
            raise ValueError(f"codes names {name!r}, which is no column{did_you_mean(name, card.names)}")
    return [str((codes or {}).get(name, name)) for name in card.models]
