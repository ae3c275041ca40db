"""Sentences on a term that fails: the cause first, said once, and what the author may write instead."""

from __future__ import annotations

import re
from pathlib import Path
from traceback import walk_tb
from typing import Any

from gridmodl.jit.digest import TermError
from gridmodl.spelling import did_you_mean
from gridmodl.terms import CORE_FIELDS, FUNCTIONS, Cell, Criterion, Params, Part, Problem, Shape, Variable, Walk

RECORDS = {record.__name__: record for record in (Cell, Part, Problem, Shape, Variable, Walk)}
GONE = {  # fields of earlier versions, and what to write in their place
    name: (
        f"; a variable has no {name} any more: return what the criterion needs of it from "
        "variable_facts(self, problem, variable, value_rows) and read variable.constant and variable.by_parts[i]"
    )
    for name in ("log_groupings", "log_value_factorials")
}
UNKNOWN_FIELD = re.compile(r"Unknown attribute '(\w+)' of type (\w+)")
PIPELINE = re.compile(r"^Failed in \w+ mode pipeline.*\n", re.MULTILINE)  # once for each function around the cause
SIGNATURE = re.compile(r"^ *>>> (.*)$", re.MULTILINE)
PLACE = re.compile(r'^File "([^"]+)", line (\d+):\n((?:.*\n)*?) *\^', re.MULTILINE)


def failure(what: str, error: BaseException) -> TermError:
    """The error of ``what``, such as ``term 'cell' of criterion 'bic'``, which raised `error`."""
    text = str(error)
    if isinstance(error, TypeError) and what.partition(" of ")[2] in text:  # a sentence of gridmodl's own
        return TermError(text)
    record = getattr(error, "obj", None)
    if isinstance(error, AttributeError) and isinstance(record, tuple) and hasattr(record, "_fields"):
        known = record.own._fields if isinstance(record, Params) else record._fields
        return TermError(f"{what} {_unknown_field(type(record), str(error.name), known)}")
    if isinstance(error, TypeError) and "builtin_function_or_method" in text:  # of cell.count[0]
        text += "; records have methods `count` and `index`, as tuples have: the rows of the classes are cell.counts"
    if isinstance(error, IndexError) and what.startswith("term 'cell'"):
        text += "; a criterion that needs a number of classes declares it: class_roles = 2"
    return TermError(f"{what} failed: {type(error).__name__}: {text}")


def run_failure(criterion: type[Criterion], kernel: Any, error: BaseException) -> TermError:
    """The error of a kernel that ran as plain Python, blamed on the term that raised it if one did."""
    if isinstance(error, TermError):
        return error
    terms = {getattr(criterion, term.__name__).__code__: term.__name__ for term in FUNCTIONS}
    called = (frame.f_code for frame, _ in walk_tb(error.__traceback__))
    name = next((terms[code] for code in called if code in terms), None)
    return failure(f"{f'term {name!r}' if name else kernel.__name__} of criterion {criterion.name!r}", error)


def compile_failure(criterion: type[Criterion], error: BaseException) -> TermError:
    """The error of a criterion that numba cannot compile: its cause, without the calls that led there."""
    text = PIPELINE.sub("", str(error)).strip()
    cause = text.partition("\n")[0].partition(", defined at ")[0].strip()
    place, signature = PLACE.search(text), SIGNATURE.search(text)
    field = UNKNOWN_FIELD.search(cause)
    says = f"criterion {criterion.name!r} does not compile: {cause.removesuffix(':')}"
    if field is not None and (field[2] == "Fields" or field[2] in RECORDS):
        record = RECORDS.get(field[2])
        own = (*CORE_FIELDS, *sorted([*criterion.options, *criterion.constants, *criterion.unread]))
        says = f"criterion {criterion.name!r} {_unknown_field(record, field[1], record._fields if record else own)}"
    elif signature is not None and "found for signature" in cause:
        says += f" {signature[1].strip()}"
    if place is not None:
        source = place[3].rstrip("\n").rpartition("\n")[2].strip()
        says += f" ({Path(place[1]).name}, line {place[2]}: {source})"
    rule = "its terms may use numbers, tuples, arrays, `math`, and functions made of these"
    return TermError(says if field is not None else f"{says}; {rule}")


def _unknown_field(record: Any, name: str, fields: tuple[str, ...]) -> str:
    """What was read of a `record` of these fields, which it has not, and what it has; p if the record is None."""
    is_p = record is None or record is Params
    shown = "p" if is_p else record.__name__.lower()
    more = [] if is_p else [key for key, value in vars(record).items() if isinstance(value, property)]
    known = [*fields, *more]
    if name in GONE and record is Variable:
        return f"reads variable.{name}{GONE[name]}"
    return f"reads {shown}.{name}; {shown} has {', '.join(known)}{did_you_mean(name, known)}"
