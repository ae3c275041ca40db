"""The fuzzer itself: a few hundred of its cases pass, and it tells what is wrong where something is."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fuzz.__main__ import main
from fuzz.cases import KINDS, make_case
from fuzz.checks import Tally, check_case, check_model
from fuzz.doors import check_doors

SEED = 19
N_CASES = 400


def is_quick(case):
    """Other tests compile what these need: of grids and joint grids those of the default criterion and search."""
    return case.kind not in ("grid", "joint") or (case.criterion.name == "modl" and case.search.kind == "vns")


@pytest.mark.parametrize("first", range(0, N_CASES, 50))
def test_a_few_hundred_cases(first):
    for number in range(first, first + 50):
        case, rng = make_case(SEED, number)
        if is_quick(case):
            try:
                check_case(case, rng, Tally())
            except Exception as error:
                raise AssertionError(f"make fuzz CASE={SEED}:{number}\n{case}") from error


def test_cases_of_every_kind_are_made_and_made_alike():
    cases = [make_case(SEED, number)[0] for number in range(N_CASES)]
    known = {case.kind for case in cases if case.known}  # a known grid is a grid, or a joint one, with limits
    assert {case.kind for case in cases} == {*KINDS, "placement"} - {"known grid"}
    assert known == {"grid", "joint"}
    assert [str(case) for case in cases] == [str(make_case(SEED, number)[0]) for number in range(N_CASES)]


def doubled(model):
    partition = model.partitions["x"]
    return replace(model, partitions={"x": replace(partition, counts=2 * partition.counts)})


LIES = {
    "a lower cost": (lambda model: replace(model, cost=model.cost - 1e-3), "by the plain terms"),
    "a higher null cost": (lambda model: replace(model, null_cost=model.null_cost + 1e-3), "null cost"),
    "another number of rows": (lambda model: replace(model, n_rows=model.n_rows + 1), "rows of"),
    "twice the rows of each part": (doubled, "not bincount"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_found(lie):
    number = next(n for n in range(100) if make_case(SEED, n)[0].kind == "numerical")
    case, rng = make_case(SEED, number)
    forge, message = LIES[lie]
    with pytest.raises(AssertionError, match=message):
        check_model(case, forge(case.optimized()), rng, Tally())


def test_a_proof_of_what_is_not_the_optimum_is_found():
    for number in range(200):
        case, rng = make_case(SEED, number)
        if case.kind != "numerical" or case.optimized().partitions["x"].n_parts == 1:
            continue
        worse = replace(case, limits={**case.limits, "max_parts": 1}).optimized()
        with pytest.raises(AssertionError, match="but the lowest cost is"):
            check_model(case, replace(worse, proven=True), rng, Tally())
        return
    pytest.fail("no case has more than one part")


def run_apart(patch, *arguments):
    """The command in a process of its own, as it forks, after something in it was made wrong."""
    begin = "import math, os, signal, sys, fuzz.checks"
    code = "\n".join([begin, patch, "from fuzz.__main__ import main", "sys.exit(main(sys.argv[1:]))"])
    tests = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", code, "--seed", str(SEED), "--kind", "numerical", *arguments]
    paths = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths})
    return done.returncode, done.stdout + done.stderr


def test_the_command_says_how_many_cases_passed():
    code, told = run_apart("", "--most", "5")
    assert code == 0, told
    assert "5 cases in" in told
    assert re.search(r"\d+\.\d ms each; number \d+ took \d+\.\d\d s\n0 failed", told)


def test_the_command_says_how_to_repeat_a_failure(monkeypatch):
    code, told = run_apart("fuzz.checks.plain_price = lambda rows, parts: math.nan", "--most", "3")
    assert code == 1
    assert "3 failed" in told
    again = next(line.split()[1] for line in told.splitlines() if line.startswith("FAILED"))
    monkeypatch.setattr("fuzz.checks.plain_price", lambda rows, parts: math.nan)
    with pytest.raises(AssertionError, match="by the plain terms"):
        main(["--case", again])


def test_a_case_that_ends_the_process_is_a_failure_and_the_next_one_runs():
    first, second = [n for n in range(100) if make_case(SEED, n)[0].kind == "numerical"][:2]
    patch = "fuzz.checks.check_case = lambda case, rng, tally: os.kill(os.getpid(), signal.SIGKILL)"
    code, told = run_apart(patch, "--first", str(first), "--minutes", "0.05")
    assert code == 1
    assert f"FAILED {SEED}:{first}: the process was ended by SIGKILL" in told
    assert f"FAILED {SEED}:{second}: the process was ended by SIGKILL" in told


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ("command.PATIENCE = 0.3\nfuzz.checks.check_case = lambda *_: [None for _ in iter(int, 1)]", "more than 0.3 s"),
        ("command.STANDSTILL = 0.3\nfuzz.checks.check_case = lambda *_: signal.pause()", "not done after 0.3 s"),
    ],
    ids=["busy", "asleep"],
)
def test_a_case_that_hangs_is_a_failure(patch, reason):
    first = next(n for n in range(100) if make_case(SEED, n)[0].kind == "numerical")
    code, told = run_apart("import fuzz.__main__ as command\n" + patch, "--first", str(first), "--minutes", "0.05")
    assert code == 1
    assert f"FAILED {SEED}:{first}: it" in told
    assert reason in told


def test_a_case_that_waits_for_a_busy_machine_is_none():
    """Patience is of processor seconds: with five processes on two cores a first grid took 300 s to compile."""
    patch = "import time, fuzz.__main__ as command\ncommand.PATIENCE = 0.5\n"
    patch += "fuzz.checks.check_case = lambda *_: time.sleep(1.0)"
    code, told = run_apart(patch, "--most", "2")
    assert code == 0, told


def test_doors_that_hold_other_rows_are_told(monkeypatch):
    monkeypatch.setattr("fuzz.doors.doors_of", lambda column: {"reversed": column.objects()[::-1]})
    n = next(n for n in range(100) if make_case(SEED, n)[0].kind == "longer")
    case, rng = make_case(SEED, n)
    with pytest.raises(AssertionError, match=r"through \{'x': 'reversed'"):
        check_doors(case, case.optimized(), rng)
