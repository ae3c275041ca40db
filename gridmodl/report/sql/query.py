"""The query that applies a model to a table: parts, their labels, the cell, and predictions of the target.

The inner query finds the parts of each row; the outer one joins what the cells tell, as a small table of literals.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.model.evidence import encoded_events
from gridmodl.model.names import output_labels
from gridmodl.model.policy import NO_PART, Policy
from gridmodl.model.target_quantiles import Prediction
from gridmodl.report.cell_lines import Wanted, cell_lines, check_wanted
from gridmodl.report.sql.densities import DensityQuery, density_query
from gridmodl.report.sql.dialects import Dialect, dialect_named
from gridmodl.report.sql.expressions import expression_of
from gridmodl.report.sql.literals import Aliases, Value, literal, quoted, quoted_path, sql_name, values_of
from gridmodl.spelling import did_you_mean
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.model.models import Models
    from gridmodl.model.partition import Partition

OF_PARTS = ("parts", "labels", "woe")
NOT_BY_DEFAULT = ("labels", "woe", "log_density")
OUTPUTS = (*OF_PARTS, "cell", "predict", "proba", "log_density")


def query_of_model(
    model: Model,
    dialect: str,
    table: Any,
    columns: Mapping[Name, str] | None,
    keep: Any,
    output: Any,
    wanted: Wanted,
) -> str:
    """The query of `Model.to_sql`."""
    target_dialect, outputs = dialect_named(dialect), _check_output(output, _outputs_of(model))
    check_wanted(wanted, outputs)
    shown, has_density = _shown_partitions(model), "log_density" in outputs
    more = [one for one in model.all_partitions.values() if model.target is None or one is model.target]
    known = model.all_partitions if has_density else model.partitions
    source = TableSource(target_dialect, table, columns, keep, shown, wanted.policy, known, more if has_density else ())
    models = dict.fromkeys(model.partitions, model)
    joined = _joined_columns(model, outputs, wanted, target_dialect)
    if not has_density:
        return _query(source, outputs, joined, models)
    density = density_query(model, source)
    return _query(source, outputs, joined, models, density)


def query_of_models(
    models: Models, dialect: str, table: Any, columns: Mapping[Name, str] | None, keep: Any, output: Any, policy: Policy
) -> str:
    """The query of `Models.to_sql`: the parts of all columns with more than one part."""
    allowed = [name for name in OF_PARTS if name != "woe" or all(map(_has_woe, models.values()))]
    target_dialect, outputs = dialect_named(dialect), _check_output(output, allowed)
    partitions = [partition for model in models.values() for partition in model.partitions.values()]
    shown = [partition for partition in partitions if partition.n_parts > 1]
    if not shown:
        raise ValueError("no column has more than one part, so there is nothing to ask of a database")
    source = TableSource(target_dialect, table, columns, keep, shown, policy, models)
    return _query(source, outputs, JoinedColumns((), [], []), models)


def _shown_partitions(model: Model) -> list[Partition]:
    """The partition of a single column; of several columns, the partitions with more than one part."""
    partitions = list(model.partitions.values())
    return [partition for partition in partitions if partition.n_parts > 1 or len(partitions) == 1]


def _has_woe(model: Model) -> bool:
    return len(model.classes) > 0


def _query(
    source: TableSource,
    outputs: list[str],
    joined: JoinedColumns,
    models: Mapping[Name, Model],
    density: DensityQuery | None = None,
) -> str:
    if outputs == ["parts"] and (source.kept or source.partitions):
        return f"SELECT\n  {_comma_lines(source.select('  '))}\nFROM {source.table} AS t"
    shown = [f"p.{name}" for name in source.kept]
    if "parts" in outputs:
        shown += [f"p.{alias}" for alias in source.parts.values()]
    if "labels" in outputs:
        shown += [_label(partition, source) for partition in source.partitions]
    if "woe" in outputs:
        shown += [entry for one in source.partitions for entry in _woe(models[one.name], one, source)]
    aliases = [source.aliases.add(column.name) for column in joined.columns]
    shown += [_joined_column(joined, i, alias) for i, alias in enumerate(aliases)]
    entries, joins = source.select("    "), _join(joined, aliases, source)
    if density is not None:
        entries, shown, joins = [*entries, *density.inner], [*shown, density.shown], joins + density.join
    if not shown:
        raise ValueError("no column has more than one part, so there is nothing to ask of a database")
    if not entries:
        return f"SELECT\n  {_comma_lines(shown)}\nFROM {source.table} AS t"
    inner = f"  SELECT\n    {_comma_lines(entries, '    ')}\n  FROM {source.table} AS t"
    return f"SELECT\n  {_comma_lines(shown)}\nFROM (\n{inner}\n) AS p{joins}"


def _comma_lines(items: Iterable[str], margin: str = "  ") -> str:
    return f",\n{margin}".join(items)


def _joined_column(joined: JoinedColumns, i: int, alias: str) -> str:
    """The value of the joined cell; a constant where no variable tells cells apart."""
    column = joined.columns[i]
    if not joined.names:
        return f"{column.by_cell[0]} AS {alias}"
    return f"COALESCE(c.{alias}, {column.otherwise}) AS {alias}"


def _join(joined: JoinedColumns, aliases: list[str], source: TableSource) -> str:
    if not joined.names or not aliases:
        return ""
    keys = [source.parts[name] for name in joined.names]
    rows = [
        [*map(str, parts), *(column.by_cell[i] for column in joined.columns)] for i, parts in enumerate(joined.cells)
    ]
    on = " AND ".join(f"c.{key} = p.{key}" for key in keys)
    return f"\nLEFT JOIN {source.dialect.rows([*keys, *aliases], rows)}\n  ON {on}"


def _label(partition: Partition, source: TableSource) -> str:
    """The label of the part, or the name that the user gave it; NULL for a value that belongs to no part."""
    texts = [literal(Value("text", label), source.dialect, "a label") for label in output_labels(partition)]
    cases = "".join(f"\n    WHEN {i} THEN {text}" for i, text in enumerate(texts))
    return f"CASE p.{source.parts[partition.name]}{cases}\n  END AS {source.aliases.add(f'label_{partition.name}')}"


def _woe(model: Model, partition: Partition, source: TableSource) -> Iterator[str]:
    """The weight of evidence of the part for each event; 0 for a value that belongs to no part."""
    events = encoded_events(model, partition)
    for one in events:
        cases = "".join(f"\n    WHEN {i} THEN {source.dialect.real(woe)}" for i, woe in enumerate(one.woe.tolist()))
        name = f"woe_{partition.name}" + (f"_{one.name}" if not model.has_one_event else "")
        part, alias = source.parts[partition.name], source.aliases.add(name)
        yield f"CASE p.{part}{cases}\n    ELSE {source.dialect.real(0.0)}\n  END AS {alias}"


class TableSource:
    """The table of a query, its columns, and the names of what is read from it, checked once for the whole query.

    Attributes
    ----------
    table : str
        Quoted name of the table.
    kept : list of str
        Quoted names of the columns that are returned unchanged.
    columns : dict of str to str
        Quoted name of the column of each variable.
    parts : dict of str to str
        Quoted name under which the part of each variable is returned.
    aliases : Aliases
        All names that are taken.
    """

    def __init__(
        self,
        dialect: Dialect,
        table: Any,
        columns: Mapping[Name, str] | None,
        keep: Any,
        partitions: Sequence[Partition],
        policy: Policy,
        known: Collection[Name],
        more: Sequence[Partition] = (),
    ) -> None:
        self.dialect = dialect
        self.partitions = partitions
        self.table = quoted_path(table, dialect, "table")
        self.aliases = Aliases(dialect)
        self.kept = self._keep_columns(keep)
        self._policy = policy
        self.columns = self._name_columns(_check_columns(columns, known), more)
        self.parts = {partition.name: self.aliases.add(f"part_{partition.name}") for partition in partitions}

    def select(self, margin: str) -> list[str]:
        """Entries of SELECT: the columns that are kept, then the parts."""
        return [f"t.{name} AS {name}" for name in self.kept] + [
            f"{self.part(partition, margin)} AS {self.parts[partition.name]}" for partition in self.partitions
        ]

    def part(self, partition: Partition, margin: str) -> str:
        """Expression of the number of the part."""
        return expression_of(partition, self.dialect, self.columns[partition.name], self._policy, margin)

    def _keep_columns(self, keep: Any) -> list[str]:
        if isinstance(keep, (str, bytes)) or not isinstance(keep, Sequence):
            raise TypeError(f"keep must be a list of names of columns, got {keep!r}")
        kept = []
        for name in keep:
            kept.append(quoted(name, self.dialect, "a column to keep"))
            if not self.aliases.is_free(name):
                raise ValueError(f"keep names {name!r} twice{self._by_case()}")
            self.aliases.keep(name)
        return kept

    def _name_columns(self, columns: Mapping[Name, str], more: Sequence[Partition]) -> dict[Name, str]:
        """Quoted column of each variable; ValueError if two variables have the same column."""
        found: dict[Name, str] = {}
        names = Aliases(self.dialect)
        for partition in {one.name: one for one in (*self.partitions, *more)}.values():
            what = f"column {partition.name!r}"
            name = columns[partition.name] if partition.name in columns else sql_name(partition.name, "column")
            found[partition.name] = f"t.{quoted(name, self.dialect, what)}"
            if not names.is_free(name):
                raise ValueError(
                    f"{what} is {name!r} in SQL, as another one is{self._by_case()}; name it apart with columns="
                )
            names.keep(name)
        return found

    def _by_case(self) -> str:
        return "" if self.dialect.fold is None else f"; to {self.dialect.name}, A and a are one name"


def _check_columns(columns: Mapping[Name, str] | None, known: Collection[Name]) -> Mapping[Name, str]:
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise TypeError(f"columns must be a dict from columns of the model to their names in SQL, got {columns!r}")
    for name in columns:
        if name not in known:
            raise ValueError(f"columns names {name!r}, which is no column of the model{did_you_mean(name, known)}")
    return columns


class JoinedColumn(NamedTuple):
    """A column of the result that depends on the cell."""

    name: str
    by_cell: list[str]  # a literal for each cell, or for each part of a single column
    otherwise: str  # literal for a combination of parts that no row had


class JoinedColumns(NamedTuple):
    """All columns of the result that depend on the cell, and the parts that identify each cell."""

    names: Sequence[Name]  # variables
    cells: list[list[int]]  # parts of each cell, by variable; -1 for cells that agree in the other variables
    columns: list[JoinedColumn]


def _check_output(output: Any, allowed: Sequence[str]) -> list[str]:
    """The outputs to return, in the order of `allowed`; by default all but labels and woe."""
    if output is None:
        return [name for name in allowed if name not in NOT_BY_DEFAULT]
    outputs = list(output) if isinstance(output, Iterable) and not isinstance(output, str) else [output]
    if not outputs or any(name not in allowed for name in outputs):
        known = ", ".join(map(repr, allowed))
        near = next((did_you_mean(name, allowed) for name in outputs if name not in allowed), "")
        raise ValueError(f"output must be one or several of {known} for this model, got {output!r}{near}")
    return [name for name in allowed if name in outputs]


def _outputs_of(model: Model) -> list[str]:
    """Outputs that a query of this model can return."""
    has = {
        "parts": True,
        "labels": True,
        "woe": _has_woe(model),
        "cell": model.target is None,
        "predict": len(model.classes) > 0 or model._target_quantiles is not None,
        "proba": len(model.classes) > 0,
        "log_density": model.target is not None or not PROBLEMS[model.problem].has_classes,
    }
    return [name for name in OUTPUTS if has[name]]


def _joined_columns(model: Model, outputs: Sequence[str], wanted: Wanted, dialect: Dialect) -> JoinedColumns:
    """The number of the cell, and predictions: the likeliest class, shares of classes, or mean and quantiles."""
    lines = cell_lines(model, wanted, bool({"predict", "proba"} & set(outputs)))
    columns: list[JoinedColumn] = []
    if "cell" in outputs:
        columns.append(JoinedColumn("cell", list(map(str, lines.numbers)), str(NO_PART)))
    if lines.predictions is not None and "predict" in outputs:
        columns += [_reals(name, getattr(lines.predictions, name), dialect) for name in Prediction._fields]
    if lines.shares is not None and lines.likeliest is not None:
        columns += _class_columns(model.classes.tolist(), lines.shares, lines.likeliest, outputs, dialect)
    return JoinedColumns(lines.names, lines.parts, columns)


def _class_columns(
    names: list[Any],
    shares: NDArray[np.float64],
    likeliest: NDArray[np.int64],
    outputs: Sequence[str],
    dialect: Dialect,
) -> Iterator[JoinedColumn]:
    """The likeliest class, and the shares of classes."""
    if "predict" in outputs:
        literals = [literal(value, dialect, "a class") for value in values_of(names, "the target")]
        found = [literals[j] for j in likeliest.tolist()]
        yield JoinedColumn("predicted", found[:-1], found[-1])
    if "proba" in outputs:
        for name, column in zip(names, shares.T, strict=True):
            yield _reals(f"share_{name}", column, dialect)


def _reals(name: str, column: NDArray[np.float64], dialect: Dialect) -> JoinedColumn:
    literals = [dialect.real(number) for number in column.tolist()]
    return JoinedColumn(name, literals[:-1], literals[-1])
