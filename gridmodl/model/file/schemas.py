"""JSON Schemas of model files, one per format and version, stored as package data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from gridmodl.spelling import check_choice

VERSIONS = {
    "model": (1, 2, 3, 4, 5, 6),
    "models": (1, 5, 6),
    "density": (1, 5, 6),
    "average": (6,),
    "averages": (6,),
    "evidence": (6,),
    "scorecard": (6,),
}
IDENTIFIER = "urn:gridmodl:schema:"


def json_schema(kind: str = "model", version: int | None = None) -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a kind of file; the schemas that it refers to are in its ``$defs``.

    The reader refuses every text that the schema refuses, and checks more: that counts add up, bounds ascend, and no
    field contradicts another.

    Parameters
    ----------
    kind : {"model", "models", "density", "average", "averages", "evidence", "scorecard"}
        Kind of file: of `Model.to_json`, `Models.to_json`, `DensityModel.to_json`, `Average.to_json`,
        `Averages.to_json`, `WeightedEvidence.to_json` or `Scorecard.to_json`.
    version : int, optional
        Version of the format, the field ``version`` of a file; by default the version that is written.

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
    """Identifiers of all other schemas that `schema` refers to, directly or through others."""
    found: set[str] = set()
    waiting = [schema]
    while waiting:
        new = set(_names_in(waiting.pop())) - found - {schema["$id"]}
        found |= new
        waiting += [_stored(name) for name in new]
    return found


def _names_in(node: Any) -> Iterator[str]:
    """Identifiers of the schemas that `node`, a part of a schema, refers to."""
    if isinstance(node, dict):
        name, _, _ = str(node.get("$ref", "")).partition("#")
        if name:
            yield name
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for child in children:
        yield from _names_in(child)
