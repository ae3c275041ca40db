"""What a criterion class must declare for searches to use it, checked as it is written, before anything is priced."""

from __future__ import annotations

import inspect
import keyword
from typing import Any

from gridmodl.spelling import did_you_mean, meant_by
from gridmodl.terms import CORE_FIELDS, FLOORS, PROBLEMS, TERMS, Criterion, floor, part

LOOKS_LIKE = 0.75  # share of letters that a misspelt term has in common with the right one, as `gird` with `grid`


def problem_with_class(cls: Any) -> str | None:
    """What is wrong with a criterion class as written, in words, or None."""
    if not (isinstance(cls, type) and issubclass(cls, Criterion)):
        return f"{cls!r} is not a subclass of gridmodl.Criterion"
    misspelt = _misspelt(cls)
    if misspelt:
        return misspelt
    name, problems = getattr(cls, "name", None), getattr(cls, "problems", None)
    if not isinstance(name, str) or not name:
        return f"{cls.__name__} has no `name`"
    if not isinstance(problems, (set, frozenset)) or not problems or not problems <= set(PROBLEMS):
        given = problems if isinstance(problems, (set, frozenset, list, tuple)) else [problems]
        near = "".join(did_you_mean(problem, PROBLEMS) for problem in given if problem not in list(PROBLEMS))
        return f"criterion {name!r} declares problems {problems!r}; known: {', '.join(PROBLEMS)}{near}"
    names = [*CORE_FIELDS, *cls.options, *cls.constants, *cls.unread]
    for field in names:
        if not field.isidentifier() or field.startswith("_") or keyword.iskeyword(field) or names.count(field) > 1:
            return f"criterion {name!r} declares {field!r}, which is taken or no name; p has {', '.join(CORE_FIELDS)}"
    for term in (*TERMS, *FLOORS):
        written = inspect.getattr_static(cls, term.__name__)
        what = "term" if term in TERMS else "function"
        if not isinstance(written, staticmethod):
            return f"{what} {term.__name__!r} of criterion {name!r} must be a @staticmethod"
        if not inspect.isfunction(written.__func__):
            return f"{what} {term.__name__!r} of criterion {name!r} must be a plain function, got {written.__func__!r}"
        wanted, given = (list(inspect.signature(f).parameters) for f in (term, written.__func__))
        if len(wanted) != len(given):
            return (
                f"{what} {term.__name__!r} of criterion {name!r} takes {len(given)} arguments ({', '.join(given)}); "
                f"it must take {len(wanted)} ({', '.join(wanted)})"
            )
    wrong = _problem_with_floors(cls)
    if wrong is None and all(getattr(cls, term.__name__) is term for term in TERMS):
        terms = ", ".join(term.__name__ for term in TERMS)
        return f"criterion {name!r} has no term, so that every partition would cost 0; write one of {terms} or more"
    return wrong


def _misspelt(cls: type[Criterion]) -> str | None:
    """What looks like a term or a declaration and is none: searches would not see it. None if there is no such thing.

    Names that begin with an underscore, or are not like any known one, are the author's own.
    """
    known = [name for name in vars(Criterion) if not name.startswith("_")] + ["name", "problems"]
    for written in (base for base in cls.__mro__ if base not in Criterion.__mro__):
        for name in vars(written):
            near = [] if name.startswith("_") or name in known else meant_by(name, known, LOOKS_LIKE)
            if near:
                return (
                    f"{cls.__name__} has {name!r}, which no search knows; did you mean {near[0]!r}? If it is a helper, "
                    f"call it _{name}"
                )
    return None


def _problem_with_floors(cls: type[Criterion]) -> str | None:
    """What keeps searches from using the floors that a criterion offers, or None."""
    offered = [f"{free.__name__!r}" for free in FLOORS if getattr(cls, free.__name__) is not free]
    if offered and cls.floor is floor:
        return (
            f"criterion {cls.name!r} has {' and '.join(offered)} but no 'floor', without which no search uses them; "
            "write a floor, or leave them out"
        )
    if offered and cls.part is not part:
        return (
            f"criterion {cls.name!r} has {' and '.join(offered)}, which no search uses as it prices parts too; "
            "leave these out, or 'part'"
        )
    return None
