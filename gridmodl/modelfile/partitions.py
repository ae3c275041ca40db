"""A partition as the fields of a JSON object; which fields there are depends on its kind."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.codelength import MANY_ROWS
from gridmodl.encode import KINDS
from gridmodl.modelfile.arrays import read_array, write_array
from gridmodl.modelfile.fields import MAX_INTEGER, read_bool, read_fields, read_integer, read_list
from gridmodl.modelfile.text import shown, wrong
from gridmodl.modelfile.values import read_float, read_value, read_values, write_value
from gridmodl.partition import Partition

FIELDS_2 = {  # up to version 2
    "numerical": ("name", "kind", "bounds", "is_utc", "special", "missing", "counts"),
    "categorical": ("name", "kind", "groups", "default", "missing", "counts"),
}
FIELDS = {kind: (*fields, "n_values", "log_value_factorials") for kind, fields in FIELDS_2.items()}


def partition_record(partition: Partition, place: str) -> dict[str, Any]:
    record: dict[str, Any] = {"name": write_value(partition.name, f"{place}.name"), "kind": partition.kind}
    if partition.kind == "numerical":
        record["bounds"] = write_array(partition.bounds, f"{place}.bounds")
        record["is_utc"] = bool(partition.is_utc)
        record["special"] = write_array(partition.special, f"{place}.special")
    else:
        record["groups"] = [
            [write_value(value, f"{place}.groups[{i}][{j}]") for j, value in enumerate(group)]
            for i, group in enumerate(partition.groups)
        ]
        record["default"] = _index_or_none(partition.default)
    record["missing"] = _index_or_none(partition.missing)
    record["counts"] = partition.counts.tolist()
    record["n_values"] = None if partition.n_values is None else partition.n_values.tolist()
    record["log_value_factorials"] = float(partition.log_value_factorials)
    if partition.unlabelled is not None:
        record["unlabelled"] = partition.unlabelled.tolist()
    return record


def _index_or_none(value: Any) -> int | None:
    return None if value is None else operator.index(value)


def read_partition(given: Any, place: str, n_rows: int, version: int) -> Partition:
    kind = given.get("kind") if isinstance(given, dict) else None
    if kind not in KINDS:
        raise wrong(place, f"must be an object whose 'kind' is one of {', '.join(KINDS)}, got {shown(kind)}")
    fields = (FIELDS if version > 2 else FIELDS_2)[kind]
    has_unlabelled = version > 2 and "unlabelled" in given
    record = read_fields(given, place, (*fields, "unlabelled") if has_unlabelled else fields)
    facts: dict[str, Any] = {
        "name": read_value(record["name"], f"{place}.name"),
        "kind": kind,
        "counts": read_counts(record["counts"], f"{place}.counts", n_rows),
        "missing": _read_part(record["missing"], f"{place}.missing"),
    }
    if has_unlabelled:
        facts["unlabelled"] = read_integers(record["unlabelled"], f"{place}.unlabelled", n_rows)
    if version > 2:
        facts["n_values"] = read_integers(record["n_values"], f"{place}.n_values", n_rows)
        order = read_float(record["log_value_factorials"], f"{place}.log_value_factorials")
        facts["log_value_factorials"] = _in_units(order, n_rows)
    if kind == "categorical":
        groups = read_list(record["groups"], f"{place}.groups")
        facts["groups"] = tuple(tuple(read_values(group, f"{place}.groups[{i}]")) for i, group in enumerate(groups))
        facts["default"] = _read_part(record["default"], f"{place}.default")
    else:
        facts["bounds"] = read_array(record["bounds"], f"{place}.bounds")
        facts["special"] = read_array(record["special"], f"{place}.special")
        facts["is_utc"] = read_bool(record["is_utc"], f"{place}.is_utc")
    return Partition(**facts)


def _in_units(order: float, n_rows: int) -> float:
    """`Partition.log_value_factorials`, also of a file from before 2^24 rows and more took off a unit for each row.

    With the unit the sum is at most log(2 pi N) / 2 and a bit; without, it is far above that: values have many rows.
    """
    is_plain = n_rows >= MANY_ROWS and order > math.log(n_rows)
    return order - n_rows * (math.log(n_rows) - 1.0) if is_plain else order


def _read_part(given: Any, place: str) -> int | None:
    return None if given is None else read_integer(given, place, 0, MAX_INTEGER)


def read_integers(given: Any, place: str, most: int) -> NDArray[np.int64] | None:
    """A list of integers from 0 to `most`, or None for null."""
    if given is None:
        return None
    integers = [read_integer(n, f"{place}[{i}]", 0, most) for i, n in enumerate(read_list(given, place))]
    return np.array(integers, dtype=np.int64)


def read_counts(given: Any, place: str, n_rows: int) -> NDArray[np.int64]:
    rows = [
        [
            read_integer(count, f"{place}[{i}][{j}]", 0, n_rows)
            for j, count in enumerate(read_list(row, f"{place}[{i}]"))
        ]
        for i, row in enumerate(read_list(given, place))
    ]
    if not rows or len(set(map(len, rows))) > 1:
        raise wrong(place, "must be lists of one length, one for each part")
    return np.array(rows, dtype=np.int64)
