"""Models as JSON text, written and read: `Model.to_json` and `Model.from_json`.

A model is checked by the same rules when it is written and when it is read, so no file is written that cannot be read.
"""

from __future__ import annotations

import os
from pathlib import Path

from gridmodl.model import Model
from gridmodl.modelfile.checks import check_model
from gridmodl.modelfile.files import replace_file, text_of
from gridmodl.modelfile.records import model_record, read_record
from gridmodl.modelfile.tags import KNOWN_TAGS
from gridmodl.modelfile.text import ModelFileError, parse_json, render_json
from gridmodl.modelfile.values import TAGS

__all__ = ["ModelFileError", "read_model", "write_model"]

TAGS.update(KNOWN_TAGS)


def write_model(model: Model, path: str | os.PathLike[str] | None = None) -> str:
    """The model as a JSON text, also written to the file `path` if that is given; the data is not in it.

    A file is replaced at once or not at all. ValueError or TypeError if the model is one that could not be read back.
    """
    check_model(model)
    text = render_json(model_record(model)) + "\n"
    if path is not None:
        replace_file(Path(path), text)
    return text


def read_model(source: str | bytes | os.PathLike[str]) -> Model:
    """The model of a JSON text, a str or bytes, or of a file, a `pathlib.Path`.

    A `ModelFileError`, which is a ValueError, says what is wrong with the text and where.
    """
    record = parse_json(text_of(source))
    try:
        model = read_record(record)
        check_model(model)
    except RecursionError as error:
        raise ModelFileError("the text is nested too deeply to be a model") from error
    return model
