"""Grids of lazy frames with too many combinations of values: found by codes, in a sample, and in memory.

    .venv/bin/pip install -e '.[duckdb]' polars
    .venv/bin/python -m reproduce.measured.lazy_grids --rows 2_000_000 --effort 1

Each table is searched four ways, with the same effort, from a lazy frame of Polars: by codes; in a sample whose parts
are then improved on all rows; in a sample that is only counted on all rows; and the rows in memory. For each way the
script prints what the grid saves against one cell, in nats, the seconds of the processor, for lazy frames the queries,
and the parts of each column. `--only` chooses tables by name, `--ways` ways.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import polars as pl

import gridmodl
from gridmodl.fit.lazy import codes as lazy_codes
from gridmodl.fit.lazy import grid as lazy_grid
from reproduce.measured.scale import Queries

Draw = Callable[[np.random.Generator, int], pl.DataFrame]


def _table(rng: np.random.Generator, columns: dict[str, object], share: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame({**columns, "y": rng.random(len(share)) < share})


def smooth(n_columns: int) -> Draw:
    """Logistic in products of neighbouring normal columns: shares change everywhere."""

    def draw(rng: np.random.Generator, n: int) -> pl.DataFrame:
        x = rng.normal(size=(n_columns, n))
        total = sum(0.7 * x[k] * x[k + 1] for k in range(n_columns - 1))
        return _table(rng, {f"x{k}": x[k] for k in range(n_columns)}, 1 / (1 + np.exp(-total)))

    return draw


def xor(n_columns: int, gain: float = 0.3) -> Draw:
    """Two columns tell the class only together; the others are noise."""

    def draw(rng: np.random.Generator, n: int) -> pl.DataFrame:
        x = rng.exponential(size=(n_columns, n))
        return _table(
            rng, {f"x{k}": x[k] for k in range(n_columns)}, np.where((x[0] > 0.31) ^ (x[1] > 1.27), 0.5 + gain, 0.5)
        )

    return draw


def noise(n_columns: int) -> Draw:
    """Nothing to find."""
    return xor(n_columns, 0.0)


def thin(n_columns: int) -> Draw:
    """Steps in one part in a thousand of the rows, given the sign of another column."""

    def draw(rng: np.random.Generator, n: int) -> pl.DataFrame:
        x = rng.random(size=(n_columns, n))
        share = 0.2 + 0.5 * ((np.floor(1000 * x[0]) % 97 == 5) & (x[1] > 0.4))
        return _table(rng, {f"x{k}": x[k] for k in range(n_columns)}, share)

    return draw


def mixed(n_columns: int) -> Draw:
    """Numbers, a column of 30 categories and, beside few numbers, one of 2,000; a third of the categories differ."""

    def draw(rng: np.random.Generator, n: int) -> pl.DataFrame:
        x, few, many = rng.normal(size=(n_columns, n)), rng.integers(0, 30, n), (2000 * rng.random(n) ** 2).astype(int)
        share = 0.2 + 0.2 * ((x[0] > 0.2) ^ (few % 3 == 0)) + 0.15 * (many % 3 == 0)
        names = np.array([f"c{i}" for i in range(2000)])
        texts = {"few": names[few], "many": names[many]} if n_columns < 4 else {"few": names[few]}
        return _table(rng, {**{f"x{k}": x[k] for k in range(n_columns)}, **texts}, share)

    return draw


TABLES: dict[str, Draw] = {
    "smooth2": smooth(2), "smooth3": smooth(3), "smooth5": smooth(5),
    "xor2": xor(2), "xor3": xor(3), "xor5": xor(5), "weak xor3": xor(3, 0.01),
    "noise2": noise(2), "noise5": noise(5), "thin2": thin(2), "mixed2": mixed(2), "mixed4": mixed(4),
}  # fmt: skip
WAYS = {  # LEAST_ATOMS, MAX_SWEEPS
    "codes": (2, lazy_codes.MAX_SWEEPS),
    "sample": (10**9, lazy_codes.MAX_SWEEPS),
    "sample, counted": (10**9, 0),
    "memory": None,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=2_000_000)
    parser.add_argument("--effort", type=int, default=1)
    parser.add_argument("--code-cells", type=int, default=lazy_codes.CODE_CELLS)
    parser.add_argument("--only", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=list(WAYS))
    given = parser.parse_args()
    lazy_codes.CODE_CELLS = given.code_cells
    search = gridmodl.Search("vns", effort=given.effort)
    for name in given.only:
        table = TABLES[name](np.random.default_rng(0), given.rows)
        for way in given.ways:
            settings = WAYS[way]
            data = table if settings is None else table.lazy()
            if settings is not None:
                lazy_codes.LEAST_ATOMS, lazy_codes.MAX_SWEEPS = settings
            lazy_grid.MAX_CELLS = min(2**20, given.rows // 4)  # no table is counted by value
            begun = time.process_time()
            with Queries() as queries:
                model = gridmodl.optimize(data, "y", search=search, random_state=0)
            seconds, parts = time.process_time() - begun, [one.n_parts for one in model.partitions.values()]
            how = f"{model.sample_rows} rows searched" if model.sample_rows else f"resolution {model.resolution}"
            print(
                f"{name:10} {way:16} {model.null_cost - model.cost:11.2f} nats saved, {seconds:5.0f} s, "
                f"{queries.n:3} queries, {how}, parts {parts}",
                flush=True,
            )


if __name__ == "__main__":
    main()
