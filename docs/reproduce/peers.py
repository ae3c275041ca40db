"""Seconds that gridmodl, optbinning and Khiops take for the same columns, all measured in one run.

    .venv/bin/pip install pandas
    python3 -m venv ../optbinning && ../optbinning/bin/pip install optbinning
    python3 -m venv ../khiops && ../khiops/bin/pip install khiops
    .venv/bin/python docs/reproduce/peers.py --data ../shared/data \
        --optbinning-python ../optbinning/bin/python --khiops-python ../khiops/bin/python

A peer whose Python is not given is skipped. Each measurement has a process of its own, and the peers take turns work by
work, so that a busy machine slows all of them; a load near or above the number of cores, printed with each work, means
that threads had no core of their own. The data is made or read before the clock starts.

* gridmodl: `optimize_each` of a pandas frame with `search="merge"`, warm: the same call was made once before, and
  nothing compiles.
* optbinning: `OptimalBinning` of one column after the other, as it comes, warmed up with few rows.
* Khiops: `train_predictor` of all rows without the predictor, constructed variables, trees or pairs. It reads a file
  and starts processes, which counts; writing that file does not and is reported apart, nor does making its dictionary.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

WORKS = {
    "column": "one numerical column, 1,000,000 rows",
    "columns": "100 numerical columns, 100,000 rows",
    "adult": "adult: 14 mixed columns, 48,842 rows",
}
PEERS = {
    "gridmodl": "gridmodl, a thread per core",
    "gridmodl-1": "gridmodl, one thread",
    "optbinning": "optbinning, one thread",
    "khiops": "Khiops, a process per core",
}
TARGET = "class"


def read_work(work: str, data: Path) -> pd.DataFrame:
    """The columns and, last, the class: one of two texts."""
    if work == "adult":
        return pd.read_csv(data / "adult.csv.gz")
    n_rows, n_columns = (1_000_000, 1) if work == "column" else (100_000, 100)
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, n_rows)
    # Of many columns the first half is noise; the second moves further and further with the class.
    shifts = (
        [1.0] if n_columns == 1 else np.concatenate([np.zeros(n_columns // 2), np.linspace(0.05, 2.0, n_columns // 2)])
    )
    columns = {f"x{i}": rng.normal(size=n_rows) + shift * classes for i, shift in enumerate(shifts)}
    return pd.DataFrame({**columns, TARGET: np.where(classes == 1, "yes", "no")})


def seconds(call: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def measure_gridmodl(table: pd.DataFrame, rounds: int, n_jobs: int) -> dict[str, Any]:
    import gridmodl

    def call() -> Any:
        return gridmodl.optimize_each(table, TARGET, search="merge", n_jobs=n_jobs)

    call()
    return {"version": gridmodl.__version__, "seconds": min(seconds(call) for _ in range(rounds))}


def measure_optbinning(table: pd.DataFrame, rounds: int) -> dict[str, Any]:
    import optbinning

    is_second = (table[TARGET] == table[TARGET].max()).to_numpy(dtype=np.int64)
    kinds = {name: "numerical" if table[name].dtype.kind in "if" else "categorical" for name in table.columns[:-1]}
    types = {"numerical": np.float64, "categorical": object}
    columns = {name: table[name].to_numpy(dtype=types[kind]) for name, kind in kinds.items()}

    def call(n_rows: int | None = None) -> None:
        for name, kind in kinds.items():
            optbinning.OptimalBinning(name, dtype=kind).fit(columns[name][:n_rows], is_second[:n_rows])

    call(1_000)
    return {"version": optbinning.__version__, "seconds": min(seconds(call) for _ in range(rounds))}


def measure_khiops(table: pd.DataFrame, rounds: int) -> dict[str, Any]:
    # Khiops looks for its programs in PATH.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    from khiops import core

    with tempfile.TemporaryDirectory() as folder:
        rows, dictionary = f"{folder}/table.csv", f"{folder}/table.kdic"
        writing = seconds(lambda: table.to_csv(rows, index=False, sep="\t"))
        core.build_dictionary_from_data_table(rows, "table", dictionary)

        def call() -> None:
            core.train_predictor(
                dictionary, "table", rows, TARGET, f"{folder}/report.khj",
                sample_percentage=100, use_complement_as_test=False, do_data_preparation_only=True,
                max_constructed_variables=0, max_text_features=0, max_trees=0, max_pairs=0,
            )  # fmt: skip

        best = min(seconds(call) for _ in range(rounds))
        evaluated = core.read_analysis_results_file(f"{folder}/report.khj").preparation_report.evaluated_variable_number
    if evaluated != table.shape[1] - 1:
        raise ValueError(f"Khiops evaluated {evaluated} columns of {table.shape[1] - 1}")
    return {"version": str(core.get_khiops_version()), "seconds": best, "writing": writing}


def measure(peer: str, work: str, data: Path, rounds: int) -> dict[str, Any]:
    """In the peer's own process."""
    table = read_work(work, data)
    calls = {
        "gridmodl": lambda: measure_gridmodl(table, rounds, -1),
        "gridmodl-1": lambda: measure_gridmodl(table, rounds, 1),
        "optbinning": lambda: measure_optbinning(table, rounds),
        "khiops": lambda: measure_khiops(table, rounds),
    }
    return {**calls[peer](), "digest": zlib.crc32(table.select_dtypes("number").to_numpy().tobytes())}


def measure_apart(python: str, peer: str, work: str, data: Path, rounds: int) -> dict[str, Any]:
    command = [python, "-W", "ignore", __file__, "--data", str(data), "--rounds", str(rounds), "--only", peer, work]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def line(peer: str, result: dict[str, Any], first: dict[str, Any]) -> str:
    label = f"  {PEERS[peer]:30}"
    if "error" in result:
        return f"{label}failed: {result['error']}"
    if result["digest"] != first.get("digest", result["digest"]):
        return f"{label}had other data: its numpy draws other numbers"
    ratio = f"{result['seconds'] / first['seconds']:10.2f}" if "seconds" in first else " " * 10
    writing = f"   + {result['writing']:.1f} s to write its file" if "writing" in result else ""
    return f"{label}{result['seconds']:9.2f} s{ratio}   {result['version']}{writing}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with adult.csv.gz")
    parser.add_argument("--optbinning-python", help="Python of an environment with optbinning")
    parser.add_argument("--khiops-python", help="Python of an environment with khiops")
    parser.add_argument("--rounds", type=int, default=1, help="measurements, the shortest of which counts")
    parser.add_argument("--only", nargs=2, metavar=("PEER", "WORK"), help="one measurement, in this process, as JSON")
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(measure(*arguments.only, arguments.data, arguments.rounds)))
        return
    pythons = {"gridmodl": sys.executable, "gridmodl-1": sys.executable}
    for peer, python in (("optbinning", arguments.optbinning_python), ("khiops", arguments.khiops_python)):
        if python is None:
            print(f"{peer} is skipped: no --{peer}-python was given")
        else:
            pythons[peer] = python
    print(f"{os.cpu_count()} cores; the ratio is that to the first line")
    for work, title in WORKS.items():
        print(f"{title}; load before it {os.getloadavg()[0]:.1f}")
        first: dict[str, Any] | None = None
        for peer, python in pythons.items():
            result = measure_apart(python, peer, work, arguments.data, arguments.rounds)
            first = first or result
            print(line(peer, result, first), flush=True)


if __name__ == "__main__":
    main()
