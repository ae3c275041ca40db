"""``gridmodl scorecard``: from data to a scorecard."""

from __future__ import annotations

from typing import Any, NamedTuple

import click

from gridmodl.cli import options
from gridmodl.cli.options import Amount


class ScorecardSettings(NamedTuple):
    """Arguments and options of ``gridmodl scorecard``."""

    data: str
    target: str
    columns: tuple[str, ...]
    exclude: tuple[str, ...]
    kind: tuple[str, ...]
    order: tuple[str, ...]
    weights: str | None
    unlabelled: str | None
    event: str | None
    models: str | None
    pdo: float
    base_points: float
    base_odds: float
    odds_of: str
    rounded: bool
    min_iv: float
    max_columns: int | None
    any_sign: bool
    keep_all: bool
    best: bool
    no_refine: bool
    special: tuple[str, ...]
    monotone: str | None
    max_parts: int | None
    min_rows: int | float
    limits: str | None
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


@click.command(
    short_help="Make a scorecard for two classes.",
    epilog=options.examples(
        "gridmodl scorecard data.csv --target class --event yes -o card.json --html card.html",
        "gridmodl scorecard data.parquet --target class --pdo 40 --base-points 500 --rounded --json",
        "gridmodl scorecard data.csv --target class --models models.json -o card.json",
    ),
)
@click.argument("data", type=click.Path())
@click.option("-t", "--target", metavar="COLUMN", required=True, help="Target column, of two classes.")
@click.option("-c", "--columns", multiple=True, metavar="NAMES", help="Use only these columns; may be given again.")
@options.exclude
@options.kind
@options.order
@options.weights
@options.unlabelled
@click.option("--event", metavar="CLASS", help="The event, such as a default. [default: the last class]")
@click.option(
    "--models", metavar="FILE", help="Models of gridmodl fit --each or gridmodl edit, whose parts are taken as given."
)
@click.option("--pdo", type=float, default=20.0, show_default=True, help="Points to double the odds.")
@click.option("--base-points", type=float, default=600.0, show_default=True, help="Score of the odds --base-odds.")
@click.option("--base-odds", type=float, default=50.0, show_default=True, help="Odds of the score --base-points.")
@click.option(
    "--odds-of",
    type=click.Choice(["rest", "event"]),
    default="rest",
    show_default=True,
    help="Whose odds: with rest, a high score means that the event is unlikely.",
)
@click.option("--rounded", is_flag=True, help="Whole points.")
@click.option("--min-iv", type=float, default=0.02, show_default=True, help="Smallest information value of a column.")
@click.option("--max-columns", type=int, help="Largest number of columns.")
@click.option("--any-sign", is_flag=True, help="Keep columns whose weight is negative.")
@click.option("--keep-all", is_flag=True, help="Keep columns without which held-out rows are predicted as well.")
@click.option("--best", is_flag=True, help="Parts of the best partition of numbers, not those of an average.")
@click.option("--no-refine", is_flag=True, help="No finer parts of weak columns than the criterion finds.")
@click.option(
    "--special", multiple=True, metavar="COLUMN=VALUES", help="Codes and categories that are parts of their own."
)
@click.option(
    "--monotone",
    type=click.Choice(["increasing", "decreasing", "peak", "valley", "auto"]),
    help="Order of the shares of the event along numerical columns.",
)
@click.option("--max-parts", type=int, help="Largest number of parts of a column.")
@click.option(
    "--min-rows",
    type=Amount(),
    default=20,
    show_default=True,
    help="Smallest number of rows of a part; below 1, smallest share of all rows.",
)
@click.option("--limits", metavar="FILE", help="JSON file with limits, as in gridmodl fit.")
@click.option("--time-limit", type=float, metavar="SECONDS", help="Stop the searches after this time.")
@click.option("-j", "--jobs", type=int, default=-1, show_default=True, help="Threads, -1 for one per core.")
@options.sample
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of --sample.")
@options.reading
@click.option("-o", "--output", metavar="FILE", help="Write the scorecard here, as JSON; - for standard output.")
@click.option("--html", metavar="FILE", help="Write a page here.")
@click.option("--json", "as_json", is_flag=True, help="Print the points table as JSON.")
@options.quiet
@options.every
def scorecard(**values: Any) -> None:
    """Make a scorecard from DATA, a CSV, TSV, Parquet or Arrow file, packed or not; - for standard input.

    Each column is partitioned, a logistic regression weighs the columns, and each part has points that add up to a
    score. The page has cut-offs of the score on the rows of DATA.
    """
    settings: ScorecardSettings = options.checked_fit(ScorecardSettings(**values))
    from gridmodl.cli.scorecard.running import run_scorecard

    run_scorecard(settings, options.messages(settings.quiet))
