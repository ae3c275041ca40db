"""Text files of the command line: a table of very many columns beside Python's csv module alone."""

from __future__ import annotations

import csv
import tempfile
import time
from pathlib import Path

import numpy as np

from gridmodl.cli.reading.columns import ReadSettings, read_columns
from gridmodl.cli.reading.sources import DataFile, open_source

from . import SMALL

N_ROWS = 100


class Wide:
    """A CSV of very many columns of numbers, read into typed columns."""

    params = [1_000, 8_000] if SMALL else [1_000, 8_000, 100_000]
    param_names = ["columns"]
    timeout = 600

    def setup(self, n_columns):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "wide.csv"
        numbers = np.random.default_rng(0).integers(0, 100, (N_ROWS, n_columns))
        with self.path.open("w", encoding="utf-8") as file:
            file.write(",".join(f"gene_{i}" for i in range(n_columns)) + "\n")
            file.writelines(",".join(map(str, row)) + "\n" for row in numbers.tolist())

    def teardown(self, n_columns):
        self.folder.cleanup()

    def read(self):
        source = open_source(DataFile(str(self.path)))
        return read_columns(source, source.names, ReadSettings())

    def parse(self):
        with self.path.open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file))

    def track_seconds(self, n_columns):
        return _processor_seconds(self.read)

    # Target: at most 10 for 100,000 columns.
    track_seconds.unit = "seconds of processor time"

    def track_ratio(self, n_columns):
        return _processor_seconds(self.read) / _processor_seconds(self.parse)

    track_ratio.unit = "times the csv module"


def _processor_seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start
