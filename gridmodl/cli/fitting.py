"""What ``gridmodl fit`` does: read what is needed, search, write."""

from __future__ import annotations

import json
import time
from importlib.util import find_spec
from typing import Any, NamedTuple

import click

from gridmodl.arguments import checked_jobs
from gridmodl.cli.asking import library_arguments, mark_of
from gridmodl.cli.console import Meter, Talk, visible
from gridmodl.cli.data.gathering import Reading, gathered
from gridmodl.cli.data.sources import Given, Source, check_present, open_source
from gridmodl.cli.data.texts import NULLS
from gridmodl.cli.failures import Failure, Interrupted
from gridmodl.cli.fit import Asked
from gridmodl.cli.memory import check_grid, limit_of, plan_each
from gridmodl.cli.outputs import STDOUT, replaced, write_text
from gridmodl.cli.parsing import listed, pairs
from gridmodl.cli.summaries import Found, facts_of, models_of, print_summary
from gridmodl.frames import ARRAYS
from gridmodl.model import Model
from gridmodl.models import Models
from gridmodl.pipeline import optimize, optimize_each

COMPILING = "search; the first one of a kind is compiled"
SKIPPED = "the search was interrupted before its turn came"


class Chosen(NamedTuple):
    """Columns of a source, by what they are for."""

    inputs: list[str]
    others: list[str]  # target and weights, where there are any


def fit_and_tell(asked: Asked, talk: Talk) -> None:
    """Read, search and write; that something is missing is said before the work begins."""
    if asked.html is not None and find_spec("vl_convert") is None:
        raise Failure('--html needs vl-convert-python: pip install "gridmodl[html]"')
    source = open_source(Given(asked.data, asked.format, asked.delimiter, asked.encoding, not asked.no_header))
    chosen = _chosen(source, asked)
    with talk.meter() as meter:
        found = (_each if asked.each else _one_grid)(source, chosen, asked, meter)
    _write(found, asked, talk)
    stopped = {model.stopped for model in models_of(found).values()}
    if isinstance(found, Models) and any(str(error) == SKIPPED for error in found.errors.values()):
        stopped.add("interrupted")
    where = f"; it is in {asked.output}" if asked.output not in (None, STDOUT) else ""
    if "interrupted" in stopped:
        raise Interrupted(f"interrupted: this is the best that was found so far{where}")
    if "time limit" in stopped:
        talk.say(f"gridmodl: the time limit stopped the search: this is the best that was found so far{where}")


def _chosen(source: Source, asked: Asked) -> Chosen:
    others = [name for name in (asked.target, asked.weights) if name is not None]
    for name, what in ((asked.target, "the target"), (asked.weights, "the weights")):
        check_present(source, [] if name is None else [name], what)
    columns, excluded = listed(asked.columns, source.names), listed(asked.exclude, source.names)
    check_present(source, columns, "which --columns names")
    check_present(source, excluded, "which --exclude names")
    for option, given in (("--kind", asked.kind), ("--special", asked.special)):
        check_present(source, list(pairs(given, option, "age=...")), f"which {option} names")
    inputs = [name for name in columns or source.names if name not in excluded and name not in others]
    if not inputs:
        raise Failure(f"no column is left to partition: {source.label} has {', '.join(map(repr, source.names[:10]))}")
    return Chosen(inputs, others)


def _reading(source: Source, asked: Asked, meter: Meter, expected: int | None) -> Reading:
    names = [name for name, kind in pairs(asked.kind, "--kind", "a=b").items() if kind == "categorical"]
    return Reading(
        nulls=asked.nulls or NULLS,
        as_text=names,
        n_rows=asked.sample,
        seed=asked.seed,
        tell=lambda n_rows: meter.reading(source.label, n_rows, expected),
    )


def _one_grid(source: Source, chosen: Chosen, asked: Asked, meter: Meter) -> Model:
    expected = _expected_rows(source, asked)
    jobs = 1 if asked.jobs is None else checked_jobs(asked.jobs)
    limit = limit_of(asked.memory_limit)
    check_grid(expected, len(chosen.inputs), jobs, limit, asked.target is not None)
    data = gathered(source, [*chosen.inputs, *chosen.others], _reading(source, asked, meter, source.n_rows))
    meter.waiting(COMPILING)
    arguments = library_arguments(asked, chosen.inputs)
    mark_of(asked, data, arguments)
    return optimize(data, asked.target, **arguments, n_jobs=jobs, progress=meter.searching)


def _each(source: Source, chosen: Chosen, asked: Asked, meter: Meter) -> Models:
    """Few columns at a time, if memory does not hold all; who interrupts has the models so far."""
    expected = _expected_rows(source, asked)
    jobs = checked_jobs(-1 if asked.jobs is None else asked.jobs)
    plan = plan_each(chosen.inputs, expected, jobs, limit_of(asked.memory_limit))
    reading = _reading(source, asked, meter, source.n_rows)
    others = gathered(source, chosen.others, reading) if len(plan.passes) > 1 else {}
    models, errors, left = dict[Any, Model](), dict[Any, Exception](), asked.time_limit
    try:
        for names in plan.passes:
            data = gathered(source, names if others else [*names, *chosen.others], reading) | others
            meter.waiting(COMPILING)
            begun = time.perf_counter()
            try:
                found = _models(data, names, asked, meter, left, plan.n_jobs)
            except (ValueError, TypeError) as error:
                if len(names) > 1 or len(plan.passes) == 1:  # of no column alone
                    raise
                errors[names[0]] = error
                continue
            models |= dict(found)
            errors |= found.errors
            left = None if left is None else max(0.0, left - (time.perf_counter() - begun))
            if any(model.stopped == "interrupted" for model in found.values()):
                break
    except KeyboardInterrupt:  # while the columns of the next pass were read
        if not models:
            raise
    if not models:
        raise next(iter(errors.values()))
    skipped = [name for name in chosen.inputs if name not in models and name not in errors]
    errors |= {name: ValueError(SKIPPED) for name in skipped}
    return Models(models, errors, ARRAYS)


def _models(
    data: dict[str, Any], names: list[str], asked: Asked, meter: Meter, time_limit: float | None, n_jobs: int
) -> Models:
    arguments = library_arguments(asked, names) | {"time_limit": time_limit, "n_jobs": n_jobs}
    mark_of(asked, data, arguments)
    return optimize_each(data, asked.target, **arguments, progress=meter.searching)


def _expected_rows(source: Source, asked: Asked) -> int | None:
    n_rows = source.n_rows
    return n_rows if n_rows is None or asked.sample is None else min(n_rows, asked.sample)


def _write(found: Found, asked: Asked, talk: Talk) -> None:
    if asked.output is not None:
        write_text(asked.output, found.to_json())
    if asked.html is not None:
        with replaced(asked.html) as beside:
            found.to_html(beside)
    if asked.as_json:
        facts = facts_of(found) | {"output": asked.output, "html": asked.html}
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    elif asked.output != STDOUT and not asked.quiet:
        print_summary(found, talk)
    for path in (asked.output, asked.html):
        if path not in (None, STDOUT):
            talk.say(f"written: {visible(str(path))}")
