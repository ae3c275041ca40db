"""What the docstring of a public name says, and what its object has: the two must be the same."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from typing import Any


def section(doc: str, title: str) -> dict[str, str]:
    """The names of a section of numpydoc, each with what is said of it."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", doc, re.DOTALL | re.MULTILINE)
    entries: dict[str, str] = {}
    for head, text in re.findall(
        r"^(\S[^\n]*)(?:\n|\Z)((?:[ \t]+[^\n]*\n?|\n)*)", found[1] if found else "", re.MULTILINE
    ):
        for name in head.split(" : ")[0].split(","):
            entries[name.strip().lstrip("*")] = text.strip()
    return entries


def wrong_with_function(function: Any) -> Iterator[str]:
    """A list of parameters must be complete; without one, the text names each of them."""
    doc = inspect.getdoc(function) or ""
    if not doc:
        yield "has no docstring"
    has = [name for name in inspect.signature(function).parameters if name not in ("self", "cls", "p")]
    listed = section(doc, "Parameters")
    if listed:
        yield from (f"lists {name!r}, which is no parameter" for name in listed if name not in has)
        yield from (f"says nothing of {name!r}" for name in has if name not in listed)
    else:
        yield from (f"does not name {name!r}" for name in has if not re.search(rf"`{name}`", doc))


def wrong_with_class(cls: type) -> Iterator[str]:
    """Its parameters, or the fields of what nobody but the library makes; and each public method."""
    doc = inspect.cleandoc(cls.__doc__ or "")
    if not doc:
        yield "has no docstring"
    told = {*section(doc, "Attributes"), *re.findall(r"^\s+(\w+): .*#: ", _source(cls), re.MULTILINE)}
    if section(doc, "Parameters"):
        told |= set(section(doc, "Parameters"))
        yield from (f"lists {name!r}, which is no parameter" for name in _unknown(cls, section(doc, "Parameters")))
    yield from (f"says nothing of {name!r}" for name in _fields(cls) if name not in told)
    for name, member in _members(cls):
        plain = inspect.unwrap(member) if callable(member) else member
        if isinstance(plain, property):
            if name not in told and not inspect.getdoc(plain):
                yield f"says nothing of {name!r}"
        else:
            yield from (f".{name} {wrong}" for wrong in wrong_with_function(plain))


def _fields(cls: type) -> list[str]:
    """What it is made of: parameters of what users make, fields of records."""
    if dataclasses.is_dataclass(cls):
        return [field.name for field in dataclasses.fields(cls) if not field.name.startswith("_")]
    if issubclass(cls, tuple):
        return list(getattr(cls, "_fields", ()))
    if section(inspect.cleandoc(cls.__doc__ or ""), "Parameters"):
        return list(inspect.signature(cls).parameters)
    return []


def _unknown(cls: type, listed: dict[str, str]) -> list[str]:
    return [name for name in listed if name not in inspect.signature(cls).parameters]


def _source(cls: type) -> str:
    return "\n".join(inspect.getsource(one) for one in cls.__mro__ if one.__module__.startswith("gridmodl"))


def _members(cls: type) -> list[tuple[str, Any]]:
    """Public methods and properties that are the library's own, inherited ones too."""
    found: dict[str, Any] = {}
    for one in cls.__mro__:
        if one.__module__.startswith("gridmodl"):
            for name, member in vars(one).items():
                found.setdefault(name, member)
    plain = {name: getattr(member, "__func__", member) for name, member in found.items()}  # of static and class methods
    return [
        (name, member)
        for name, member in plain.items()
        if not name.startswith("_")
        and (isinstance(member, property) or (inspect.isfunction(member) and member.__module__.startswith("gridmodl")))
    ]
