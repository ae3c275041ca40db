"""MODL with grouped classes: the price of a known partition of `letter` (20,000 rows, 26 classes), and of the null.

    .venv/bin/python docs/reproduce/letter_check.py --data ../shared/data

The plain terms are priced by the oracle of the tests; known: cost 63541.126778, null 65251.563543.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "tests"))

import naive

from gridmodl.criteria.modl_grouped import ModlGrouped

BOUNDS = [0.5, 1.5, 2.5, 3.5, 4.5, 6.5, 7.5, 9.5, 10.5]
GROUPS = ["I", "LJ", "FE", "AYV", "TQGOCZ", "UDPBRS", "XNKH", "MW"]


def price(width: list[float], letters: list[str], bounds: list[float], groups: list[str]) -> float:
    columns = [
        naive.Column(width, naive.cut(width, bounds)),
        naive.Column(letters, naive.group(letters, groups), categorical=True, is_target=True),
    ]
    return naive.price(ModlGrouped(), "grouped", columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with letter.csv.gz")
    with gzip.open(parser.parse_args().data / "letter.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    target = next(name for name in ("class", "lettr", "letter") if name in rows[0])
    width, letters = [float(row["width"]) for row in rows], [row[target] for row in rows]
    print(f"cost {price(width, letters, BOUNDS, GROUPS):.6f}   known 63541.126778")
    print(f"null {price(width, letters, [], [''.join(GROUPS)]):.6f}   known 65251.563543")


if __name__ == "__main__":
    main()
