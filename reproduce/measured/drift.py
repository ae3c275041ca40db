"""Drift of a made portfolio of 500,000 rows x 50 columns over 24 months: found in the three columns that drift alone?

    .venv/bin/python -m reproduce.measured.drift --rows 500000 --seeds 3

Models are made of the first year, and all months are compared with it, with the classes. Printed are the columns found,
the first month of each, the largest PSI of all others, and the seconds of processor time. Among the rows of the first
year, in shuffled months, nothing may be found. The exit code is 1 if any other column is found, or one of the three is
not.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

import gridmodl
from reproduce.measured.portfolio import DRIFTED, FIRST, make


def measure(n_rows: int, seed: int) -> bool:
    """Whether exactly the three columns are found."""
    table = make(n_rows, seed)
    months = sorted(table["month"].unique().to_list())
    old = table.filter(table["month"] < months[FIRST]).drop("month")
    begun = time.process_time()
    models = gridmodl.optimize_each(old, "default")
    fitted = time.process_time()
    found = models.compare(table, "default", "month", refit=False)
    done = time.process_time()
    lazy = models.compare(table.lazy(), "default", "month", refit=False)
    refit = models.compare(table.filter(table["month"] >= months[FIRST]), "default")
    others = [one for name, one in found.columns.items() if name not in DRIFTED]
    first = {name: months[found[name].verdicts[1:].index("drift")] for name in found.drifted}
    print(f"seed {seed}: drift in {', '.join(f'{name} from {month}' for name, month in first.items())}")
    print(f"  of all other columns and months, the largest PSI is {max(float(one.psi.max()) for one in others):.4f}, "
          f"the smallest adjusted p-value {min(float(one.p_adjusted.min()) for one in others):.2g}")  # fmt: skip
    print(f"  processor time: fit {fitted - begun:.1f} s, compare {done - fitted:.1f} s; "
          f"on an engine the same: {lazy.to_json() == found.to_json()}")  # fmt: skip
    gains = {name: one.prices.same_parts - one.prices.best_parts for name, one in refit.columns.items()}
    print(f"  nats per row that the best new partition saves: {', '.join(f'{n} {gains[n]:.5f}' for n in DRIFTED)}")
    rng = np.random.default_rng(seed)
    shuffled = old.with_columns(month=rng.permutation(np.arange(len(old)) % 24))
    calm = models.compare(shuffled, "default", "month", refit=False)
    small = sum("small change" in one.verdicts for one in calm.all_parts)
    print(f"  the first year, months shuffled: drift in {calm.drifted}, small changes in {small}")
    return set(found.drifted) == set(DRIFTED) and not calm.has_drift and not small


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    found = [measure(asked.rows, seed) for seed in range(asked.seeds)]
    sys.exit(not all(found))


if __name__ == "__main__":
    main()
