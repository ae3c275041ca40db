"""The page of `comparison.py`: tables and pictures of its records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from reproduce.peers.column_libraries import CATEGORICAL, NUMERICAL
from reproduce.peers.processes import skipped_words
from reproduce.run import COLOURS, Run, picture, table_of

NONE = "-"
TIME_LIMIT = 300  # seconds of the processor for a method and a data set
INTRODUCTION = f"""\
Every method gets the training rows of one column at a time, with the classes, in an environment of its own. 70 % of the
rows of a data set are for training and 30 % for the test, drawn once; made data have as many test rows as half of the
training rows. Numbers and categories are apart, as not every library takes both.

* **Cost** is `gridmodl.price` of the parts on the training rows, with the papers' criterion (`modl`; M. Boullé, "MODL:
  a Bayes optimal discretization method for continuous attributes", Machine Learning 65, 2006). It is what gridmodl
  minimizes, and none of the others does: it says how far their parts are from that optimum, not how good they are by
  their own rule.
* **Held-out loss** takes no side: the mean over the test rows of $-\\log \\frac{{n_{{ij}} + 1}}{{n_i + J}}$, with
  $n_{{ij}}$ of the $n_i$ training rows of the part in the class, and $J$ classes. A second formula,
  $\\frac{{n_{{ij}} + p_j}}{{n_i + 1}}$ with $p_j$ the share of the class in the training rows, shows whether the first
  one decides who wins. A category that no training row has goes to the group of most categories, whatever the method.
* **Seconds** are of the processor, by the clock in brackets, for all columns of a line with one thread: the machine had
  other work to do, so the clock says little. Making the data in the library's own form, compiling, and a call with few
  rows come before. Khiops reads a file and starts processes, which counts; writing the file does not. A method has
  {TIME_LIMIT} s of the processor for a line.
* **gridmodl**: `optimize_each` with `search="auto"`, which proves the optimum where it can, and with `"merge"`.
* **Khiops**: `train_predictor` without the predictor, constructed variables, trees and pairs. Its criterion is no
  longer that of the papers.
* **optbinning**: `OptimalBinning`, or `MulticlassOptimalBinning` with more than two classes, which takes numbers only.
  As it comes, class shares follow a trend over the intervals (`monotonic_trend="auto"`); *no trend* is without.
* **Orange**: `EntropyMDL` (Fayyad and Irani). It has no supervised grouping of categories.
* **scikit-learn** has neither a supervised discretizer nor a grouping. `KBinsDiscretizer` does not see the classes: 5
  parts as it comes (quantiles), 20 quantiles, 5 of equal width, 5 by k-means. *tree* is a `DecisionTreeClassifier` of
  one column with at most 16 leaves of 1 % of the rows or more. *each value* is `OrdinalEncoder`: no grouping at all.
* **Missing values** (of adult, crx, sick_euthyroid, hypothyroid, mushroom and soybean_full) are a part of their own for
  optbinning and Orange; for scikit-learn too, whose methods are given the other rows, as `KBinsDiscretizer` takes none.
  gridmodl and Khiops choose whether they stand apart or not.
"""
METHODS = {**NUMERICAL, **CATEGORICAL}
FIRST, SECOND = list(METHODS)[:2]  # the others are compared to the first
KINDS = {"numerical": NUMERICAL, "categorical": CATEGORICAL}


def wins_text(records: pd.DataFrame, times: pd.DataFrame) -> str:
    tables = "\n".join(table(records, times, kind) for kind in KINDS)
    return f"{in_short(records, times)}\n{tables}\n{reasons(records)}\n{failures(times)}"


def signs(values: pd.Series, scale: Any = 1.0) -> tuple[int, int, int]:
    """How many are below, at and above zero."""
    same = np.abs(values) <= 1e-9 * scale
    return int((~same & (values < 0)).sum()), int(same.sum()), int((~same & (values > 0)).sum())


def clear(records: pd.DataFrame) -> pd.Series:
    """Differences of loss that are more than two standard errors: -1 lower, 1 higher, 0 neither."""
    return np.sign(records["extra loss"]) * (np.abs(records["extra loss"]) > 2.0 * records["error"])


def of_method(records: pd.DataFrame, method: str, kind: str) -> pd.DataFrame:
    return records[(records["method"] == method) & (records["kind"] == kind)]


def faster(times: pd.DataFrame, method: str, kind: str) -> tuple[int, int, int]:
    """On how many lines the method took less time than the first of gridmodl's and the second; and of how many."""
    seconds = times[times["kind"] == kind].pivot(index="job", columns="method", values="processor")
    own = seconds[method].dropna()
    first, second = (int((own < seconds[one][own.index]).sum()) for one in (FIRST, SECOND))
    return first, second, len(own)


def in_short(records: pd.DataFrame, times: pd.DataFrame) -> str:
    """Who is better than gridmodl, by each measure."""
    lines = []
    for kind, methods in KINDS.items():
        cheaper, lower, clearly, quick = [], [], [], []
        for method in [one for one in methods if one not in (FIRST, SECOND)]:
            own = of_method(records, method, kind)
            if len(own) == 0:
                continue
            below, _, above = signs(clear(own))
            mean, won = own["extra loss"].mean(), faster(times, method, kind)
            cheaper += [method] * (signs(own["excess"], own["cost"])[0] > 0)
            lower += [f"{method} ({mean:+.4f})"] * bool(mean < 0)
            clearly += [f"{method} ({below} / {above})"] * (below > above)
            quick += [f"{method} ({won[0]} / {won[1]} of {won[2]})"] * any(won[:2])
        lines += [
            f"* {kind}, cheaper on any column: {'; '.join(cheaper) or 'none'}.",
            f"* {kind}, lower held-out loss in the mean over all columns: {'; '.join(lower) or 'none'}.",
            f"* {kind}, loss clearly lower on more columns than clearly higher: {'; '.join(clearly) or 'none'}.",
            f"* {kind}, faster on any line (than proven / than merge): {'; '.join(quick) or 'none'}.",
        ]
    return "\n".join(lines) + "\n"


def table(records: pd.DataFrame, times: pd.DataFrame, kind: str) -> str:
    head = [
        kind, "columns", "cheaper / same / dearer", "loss lower / same / higher", "clearly lower / higher",
        "lower / higher, second formula", "mean excess cost, %", "mean difference of loss", "parts", "faster",
    ]  # fmt: skip
    lines = []
    for method in KINDS[kind]:
        own = of_method(records, method, kind)
        if len(own) == 0:
            continue
        below, _, above = signs(clear(own))
        other, won = signs(own["other extra loss"]), faster(times, method, kind)
        line = [method, str(len(own)), " / ".join(map(str, signs(own["excess"], own["cost"])))]
        line += [" / ".join(map(str, signs(own["extra loss"]))), f"{below} / {above}", f"{other[0]} / {other[2]}"]
        line += [f"{own['percent'].mean():.3f}", f"{own['extra loss'].mean():+.4f}", f"{own['parts'].mean():.1f}"]
        lines.append([*line, f"{won[0]} / {won[1]} of {won[2]}"])
    return table_of(head, lines)


def reasons(records: pd.DataFrame) -> str:
    """What the tables mean, and what they leave open."""
    ours = records[records["method"] == FIRST].set_index(["job", "column"])["parts"]
    keyed = records.set_index(["job", "column"])
    own = ours.reindex(keyed.index)
    lower = (clear(keyed) < 0) & ~keyed["method"].isin([FIRST, SECOND])
    single = keyed[(keyed["method"] == "optbinning") & (keyed["parts"] == 1) & (own > 1)]
    said = (
        f"All beside *{FIRST}* on the same columns. *Clearly* is by more than two standard errors over the test rows, "
        "which happens by chance to 1 column of 40 on either side. "
        "*faster*: lines of the table of seconds where the method took less processor time than "
        f"*{FIRST}* / than *{SECOND}*, of all that it has.\n\n"
        f"Of the {int(lower.sum())} times that the loss of another library is clearly lower, it has more parts "
        f"{int((lower & (keyed['parts'] > own)).sum())} times: the criterion has a part where the rows prove one, and "
        "class shares that change smoothly are followed more closely by more parts than that.\n"
    )
    if len(single):
        where = "; ".join(f"{n} of {job}" for job, n in single.index.get_level_values("job").value_counts().items())
        said += (
            f"\noptbinning has one part on {len(single)} columns where gridmodl has more ({where}): before it "
            "searches, it takes out parts without a row of some class, which tell the most, and has none of less than "
            "5 % of the rows.\n"
        )
    return said


def failures(times: pd.DataFrame) -> str:
    lines = []
    if "error" in times:
        for error, rows in times.dropna(subset=["error"]).groupby("error", sort=False):
            lines.append(f"* {'; '.join(sorted(set(rows['method'])))}: {error} ({'; '.join(rows['job'].unique())})")
    if "failed" in times:
        for _, row in times.dropna(subset=["failed"]).iterrows():
            lines.append(f"* {row['method']}: no parts for {int(row['failed'])} columns of {row['job']}")
    return "Without an answer:\n\n" + "\n".join(lines) + "\n" if lines else ""


def text(records: pd.DataFrame, times: pd.DataFrame, sizes: dict[str, Any], known: dict[str, str], run: Run) -> str:
    versions = times.dropna(subset=["version"]).drop_duplicates("package").set_index("package")["version"]
    ran = ", ".join(f"{package} {version}" for package, version in versions.items())
    skipped = skipped_words(kind.package for kind, *_ in METHODS.values() if kind.package not in known)
    records = records.assign(percent=100.0 * records["excess"] / (records["cost"] - records["excess"]))
    sections = [INTRODUCTION, f"Versions: {ran}. {skipped}\n", checked(records)]
    sections += [f"## Where the others win\n\n{wins_text(records, times)}"]
    sections += [f"## Cost\n\n{cost_tables(records, sizes)}", drawn_cost(records, run)]
    sections += [f"## Held-out loss\n\n{loss_tables(records)}", drawn_loss(records, run)]
    sections += [f"## Seconds\n\n{seconds_tables(times, sizes)}"]
    return "\n".join(sections)


def checked(records: pd.DataFrame) -> str:
    first = records[records["method"] == FIRST]
    wrong = records[~records["understood"]]
    which = "; ".join(sorted(set(wrong["method"]))) or "none"
    return (
        f"{len(first)} columns; gridmodl has proven the optimum of {int(first['proven'].sum())}. Parts whose rows of "
        f"each class, counted here, are not those that the library itself counts: {len(wrong)} of {len(records)} "
        f"({which}).\n"
    )


def by_job(frame: pd.DataFrame, kind: str, value: str) -> pd.DataFrame:
    """Mean over the columns; a line for each data set, a column for each method."""
    found = frame[frame["kind"] == kind].groupby(["job", "method"], sort=False)[value].mean().unstack("method")
    return found[[method for method in KINDS[kind] if method in found]]


def shown(table: pd.DataFrame, pattern: str) -> list[list[str]]:
    return [
        [str(job).removesuffix(", numerical").removesuffix(", categorical")]
        + [NONE if pd.isna(value) else pattern.format(value) for value in row]
        for job, row in zip(table.index, table.to_numpy(), strict=True)
    ]


def cost_tables(records: pd.DataFrame, sizes: dict[str, Any]) -> str:
    first = records[records["method"] == FIRST]
    found = []
    for kind in KINDS:
        table = by_job(records, kind, "percent").drop(columns=FIRST)
        lines = shown(table, "{:.2f}")
        for line, job in zip(lines, table.index, strict=True):
            rows, columns, classes = sizes[job]
            one = first[first["job"] == job]
            level = 1.0 - one["cost"].sum() / one["null"].sum()
            line[1:1] = [f"{rows:,} x {columns}, {classes}", f"{one['cost'].sum():.3f}", f"{level:.3f}"]
        head = [kind, "rows x columns, classes", f"cost, {FIRST}", "level", *map(str, table.columns)]
        found.append(table_of(head, lines))
    return (
        f"The sum of the costs of *{FIRST}*; the level, 1 - that over the cost of one part; and by how many percent "
        "the others are dearer, the mean over the columns.\n\n" + "\n".join(found)
    )


def loss_tables(records: pd.DataFrame) -> str:
    found = []
    for kind in KINDS:
        table = by_job(records, kind, "extra loss").drop(columns=FIRST)
        losses = by_job(records[records["method"] == FIRST], kind, "loss")[FIRST]
        lines = shown(table, "{:+.4f}")
        for line, loss in zip(lines, losses[table.index], strict=True):
            line.insert(1, f"{loss:.4f}")
        found.append(table_of([kind, FIRST, *map(str, table.columns)], lines))
    return f"Of *{FIRST}*, and what the others have more, the mean over the columns.\n\n" + "\n".join(found)


def seconds_tables(times: pd.DataFrame, sizes: dict[str, Any]) -> str:
    both = times.assign(both=[f"{row.processor:.3f} ({row.clock:.2f})" for row in times.itertuples()])
    found = []
    for kind in KINDS:
        table = both[both["kind"] == kind].pivot(index="job", columns="method", values="both")
        table = table.loc[[job for job in sizes if job in table.index], [m for m in KINDS[kind] if m in table]]
        lines = [[NONE if text.startswith("nan") else text for text in line] for line in shown(table, "{}")]
        found.append(table_of([kind, *map(str, table.columns)], lines))
    clocks = times.loc[times["method"] == "Khiops", "clock"]
    waits = f"\nNo call of Khiops took less than {clocks.min():.1f} s by the clock: mostly it waits for processes.\n"
    return "\n".join(found) + (waits if len(clocks) else "")


def strips(records: pd.DataFrame, value: str, threshold: float, label: str) -> Figure:
    """A line of dots for each method, a dot for each column; the bar is the median."""
    methods = [method for method in METHODS if method != FIRST and (records["method"] == method).any()]
    figure = Figure(figsize=(9.0, 0.45 * len(methods) + 1.2))
    axes = figure.subplots()
    rng = np.random.default_rng(0)
    for place, method in enumerate(methods):
        for side, (kind, colour) in enumerate(zip(KINDS, COLOURS, strict=False)):
            values = records.loc[(records["method"] == method) & (records["kind"] == kind), value].to_numpy()
            heights = place + 0.2 * (2 * side - 1) + rng.uniform(-0.12, 0.12, len(values))
            name = kind if place == 0 else None
            axes.scatter(values, heights, s=9, color=colour, alpha=0.5, linewidths=0, label=name)
            if len(values):
                ends = [place + 0.2 * (2 * side - 1) + move for move in (-0.18, 0.18)]
                axes.plot([np.median(values)] * 2, ends, color="black", linewidth=1.5)
    axes.set_xscale("symlog", linthresh=threshold)
    axes.axvline(0.0, color="grey", linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(methods)), methods)
    axes.invert_yaxis()
    axes.set_xlabel(label)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, markerscale=2.0)
    return figure


def drawn_cost(records: pd.DataFrame, run: Run) -> str:
    label = f"cost above that of {FIRST}, %; a dot is a column, a bar the median"
    return picture(
        "comparison_cost", "Excess cost of each column by method", strips(records, "percent", 0.1, label), run
    )


def drawn_loss(records: pd.DataFrame, run: Run) -> str:
    label = f"held-out loss above that of {FIRST}, nats per row; a dot is a column, a bar the median"
    figure = strips(records, "extra loss", 0.01, label)
    return picture("comparison_loss", "Difference of held-out loss of each column by method", figure, run)
