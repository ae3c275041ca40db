"""How the proof of the optimum of one column grows with the rows.

    .venv/bin/python -m reproduce.proof.exact_growth             # up to a million rows, and the slow cases
    .venv/bin/python -m reproduce.proof.exact_growth --most 1e7  # two signals of ten million too
    .venv/bin/python -m reproduce.proof.exact_growth --write     # the tables of docs/exact.md too

modl on noise, ten steps, a sigmoid, eight waves and normal values with a smooth share (`make` of
`asv_benchmarks/benchmarks/exact.py`). Seconds are those of one call `optimize(column, target, search="exact")`, from an
array to the model, in processor time; `argsort` is how many times `np.argsort(column)` that is, the best of three
beside it.
Prices are evaluations of a cell, a floor or an excess for each boundary point, in all runs of the proof together: they
depend on no machine.

Slow cases: labels without noise, spread as evenly as can be around a share (low discrepancy), and many classes.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

import numpy as np

import gridmodl
from asv_benchmarks.benchmarks.exact import ALL_SIGNALS, N_CLASSES, ROWS, make, measure
from reproduce.run import put_table, table_of

os.environ.setdefault("GRIDMODL_COMPILE", "always")  # a small call before the measured ones compiles

TEN_MILLION = [("noise", 2), ("sigmoid", 2)]
SLOW = [("even sigmoid", 2), ("even noise", 2), ("waves", 20)]
HEAD = ["signal", "classes", "rows", "boundary points", "prices per point", "seconds", "argsort", "proven"]


def even_classes(share: Any) -> Any:
    """Two classes in the order of the column: class 1 wherever the sum of its shares passes a whole number."""
    return np.diff(np.floor(np.cumsum(share)), prepend=0.0).astype(np.int64)


def make_slow(kind: str, n_rows: int) -> tuple[Any, Any]:
    if kind == "waves":
        return make("waves", n_rows, 20)
    column = np.random.default_rng([1_500, n_rows]).random(n_rows)
    ranks = np.sort(column)
    share = 1.0 / (1.0 + np.exp(-10.0 * (ranks - 0.5))) if kind == "even sigmoid" else np.full(n_rows, 5**0.5 / 2 - 0.5)
    target = np.empty(n_rows, dtype=np.int64)
    target[np.argsort(column)] = even_classes(share)
    return column, target


def show(signal: str, n_classes: int, n_rows: int, data: tuple[Any, Any]) -> list[str]:
    found = measure(data, search="exact")
    line = [
        signal,
        f"{n_classes}",
        f"{n_rows:,d}",
        f"{found.n_atoms:,d}",
        f"{found.prices:.1f}",
        f"{found.seconds:.2f}",
        f"{found.seconds / found.argsort:.1f}",
        "yes" if found.proven else "no",
    ]
    print("  ".join(f"{value:>{max(12, len(head))}}" for value, head in zip(line, HEAD, strict=True)), flush=True)
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=float, default=1e6, help="the largest number of rows")
    parser.add_argument("--write", action="store_true", help="the tables of docs/exact.md")
    arguments = parser.parse_args()
    for n_classes in N_CLASSES:
        gridmodl.optimize(*make("steps", 1_000, n_classes), search="exact")  # compiles
    print("  ".join(f"{head:>12}" for head in HEAD))
    cases = [(s, c, n) for s in ALL_SIGNALS for c in N_CLASSES for n in ROWS if n <= arguments.most]
    cases += [(s, c, 10_000_000) for s, c in TEN_MILLION if arguments.most >= 1e7]
    lines = [show(s, c, n, make(s, n, c)) for s, c, n in cases]
    slow = [show(kind, c, n, make_slow(kind, n)) for kind, c in SLOW for n in ROWS[1:] if n <= arguments.most]
    if arguments.write:
        put_table("growth", table_of(HEAD, lines))
        put_table("slow", table_of(HEAD, slow))


if __name__ == "__main__":
    main()
