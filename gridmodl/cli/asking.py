"""Options of the command line as arguments of the library."""

from __future__ import annotations

from typing import Any

import click

from gridmodl.arguments import check_seed, checked_jobs, checked_options, checked_time
from gridmodl.cli.data.texts import NULLS
from gridmodl.cli.failures import near
from gridmodl.cli.fit import Asked
from gridmodl.cli.parsing import codes_of, pairs, value_of
from gridmodl.encode import KINDS
from gridmodl.plugins import get_criterion, list_criteria
from gridmodl.search import Search
from gridmodl.terms import Criterion


def library_arguments(asked: Asked, names: list[str]) -> dict[str, Any]:
    """What `optimize` and `optimize_each` take, of the columns `names`."""
    kinds = pairs(asked.kind, "--kind", "code=categorical")
    special = pairs(asked.special, "--special", "age=-999,-1")
    for name, kind in kinds.items():
        if kind not in KINDS:
            raise click.UsageError(f"--kind {name}={kind} must be {' or '.join(KINDS)}")
    return {
        "criterion": _criterion_of(asked.criterion, asked.option),
        "search": Search(asked.search) if asked.effort is None else Search(asked.search, effort=asked.effort),
        "weights": asked.weights,
        "kinds": {name: kind for name, kind in kinds.items() if name in names},
        "special": {name: codes_of(codes, name) for name, codes in special.items() if name in names},
        "target_kind": asked.target_kind,
        "placement": asked.placement,
        "monotone": asked.monotone,
        "max_parts": asked.max_parts,
        "min_rows": asked.min_rows,
        "time_limit": asked.time_limit,
        "random_state": asked.seed,
    }


def check_arguments(asked: Asked, names: list[str]) -> None:
    """What the library would refuse, said before the data is read."""
    given = library_arguments(asked, names)
    what = ("criterion", "search", "kinds", "special", "monotone", "max_parts", "min_rows")
    checked_options(*(given[name] for name in what))
    checked_time(asked.time_limit)
    check_seed(asked.seed)
    if asked.jobs is not None:
        checked_jobs(asked.jobs)


def _criterion_of(name: str, given: tuple[str, ...]) -> Criterion:
    known = list_criteria()
    if name not in known:
        raise click.UsageError(f"gridmodl has no criterion {name!r}; {near(name, known)}")
    options = pairs(given, "--option", "alpha=0.7")
    return get_criterion(name, **{key: value_of(text) for key, text in options.items()})


def mark_of(asked: Asked, data: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Add what marks rows without a class, in the type of the target."""
    if asked.unlabelled is None or asked.target is None:
        if asked.unlabelled is not None:
            raise click.UsageError("--unlabelled marks rows of the target; give --target")
        return
    kind = str(data[asked.target].type)
    if asked.unlabelled in (asked.nulls or NULLS):
        arguments["unlabelled"] = None
    elif kind.startswith(("int", "uint", "float", "double", "bool", "decimal")):
        arguments["unlabelled"] = value_of(asked.unlabelled)
    else:
        arguments["unlabelled"] = asked.unlabelled
