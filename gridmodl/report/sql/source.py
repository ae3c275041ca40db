"""What a query reads: the table, the columns that are kept as they are, and the part of each variable."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gridmodl.frames import Name
from gridmodl.report.sql.dialects import Dialect
from gridmodl.report.sql.expressions import expression_of
from gridmodl.report.sql.names import Aliases, quoted, quoted_path, sql_name
from gridmodl.spelling import did_you_mean

if TYPE_CHECKING:
    from gridmodl.partition import Partition


class Source:
    """Names are checked and told apart here, once for the whole query.

    Attributes
    ----------
    table : str
        Quoted.
    kept : list of str
        The quoted names of columns that are returned as they are.
    parts : dict of str to str
        By variable, the quoted name under which its part is returned.
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
        unknown: Any,
        known: Collection[Name],
    ) -> None:
        self.dialect = dialect
        self.partitions = partitions
        self.table = quoted_path(table, dialect, "table")
        self.aliases = Aliases(dialect)
        self.kept = self._kept(keep)
        self._unknown = unknown
        self._columns = self._named(_checked_columns(columns, known))
        self.parts = {partition.name: self.aliases.add(f"part_{partition.name}") for partition in partitions}

    def select(self, margin: str) -> list[str]:
        """The columns that are kept, then the parts."""
        return [f"t.{name} AS {name}" for name in self.kept] + [
            f"{expression_of(partition, self.dialect, self._columns[partition.name], self._unknown, margin)} "
            f"AS {self.parts[partition.name]}"
            for partition in self.partitions
        ]

    def _kept(self, keep: Any) -> list[str]:
        if isinstance(keep, (str, bytes)) or not isinstance(keep, Sequence):
            raise TypeError(f"keep must be a list of names of columns, got {keep!r}")
        kept = []
        for name in keep:
            kept.append(quoted(name, self.dialect, "a column to keep"))
            if not self.aliases.is_free(name):
                raise ValueError(f"keep names {name!r} twice{self._by_case()}")
            self.aliases.keep(name)
        return kept

    def _named(self, columns: Mapping[Name, str]) -> dict[Name, str]:
        """How each variable is written in the query; no two are the same column."""
        found: dict[Name, str] = {}
        names = Aliases(self.dialect)
        for partition in self.partitions:
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


def _checked_columns(columns: Mapping[Name, str] | None, known: Collection[Name]) -> Mapping[Name, str]:
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise TypeError(f"columns must be a dict from columns of the model to their names in SQL, got {columns!r}")
    for name in columns:
        if name not in known:
            raise ValueError(f"columns names {name!r}, which is no column of the model{did_you_mean(name, known)}")
    return columns
