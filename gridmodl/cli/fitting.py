"""Run ``gridmodl fit`` and ``gridmodl average``: read the columns, search or average, write."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.filesize import decimal

from gridmodl.averaging.averages import Averages
from gridmodl.averaging.fit import average_each
from gridmodl.cli.columns import NULLS, ReadSettings, read_columns
from gridmodl.cli.fit import AverageSettings, FitSettings
from gridmodl.cli.messages import Failure, Interrupted, Messages, suggest, visible
from gridmodl.cli.modelfiles import AnyModel, facts_of, facts_of_averages, models_of, print_summary
from gridmodl.cli.options import codes_of, fields, limits_of, listed, pairs, value_of
from gridmodl.cli.outputs import STDOUT, write_text
from gridmodl.cli.sources import DataFile, Source, check_present, open_source
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

SKIPPED = "the search was interrupted before its turn came"

# Bytes per row, measured as the peak of processes with 1 to 18 million rows and rounded up. A column in memory takes 8
# and some overhead of reading; the search of one column took 50 (text) to 180 (numbers); the search of a grid 75 to 120
# per column, and 55 more per column in each further thread.
HELD, SEARCHED, GRID, GRID_THREAD = 10, 200, 130, 60
FREE_SHARE = 0.8  # of the free memory, used if --memory-limit is not given


class ColumnRoles(NamedTuple):
    """Columns of a source by their role."""

    inputs: list[str]
    others: list[str]  # target and weights, if the user names them


def run_fit(settings: FitSettings, messages: Messages) -> None:
    """Read, search and write; settings that can be checked without the data are checked first."""
    if settings.html is not None and find_spec("vl_convert") is None:
        raise Failure('--html needs vl-convert-python: pip install "gridmodl[html]"')
    file = DataFile(settings.data, settings.format, settings.delimiter, settings.encoding, not settings.no_header)
    source = open_source(file)
    roles = _column_roles(source, settings)
    check_arguments(settings, roles.inputs)
    try:
        found = (_each if settings.each else _one_grid)(source, roles, settings, messages)
    except KeyboardInterrupt:
        raise Interrupted("interrupted before anything was found; nothing was written") from None
    _write(found, settings, messages)
    where = f"; it is in {settings.output}" if settings.output not in (None, STDOUT) else ""
    if is_interrupted(found):
        raise Interrupted(f"interrupted: this is the best result so far{where}")
    if any(model.stopped == "time limit" for model in models_of(found).values()):
        messages.say(f"gridmodl: the time limit stopped the search: this is the best result so far{where}")


def _column_roles(source: Source, settings: FitSettings | AverageSettings) -> ColumnRoles:
    others = [name for name in (settings.target, settings.weights) if name is not None]
    for name, what in ((settings.target, "the target"), (settings.weights, "the weights")):
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
                raise Failure(f"{option} names column {name!r}, which is no input: the target, weights, or left out")
    return ColumnRoles(inputs, others)


def _read_settings(settings: FitSettings | AverageSettings) -> ReadSettings:
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
    check_grid(n_rows, len(roles.inputs), jobs, limit_of(settings.memory_limit), settings.target is not None)
    with messages.reading(source.label, source.n_rows) as tell:
        data = read_columns(source, [*roles.inputs, *roles.others], _read_settings(settings)._replace(tell=tell))
    arguments = library_arguments(settings, roles.inputs)
    add_event(settings, data, arguments)
    add_unlabelled(settings, data, arguments)
    type_levels(data, arguments)
    return optimize(data, settings.target, **arguments, n_jobs=jobs, progress=not messages.quiet)


def _each(source: Source, roles: ColumnRoles, settings: FitSettings, messages: Messages) -> Models:
    passes = ColumnPasses(source, roles.others, settings, messages, _read_settings(settings))
    return passes.run(roles.inputs, _expected_rows(source, settings))


def _expected_rows(source: Source, settings: FitSettings) -> int | None:
    n_rows = source.n_rows
    return n_rows if n_rows is None or settings.sample is None else min(n_rows, settings.sample)


def _write(found: AnyModel, settings: FitSettings, messages: Messages) -> None:
    if settings.output is not None:
        write_text(settings.output, found.to_json())
    if settings.html is not None:
        write_text(settings.html, found.to_html())
    if settings.as_json:
        facts = facts_of(found) | {"output": settings.output, "html": settings.html}
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    elif settings.output != STDOUT and not settings.quiet:
        print_summary(found, messages)
    for path in (settings.output, settings.html):
        if path not in (None, STDOUT):
            messages.say(f"written: {visible(str(path))}")


def library_arguments(settings: FitSettings, names: list[str]) -> dict[str, Any]:
    """Arguments of `optimize` and `optimize_each` for the input columns `names`."""
    effort: dict[str, Any] = {} if settings.effort is None else {"effort": settings.effort}
    arguments = {
        "criterion": _criterion_of(settings.criterion, settings.option),
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


def check_arguments(settings: FitSettings, names: list[str]) -> None:
    """Check the arguments as the library does, before the data is read."""
    arguments = library_arguments(settings, names)
    what = ("criterion", "search", "kinds", "order", *ColumnOptions._fields)
    checked_options(**{name: arguments[name] for name in what if name in arguments})
    checked_time(settings.time_limit)
    check_seed(settings.seed)
    if settings.jobs is not None:
        checked_jobs(settings.jobs)


def _criterion_of(name: str, texts: tuple[str, ...]) -> Criterion:
    known = list_criteria()
    if name not in known:
        raise click.UsageError(f"gridmodl has no criterion {name!r}; {suggest(name, known)}")
    options = pairs(texts, "--option", "alpha=0.7")
    return get_criterion(name, **{key: value_of(text) for key, text in options.items()})


def column_arguments(settings: FitSettings | AverageSettings, names: list[str]) -> dict[str, Any]:
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


def add_event(settings: FitSettings | AverageSettings, data: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Add to `arguments` the event, in the type of the target."""
    if settings.event is not None and settings.target is None:
        raise click.UsageError("--event names a class of the target; give --target")
    if settings.event is not None:
        arguments["event"] = _in_type_of(data[str(settings.target)], settings.event)


def add_unlabelled(settings: FitSettings | AverageSettings, data: dict[str, Any], arguments: dict[str, Any]) -> None:
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
        self, source: Source, others: list[str], settings: FitSettings, messages: Messages, reading: ReadSettings
    ) -> None:
        self.source, self.others, self.reading = source, others, reading
        self.settings, self.messages = settings, messages
        self.models: dict[Any, Model] = {}
        self.errors: dict[Any, Exception] = {}
        self.time_left = settings.time_limit

    def run(self, names: list[str], n_rows: int | None) -> Models:
        """Fit the columns `names`; after Ctrl-C, the models so far, and the columns not reached as errors."""
        jobs = checked_jobs(-1 if self.settings.jobs is None else self.settings.jobs)
        plan = plan_each(names, n_rows, jobs, limit_of(self.settings.memory_limit))
        is_only = len(plan.passes) == 1
        try:
            others = {} if is_only else self._read_columns(self.others)
            for some in plan.passes:
                data = self._read_columns([*some, *self.others] if is_only else some) | others
                if not self._searched(some, data, plan.n_jobs, is_only):
                    break
        except KeyboardInterrupt:  # while columns were being read
            if not self.models:
                raise
        if not self.models:
            raise next(iter(self.errors.values()))
        skipped = [name for name in names if name not in self.models and name not in self.errors]
        return Models(self.models, self.errors | {name: ValueError(SKIPPED) for name in skipped}, ARRAYS)

    def _read_columns(self, names: list[str]) -> dict[str, Any]:
        with self.messages.reading(self.source.label, self.source.n_rows) as tell:
            return read_columns(self.source, names, self.reading._replace(tell=tell))

    def _searched(self, names: list[str], data: dict[str, Any], n_jobs: int, is_only: bool) -> bool:
        """Add the models of the columns `names`; return whether to go on."""
        arguments = library_arguments(self.settings, names) | {"time_limit": self.time_left, "n_jobs": n_jobs}
        add_event(self.settings, data, arguments)
        add_unlabelled(self.settings, data, arguments)
        type_levels(data, arguments)
        started = time.perf_counter()
        try:
            found = optimize_each(data, self.settings.target, **arguments, progress=not self.messages.quiet)
        except (ValueError, TypeError) as error:
            if len(names) > 1 or is_only:  # not an error of one column alone
                raise
            self.errors[names[0]] = error
            return True
        self.models |= {name: replace(model, _source=None) for name, model in found.items()}  # _source holds the data
        self.errors |= found.errors
        if self.time_left is not None:
            self.time_left = max(0.0, self.time_left - (time.perf_counter() - started))
        return all(model.stopped != "interrupted" for model in found.values())


def is_interrupted(found: Model | Models) -> bool:
    """Whether Ctrl-C ended the search, or one of many."""
    if isinstance(found, Model):
        return found.stopped == "interrupted"
    return any(map(is_interrupted, found.values())) or any(str(error) == SKIPPED for error in found.errors.values())


class Plan(NamedTuple):
    """Columns to read and search together, pass by pass, and the number of threads."""

    passes: list[list[str]]
    n_jobs: int


def free_memory() -> int | None:
    """Bytes that this process may still take; None if the system does not tell."""
    found = [bytes_free for bytes_free in (_free_of_machine(), _free_of_group()) if bytes_free is not None]
    return min(found) if found else None


def _free_of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _free_of_group() -> int | None:
    """Bytes that the limit of a container leaves."""
    folder = Path("/sys/fs/cgroup")
    try:
        most, used = ((folder / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current"))
        return max(0, int(most) - int(used))
    except (OSError, ValueError):
        return None


def limit_of(memory_limit: int | None) -> int | None:
    """Bytes that data and search may take: `memory_limit`, or a share of the free memory."""
    if memory_limit is not None:
        return memory_limit
    free = free_memory()
    return None if free is None else int(FREE_SHARE * free)


def check_grid(n_rows: int | None, n_columns: int, n_jobs: int, limit: int | None, has_target: bool) -> None:
    """Raise a Failure, before the data is read, if memory cannot hold all columns of a grid at a time."""
    if n_rows is None or limit is None:
        return
    per_column = GRID + GRID_THREAD * (n_jobs - 1)
    needed = n_rows * per_column * n_columns
    if needed <= limit:
        return
    ways = [_sample_advice(limit // (per_column * n_columns))]
    fitting = limit // (per_column * n_rows)
    if fitting > 1:
        ways.insert(0, f"--columns names at most {fitting} columns")
    if has_target:
        ways.insert(0, "--each takes every column on its own")
    raise Failure(
        f"one grid of {n_columns} columns and about {n_rows:,} rows needs about {decimal(needed)} of memory, and "
        f"{decimal(limit)} are there: {'; '.join(ways)}; --memory-limit says that there is more"
    )


def plan_each(names: list[str], n_rows: int | None, n_jobs: int, limit: int | None) -> Plan:
    """Plan passes with as many columns as memory holds beside the target, with fewer threads if needed."""
    if n_rows is None or limit is None or n_rows == 0:
        return Plan([names], n_jobs)
    columns_held = limit // (HELD * n_rows) - 2  # the target and weights
    for threads in range(min(n_jobs, len(names)), 0, -1):
        fitting = columns_held - threads * SEARCHED // HELD
        if fitting >= threads:
            return Plan([names[i : i + fitting] for i in range(0, len(names), fitting)], threads)
    needed = n_rows * (3 * HELD + SEARCHED)
    raise Failure(
        f"a single column of about {n_rows:,} rows needs about {decimal(needed)} of memory, and "
        f"{decimal(limit)} are there: {_sample_advice(n_rows * limit // needed)}; --memory-limit says that there "
        "is more"
    )


def _sample_advice(n_rows: int) -> str:
    """Advise a sample of about `n_rows` rows, rounded down to two digits because the number is an estimate."""
    unit = 10 ** max(0, len(str(n_rows)) - 2)
    return f"--sample {max(1, n_rows // unit * unit)} takes that number of rows at random"


def run_average(settings: AverageSettings, messages: Messages) -> None:
    """Read the columns, average over the partitions of each, and write."""
    file = DataFile(settings.data, settings.format, settings.delimiter, settings.encoding, not settings.no_header)
    source = open_source(file)
    roles = _column_roles(source, settings)
    criterion = _criterion_of(settings.criterion, settings.option)
    of_columns = column_arguments(settings, roles.inputs)
    with messages.reading(source.label, source.n_rows) as tell:
        data = read_columns(source, [*roles.inputs, *roles.others], _read_settings(settings)._replace(tell=tell))
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
    _write_averages(found, settings, messages)
    if any(average.stopped == "interrupted" for average in found.values()):
        raise Interrupted("interrupted: columns that were not done have one part")
    if any(average.stopped is not None for average in found.values()):
        messages.say("gridmodl: the time limit was reached: columns that were not done have one part")


def _write_averages(found: Averages, settings: AverageSettings, messages: Messages) -> None:
    """Write the averages as the user asked for."""
    if settings.output is not None:
        write_text(settings.output, found.to_json())
    if settings.html is not None:
        write_text(settings.html, found.to_html())
    if settings.as_json:
        facts = facts_of_averages(found) | {"output": settings.output, "html": settings.html}
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    elif settings.output != STDOUT and not settings.quiet:
        click.echo(visible(found.summary()))
    for path in (settings.output, settings.html):
        if path not in (None, STDOUT):
            messages.say(f"written: {visible(str(path))}")
