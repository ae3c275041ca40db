"""A table to learn from: the input columns, the class of each row, and how often each row counts."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.arguments import check_columns
from gridmodl.atoms import Target
from gridmodl.encode import Column, encode_column, kind_of
from gridmodl.frames import Frame, Name, read_column, read_frame
from gridmodl.targets import encode_target, encode_weights
from gridmodl.terms import Problem
from gridmodl.values import count_rows


class Table(NamedTuple):
    """Rows of weight 0 are gone from the target, and from each column before it is encoded."""

    inputs: Frame
    classes: NDArray[Any]  # their names
    target: Target
    kept: NDArray[np.bool_] | None  # rows of the inputs that count; None: all
    problem: Problem

    @property
    def names(self) -> list[Name]:
        return list(self.inputs.columns)

    def is_categorical(self, name: Name, kind: str | None) -> bool:
        return (kind or kind_of(self.inputs.columns[name])) == "categorical"

    def only(self, name: Name) -> Table:
        """The table with one input column."""
        return self._replace(inputs=self.inputs._replace(columns={name: self.inputs.columns[name]}))

    def column(self, name: Name, kind: str | None) -> Column:
        raw = self.inputs.columns[name]
        return encode_column(raw if self.kept is None else _of_rows(raw, self.kept), name, kind)


def read_table(data: Any, target: Any, weights: Any, target_kind: str | None, unlabelled: Any) -> Table:
    """Read data, target and weights, the latter two also by the name of a column."""
    inputs = read_frame(data)
    if inputs.n_rows == 0:
        raise ValueError("data has no rows")
    if target is None:
        raise NotImplementedError("no target was given, and gridmodl needs one: the class of each row")
    if unlabelled is not None:
        raise NotImplementedError("unlabelled rows are not available; drop the rows without a class")
    classes_of, inputs = _taken(inputs, target, "target")
    weights_of, inputs = (None, inputs) if weights is None else _taken(inputs, weights, "weights")
    if not inputs.columns:
        raise ValueError("data has no column beside the target")
    if len(classes_of) != inputs.n_rows:
        raise ValueError(f"data has {inputs.n_rows} rows and target has {len(classes_of)}")
    rows = encode_weights(weights_of, inputs.n_rows)
    kept = None
    if rows is not None and np.any(rows == 0):
        kept = rows > 0
        if not kept.any():
            raise ValueError("all weights are 0: there are no rows")
        classes_of, rows = _of_rows(classes_of, kept), rows[kept]
    classes = encode_target(classes_of, target_kind)
    by_class = count_rows(classes.codes, rows, len(classes.names))
    problem = Problem("classes", int(by_class.sum()), 1, by_class)
    return Table(inputs, classes.names, Target(classes.codes, rows, len(classes.names)), kept, problem)


def _taken(inputs: Frame, given: Any, what: str) -> tuple[Any, Frame]:
    """A column given by its name, which then is no input, or as it is."""
    if not isinstance(given, (str, bytes, int)) or isinstance(given, bool):
        return read_column(given, what), inputs
    assert isinstance(given, Hashable)  # noqa: S101  for mypy
    if not inputs.has_names:
        raise TypeError(f"{what} must be array-like, or the name of a column of a frame; got {given!r} beside an array")
    check_columns(what, [given], inputs.columns)
    return inputs.columns[given], inputs.without(given)


def _of_rows(raw: Any, kept: NDArray[np.bool_]) -> Any:
    return raw[kept] if isinstance(raw, np.ndarray) else raw.filter(kept.tolist())
