"""Questions to models of old files, whose answers are recorded in ``old/answers``."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd

MAX_ROWS = 60


def questions(model):
    """Rows with values at and beyond bounds, special codes, known and unknown categories, and missing values."""
    columns = {name: values_of(partition) for name, partition in model.partitions.items()}
    rows = list(itertools.product(*columns.values()))
    rows = [*rows[:: -(-len(rows) // MAX_ROWS)], tuple(values[-1] for values in columns.values())]
    return {name: array_of([row[k] for row in rows], model.partitions[name]) for k, name in enumerate(model.partitions)}


def values_of(partition):
    """Values that are in parts and values that are in none, the missing value last."""
    if partition.kind == "categorical":
        return [group[0] for group in partition.groups] + ["never seen", None]
    ends = [] if not len(partition.bounds) else [partition.bounds[-1] + (partition.bounds[-1] - partition.bounds[0])]
    numbers = [*partition.bounds, *partition.special, *ends] or [np.zeros(1, partition.bounds.dtype)[0]]
    return [*numbers, np.array("NaT", partition.bounds.dtype)[()] if partition.bounds.dtype.kind in "mM" else math.nan]


def array_of(values, partition):
    array = np.array(values, dtype=object if partition.kind == "categorical" else None)
    return pd.Series(array).dt.tz_localize("UTC") if partition.is_utc else array


def answers_of(model):
    """Parts, cells and predictions of the rows of `questions`."""
    data = questions(model)
    answers = {"cost": model.cost, "transform": np.reshape(model.transform(data), (-1, len(data))).tolist()}
    if model.target is None:
        answers["cell_of"] = model.cell_of(data).tolist()
    if len(model.classes):
        answers["predict_proba"] = model.predict_proba(data).tolist()
        answers["predict"] = model.predict(data).tolist()
    elif model.target is not None:
        answers["predict"] = [part.tolist() for part in model.predict(data)]
    return answers
