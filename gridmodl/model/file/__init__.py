"""Models as JSON text, written and read: `Model.to_json` and `Model.from_json`.

A model is checked by the same rules when it is written and when it is read, so no file is written that cannot be read.
"""

from __future__ import annotations

import os

from gridmodl.model.file.checks import check_model
from gridmodl.model.file.fields import ModelFileError
from gridmodl.model.file.files import read_checked, write_checked
from gridmodl.model.file.records import model_record, read_record
from gridmodl.model.file.schemas import json_schema
from gridmodl.model.file.tags import KNOWN_TAGS
from gridmodl.model.file.values import TAGS
from gridmodl.model.model import Model

__all__ = ["ModelFileError", "json_schema", "read_model", "write_model"]

TAGS.update(KNOWN_TAGS)


def write_model(model: Model, path: str | os.PathLike[str] | None = None) -> str:
    """The model as a JSON text, also written to the file `path` if that is given; the data is not in it.

    A file is replaced at once or not at all. ValueError or TypeError if the model is one that could not be read back.
    """
    return write_checked(model, check_model, model_record, path)


def read_model(source: str | bytes | os.PathLike[str]) -> Model:
    """The model of a JSON text, a str or bytes, or of the file at a path, a str or path-like.

    A `ModelFileError`, which is a ValueError, says what is wrong with the text and where.
    """
    return read_checked(source, read_record, check_model)
