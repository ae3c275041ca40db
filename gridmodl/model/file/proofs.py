"""Convert certificates and stability to fields of a JSON object, and back."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from gridmodl.model.file.fields import MAX_INTEGER, read_fields, read_integer, read_list, wrong
from gridmodl.model.file.values import read_array, read_float, read_floats, read_text, write_array, write_value
from gridmodl.model.stability import PeriodBreak, Stability
from gridmodl.search.proof import LIMITED, Certificate

CERTIFICATE_FIELDS_5 = ("method", "lowest", "slopes", "totals", "max_parts", "min_rows", "monotone")
CERTIFICATE_FIELDS = (
    *CERTIFICATE_FIELDS_5, "missing", "min_events", "min_difference", "fixed", "allowed", "min_period_rows",
    "order",
)  # fmt: skip
STABILITY_FIELDS = Stability._fields


def certificate_record(certificate: Certificate | None) -> dict[str, Any] | None:
    """JSON object of a certificate."""
    if certificate is None:
        return None
    record = asdict(certificate)
    for name in ("slopes", "totals", "min_events"):
        record[name] = list(record[name])
    for name in ("fixed", "allowed"):
        bounds = record[name]
        record[name] = (
            write_array(np.array(bounds), f"certificate.{name}") if bounds else None if bounds is None else []
        )
    return record


def read_certificate(raw: Any, place: str, version: int, n_special: int) -> Certificate | None:
    """Certificate of a JSON object of a file of this `version`; before 6, the limit on parts counted special ones."""
    if raw is None:
        return None
    record = read_fields(raw, place, CERTIFICATE_FIELDS if version > 5 else CERTIFICATE_FIELDS_5)
    certificate = Certificate(
        method=read_text(record["method"], f"{place}.method"),
        lowest=read_float(record["lowest"], f"{place}.lowest"),
        slopes=tuple(read_floats(record["slopes"], f"{place}.slopes")),
        totals=tuple(read_floats(record["totals"], f"{place}.totals")),
        max_parts=_read_limit(record["max_parts"], f"{place}.max_parts"),
        min_rows=read_integer(record["min_rows"], f"{place}.min_rows", 0, MAX_INTEGER),
        monotone=None if record["monotone"] is None else read_text(record["monotone"], f"{place}.monotone"),
        missing=read_text(record["missing"], f"{place}.missing") if version > 5 else LIMITED,
    )
    if version < 6:
        most = certificate.max_parts
        return certificate if most is None else replace(certificate, max_parts=max(1, most - n_special))
    fixed, allowed = (_read_bounds(record[name], f"{place}.{name}") for name in ("fixed", "allowed"))
    if fixed is None:
        raise wrong(f"{place}.fixed", "must be a list of bounds")
    return replace(
        certificate,
        min_events=tuple(
            read_integer(rows, f"{place}.min_events[{i}]", 0, MAX_INTEGER)
            for i, rows in enumerate(read_list(record["min_events"], f"{place}.min_events"))
        ),
        min_difference=read_float(record["min_difference"], f"{place}.min_difference"),
        fixed=fixed,
        allowed=allowed,
        min_period_rows=None
        if record["min_period_rows"] is None
        else _read_rows_or_share(record["min_period_rows"], f"{place}.min_period_rows"),
        order=None if record["order"] is None else read_text(record["order"], f"{place}.order"),
    )


def _read_rows_or_share(raw: Any, place: str) -> int | float:
    """Read a number of rows, or a share below 1."""
    return read_integer(raw, place, 1, MAX_INTEGER) if type(raw) is int else read_float(raw, place)


def stability_record(stability: Stability | None) -> dict[str, Any] | None:
    """JSON object of a stability."""
    if stability is None:
        return None
    texts = {
        name: [write_value(text, f"stability.{name}[{i}]") for i, text in enumerate(getattr(stability, name))]
        for name in ("periods", "compared")
    }
    breaks = [
        {name: write_value(value, f"stability.breaks[{i}].{name}") for name, value in one._asdict().items()}
        for i, one in enumerate(stability.breaks)
    ]
    over = write_value(stability.over, "stability.over")
    return {**stability._asdict(), "over": over, **texts, "breaks": breaks}


def _read_break(raw: Any, place: str) -> PeriodBreak:
    record = read_fields(raw, place, PeriodBreak._fields)
    return PeriodBreak(
        period=read_text(record["period"], f"{place}.period"),
        low=read_text(record["low"], f"{place}.low"),
        high=read_text(record["high"], f"{place}.high"),
        low_rate=read_float(record["low_rate"], f"{place}.low_rate"),
        high_rate=read_float(record["high_rate"], f"{place}.high_rate"),
    )


def read_stability(raw: Any) -> Stability | None:
    """Stability of a JSON object."""
    if raw is None:
        return None
    place = "stability"
    record = read_fields(raw, place, STABILITY_FIELDS)
    texts = {
        name: tuple(read_text(text, f"{place}.{name}[{i}]") for i, text in enumerate(read_list(record[name], name)))
        for name in ("periods", "compared")
    }
    breaks = read_list(record["breaks"], f"{place}.breaks")
    return Stability(
        over=read_text(record["over"], f"{place}.over"),
        **texts,
        min_period_rows=_read_rows_or_share(record["min_period_rows"], f"{place}.min_period_rows"),
        free_cost=read_float(record["free_cost"], f"{place}.free_cost"),
        free_parts=read_integer(record["free_parts"], f"{place}.free_parts", 1, MAX_INTEGER),
        breaks=tuple(_read_break(one, f"{place}.breaks[{i}]") for i, one in enumerate(breaks)),
    )


def _read_bounds(raw: Any, place: str) -> tuple[Any, ...] | None:
    """Read bounds: an array; an empty list for none, null for no limit."""
    return None if raw is None else () if raw == [] else tuple(read_array(raw, place))


def _read_limit(raw: Any, place: str) -> int | None:
    return None if raw is None else read_integer(raw, place, 1, MAX_INTEGER)
