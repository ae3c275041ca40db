"""Random problems against enumeration and invariants: `make fuzz MINUTES=10 SEED=0`, again: `make fuzz CASE=0:9`.

A case is made from a seed and a number alone. Cases run in a process of their own: one that ends it, or hangs, is a
failure like any other, and the next one begins anew.
"""

from __future__ import annotations

import argparse
import mmap
import os
import signal
import sys
import time
import traceback
from pathlib import Path

import numpy as np

PROJECT = Path(__file__).parent.parent.parent
os.environ.setdefault("NUMBA_CACHE_DIR", str(PROJECT / ".numba_cache"))

PATIENCE = 300  # processor seconds for one case; compiling a first grid takes one minute
STANDSTILL = 3600  # seconds for one case that does nothing; on a busy machine 300 are not enough
TELL_EVERY = 60  # seconds
AT, N_FAILED, IS_DONE, LONGEST, LONGEST_AT, N_FACTS = range(6)
CASES, SECONDS, KNOWN, FOUND, N_SUMS = range(5)


class Board:
    """What a process and the one that watches it both see."""

    def __init__(self, n_kinds: int) -> None:
        shared = mmap.mmap(-1, 8 * (N_FACTS + n_kinds * N_SUMS))
        numbers = np.frombuffer(shared, dtype=np.float64)
        self.facts, self.sums = numbers[:N_FACTS], numbers[N_FACTS:].reshape(n_kinds, N_SUMS)


def run(seed: int, first: int, until: float, most: int, board: Board, kinds: list[str], only: list[str]) -> None:
    """Run cases from the number `first` on, until a time or up to `most` cases."""
    from fuzz.cases import make_case
    from fuzz.checks import Tally, check_case

    number = first
    while time.monotonic() < until and board.sums[:, CASES].sum() < most:
        board.facts[AT] = number
        case, rng = make_case(seed, number)
        if not only or case.kind in only:
            signal.setitimer(signal.ITIMER_PROF, PATIENCE)  # SIGPROF ends the process
            tally, begun = Tally(), time.perf_counter()
            try:
                check_case(case, rng, tally)
            except Exception:
                board.facts[N_FAILED] += 1
                after = f"after {time.perf_counter() - begun:.2f} s"
                print(f"\nFAILED {seed}:{number} {after}\n{case}\n{traceback.format_exc()}", flush=True)
            row, took = board.sums[kinds.index(case.kind)], time.perf_counter() - begun
            row += [1, took, tally.known, tally.found]
            if took > board.facts[LONGEST]:
                board.facts[[LONGEST, LONGEST_AT]] = took, number
        number += 1
    board.facts[IS_DONE] = 1


def watched(seed: int, first: int, until: float, most: int, board: Board, kinds: list[str], only: list[str]) -> None:
    """Run cases in a process of their own, and in another from the next case on if that one dies or hangs."""
    from fuzz.cases import make_case

    while not board.facts[IS_DONE]:
        board.facts[AT] = first
        child = os.fork()
        if child == 0:
            try:
                run(seed, first, until, most, board, kinds, only)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        reason = _reason_to_end(child, board)
        if board.facts[IS_DONE]:
            return
        at = int(board.facts[AT])
        board.facts[N_FAILED] += 1
        print(f"\nFAILED {seed}:{at}: {reason}\n{make_case(seed, at)[0]}", flush=True)
        first = at + 1


def _reason_to_end(child: int, board: Board) -> str:
    at, since, told = -1.0, time.monotonic(), time.monotonic()
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            if not os.WIFSIGNALED(status):
                return "the process ended itself"
            if os.WTERMSIG(status) == signal.SIGPROF:
                return f"it took more than {PATIENCE} s"
            return f"the process was ended by {signal.Signals(os.WTERMSIG(status)).name}"
        if board.facts[AT] != at:
            at, since = float(board.facts[AT]), time.monotonic()
        if time.monotonic() - since > STANDSTILL:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return f"it was not done after {STANDSTILL} s"
        if time.monotonic() - told > TELL_EVERY:
            told = time.monotonic()
            print(f"{board.sums[:, CASES].sum():.0f} cases, {board.facts[N_FAILED]:.0f} failed", flush=True)
        time.sleep(0.2)


def report(board: Board, kinds: list[str], took: float) -> None:
    print(f"\n{'kind':18} {'cases':>8} {'a second':>9} {'optimum known':>14} {'found':>8}")
    for kind, sums in zip(kinds, board.sums, strict=True):
        if sums[CASES]:
            speed = sums[CASES] / sums[SECONDS]
            print(f"{kind:18} {sums[CASES]:8.0f} {speed:9.1f} {sums[KNOWN]:14.0f} {sums[FOUND]:8.0f}")
    total, n_failed = int(board.sums[:, CASES].sum()), int(board.facts[N_FAILED])
    longest, at = board.facts[LONGEST], int(board.facts[LONGEST_AT])
    print(f"{total} cases in {took:.0f} s, {1000 * took / max(1, total):.1f} ms each; number {at} took {longest:.2f} s")
    print(f"{n_failed} failed", flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--most", type=int, default=2**53, help="the most cases")
    parser.add_argument("--kind", action="append", default=[], help="cases of these kinds alone")
    parser.add_argument("--case", help="SEED:NUMBER of one case to run alone, in this process")
    given = parser.parse_args(arguments)

    from fuzz.cases import KINDS, make_case
    from fuzz.checks import Tally, check_case

    if given.case:
        seed, number = map(int, given.case.split(":"))
        case, rng = make_case(seed, number)
        print(case, flush=True)
        begun = time.perf_counter()
        check_case(case, rng, Tally())
        print(f"passed in {time.perf_counter() - begun:.3f} s")
        return 0
    kinds = [*KINDS, "placement"]
    unknown = set(given.kind) - set(kinds)
    if unknown:
        parser.error(f"unknown kind {unknown.pop()!r}; known: {', '.join(kinds)}")
    board, begun = Board(len(kinds)), time.monotonic()
    watched(given.seed, given.first, begun + 60.0 * given.minutes, given.most, board, kinds, given.kind)
    report(board, kinds, time.monotonic() - begun)
    if board.facts[N_FAILED]:
        print("run one again: make fuzz CASE=SEED:NUMBER")
    return int(board.facts[N_FAILED] > 0)


if __name__ == "__main__":
    sys.exit(main())
