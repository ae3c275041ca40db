"""Rows of a lazy frame, counted on their engine and searched here: over the same in memory."""

from __future__ import annotations

import numpy as np
import polars as pl

import gridmodl

from . import ratio, shortened

N_ROWS = shortened(1_200_000)  # more combinations of values than are counted one by one: grids are found by codes


def make(n_rows):
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=n_rows), "z": rng.normal(size=n_rows)}
    columns["town"] = rng.choice([f"town {i}" for i in range(300)], n_rows)
    chance = np.where((columns["x"] > 0.0) ^ (columns["z"] > 0.5), 0.7, 0.3)
    return pl.DataFrame({**columns, "y": (rng.random(n_rows) < chance).astype(np.int64)})


class LazyFrame:
    """1,200,000 rows of Polars, three columns, two classes."""

    timeout = 600

    def setup(self):
        self.data = make(N_ROWS)
        self.quick = gridmodl.Search("vns", effort=0)
        self.columns(self.data.lazy())  # compiles and imports, outside the clock
        self.grid(self.data.lazy())

    def columns(self, data):
        return gridmodl.optimize_each(data, "y")

    def grid(self, data):
        return gridmodl.optimize(data, "y", search=self.quick)

    def track_columns_over_memory(self):
        return ratio(lambda: self.columns(self.data.lazy()), lambda: self.columns(self.data))

    track_columns_over_memory.unit = "ratio"

    def track_grid_over_memory(self):
        """By codes: atoms, the search on their cells, and local moves on all rows."""
        return ratio(lambda: self.grid(self.data.lazy()), lambda: self.grid(self.data))

    track_grid_over_memory.unit = "ratio"

    def track_count_over_columns(self):
        """Counting alone, as a share of counting and searching."""
        return ratio(lambda: gridmodl.count(self.data.lazy(), "y"), lambda: self.columns(self.data.lazy()))

    track_count_over_columns.unit = "ratio"
