"""Every column on its own: few at a time where memory does not hold all, so that a file is read more than once."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from gridmodl.arguments import checked_jobs
from gridmodl.cli.asking import library_arguments, mark_of
from gridmodl.cli.console import Talk
from gridmodl.cli.data.gathering import Reading, gathered
from gridmodl.cli.data.sources import Source
from gridmodl.cli.fit import Asked
from gridmodl.cli.memory import limit_of, plan_each
from gridmodl.frames import ARRAYS
from gridmodl.model import Model
from gridmodl.models import Models
from gridmodl.pipeline import optimize_each

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
