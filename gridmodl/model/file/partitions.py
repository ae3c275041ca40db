"""Convert partitions to fields of a JSON object, and back, by the version of the file."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.codelength import MANY_ROWS
from gridmodl.data.frames import Name
from gridmodl.model.file.fields import MAX_INTEGER, read_bool, read_fields, read_integer, read_list, shown, wrong
from gridmodl.model.file.values import (
    read_array,
    read_float,
    read_floats,
    read_text,
    read_value,
    read_values,
    write_array,
    write_value,
)
from gridmodl.model.partition import Partition

PARTITION_FIELDS_2 = {  # up to version 2
    "numerical": ("name", "kind", "bounds", "is_utc", "special", "missing", "counts"),
    "categorical": ("name", "kind", "groups", "default", "missing", "counts"),
}
PARTITION_FIELDS_4 = {  # versions 3 and 4
    kind: (*fields, "n_values", "log_value_factorials") for kind, fields in PARTITION_FIELDS_2.items()
}
PARTITION_FIELDS_5 = {kind: (*fields, "n_values", "value_rows") for kind, fields in PARTITION_FIELDS_2.items()}
PARTITION_FIELDS = {
    **{
        kind: tuple(dict.fromkeys((*fields, "default", "n_missing", "special_sizes")))
        for kind, fields in PARTITION_FIELDS_5.items()
    },
    "ordinal": (
        "name", "kind", "levels", "bounds", "special", "special_sizes", "default", "missing", "n_missing", "counts",
        "n_values", "value_rows",
    ),
}  # fmt: skip


def partition_record(partition: Partition, place: str) -> dict[str, Any]:
    """JSON object of a partition; its fields depend on its kind."""
    record: dict[str, Any] = {"name": write_value(partition.name, f"{place}.name"), "kind": partition.kind}
    if partition.kind == "numerical":
        record["bounds"] = write_array(partition.bounds, f"{place}.bounds")
        record["is_utc"] = bool(partition.is_utc)
        record["special"] = write_array(partition.special, f"{place}.special")
    elif partition.kind == "ordinal":
        record["levels"] = [write_value(level, f"{place}.levels[{i}]") for i, level in enumerate(partition.levels)]
        record["bounds"] = partition.bounds.tolist()
        record["special"] = partition.special.tolist()
    else:
        record["groups"] = [
            [write_value(value, f"{place}.groups[{i}][{j}]") for j, value in enumerate(group)]
            for i, group in enumerate(partition.groups)
        ]
    record["special_sizes"] = None if partition.special_sizes is None else list(partition.special_sizes)
    record["default"] = index_or_none(partition.default)
    record["missing"] = index_or_none(partition.missing)
    record["counts"] = partition.counts.tolist()
    record["n_missing"] = index_or_none(partition.n_missing)
    record["n_values"] = None if partition.n_values is None else partition.n_values.tolist()
    record["value_rows"] = None if partition.value_rows is None else partition.value_rows.tolist()
    if not math.isnan(partition._log_orders):
        record["log_value_factorials"] = float(partition._log_orders)
    if partition.unlabelled is not None:
        record["unlabelled"] = partition.unlabelled.tolist()
    if partition.widths is not None:
        record["widths"] = partition.widths.tolist()
    if partition.step:
        record["step"] = float(partition.step)
    if partition.domain is not None:
        record["domain"] = write_array(partition.domain, f"{place}.domain")
    if partition.others is not None:
        record["others"] = write_value(partition.others, f"{place}.others")
    if partition.given_names:
        record["names"] = list(partition.given_names)
    if partition.lowest is not None and partition.highest is not None:
        record["lowest"] = write_array(partition.lowest, f"{place}.lowest")
        record["highest"] = write_array(partition.highest, f"{place}.highest")
    return record


def index_or_none(value: Any) -> int | None:
    return None if value is None else operator.index(value)


def _range_fields(raw: Mapping[str, Any]) -> list[str]:
    """Fields of the range of a numerical column that a file has, or must have."""
    has_widths, has_ranges = "widths" in raw, "lowest" in raw or "highest" in raw
    fields = ["domain"] if has_widths or has_ranges or "domain" in raw else []
    return fields + (["lowest", "highest"] if has_ranges and not has_widths else [])


def read_partition(raw: Any, place: str, n_rows: int, version: int) -> Partition:
    """Read a partition of a file of this `version`."""
    kind = raw.get("kind") if isinstance(raw, dict) else None
    known = _partition_fields(version)
    if not isinstance(kind, str) or kind not in known:
        raise wrong(place, f"must be an object whose 'kind' is one of {', '.join(known)}, got {shown(kind)}")
    fields = known[kind]
    has_unlabelled = version > 2 and "unlabelled" in raw
    has_orders = version > 2 and kind == "categorical" and "log_value_factorials" in raw
    has_widths = version > 5 and kind == "numerical" and "widths" in raw
    optional = [*(["unlabelled"] if has_unlabelled else []), *(["log_value_factorials"] if has_orders else [])]
    ranges = _range_fields(raw) if version > 5 and kind == "numerical" else []
    has_names = version > 5 and "names" in raw
    has_others = version > 5 and kind == "categorical" and "others" in raw
    has_step = version > 5 and kind == "numerical" and "step" in raw
    optional += [*(["widths"] if has_widths else []), *(["step"] if has_step else []), *ranges]
    optional += ["names"] if has_names else []
    optional += ["others"] if has_others else []
    record = read_fields(raw, place, tuple(dict.fromkeys((*fields, *optional))))
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
    if version in (3, 4) or has_orders:
        order = read_float(record["log_value_factorials"], f"{place}.log_value_factorials")
        check_log_orders(order, n_rows, f"{place}.log_value_factorials")
        if facts["n_values"] is not None and kind == "categorical":
            facts["_log_orders"] = _log_orders(order, n_rows)
    if version > 4:
        facts["value_rows"] = read_integers(record["value_rows"], f"{place}.value_rows", n_rows)
    facts |= _read_parts(record, place)
    if has_widths:
        facts["widths"] = np.array(read_floats(record["widths"], f"{place}.widths"), dtype=np.float64)
    if has_step:
        facts["step"] = read_float(record["step"], f"{place}.step")
    if has_others:
        facts["others"] = read_text(record["others"], f"{place}.others")
    if has_names:
        facts["given_names"] = _read_names(record["names"], f"{place}.names")
    facts |= {what: read_array(record[what], f"{place}.{what}") for what in ranges}
    if version > 5 and record["n_missing"] is not None:  # a density leaves the rows without a value out of n_rows
        most = MAX_INTEGER if has_widths else n_rows
        facts["n_missing"] = read_integer(record["n_missing"], f"{place}.n_missing", 0, most)
    if "special_sizes" in fields:
        sizes = read_integers(record["special_sizes"], f"{place}.special_sizes", MAX_INTEGER)
        facts["special_sizes"] = None if sizes is None else tuple(sizes.tolist())
    if "default" in fields:
        facts["default"] = _read_part(record["default"], f"{place}.default")
    elif facts["missing"] is None:  # up to version 5: the lowest interval
        facts["default"] = 0
    return Partition(**facts)


def _read_parts(record: dict[str, Any], place: str) -> dict[str, Any]:
    """Read the groups, the groups of levels or the intervals of a partition."""
    if record["kind"] == "categorical":
        groups = read_list(record["groups"], f"{place}.groups")
        return {"groups": tuple(tuple(read_values(one, f"{place}.groups[{i}]")) for i, one in enumerate(groups))}
    if record["kind"] == "ordinal":
        levels = tuple(read_values(record["levels"], f"{place}.levels"))
        if not levels:
            raise wrong(f"{place}.levels", "must not be empty")
        return {
            "levels": levels,
            "bounds": read_places(record["bounds"], f"{place}.bounds", len(levels) - 2),
            "special": read_places(record["special"], f"{place}.special", len(levels) - 1),
        }
    return {
        "bounds": read_array(record["bounds"], f"{place}.bounds"),
        "special": read_array(record["special"], f"{place}.special"),
        "is_utc": read_bool(record["is_utc"], f"{place}.is_utc"),
    }


def _read_names(raw: Any, place: str) -> tuple[str | None, ...]:
    """Read the names of parts that a user gave, null for the others."""
    names = [None if one is None else read_text(one, f"{place}[{i}]") for i, one in enumerate(read_list(raw, place))]
    return tuple(names)


def _partition_fields(version: int) -> dict[str, tuple[str, ...]]:
    """Fields of a partition by its kind, in a file of this `version`."""
    if version <= 2:
        return PARTITION_FIELDS_2
    if version <= 4:
        return PARTITION_FIELDS_4
    return PARTITION_FIELDS_5 if version == 5 else PARTITION_FIELDS


def check_log_orders(order: float, n_rows: int, place: str) -> None:
    """Check a sum of log n!; with 2^24 rows or more it can be negative, as log(N) - 1 may be subtracted per row."""
    if not (math.isfinite(order) and (order >= 0.0 or n_rows >= MANY_ROWS)):
        raise wrong(place, f"must be finite and not negative, got {order!r}")


def _log_orders(order: float, n_rows: int) -> float:
    """`Partition._log_orders`: a sum of log n!; with 2^24 rows or more, log(N) - 1 is subtracted per row.

    The first files of 2^24 rows or more hold the plain sum. With the subtraction the sum is at most slightly above
    log(2 pi N) / 2; without, it is far larger, as values have many rows.
    """
    is_plain = n_rows >= MANY_ROWS and order > math.log(n_rows)
    return order - n_rows * (math.log(n_rows) - 1.0) if is_plain else order


def _read_part(raw: Any, place: str) -> int | None:
    return None if raw is None else read_integer(raw, place, 0, MAX_INTEGER)


def read_integers(raw: Any, place: str, most: int) -> NDArray[np.int64] | None:
    """Read a list of integers from 0 to `most`; None for null."""
    if raw is None:
        return None
    integers = [read_integer(n, f"{place}[{i}]", 0, most) for i, n in enumerate(read_list(raw, place))]
    return np.array(integers, dtype=np.int64)


def read_places(raw: Any, place: str, last: int) -> NDArray[np.int64]:
    """Read a list of places of levels, from 0 to `last`."""
    places = [read_integer(n, f"{place}[{i}]", 0, last) for i, n in enumerate(read_list(raw, place))]
    return np.array(places, dtype=np.int64)


def read_counts(raw: Any, place: str, n_rows: int) -> NDArray[np.int64]:
    """Read a matrix of counts from 0 to `n_rows`."""
    rows = [
        [
            read_integer(count, f"{place}[{i}][{j}]", 0, n_rows)
            for j, count in enumerate(read_list(row, f"{place}[{i}]"))
        ]
        for i, row in enumerate(read_list(raw, place))
    ]
    if not rows or len(set(map(len, rows))) > 1:
        raise wrong(place, "must be lists of one length, one for each part")
    return np.array(rows, dtype=np.int64)


def partition_records(partitions: Mapping[Name, Partition], place: str) -> list[dict[str, Any]]:
    return [partition_record(partition, f"{place}[{i}]") for i, partition in enumerate(partitions.values())]


def read_partitions(raw: Any, place: str, n_rows: int, version: int) -> dict[Name, Partition]:
    partitions: dict[Name, Partition] = {}
    for i, record in enumerate(read_list(raw, place)):
        partition = read_partition(record, f"{place}[{i}]", n_rows, version)
        if partition.name in partitions:
            raise wrong(f"{place}[{i}].name", f"occurs twice: {shown(partition.name)}")
        partitions[partition.name] = partition
    return partitions
