"""Coclustering of planted blocks, from a frame of texts to a model: cost and time beside the targets.

    .venv/bin/pip install pandas polars
    .venv/bin/python -m reproduce.measured.blocks

Two columns whose values fall into blocks drawn at random; rows fall into the cells of the blocks unevenly (the data is
`make_blocks` of `asv_benchmarks/benchmarks/datasets.py`, seed 0). The frame is made before the clock starts; reading
its texts counts. One call is made before the measured ones, so nothing compiles. The seeds of the search are not that
of the data, with which random starts could be a refinement of the blocks. Every model is priced again from its groups.

`to target` is when the search met a grid at most as expensive as the target, `in all` when it returned, both from the
call on, and by processor time too: by the clock, a busy machine is slower. Khiops 11 took 4.5 s, 241 s, and more than 5
minutes for the first three; its cost of the second is 1304200.988. The thin ones have 20 rows a value: random groups
tell next to nothing there, and a search may not leave the null grid. The exit code is 1 if a seed is above a target
cost.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Hashable
from typing import Any, NamedTuple

import gridmodl
from asv_benchmarks.benchmarks import datasets

os.environ.setdefault("GRIDMODL_COMPILE", "always")  # a small call before the measured ones compiles


class Case(NamedTuple):
    n_rows: int
    n_values: int
    n_blocks: int
    cost: float | None  # to be reached; None is that of the planted grid
    seconds: float | None


CASES = {
    "small": Case(10_000, 100, 5, 85073.784706, None),
    "medium": Case(100_000, 1_000, 10, 1304200.988, 1.0),
    "large": Case(1_000_000, 2_000, 20, 14347929.725, 3.0),
    "sparse": Case(200_000, 5_000, 40, None, 10.0),
    "thin": Case(20_000, 1_000, 20, None, None),
    "thin and wide": Case(100_000, 5_000, 40, None, None),
}


def make_frame(kind: str, columns: dict[str, Any]) -> Any:
    if kind == "pandas":
        import pandas

        return pandas.DataFrame(columns)
    import polars

    return polars.DataFrame({name: values.tolist() for name, values in columns.items()})


def planted_partitions(case: Case, blocks: dict[str, Any], codes: dict[str, Any]) -> dict[Hashable, Any]:
    """The groups of values that the data was drawn from; values that no row has are left out."""
    partitions: dict[Hashable, Any] = {}
    for name, block_of in blocks.items():
        groups: list[list[str]] = [[] for _ in range(case.n_blocks)]
        for value in sorted(set(codes[name].tolist())):
            groups[block_of[value]].append(f"{name}{value}")
        partitions[name] = [group for group in groups if group]
    return partitions


class Run(NamedTuple):
    cost: float
    shape: str
    to_target: tuple[float, float] | None  # by the clock and by processor time
    in_all: tuple[float, float]


def run(frame: Any, target: float, search: dict[str, Any], time_limit: float | None, seed: int) -> Run:
    times: list[tuple[float, float]] = []  # of grids that reach the target
    begun = now()

    def on_improvement(step: Any) -> None:
        if is_reached(step.cost, target):
            times.append(since(begun))

    model = gridmodl.optimize(
        frame,
        search=gridmodl.Search(on_improvement=on_improvement, **search),
        time_limit=time_limit,
        random_state=seed,
    )
    in_all = since(begun)
    priced = gridmodl.price(frame, None, {name: partition.groups for name, partition in model.partitions.items()})
    if abs(priced - model.cost) > 1e-9 * priced:
        raise AssertionError(f"seed {seed}: the model says {model.cost!r}, its groups cost {priced!r}")
    shape = " x ".join(str(partition.n_parts) for partition in model.partitions.values())
    return Run(model.cost, shape, times[0] if times else None, in_all)


def now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def since(begun: tuple[float, float]) -> tuple[float, float]:
    return time.perf_counter() - begun[0], time.process_time() - begun[1]


def medians(times: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(clock for clock, _ in times), statistics.median(processor for _, processor in times)


def is_reached(cost: float, target: float) -> bool:
    return round(cost, 6) <= round(target, 6)


def show(name: str, case: Case, arguments: argparse.Namespace) -> bool:
    """Whether every seed reaches the target cost."""
    first, second, first_block, second_block = datasets.make_blocks(case.n_rows, case.n_values, case.n_blocks)
    codes, blocks = {"a": first, "b": second}, {"a": first_block, "b": second_block}
    frame = make_frame(arguments.frame, {letter: datasets.as_texts(column, letter) for letter, column in codes.items()})
    planted = gridmodl.price(frame, None, planted_partitions(case, blocks, codes))
    target = planted if case.cost is None else case.cost
    search = {} if arguments.effort is None else {"effort": arguments.effort}
    run(frame, target, search, arguments.time_limit, arguments.seeds[0])  # compiles
    size = f"{case.n_values:,} x {case.n_values:,} values, {case.n_blocks} x {case.n_blocks} blocks"
    wanted = "" if case.seconds is None else f" in at most {case.seconds:g} s"
    print(f"{name}: {case.n_rows:,} rows, {size}; load before it {os.getloadavg()[0]:.1f}")
    print(f"  planted {planted:.6f}   target {target:.6f}{wanted}")
    print("    seed             cost     groups   to target, processor   in all, processor")
    runs = []
    for seed in range(arguments.seeds[0], arguments.seeds[1] + 1):
        done = run(frame, target, search, arguments.time_limit, seed)
        runs.append(done)
        print(f"  {seed:6d} {line(done)}{'' if is_reached(done.cost, target) else '   above'}", flush=True)
    times = [done.to_target for done in runs if done.to_target is not None]
    best = min(runs, key=lambda done: done.cost)
    median = Run(best.cost, best.shape, medians(times) if times else None, medians([done.in_all for done in runs]))
    n_reached = sum(is_reached(done.cost, target) for done in runs)
    print(f"  best, median times:\n         {line(median)}   reached {n_reached} of {len(runs)}", flush=True)
    return n_reached == len(runs)


def line(done: Run) -> str:
    to_target = "-" if done.to_target is None else "{:10.3f} {:10.3f}".format(*done.to_target)
    return f"{done.cost:16.6f} {done.shape:>10} {to_target:>22} {done.in_all[0]:8.3f} {done.in_all[1]:10.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=CASES, action="append", help="a case; may be given several times")
    parser.add_argument("--seeds", type=int, nargs=2, default=(1, 10), metavar=("FIRST", "LAST"), help="of the search")
    parser.add_argument("--frame", choices=("pandas", "polars"), default="pandas")
    parser.add_argument("--effort", type=int, help="of the search; the default otherwise")
    parser.add_argument("--time-limit", type=float, help="seconds of each search; none otherwise")
    arguments = parser.parse_args()
    reached = [show(name, CASES[name], arguments) for name in arguments.only or CASES]
    sys.exit(0 if all(reached) else 1)


if __name__ == "__main__":
    main()
