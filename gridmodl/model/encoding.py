"""Encode the part of each value as numbers: its number, one column per part, its woe, or the mean of the target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.model.evidence import encoded_events, woe_of
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition
from gridmodl.spelling import check_choice

ENCODINGS = ("ordinal", "onehot", "woe", "mean")
TARGETS_OF = {"woe": ("classes", "grouped"), "mean": ("numerical",)}  # other encodings need no target
FORMER = {"log-odds": "woe", "log_odds": "woe"}  # words that were renamed

# Characters that LightGBM or XGBoost refuse in names of features, white space, and quotes.
REFUSED = set("[]{}<>,:\"'`\\/|;")


def check_encoding(encode: Any, target_kind: str | None) -> None:
    """Check that the encoding exists, and that it suits the target; `target_kind` is None without a target."""
    if isinstance(encode, str) and encode in FORMER:
        raise ValueError(f"encode={encode!r} is called encode={FORMER[encode]!r}, weight of evidence; use that word")
    check_choice("encode", encode, ENCODINGS)
    if encode not in TARGETS_OF or target_kind in TARGETS_OF[encode]:
        return
    if target_kind is None:
        raise ValueError(f"encode={encode!r} needs a target, and the partitions were made without one")
    if encode == "mean":
        raise ValueError("encode='mean' is for target_kind='numerical', and the target has classes; use encode='woe'")
    raise ValueError(f"encode={encode!r} is for classes, and the target is numerical; use encode='mean'")


def rows_of_parts(encode: str, model: Model | None, partition: Partition) -> NDArray[np.float64]:
    """The encoded row of each part; the last row is that of part -1, of values that no part holds."""
    if encode == "onehot":
        return np.eye(partition.n_parts + 1, partition.n_parts)
    assert model is not None  # noqa: S101  for mypy: `check_encoding` asks for a target
    if encode == "mean":
        assert model._target_quantiles is not None  # noqa: S101
        return model._target_quantiles.means[:, None]
    return woe_of(model, partition)


def encoded_names(encode: str, name: Name, model: Model | None, partition: Partition) -> list[str]:
    """Names of the encoded columns of the column `name`.

    The name of the column if there is one encoded column. For ``"onehot"``, with the number of the part and its label,
    ``size_1_2.5..4.75``, ``colour_0_blue+green`` or ``rating_0_AAA..BBB``. For ``"woe"`` of several classes, with the
    class, ``size_setosa``; of groups of classes, with the number of the group and its label. Characters of names and
    labels that other libraries refuse become ``_``.
    """
    if encode == "onehot":
        return [_clean(f"{name}_{i}_{text}") for i, text in enumerate(map(_label_text, partition.labels))]
    if encode != "woe" or model is None:
        return [_feature_name(name)]
    events = [one.name for one in encoded_events(model, partition)]
    if model.target is None:
        return names_of_events(name, events)
    labels = [_label_text(label) for label in model.target.labels]
    return [_clean(f"{name}_{event}_{labels[int(event)]}") for event in events]


def names_of_events(name: Name, events: Sequence[str]) -> list[str]:
    """Names of the columns of woe of some classes: the name of the column, with the class if there are several."""
    return [_feature_name(name)] if len(events) == 1 else [_clean(f"{name}_{event}") for event in events]


def _feature_name(name: Name) -> str:
    """The name of a column, without characters that other libraries refuse."""
    return _clean(str(name)) or "_" if REFUSED & set(str(name)) else str(name)


def _label_text(label: str) -> str:
    """A label without brackets: ``2.5..4.75`` for ``(2.5, 4.75]``, ``blue+green`` for ``{blue, green}``."""
    if label.startswith("{"):
        inner = label.removeprefix("{").removesuffix("}").replace(", ..., ", "..")  # from one level to another
        return _clean(inner.replace(", ... ", "+").replace(", ", "+"))
    return _clean(label.replace(", ", "..").translate(dict.fromkeys(map(ord, "()[]"))))


def _clean(text: str) -> str:
    """The text with ``_`` in place of each run of characters that other libraries refuse."""
    kept = "".join(" " if c in REFUSED or c.isspace() or not c.isprintable() else c for c in text)
    return "_".join(kept.split())


def unique_names(names: Iterable[str]) -> NDArray[np.object_]:
    """The names; one that is taken gets a number."""
    taken: dict[str, None] = {}
    for name in names:
        free, number = name, 2
        while free in taken:
            free, number = f"{name}_{number}", number + 1
        taken[free] = None
    return np.array(list(taken), dtype=object)
