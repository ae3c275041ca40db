"""What ``gridmodl fit`` does: read what is needed, search, write."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import NamedTuple

import click

from gridmodl.arguments import checked_jobs
from gridmodl.cli.asking import check_arguments, library_arguments, mark_of
from gridmodl.cli.console import Talk, visible
from gridmodl.cli.data.gathering import Reading, gathered
from gridmodl.cli.data.sources import Given, Source, check_present, open_source
from gridmodl.cli.data.texts import NULLS
from gridmodl.cli.failures import Failure, Interrupted
from gridmodl.cli.fit import Asked
from gridmodl.cli.memory import check_grid, limit_of
from gridmodl.cli.outputs import STDOUT, write_text
from gridmodl.cli.parsing import listed, pairs
from gridmodl.cli.passes import Passes, is_interrupted
from gridmodl.cli.summaries import Found, facts_of, models_of, print_summary
from gridmodl.decisions import JOINT_COLUMNS
from gridmodl.model import Model
from gridmodl.models import Models
from gridmodl.pipeline import optimize


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
    check_arguments(asked, chosen.inputs)
    try:
        found = (_each if asked.each else _one_grid)(source, chosen, asked, talk)
    except KeyboardInterrupt:
        raise Interrupted("interrupted before anything was found; nothing was written") from None
    _write(found, asked, talk)
    where = f"; it is in {asked.output}" if asked.output not in (None, STDOUT) else ""
    if is_interrupted(found):
        raise Interrupted(f"interrupted: this is the best that was found so far{where}")
    if any(model.stopped == "time limit" for model in models_of(found).values()):
        talk.say(f"gridmodl: the time limit stopped the search: this is the best that was found so far{where}")


def _chosen(source: Source, asked: Asked) -> Chosen:
    others = [name for name in (asked.target, asked.weights) if name is not None]
    for name, what in ((asked.target, "the target"), (asked.weights, "the weights")):
        check_present(source, [] if name is None else [name], what)
    columns, excluded = listed(asked.columns, source.names), listed(asked.exclude, source.names)
    check_present(source, columns, "which --columns names")
    check_present(source, excluded, "which --exclude names")
    inputs = [name for name in columns or source.names if name not in excluded and name not in others]
    if not inputs:
        raise Failure(f"no column is left to partition: {source.label} has {', '.join(map(repr, source.names[:10]))}")
    for option, given in (("--kind", asked.kind), ("--special", asked.special)):
        named = list(pairs(given, option, "age=..."))
        check_present(source, named, f"which {option} names")
        for name in named:
            if name not in inputs:
                raise Failure(f"{option} names column {name!r}, which is no input: the target, weights, or left out")
    return Chosen(inputs, others)


def _reading(asked: Asked) -> Reading:
    names = [name for name, kind in pairs(asked.kind, "--kind", "a=b").items() if kind == "categorical"]
    return Reading(
        nulls=asked.nulls or NULLS,
        as_text=names,
        n_rows=asked.sample,
        seed=asked.seed,
    )


def _one_grid(source: Source, chosen: Chosen, asked: Asked, talk: Talk) -> Model:
    jobs = 1 if asked.jobs is None else checked_jobs(asked.jobs)
    n_rows = _expected_rows(source, asked)
    if asked.target is None and len(chosen.inputs) > JOINT_COLUMNS:
        raise Failure(
            f"{source.label} has {len(chosen.inputs)} columns to partition and no --target is given; a joint grid is "
            f"for {JOINT_COLUMNS} columns at most. Choose some with --columns, or give a target. Counts by row and "
            "column are a table of three columns: row, column and, as --weights, the count"
        )
    check_grid(n_rows, len(chosen.inputs), jobs, limit_of(asked.memory_limit), asked.target is not None)
    with talk.reading(source.label, source.n_rows) as tell:
        data = gathered(source, [*chosen.inputs, *chosen.others], _reading(asked)._replace(tell=tell))
    arguments = library_arguments(asked, chosen.inputs)
    mark_of(asked, data, arguments)
    return optimize(data, asked.target, **arguments, n_jobs=jobs, progress=not talk.quiet)


def _each(source: Source, chosen: Chosen, asked: Asked, talk: Talk) -> Models:
    passes = Passes(source, chosen.others, asked, talk, _reading(asked))
    return passes.run(chosen.inputs, _expected_rows(source, asked))


def _expected_rows(source: Source, asked: Asked) -> int | None:
    n_rows = source.n_rows
    return n_rows if n_rows is None or asked.sample is None else min(n_rows, asked.sample)


def _write(found: Found, asked: Asked, talk: Talk) -> None:
    if asked.output is not None:
        write_text(asked.output, found.to_json())
    if asked.html is not None:
        write_text(asked.html, found.to_html())
    if asked.as_json:
        facts = facts_of(found) | {"output": asked.output, "html": asked.html}
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    elif asked.output != STDOUT and not asked.quiet:
        print_summary(found, talk)
    for path in (asked.output, asked.html):
        if path not in (None, STDOUT):
            talk.say(f"written: {visible(str(path))}")
