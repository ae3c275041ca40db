"""The models of many columns as one JSON text: `Models.to_json` and `Models.from_json`.

Each model is written and checked as it would be in a text of its own.
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
VERSIONS = (1, VERSION)  # of the collection; each model has a version of its own
FIELDS = ("format", "version", "gridmodl", "models", "errors")


def write_models(models: Models, path: str | os.PathLike[str] | None = None) -> str:
    """The models as a JSON text, also written to the file `path` if that is given."""
    return write_checked(models, _check, _record, path)


def read_models(source: str | bytes | os.PathLike[str]) -> Models:
    """The models of a JSON text, a str or bytes, or of the file at a path, a str or path-like."""
    return read_checked(source, _read, _check)


def _record(models: Models) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "gridmodl": __version__,
        "models": [model_record(model) for model in models.values()],
        "errors": [[write_value(name, "errors"), str(error)] for name, error in models.errors.items()],
    }


def _read(record: Any) -> Models:
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ModelFileError(f"the text is no collection of gridmodl models: its 'format' is not {FORMAT!r}")
    read_version(record, VERSIONS)
    read_fields(record, "", FIELDS)
    read_text(record["gridmodl"], "gridmodl")
    models: dict[Name, Model] = {}
    for i, given in enumerate(read_list(record["models"], "models")):
        model = _at(i, read_record, given)
        _at(i, _check_one, model)
        name = next(iter(model.partitions))
        if name in models:
            raise wrong(f"models[{i}]", f"is of column {shown(name)}, of which there is one already")
        models[name] = model
    frame = next(iter(models.values())).frame if models else ARRAYS
    return Models(models, _read_errors(record["errors"]), frame)


def _read_errors(given: Any) -> dict[Name, Exception]:
    errors: dict[Name, Exception] = {}
    for i, pair in enumerate(read_list(given, "errors")):
        if not isinstance(pair, list) or len(pair) != 2:
            raise wrong(f"errors[{i}]", "must be a list of a name and a reason")
        errors[read_value(pair[0], f"errors[{i}][0]")] = ValueError(read_text(pair[1], f"errors[{i}][1]"))
    return errors


def _check(models: Models) -> None:
    if not models:
        raise wrong("models", "must not be empty")
    for i, (name, model) in enumerate(models.items()):
        _at(i, _check_one, model)
        if name not in model.partitions:
            raise wrong(f"models[{i}]", f"is called {shown(name)}, which is not its column")
        if name in models.errors:
            raise wrong("errors", f"names column {shown(name)}, which has a model")
        _at(i, check_model, model)


def _check_one(model: Model) -> None:
    if len(model.partitions) != 1:
        raise wrong("partitions", f"must be of one column, got {len(model.partitions)}")


def _at(i: int, work: Any, given: Any) -> Any:
    """Call `work`; errors name the place of model number `i`."""
    try:
        return work(given)
    except ModelFileError as error:
        raise wrong(f"models[{i}]", str(error)) from error
