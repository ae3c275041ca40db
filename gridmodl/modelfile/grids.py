"""What a grid has beyond its partitions, as JSON: its cells, the columns that are left out, and other local optima."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from gridmodl.cells import Cells
from gridmodl.frames import Name
from gridmodl.modelfile.fields import MAX_INTEGER, read_fields, read_integer, read_list
from gridmodl.modelfile.partitions import partition_record, read_counts, read_partition
from gridmodl.modelfile.text import shown, wrong
from gridmodl.modelfile.values import read_text, read_value, write_value
from gridmodl.partition import Partition


def cells_record(cells: Cells | None, place: str) -> dict[str, Any] | None:
    if cells is None:
        return None
    return {
        "names": [write_value(name, f"{place}.names[{i}]") for i, name in enumerate(cells.names)],
        "parts": cells.parts.tolist(),
        "counts": cells.counts.tolist(),
    }


def read_cells(given: Any, place: str, n_rows: int) -> Cells | None:
    if given is None:
        return None
    record = read_fields(given, place, ("names", "parts", "counts"))
    names = [read_value(name, f"{place}.names[{i}]") for i, name in enumerate(read_list(record["names"], place))]
    counts = read_counts(record["counts"], f"{place}.counts", n_rows)
    parts = [
        [read_integer(part, f"{place}.parts[{i}][{j}]", 0, MAX_INTEGER) for j, part in enumerate(read_list(row, place))]
        for i, row in enumerate(read_list(record["parts"], f"{place}.parts"))
    ]
    if len(parts) != len(counts) or any(len(row) != len(names) for row in parts):
        raise wrong(f"{place}.parts", f"must be {len(counts)} lists of {len(names)} parts")
    return Cells(tuple(names), np.array(parts, dtype=np.int64).reshape(len(parts), len(names)), counts)


def check_cells(cells: Cells, partitions: Mapping[Name, Partition], by_class: list[int], place: str) -> None:
    """The rows of the cells add up to those of the parts; cells are in the order of their parts, each once."""
    rows = cells.parts.tolist()
    if any(low >= high for low, high in itertools.pairwise(rows)):
        raise wrong(f"{place}.parts", "must ascend, without repeats")
    known = [name for name, partition in partitions.items() if np.count_nonzero(partition.counts.any(axis=1)) > 1]
    if set(cells.names) != set(known) or len(cells.names) != len(known):
        raise wrong(f"{place}.names", "must be the columns with more than one part")
    if np.any(cells.counts.sum(axis=1) == 0):
        raise wrong(f"{place}.counts", "holds a cell without rows")
    if [sum(column) for column in cells.counts.T.tolist()] != by_class:
        raise wrong(f"{place}.counts", "must have as many rows of each class as the partitions")
    for name, parts in zip(cells.names, cells.parts.T, strict=True):
        expected = partitions[name].counts
        found = np.zeros_like(expected)
        if np.any(parts >= len(expected)):
            raise wrong(f"{place}.parts", f"names a part that column {shown(name)} has not")
        np.add.at(found, parts, cells.counts)
        if not np.array_equal(found, expected):
            raise wrong(f"{place}.counts", f"must add up to the rows of the parts of column {shown(name)}")


def left_out_record(left_out: Mapping[Name, str]) -> list[Any]:
    return [[write_value(name, "left_out"), reason] for name, reason in left_out.items()]


def read_left_out(given: Any) -> dict[Name, str]:
    left_out: dict[Name, str] = {}
    for i, pair in enumerate(read_list(given, "left_out")):
        if not isinstance(pair, list) or len(pair) != 2:
            raise wrong(f"left_out[{i}]", "must be a list of a name and a reason")
        name = read_value(pair[0], f"left_out[{i}][0]")
        if name in left_out:
            raise wrong(f"left_out[{i}]", f"names column {shown(name)} for the second time")
        left_out[name] = read_text(pair[1], f"left_out[{i}][1]")
    return left_out


def partition_records(partitions: Mapping[Name, Partition], place: str) -> list[dict[str, Any]]:
    return [partition_record(partition, f"{place}[{i}]") for i, partition in enumerate(partitions.values())]


def read_partitions(given: Any, place: str, n_rows: int, version: int) -> dict[Name, Partition]:
    partitions: dict[Name, Partition] = {}
    for i, record in enumerate(read_list(given, place)):
        partition = read_partition(record, f"{place}[{i}]", n_rows, version)
        if partition.name in partitions:
            raise wrong(f"{place}[{i}].name", f"is there twice: {shown(partition.name)}")
        partitions[partition.name] = partition
    return partitions
