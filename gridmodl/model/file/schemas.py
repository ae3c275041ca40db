"""The JSON Schemas of model files: one for each format and version, as package data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from gridmodl.spelling import check_choice

VERSIONS = {"model": (1, 2, 3, 4, 5), "models": (1, 5), "density": (1, 5)}
IDENTIFIER = "urn:gridmodl:schema:"


def json_schema(kind: str = "model", version: int | None = None) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a kind of file; the schemas that it refers to are in its ``$defs``.

    A text that the schema refuses is refused by the reader too. The reader checks more: that counts add up, bounds
    ascend, and no part of a file contradicts another.

    Parameters
    ----------
    kind : {"model", "models", "density"}
        Of a file of `Model.to_json`, `Models.to_json` or `DensityModel.to_json`.
    version : int, optional
        The version of the format, as the field ``version`` of a file says; by default the one that is written.

    Examples
    --------
    >>> import gridmodl
    >>> schema = gridmodl.json_schema("model", version=1)
    >>> schema["$id"]
    'urn:gridmodl:schema:model:1'
    """
    check_choice("kind", kind, tuple(VERSIONS))
    known = VERSIONS[kind]
    if version is not None and (type(version) is not int or version not in known):
        raise ValueError(f"version must be one of {', '.join(map(str, known))} for kind {kind!r}, got {version!r}")
    schema = _stored(f"{IDENTIFIER}{kind}:{known[-1] if version is None else version}")
    others = {name: _stored(name) for name in sorted(_all_names_in(schema))}
    return {**schema, "$defs": {**schema.get("$defs", {}), **others}}


def _stored(identifier: str) -> dict[str, Any]:
    """Read the schema of an identifier, which gives the name of its file."""
    name = identifier.removeprefix(IDENTIFIER).replace(":", "-")
    schema: dict[str, Any] = json.loads(files("gridmodl.model.file").joinpath("schema", f"{name}.json").read_bytes())
    return schema


def _all_names_in(schema: dict[str, Any]) -> set[str]:
    """The identifiers of all other schemas that `schema` refers to, directly or through others."""
    found: set[str] = set()
    waiting = [schema]
    while waiting:
        new = set(_names_in(waiting.pop())) - found - {schema["$id"]}
        found |= new
        waiting += [_stored(name) for name in new]
    return found


def _names_in(given: Any) -> Iterator[str]:
    if isinstance(given, dict):
        name, _, _ = str(given.get("$ref", "")).partition("#")
        if name:
            yield name
    children = given.values() if isinstance(given, dict) else given if isinstance(given, list) else ()
    for child in children:
        yield from _names_in(child)
