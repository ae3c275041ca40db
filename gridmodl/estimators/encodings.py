"""Part numbers as columns of numbers, and names for these columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from gridmodl.model import Model
from gridmodl.modelcounts import part_counts
from gridmodl.partition import Partition
from gridmodl.report.tables import log_odds
from gridmodl.spelling import check_choice

ENCODINGS = ("ordinal", "onehot", "log-odds", "mean")
OF_TARGETS = {"log-odds": ("classes", "grouped"), "mean": ("numerical",)}  # the others need none


def check_encoding(encode: Any, target_kind: str | None) -> None:
    """That there is such an encoding, and that it suits the target, None where there is none."""
    check_choice("encode", encode, ENCODINGS)
    if encode not in OF_TARGETS or target_kind in OF_TARGETS[encode]:
        return
    if target_kind is None:
        raise ValueError(f"encode={encode!r} is what a part says of a target, and it was fitted without y")
    if encode == "mean":
        raise ValueError(
            "encode='mean' is for target_kind='numerical', and the target is of classes; encode='log-odds' is what a "
            "part says of these"
        )
    raise ValueError(
        f"encode={encode!r} is what a part says of classes, and the target is numerical; encode='mean' is its mean in "
        "a part"
    )


def rows_of_parts(encode: str, model: Any, partition: Partition) -> NDArray[np.float64]:
    """What a row is in each part, and at the end in part -1, that of unknown values: nothing is known of those."""
    if encode == "onehot":
        return np.eye(partition.n_parts + 1, partition.n_parts)
    if encode == "mean":
        means: NDArray[np.float64] = model._spread.means[:, None]
        return means
    counts = partition.counts if model.target is None else part_counts(model, partition)
    return _log_odds_rows(counts)


def _log_odds_rows(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """By class, or by group of classes; of two that of the second."""
    n_classes = counts.shape[1]
    columns = log_odds(counts)[:, 1:] if n_classes == 2 else log_odds(counts) * (n_classes > 1)
    columns[counts.sum(axis=1) == 0] = 0.0
    return np.concatenate([columns, np.zeros((1, columns.shape[1]))])


def sparse_onehot(parts: list[NDArray[np.int64]], n_parts: list[int]) -> Any:
    offsets = np.cumsum([0, *n_parts])
    columns = np.column_stack(parts)
    is_known = columns >= 0
    ends = np.append(0, np.cumsum(is_known.sum(axis=1)))
    indices = (columns + offsets[:-1])[is_known]
    return csr_matrix((np.ones(len(indices)), indices, ends), shape=(len(columns), int(offsets[-1])))


def names_of_log_odds(name: str, model: Model) -> list[str]:
    """Of one column: its own where two classes leave no doubt, else with the class or the group of classes."""
    if model.target is None:
        labels = [str(label) for label in model.classes.tolist()]
        return [f"{name}_{label}" for label in labels] if len(labels) > 2 else [name]
    labels = model.target.labels
    return [f"{name}_{label}" for label in (labels[1:] if len(labels) == 2 else labels)]


def unique_names(names: Iterable[str]) -> NDArray[np.object_]:
    taken: dict[str, None] = {}
    for name in names:
        free, number = name, 2
        while free in taken:
            free, number = f"{name} ({number})", number + 1
        taken[free] = None
    return np.array(list(taken), dtype=object)
