"""The help of every command, and its examples, which must run as they stand there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from cli.commands import call, good
from docs.pages import without_seconds

from gridmodl.cli.group import gridmodl

MARK = "--- next block ---"
ROOT = Path(__file__).parent.parent.parent
PAGE, README = ROOT / "docs" / "use" / "command_line.md", ROOT / "README.md"


def commands(group, path=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


COMMANDS = list(commands(gridmodl))


def examples(text):
    return [line.strip() for line in re.findall(r"^ +(gridmodl .*)$", text, re.MULTILINE)]


@pytest.fixture
def workplace(folder, tmp_path, monkeypatch):
    """A copy of the files, to work in."""
    for path in folder.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_explains_itself_with_examples(path):
    text = good(*path, "--help")
    assert "Examples:" in text
    assert examples(text.partition("Examples:")[2])
    assert all(line.startswith("gridmodl " + " ".join(path)) for line in examples(text.partition("Examples:")[2]))


def run(line, workplace):
    """One line of a shell: words, and files to read from or write to."""
    words = shlex.split(line)
    stdin = stdout = None
    if "<" in words:
        stdin = (workplace / words[words.index("<") + 1]).read_bytes()
        words = words[: words.index("<")]
    if ">" in words:
        stdout = workplace / words[words.index(">") + 1]
        words = words[: words.index(">")]
    result = call(*words[1:], stdin=stdin)
    assert result.exit_code == 0, f"{line}\n{result.output}"
    if stdout is not None:
        stdout.write_text(result.stdout, encoding="utf-8")


@pytest.mark.parametrize("path", [path for path in COMMANDS if path != ("cache", "clear")], ids=" ".join)
def test_the_examples_run(path, workplace):
    for line in examples(good(*path, "--help").partition("Examples:")[2]):
        run(line, workplace)


def test_the_page_of_the_documentation_runs_and_prints_what_it_shows(workplace):
    """Its blocks for the shell, in one shell; what they print is the block of text behind them."""
    page = re.findall(r"```bash\n(.*?)```(?:\s*```text\n(.*?)```)?", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(page) >= 5
    script = "set -euo pipefail\n" + f"echo {MARK}\n".join(block for block, _ in page)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True)  # noqa: S607
    assert done.returncode == 0, done.stderr
    printed = [without_seconds(text) for text in done.stdout.split(f"{MARK}\n")]
    assert printed == [without_seconds(shown) for _, shown in page]


def test_the_commands_of_the_readme_run(workplace):
    (block,) = re.findall(r"```bash\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    for line in block.splitlines():
        run(line.partition("#")[0], workplace)


def test_every_command_is_in_the_documentation():
    text = PAGE.read_text(encoding="utf-8")
    assert [" ".join(path) for path in COMMANDS if f"gridmodl {' '.join(path)}" not in text] == []


def test_exit_codes_are_told():
    text = " ".join(good("--help").split())
    assert all(
        code in text for code in ("0 success", "1 an error in the data", "2 an error in the command", "130 interrupted")
    )
