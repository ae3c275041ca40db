"""Tables of a comparison, as columns by name, and its JSON."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gridmodl.model.file.files import render_json
from gridmodl.monitoring.counting import TARGET
from gridmodl.monitoring.parts import DRIFT, PartsComparison
from gridmodl.writing import replace_file

if TYPE_CHECKING:
    from gridmodl.monitoring.record import Comparison

FORMAT, VERSION = "gridmodl comparison", 1
# Columns of rates, and the attributes of `gridmodl.monitoring.drift.Change`.
RATES = {"rate_old": "old", "rate_new": "new", "change": "change", "lower": "lower", "upper": "upper"}


def column_lines(comparison: Comparison, at: int) -> dict[str, Any]:
    """Columns of a table with one line for each column, in period number `at`."""
    shown = comparison.all_parts
    columns: dict[str, Any] = {"column": [str(one.name) for one in shown], "kind": [one.kind for one in shown]}
    columns["parts"] = [len(one.labels) for one in shown]
    lines = [_statistics(one) for one in shown]
    columns |= {key: [line[key][at] for line in lines] for key in lines[0]}
    columns["drift_periods"] = [one.verdicts[1:].count(DRIFT) for one in shown]
    columns["missing_old"] = [one.old_missing for one in shown]
    columns["new_values"] = [len(one.new_values) for one in shown]
    columns["vanished"] = [len(one.vanished) for one in shown]
    columns["same_parts"] = [one.prices.same_parts if at == 0 else math.nan for one in shown]
    columns["best_parts"] = [one.prices.best_parts if at == 0 else math.nan for one in shown]
    return columns


def _statistics(one: PartsComparison) -> dict[str, list[Any]]:
    """Numbers of a column, by period."""
    nothing = np.full(len(one.periods), np.nan)
    return {
        "psi": one.psi.tolist(),
        "psi_noise": one.psi_noise.tolist(),
        "p_adjusted": one.p_adjusted.tolist(),
        "information_lost": one.information_lost.tolist(),
        "relation_p_adjusted": (one.relation_p_adjusted if one.classes else nothing).tolist(),
        "verdict": one.verdicts,
        "missing_new": one.new_missing.tolist(),
        "below": one.below.tolist(),
        "above": one.above.tolist(),
        "old_shares": one.old_shares.tolist(),
        "best_shares": one.best_shares.tolist(),
    }


def part_lines(one: PartsComparison, at: int) -> dict[str, Any]:
    """Columns of a table with one line for each part of a column, in period number `at`."""
    old, new = one.old_rows, one.new_rows[at]
    columns: dict[str, Any] = {"part": list(one.labels), "rows_old": old, "rows_new": new}
    columns |= {"share_old": old / max(int(old.sum()), 1), "share_new": new / max(int(new.sum()), 1)}
    columns["psi"] = one.psi_terms[at]
    for event in one.events:
        rates, suffix = one.rates(event), f"_{one.classes[event]}" if len(one.events) > 1 else ""
        columns |= {f"{name}{suffix}": getattr(rates, what)[at] for name, what in RATES.items()}
    return columns


def period_lines(shown: Sequence[PartsComparison]) -> dict[str, Any]:
    """Columns of a table with one line for each period of each column; for all rows together without periods."""
    has_event = all(len(one.events) == 1 for one in shown if one.kind != TARGET)
    columns: dict[str, list[Any]] = {}
    for one in shown:
        lines: dict[str, list[Any]] = {"column": [str(one.name)] * len(one.periods), "period": list(one.periods)}
        lines |= {"rows": one.new_rows.sum(axis=1).tolist(), **_statistics(one)}
        if has_event:
            rates = one.overall_rate(one.events[0]) if one.classes else None
            nothing = [math.nan] * len(one.periods)
            lines |= {name: nothing if rates is None else getattr(rates, what).tolist() for name, what in RATES.items()}
        first = 1 if len(one.periods) > 1 else 0
        for key, values in lines.items():
            columns.setdefault(key, []).extend(values[first:])
    return columns


def write_comparison(comparison: Comparison, path: str | os.PathLike[str] | None) -> str:
    """JSON of a comparison, also written to `path` if given."""
    text = render_json(comparison_record(comparison)) + "\n"
    if path is not None:
        replace_file(path, text)
    return text


def comparison_record(comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON values."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "has_drift": comparison.has_drift,
        "drifted": [_text(name) for name in comparison.drifted],
        "limits": dict(comparison.limits._asdict()),
        "event": None if comparison.event is None else _text(comparison.event),
        "old_rows": comparison.n_old,
        "new_rows": comparison.n_new.tolist(),
        "periods": [_text(period) for period in comparison.periods],
        "columns": [_parts_record(one) for one in comparison.columns.values()],
        "cells": None if comparison.cells is None else _parts_record(comparison.cells),
        "target": None if comparison.target is None else _parts_record(comparison.target),
    }


def _parts_record(one: PartsComparison) -> dict[str, Any]:
    """A column as JSON values; arrays by period have all new rows first."""
    numbers = (
        "psi", "psi_noise", "p_value", "p_adjusted", "relation_p_value", "relation_p_adjusted", "information_lost",
        "new_missing", "below", "above", "old_shares", "best_shares",
    )  # fmt: skip
    return {
        "name": _text(one.name),
        "kind": one.kind,
        "parts": [_text(label) for label in one.labels],
        "classes": [_text(label) for label in one.classes],
        "old_rows": one.old_rows.tolist(),
        "new_rows": one.new_rows.tolist(),
        "old_counts": one.old_counts.tolist(),
        "new_counts": one.new_counts.tolist(),
        "psi_terms": [_finite(line) for line in one.psi_terms],
        **{key: _finite(getattr(one, key)) for key in numbers},
        "old_missing": _finite([one.old_missing])[0],
        "verdicts": one.verdicts,
        "rates": [_rates_record(one, event) for event in one.events],
        "new_values": [[_text(value), rows] for value, rows in one.new_values.items()],
        "vanished": [_text(value) for value in one.vanished],
        "same_parts": _finite([one.prices.same_parts])[0],
        "best_parts": _finite([one.prices.best_parts])[0],
        "prices_in_nats": one.prices.in_nats,
    }


def _rates_record(one: PartsComparison, event: int) -> dict[str, Any]:
    rates = one.rates(event)
    numbers = {key: [_finite(line) for line in getattr(rates, key)] for key in ("new", "lower", "upper")}
    return {"class": _text(one.classes[event]), "old": _finite(rates.old[0]), **numbers}


def _finite(values: Any) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in np.asarray(values, dtype=np.float64).tolist()]


def _text(value: Any) -> str:
    """The value as text that is valid in UTF-8."""
    return str(value).encode("utf-8", "replace").decode()
