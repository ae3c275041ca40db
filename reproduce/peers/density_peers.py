"""Densities of one column side by side: gridmodl, its baselines, khisto and astropy's Bayesian blocks, in one run.

    .venv/bin/pip install scipy
    python3 -m venv ../densities && ../densities/bin/pip install khisto astropy
    .venv/bin/python -m reproduce.peers.density_peers --peers-python ../densities/bin/python

Without that Python the peers are skipped. Every method makes its parts from the same rows; then all densities are those
of gridmodl, (m + w/W) / (w (n + 1)) with m of n rows in a part of width w in a domain of width W, and rows outside the
domain count in the outer parts. So it is the parts that are compared. Shown is the log-likelihood per row of 20,000 new
rows, the mean over seeds; in brackets the mean number of parts. "truth" is the true density. Seconds are those of the
processor for one call after another has compiled or loaded what it needs; khisto starts a process, whose time counts.

* "modl", "penalized" and "our blocks" are criteria of `gridmodl.optimize`; "likelihood" and "epanechnikov" scores of
  `gridmodl.optimize_density`.
* Bayesian blocks take time quadratic in the rows: they are skipped above 10,000.
* The rounded data lie on a grid of 0.1, and "truth" is even within each tenth. A method that puts a narrow part around
  each point of the grid is more likely than that truth, without limit as parts get narrower: that finds the grid, and
  says nothing of the density between its points.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from reproduce import environment
from reproduce.peers.processes import processor_seconds

os.environ.setdefault("GRIDMODL_COMPILE", "always")  # a small call before the measured ones compiles

SIZES = (100, 1_000, 10_000, 100_000)
N_TEST = 20_000
MAX_BLOCKS = 10_000  # rows for Bayesian blocks
PEERS = ("khisto", "bayesian blocks")
OURS = ("modl", "penalized", "our blocks", "likelihood")
GAPS = ((0.0, 1.0, 0.5), (3.0, 4.0, 0.3), (4.5, 9.0, 0.2))  # low, high, share


def draw(name: str, n: int, rng: np.random.Generator) -> np.ndarray:
    if name == "gaussian":
        return rng.normal(size=n)
    if name == "mixture":
        return np.where(rng.random(n) < 0.3, rng.normal(0.0, 0.1, n), rng.normal(3.0, 1.0, n))
    if name == "uniform with gaps":
        which = rng.choice(len(GAPS), n, p=[share for *_, share in GAPS])
        low, high, _ = np.array(GAPS)[which].T
        return rng.uniform(low, high)
    if name == "heavy-tailed":
        return rng.standard_t(2.0, n)
    return np.round(rng.normal(size=n), 1)


def true_log_density(name: str, x: np.ndarray) -> np.ndarray:
    from scipy import stats

    if name == "gaussian":
        return stats.norm.logpdf(x)
    if name == "mixture":
        return np.log(0.3 * stats.norm.pdf(x, 0.0, 0.1) + 0.7 * stats.norm.pdf(x, 3.0, 1.0))
    if name == "uniform with gaps":
        return np.log(sum(share / (high - low) * ((x >= low) & (x <= high)) for low, high, share in GAPS))
    if name == "heavy-tailed":
        return stats.t.logpdf(x, 2.0)
    return np.log((stats.norm.cdf(x + 0.05) - stats.norm.cdf(x - 0.05)) / 0.1)


DATA = ("gaussian", "mixture", "uniform with gaps", "heavy-tailed", "rounded")


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What the call returns, and its seconds of the processor."""
    begun = processor_seconds()
    return call(), processor_seconds() - begun


def peer_edges(name: str, x: np.ndarray) -> np.ndarray:
    """In the peers' Python: all edges, the outer ones too."""
    if name == "khisto":
        import khisto

        return np.asarray(khisto.histogram(x)[1])
    from astropy.stats import bayesian_blocks

    return np.asarray(bayesian_blocks(x))


def our_methods() -> dict[str, Callable[[np.ndarray], Any]]:
    from gridmodl import optimize
    from gridmodl.density import equal_frequency, equal_width, optimize_density

    return {
        "modl": optimize,
        "penalized": lambda x: optimize(x, criterion="penalized-likelihood"),
        "our blocks": lambda x: optimize(x, criterion="bayesian-blocks"),
        "likelihood": optimize_density,
        "epanechnikov": lambda x: optimize_density(x, score="kernel"),
        "equal width 10": lambda x: equal_width(x, 10),
        "equal frequency 10": lambda x: equal_frequency(x, 10),
        "equal width cv": equal_width,
    }


def our_edges(model: Any) -> np.ndarray:
    """All edges of a density; those of `optimize` have no masses here."""
    if hasattr(model, "partitions"):
        partition = model.partitions["x0"]
        return np.concatenate([partition.domain[:1], partition.bounds, partition.domain[1:]])
    return np.concatenate([model.domain[:1], model.partition.bounds, model.domain[1:]])


def held_out(edges: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    """The log-likelihood per row of new rows, by the one formula for all."""
    edges = np.unique(edges)
    rows = np.bincount(np.searchsorted(edges[1:-1], train, side="left"), minlength=len(edges) - 1)
    widths = np.diff(edges)
    density = (rows + widths / widths.sum()) / (widths * (len(train) + 1.0))
    return float(np.log(density)[np.searchsorted(edges[1:-1], test, side="left")].mean())


def ask_peer(python: Path, name: str, files: list[Path]) -> list[tuple[np.ndarray, float]]:
    """All samples of one peer in one process, which loads it once."""
    path = f"{python.parent}{os.pathsep}{os.environ.get('PATH', '')}"  # where khisto finds its own program
    command = [str(python), "-m", __spec__.name, "--work", name, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**environment(), "PATH": path})  # noqa: S603
    return [(np.array(edges), taken) for edges, taken in json.loads(done.stdout.splitlines()[-1])]


def work(name: str, files: list[str]) -> None:
    peer_edges(name, np.random.default_rng(0).normal(size=100))
    found = [timed(partial(peer_edges, name, np.load(file))) for file in files]
    print(json.dumps([(edges.tolist(), taken) for edges, taken in found]))


def compare(name: str, n: int, seeds: range, python: Path | None) -> dict[str, list[tuple[float, int, float]]]:
    """By method and seed: log-likelihood per new row, parts, seconds."""
    found: dict[str, list[tuple[float, int, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        trains, tests, files = [], [], []
        for seed in seeds:
            rng = np.random.default_rng([seed, n, DATA.index(name)])
            trains.append(draw(name, n, rng))
            tests.append(draw(name, N_TEST, rng))
            files.append(Path(folder) / f"{seed}.npy")
            np.save(files[-1], trains[-1])
        for method, call in our_methods().items():
            call(trains[0][:50])
            for train, test in zip(trains, tests, strict=True):
                model, taken = timed(partial(call, train))
                edges = our_edges(model)
                found.setdefault(method, []).append((held_out(edges, train, test), len(edges) - 1, taken))
        for peer in PEERS:
            if python is None or (peer == "bayesian blocks" and n > MAX_BLOCKS):
                continue
            for (edges, taken), train, test in zip(ask_peer(python, peer, files), trains, tests, strict=True):
                found.setdefault(peer, []).append((held_out(edges, train, test), len(edges) - 1, taken))
        truth = [float(true_log_density(name, test).mean()) for test in tests]
        found["truth"] = [(ll, 0, 0.0) for ll in truth]
    return found


def difference(ours: list[tuple[float, int, float]], theirs: list[tuple[float, int, float]]) -> str:
    """Mean difference of two log-likelihoods over seeds, and its standard error."""
    found = np.array([one[0] - other[0] for one, other in zip(ours, theirs, strict=True)])
    return f"{found.mean():+.4f} +- {found.std(ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan:.4f}"


def show(rows: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers-python", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES)
    parser.add_argument("--work", nargs="+", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work(asked.work[0], asked.work[1:])
        return
    python = asked.peers_python.absolute() if asked.peers_python else None
    methods = [*our_methods(), *(PEERS if python is not None else ()), "truth"]
    quality, seconds = [["data", "rows", *methods]], [["data", "rows", *methods[:-1]]]
    lead = [["data", "rows", "peer", *OURS]]
    begun = time.perf_counter()
    for name in DATA:
        for n in asked.rows:
            found = compare(name, n, range(asked.seeds), python)
            mean = {method: np.mean(results, axis=0) for method, results in found.items()}
            shown = [f"{mean[m][0]:.4f} ({mean[m][1]:.0f})" if m in mean else "-" for m in methods[:-1]]
            quality.append([name, str(n), *shown, f"{mean['truth'][0]:.4f}"])
            seconds.append([name, str(n), *(f"{mean[m][2]:.4f}" if m in mean else "-" for m in methods[:-1])])
            peers = [peer for peer in PEERS if peer in mean]
            if peers:
                best = max(peers, key=lambda peer: mean[peer][0])
                lead.append([name, str(n), best, *(difference(found[ours], found[best]) for ours in OURS)])
            print(f"{name}, {n} rows: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    print("log-likelihood per new row (parts)")
    show(quality)
    if len(lead) > 1:
        print("\nlog-likelihood per new row minus that of the best peer, +- one standard error over seeds")
        show(lead)
    print("\nseconds of the processor")
    show(seconds)


if __name__ == "__main__":
    main()
