"""Write and read the models of many columns as one JSON text: `Models.to_json` and `Models.from_json`.

Each model is written and checked as in a text of its own.
"""

from __future__ import annotations

import os
from typing import Any

from gridmodl import __version__
from gridmodl.data.frames import ARRAYS, Name
from gridmodl.model.file.checks import check_model
from gridmodl.model.file.fields import ModelFileError, read_fields, read_list, shown, wrong
from gridmodl.model.file.files import read_checked, write_checked
from gridmodl.model.file.records import VERSION, model_record, read_record, read_version
from gridmodl.model.file.values import read_text, read_value, write_value
from gridmodl.model.model import Model
from gridmodl.model.models import Models

FORMAT = "gridmodl models"
VERSIONS = (1, 5, VERSION)  # known versions of a collection; each model in it has a version of its own
FIELDS = ("format", "version", "gridmodl", "models", "errors")


def write_models(models: Models, path: str | os.PathLike[str] | None = None) -> str:
    """JSON text of the models; also written to the file `path` unless None."""
    return write_checked(models, _check, _record, path)


def read_models(source: str | bytes | os.PathLike[str]) -> Models:
    """Read models from a JSON text (str or bytes) or from a file (str or path-like)."""
    return read_checked(source, _read, _check)


def _record(models: Models) -> dict[str, Any]:
    """JSON object of the models."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "gridmodl": __version__,
        "models": [model_record(model) for model in models.values()],
        "errors": [[write_value(name, "errors"), str(error)] for name, error in models.errors.items()],
    }


def _read(record: Any) -> Models:
    """Build the models from their JSON object."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ModelFileError(f"the text is no collection of gridmodl models: its 'format' is not {FORMAT!r}")
    read_version(record, VERSIONS)
    read_fields(record, "", FIELDS)
    read_text(record["gridmodl"], "gridmodl")
    models: dict[Name, Model] = {}
    for i, raw in enumerate(read_list(record["models"], "models")):
        model = _call_for_model(i, read_record, raw)
        _call_for_model(i, _check_one_column, model)
        name = next(iter(model.partitions))
        if name in models:
            raise wrong(f"models[{i}]", f"is of column {shown(name)}, which has a model already")
        models[name] = model
    frame = next(iter(models.values())).frame if models else ARRAYS
    return Models(models, _read_errors(record["errors"]), frame)


def _read_errors(raw: Any) -> dict[Name, Exception]:
    """Errors of the columns without a model."""
    errors: dict[Name, Exception] = {}
    for i, pair in enumerate(read_list(raw, "errors")):
        if not isinstance(pair, list) or len(pair) != 2:
            raise wrong(f"errors[{i}]", "must be a list of a name and a reason")
        errors[read_value(pair[0], f"errors[{i}][0]")] = ValueError(read_text(pair[1], f"errors[{i}][1]"))
    return errors


def _check(models: Models) -> None:
    """Check each model, and that the names of models and errors fit."""
    if not models:
        raise wrong("models", "must not be empty")
    for i, (name, model) in enumerate(models.items()):
        _call_for_model(i, _check_one_column, model)
        if name not in model.partitions:
            raise wrong(f"models[{i}]", f"is called {shown(name)}, which is not its column")
        if name in models.errors:
            raise wrong("errors", f"names column {shown(name)}, which has a model")
        _call_for_model(i, check_model, model)


def _check_one_column(model: Model) -> None:
    """Check that the model has one column."""
    if len(model.partitions) != 1:
        raise wrong("partitions", f"must be of one column, got {len(model.partitions)}")


def _call_for_model(i: int, function: Any, argument: Any) -> Any:
    """Call `function`; errors get the place of model number `i`."""
    try:
        return function(argument)
    except ModelFileError as error:
        raise wrong(f"models[{i}]", str(error)) from error
