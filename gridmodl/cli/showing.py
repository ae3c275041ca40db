"""Commands that show, edit or export a model file: show, report, edit, sql and export."""

from __future__ import annotations

import json
from typing import Any

import click

from gridmodl.cli import options
from gridmodl.cli.messages import Failure, suggest, visible
from gridmodl.cli.outputs import STDOUT, check_outputs, check_pages, write_bytes, write_text

# Those of `gridmodl.report.sql.dialects`, which imports numpy: help needs none.
DIALECTS = ("postgres", "duckdb", "sqlite", "mysql", "bigquery", "snowflake", "spark")
FORMATS = ("onnx",)


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
@click.option("--column", metavar="NAME", help="Only this column; of many models, the model of this column.")
@click.option("--table", is_flag=True, help="Print the parts of a column, one line each, with all statistics.")
@click.option("--cells", is_flag=True, help="Print the cells of the grid, one line each, largest first.")
@click.option("--csv", "as_csv", is_flag=True, help="Print a table as CSV.")
@options.safe_csv
@click.option("--json", "as_json", is_flag=True, help="Print the facts, or the table, as JSON.")
@options.every
def show(model: str, column: str | None, table: bool, cells: bool, as_csv: bool, safe_csv: bool, as_json: bool) -> None:
    """Print what is in MODEL, a file that gridmodl fit has written; - for standard input."""
    if table and cells:
        raise click.UsageError("--table and --cells print two tables; give one of them")
    if safe_csv and not as_csv:
        raise click.UsageError("--safe-csv is for a table as CSV; give --csv")
    if as_csv and (as_json or not (table or cells or column is None)):
        raise click.UsageError("--csv prints a table: give --table or --cells with it, and not --json")
    from gridmodl.averaging.averages import Averages
    from gridmodl.cli.modelfiles import facts_of, print_columns, print_summary, read_any
    from gridmodl.model.models import Models
    from gridmodl.scorecard.record import Scorecard

    found, messages = read_any(model), options.messages()
    if isinstance(found, Scorecard):
        from gridmodl.cli.scorecard.running import show_scorecard

        if cells:
            raise click.UsageError("--cells is for a grid, and this file holds a scorecard")
        name = None if column is None else _known(column, found.models, model)
        show_scorecard(found, name, table, as_csv, as_json, messages)
        return
    if isinstance(found, Averages):
        _show_averages(found, column, table, cells, as_csv, safe_csv, as_json, model)
        return
    if column is not None and isinstance(found, Models):
        found = found[_known(column, found, model)]
    if table or cells or (as_csv and isinstance(found, Models)):
        columns = _columns(found, column, cells, model)
        _print_json(_records(columns)) if as_json else print_columns(columns, messages, as_csv, safe_csv)
    elif as_csv:
        raise click.UsageError("--csv prints a table: give --table or --cells with it")
    elif as_json:
        _print_json(facts_of(found))
    else:
        print_summary(found, messages)


@click.command(
    short_help="Write a page of models, averages and scorecards.",
    epilog=options.examples(
        "gridmodl report model.json -o report.html",
        'gridmodl report models.json averages.json -o report.html --title "Shop" --about "target: class"',
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@click.option("-o", "--output", metavar="PAGE", required=True, help="The page to write; - for standard output.")
@options.page
@options.every
def report(files: tuple[str, ...], output: str, title: str | None, about: str | None) -> None:
    """Write an HTML page with a section for each FILE that gridmodl fit, average or scorecard has written.

    gridmodl compare --html writes one of new rows, with such sections below it.
    """
    if files.count(STDOUT) > 1:
        raise click.UsageError("only one FILE can be standard input")
    check_pages()
    check_outputs({path: path for path in files}, {"--output": output})
    from gridmodl.cli.modelfiles import read_any

    first, *others = [read_any(path) for path in files]
    write_text(output, first.to_html(title=title, about=about, sections=others))
    if output != STDOUT:
        options.messages().say(f"written: {visible(output)}")


def _show_averages(
    found: Any, column: str | None, table: bool, cells: bool, as_csv: bool, safe: bool, as_json: bool, path: str
) -> None:
    """Print averages: a line for each column, or the curve of one."""
    from gridmodl.averaging.averages import Averages
    from gridmodl.cli.modelfiles import facts_of_averages, print_columns

    if cells:
        raise click.UsageError("--cells is for a grid, and this file holds averages")
    one = None if column is None else found[_known(column, found, path)]
    if one is None and len(found) == 1:
        one = next(iter(found.values()))
    if table or as_csv:
        columns = dict((found if one is None else one).table("arrays"))
        _print_json(_records(columns)) if as_json else print_columns(columns, options.messages(), as_csv, safe)
    elif as_json:
        _print_json(facts_of_averages(found if one is None else Averages({one.name: one}, {})))
    else:
        click.echo(visible((found if one is None else one).summary()))


@click.command(
    short_help="Merge parts of a model.",
    epilog=options.examples(
        "gridmodl edit models.json --column age --merge 0,1 -o merged.json",
        "gridmodl edit model.json --column age --merge 0,1 -o coarser.json",
        "gridmodl edit models.json --drop city,income -o fewer.json",
    ),
)
@click.argument("model", type=click.Path())
@click.option("--column", metavar="NAME", help="Column whose parts to merge; not needed if there is only one.")
@click.option(
    "--merge", multiple=True, metavar="NUMBERS", help="Parts that become one, by their numbers from 0; again for more."
)
@click.option("--drop", multiple=True, metavar="NAMES", help="Of many models, leave out those of these columns.")
@click.option("-o", "--output", default=STDOUT, metavar="FILE", help="Model to write. [default: standard output]")
@options.quiet
@options.every
def edit(
    model: str, column: str | None, merge: tuple[str, ...], drop: tuple[str, ...], output: str, quiet: bool
) -> None:
    """Merge parts of MODEL, a file that gridmodl fit has written, and write the model with its cost; - for standard
    input.

    Counts are in the file, so that the data is not needed. gridmodl show prints the parts in the order of their
    numbers.
    """
    if not merge and not drop:
        raise click.UsageError("say what to change: --merge, or --drop")
    from gridmodl.cli.modelfiles import read_model
    from gridmodl.model.models import Models

    found = read_model(model)
    if drop:
        if not isinstance(found, Models):
            raise click.UsageError(f"--drop leaves out columns of many models, and {model} holds one model")
        for name in options.listed(drop, list(map(str, [*found, *found.errors]))):
            del found[_known(name, [*found, *found.errors], model)]
    if merge:
        names = found if isinstance(found, Models) else found.all_partitions
        if column is None and len(found if isinstance(found, Models) else found.partitions) > 1:
            raise Failure(f"{model} has {len(names)} columns; name one by --column: {', '.join(map(repr, names))}")
        chosen = next(iter(names)) if column is None else _known(column, names, model)
        edited = found.edit(chosen, merge=[[_number(text) for text in options.fields(one)] for one in merge])
        delta = (edited[chosen] if isinstance(edited, Models) else edited).delta
        options.messages(quiet).say(f"{chosen}: {delta:+.6f} nats")
        found = edited
    write_text(output, found.to_json())


def _number(text: str) -> int:
    if not text.strip().isdecimal():
        raise click.UsageError(f"--merge takes numbers of parts such as 2,3, got {text!r}")
    return int(text)


def _columns(found: Any, column: str | None, cells: bool, path: str) -> dict[str, Any]:
    """Columns of the table of parts, of cells or of models."""
    from gridmodl.model.models import Models

    if isinstance(found, Models):
        if cells:
            raise Failure(f"{path} holds {len(found)} models; name the one whose cells to print by --column")
        return dict(found.table("arrays"))
    if cells:
        return dict(found.cell_table("arrays"))
    names = found.all_partitions
    if column is None and len(found.partitions) > 1:
        listed = ", ".join(repr(name) for name in found.informative)
        raise Failure(f"{path} has {len(names)} columns; name one by --column: {listed}")
    return dict(found.table(None if column is None else _known(column, names, path), "arrays"))


def _known(column: str, names: Any, path: str) -> Any:
    """Find the name that is written `column`; a name in a model need not be text."""
    by_text = {str(name): name for name in names}
    if column not in by_text:
        raise Failure(f"{path} has no column {column!r}; {suggest(column, list(by_text))}")
    return by_text[column]


def _records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    import numpy as np

    lists = [[_finite(value) for value in np.asarray(column).tolist()] for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))) else value


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


# Of commands that write a model in another form, which cannot raise an error for a value.
_unknown = click.option(
    "--unknown",
    type=click.Choice(["neutral", "largest"]),
    help="A category that training did not have: no part, -1 and neutral predictions; or the group with the most rows. "
    "[default: as in gridmodl apply]",
)
_missing = click.option(
    "--missing",
    type=click.Choice(["neutral"]),
    help="A missing value where training had none: no part, -1 and neutral predictions. "
    "[default: as in gridmodl apply]",
)
_column = click.option("--column", metavar="NAME", help="Of averages of several columns, the one to write.")


@click.command(
    short_help="Print a model as a query.",
    epilog=options.examples(
        "gridmodl sql model.json --dialect duckdb --table customers --keep-column id",
        "gridmodl sql model.json --dialect postgres -o parts.sql",
        "gridmodl sql averages.json --dialect sqlite --column age -o averaged.sql",
    ),
)
@click.argument("model", type=click.Path())
@click.option("-d", "--dialect", type=click.Choice(DIALECTS), required=True, help="SQL dialect of the database.")
@click.option("--table", default="data", show_default=True, help="Table with the rows; schema.table too.")
@click.option(
    "--keep-column", multiple=True, metavar="COLUMN", help="Return this column of the table too; may be given again."
)
@click.option(
    "--as",
    "outputs",
    type=click.Choice([*options.OUTPUTS, "score", "points"]),
    multiple=True,
    help="As in gridmodl apply; may be given again. "
    "[default: all that the model has, except labels, woe and log_density; of a scorecard, points and score]",
)
@_unknown
@_missing
@options.smoothing
@_column
@click.option("-o", "--output", default=STDOUT, metavar="FILE", help="[default: standard output]")
@options.quiet
@options.every
def sql(
    model: str, dialect: str, table: str, keep_column: tuple[str, ...], outputs: tuple[str, ...],
    unknown: str | None, missing: str | None, smoothing: bool, column: str | None, output: str, quiet: bool,
) -> None:  # fmt: skip
    """Print a query that gives each row of a table its parts, as gridmodl apply does; for an average of gridmodl
    average, the probability of each class; for a scorecard of gridmodl scorecard, points and score."""
    check_outputs({"the model": model}, {"--output": output})
    from gridmodl.cli.modelfiles import read_any
    from gridmodl.scorecard.record import Scorecard

    path = table.split(".") if "." in table else table
    card = read_any(model)
    if isinstance(card, Scorecard):
        if column is not None or unknown or missing or smoothing:
            raise click.UsageError(
                "--column, --unknown, --missing and --smoothing are not for a scorecard, which has its own"
            )
        wrong = [one for one in outputs if one not in ("score", "points", "proba")]
        if wrong:
            raise click.UsageError(f"--as {wrong[0]} is not for the query of a scorecard: score, points or proba")
        text = card.to_sql(dialect, path, keep=keep_column, output=outputs or ("points", "score"))
    else:
        found, is_average = _model_or_average(model, column, bool(outputs or unknown or missing or smoothing))
        words: dict[str, Any] = {"unknown": unknown, "missing": missing, "output": outputs or None}
        words = {} if is_average else words | _smoothed(found, smoothing)
        text = found.to_sql(dialect, path, keep=keep_column, **words)
    write_text(output, text)
    if output != STDOUT:
        options.messages(quiet).say(f"written: {output}")


@click.command(
    short_help="Write a model in a format of others.",
    epilog=options.examples(
        "gridmodl export model.json --format onnx -o model.onnx",
        "gridmodl export models.json --format onnx --as parts --as woe -o woe.onnx",
        "gridmodl export averages.json --format onnx --column age -o age.onnx",
    ),
)
@click.argument("model", type=click.Path())
@click.option("-f", "--format", "kind", type=click.Choice(FORMATS), required=True, help="Format to write.")
@click.option(
    "--as",
    "outputs",
    type=click.Choice([name for name in options.OUTPUTS if name != "labels"]),
    multiple=True,
    help="As in gridmodl apply; may be given again. [default: all that the model has, except woe]",
)
@_unknown
@_missing
@options.smoothing
@_column
@click.option("--missing-text", default="", metavar="TEXT", help="Stands for a missing text. [default: the empty text]")
@click.option("-o", "--output", required=True, metavar="FILE", help="File to write; - is standard output.")
@options.quiet
@options.every
def export(
    model: str, kind: str, outputs: tuple[str, ...], unknown: str | None, missing: str | None, smoothing: bool,
    column: str | None, missing_text: str, output: str, quiet: bool,
) -> None:  # fmt: skip
    """Write a graph of ONNX that gives each row its parts and predictions, as gridmodl apply does; for an average of
    gridmodl average, the probability of each class; for a scorecard of gridmodl scorecard, its score."""
    check_outputs({"the model": model}, {"--output": output})
    from gridmodl.scorecard.record import Scorecard

    found, is_average = _model_or_average(model, column, bool(unknown or missing or smoothing))
    words: dict[str, Any] = {"missing_text": missing_text}
    if isinstance(found, Scorecard):
        if outputs or unknown or missing or smoothing:
            raise click.UsageError(
                "--as, --unknown, --missing and --smoothing are not for a scorecard, which has its own"
            )
    else:
        words["output"] = outputs or None
        words |= {} if is_average else {"unknown": unknown, "missing": missing, **_smoothed(found, smoothing)}
    write_bytes(output, found.to_onnx(**words).SerializeToString(deterministic=True))
    if output != STDOUT:
        options.messages(quiet).say(f"written: {output}")


def _smoothed(found: Any, smoothing: bool) -> dict[str, Any]:
    """The argument of --smoothing, which a table of models does not have: it writes no probabilities."""
    from gridmodl.model.models import Models

    if isinstance(found, Models) and smoothing:
        raise click.UsageError("--smoothing is for --as proba, which this file, of models of one column each, has not")
    return {} if isinstance(found, Models) else {"smoothing": smoothing}


def _model_or_average(path: str, column: str | None, has_words: bool) -> tuple[Any, bool]:
    """The model, or the models, of a file; of a file of averages, the one of `column`; and whether it is an average.

    `has_words` says that options were given that are for models.
    """
    from gridmodl.averaging.averages import Averages
    from gridmodl.cli.modelfiles import read_any

    found = read_any(path)
    if not isinstance(found, Averages):
        if column is not None:
            raise click.UsageError("--column is for averages, and this file holds a model")
        return found, False
    if has_words:
        raise click.UsageError(
            "--as, --unknown, --missing and --smoothing are for models, and this file holds averages"
        )
    if column is None and len(found) > 1:
        listed = ", ".join(repr(name) for name in list(found)[:10])
        raise Failure(f"{path} holds averages of {len(found)} columns; name one by --column: {listed}")
    return found[next(iter(found)) if column is None else _known(column, found, path)], True
