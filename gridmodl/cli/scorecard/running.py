"""Run ``gridmodl scorecard``; apply, print and write scorecards."""

from __future__ import annotations

import json
from functools import partial
from importlib.util import find_spec
from typing import Any

import click
import pyarrow as pa

from gridmodl.cli.fitting import (
    Result,
    add_event,
    add_unlabelled,
    column_arguments,
    column_roles,
    read_settings,
    type_levels,
    write_result,
)
from gridmodl.cli.messages import Failure, Messages, visible
from gridmodl.cli.modelfiles import read_model
from gridmodl.cli.options import limits_of
from gridmodl.cli.reading.columns import read_columns
from gridmodl.cli.reading.sources import data_file, open_source
from gridmodl.cli.scorecard.command import ScorecardSettings
from gridmodl.data.frames import ARRAYS
from gridmodl.model.models import Models
from gridmodl.model.names import output_labels
from gridmodl.report.hints import hints_of_models
from gridmodl.scorecard.record import Scorecard

OUTPUTS = ("score", "points", "parts", "labels", "proba", "predict")  # of --as


def run_scorecard(settings: ScorecardSettings, messages: Messages) -> None:
    """Read the columns, make the card, and write."""
    if find_spec("sklearn") is None:
        raise Failure('scorecard needs sklearn: pip install "gridmodl[sklearn]"')
    from gridmodl.estimators.scorecard import GridScorecard

    source = open_source(data_file(settings))
    roles = column_roles(source, settings)
    of_columns = column_arguments(settings, roles.inputs)
    with messages.reading(source.label, source.n_rows) as tell:
        data = read_columns(source, [*roles.inputs, *roles.others], read_settings(settings)._replace(tell=tell))
    arguments: dict[str, Any] = {**of_columns, **_limits(settings), "partitions": _given(settings, roles.inputs)}
    add_event(settings, data, arguments)
    add_unlabelled(settings, data, arguments)
    type_levels(data, arguments)
    arguments = {name: value for name, value in arguments.items() if name == "unlabelled" or value}
    estimator = GridScorecard(
        pdo=settings.pdo,
        base_points=settings.base_points,
        base_odds=settings.base_odds,
        odds_of=settings.odds_of,
        rounded=settings.rounded,
        min_iv=settings.min_iv,
        max_columns=settings.max_columns,
        sign=not settings.any_sign,
        validate=not settings.keep_all,
        averaged=False if settings.best else "auto",
        refine=not settings.no_refine,
        time_limit=settings.time_limit,
        n_jobs=settings.jobs,
        **arguments,
    )
    table = pa.table({name: data[name] for name in roles.inputs})
    weights = None if settings.weights is None else data[settings.weights].to_numpy()
    target = data[settings.target]
    target = target.cast(target.type.value_type) if pa.types.is_dictionary(target.type) else target
    y = target.to_numpy(zero_copy_only=False)
    card = estimator.fit(table, y, sample_weight=weights).scorecard_
    _write(card, table, y, weights, settings, messages)


def _limits(settings: ScorecardSettings) -> dict[str, Any]:
    """Limits on parts: of the options, and those of the file in their place."""
    given = {"monotone": settings.monotone, "max_parts": settings.max_parts, "min_rows": settings.min_rows}
    return {**given, **limits_of(settings.limits)}


def _given(settings: ScorecardSettings, inputs: list[str]) -> dict[str, Any] | None:
    """Models whose parts are taken as given, of the input columns."""
    if settings.models is None:
        return None
    found = read_model(settings.models)
    if not isinstance(found, Models):
        raise Failure(f"--models takes the models of gridmodl fit --each, and {settings.models} holds one model")
    return {str(name): model for name, model in found.items() if str(name) in inputs}


def _write(card: Scorecard, table: pa.Table, y: Any, weights: Any, settings: ScorecardSettings, messages: Any) -> None:
    """Write the card as the user asked for."""

    def page() -> str:
        is_known = settings.unlabelled is None
        return card.to_html(sections=[card.cutoffs(table, y, weights=weights)] if is_known else [])

    write_result(Result(card.to_json, page, partial(facts_of_scorecard, card), card.summary), settings, messages)


def facts_of_scorecard(card: Scorecard) -> dict[str, Any]:
    """Facts of a scorecard for JSON."""
    columns = card.table(ARRAYS)
    rows = zip(*(list(columns[name]) for name in ("column", "part", "rows", "points")), strict=True)
    return {
        "event": str(card.event),
        "scaling": card.scaling._asdict(),
        "base": card.base,
        "weights": dict(zip(map(str, card.models), card.weights.tolist(), strict=True)),
        "points": [
            {"column": str(column), "part": str(part), "rows": int(n), "points": float(points)}
            for column, part, n, points in rows
        ],
        "left_out": {str(name): why for name, why in card.left_out.items()},
        "notes": hints_of_models(card.models),
    }


def show_scorecard(card: Scorecard, column: Any, table: bool, as_csv: bool, as_json: bool, messages: Messages) -> None:
    """Print a scorecard: its summary, its points table, or the points of one column."""
    from gridmodl.cli.modelfiles import print_columns

    if column is not None or table or as_csv:
        columns = dict(card.table(ARRAYS)) if column is None else card.column_table(column)
        if as_json:  # NaN is no JSON
            lists = [[None if value != value else value for value in list(values)] for values in columns.values()]
            records = [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]
            click.echo(json.dumps(records, ensure_ascii=False, indent=2, default=lambda number: number.item()))
        else:
            print_columns(columns, messages, as_csv)
    elif as_json:
        click.echo(json.dumps(facts_of_scorecard(card), ensure_ascii=False, indent=2))
    else:
        click.echo(visible(card.summary()))


def checked_outputs(outputs: tuple[str, ...]) -> tuple[str, ...]:
    """Outputs of ``gridmodl apply`` that a scorecard has; by default the score."""
    wrong = [one for one in outputs if one not in OUTPUTS]
    if wrong:
        raise Failure(f"--as {wrong[0]} is not for a scorecard, which has {', '.join(OUTPUTS)}")
    return outputs or ("score",)


def scored(card: Scorecard, output: str, values: dict[Any, Any]) -> list[tuple[str, pa.Array]]:
    """Columns of one output of ``gridmodl apply`` for a batch of `values` by column."""
    if output == "score":
        return [("score", pa.array(card.score(values)))]
    if output == "proba":
        shares = card.predict_proba(values)
        return [(f"share_{name}", pa.array(shares[:, j])) for j, name in enumerate(card.classes.tolist())]
    if output == "predict":
        return [("predicted", pa.array(card.predict(values).tolist(), pa.array(card.classes.tolist()).type))]
    if output == "points":
        points = card.points(values, ARRAYS)
        return [(f"points_{name}", pa.array(points[str(name)])) for name in card.models]
    found = []
    for name in card.models:
        part = card.partition(name).part_of(values[name], *card.policy)
        if output == "parts":
            found.append((f"part_{name}", pa.array(part)))
        else:
            labels = pa.array(output_labels(card.partition(name)), pa.string())
            found.append((f"label_{name}", labels.take(pa.array(part, mask=part < 0))))
    return found
