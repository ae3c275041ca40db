"""What ``gridmodl fit`` does: read what is needed, search, write."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import click

from gridmodl.arguments import check_seed, checked_jobs, checked_options, checked_time
from gridmodl.cli.columns import NULLS, Reading, gathered
from gridmodl.cli.fit import Asked
from gridmodl.cli.messages import Failure, Interrupted, Talk, near, visible
from gridmodl.cli.modelfiles import Found, facts_of, models_of, print_summary
from gridmodl.cli.options import codes_of, listed, pairs, value_of
from gridmodl.cli.outputs import STDOUT, write_text
from gridmodl.cli.sources import Given, Source, check_present, open_source
from gridmodl.decisions import JOINT_COLUMNS
from gridmodl.encode import KINDS
from gridmodl.frames import ARRAYS
from gridmodl.model import Model
from gridmodl.models import Models
from gridmodl.pipeline import optimize, optimize_each
from gridmodl.plugins import get_criterion, list_criteria
from gridmodl.search import Search
from gridmodl.terms import Criterion


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


SKIPPED = "the search was interrupted before its turn came"


class Passes:
    """The models of the columns so far, pass by pass."""

    def __init__(self, source: Source, others: list[str], asked: Asked, talk: Talk, reading: Reading) -> None:
        self.source, self.others, self.asked, self.talk, self.reading = source, others, asked, talk, reading
        self.models: dict[Any, Model] = {}
        self.errors: dict[Any, Exception] = {}
        self.time_left = asked.time_limit

    def run(self, names: list[str], n_rows: int | None) -> Models:
        """Models of all these columns; who interrupts has those so far, and the others are named in the errors."""
        jobs = checked_jobs(-1 if self.asked.jobs is None else self.asked.jobs)
        plan = plan_each(names, n_rows, jobs, limit_of(self.asked.memory_limit))
        is_only = len(plan.passes) == 1
        try:
            others = {} if is_only else self._gathered(self.others)
            for some in plan.passes:
                data = self._gathered([*some, *self.others] if is_only else some) | others
                if not self._searched(some, data, plan.n_jobs, is_only):
                    break
        except KeyboardInterrupt:  # while columns were read
            if not self.models:
                raise
        if not self.models:
            raise next(iter(self.errors.values()))
        skipped = [name for name in names if name not in self.models and name not in self.errors]
        return Models(self.models, self.errors | {name: ValueError(SKIPPED) for name in skipped}, ARRAYS)

    def _gathered(self, names: list[str]) -> dict[str, Any]:
        with self.talk.reading(self.source.label, self.source.n_rows) as tell:
            return gathered(self.source, names, self.reading._replace(tell=tell))

    def _searched(self, names: list[str], data: dict[str, Any], n_jobs: int, is_only: bool) -> bool:
        """Add the models of these columns; whether to go on."""
        arguments = library_arguments(self.asked, names) | {"time_limit": self.time_left, "n_jobs": n_jobs}
        mark_of(self.asked, data, arguments)
        begun = time.perf_counter()
        try:
            found = optimize_each(data, self.asked.target, **arguments, progress=not self.talk.quiet)
        except (ValueError, TypeError) as error:
            if len(names) > 1 or is_only:  # nothing of this column alone
                raise
            self.errors[names[0]] = error
            return True
        self.models |= {name: replace(model, _source=None) for name, model in found.items()}  # which has the data
        self.errors |= found.errors
        if self.time_left is not None:
            self.time_left = max(0.0, self.time_left - (time.perf_counter() - begun))
        return all(model.stopped != "interrupted" for model in found.values())


def is_interrupted(found: Model | Models) -> bool:
    """Whether the user has ended the search of a model, or of one of many."""
    if isinstance(found, Model):
        return found.stopped == "interrupted"
    return any(map(is_interrupted, found.values())) or any(str(error) == SKIPPED for error in found.errors.values())


# Bytes per row. Measured as the peak of processes with one to 18 million rows, rounded up: a column that is held is 8,
# and what reading it leaves behind; the search of one took 50 (text) to 180 (numbers); that of a grid 75 to 120 for
# each column, and 55 more in each further thread.
HELD, SEARCHED, GRID, GRID_THREAD = 10, 200, 130, 60
FREE_SHARE = 0.8  # of what is free now, left to ourselves


class Plan(NamedTuple):
    """Columns that are read and searched together, and the threads for them."""

    passes: list[list[str]]
    n_jobs: int


def free_memory() -> int | None:
    """Bytes that this process may still take; None where the system does not say."""
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
    """What a container leaves."""
    folder = Path("/sys/fs/cgroup")
    try:
        most, used = ((folder / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current"))
        return max(0, int(most) - int(used))
    except (OSError, ValueError):
        return None


def limit_of(given: int | None) -> int | None:
    """The bytes that data and search may take."""
    if given is not None:
        return given
    free = free_memory()
    return None if free is None else int(FREE_SHARE * free)


def check_grid(n_rows: int | None, n_columns: int, n_jobs: int, limit: int | None, has_target: bool) -> None:
    """A grid holds all its columns at a time: said here, before they are read, if they are too many."""
    if n_rows is None or limit is None:
        return
    per_column = GRID + GRID_THREAD * (n_jobs - 1)
    needed = n_rows * per_column * n_columns
    if needed <= limit:
        return
    ways = [f"--sample {_round_down(limit // (per_column * n_columns))} takes so many rows at random"]
    fitting = limit // (per_column * n_rows)
    if fitting > 1:
        ways.insert(0, f"--columns names at most {fitting} columns")
    if has_target:
        ways.insert(0, "--each takes every column on its own")
    raise Failure(
        f"one grid of {n_columns} columns and about {n_rows:,} rows needs about {in_words(needed)} of memory, and "
        f"{in_words(limit)} are there: {'; '.join(ways)}; --memory-limit says that there is more"
    )


def plan_each(names: list[str], n_rows: int | None, n_jobs: int, limit: int | None) -> Plan:
    """As many columns at a time as memory holds beside the target, in fewer threads if need be."""
    if n_rows is None or limit is None or n_rows == 0:
        return Plan([names], n_jobs)
    columns_held = limit // (HELD * n_rows) - 2  # the target and weights
    for threads in range(min(n_jobs, len(names)), 0, -1):
        fitting = columns_held - threads * SEARCHED // HELD
        if fitting >= threads:
            return Plan([names[i : i + fitting] for i in range(0, len(names), fitting)], threads)
    needed = n_rows * (3 * HELD + SEARCHED)
    raise Failure(
        f"a single column of about {n_rows:,} rows needs about {in_words(needed)} of memory, and {in_words(limit)} are "
        f"there: --sample {_round_down(n_rows * limit // needed)} takes so many rows at random; --memory-limit says "
        "that there is more"
    )


def in_words(n_bytes: int) -> str:
    amount = float(n_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{amount:.3g} {unit}" if amount < 1000 else f"{amount:,.0f} {unit}"
        amount /= 1000
    raise AssertionError(unit)


def _round_down(n: int) -> int:
    """Two digits of a number, as it is an estimate."""
    unit = 10 ** max(0, len(str(n)) - 2)
    return max(1, n // unit * unit)
