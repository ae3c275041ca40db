"""Files that memory does not hold: read in pieces, or refused before they are read."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from cli.commands import bad, call, good

import gridmodl
from gridmodl.cli import fitting
from gridmodl.cli.messages import Failure
from gridmodl.cli.reading.columns import sample_rows
from gridmodl.cli.reading.engine import check_grid, free_memory, plan_each


def test_a_grid_too_large_is_refused_with_numbers_and_ways_out(folder):
    said = bad("fit", folder / "data.csv", "-t", "class", "--memory-limit", "100kB")
    assert "one grid of 5 columns and about 300 rows needs about 195.0 kB of memory, and 100.0 kB are there" in said
    assert "--each" in said
    assert "--columns names at most 2 columns" in said
    assert "--sample 150" in said


def test_without_a_target_each_is_no_way_out():
    with pytest.raises(Failure, match=r"are there: --sample"):
        check_grid(10**9, 2, 1, 10**9, has_target=False)
    check_grid(None, 2, 1, 10**9, has_target=False)
    check_grid(10**9, 2, 1, None, has_target=False)


def test_each_reads_few_columns_at_a_time_where_memory_is_short(folder, tmp_path):
    names = ("-t", "class", "-c", "age,city,income,product", "--each")
    expected = gridmodl.Models.from_json(good("fit", folder / "data.csv", *names, "-o", "-"))
    assert len(plan_each(["a", "b", "c", "d"], 300, 1, 75_000).passes) > 1
    found = good("fit", folder / "data.csv", *names, "--memory-limit", "75kB", "-o", "-")
    models = gridmodl.Models.from_json(found)
    assert {name: model.cost for name, model in models.items()} == {n: m.cost for n, m in expected.items()}
    assert list(models) == list(expected)
    assert "a single column of about 300 rows needs" in bad("fit", folder / "data.csv", *names, "--memory-limit", "1kB")


def test_a_column_that_fails_alone_in_its_pass_is_told(tmp_path):
    path = tmp_path / "d.parquet"
    rows = {"x": np.arange(200.0), "bad": [[1]] * 200, "z": np.arange(200), "y": [0, 1] * 100}
    pyarrow.parquet.write_table(pa.table(rows), path)
    limit = 200 * 10 * (2 + 20 + 1)  # one column at a time
    assert [len(names) for names in plan_each(["x", "bad", "z"], 200, 1, limit).passes] == [1, 1, 1]
    result = call("fit", path, "-t", "y", "--each", "--memory-limit", limit, "--jobs", 1, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert len(found["models"]) == 2
    assert list(found["errors"]) == ["bad"]


def test_an_interrupt_while_later_columns_are_read_leaves_the_models_so_far(folder, tmp_path, monkeypatch):
    read, calls = fitting.read_columns, []

    def reading(*given):
        calls.append(given)
        if len(calls) == 3:  # the target, the first pass, the second
            raise KeyboardInterrupt
        return read(*given)

    monkeypatch.setattr(fitting, "read_columns", reading)
    path = tmp_path / "m.json"
    words = ("-t", "class", "-c", "age,city,income,product", "--each", "--memory-limit", "75kB", "--jobs", 1)
    result = call("fit", folder / "data.csv", *words, "-o", path)
    assert result.exit_code == 130
    assert f"interrupted: this is the best result so far; it is in {path}" in result.stderr
    models = gridmodl.Models.from_json(path)
    assert len(models) + len(models.errors) == 4
    assert "interrupted before its turn came" in str(models.errors["product"])


def test_fewer_threads_before_more_passes_are_impossible():
    assert plan_each(["a", "b"], None, 2, 10).n_jobs == 2
    assert plan_each(["a", "b"], 1000, 2, 10**9).passes == [["a", "b"]]
    assert plan_each(["a", "b"], 1000, 2, 300_000).n_jobs == 1


def test_free_memory_is_known_or_none():
    assert free_memory() is None or free_memory() > 0


def test_samples_are_uniform_and_in_order():
    batches = [pa.record_batch({"i": np.arange(start, start + 1000)}) for start in range(0, 100_000, 1000)]
    rows = pa.Table.from_batches(list(sample_rows(batches, 2000, seed=1)))["i"].to_numpy()
    assert len(rows) == len(set(rows.tolist())) == 2000
    assert np.all(np.diff(rows) > 0)
    assert abs(rows.mean() - 50_000) < 5 * 100_000 / np.sqrt(12 * 2000)
    assert len(pa.Table.from_batches(list(sample_rows(batches, 10**9, seed=1)))) == 100_000
    assert list(sample_rows([], 5, seed=1)) == []


def peak(*words):
    """The most memory that a process took, in bytes."""
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    command = [sys.executable, "-c", code, sys.executable, "-m", "gridmodl", *map(str, words)]
    code, kilobytes = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert code == "0"
    return int(kilobytes) * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "RUSAGE_CHILDREN"), reason="the system does not count")
def test_a_large_file_does_not_fill_memory(folder, tmp_path):
    """Of 100 columns and 300 MB, only nine with the target are in memory at a time, and some blocks of text.

    Of new rows it is these blocks, however many there are: a file twice as large needs no more.
    """
    rng = np.random.default_rng(0)
    lines = [",".join(f"{x:.6f}" for x in row) + f",{'ab'[int(row[0] > 0)]}\n" for row in rng.normal(size=(2000, 100))]
    names = [f"x{i}" for i in range(100)]
    twice, large, small, model = (tmp_path / name for name in ("twice.csv", "large.csv", "small.csv", "m.json"))
    for path, times in ((small, 1), (large, 80), (twice, 160)):
        with path.open("w", encoding="utf-8") as file:
            file.write(",".join([*names, "y"]) + "\n")
            for _ in range(times):
                file.writelines(lines)
    size = os.stat(large).st_size
    assert size > 100e6
    fit = ("-t", "y", "--each", "-q", "-o", model, "--memory-limit", "100MB")
    assert peak("fit", twice, *fit) - peak("fit", small, *fit) < 2 * size
    more = ("--keep-column", "y", "-q")
    assert peak("apply", model, twice, *more) - peak("apply", model, large, *more) < size / 4
