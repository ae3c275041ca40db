"""``gridmodl sql``: a model as a query."""

from __future__ import annotations

import click

from gridmodl.cli import options
from gridmodl.cli.outputs import STDOUT, check_outputs, write_text

DIALECTS = ("postgres", "duckdb", "sqlite", "bigquery", "snowflake")


@click.command(
    short_help="Print a model as a query.",
    epilog=options.examples(
        "gridmodl sql model.json --dialect duckdb --table customers --keep-column id",
        "gridmodl sql model.json --dialect postgres -o parts.sql",
    ),
)
@click.argument("model", type=click.Path())
@click.option("-d", "--dialect", type=click.Choice(DIALECTS), required=True, help="Of the database.")
@click.option("--table", default="data", show_default=True, help="The table that has the rows; schema.table too.")
@click.option(
    "--keep-column", multiple=True, metavar="COLUMN", help="Return this column of the table too; may be given again."
)
@click.option(
    "--as",
    "outputs",
    type=click.Choice(options.OUTPUTS),
    multiple=True,
    help="As of gridmodl apply; may be given again. [default: all that the model has but labels]",
)
@click.option(
    "--unknown",
    type=click.Choice(["default", "-1"]),
    default="default",
    show_default=True,
    help="A category that was never seen goes to the default group, or is marked.",
)
@click.option("-o", "--output", default=STDOUT, metavar="FILE", help="[default: standard output]")
@options.quiet
@options.every
def sql(
    model: str, dialect: str, table: str, keep_column: tuple[str, ...], outputs: tuple[str, ...], unknown: str,
    output: str, quiet: bool,
) -> None:  # fmt: skip
    """Print a query that gives each row of a table its parts, as gridmodl apply does."""
    check_outputs({"the model": model}, {"--output": output})
    from gridmodl.cli.modelfiles import read_found

    text = read_found(model).to_sql(
        dialect, table.split(".") if "." in table else table, keep=keep_column, output=outputs or None, unknown=unknown
    )
    write_text(output, text)
    if output != STDOUT:
        options.talk(quiet).say(f"written: {output}")
