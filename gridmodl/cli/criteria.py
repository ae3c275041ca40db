"""``gridmodl criteria``: what "best" may mean."""

from __future__ import annotations

import inspect
import json
import sys
from typing import TYPE_CHECKING, Any

import click

from gridmodl.cli import options

if TYPE_CHECKING:
    from gridmodl.terms import Criterion


@click.command(
    short_help="List what best may mean.",
    epilog=options.examples(
        "gridmodl criteria", "gridmodl criteria modl", "gridmodl criteria --problem joint", "gridmodl criteria --json"
    ),
)
@click.argument("name", required=False)
@click.option("--problem", help="Only those that can price this: classes, grid, joint, grouped, numerical or semi.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@options.every
def criteria(name: str | None, problem: str | None, as_json: bool) -> None:
    """List the criteria that are installed, the problems they price and their formulas; all about one with NAME."""
    from gridmodl.cli.console import visible
    from gridmodl.cli.failures import near
    from gridmodl.cli.summaries import print_columns
    from gridmodl.plugins import list_criteria
    from gridmodl.terms import PROBLEMS

    if problem is not None and problem not in PROBLEMS:
        known = "; ".join(f"{kind}: {meaning}" for kind, meaning in PROBLEMS.items())
        raise click.UsageError(f"there is no problem {problem!r}; {known}")
    names = list_criteria(problem)
    if name is not None and name not in names:
        raise click.UsageError(f"gridmodl has no criterion {name!r}; {near(name, names)}")
    found = [record for known in names if name in (None, known) for record in _records(known, problem)]
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
    elif name is not None:
        click.echo(visible("\n\n".join(f"{name}: {record['problems']}\n\n{record['about']}" for record in found)))
    else:
        shown = ("criterion", "problems", "options", "formula")
        rows = [{**record, "options": _shown(record["options"])} for record in found]
        print_columns({key: [row[key] for row in rows] for key in shown}, options.talk(), as_csv=False)


def _records(name: str, problem: str | None) -> list[dict[str, Any]]:
    """One record for each formula of that name, and the problems it prices."""
    from gridmodl.plugins import criterion_for, list_criteria
    from gridmodl.terms import PROBLEMS

    priced: dict[type[Criterion], list[str]] = {}
    for kind in PROBLEMS:
        if problem in (None, kind) and name in list_criteria(kind):
            priced.setdefault(type(criterion_for(name, kind)), []).append(kind)
    return [
        {
            "criterion": name,
            "problems": ", ".join(kinds),
            "options": dict(formula.options),
            "formula": _formula(name, _about(formula)),
            "about": _about(formula),
        }
        for formula, kinds in priced.items()
    ]


def _about(formula: type[Criterion]) -> str:
    """What the criterion says of itself, or else its module, which holds the formulas of a family."""
    own = vars(formula).get("__doc__")
    of_module = inspect.cleandoc(sys.modules[formula.__module__].__doc__ or "")
    return "\n\n".join(filter(None, (inspect.cleandoc(own) if own else "", of_module))) or "(no description)"


def _formula(name: str, about: str) -> str:
    """The line of the formula of that name, if there is one; else the first line."""
    for line in about.splitlines():
        head, _, formula = line.strip().partition("  ")
        if line.startswith(" ") and name in head.split(", ") and formula:
            return formula.strip()
    return about.partition("\n")[0]


def _shown(chosen: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in chosen.items())
