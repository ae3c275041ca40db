"""The proven optimum of one column beside a sort of it and beside Orange's MDL splits, in one run.

    python3 -m venv ../orange && ../orange/bin/pip install Orange3
    .venv/bin/python -m reproduce.proof.column_race --orange-python ../orange/bin/python             # minutes
    .venv/bin/python -m reproduce.proof.column_race --orange-python ../orange/bin/python --write     # docs/exact.md too
    .venv/bin/python -m reproduce.proof.column_race --only tables

Parts of it (`--only`): `signals`, columns of 1,000,000 rows, 2 and 5 classes, by `search="exact"` and `"merge"`;
`criteria`, other criteria on four of the signals; `tables`, 100,000 rows x 30 and x 100 columns, of which every third
says something; `long`, 10,000,000 rows in a process of its own, with its peak of memory.

All numbers are processor time of one thread, from arrays to models, the best of three (tables and `long`: one). Sorts
are `np.argsort` of the same columns. Orange gets its table ready made, and runs in its own environment; without
`--orange-python` it is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
MILLION, HUNDRED_THOUSAND, TEN_MILLION = 1_000_000, 100_000, 10_000_000
CRITERIA = ["aic", "bic", "gini", "entropy"]
N_COLUMNS = [30, 100]
PARTS = ["signals", "criteria", "tables", "long"]


def seconds(call: Callable[..., Any], *arguments: Any, times: int = 3, **options: Any) -> float:
    """Processor seconds of a call, the best of some."""
    best = float("inf")
    for _ in range(times):
        begun = time.process_time()
        call(*arguments, **options)
        best = min(best, time.process_time() - begun)
    return best


def make_table(n_columns: int) -> tuple[Any, Any]:
    """Normal columns, of which every third has waves of the share of the second class."""
    rng = np.random.default_rng([2_200, n_columns])
    columns = rng.standard_normal((HUNDRED_THOUSAND, n_columns))
    waves = 0.7 * np.sin(3.0 * columns[:, ::3]).sum(axis=1) / np.sqrt(n_columns / 3)
    return columns, (rng.random(HUNDRED_THOUSAND) < 1.0 / (1.0 + np.exp(-waves))).astype(np.int64)


def race_orange(folder: Path, times: int) -> None:
    """In Orange's environment: seconds of the splits of all columns, as JSON on the last line."""
    from Orange.data import ContinuousVariable, DiscreteVariable, Domain, Table
    from Orange.preprocess.discretize import EntropyMDL

    columns, target = np.load(folder / "columns.npy"), np.load(folder / "target.npy")
    classes = DiscreteVariable("y", [f"c{i}" for i in range(int(target.max()) + 1)])
    variables = [ContinuousVariable(f"x{i}") for i in range(columns.shape[1])]
    table = Table.from_numpy(Domain(variables, classes), columns, target)
    EntropyMDL()(table[:1_000], variables[0])
    print(json.dumps(seconds(lambda: [EntropyMDL()(table, variable) for variable in variables], times=times)))


def of_orange(python: str | None, columns: Any, target: Any, times: int = 3) -> float:
    """Seconds of Orange on these columns; NaN without its Python."""
    if python is None:
        return float("nan")
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "columns.npy", columns.reshape(len(target), -1))
        np.save(Path(folder) / "target.npy", target)
        call = [python, "-m", "reproduce.proof.column_race", "--as-orange", folder, "--times", str(times)]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(call, check=True, capture_output=True, text=True, cwd=ROOT, env=environment)  # noqa: S603
    return float(json.loads(done.stdout.splitlines()[-1]))


def race_signals(python: str | None) -> tuple[list[str], list[list[str]]]:
    import gridmodl
    from asv_benchmarks.benchmarks.exact import ALL_SIGNALS, N_CLASSES, make

    lines = []
    for n_classes in N_CLASSES:
        for search in ("exact", "merge"):
            gridmodl.optimize(*make("steps", 30_000, n_classes), search=search)  # compiles
        for signal in ALL_SIGNALS:
            column, target = make(signal, MILLION, n_classes)
            sort = seconds(np.argsort, column)
            took = {search: seconds(gridmodl.optimize, column, target, search=search) for search in ("exact", "merge")}
            orange = of_orange(python, column, target)
            proven = gridmodl.optimize(column, target).proven
            times = [f"{took[search] / sort:.1f}" for search in ("exact", "merge")] + [f"{orange / sort:.1f}"]
            lines.append([signal, f"{n_classes}", f"{sort:.3f}", *times, "yes" if proven else "no"])
            print("  ".join(lines[-1]), flush=True)
    return ["signal", "classes", "argsort, s", "proven", "merge", "Orange", "auto proves it"], lines


def race_criteria() -> tuple[list[str], list[list[str]]]:
    import gridmodl
    from asv_benchmarks.benchmarks.exact import SIGNALS, make

    lines = []
    for criterion in CRITERIA:
        gridmodl.optimize(*make("steps", 30_000, 2), criterion=criterion)  # compiles
        line = [criterion]
        for signal in SIGNALS:
            column, target = make(signal, MILLION, 2)
            sort = seconds(np.argsort, column)
            took = seconds(gridmodl.optimize, column, target, criterion=criterion)
            line.append(f"{took / sort:.1f}")
        lines.append(line)
        print("  ".join(line), flush=True)
    return ["criterion", *SIGNALS], lines


def race_tables(python: str | None) -> tuple[list[str], list[list[str]]]:
    import gridmodl

    lines = []
    for n_columns in N_COLUMNS:
        columns, target = make_table(n_columns)
        both = {}
        for search in ("auto", "merge"):
            gridmodl.optimize_each(columns[:30_000, :2], target[:30_000], search=search, n_jobs=1)  # compiles
            both[search] = seconds(gridmodl.optimize_each, columns, target, search=search, n_jobs=1, times=1)
        sort = sum(seconds(np.argsort, column, times=1) for column in columns.T)
        orange = of_orange(python, columns, target, 1)
        lines.append([f"{n_columns}", *(f"{one:.2f}" for one in (both["auto"], both["merge"], orange, sort))])
        print("  ".join(lines[-1]), flush=True)
    return ["columns of 100,000 rows", "proven, s", "merge, s", "Orange, s", "argsort, s"], lines


def run_long() -> None:
    """In a process of its own: ten million rows."""
    import gridmodl
    from asv_benchmarks.benchmarks.exact import make

    gridmodl.optimize(*make("steps", 30_000, 2))  # compiles
    column, target = make("noise", TEN_MILLION, 2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sort = seconds(np.argsort, column, times=1)
    begun = time.process_time()
    model = gridmodl.optimize(column, target)
    took, peak = time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([took, sort, before / 2**20, peak / 2**20, model.proven]))


def race_long() -> tuple[list[str], list[list[str]]]:
    call = [sys.executable, "-m", "reproduce.proof.column_race", "--as-long"]
    done = subprocess.run(call, check=True, capture_output=True, text=True, cwd=ROOT)  # noqa: S603
    took, sort, before, peak, proven = json.loads(done.stdout.splitlines()[-1])
    line = [
        "10,000,000",
        f"{took:.1f}",
        f"{took / sort:.1f}",
        f"{before:.2f}",
        f"{peak:.2f}",
        "yes" if proven else "no",
    ]
    print("  ".join(line), flush=True)
    return ["rows", "seconds", "argsort", "GB before the call", "GB at its peak", "proven"], [line]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--orange-python", help="the Python of an environment with Orange3")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--write", action="store_true", help="the tables of docs/exact.md")
    parser.add_argument("--as-orange", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--as-long", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--times", type=int, default=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ.setdefault("GRIDMODL_COMPILE", "always")  # a small call before the measured ones compiles
    if arguments.as_orange is not None:
        race_orange(arguments.as_orange, arguments.times)
        return
    if arguments.as_long:
        run_long()
        return
    from reproduce.run import put_table, table_of

    python = arguments.orange_python and os.path.abspath(arguments.orange_python)
    races = {
        "signals": lambda: race_signals(python),
        "criteria": race_criteria,
        "tables": lambda: race_tables(python),
        "long": race_long,
    }
    for part in arguments.only:
        head, lines = races[part]()
        if arguments.write:
            put_table(f"race: {part}", table_of(head, lines))


if __name__ == "__main__":
    main()
