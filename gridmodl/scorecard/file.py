"""Write and read scorecards as JSON text, with checks as strict as those of a model."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from gridmodl import __version__
from gridmodl.data.frames import ARRAYS, FRAMES, Name
from gridmodl.model.file.checks import check_model, check_one_of
from gridmodl.model.file.fields import ModelFileError, read_fields, read_integer, read_list, shown, wrong
from gridmodl.model.file.files import read_checked, write_checked
from gridmodl.model.file.records import VERSION, left_out_record, model_record, read_left_out, read_record, read_version
from gridmodl.model.file.values import (
    read_array,
    read_float,
    read_floats,
    read_text,
    read_value,
    write_array,
    write_value,
)
from gridmodl.model.model import Model
from gridmodl.model.models import Models
from gridmodl.model.policy import MISSING, UNKNOWN, Policy
from gridmodl.scorecard.record import Scorecard
from gridmodl.scorecard.scaling import Scaling, checked_scaling

FORMAT = "gridmodl scorecard"
VERSIONS = (VERSION,)
FIELDS = (
    "format", "version", "gridmodl", "classes", "event", "scaling", "intercept", "weights", "names", "unknown",
    "missing", "frame", "left_out", "models",
)  # fmt: skip


def write_scorecard(card: Scorecard, path: str | os.PathLike[str] | None = None) -> str:
    """JSON text of a scorecard; also written to the file `path` unless None."""
    return write_checked(card, check_scorecard, _record, path)


def read_scorecard(source: str | bytes | os.PathLike[str]) -> Scorecard:
    """Read a scorecard from a JSON text (str or bytes) or from a file (str or path-like)."""
    return read_checked(source, _read, check_scorecard)


def _record(card: Scorecard) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "gridmodl": __version__,
        "classes": write_array(card.classes, "classes"),
        "event": card.event_index,
        "scaling": card.scaling._asdict(),
        "intercept": float(card.intercept),
        "weights": card.weights.tolist(),
        "names": [write_value(name, f"names[{i}]") for i, name in enumerate(card.names)],
        "unknown": card.policy.unknown,
        "missing": card.policy.missing,
        "frame": card.frame,
        "left_out": left_out_record(card.left_out),
        "models": [model_record(model) for model in card.models.values()],
    }


def _read(record: Any) -> Scorecard:
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ModelFileError(f"the text is no gridmodl scorecard: its 'format' is not {FORMAT!r}")
    read_version(record, VERSIONS)
    read_fields(record, "", FIELDS)
    read_text(record["gridmodl"], "gridmodl")
    frame = read_text(record["frame"], "frame")
    return Scorecard(
        models=Models(_read_models(record["models"]), {}, frame, by_level=False),
        weights=np.array(read_floats(record["weights"], "weights"), dtype=np.float64),
        intercept=read_float(record["intercept"], "intercept"),
        scaling=_read_scaling(record["scaling"]),
        classes=read_array(record["classes"], "classes"),
        event_index=read_integer(record["event"], "event", 0, 1),
        names=tuple(read_value(raw, f"names[{i}]") for i, raw in enumerate(read_list(record["names"], "names"))),
        left_out=read_left_out(record["left_out"]),
        policy=Policy(read_text(record["unknown"], "unknown"), read_text(record["missing"], "missing")),
        frame=frame,
    )


def _read_scaling(raw: Any) -> Scaling:
    fields = read_fields(raw, "scaling", Scaling._fields)
    pdo, points, odds = (read_float(fields[name], f"scaling.{name}") for name in ("pdo", "base_points", "base_odds"))
    try:
        return checked_scaling(pdo, points, odds, read_text(fields["odds_of"], "scaling.odds_of"), fields["rounded"])
    except (TypeError, ValueError) as error:
        raise wrong("scaling", str(error)) from error


def _read_models(raw: Any) -> dict[Name, Model]:
    models: dict[Name, Model] = {}
    for i, one in enumerate(read_list(raw, "models")):
        try:
            model = read_record(one)
        except ModelFileError as error:
            raise wrong(f"models[{i}]", str(error)) from error
        if len(model.partitions) != 1:
            raise wrong(f"models[{i}].partitions", f"must be of one column, got {len(model.partitions)}")
        name = next(iter(model.partitions))
        if name in models:
            raise wrong(f"models[{i}]", f"is of column {shown(name)}, which has a model already")
        models[name] = model
    return models


def check_scorecard(card: Scorecard) -> None:
    """Raise `ModelFileError` if fields contradict each other."""
    if card.classes.shape != (2,) or len(set(card.classes.tolist())) < 2:
        raise wrong("classes", "must be a list of two classes")
    if card.weights.shape != (len(card.models),) or not np.all(np.isfinite(card.weights)):
        raise wrong("weights", f"must be {len(card.models)} finite numbers, one for each model")
    if not np.isfinite(card.intercept):
        raise wrong("intercept", f"must be a finite number, got {card.intercept!r}")
    try:
        checked_scaling(*card.scaling)
    except (TypeError, ValueError) as error:
        raise wrong("scaling", str(error)) from error
    check_one_of("unknown", str(card.policy.unknown), UNKNOWN)
    check_one_of("missing", str(card.policy.missing), MISSING)
    check_one_of("frame", card.frame, (*FRAMES, ARRAYS))
    if not card.names or len(set(card.names)) < len(card.names):
        raise wrong("names", "must be a list of one name or more, all distinct")
    for name in (*card.models, *card.left_out):
        if name not in card.names:
            raise wrong("names", f"must have column {shown(name)}, of the models or left out")
    for i, (name, model) in enumerate(card.models.items()):
        place = f"models[{i}]"
        try:
            check_model(model)
        except ModelFileError as error:
            raise wrong(place, str(error)) from error
        if name in card.left_out:
            raise wrong("left_out", f"names column {shown(name)}, which has a model")
        same = model.classes.tolist() == card.classes.tolist() and model.event_index == card.event_index
        if model.target is not None or not same:
            raise wrong(place, "must be of the classes and the event of the scorecard")
