"""The page on writing a criterion, followed to the letter in an empty folder."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "write_a_criterion.md").read_text(encoding="utf-8")
FOLDER = re.compile(r"## The folder\n\n```\n(.*?)```", re.DOTALL)
INCLUDED = re.compile(r"```\{literalinclude\} (\S+)\n:caption: (\S+)\n")
MISSING = [name for name in ("hatchling", "editables", "build") if find_spec(name) is None]
COMMANDS = re.compile(r"## Publish it\n\n```sh\n(.*?)```", re.DOTALL)


def files_shown() -> dict[str, str]:
    """Text of each file whose name stands above it on the page."""
    return {name: (DOCS / source).read_text(encoding="utf-8") for source, name in INCLUDED.findall(PAGE)}


def files_listed() -> list[str]:
    """Files of the folder that the page draws: a name that ends in / is that of a folder, its files below it."""
    found, folders = [], []
    for line in FOLDER.search(PAGE)[1].splitlines():
        depth, name = (len(line) - len(line.lstrip())) // 4, line.strip()
        folders[depth:] = [name]
        found += [] if name.endswith("/") else ["".join(folders)]
    return found


def commands() -> list[str]:
    return [line.partition("#")[0].strip() for line in COMMANDS.search(PAGE)[1].splitlines()]


def test_the_page_shows_every_file_of_the_folder():
    assert sorted(files_listed()) == sorted(files_shown())


def test_no_command_needs_a_newer_pip_than_that_of_python():
    """`--group` came with pip 25.1; Python 3.11 and 3.12 bring 24.0 or older."""
    assert [command for command in commands() if "--group" in command] == []


@pytest.mark.slow
@pytest.mark.skipif(MISSING != [], reason=f"pip would fetch {', '.join(MISSING)}")
def test_the_page_works_to_the_letter_in_an_empty_folder(tmp_path):
    """Nothing is fetched: the new environment sees the packages of this one, and builds with its hatchling."""
    for name, text in files_shown().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    run([sys.executable, "-m", "venv", "venv"], tmp_path)  # with Python's own pip
    python = str(tmp_path / "venv/bin/python")
    own = run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], tmp_path).strip()
    seen = [str(DOCS.parent), *(path for path in sys.path if Path(path).name == "site-packages")]
    (Path(own) / "packages_of_the_tests.pth").write_text("\n".join(seen))

    enter, *rest = commands()
    folder = tmp_path / enter.removeprefix("cd ")
    for command in rest:
        words = [python if word == "python" else word for word in command.split()]
        if "twine" in words:  # sends to PyPI, with an account there
            continue
        if "install" in words:
            words += ["--no-index", "--no-build-isolation"]
        if words[1:] == ["-m", "build"]:
            words += ["--no-isolation"]
        run(words, folder)
    made = sorted(path.name for path in (folder / "dist").iterdir())
    assert made == ["gridmodl_example-0.1.0-py3-none-any.whl", "gridmodl_example-0.1.0.tar.gz"]
    assert made[0] in PAGE


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout
