"""The summary of a model as text, for a terminal: that of a grid fits a screen of 40 lines by 80 characters.

What was found comes first, then the parts of each variable and the main cells of a grid, then the cost.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.model.labels import aligned, counted, text_width
from gridmodl.model.names import distinct, names_within, shortened
from gridmodl.report.hints import hints_of
from gridmodl.report.tables import largest
from gridmodl.report.text import (
    MAX_CELLS,
    MAX_CLASSES_SHOWN,
    MAX_SHOWN,
    MainCells,
    cost_text,
    criterion_text,
    finding_text,
    kept_limits,
    level_words,
    main_cells,
    parts_text,
    proof_text,
    size_text,
    statistics_of,
)
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

MAX_LINES, MAX_WIDTH = 40, 80  # of the summary of a grid
MAX_LEFT_OUT = 4  # lines on columns left out
MAX_TARGET_PARTS = 6  # of a partitioned target
MAX_COLUMNS = 8  # of a grid, whose parts are listed
MAX_COLUMN_NAME = 20  # characters of its name in the tables of a grid
MIN_NAME = 12  # characters of a group in these tables
MIN_CELL_NAME = 7  # of a group in the table of cells, as two cells look alike where a column is not shown
ROOMS = (40, 28, 20, MIN_NAME)  # characters of a group, of which the first is taken that fits
OF_SECONDS = 8  # characters, as lines must not depend on the digits of the time
KEPT_SPACE = "\xa0"  # no line ends with it
LEVEL, NO_LEVEL = re.compile(r"\blevel (\d+\.\d+)\b"), "a level"  # in a reason of `Model.left_out`
# Words of a reason in `Model.left_out`, and those for several columns that share it.
OF_MANY = {
    "it has": "each has",
    "it saves": "each saves",
    "of it": "of any of them",
    "leaves it": "leaves them",
    "its": "their",
}
MIN_PARTS, MIN_CLASSES = 2, 3  # of each column, however little room there is
TABLE_LINES = 2  # the head of a table, and the empty line below it


def summary_of(model: Model) -> str:
    """Summary of a model."""
    lines = _grid_lines(model) if len(model.partitions) > 1 else _column_lines(model)
    return "\n".join(line.rstrip() for line in lines)


def _column_lines(model: Model) -> list[str]:
    """Lines on the model of one column."""
    lines = [*wrapped(finding_text(model)), size_text(model)]
    shown = [one for one in (model.target, *model.partitions.values()) if one is not None]
    for partition in shown:
        lines += ["", *([f"{partition.name}: {parts_text(model, partition)}"] if model.target is not None else [])]
        lines += _parts(model, partition, MAX_SHOWN)
    return [*lines, *_hint_lines(model), "", *cost_lines(model)]


def _hint_lines(model: Model) -> list[str]:
    return [line for hint in hints_of(model) for line in wrapped(f"note: {hint}")]


def _parts(model: Model, partition: Partition, most: int) -> list[str]:
    """Lines of the table of parts of one variable: name, rows, statistics of the target that have room."""
    more = partition.n_parts - most
    if more == 1:  # which takes no more room than the line that would say so
        most, more = most + 1, 0
    fewer = [f"  ... and {counted(more, 'more part')}, with fewer rows"] if more > 0 else []
    for room, most_columns in itertools.product(ROOMS, range(MAX_CLASSES_SHOWN, MIN_CLASSES - 1, -1)):
        heads, columns, note = statistics_of(model, partition, most_columns)
        names, n_rows = names_within(partition, room), partition.rows
        rows = [["part", "rows", *heads]]
        rows += [[names[i], str(n_rows[i]), *(of[i] for of in columns)] for i in largest(n_rows, most)]
        lines = aligned(rows)
        if max(map(text_width, lines)) <= MAX_WIDTH:
            break
    return [*lines, *fewer, *note]


def _grid_lines(model: Model) -> list[str]:
    """Lines on a grid; of its columns as many parts as the screen has room for."""
    first = [*wrapped(finding_text(model)), size_text(model), ""]
    target = []
    if model.target is not None:
        target = [
            f"{model.target.name}: {parts_text(model, model.target)}",
            *_parts(model, model.target, MAX_TARGET_PARTS),
            "",
        ]
    cells = [*_cells(model), ""] if len(model.informative) > 1 else []
    last = [*_left_out(model), *_hint_lines(model), *cost_lines(model)]
    room = MAX_LINES - len(first) - len(target) - len(cells) - len(last)
    if room < MIN_PARTS * len(model.informative) + TABLE_LINES:  # the columns are named in the table of their parts
        first = [*wrapped(finding_text(model).partition(": ")[0]), *first[-2:]]
        room = MAX_LINES - len(first) - len(target) - len(cells) - len(last)
    return [*first, *target, *_columns(model, room), *cells, *last]


def _columns(model: Model, room: int) -> list[str]:
    """The parts of the informative columns in one table of about `room` lines, and an empty line below it."""
    names = model.informative[:MAX_COLUMNS]
    if not names:
        return []
    sizes = [model.partition(name).n_parts for name in names]
    room -= TABLE_LINES + (len(model.informative) > len(names))
    tried = itertools.product(ROOMS, range(MAX_CLASSES_SHOWN, MIN_CLASSES - 1, -1))
    for room_of_name, most_classes in tried:
        n_rows = room - len(statistics_of(model, model.partition(names[0]), most_classes)[2])
        fitting = [n for n in range(MIN_PARTS, max(sizes) + 1) if sum(min(n, of) for of in sizes) <= n_rows]
        most = max(fitting, default=MIN_PARTS)
        lines = _parts_table(model, names, most, most_classes, room_of_name)
        if max(text_width(line.rstrip()) for line in lines) <= MAX_WIDTH:
            break
    others = [f"{name} ({counted(model.partition(name).n_parts, 'part')})" for name in model.informative[MAX_COLUMNS:]]
    return [*lines, *wrapped(f"  and {', '.join(others)}"), ""] if others else [*lines, ""]


def _parts_table(model: Model, names: Sequence[object], most: int, most_classes: int, room: int) -> list[str]:
    """Lines of a table of the parts of several columns, of each the `most` parts with the most rows.

    Names of groups have at most `room` characters.
    """
    rows, note = [], list[str]()
    short = distinct([shortened(str(name), MAX_COLUMN_NAME) for name in names])
    for k, name in enumerate(names):
        partition = model.partition(name)
        heads, columns, note = statistics_of(model, partition, most_classes)
        n_rows, parts = partition.rows, names_within(partition, room)
        shown = largest(n_rows, most)
        is_cut = len(shown) < partition.n_parts
        labels = [short[k], *([f"  {len(shown)} of {partition.n_parts} parts"] * is_cut)]
        labels += [""] * len(shown)
        for place, i in enumerate(shown):
            rows.append([labels[place], parts[i], str(n_rows[i]), *(column[i] for column in columns)])
    return [*aligned([["column", "part", "rows", *heads], *rows], 2), *note]


def _cells(model: Model) -> list[str]:
    """Lines of a table of the main cells by the names of their parts. A part that all of these share is said once."""
    for most_classes in range(MAX_CLASSES_SHOWN, MIN_CLASSES - 1, -1):
        found = main_cells(model, most_classes)
        n_digits = max(len("rows"), len(str(found.cells.rows.max())))
        width = 2 + n_digits + 2 + len("share") + sum(max(map(len, of)) + 2 for of in _with_heads(found))
        if width <= MAX_WIDTH // 2:
            break
    names, shown = found.cells.names, found.order[:MAX_CELLS]
    parts = found.cells.parts[shown]
    is_shared = (parts == parts[0]).all(axis=0) & (len(shown) > 1)
    own = [k for k in range(len(names)) if not is_shared[k]]
    texts, hidden = _fitting(model, found, own, MAX_WIDTH - width)
    rows = [[*(of[-1] for of in texts.values()), "rows", "share", *found.heads]]
    for i, cell in enumerate(shown.tolist()):
        n = int(found.cells.rows[cell])
        where = [of[parts[i, k]] for k, of in texts.items()]
        rows.append([*where, str(n), f"{n / model.n_rows:.1%}", *(column[i] for column in found.columns)])
    lines = [f"{found.title}:", *aligned(rows, max(1, len(texts)))]
    shared = [f"{names[k]} {model.partition(names[k]).names[parts[0, k]]}" for k in np.flatnonzero(is_shared).tolist()]
    lines += wrapped(f"  all of them: {', '.join(shared)}") if shared else []
    return [*lines, *wrapped(f"  not shown: {', '.join(hidden)}; see cell_table()")] if hidden else lines


def _with_heads(found: MainCells) -> list[list[str]]:
    """Columns of what is said of the main cells, each below its head."""
    return [[head, *column[:MAX_CELLS]] for head, column in zip(found.heads, found.columns, strict=True)]


def _fitting(model: Model, found: MainCells, own: list[int], room: int) -> tuple[dict[int, list[str]], list[str]]:
    """Texts of the columns `own` of cells that fit `room` characters, and the names of the columns that do not.

    Texts are the names of the parts, and the head of the column at the end.
    """
    names = {k: found.cells.names[k] for k in own}

    def texts(most: int) -> dict[int, list[str]]:
        labels = {k: names_within(model.partition(name), most) for k, name in names.items()}
        widest = [max(most, *map(len, labels[k])) for k in names]
        heads = distinct([shortened(str(name), of) for name, of in zip(names.values(), widest, strict=True)])
        return {k: [*labels[k], head] for k, head in zip(names, heads, strict=True)}

    def widths(of: dict[int, list[str]]) -> list[int]:
        return [max(map(len, column)) + 2 for column in of.values()]

    longest = max([MIN_CELL_NAME, *(len(text) for column in texts(MAX_WIDTH).values() for text in column)])
    for most in range(longest, MIN_CELL_NAME - 1, -1):
        fitted = texts(most)
        if sum(widths(fitted)) <= room:
            return fitted, []
    fitted = texts(MIN_NAME)
    width = dict(zip(own, widths(fitted), strict=True))
    shown = list[int]()
    for k in _telling_apart(found.cells.parts[found.order[:MAX_CELLS]], own):
        if not shown or sum(width[j] for j in shown) + width[k] <= room:
            shown.append(k)
    return {k: fitted[k] for k in own if k in shown}, [str(names[k]) for k in own if k not in shown]


def _telling_apart(parts: NDArray[np.int64], columns: Sequence[int]) -> list[int]:
    """The `columns` of `parts` in the order of how many more rows each tells apart, ties: leftmost."""
    order = list[int]()
    while len(order) < len(columns):
        rest = [k for k in columns if k not in order]
        order.append(max(rest, key=lambda k: len(np.unique(parts[:, [*order, k]], axis=0))))
    return order


def _left_out(model: Model) -> list[str]:
    """Lines on the columns left out, by reason, and an empty line below them."""
    if not model.left_out:
        return []
    by_reason: dict[str, list[Name]] = {}  # but for the levels in it
    for name, reason in model.left_out.items():
        by_reason.setdefault(LEVEL.sub(NO_LEVEL, reason), []).append(name)
    lines = [f"columns left out: {len(model.left_out)}"]
    for reason, names in list(by_reason.items())[:MAX_LEFT_OUT]:
        more = f" and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else ""
        said = model.left_out[names[0]] if len(names) == 1 else _of_many(_with_range(model, reason, names))
        lines += wrapped(f"  {', '.join(map(str, names[:MAX_SHOWN]))}{more}: {said}")
    n_more = sum(map(len, list(by_reason.values())[MAX_LEFT_OUT:]))
    return [*lines, *([f"  and {counted(n_more, 'more column')}, see left_out"] if n_more else []), ""]


def _with_range(model: Model, reason: str, names: Sequence[Name]) -> str:
    """The reason of several columns, with the range of their levels where it has one."""
    levels = sorted(found[1] for name in names if (found := LEVEL.search(model.left_out[name])))
    ends = list(dict.fromkeys(levels[:1] + levels[-1:]))
    return reason.replace(NO_LEVEL, f"a level of {' to '.join(ends)}")


def _of_many(reason: str) -> str:
    """The reason of one column in `Model.left_out`, said of several."""
    for of_one, of_many in OF_MANY.items():
        reason = re.sub(rf"\b{of_one}\b", of_many, reason)
    return reason


def closing_lines(left_out: Mapping[Name, str], hints: Sequence[str]) -> list[str]:
    """Lines on columns left out, and notes, below a scorecard or a classifier."""
    said = [f"  {name} is left out: {why}" for name, why in left_out.items()]
    return [line for one in (*said, *(f"  note: {hint}" for hint in hints)) for line in wrapped(one)]


def cost_lines(model: Model) -> list[str]:
    """Lines on the cost, its limits, and how the partition was found."""
    asked = f"{criterion_text(model)}, {PROBLEMS[model.problem]};"
    found, seconds = f"search {model.search!r} ({proof_text(model)})", f"{model.elapsed:.3g} s"
    is_short = len(f"{asked} {found}") <= MAX_WIDTH - OF_SECONDS
    lines = [
        level_words(model),
        *([f"{asked} {found}, {seconds}"] if is_short else [asked, f"  {found}, {seconds}"]),
    ]
    if model.unproven is not None:
        lines += wrapped(f"not proven: {model.unproven}")
    limits = kept_limits(model)
    if limits:
        lines += wrapped(f"limits: {', '.join(limits)}")
    if model.stability is not None:
        lines += wrapped(model.stability.summary())
    if model.delta is not None:
        how = "worse" if model.delta > 0 else "better"
        lines.append(f"{cost_text(abs(model.delta))} nats {how} than the model that it was made from")
    return lines


def wrapped(text: str) -> list[str]:
    """Lines of at most MAX_WIDTH characters, unless a word, with what stands in brackets behind it, is longer."""
    indent = " " * (len(text) - len(text.lstrip()) + 2)
    kept = re.sub(r" ?\([^()]*\)", lambda found: found[0].replace(" ", KEPT_SPACE), text)
    lines = textwrap.wrap(kept, MAX_WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [line.replace(KEPT_SPACE, " ") for line in lines] or [text]
