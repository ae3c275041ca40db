"""HTML for notebooks: `_repr_html_` of models, partitions, densities and explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import ARRAYS
from gridmodl.density.model import rows_text, unit_of
from gridmodl.evidence.contributions import PRIOR
from gridmodl.model.counts import cell_lifts, part_counts, quantiles_of_parts
from gridmodl.model.densities.histogram import histogram_of
from gridmodl.model.evidence import total_evidence
from gridmodl.model.labels import counted, level_text
from gridmodl.model.names import names_within
from gridmodl.monitoring.record import lost_text
from gridmodl.report.curves import bound_text
from gridmodl.report.hints import hints_of, hints_of_evidence, hints_of_models
from gridmodl.report.pictures import (
    FAINT,
    MAX_DRAWN,
    PALETTE,
    Markup,
    ShownClasses,
    bars,
    folded,
    frame,
    heat_map,
    histogram,
    is_too_many,
    joined,
    label_tag,
    left_out_fold,
    legend,
    lines,
    meter,
    mosaic,
    name_tag,
    plain,
    ranges,
    ranked_classes,
    shown_classes,
    table,
    tag,
)
from gridmodl.report.tables import largest
from gridmodl.report.text import (
    FEW_DIGITS,
    MAX_CELLS,
    MAX_SHOWN,
    criterion_text,
    finding_text,
    kept_limits,
    level_words,
    main_cells,
    means_text,
    nothing_text,
    parts_text,
    proof_text,
    shown_cells,
    size_text,
    statistics_of,
)
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.analysis.explain import Explanation
    from gridmodl.data.counts import Counts
    from gridmodl.density import DensityModel
    from gridmodl.evidence.contributions import Contributions
    from gridmodl.evidence.record import WeightedEvidence
    from gridmodl.model.cells import Cells
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition
    from gridmodl.monitoring.record import Comparison
    from gridmodl.validation.penalty import PenaltyChoice

MAX_COLUMNS = 100  # rows of a table of models
MAX_PICTURES = 20  # of these rows that have a picture
MAX_SENTENCE = 1000  # characters
CELL_NAMES, MIN_CELL_NAME = 110, 12  # characters of the groups of a cell, which all columns share; of each at least
MAX_EXPLAINED = 5  # rows of data whose contributions are shown


def model_html(model: Model) -> str:
    """What was found, a picture and the parts of each variable, of a grid the cells first; the cost comes last."""
    limits = kept_limits(model)
    is_grid = len(model.partitions) > 1
    head = lines(
        *([plain(finding_text(model), MAX_SENTENCE)] if is_grid else []), plain(size_text(model), MAX_SENTENCE)
    )
    foot = lines(
        *(plain(f"note: {hint}", MAX_SENTENCE) for hint in hints_of(model)),
        level_words(model),
        joined(criterion_text(model), ", ", PROBLEMS[model.problem].text, f"; {proof_text(model)}"),
        *([plain(f"limits: {', '.join(limits)}", MAX_SENTENCE)] if limits else []),
        *([] if model.stability is None else [plain(model.stability.summary(), MAX_SENTENCE)]),
    )
    if not is_grid:
        shown = [part for part in (model.target, *model.partitions.values()) if part is not None]
        return frame(head, *(tag("div", lines(_heading(model, part)), parts_of(model, part)) for part in shown), foot)
    folds = [
        folded(_heading(model, partition), parts_of(model, partition), is_open=len(model.informative) == 1)
        for partition in [*([] if model.target is None else [model.target]), *map(model.partition, model.informative)]
    ]
    cells = _cells(model) if len(model.informative) > 1 else Markup("")
    return frame(head, cells, *folds, left_out_fold(model.left_out), foot)


def _heading(model: Model, partition: Partition) -> Markup:
    nothing = "" if partition is model.target else nothing_text(model)
    return joined(tag("b", name_tag(partition.name)), f": {parts_text(model, partition)}{nothing}")


def _more(n: int, what: str) -> Markup:
    """A note on the rows of a table of `n` that are not shown."""
    return tag("div", f"... and {counted(n - MAX_SHOWN, f'more {what}')}") if n > MAX_SHOWN else Markup("")


def parts_of(model: Model, partition: Partition) -> Markup:
    """A picture and a table of the parts of one variable."""
    heads, columns, note = statistics_of(model, partition)
    labels, rows = partition.names, partition.rows
    body = [[label_tag(labels[i]), int(rows[i]), *(column[i] for column in columns)] for i in largest(rows, MAX_SHOWN)]
    drawn = table(["part", "rows", *map(plain, heads)], body)
    return joined(
        _picture(model, partition), drawn, _more(partition.n_parts, "part"), *(tag("div", one) for one in note)
    )


def _picture(model: Model, partition: Partition) -> Markup:
    """Picture of shares of classes (or groups of classes), of quantiles of a numerical target, or of rows."""
    labels, rows = partition.names, partition.rows
    is_target = partition is model.target
    if model._target_quantiles is not None and not is_target:
        return ranges(quantiles_of_parts(model, partition).boxes(), rows, labels)
    if model.target is not None and not is_target:
        counts = part_counts(model, partition)
        return _mosaic(counts, model.target.names, rows, labels)
    if partition.n_values is None:
        return _mosaic(partition.counts, model.classes.tolist(), rows, labels)
    if partition.widths is not None:
        return _histogram(model)
    return bars(rows, labels)


def _histogram(model: Model) -> Markup:
    """Intervals of a density as boxes; masses, which have no density, as strokes as high as their share of the rows."""
    found = histogram_of(model)
    n = found.n_intervals if found.domain is not None else 0
    if n == 0:
        return bars(found.partition.rows, found.partition.names)
    heights, unit = found.log_densities[:n], found.unit
    of_intervals = zip(found.partition.names[:n], (found.densities[:n] * unit.size).tolist(), strict=True)
    titles = [f"{plain(label)}: density {density:.4g}{unit.per}" for label, density in of_intervals]
    edges = found.edges.astype(np.float64)
    width = edges[-1] - edges[0]
    masses = [
        (float((np.asarray(value, dtype=found.edges.dtype).astype(np.float64) - edges[0]) / width) if width else 0.5,
         float(found.probabilities[n + i]), f"{plain(found.partition.names[n + i])}: {found.probabilities[n + i]:.1%}")
        for i, values in enumerate(found.partition.special_parts) for value in values
    ]  # fmt: skip
    drawn = histogram(found.shares, np.exp(heights - np.nanmax(heights)), titles, masses)
    note = "; red: masses, as high as their share of the rows" if masses else ""
    return joined(drawn, _ends(found.edges, note))


def _ends(edges: NDArray[Any], note: str = "") -> Markup:
    """A line below the picture of a density: where it begins and ends."""
    return lines(f"density, from {bound_text(edges[0])} to {bound_text(edges[-1])}{note}")


def _mosaic(counts: Any, names: Sequence[Any], rows: Any, labels: Sequence[str]) -> Markup:
    shares = _coloured(counts, [plain(name) for name in names])
    return joined(mosaic(shares, rows, labels), legend(shares))


def _coloured(counts: Any, names: Sequence[str]) -> ShownClasses:
    """A colour for each class; where that would leave most rows grey, for the largest classes of each part."""
    if is_too_many(counts, len(PALETTE)):
        return ranked_classes(counts, others=FAINT)[0]
    return shown_classes(counts, names)


def _counted_cells(model: Model) -> tuple[Cells, list[Any]]:
    """Cells of a grid and the classes that they count; cells of the inputs beside a target in parts."""
    return shown_cells(model), model.classes.tolist() if model.target is None else model.target.names


def _cells(model: Model) -> Markup:
    """A picture of the cells of a grid, a table of the main ones, and a fold with more of them."""
    found = main_cells(model)
    cells, n_left = found.cells, max(1, len(found.cells.names))
    room = max(MIN_CELL_NAME, CELL_NAMES // max(1, len(cells.names)))
    labels = [names_within(model.partition(name), room) for name in cells.names]
    heads = [*map(name_tag, cells.names), "rows", *map(plain, found.heads)]
    rows = [
        [
            *(label_tag(labels[k][part]) for k, part in enumerate(cells.parts[i].tolist())),
            int(cells.rows[i]),
            *(column[place] for column in found.columns),
        ]
        for place, i in enumerate(found.order[:MAX_SHOWN].tolist())
    ]
    more = rows[MAX_CELLS:]
    rest = folded(counted(len(found.order) - MAX_CELLS, "more cell"), table(heads, more, n_left),
                  _more(len(found.order), "cell")) if more else Markup("")  # fmt: skip
    return joined(_grid_picture(model, found.order), lines(found.title), table(heads, rows[:MAX_CELLS], n_left), rest)


def _grid_picture(model: Model, order: Any) -> Markup:
    """A mosaic of the classes of cells; without classes a heat map of two variables, or bars of rows of more."""
    cells, classes = _counted_cells(model)
    texts = [f"cell {i + 1}" for i in range(len(order))]
    if classes:
        return _mosaic(cells.counts[order], classes, cells.rows[order], texts)
    names = cells.names
    if len(names) == 2 and max(model.partition(name).n_parts for name in names) <= MAX_DRAWN:
        labels = model.partition(names[0]).names, model.partition(names[1]).names
        what = "orange: more rows than expected, blue: fewer; "
        axes = joined(what, name_tag(names[0]), " to the right, ", name_tag(names[1]), " upwards")
        return joined(
            heat_map(cells.parts, cell_lifts(model), ([*map(plain, labels[0])], [*map(plain, labels[1])])), lines(axes)
        )
    return bars(cells.rows[order], texts)


def models_html(models: Mapping[Any, Any], errors: Mapping[Any, Exception] | None = None) -> str:
    """A table with a row for each column: picture, parts, what they say of the target, level, whether it is proven."""
    rows = []
    for i, (name, model) in enumerate(list(models.items())[:MAX_COLUMNS]):
        drawn = _small_picture(model) if i < MAX_PICTURES else ""
        rows.append([name_tag(name), drawn, *_facts(model)])
    heads = ["column", "parts drawn", "kind", "parts", "mean by part", "iv", "level", "", "proven"]
    kept = [k for k in range(len(heads)) if any(row[k] != "" for row in rows) or not rows]
    body = table([heads[k] for k in kept], [[row[k] for k in kept] for row in rows], 3)
    more = f"... and {counted(len(models) - MAX_COLUMNS, 'more column')}" if len(models) > MAX_COLUMNS else ""
    failed = [joined(name_tag(name), f": no model; {plain(error)}") for name, error in (errors or {}).items()]
    events = {model.event for model in models.values() if getattr(model, "has_one_event", False)}
    head = ", ".join([counted(len(models), "column"), *(f"event {plain(event)}" for event in events)])
    hinted = hints_of_models({name: model for name, model in models.items() if hasattr(model, "partitions")})
    notes = [plain(f"note: {hint}", MAX_SENTENCE) for hint in hinted]
    return frame(lines(head), body, lines(*([more] if more else []), *failed[:MAX_SHOWN], *notes))


def _small_picture(model: Any) -> Markup:
    if not hasattr(model, "partitions"):
        return bars(model.partition.rows, model.partition.names, 120, 16)
    (partition,) = model.partitions.values()
    counts, rows, labels = partition.counts, partition.rows, partition.names
    if model._target_quantiles is not None:
        return ranges(quantiles_of_parts(model, partition).boxes(), rows, labels, 120, 32)
    if model.target is not None:
        counts = part_counts(model, partition)
    if counts.shape[1] > 1:
        return mosaic(_coloured(counts, [str(j) for j in range(counts.shape[1])]), rows, labels, 120, 16)
    return bars(rows, labels, 120, 16)


def _facts(model: Any) -> list[Any]:
    """Table cells on the model of one column, or on a density."""
    if not hasattr(model, "partitions"):
        return ["density", model.n_parts, "", "", "", "", ""]
    (partition,) = model.partitions.values()
    evidence = total_evidence(model, partition)
    return [
        partition.kind,
        partition.n_parts,
        means_text(model, partition),
        "" if evidence is None else f"{evidence.iv:.4f}",
        level_text(model.level),
        "" if model.level is None else meter(model.level),
        "yes" if model.proven else "no",
    ]


def partition_html(partition: Partition) -> str:
    """A picture and a table of the parts of a variable and their rows."""
    labels, rows, counts = partition.names, partition.rows, partition.counts
    classes = [f"class {j}" for j in range(counts.shape[1])]  # whose names a partition does not hold
    drawn = bars(rows, labels) if counts.shape[1] == 1 else _mosaic(counts, classes, rows, labels)
    total = max(1, int(rows.sum()))
    body = [[label_tag(labels[i]), int(rows[i]), f"{rows[i] / total:.1%}"] for i in largest(rows, MAX_SHOWN)]
    kind = f"{partition.kind}, {counted(partition.n_parts, 'part')}"
    head = joined(tag("b", name_tag(partition.name)), f": {kind}")
    return frame(lines(head), drawn, table(["part", "rows", "share"], body), _more(partition.n_parts, "part"))


def density_html(model: DensityModel) -> str:
    """A picture and a table of the parts of a density."""
    unit = unit_of(model)
    columns = unit.shown(model.table("arrays"))
    rows = [
        [label_tag(label), int(n), f"{share:.1%}", f"{density:.4g}"]
        for label, n, share, density in zip(
            model.partition.names[:MAX_SHOWN],
            *(columns[name][:MAX_SHOWN] for name in ("rows", "share", "density")),
            strict=True,
        )
    ]
    how = model.method if model.kernel is None else f"{model.method}, {model.kernel}"
    head = joined(
        "density of ", tag("b", name_tag(model.partition.name)), f" by {how}: {counted(model.n_parts, 'part')}"
    )
    ratios = np.exp(model.log_densities - model.log_densities.max())  # as densities may overflow floats
    titles = [
        f"{plain(label)}: density {density:.4g}{unit.per}"
        for label, density in zip(model.partition.names, columns["density"], strict=True)
    ]
    drawn = joined(histogram(model.shares, ratios, titles), _ends(model.domain))
    body = table(["part", "rows", "share", unit.heads["density"]], rows)
    return frame(lines(head, rows_text(model)), drawn, body, _more(model.n_parts, "part"))


def explanation_html(explanation: Explanation) -> str:
    """The sentences, and a table of the costs of the alternatives by term, without the terms that are 0 in all."""
    columns = explanation.table("arrays")
    names = [name for name in list(columns)[2:] if name in ("cost", "delta") or np.any(columns[name])]
    digits = 2 if np.abs(columns["cost"]).max() >= FEW_DIGITS else 4
    rows = [
        [str(columns["partition"][i]), int(columns["parts"][i]), *(f"{columns[name][i]:,.{digits}f}" for name in names)]
        for i in range(len(columns["parts"]))
    ]
    heads = [name.replace("_", " ") for name in ("partition", "parts", *names)]
    return frame(lines(*(plain(one, MAX_SENTENCE) for one in explanation.sentences)), table(heads, rows))


def contributions_html(contributions: Contributions) -> str:
    """For each of the first rows, the probability of the class shown and what each column adds to its score."""
    found = [_contributions_of(contributions, row) for row in range(min(contributions.n_rows, MAX_EXPLAINED))]
    n_more = contributions.n_rows - len(found)
    return frame(*found, lines(f"... and {counted(n_more, 'more row')}") if n_more else Markup(""))


def _contributions_of(contributions: Contributions, row: int) -> Markup:
    c = contributions.shown_class(row)
    label, of_row = contributions.shown_classes[c], contributions.shown[row, :, c]
    probability = contributions.probabilities[row][contributions.classes.tolist().index(label)]
    order = np.argsort(-np.abs(of_row), kind="stable")
    rows = [[PRIOR, "", f"{contributions.base[c]:.4g}"]] + [
        [name_tag(contributions.names[k]), label_tag(contributions.values[row][k]), f"{of_row[k]:.4g}"]
        for k in order[:MAX_SHOWN].tolist()
    ]
    head = joined(f"row {row}: ", tag("b", name_tag(label)), f" has probability {probability:.4f}")
    heads = ["column", "value", f"adds to the {contributions.unit}"]
    return joined(lines(head), table(heads, rows, 2), _more(len(order), "column"))


def counts_html(counts: Counts) -> str:
    """The rows that were counted, and how many values or spans of each column."""
    rows = []
    for name in list(counts)[:MAX_COLUMNS]:
        column = counts.columns[name]
        n, most = column.n_spans, column.resolution
        rows.append([name_tag(name), f"{counted(n, 'span')} of up to {most:,} rows" if most else counted(n, "value")])
    head = joined(f"{counts.n_rows:,} rows counted, target ", tag("b", name_tag(counts.target)))
    failed = [joined(name_tag(name), f": not counted; {plain(error)}") for name, error in counts.errors.items()]
    more = len(counts) - MAX_COLUMNS
    cut = [f"... and {counted(more, 'more column')}"] if more > 0 else []
    return frame(lines(head), table(["column", "counted"], rows, 2), lines(*cut, *failed[:MAX_SHOWN]))


def evidence_html(evidence: WeightedEvidence) -> str:
    """The classes, and a table of the weight of each source and the range of what it says, the largest first."""
    columns = evidence.table(ARRAYS)
    rows = [
        [name_tag(name), f"{weight:.4f}", lines_of, f"{low:.3f}", f"{high:.3f}"]
        for name, weight, lines_of, low, high in zip(*columns.values(), strict=True)
    ]
    classes = ", ".join(plain(name) for name in evidence.classes[:MAX_SHOWN].tolist())
    event = "" if evidence.event_index is None else f", event {plain(evidence.event)}"
    more = len(evidence.sources) - MAX_COLUMNS
    cut = [f"... and {counted(more, 'more source')}"] if more > 0 else []
    head = plain(f"evidence of {counted(len(evidence.sources), 'source')} for {classes}{event}", MAX_SENTENCE)
    notes = [plain(f"note: {hint}", MAX_SENTENCE) for hint in hints_of_evidence(evidence)]
    body = table(list(columns), rows[:MAX_COLUMNS])
    return frame(lines(head), body, lines(*cut), left_out_fold(evidence.left_out), lines(*notes))


def comparison_html(comparison: Comparison) -> str:
    """The verdict, and a table of the columns of the largest PSI."""
    shown = sorted(comparison.all_parts, key=lambda one: -float(one.psi.max()))
    has_periods = any(len(one.periods) > 1 for one in shown)
    rows = []
    for one in shown[:MAX_SHOWN]:
        worst = int(one.psi.argmax())
        drawn = bars(one.new_rows[worst], one.labels, 120, 16) if len(one.labels) <= MAX_SHOWN else ""
        verdict = next((word for word in ("drift", "small change") if word in one.verdicts), "stable")
        when = [name_tag(one.periods[worst] if worst else "")] if has_periods else []
        rows.append([name_tag(one.name), drawn, verdict, *when, f"{one.psi[worst]:.4f}", f"{one.psi_noise[worst]:.4f}",
                     plain(lost_text(one))])  # fmt: skip
    heads = ["column", "new rows by part", "verdict", *(["worst period"] if has_periods else []), "PSI", "by chance",
             "information lost"]  # fmt: skip
    named = ", ".join(plain(name) for name in comparison.drifted[:MAX_SHOWN])
    head = f"{int(comparison.n_new[0]):,} new rows beside {comparison.n_old:,} of training"
    verdict = f"drift in {named}" if named else "no drift"
    return frame(lines(head, verdict), table(heads, rows, 3 + has_periods), _more(len(shown), "column"))


def choice_html(choice: PenaltyChoice) -> str:
    """The choice, a fold with the losses of all optima, and the model."""
    columns = choice.table("arrays") if choice.paths else {}
    rows = [[_number(values[i]) for values in columns.values()] for i in range(len(columns.get("parts", ())))]
    path = folded("losses of all optima", table(list(columns), rows)) if rows else Markup("")
    return frame(lines(plain(choice.sentence(), MAX_SENTENCE)), path, Markup(model_html(choice.model)))


def _number(value: Any) -> str:
    return str(int(value)) if isinstance(value, np.integer) else f"{value:.6g}"
