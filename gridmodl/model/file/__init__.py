"""Write and read models as JSON text: `Model.to_json` and `Model.from_json`.

The same rules check a model when it is written and when it is read, so every written file can be read.
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
    """JSON text of the model, without its data; also written to the file `path` unless None.

    An existing file is replaced as a whole or not at all. Raise ValueError or TypeError if the model could not be read
    back.
    """
    return write_checked(model, check_model, model_record, path)


def read_model(source: str | bytes | os.PathLike[str]) -> Model:
    """Read a model from a JSON text (str or bytes) or from a file (str or path-like).

    Raise `ModelFileError`, a ValueError, which says what is wrong with the text, and where.
    """
    return read_checked(source, read_record, check_model)
