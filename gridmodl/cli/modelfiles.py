"""Model files, of one model or of many."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from gridmodl.cli.data.streams import STDIN, label_of
from gridmodl.cli.failures import Failure
from gridmodl.cli.summaries import Found
from gridmodl.model import Model
from gridmodl.modelfile import ModelFileError
from gridmodl.modelfile.files import parse_json, text_of
from gridmodl.models import Models

READERS: dict[str, Callable[[str], Found]] = {"gridmodl model": Model.from_json, "gridmodl models": Models.from_json}


def read_found(path: str) -> Found:
    """The model, or the models of many columns, of a file; ``-`` is standard input."""
    try:
        text = text_of(sys.stdin.buffer.read() if path == STDIN else Path(path))
        record = parse_json(text)
        kind = record.get("format") if isinstance(record, dict) else None
        if not isinstance(kind, str) or kind not in READERS:
            made = f"its format is {kind!r}" if isinstance(kind, str) else "it has no format"
            raise Failure(f"{label_of(path)} is no model that gridmodl fit has written: {made}")
        return READERS[kind](text)
    except ModelFileError as error:
        raise Failure(f"{label_of(path)} is no model: {error}") from error
