"""Comparing a million new rows with those of training: over one look-up of the parts, and on an engine."""

from __future__ import annotations

import numpy as np
import polars as pl

import gridmodl

from . import MILLION, ratio, seconds

N_OLD, N_NEW, N_COLUMNS, N_MONTHS = 100_000, MILLION, 5, 12


def make(n_rows, seed):
    rng = np.random.default_rng(seed)
    columns = {f"x{k}": rng.normal(size=n_rows) for k in range(N_COLUMNS - 1)}
    columns["town"] = rng.choice(["Bonn", "Lyon", "Oslo", "Rome"], n_rows)
    chance = 1.0 / (1.0 + np.exp(-sum(columns[f"x{k}"] for k in range(3))))
    columns |= {"month": rng.integers(0, N_MONTHS, n_rows), "y": (rng.random(n_rows) < chance).astype(np.int64)}
    return pl.DataFrame(columns)


class CompareMillion:
    """1,000,000 new rows, five columns, two classes, twelve months, without a new search."""

    timeout = 600

    def setup_cache(self):
        models = gridmodl.optimize_each(make(N_OLD, 0).drop("month"), "y")
        return models, make(N_NEW, 1)

    def setup(self, made):
        self.models, self.new = made
        self.compare()  # imports all

    def compare(self):
        return self.models.compare(self.new, "y", "month", refit=False)

    def track_seconds(self, made):
        return seconds(self.compare)

    track_seconds.unit = "seconds"

    def track_over_transform(self, made):
        """Finding the parts of the rows is part of the work: all else on top of it."""
        return ratio(self.compare, lambda: self.models.transform(self.new))

    track_over_transform.unit = "ratio"

    def track_engine_over_memory(self, made):
        lazy = self.new.lazy()
        return ratio(lambda: self.models.compare(lazy, "y", "month", refit=False), self.compare)

    track_engine_over_memory.unit = "ratio"
