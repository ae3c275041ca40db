"""How often a grid finds the XOR of many variables, how long that takes, and how often it finds something in noise.

    .venv/bin/pip install scikit-learn
    .venv/bin/python docs/reproduce/xor_and_noise.py

Default effort and one thread, but for a line with more effort. Each draw has a seed of its own for the search too: with
the same seed a search tries the same columns together in the same rounds, and all draws would be found or missed
together.

XOR: the classes of uniform numbers follow the parity of how many are above 0.5. A draw counts as found when the
informative columns are exactly those of the XOR; the time to it ends with the first grid that has half of the final
level. Noise: 10 uniform columns beside two classes drawn at random; any informative column is a false detection. The
interval is the exact one of Clopper and Pearson, 95 %. `--draws 20` is a quick look, `--only` makes one table; all
draws of noise take about an hour.

Targets: 2-D and 5-D XOR, 95 of 100; all variables of wine, cost 87.182222. The exit code is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scipy.stats import beta
from sklearn.datasets import load_wine

import gridmodl

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "asv_benchmarks" / "benchmarks"))

import datasets

# Variables, columns, rows, what the effort is raised by, draws, and the share of these to be found or None.
XORS = [
    (2, 2, 40, 0, 100, 0.95),
    (5, 5, 256, 0, 100, 0.95),
    (5, 10, 256, 0, 20, None),
    (5, 20, 256, 0, 20, None),
    (5, 20, 256, 4, 20, None),
    (10, 10, 1_500, 0, 20, None),
    (10, 10, 2_000, 0, 20, None),
    (10, 10, 4_000, 0, 20, None),
]
NOISE_ROWS = 100, 300, 1_000
NOISE_COLUMNS = 10
NOISE_DRAWS = 2_000
WINE_COST = 87.182222
TABLES = "xor", "wine", "noise"


def detect(data: tuple[Any, Any], n_variables: int, effort: int, seed: int) -> tuple[bool, float, float]:
    """Whether the XOR was found, and the seconds to it and in all."""
    history: list[Any] = []
    begun = time.perf_counter()
    search = gridmodl.Search("vns", effort=effort, on_improvement=history.append)
    model = gridmodl.optimize(*data, search=search, random_state=seed)
    elapsed = time.perf_counter() - begun
    found = sorted(model.informative) == sorted(f"x{i}" for i in range(n_variables))
    to_it = next((step.elapsed for step in history if step.level >= 0.5 * model.level), elapsed)
    return found, to_it, elapsed


def show_xor(most_draws: int | None, effort: int) -> bool:
    print("XOR    columns   rows   effort       found   median s to it   median s in all")
    is_reached = True
    for n_variables, n_columns, n_rows, more_effort, n_draws, target in XORS:
        n_draws = min(n_draws, most_draws or n_draws)
        tables = [datasets.make_xor(n_rows, n_variables, n_columns, seed) for seed in range(n_draws)]
        detect(tables[0], n_variables, 0, 0)  # compiles
        answers = [detect(table, n_variables, effort + more_effort, seed) for seed, table in enumerate(tables)]
        times = [to_it for found, to_it, _ in answers if found]
        to_it = f"{statistics.median(times):.4f}" if times else "-"
        in_all = statistics.median(elapsed for _, _, elapsed in answers)
        wanted = "" if target is None else f"   target {target:.0%}"
        is_reached &= target is None or len(times) >= target * n_draws
        line = f"{n_variables:2d}-D {n_columns:9d} {n_rows:6d} {effort + more_effort:8d}"
        print(f"{line} {f'{len(times)} of {n_draws}':>11} {to_it:>16} {in_all:17.4f}{wanted}", flush=True)
    return is_reached


def show_wine() -> bool:
    data = load_wine(as_frame=True)
    models = [gridmodl.optimize(data.data, data.target, random_state=seed) for seed in range(10)]
    costs = [model.cost for model in models]
    best = min(models, key=lambda model: model.cost)
    n_known = sum(cost <= WINE_COST + 1e-6 for cost in costs)
    print(f"wine, 13 columns, seeds 0-9: best cost {min(costs):.6f}, worst {max(costs):.6f}, known {WINE_COST}")
    print(f"  at most the known one {n_known} of 10; {', '.join(best.informative)}", flush=True)
    return n_known > 0


def show_noise(sizes: Sequence[int], n_draws: int, effort: int) -> None:
    print(f"noise, {NOISE_COLUMNS} columns   rows   false detections   exact 95 % interval")
    for n_rows in sizes:
        for selection in (True, False):
            criterion = gridmodl.get_criterion("modl", selection=selection)
            n_false = sum(
                bool(
                    gridmodl.optimize(
                        *datasets.make_noise(n_rows, NOISE_COLUMNS, seed),
                        criterion=criterion,
                        search=gridmodl.Search("vns", effort=effort),
                        random_state=seed,
                    ).informative
                )
                for seed in range(n_draws)
            )
            low, high = exact_interval(n_false, n_draws)
            name = "selection prior" if selection else "without it"
            rate = f"{n_false} of {n_draws}"
            print(f"  {name:17} {n_rows:6d} {rate:>18}   {low:.3%} to {high:.3%}", flush=True)


def exact_interval(n_hits: int, n_draws: int, confidence: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval of a share."""
    tail = (1.0 - confidence) / 2.0
    low = float(beta.ppf(tail, n_hits, n_draws - n_hits + 1)) if n_hits else 0.0
    high = float(beta.ppf(1.0 - tail, n_hits + 1, n_draws - n_hits)) if n_hits < n_draws else 1.0
    return low, high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, help=f"draws of each line at most; of noise {NOISE_DRAWS:,} otherwise")
    parser.add_argument("--effort", type=int, default=gridmodl.Search().effort, help="of the search of XOR and noise")
    parser.add_argument("--only", choices=TABLES, action="append", help="a table; may be given several times")
    parser.add_argument("--rows", type=int, action="append", help="of noise; may be given several times")
    arguments = parser.parse_args()
    tables = arguments.only or TABLES
    is_reached = True
    if "xor" in tables:
        is_reached &= show_xor(arguments.draws, arguments.effort)
    if "wine" in tables:
        is_reached &= show_wine()
    if "noise" in tables:
        show_noise(arguments.rows or NOISE_ROWS, arguments.draws or NOISE_DRAWS, arguments.effort)
    sys.exit(0 if is_reached else 1)


if __name__ == "__main__":
    main()
