"""``gridmodl apply``: the parts, cells or predictions of new rows."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import click

from gridmodl.cli import options
from gridmodl.cli.outputs import STDOUT, check_outputs


class Asked(NamedTuple):
    """What the user wrote."""

    model: str
    data: str
    outputs: tuple[str, ...]
    unknown: str
    coverage: float
    informative: bool
    keep: bool
    keep_column: tuple[str, ...]
    format: str | None
    delimiter: str | None
    encoding: str
    no_header: bool
    nulls: tuple[str, ...]
    output: str
    to: str | None
    as_json: bool
    quiet: bool


@click.command(
    short_help="Say where new rows lie in a partition.",
    epilog=options.examples(
        "gridmodl apply model.json new.csv -o out.csv",
        "gridmodl apply model.json new.csv --as labels --keep -o out.parquet",
        "gridmodl apply model.json new.csv --as proba --keep-column id",
        "gridmodl apply models.json new.parquet --as labels --unknown -1 -o parts.csv.gz",
        "gridmodl apply model.json - --format csv --as predict < new.csv",
    ),
)
@click.argument("model", type=click.Path())
@click.argument("data", type=click.Path())
@click.option(
    "--as",
    "outputs",
    type=click.Choice(options.OUTPUTS),
    multiple=True,
    default=["parts"],
    show_default=True,
    help="Numbers of the parts, parts in words, the number of the cell, the likeliest class (of a numerical target "
    "mean, median and an interval), or the share of each class; may be given again.",
)
@click.option(
    "--unknown",
    type=click.Choice(["default", "-1", "error"]),
    default="default",
    show_default=True,
    help="A category that was never seen goes to the default group, is marked, or is an error.",
)
@click.option(
    "--coverage",
    type=click.FloatRange(0, 1),
    default=0.9,
    show_default=True,
    help="Of the interval that --as predict gives for a numerical target.",
)
@click.option("--informative", is_flag=True, help="Only the parts of columns that have more than one.")
@click.option("--keep", is_flag=True, help="All columns of the data come first.")
@click.option(
    "--keep-column", multiple=True, metavar="COLUMN", help="This column of the data comes first; may be given again."
)
@options.reading
@click.option(
    "-o",
    "--output",
    default=STDOUT,
    metavar="FILE",
    help="CSV, TSV, Parquet or Arrow, as its name ends, .gz too. [default: CSV on standard output]",
)
@click.option(
    "--to",
    type=click.Choice(["csv", "tsv", "parquet", "arrow"]),
    help="The format of the output, where its name does not tell.",
)
@click.option("--json", "as_json", is_flag=True, help="Print how many rows went where, as JSON; with --output.")
@options.quiet
@options.every
def apply(**given: Any) -> None:
    """Say where the rows of DATA lie in the partition of MODEL, a file that gridmodl fit has written.

    Rows are read, placed and written in batches, in their order: a file may be larger than memory. Columns of a text
    file are read as they were when the model was made.
    """
    asked = Asked(**given)
    if asked.as_json and asked.output == STDOUT:
        raise click.UsageError("--json needs --output: the rows go to standard output")
    if asked.model == asked.data == STDOUT:
        raise click.UsageError("MODEL and DATA cannot both be standard input")
    check_outputs({"the model": asked.model, "the data": asked.data}, {"--output": asked.output})
    delimiter, encoding = options.checked_dialect(asked.delimiter, asked.encoding)
    from gridmodl.cli.applying import apply_to_rows

    n_rows = apply_to_rows(asked._replace(delimiter=delimiter, encoding=encoding), options.talk(asked.quiet))
    if asked.as_json:
        click.echo(json.dumps({"rows": n_rows, "output": asked.output}, ensure_ascii=False))
