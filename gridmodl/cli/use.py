"""Commands that use a model file on rows: apply, sample and compare."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import click

from gridmodl.cli import options
from gridmodl.cli.messages import visible
from gridmodl.cli.outputs import STDOUT, check_html, check_outputs, write_text

DRIFTED = 3  # exit code of gridmodl compare


class ApplySettings(NamedTuple):
    """Arguments and options of ``gridmodl apply``."""

    model: str
    data: str
    outputs: tuple[str, ...]
    unknown: str | None
    missing: str | None
    coverage: float
    smoothing: bool
    informative: bool
    keep: bool
    keep_column: tuple[str, ...]
    format: str | None
    delimiter: str | None
    encoding: str
    no_header: bool
    nulls: tuple[str, ...]
    memory_limit: int | None
    output: str
    to: str | None
    safe_csv: bool
    as_json: bool
    quiet: bool


@click.command(
    short_help="Apply a model to new rows.",
    epilog=options.examples(
        "gridmodl apply model.json new.csv -o out.csv",
        "gridmodl apply model.json new.csv --as labels --keep -o out.parquet",
        "gridmodl apply model.json new.csv --as proba --keep-column id",
        "gridmodl apply models.json new.parquet --as labels --unknown largest -o parts.csv.gz",
        "gridmodl apply model.json - --format csv --as predict < new.csv",
        "gridmodl apply joint.json new.csv --as log_density --as imputed -o dense.csv",
    ),
)
@click.argument("model", type=click.Path())
@click.argument("data", type=click.Path())
@click.option(
    "--as",
    "outputs",
    type=click.Choice([*options.OUTPUTS, "imputed", "score", "points"]),
    multiple=True,
    help="Numbers of the parts, labels of the parts, their weights of evidence for the event, number of the cell, most "
    "likely class (for a numerical target: mean, median and an interval), share of each class, logarithm of the "
    "density of the row (of a joint grid, of one column, or of a target that is in the data; its mean is printed too), "
    "or the columns of a joint grid with missing cells filled in; of a scorecard, the score or the points of each "
    "column; may be given again. [default: parts; of a scorecard, score]",
)
@click.option(
    "--unknown",
    type=click.Choice(["neutral", "largest", "error"]),
    help="A category that training did not have: no part, -1 and neutral predictions; the group with the most rows; or "
    "an error. [default: neutral; in files of versions 1 to 5, the group that the file names]",
)
@click.option(
    "--missing",
    type=click.Choice(["neutral", "error"]),
    help="A missing value where training had none: no part, -1 and neutral predictions; or an error. "
    "[default: neutral; in files of versions 1 to 5, the lowest interval or the group that the file names]",
)
@click.option(
    "--coverage",
    type=click.FloatRange(0, 1),
    default=0.9,
    show_default=True,
    help="Coverage of the interval that --as predict gives for a numerical target.",
)
@options.smoothing
@click.option("--informative", is_flag=True, help="Only columns that have more than one part.")
@click.option("--keep", is_flag=True, help="Put all columns of the data first.")
@click.option(
    "--keep-column", multiple=True, metavar="COLUMN", help="Put this column of the data first; may be given again."
)
@options.reading
@click.option("--memory-limit", type=options.Size(), help="Memory for parsing text, such as 1GB.")
@click.option(
    "-o",
    "--output",
    default=STDOUT,
    metavar="FILE",
    help="CSV, TSV, Parquet or Arrow, by its suffix; .gz too. [default: CSV on standard output]",
)
@click.option(
    "--to",
    type=click.Choice(["csv", "tsv", "parquet", "arrow"]),
    help="Format of the output, if its name does not tell.",
)
@options.safe_csv
@click.option("--json", "as_json", is_flag=True, help="Print the number of rows and the file as JSON; with --output.")
@options.quiet
@options.every
def apply(**values: Any) -> None:
    """Find the parts of the rows of DATA, a file or a pattern of files in quotes, in MODEL, a file of gridmodl fit, or
    the scores by one of gridmodl scorecard.

    Rows are read, scored and written in batches, in their order: a file may be larger than memory. Columns of a text
    file are read in the types that they had when the model was made.
    """
    settings = ApplySettings(**values)
    if settings.as_json and settings.output == STDOUT:
        raise click.UsageError("--json needs --output: the rows go to standard output")
    if settings.model == settings.data == STDOUT:
        raise click.UsageError("MODEL and DATA cannot both be standard input")
    if settings.smoothing and "proba" not in settings.outputs:
        raise click.UsageError("--smoothing is for --as proba")
    check_outputs({"the model": settings.model, "the data": settings.data}, {"--output": settings.output})
    delimiter, encoding = options.checked_dialect(settings.delimiter, settings.encoding)
    from gridmodl.cli.applying import run_apply

    done = run_apply(settings._replace(delimiter=delimiter, encoding=encoding), options.messages(settings.quiet))
    if settings.as_json:
        facts = {"rows": done.n_rows, "output": settings.output} | ({} if done.score is None else {"score": done.score})
        click.echo(json.dumps(facts, ensure_ascii=False))


@click.command(
    short_help="Draw rows at random from a model.",
    epilog=options.examples(
        "gridmodl sample joint.json --rows 5",
        "gridmodl sample joint.json --rows 1000 --seed 1 -o drawn.parquet",
    ),
)
@click.argument("model", type=click.Path())
@click.option("-n", "--rows", type=click.IntRange(0), default=10, show_default=True, help="Number of rows.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed draws the same rows.")
@click.option(
    "-o",
    "--output",
    default=STDOUT,
    metavar="FILE",
    help="CSV, TSV, Parquet or Arrow, by its suffix; .gz too. [default: CSV on standard output]",
)
@options.safe_csv
@options.quiet
@options.every
def sample(model: str, rows: int, seed: int, output: str, safe_csv: bool, quiet: bool) -> None:
    """Draw rows from the density of MODEL, a joint grid or a model of one column without a target that gridmodl fit has
    written; - for standard input."""
    check_outputs({"the model": model}, {"--output": output})
    from gridmodl.cli.applying import run_sample

    run_sample(model, rows, seed, output, safe_csv, options.messages(quiet))


class CompareSettings(NamedTuple):
    """Arguments and options of ``gridmodl compare``."""

    model: str
    data: str
    target: str | None
    by: str | None
    weights: str | None
    threshold: float
    loss: float
    alpha: float
    refit: bool
    html: str | None
    title: str | None
    about: str | None
    section: tuple[str, ...]
    as_json: bool
    format: str | None
    delimiter: str | None
    encoding: str
    no_header: bool
    nulls: tuple[str, ...]
    quiet: bool


@click.command(
    short_help="Compare new rows with those of training.",
    epilog=options.examples(
        "gridmodl compare model.json new.csv",
        "gridmodl compare models.json new.csv --target class --by city --html drift.html",
        "gridmodl compare models.json new.csv --html report.html --section models.json --section averages.json",
        "gridmodl compare models.json new.parquet --threshold 0.25 --json",
    ),
)
@click.argument("model", type=click.Path())
@click.argument("data", type=click.Path())
@click.option("-t", "--target", metavar="COLUMN", help="Column of the classes; without it, only columns are compared.")
@click.option("--by", metavar="COLUMN", help="Column of periods: dates are taken by month, other values each alone.")
@options.weights
@click.option(
    "--threshold",
    type=click.FloatRange(0),
    default=0.1,
    show_default=True,
    help="Population stability index (PSI) from which on a column has drifted.",
)
@click.option(
    "--loss",
    type=click.FloatRange(0),
    default=0.1,
    show_default=True,
    help="Share of the information of a column on the classes whose loss is a drift.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1),
    default=0.01,
    show_default=True,
    help="Probability of any alarm at all if nothing has changed, whatever the number of columns and periods.",
)
@click.option("--refit/--no-refit", default=True, help="Price the best new partitions too; on by default.")
@click.option("--html", metavar="FILE", help="Write a page with charts and tables.")
@options.page
@click.option(
    "--section",
    multiple=True,
    metavar="FILE",
    help="A file to be on the page too, as in gridmodl report; may be given again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON in place of text.")
@options.reading
@options.quiet
@options.every
def compare(**values: Any) -> None:
    """Compare the rows of DATA with those that MODEL was made from, a file that gridmodl fit has written.

    Exit codes: 0 if nothing has drifted, 3 if a column, the cells of a grid or the target has, others as usual.
    """
    settings = CompareSettings(**values)
    if settings.model == settings.data == STDOUT:
        raise click.UsageError("MODEL and DATA cannot both be standard input")
    check_html(settings.html)
    if settings.section and settings.html is None:
        raise click.UsageError("--section is for the page of --html")
    inputs = {"the model": settings.model, "the data": settings.data}
    check_outputs(inputs | {f"--section {path}": path for path in settings.section}, {"--html": settings.html})
    delimiter, encoding = options.checked_dialect(settings.delimiter, settings.encoding)
    from gridmodl.cli.comparing import run_compare
    from gridmodl.cli.modelfiles import read_any

    messages = options.messages(settings.quiet)
    sections = [read_any(path) for path in settings.section]
    found = run_compare(settings._replace(delimiter=delimiter, encoding=encoding), messages)
    if settings.html is not None:
        write_text(settings.html, found.to_html(title=settings.title, about=settings.about, sections=sections))
    click.echo(found.to_json(), nl=False) if settings.as_json else click.echo(visible(found.summary()))
    if settings.html is not None:
        messages.say(f"written: {settings.html}")
    if found.has_drift:
        click.get_current_context().exit(DRIFTED)
