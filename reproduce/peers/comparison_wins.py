"""Where the others win: the part of the page of `comparison.py` that sets every method beside gridmodl."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from comparison_libraries import CATEGORICAL, NUMERICAL
from reproduction import table_of

METHODS = {**NUMERICAL, **CATEGORICAL}
FIRST, SECOND = list(METHODS)[:2]
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
            f"* {kind}, cheaper on any column: {', '.join(cheaper) or 'none'}.",
            f"* {kind}, lower held-out loss in the mean over all columns: {', '.join(lower) or 'none'}.",
            f"* {kind}, loss clearly lower on more columns than clearly higher: {', '.join(clearly) or 'none'}.",
            f"* {kind}, faster on any line (than proven / than merge): {', '.join(quick) or 'none'}.",
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
        where = ", ".join(f"{n} of {job}" for job, n in single.index.get_level_values("job").value_counts().items())
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
            lines.append(f"* {', '.join(sorted(set(rows['method'])))}: {error} ({'; '.join(rows['job'].unique())})")
    if "failed" in times:
        for _, row in times.dropna(subset=["failed"]).iterrows():
            lines.append(f"* {row['method']}: no parts for {int(row['failed'])} columns of {row['job']}")
    return "Without an answer:\n\n" + "\n".join(lines) + "\n" if lines else ""
