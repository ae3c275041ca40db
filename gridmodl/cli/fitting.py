"""Run ``gridmodl fit`` and ``gridmodl average``: read the columns, search or average, write."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import click

from gridmodl.averaging.fit import average_each
from gridmodl.cli.fit import AverageSettings, FitSettings
from gridmodl.cli.messages import Failure, Interrupted, Messages, suggest, visible
from gridmodl.cli.modelfiles import facts_of, facts_of_averages, models_of, print_summary
from gridmodl.cli.options import codes_of, fields, limits_of, listed, pairs, value_of
from gridmodl.cli.outputs import STDOUT, write_text
from gridmodl.cli.reading.columns import ReadSettings, read_columns
from gridmodl.cli.reading.counted import CountedFrame, countable_names, counted_frame
from gridmodl.cli.reading.engine import (
    EngineLimits,
    Plan,
    check_grid,
    connected,
    has_room,
    holds_column,
    holds_grid,
    is_counted,
    limit_of,
    plan_each,
)
from gridmodl.cli.reading.sources import Source, check_present, data_file, open_source
from gridmodl.cli.reading.texts import NULLS
from gridmodl.cli.scorecard.command import ScorecardSettings
from gridmodl.data.columns import KINDS, kind_of
from gridmodl.data.frames import ARRAYS, read_column
from gridmodl.fit.build import JOINT_COLUMNS
from gridmodl.fit.options import ColumnOptions, check_seed, checked_jobs, checked_options, checked_time
from gridmodl.model.model import Model
from gridmodl.model.models import Models
from gridmodl.pipeline import optimize, optimize_each
from gridmodl.plugins import get_criterion, list_criteria
from gridmodl.search import Search
from gridmodl.terms import Criterion

AnySettings = FitSettings | AverageSettings | ScorecardSettings
SKIPPED = "the search was interrupted before its turn came"


class ColumnRoles(NamedTuple):
    """Columns of a source by their role."""

    inputs: list[str]
    others: list[str]  # target, weights and periods, if the user names them


def run_fit(settings: FitSettings, messages: Messages) -> None:
    """Read, search and write; settings that can be checked without the data are checked first."""
    source = open_source(data_file(settings))
    roles = column_roles(source, settings)
    check_arguments(settings, roles.inputs)
    try:
        found = (_each if settings.each else _one_grid)(source, roles, settings, messages)
    except KeyboardInterrupt:
        raise Interrupted("interrupted before anything was found; nothing was written") from None
    summary = partial(print_summary, found, messages)
    write_result(Result(found.to_json, found.to_html, partial(facts_of, found), summary), settings, messages)
    where = f"; it is in {settings.output}" if settings.output not in (None, STDOUT) else ""
    if is_interrupted(found):
        raise Interrupted(f"interrupted: this is the best result so far{where}")
    if any(model.stopped == "time limit" for model in models_of(found).values()):
        messages.say(f"gridmodl: the time limit stopped the search: this is the best result so far{where}")


def column_roles(source: Source, settings: AnySettings) -> ColumnRoles:
    roles = {"the target": settings.target, "the weights": settings.weights}
    roles["the periods"] = getattr(settings, "stable_over", None)  # averages have none
    others = [name for name in roles.values() if name is not None]
    for what, name in roles.items():
        check_present(source, [] if name is None else [name], what)
    columns, excluded = listed(settings.columns, source.names), listed(settings.exclude, source.names)
    check_present(source, columns, "which --columns names")
    check_present(source, excluded, "which --exclude names")
    inputs = [name for name in columns or source.names if name not in excluded and name not in others]
    if not inputs:
        raise Failure(f"no column is left to partition: {source.label} has {', '.join(map(repr, source.names[:10]))}")
    by_column = {option: pairs(texts, option, "age=...") for option, texts in
                 (("--kind", settings.kind), ("--order", settings.order), ("--special", settings.special))}  # fmt: skip
    in_file = [given for given in limits_of(settings.limits).values() if isinstance(given, dict)]
    by_column[f"--limits {settings.limits}"] = {name: "" for given in in_file for name in given}
    for option, named in by_column.items():
        check_present(source, list(named), f"which {option} names")
        for name in named:
            if name not in inputs:
                raise Failure(
                    f"{option} names column {name!r}, which is no input: the target, weights, periods, or left out"
                )
    return ColumnRoles(inputs, others)


def read_settings(settings: AnySettings) -> ReadSettings:
    names = [name for name, kind in pairs(settings.kind, "--kind", "a=b").items() if kind == "categorical"]
    return ReadSettings(
        nulls=settings.nulls or NULLS,
        as_text=[*names, *pairs(settings.order, "--order", "a=b,c")],
        n_rows=settings.sample,
        seed=settings.seed,
    )


def _one_grid(source: Source, roles: ColumnRoles, settings: FitSettings, messages: Messages) -> Model:
    jobs = 1 if settings.jobs is None else checked_jobs(settings.jobs)
    n_rows = _expected_rows(source, settings)
    if settings.target is None and len(roles.inputs) > JOINT_COLUMNS:
        raise Failure(
            f"{source.label} has {len(roles.inputs)} columns to partition and no --target is given; a joint grid is "
            f"for {JOINT_COLUMNS} columns at most. Choose some with --columns, or give a target. Counts by row and "
            "column are a table of three columns: row, column and, as --weights, the count"
        )
    with contextlib.ExitStack() as stack:
        frame = None
        n_inputs, limit = len(roles.inputs), limit_of(settings.memory_limit)
        is_large = not holds_grid(n_rows, n_inputs, jobs, limit) and has_room(settings.memory_limit)
        if n_inputs == 1 or is_large:
            frame = _counted_frame(source, roles, settings, messages, stack, is_large)
        if frame is not None and not set(roles.inputs) <= set(frame.types):
            frame = None
        if frame is None:
            check_grid(n_rows, n_inputs, jobs, limit, settings.target is not None)
            with messages.reading(source.label, source.n_rows) as tell:
                reading = read_settings(settings)._replace(tell=tell)
                types = data = read_columns(source, [*roles.inputs, *roles.others], reading)
        else:
            data, types = frame
        arguments = typed_arguments(settings, roles.inputs, types)
        found = optimize(data, settings.target, **arguments, n_jobs=jobs, progress=not messages.quiet)
        return found if frame is None else replace(found, frame=ARRAYS)


def _counted_frame(
    source: Source, roles: ColumnRoles, settings: FitSettings, messages: Messages, stack: Any, is_large: bool = False
) -> CountedFrame | None:
    """Columns that DuckDB counts, until `stack` ends, with target and weights; None to read all into memory.

    A table that `is_large` is counted whatever its number of rows.
    """
    is_of_rows = settings.target is None or settings.placement == "median" or settings.sample is not None
    if is_of_rows or not (is_large or is_counted(source.n_rows, settings.memory_limit)):
        return None
    counted = countable_names(source, [*roles.others, *roles.inputs])
    if not set(roles.others) <= set(counted) or len(counted) == len(roles.others):
        return None
    threads = None if settings.jobs is None else checked_jobs(settings.jobs)
    connection = stack.enter_context(connected(EngineLimits(settings.memory_limit, threads)))
    with messages.reading(source.label, source.n_rows) as tell:
        frame = counted_frame(source, counted, read_settings(settings)._replace(tell=tell), connection)
    if not set(roles.others) < set(frame.types) or _is_held(frame.types[str(settings.target)].type, source, settings):
        return None
    return frame


def _is_held(target: Any, source: Source, settings: FitSettings) -> bool:
    """Whether a target of quantities is searched in memory: counts of many values do not tell its parts."""
    is_number = str(target).startswith(("float", "double", "decimal")) or settings.target_kind == "numerical"
    return (
        is_number and settings.target_kind in (None, "numerical") and holds_column(source.n_rows, settings.memory_limit)
    )


def _each(source: Source, roles: ColumnRoles, settings: FitSettings, messages: Messages) -> Models:
    passes = ColumnPasses(source, roles, settings, messages, read_settings(settings))
    return passes.run(roles.inputs, _expected_rows(source, settings))


def _expected_rows(source: Source, settings: FitSettings) -> int | None:
    n_rows = source.n_rows
    return n_rows if n_rows is None or settings.sample is None else min(n_rows, settings.sample)


class Result(NamedTuple):
    """Result of a command, as functions that make its texts; `summary` returns None if it prints itself."""

    to_json: Callable[[], str]
    to_html: Callable[[], str]
    facts: Callable[[], dict[str, Any]]
    summary: Callable[[], str | None]


def write_result(result: Result, settings: AnySettings, messages: Messages) -> None:
    """Write the files that the user asked for, print the summary or its facts, and say what was written."""
    if settings.output is not None:
        write_text(settings.output, result.to_json())
    if settings.html is not None:
        write_text(settings.html, result.to_html())
    if settings.as_json:
        facts = result.facts() | {"output": settings.output, "html": settings.html}
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    elif settings.output != STDOUT and not settings.quiet:
        text = result.summary()
        if text is not None:
            click.echo(visible(text))
    for path in (settings.output, settings.html):
        if path not in (None, STDOUT):
            messages.say(f"written: {visible(str(path))}")


def library_arguments(settings: FitSettings, names: list[str]) -> dict[str, Any]:
    """Arguments of `optimize` and `optimize_each` for the input columns `names`."""
    effort: dict[str, Any] = {} if settings.effort is None else {"effort": settings.effort}
    arguments = {
        "criterion": criterion_of(settings.criterion, settings.option),
        "search": Search(settings.search, **effort),
        "weights": settings.weights,
        **column_arguments(settings, names),
        "target_kind": settings.target_kind,
        "placement": settings.placement,
        "missing": settings.missing,
        "monotone": settings.monotone,
        "max_parts": settings.max_parts,
        "min_rows": settings.min_rows,
        "min_events": settings.min_events,
        "min_difference": settings.min_difference,
        "stable_over": settings.stable_over,
        "min_period_rows": settings.min_period_rows,
        "time_limit": settings.time_limit,
        "random_state": settings.seed,
    }
    for option, given in limits_of(settings.limits).items():
        if arguments.get(option):
            raise click.UsageError(f"{option} is given twice: in {settings.limits} and as an option")
        arguments[option] = given
    return {
        option: {name: value for name, value in given.items() if name in names} if isinstance(given, dict) else given
        for option, given in arguments.items()
    }


def typed_arguments(settings: FitSettings, names: list[str], types: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the library, with values in the types of their columns."""
    arguments = library_arguments(settings, names)
    add_event(settings, types, arguments)
    add_unlabelled(settings, types, arguments)
    type_levels(types, arguments)
    return arguments


def check_arguments(settings: FitSettings, names: list[str]) -> None:
    """Check the arguments as the library does, before the data is read."""
    arguments = library_arguments(settings, names)
    what = ("criterion", "search", "kinds", "order", *ColumnOptions._fields)
    checked_options(**{name: arguments[name] for name in what if name in arguments})
    checked_time(settings.time_limit)
    check_seed(settings.seed)
    if settings.jobs is not None:
        checked_jobs(settings.jobs)


def criterion_of(name: str, texts: tuple[str, ...]) -> Criterion:
    known = list_criteria()
    if name not in known:
        raise click.UsageError(f"gridmodl has no criterion {name!r}; {suggest(name, known)}")
    options = pairs(texts, "--option", "alpha=0.7")
    return get_criterion(name, **{key: value_of(text) for key, text in options.items()})


def column_arguments(settings: AnySettings, names: list[str]) -> dict[str, Any]:
    """Kinds, levels and special codes of the input columns `names`."""
    kinds = pairs(settings.kind, "--kind", "code=categorical")
    special: dict[str, Any] = pairs(settings.special, "--special", "age=-999,-1")
    order = {name: fields(text) for name, text in pairs(settings.order, "--order", "rating=A,B,C").items()}
    for name, kind in kinds.items():
        if kind not in KINDS:
            raise click.UsageError(f"--kind {name}={kind} must be {' or '.join(KINDS)}")
    return {
        "kinds": {name: kind for name, kind in kinds.items() if name in names},
        "order": {name: levels for name, levels in order.items() if name in names},
        "special": {
            name: [part.split("|") for part in fields(codes)] if name in order else codes_of(codes, name)
            for name, codes in special.items()
        },
    }


def type_levels(data: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Convert levels and special codes of ordinal columns in `arguments` to the type of the column."""
    for name, levels in arguments["order"].items():
        arguments["order"][name] = _in_type_of(data[name], levels)
        if name in arguments["special"]:
            arguments["special"][name] = _in_type_of(data[name], arguments["special"][name])


def add_event(settings: AnySettings, data: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Add to `arguments` the event, in the type of the target."""
    if settings.event is not None and settings.target is None:
        raise click.UsageError("--event names a class of the target; give --target")
    if settings.event is not None:
        arguments["event"] = _in_type_of(data[str(settings.target)], settings.event)


def add_unlabelled(settings: AnySettings, data: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Add to `arguments` the mark of rows without a class, in the type of the target."""
    if settings.unlabelled is None or settings.target is None:
        if settings.unlabelled is not None:
            raise click.UsageError("--unlabelled marks rows of the target; give --target")
        return
    if settings.unlabelled in (settings.nulls or NULLS):
        arguments["unlabelled"] = None
    else:
        arguments["unlabelled"] = _in_type_of(data[settings.target], settings.unlabelled)


def _in_type_of(column: Any, given: Any) -> Any:
    """A value of the command line or of a JSON file, or a list of such values, in the type of a column of arrow."""
    if isinstance(given, list):
        return [_in_type_of(column, one) for one in given]
    kind = str(column.type)
    if isinstance(given, str):
        return value_of(given) if kind.startswith(("int", "uint", "float", "double", "bool", "decimal")) else given
    return str(given) if kind.startswith(("string", "large_string", "dictionary<values=string")) else given


class ColumnPasses:
    """Fit each column on its own, a few at a time if memory does not hold all: each pass reads the file again."""

    def __init__(
        self, source: Source, roles: ColumnRoles, settings: FitSettings, messages: Messages, reading: ReadSettings
    ) -> None:
        self.source, self.roles, self.reading = source, roles, reading
        self.settings, self.messages = settings, messages
        self.models: dict[Any, Model] = {}
        self.errors: dict[Any, Exception] = {}
        self.time_left = settings.time_limit

    def run(self, names: list[str], n_rows: int | None) -> Models:
        """Fit the columns `names`; after Ctrl-C, the models so far, and the columns not reached as errors."""
        jobs = checked_jobs(-1 if self.settings.jobs is None else self.settings.jobs)
        try:
            rest = self._counted(names, jobs)
            plan = plan_each(rest, n_rows, jobs, limit_of(self.settings.memory_limit)) if rest else Plan([], jobs)
            is_only = plan.passes == [names]
            others = {} if is_only or not rest else self._read_columns(self.roles.others)
            for some in plan.passes:
                data = self._read_columns([*some, *self.roles.others] if is_only else some) | others
                if not self._searched(some, data, data, plan.n_jobs, is_only):
                    break
        except KeyboardInterrupt:  # while columns were being read
            if not self.models:
                raise
        if not self.models:
            raise next(iter(self.errors.values()))
        skipped = [name for name in names if name not in self.models and name not in self.errors]
        models: dict[Any, Model] = {name: self.models[name] for name in names if name in self.models}
        return Models(models, self.errors | {name: ValueError(SKIPPED) for name in skipped}, ARRAYS)

    def _read_columns(self, names: list[str]) -> dict[str, Any]:
        with self.messages.reading(self.source.label, self.source.n_rows) as tell:
            return read_columns(self.source, names, self.reading._replace(tell=tell))

    def _counted(self, names: list[str], n_jobs: int) -> list[str]:
        """Add the models of those columns of `names` that DuckDB counts; return the others."""
        with contextlib.ExitStack() as stack:
            frame = _counted_frame(self.source, self.roles, self.settings, self.messages, stack)
            if frame is None:
                return names
            some = [name for name in names if name in frame.types]
            goes_on = self._searched(some, *frame, n_jobs, is_only=True)
        return [name for name in names if name not in frame.types] if goes_on else []

    def _searched(self, names: list[str], data: Any, types: dict[str, Any], n_jobs: int, is_only: bool) -> bool:
        """Add the models of the columns `names`; return whether to go on."""
        arguments = typed_arguments(self.settings, names, types) | {"time_limit": self.time_left, "n_jobs": n_jobs}
        started = time.perf_counter()
        try:
            found = optimize_each(data, self.settings.target, **arguments, progress=not self.messages.quiet)
        except (ValueError, TypeError) as error:
            if len(names) > 1 or is_only:  # not an error of one column alone
                raise
            self.errors[names[0]] = error
            return True
        self.models |= {
            name: replace(model, _source=None, frame=ARRAYS) for name, model in found.items()
        }  # _source holds the data
        self.errors |= found.errors
        if self.time_left is not None:
            self.time_left = max(0.0, self.time_left - (time.perf_counter() - started))
        return all(model.stopped != "interrupted" for model in found.values())


def is_interrupted(found: Model | Models) -> bool:
    """Whether Ctrl-C ended the search, or one of many."""
    if isinstance(found, Model):
        return found.stopped == "interrupted"
    return any(map(is_interrupted, found.values())) or any(str(error) == SKIPPED for error in found.errors.values())


def run_average(settings: AverageSettings, messages: Messages) -> None:
    """Read the columns, average over the partitions of each, and write."""
    source = open_source(data_file(settings))
    roles = column_roles(source, settings)
    criterion = criterion_of(settings.criterion, settings.option)
    of_columns = column_arguments(settings, roles.inputs)
    with messages.reading(source.label, source.n_rows) as tell:
        data = read_columns(source, [*roles.inputs, *roles.others], read_settings(settings)._replace(tell=tell))
    if not settings.columns:  # those named by the user are errors if they have no order
        named = {*of_columns["order"], *of_columns["kinds"]}
        rest = [name for name in roles.inputs if name not in named]
        texts = [name for name in rest if kind_of(read_column(data[name], name)) == "categorical"]
        data = {name: column for name, column in data.items() if name not in texts}
        if len(texts) == len(roles.inputs):
            raise Failure(
                f"{source.label} has no numerical or ordinal column; gridmodl fit --each groups categories, and "
                "--order gives the levels of a column from low to high"
            )
    arguments: dict[str, Any] = {
        "criterion": criterion,
        "prior": settings.prior,
        "m": settings.candidates,
        "weights": settings.weights,
        **of_columns,
        "max_parts": settings.max_parts,
        "time_limit": settings.time_limit,
        "n_jobs": settings.jobs,
    }
    add_event(settings, data, arguments)
    add_unlabelled(settings, data, arguments)
    type_levels(data, arguments)
    found = average_each(data, settings.target, **arguments, progress=not messages.quiet)
    facts = partial(facts_of_averages, found)
    write_result(Result(found.to_json, found.to_html, facts, found.summary), settings, messages)
    if any(average.stopped == "interrupted" for average in found.values()):
        raise Interrupted("interrupted: columns that were not done have one part")
    if any(average.stopped is not None for average in found.values()):
        messages.say("gridmodl: the time limit was reached: columns that were not done have one part")
