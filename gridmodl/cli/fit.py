"""``gridmodl fit`` and ``gridmodl average``: from data to a model, or to averages over all partitions."""

from __future__ import annotations

from typing import Any, NamedTuple

import click

from gridmodl.cli import options
from gridmodl.cli.options import Amount, Size
from gridmodl.search import AUTO, KINDS

TARGET_KINDS = ("classes", "grouped", "numerical")


class FitSettings(NamedTuple):
    """Arguments and options of ``gridmodl fit``."""

    data: str
    target: str | None
    each: bool
    columns: tuple[str, ...]
    exclude: tuple[str, ...]
    kind: tuple[str, ...]
    order: tuple[str, ...]
    weights: str | None
    target_kind: str | None
    unlabelled: str | None
    placement: str | None
    event: str | None
    criterion: str
    option: tuple[str, ...]
    search: str
    effort: int | None
    special: tuple[str, ...]
    missing: str | None
    monotone: str | None
    max_parts: int | None
    min_rows: int | float | None
    min_events: int | float | None
    min_difference: float | None
    stable_over: str | None
    min_period_rows: int | float | None
    limits: str | None
    time_limit: float | None
    seed: int
    jobs: int | None
    sample: int | None
    memory_limit: int | None
    format: str | None
    delimiter: str | None
    encoding: str
    no_header: bool
    nulls: tuple[str, ...]
    output: str | None
    html: str | None
    as_json: bool
    quiet: bool


def _complete_criterion(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from gridmodl.plugins import list_criteria

    return [name for name in list_criteria() if name.startswith(incomplete)]


@click.command(
    short_help="Find the best partition of data, and write a model.",
    epilog=options.examples(
        "gridmodl fit data.parquet --target class --criterion modl -o model.json --html report.html",
        "gridmodl fit data.csv --target class --each -o models.json",
        "gridmodl fit 'data*.parquet' --target class --each --memory-limit 1GB -o models.json",
        "gridmodl fit data.csv --columns city,product -o joint.json",
        "gridmodl fit data.csv --target class --columns age,income --special age=-999,-1 --max-parts 5 --each",
        "gridmodl fit - --format csv --target class --columns age --json < data.csv",
    ),
)
@click.argument("data", type=click.Path())
@click.option(
    "-t",
    "--target",
    metavar="COLUMN",
    help="Target column; without one, columns are partitioned jointly (coclustering), and one column has a density.",
)
@click.option(
    "--each",
    is_flag=True,
    help="Partition each column on its own, instead of one grid over columns that matter together.",
)
@click.option(
    "-c", "--columns", multiple=True, metavar="NAMES", help="Use only these columns, such as a,b,c; may be given again."
)
@options.exclude
@options.kind
@options.order
@options.weights
@click.option(
    "--target-kind",
    type=click.Choice(TARGET_KINDS),
    help="grouped: put many classes into groups; numerical: whole numbers are quantities. [default: by the target's "
    "values]",
)
@options.unlabelled
@click.option(
    "--placement",
    type=click.Choice(["short", "median"]),
    help="short: bounds of the fewest digits, roundest dates; median: rows without a class only place the bounds.",
)
@click.option(
    "--event",
    metavar="CLASS",
    help="Class that weights of evidence, event rates and --monotone speak of. [default: the last of two classes]",
)
@click.option(
    "-C",
    "--criterion",
    default="modl",
    show_default=True,
    shell_complete=_complete_criterion,
    help="Cost to minimise; see gridmodl criteria.",
)
@click.option("--option", multiple=True, metavar="NAME=VALUE", help="Option of the criterion, such as alpha=0.7.")
@click.option("--search", type=click.Choice(KINDS), default=AUTO, show_default=True, help="How to search.")
@click.option("--effort", type=int, help="The search for a grid takes at most 2^(effort + 1) - 1 rounds. [default: 5]")
@click.option(
    "--special",
    multiple=True,
    metavar="COLUMN=VALUES",
    help="Numbers that are codes, and categories, that are parts of their own, such as age=-999,-1; those with | "
    "between them share a part: age=-999|-998,-1.",
)
@click.option(
    "--missing",
    type=click.Choice(["auto", "apart"]),
    help="Missing values are a part of their own where that is cheaper, or always. [default: auto]",
)
@click.option(
    "--monotone",
    type=click.Choice(["increasing", "decreasing", "peak", "valley", "auto"]),
    help="Order of the shares of the event: they only rise, only fall, rise and then fall, or the other way "
    "round; auto: the cheapest of these.",
)
@click.option("--max-parts", type=int, help="Largest number of parts of a column.")
@click.option(
    "--min-rows", type=Amount(), help="Smallest number of rows of a part; below 1, smallest share of all rows."
)
@click.option(
    "--min-events",
    type=Amount(),
    help="Smallest number of rows of every class in a part; below 1, smallest share of the rows of that class.",
)
@click.option(
    "--min-difference", type=float, help="Smallest difference of the shares of the event in neighbouring parts."
)
@click.option(
    "--stable-over",
    metavar="COLUMN",
    help="Column of periods, such as the month: parts have the same order of event rates in each. It is no input.",
)
@click.option(
    "--min-period-rows",
    type=Amount(),
    help="Smallest number of rows of a period for --stable-over; below 1, smallest share of all rows.  [default: 100]",
)
@click.option(
    "--limits",
    metavar="FILE",
    help='JSON file with limits for all columns or by column: {"min_rows": 50, "age": {"monotone": "peak", '
    '"fixed": [18, 65]}}.',
)
@click.option(
    "--time-limit", type=float, metavar="SECONDS", help="Stop the search after this time with the best result so far."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the search for a grid, and of --sample.")
@click.option("-j", "--jobs", type=int, help="Threads, -1 for one per core. [default: -1 with --each, else 1]")
@options.sample
@click.option(
    "--memory-limit",
    type=Size(),
    help="Memory for data and search, and of DuckDB, such as 4GB. [default: 80 % of what is free]",
)
@options.reading
@click.option("-o", "--output", metavar="FILE", help="Write the model here, as JSON; - for standard output.")
@click.option("--html", metavar="FILE", help="Write a report here.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@options.quiet
@options.every
def fit(**values: Any) -> None:
    """Find the best partition of the columns of DATA, a CSV, TSV, Parquet or Arrow file, packed or not, or a pattern of
    files in quotes such as 'folder/*.parquet'; - for standard input.

    With a target of classes and several columns this is one grid over those that matter together; --each partitions
    each column on its own, the most informative first. With --each, or one column and a target, files may be larger
    than memory: DuckDB counts them. Ctrl-C ends the search and writes the best result so far.
    """
    settings: FitSettings = options.checked_fit(FitSettings(**values))
    if settings.each and settings.target is None:
        raise click.UsageError("--each partitions each column for a target; give --target")
    if settings.stable_over is not None and settings.stable_over in (settings.target, settings.weights):
        raise click.UsageError(f"{settings.stable_over!r} cannot be both target or weights and --stable-over")
    from gridmodl.cli.fitting import run_fit

    run_fit(settings, options.messages(settings.quiet))


class AverageSettings(NamedTuple):
    """Arguments and options of ``gridmodl average``."""

    data: str
    target: str
    columns: tuple[str, ...]
    exclude: tuple[str, ...]
    kind: tuple[str, ...]
    order: tuple[str, ...]
    weights: str | None
    unlabelled: str | None
    event: str | None
    criterion: str
    option: tuple[str, ...]
    prior: str
    candidates: int
    special: tuple[str, ...]
    max_parts: int | None
    time_limit: float | None
    jobs: int
    sample: int | None
    seed: int
    format: str | None
    delimiter: str | None
    encoding: str
    no_header: bool
    nulls: tuple[str, ...]
    output: str | None
    html: str | None
    as_json: bool
    quiet: bool
    limits: str | None = None  # an option of ``gridmodl fit``


@click.command(
    short_help="Average over all partitions of each numerical or ordinal column.",
    epilog=options.examples(
        "gridmodl average data.parquet --target class -o averages.json --html averages.html",
        "gridmodl average data.csv --target class --columns age --special age=-999 --json",
    ),
)
@click.argument("data", type=click.Path())
@click.option("-t", "--target", metavar="COLUMN", required=True, help="Target column, of classes.")
@click.option(
    "-c",
    "--columns",
    multiple=True,
    metavar="NAMES",
    help="Use only these columns, such as a,b,c; may be given again. [default: all numerical and ordinal ones]",
)
@options.exclude
@click.option(
    "--kind",
    multiple=True,
    metavar="COLUMN=KIND",
    help="numerical or ordinal, where the type of the column says otherwise.",
)
@options.order
@options.weights
@options.unlabelled
@click.option(
    "--event", metavar="CLASS", help="Class whose probability the report shows. [default: the last of two classes]"
)
@click.option(
    "-C",
    "--criterion",
    default="modl",
    show_default=True,
    shell_complete=_complete_criterion,
    help="Cost that weighs partitions: modl, aic or bic.",
)
@click.option("--option", multiple=True, metavar="NAME=VALUE", help="Option of the criterion.")
@click.option(
    "--prior",
    type=click.Choice(["values", "rows"]),
    default="values",
    show_default=True,
    help="What the price of the number of parts counts.",
)
@click.option(
    "-m",
    "--candidates",
    type=int,
    default=512,
    show_default=True,
    help="Candidate bounds of a column; exact if it has no more distinct values.",
)
@click.option(
    "--special",
    multiple=True,
    metavar="COLUMN=CODES",
    help="Numbers that are codes, each a part of its own, such as age=-999,-1; those with | between them share a part.",
)
@click.option("--max-parts", type=int, help="Largest number of parts of a column.")
@click.option(
    "--time-limit", type=float, metavar="SECONDS", help="Columns that have not begun after this time get one part."
)
@click.option("-j", "--jobs", type=int, default=-1, show_default=True, help="Threads, -1 for one per core.")
@options.sample
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of --sample.")
@options.reading
@click.option("-o", "--output", metavar="FILE", help="Write the averages here, as JSON; - for standard output.")
@click.option("--html", metavar="FILE", help="Write a report here.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@options.quiet
@options.every
def average(**values: Any) -> None:
    """Average the predictions of all partitions of each numerical or ordinal column of DATA, a CSV, TSV, Parquet or
    Arrow file, packed or not; - for standard input.

    The best partition, from gridmodl fit, is to be read; to predict, the average is better. gridmodl sql writes an
    average as a query.
    """  # fmt: skip
    settings: AverageSettings = options.checked_fit(AverageSettings(**values))
    from gridmodl.cli.fitting import run_average

    run_average(settings, options.messages(settings.quiet))
