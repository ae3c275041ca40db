"""Names of tables and columns: quoted, and told apart."""

from __future__ import annotations

import numbers
import re
from collections.abc import Sequence
from typing import Any

from gridmodl.frames import Name
from gridmodl.report.sql.dialects import Dialect


def sql_name(name: Name, what: str) -> str:
    """The name that a column of the model has in a table, where the user does not say: its own, or its number."""
    if isinstance(name, str):
        return str.__str__(name)
    if isinstance(name, numbers.Integral) and not isinstance(name, bool):
        return str(int(name))
    raise ValueError(f"{what} {name!r} ({type(name).__name__}) has no name in SQL; give it one, as a text")


def quoted(name: Any, dialect: Dialect, what: str) -> str:
    """A name in quotes, which nothing in it can end."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"the name of {what} must be a text that is not empty, got {name!r}")
    try:
        size = len(name.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise ValueError(f"the name of {what}, {name!r}, is no text that SQL can hold: {error.reason}") from error
    if "\0" in name:
        raise ValueError(f"the name of {what}, {name!r}, holds the character NUL, which no name in SQL can")
    if dialect.max_name is not None and size > dialect.max_name:
        raise ValueError(f"the name of {what}, {name!r}, has {size} bytes; {dialect.name} takes {dialect.max_name}")
    if dialect.escapes_quotes:
        name = name.replace("\\", "\\\\").replace(dialect.quote, "\\" + dialect.quote)
    else:
        name = name.replace(dialect.quote, 2 * dialect.quote)
    return f"{dialect.quote}{name}{dialect.quote}"


def quoted_path(path: Any, dialect: Dialect, what: str) -> str:
    """A name, or several from the outermost on, such as those of a schema and a table."""
    if isinstance(path, str):
        return quoted(path, dialect, what)
    if not isinstance(path, Sequence) or isinstance(path, bytes) or not path:
        raise ValueError(f"{what} must be a name or a sequence of names such as ('schema', 'name'), got {path!r}")
    return ".".join(quoted(name, dialect, what) for name in path)


class Aliases:
    """Names of what a query returns, no two of which are the same to the database."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._taken: set[str] = set()

    def _key(self, name: str) -> str:
        return name if self._dialect.fold is None else self._dialect.fold(name)

    def is_free(self, name: str) -> bool:
        return self._key(name) not in self._taken

    def keep(self, name: str) -> None:
        """Take a name of the user's, as it is."""
        self._taken.add(self._key(name))

    def add(self, wanted: str) -> str:
        """A name of ours, in quotes: as wanted, but for what the database does not take, or with a number behind it."""
        wanted = wanted.replace("\0", "_").encode("utf-8", "replace").decode("utf-8")
        if self._dialect.has_plain_aliases:
            wanted = re.sub(r"\W", "_", wanted)
        name, n = self._cut(wanted, ""), 1
        while not self.is_free(name):
            n += 1
            name = self._cut(wanted, f"_{n}")
        self.keep(name)
        return quoted(name, self._dialect, "a result")

    def _cut(self, name: str, ending: str) -> str:
        if self._dialect.max_name is None:
            return name + ending
        whole = name.encode("utf-8")[: self._dialect.max_name - len(ending)]
        return whole.decode("utf-8", "ignore") + ending
