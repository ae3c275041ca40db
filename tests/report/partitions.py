"""Partitions and models that tests of exports write down, with one row of each class in every part."""

from __future__ import annotations

import numpy as np

from gridmodl import Model, Partition


def numerical(bounds, special=(), missing=None, is_apart=False, name="x", **facts):
    bounds, special = np.asarray(bounds), np.asarray(special, dtype=None if len(special) else float)
    sizes = facts.get("special_sizes")
    counts = np.ones((len(bounds) + 1 + (len(sizes) if sizes else len(special)) + is_apart, 2), dtype=np.int64)
    return Partition(name, "numerical", counts, bounds=bounds, special=special, missing=missing, **facts)


def categorical(*groups, name="x", default=None):
    missing = next((i for i, group in enumerate(groups) if None in group), None)
    counts = np.ones((len(groups), 2), dtype=np.int64)
    return Partition(name, "categorical", counts, groups=groups, missing=missing, default=default)


def model_of(partition):
    return Model(1.0, 2.0, "modl", "classes", 2, np.array(["no", "yes"]), {partition.name: partition},
                 proven=False, search="given", elapsed=0.0)  # fmt: skip
