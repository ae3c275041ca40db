"""``gridmodl show``: what is in a model file."""

from __future__ import annotations

import json
from typing import Any

import click

from gridmodl.cli import options


@click.command(
    short_help="Print what is in a model file.",
    epilog=options.examples(
        "gridmodl show model.json",
        "gridmodl show models.json --column age",
        "gridmodl show models.json --column age --table --csv",
        "gridmodl show joint.json --cells",
        "gridmodl show model.json --json",
    ),
)
@click.argument("model", type=click.Path())
@click.option("--column", metavar="NAME", help="Only this column; of many models the one of this column.")
@click.option("--table", is_flag=True, help="The parts of a column, one line each, with all that is known of them.")
@click.option("--cells", is_flag=True, help="The cells of the grid, one line each, those of most rows first.")
@click.option("--csv", "as_csv", is_flag=True, help="Print a table as CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print the facts, or the table, as JSON.")
@options.every
def show(model: str, column: str | None, table: bool, cells: bool, as_csv: bool, as_json: bool) -> None:
    """Print what is in MODEL, a file that gridmodl fit has written; - for standard input."""
    if table and cells:
        raise click.UsageError("--table and --cells are two tables; ask for one at a time")
    if as_csv and (as_json or not (table or cells or column is None)):
        raise click.UsageError("--csv prints a table: give --table or --cells with it, and not --json")
    from gridmodl.cli.modelfiles import read_found
    from gridmodl.cli.summaries import facts_of, print_columns, print_summary
    from gridmodl.models import Models

    found, talk = read_found(model), options.talk()
    if column is not None and isinstance(found, Models):
        found = found[_known(column, found, model)]
    if table or cells or (as_csv and isinstance(found, Models)):
        columns = _columns(found, column, cells, model)
        _print_json(_records(columns)) if as_json else print_columns(columns, talk, as_csv)
    elif as_csv:
        raise click.UsageError("--csv prints a table: give --table or --cells with it")
    elif as_json:
        _print_json(facts_of(found))
    else:
        print_summary(found, talk)


def _columns(found: Any, column: str | None, cells: bool, path: str) -> dict[str, Any]:
    """The columns of the table that is asked for."""
    from gridmodl.cli.failures import Failure
    from gridmodl.models import Models

    if isinstance(found, Models):
        if cells:
            raise Failure(f"{path} holds {len(found)} models; --column says of which one the cells are")
        return dict(found.table("arrays"))
    if cells:
        return dict(found.cell_table("arrays"))
    names = found.all_partitions
    if column is None and len(found.partitions) > 1:
        listed = ", ".join(repr(name) for name in found.informative)
        raise Failure(f"{path} has {len(names)} columns; --column says which one: {listed}")
    return dict(found.table(None if column is None else _known(column, names, path), "arrays"))


def _known(column: str, names: Any, path: str) -> Any:
    """The name as the model has it, which need not be a text."""
    from gridmodl.cli.failures import Failure, near

    by_text = {str(name): name for name in names}
    if column not in by_text:
        raise Failure(f"{path} has no column {column!r}; {near(column, list(by_text))}")
    return by_text[column]


def _records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    import numpy as np

    lists = [[_finite(value) for value in np.asarray(column).tolist()] for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))) else value


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))
