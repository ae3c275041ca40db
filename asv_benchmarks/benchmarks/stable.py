"""Numbers that no other work on the machine changes: prices and bytes; CI compares them.

    make bench-stable          # compare with asv_benchmarks/baseline.json; exit code 1 where a number rose
    make bench-stable-write    # write that file, after a change that is meant

Seconds are noisy, and a factor of two can hide in them; these numbers hardly move at all. What they depend on besides
gridmodl, the version of numpy, is written beside them, and they are compared only where it is the same. How many
functions typical calls compile is held by tests/jit/test_compiled.py.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import gridmodl

from . import datasets
from .exact import N_CLASSES, SIGNALS, make, measure

HERE = Path(__file__).parent
BASELINE = HERE.parent / "baseline.json"


class Kind(NamedTuple):
    """What a number counts, by how large a share it may rise, and what it depends on besides gridmodl."""

    unit: str
    tolerance: float
    depends_on: tuple[str, ...] = ()


KINDS = {
    # Logarithms of another machine differ in the last digit, and a few floors with them.
    "proof": Kind("prices per boundary point", 0.01),
    "plain": Kind("cells priced", 0.01),
    "file": Kind("bytes of JSON", 0.0),
    "arrays": Kind("bytes at the peak", 0.02, ("numpy",)),
}

# Without a compiler every call of a term is one of Python, which can be counted.
PRICED = """
import json
import sys
import numpy as np
from gridmodl import Search, optimize
from gridmodl.plugins import criterion_for

rng = np.random.default_rng(0)
x = rng.integers(0, 40, 200) * 1.0
town = rng.integers(0, 12, 200).astype(str)
y = ((x > 20) ^ (rng.random(200) < 0.2)).astype(int)
three = y + (rng.random(200) < 0.3)
steps = {
    "merge": lambda: optimize(x, three, search="merge"),
    "exact": lambda: optimize(x, three, search="exact"),
    "groups": lambda: optimize(town, three, search="merge"),
    "grid": lambda: optimize({"x": x[:60], "town": town[:60]}, y[:60], search=Search("vns", effort=1)),
}
cells = {type(criterion_for("modl", problem)).cell.__code__ for problem in ("classes", "grid")}
found = {}
for name, step in steps.items():
    n_calls = 0

    def count(frame, what, argument):
        global n_calls
        n_calls += what == "call" and frame.f_code in cells

    sys.setprofile(count)
    step()
    sys.setprofile(None)
    found[f"plain/{name}"] = n_calls
print(json.dumps(found))
"""


def run_apart(script: str, **variables: str) -> dict[str, float]:
    """What a script prints in a process of its own."""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **variables})
    return json.loads(done.stdout)


def proof_prices() -> dict[str, float]:
    cases = [(signal, n_classes) for signal in SIGNALS for n_classes in N_CLASSES]
    return {f"proof/{s}, {j} classes": round(measure(make(s, 10_000, j), search="exact").prices, 2) for s, j in cases}


def array_bytes() -> dict[str, float]:
    """The peak of what numpy allocates in a call, beyond its data."""
    data = datasets.make("steps", 100_000)
    found = {}
    for search in ("merge", "exact"):
        gridmodl.optimize(*data, search=search)  # compiles
        tracemalloc.start()
        gridmodl.optimize(*data, search=search)
        found[f"arrays/{search}, 100,000 rows"] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found


def file_bytes() -> dict[str, float]:
    rng = np.random.default_rng(0)
    column, target = datasets.make("steps", 10_000)
    towns = rng.integers(0, 500, 10_000).astype(str)
    models = {
        "intervals": gridmodl.optimize(column, target, search="merge"),
        "500 values": gridmodl.optimize(towns, target, search="merge"),
    }
    # The seconds that a search took are in the file, in more digits or fewer.
    return {f"file/{name}": len(replace(model, elapsed=0.0).to_json()) for name, model in models.items()}


def all_values() -> dict[str, float]:
    return {**proof_prices(), **run_apart(PRICED, GRIDMODL_COMPILE="never"), **array_bytes(), **file_bytes()}


def environment() -> dict[str, str]:
    """What numbers depend on besides gridmodl."""
    return {"numpy": np.__version__}


class Stable:
    """The numbers under asv, by kind: their sum."""

    params = list(KINDS)
    param_names = ["kind"]
    timeout = 600

    def setup_cache(self):
        return all_values()

    def track_sum(self, values, kind):
        return round(sum(value for name, value in values.items() if name.startswith(f"{kind}/")), 2)

    track_sum.unit = "prices or bytes"


class Comparison(NamedTuple):
    """Lines to print, by what became of a number; the first three are failures."""

    rose: list[str]
    new: list[str]
    gone: list[str]
    fell: list[str]
    not_compared: list[str]

    @property
    def is_failed(self) -> bool:
        return bool(self.rose or self.new or self.gone)


def compare(baseline: dict[str, Any], values: dict[str, float], here: dict[str, str]) -> Comparison:
    """What rose and fell beyond the tolerance of its kind."""
    result, before = Comparison([], [], [], [], []), baseline["values"]
    there = baseline["environment"]
    for name in sorted({*before, *values}):
        kind = KINDS[name.split("/")[0]]
        others = [f"{what} is {here[what]}, was {there[what]}" for what in kind.depends_on if here[what] != there[what]]
        if name not in before:
            result.new.append(f"{name}: {values[name]:,} {kind.unit}")
        elif name not in values:
            result.gone.append(name)
        elif others:
            result.not_compared.append(f"{name}: {'; '.join(others)}")
        else:
            change = values[name] - before[name]
            line = f"{name}: {before[name]:,} -> {values[name]:,} {kind.unit}"
            if abs(change) > kind.tolerance * before[name]:
                (result.rose if change > 0 else result.fell).append(line)
    return result


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the baseline in place of comparing with it")
    is_written = parser.parse_args(arguments).write
    values, here = all_values(), environment()
    if is_written:
        BASELINE.write_text(json.dumps({"environment": here, "values": values}, indent=2) + "\n")
        print(f"wrote {len(values)} numbers to {BASELINE.name}")
        return 0
    result = compare(json.loads(BASELINE.read_text()), values, here)
    for what, lines in result._asdict().items():
        for line in lines:
            print(f"{what.replace('_', ' ')}: {line}")
    n_compared = len(values) - len(result.not_compared) - len(result.new)
    print(f"{n_compared} numbers compared with {BASELINE.name}, {len(result.rose)} rose, {len(result.fell)} fell")
    if result.is_failed or result.fell:
        print("make bench-stable-write writes them, if the change is meant")
    return int(result.is_failed)


if __name__ == "__main__":
    sys.exit(main())
