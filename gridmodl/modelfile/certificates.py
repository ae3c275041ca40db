"""What was proven of a model, as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gridmodl.certificate import METHODS, MONOTONE, Certificate, is_lowest
from gridmodl.modelfile.fields import MAX_INTEGER, read_fields, read_integer
from gridmodl.modelfile.text import shown, wrong
from gridmodl.modelfile.values import read_float, read_floats, read_text

if TYPE_CHECKING:
    from gridmodl.model import Model

FIELDS = ("method", "lowest", "slopes", "totals", "max_parts", "min_rows", "monotone")


def certificate_record(certificate: Certificate | None) -> dict[str, Any] | None:
    if certificate is None:
        return None
    record = asdict(certificate)
    return {**record, "slopes": list(certificate.slopes), "totals": list(certificate.totals)}


def read_certificate(given: Any, place: str) -> Certificate | None:
    if given is None:
        return None
    record = read_fields(given, place, FIELDS)
    return Certificate(
        method=read_text(record["method"], f"{place}.method"),
        lowest=read_float(record["lowest"], f"{place}.lowest"),
        slopes=tuple(read_floats(record["slopes"], f"{place}.slopes")),
        totals=tuple(read_floats(record["totals"], f"{place}.totals")),
        max_parts=_read_limit(record["max_parts"], f"{place}.max_parts"),
        min_rows=read_integer(record["min_rows"], f"{place}.min_rows", 1, MAX_INTEGER),
        monotone=None if record["monotone"] is None else read_text(record["monotone"], f"{place}.monotone"),
    )


def _read_limit(given: Any, place: str) -> int | None:
    return None if given is None else read_integer(given, place, 1, MAX_INTEGER)


def check_certificate(model: Model) -> None:
    """A certificate is of one column with classes, of finite numbers, and allows what the model says of itself."""
    certificate, place = model.certificate, "certificate"
    if certificate is None:
        return
    if len(model.partitions) != 1 or model._cells is not None:
        raise wrong(place, "must be null, as there are several variables")
    if certificate.method not in METHODS:
        raise wrong(f"{place}.method", f"must be one of {', '.join(METHODS)}, got {shown(certificate.method)}")
    if certificate.monotone is not None and certificate.monotone not in MONOTONE:
        known = ", ".join(MONOTONE)
        raise wrong(f"{place}.monotone", f"must be null or one of {known}, got {shown(certificate.monotone)}")
    (partition,) = model.partitions.values()
    if certificate.monotone is not None and (partition.kind != "numerical" or len(model.classes) != 2):
        raise wrong(f"{place}.monotone", "must be null, as only intervals with two classes can be monotone")
    if len(certificate.slopes) != len(certificate.totals):
        raise wrong(f"{place}.totals", f"must be {len(certificate.slopes)} numbers, one for each slope")
    for name, numbers in (
        ("lowest", (certificate.lowest,)),
        ("slopes", certificate.slopes),
        ("totals", certificate.totals),
    ):
        if not all(map(math.isfinite, numbers)):
            raise wrong(f"{place}.{name}", "must be finite")
    if model.proven and not is_lowest(model.cost, certificate.lowest):
        raise wrong("proven", f"must be false, as {certificate.lowest!r} is the lowest cost that was proven")
