"""``gridmodl criteria``: what "best" may mean."""

from __future__ import annotations

import json
from typing import Any

import click

from gridmodl.cli import options


@click.command(
    short_help="List what best may mean.",
    epilog=options.examples("gridmodl criteria", "gridmodl criteria --problem joint", "gridmodl criteria --json"),
)
@click.option("--problem", help="Only those that can price this: classes, grid, joint, grouped, numerical or semi.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@options.every
def criteria(problem: str | None, as_json: bool) -> None:
    """List the criteria that are installed, the problems they price, and their formulas."""
    from gridmodl.cli.summaries import print_columns
    from gridmodl.plugins import criterion_for, list_criteria
    from gridmodl.terms import PROBLEMS

    if problem is not None and problem not in PROBLEMS:
        known = "; ".join(f"{name}: {meaning}" for name, meaning in PROBLEMS.items())
        raise click.UsageError(f"there is no problem {problem!r}; {known}")
    found: list[dict[str, Any]] = []
    for name in list_criteria(problem):
        for kind in PROBLEMS:
            if problem in (None, kind) and name in list_criteria(kind):
                formula = criterion_for(name, kind)
                text = (formula.__doc__ or "").strip().partition("\n")[0]
                found.append(
                    {"criterion": name, "problem": kind, "options": dict(type(formula).options), "formula": text}
                )
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    rows = [{**record, "options": ", ".join(f"{k}={v}" for k, v in record["options"].items())} for record in found]
    print_columns({key: [row[key] for row in rows] for key in found[0]}, options.talk(), as_csv=False)
