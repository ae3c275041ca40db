"""What commands write to a disk that is full: the old file stays, and the message names it."""

from __future__ import annotations

import pytest
from cli.commands import call

from gridmodl.cli.group import gridmodl

COMMANDS = {  # a run of each command for each option that names a file or a folder to write
    "fit": ["DATA -t class -c age -o OUT", "DATA -t class -c age --html OUT"],
    "average": ["DATA -t class -c age -o OUT", "DATA -t class -c age --html OUT"],
    "scorecard": ["DATA -t class -c age -o OUT", "DATA -t class -c age --html OUT"],
    "apply": [f"MODEL NEW -o OUT.{kind}" for kind in ("csv", "tsv", "parquet", "arrow", "arrows", "csv.gz", "csv.zst")],
    "compare": ["MODEL NEW --no-refit --html OUT"],
    "sample": ["JOINT -n 50 -o OUT.csv"],
    "report": ["MODEL -o OUT"],
    "edit": ["MODEL --column age --merge 1,2 -o OUT"],
    "sql": ["MODEL -d duckdb -o OUT"],
    "export": ["MODEL --format onnx -o OUT"],
    "demo": ["--folder FOLDER"],
}
PATHS = {"DATA": "data.csv", "MODEL": "models.json", "NEW": "new.csv", "JOINT": "joint.json"}


def test_every_option_that_names_a_file_is_tried():
    takes = {"-o", "--html", "--folder"}
    found = {name: {word for one in command.params for word in one.opts} for name, command in gridmodl.commands.items()}
    tried = {name: takes.intersection(*[" ".join(lines).split()]) for name, lines in COMMANDS.items()}
    assert tried == {name: words & takes for name, words in found.items() if words & takes}


@pytest.mark.parametrize("words", [f"{name} {words}" for name, lines in COMMANDS.items() for words in lines])
def test_the_old_file_stays(folder, full_disk, words):
    for word, name in PATHS.items():
        words = words.replace(word, str(folder / name))
    done = call(*words.replace("OUT", str(full_disk / "out")).replace("FOLDER", str(full_disk)).split())
    assert done.exit_code == 1, done.output
    assert f"gridmodl: error: {full_disk}/" in done.stderr
    assert done.stderr.endswith(": No space left on device\n")
