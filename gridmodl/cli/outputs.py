"""Output of commands: files, which are never an input; rows as CSV; folders for copies of the data."""

from __future__ import annotations

import atexit
import contextlib
import csv
import io
import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from gridmodl.cli.messages import Failure
from gridmodl.writing import drop, naming, replaced, temporary_folder

STDOUT = "-"
# Beginnings that spreadsheets take for a formula, also after they dropped a tab or a line break; numbers are harmless.
FORMULA = "^[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
NUMBER = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"


@contextlib.contextmanager
def written_file(path: str) -> Iterator[Path]:
    """Yield a path to write to; its file replaces `path` if the block raises nothing. A device is written to itself."""
    if Path(path).exists() and not Path(path).is_file():  # not resolved: a pipe has no other name
        with naming(path, path):
            yield Path(path)
        return
    with replaced(path) as beside:
        yield beside


def write_text(path: str, text: str) -> None:
    """Write a text to a file, or to standard output for ``-``."""
    if path == STDOUT:
        click.echo(text, nl=not text.endswith("\n"))
        return
    with written_file(path) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")


def write_bytes(path: str, content: bytes) -> None:
    """Write bytes to a file, or to standard output for ``-``."""
    if path == STDOUT:
        click.echo(content, nl=False)
        return
    with written_file(path) as beside:
        beside.write_bytes(content)


def folder_of_command() -> Path:
    """Make a folder for copies of the data, which is deleted when the command ends."""
    folder = temporary_folder()
    command = click.get_current_context(silent=True)
    (atexit.register if command is None else command.call_on_close)(lambda: drop(folder))
    return folder


def check_outputs(inputs: dict[str, str], outputs: dict[str, str | None]) -> None:
    """Check that no output is an input or another output, and that its folder exists."""
    taken = {Path(path).resolve(): name for name, path in inputs.items() if path != STDOUT}
    on_stdout = [name for name, path in outputs.items() if path == STDOUT]
    if len(on_stdout) > 1:
        raise click.UsageError(f"{' and '.join(on_stdout)} cannot both go to standard output")
    for name, path in outputs.items():
        if path is None or path == STDOUT:
            continue
        there = Path(path).resolve()
        if there.is_dir():
            raise click.UsageError(f"{name} {path} is a folder; give the name of a file")
        if not there.parent.is_dir():
            raise click.UsageError(f"{name} {path}: there is no folder {str(there.parent)!r}")
        if there in taken and (not there.exists() or there.is_file()):
            raise click.UsageError(f"{name} {path} would write over {taken[there]}; give another name")
        taken[there] = name


def check_html(path: str | None) -> None:
    """Check that the page of --html, if one is wanted, can be written."""
    if path == STDOUT:
        raise click.UsageError("--html needs the name of a file: standard output has the summary")
    if path is not None:
        check_pages()


def check_pages() -> None:
    """Check that HTML pages can be made, before anything is computed."""
    if find_spec("vl_convert") is None:
        raise Failure('an HTML page needs vl-convert-python: pip install "gridmodl[html]"')


def csv_text(batch: Any, delimiter: str = ",", is_safe: bool = False) -> bytes:
    """Write a batch of pyarrow as lines of CSV; fields are quoted only if they must be, a missing value is empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    fields = [_field(batch.column(i), name, delimiter, is_safe) for i, name in enumerate(batch.schema.names)]
    if len(fields) == 1:  # an empty line would be no row
        fields = [pc.if_else(pc.equal(fields[0], ""), '""', fields[0])]
    lines = pc.binary_join_element_wise(*fields, delimiter)
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines), "\n")
    return bytes(joined[0].as_buffer()) + b"\n"


def csv_lines(columns: Mapping[str, Any], is_safe: bool = False) -> Iterator[str]:
    """Write a small table of columns as CSV."""
    import pyarrow as pa

    yield csv_header(list(columns), ",", is_safe)
    arrays = [pa.array(column) for column in columns.values()]
    if arrays and len(arrays[0]):
        yield csv_text(pa.RecordBatch.from_arrays(arrays, list(columns)), is_safe=is_safe).decode()


def csv_header(names: list[str], delimiter: str, is_safe: bool = False) -> str:
    """Write the names of columns as a line of CSV."""
    text = io.StringIO()
    cells = [
        "'" + name if is_safe and re.match(FORMULA, name) and not re.match(NUMBER, name) else name for name in names
    ]
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _field(column: Any, name: str, delimiter: str, is_safe: bool) -> Any:
    """Cells of a column as CSV; if they must be safe, a quote stands before texts that would be formulas."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        text = pc.fill_null(column.cast(pa.string()), "")
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise Failure(f"column {name!r} holds {column.type}, which text cannot; write Parquet or Arrow") from error
    if is_safe and not (pa.types.is_primitive(column.type) or pa.types.is_decimal(column.type)):  # may be a text
        is_formula = pc.and_not(pc.match_substring_regex(text, FORMULA), pc.match_substring_regex(text, NUMBER))
        text = pc.if_else(is_formula, pc.binary_join_element_wise("'", text, ""), text)
    needs = pc.match_substring_regex(text, f'["\r\n{re.escape(delimiter)}]')
    if not pc.any(needs).as_py():
        return text
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(text, '"', '""'), '"', "")
    return pc.if_else(needs, quoted, text)
