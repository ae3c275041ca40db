"""Grids without a target, grouped classes and numerical targets: time, cost, growth with rows and values, memory.

All data is made here. Larger data and more seeds: ``blocks``, ``nova`` and ``joint_growth`` of ``reproduce/measured``.
"""

from __future__ import annotations

import time
from dataclasses import replace
from unittest import mock

import numpy as np
from scipy import sparse

import gridmodl
from gridmodl.data.table import read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.fit.grid import grid_task
from gridmodl.fit.options import Options
from gridmodl.plugins import criterion_for
from gridmodl.search import run
from gridmodl.search.grid import vns

from . import MILLION, SMALL, datasets, power, ratio, shortened
from .memory import printed_apart

SEED = 1  # not that of the data, with which a random start could be a refinement of the blocks
BLOCKS = {10_000: (100, 5), 100_000: (1_000, 10)}  # values and blocks by rows

PEAK_OVER_DATA = """
import numpy as np
import gridmodl
from memory import peak_bytes

def optimize(n_rows, n_values):
    rows = rng.integers(0, n_values, (2, n_rows))
    data = {"a": rows[0], "b": (rows[0] // 7 + rows[1] // 2) % n_values}
    gridmodl.optimize(data, kinds=dict.fromkeys(data, "categorical"), search=gridmodl.Search(effort=0))
    return sum(column.nbytes for column in data.values())

rng = np.random.default_rng(0)
optimize(200, 20)
before = peak_bytes()
n_bytes = optimize(1_000_000, 5_000)
print((peak_bytes() - before) / n_bytes)
"""


def optimize(columns, effort=None, seed=SEED):
    """Find a joint grid of columns with this `effort`, None for the default; integers are categories."""
    search = gridmodl.Search() if effort is None else gridmodl.Search(effort=effort)
    kinds = {name: "categorical" for name, column in columns.items() if column.dtype.kind == "i"}
    return gridmodl.optimize(columns, kinds=kinds, search=search, random_state=seed)


def make_codes(n_rows):
    n_values, n_blocks = BLOCKS[n_rows]
    return dict(zip("ab", datasets.make_blocks(n_rows, n_values, n_blocks)[:2], strict=True))


def once(benchmark, at_most_seconds=10.0):
    """One call a sample, few samples: for calls that take long."""
    benchmark.number, benchmark.repeat, benchmark.warmup_time = 1, (1, 3, at_most_seconds), 0


class Blocks:
    """Two categorical columns with planted blocks, default effort. Target at 100,000 rows of texts: below 1 s."""

    params = list(BLOCKS)
    param_names = ["rows"]

    def setup(self, n_rows):
        self.codes = make_codes(n_rows)
        self.texts = {name: datasets.as_texts(column, name) for name, column in self.codes.items()}
        optimize(make_codes(10_000), 0)  # compiles

    def time_from_codes(self, n_rows):
        optimize(self.codes)

    def time_from_texts(self, n_rows):
        optimize(self.texts)

    def time_effort_zero(self, n_rows):
        """The starts alone: mostly passes of transfers."""
        optimize(self.codes, 0)

    def track_cost(self, n_rows):
        return optimize(self.codes).cost

    # Known: 85073.784706 at 10,000 rows, 1304200.987922 at 100,000.
    track_cost.unit = "nats"


once(Blocks.time_from_codes)
once(Blocks.time_from_texts)
once(Blocks.time_effort_zero)


class Matrix:
    """A sparse matrix of 200,000 entries over 5,000 x 5,000 values, 40 x 40 blocks, at effort 0."""

    def setup(self):
        rows, columns = datasets.make_wide_blocks(200_000, 5_000, 40)
        self.matrix = sparse.coo_array(([1] * len(rows), (rows, columns)), shape=(5_000, 5_000)).tocsr()
        gridmodl.optimize(self.matrix[:100, :100])  # compiles

    def optimize(self):
        return gridmodl.optimize(self.matrix, search=gridmodl.Search(effort=0), random_state=SEED)

    def time_effort_zero(self):
        self.optimize()

    def track_cost(self):
        return self.optimize().cost

    track_cost.unit = "nats"


once(Matrix.time_effort_zero)


class Mixed:
    """Three numerical and two categorical columns, 2,000 rows, at effort 1."""

    def setup(self):
        self.columns = datasets.make_mixed_joint(2_000)
        optimize(datasets.make_mixed_joint(200), 0)  # compiles

    def time_five_variables(self):
        optimize(self.columns, 1)

    def track_cost(self):
        return optimize(self.columns, 1).cost

    track_cost.unit = "nats"


once(Mixed.time_five_variables)


class GroupedClasses:
    """20,000 rows of 1,000 classes, grouped along intervals of a numerical column."""

    def setup(self):
        self.data = datasets.make_many_classes(20_000, 1_000)
        gridmodl.optimize(*datasets.make_many_classes(200, 20), target_kind="grouped")  # compiles

    def optimize(self):
        return gridmodl.optimize(*self.data, target_kind="grouped", random_state=SEED)

    def time_thousand_classes(self):
        self.optimize()

    def track_cost(self):
        return self.optimize().cost

    track_cost.unit = "nats"


once(GroupedClasses.time_thousand_classes)


class NumericalTarget:
    """100,000 rows: intervals of a column and of a target that follows it."""

    def setup(self):
        self.data = datasets.make_curve(100_000)
        gridmodl.optimize(*datasets.make_curve(200), target_kind="numerical")  # compiles

    def optimize(self):
        return gridmodl.optimize(*self.data, target_kind="numerical", random_state=SEED)

    def time_hundred_thousand_rows(self):
        self.optimize()

    def track_cost(self):
        return self.optimize().cost

    track_cost.unit = "nats"


once(NumericalTarget.time_hundred_thousand_rows)


class TargetGrids:
    """10,000 rows x 5 inputs, two of which the target depends on, at effort 1: numbers, or 40 classes in groups."""

    params = ["numerical", "grouped"]
    param_names = ["target"]

    def setup(self, target):
        self.search = gridmodl.Search("vns", effort=1)
        self.data = self.make(10_000, target)
        self.optimize(self.make(500, target))  # compiles

    def make(self, n_rows, target):
        rng = np.random.default_rng(0)
        columns = {f"x{k}": rng.normal(size=n_rows) for k in range(5)}
        y = 2 * (columns["x0"] > 0) + 1.5 * (columns["x1"] > 0.5) + rng.normal(size=n_rows)
        return (
            columns,
            y if target == "numerical" else np.clip(np.round(5 * y + 15), 0, 39).astype(int).astype(str),
            target,
        )

    def optimize(self, data):
        columns, y, target = data
        return gridmodl.optimize(columns, y, target_kind=target, search=self.search, random_state=SEED)

    def time_optimize(self, target):
        self.optimize(self.data)

    def track_cost(self, target):
        return self.optimize(self.data).cost

    track_cost.unit = "nats"


once(TargetGrids.time_optimize)


class Densities:
    """A joint grid of four columns as a density: a million rows scored, drawn and imputed, against `transform`."""

    def setup(self):
        rng = np.random.default_rng(0)
        a, b = rng.normal(size=MILLION), rng.normal(size=MILLION)
        kind = np.where(a + b > 0, "high", "low")
        self.data = {"a": a, "b": b, "c": np.where(rng.random(len(a)) < 0.1, np.nan, a * b), "kind": kind}
        few = {name: column[:2000] for name, column in self.data.items()}
        self.model = gridmodl.optimize(few, search=gridmodl.Search(effort=0), random_state=SEED)

    def track_log_density_over_transform(self):
        return ratio(lambda: self.model.log_density(self.data), lambda: self.model.transform(self.data), rounds=3)

    def track_sample_over_transform(self):
        return ratio(lambda: self.model.sample(MILLION, 0), lambda: self.model.transform(self.data), rounds=3)

    def track_impute_over_transform(self):
        return ratio(lambda: self.model.impute("c", self.data), lambda: self.model.transform(self.data), rounds=3)


class Engines:
    """What the engine of pairs gains: the same task by it and by the rounds of the engine of grids (effort 3) alone.

    ``blocks`` are 100,000 rows over 1,000 x 1,000 values in 10 x 10 blocks, ``sparse`` 50,000 rows over 2,000 x 2,000
    values in 20 x 20 blocks.
    """

    params = ["blocks", "sparse"]
    param_names = ["data"]
    sizes = {
        "blocks": (datasets.make_blocks, 100_000, 1_000, 10),
        "sparse": (datasets.make_wide_blocks, 50_000, 2_000, 20),
    }
    if SMALL:
        sizes = {
            "blocks": (datasets.make_blocks, 10_000, 100, 5),
            "sparse": (datasets.make_wide_blocks, 10_000, 200, 5),
        }

    def setup(self, data):
        make, *size = self.sizes[data]
        few, many = (
            dict(zip("ab", columns[:2], strict=True)) for columns in (datasets.make_blocks(200, 20, 2), make(*size))
        )
        self.found_by(few, "pair")  # compiles
        self.found_by(few, "grid")
        self.runs = {engine: self.found_by(many, engine) for engine in ("pair", "grid")}

    @staticmethod
    def found_by(columns, engine):
        """Processor seconds of a search, and the cost that it saves."""
        table = read_table(columns, None, None, None, NOT_GIVEN)
        options = Options(search=gridmodl.Search(), kinds=dict.fromkeys(columns, "categorical"))
        _, task = grid_task(table, options, criterion_for("modl", "joint"))
        search = gridmodl.Search("vns", effort=3) if engine == "grid" else gridmodl.Search()
        with mock.patch.object(vns, "_add_starts"):  # which come from the engine of pairs
            begun = time.process_time()
            found = run(engine, replace(task, random_state=SEED), search)
            return time.process_time() - begun, found.null.cost - found.grid.cost

    def track_seconds_of_grid_over_pair(self, data):
        return self.runs["grid"][0] / self.runs["pair"][0]

    def track_savings_of_grid_over_pair(self, data):
        return self.runs["grid"][1] / self.runs["pair"][1]

    track_seconds_of_grid_over_pair.unit = track_savings_of_grid_over_pair.unit = "ratio"


class Growth:
    """20 x 20 blocks, integer codes, effort 0, by processor time."""

    def track_power_of_rows(self):
        return growth([(20_000, 500), (shortened(500_000), 500)], shortened(500_000) / 20_000)

    # 500 x 500 values, from 20,000 to 500,000 rows.
    track_power_of_rows.unit = "power of the rows"

    def track_power_of_values(self):
        return growth([(shortened(200_000), 200), (shortened(200_000), 5_000)], 5_000 / 200)

    # 200,000 rows, from 200 x 200 to 5,000 x 5,000 values.
    track_power_of_values.unit = "power of the values"


def growth(sizes, factor):
    tables = [dict(zip("ab", datasets.make_wide_blocks(*size, 20), strict=True)) for size in sizes]
    optimize(tables[0], 0)  # compiles
    few = min(processor_seconds(tables[0]) for _ in range(3))
    return power(few, processor_seconds(tables[1]), factor)


def processor_seconds(columns):
    begun = time.process_time()
    optimize(columns, 0)
    return time.process_time() - begun


def track_peak_over_data():
    return printed_apart(PEAK_OVER_DATA)


# At 1,000,000 rows over 5,000 x 5,000 values, two columns of integers, the data itself included.
track_peak_over_data.unit = "ratio"
