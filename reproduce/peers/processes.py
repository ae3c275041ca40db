"""How the comparisons talk to the other libraries: a process for each package and data set, each in its environment.

The driver writes a folder with the data, starts `PYTHON -m MODULE FOLDER LIMIT METHOD...`, and reads
FOLDER/answers.json: for each method the seconds of its fit, and what it found. LIMIT is in seconds of the processor,
for each method. Both sides import this file, so it needs nothing but Python.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reproduce import environment

OURS = ("gridmodl", "scikit-learn")  # packages of the driver's own environment
PEERS = {
    "khiops": "khiops", "optbinning": "optbinning", "orange3": "orange", "sparsebm": "sparsebm",
    "interpret": "interpret",
}  # fmt: skip
PATIENCE = 4  # times the limit by the clock, as the machine may be busy
NO_ANSWER = "no answer in {} s"
ANSWERS = "answers.json"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Method:
    """A way to find parts. What `__init__` and `found` do is not under the clock; `fit` is."""

    package = ""

    def __init__(self, data: Any, *options: Any) -> None:
        self.data, self.options = data, options

    def warm_up(self) -> None:
        """Whatever the first call of a process does once."""

    def fit(self) -> None:
        raise NotImplementedError

    def found(self) -> Any:
        """The parts, as JSON has them."""
        raise NotImplementedError


def processor_seconds() -> float:
    """Of this process and of those that it started and that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def work(makers: Mapping[str, Callable[[], Method]], folder: Path, limit: int) -> None:
    """In the peer's process: fit under the clock, method after method, and write each answer as it comes."""
    warnings.simplefilter("ignore")
    answers: dict[str, Any] = {}
    for name, make in makers.items():
        begun = processor_seconds()
        # The system ends a process at its limit; what this one starts has the same limit.
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + limit, resource.RLIM_INFINITY))
        try:
            answers[name] = answer_of(make())
        except Exception as error:
            # Not all of it: the system counts whole ticks, which are more where other processes take turns.
            is_late = processor_seconds() - begun > 0.7 * limit
            answers[name] = {"error": NO_ANSWER.format(limit) if is_late else f"{type(error).__name__}: {error}"}
        (folder / ANSWERS).write_text(json.dumps(answers))


def answer_of(method: Method) -> dict[str, Any]:
    method.warm_up()
    clock, processor = time.perf_counter(), processor_seconds()
    method.fit()
    seconds = {"clock": time.perf_counter() - clock, "processor": processor_seconds() - processor}
    return {"version": importlib.metadata.version(method.package), **seconds, "found": method.found()}


def put_programs_in_path() -> None:
    """Some peers look there for their own."""
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def pythons(options: Any) -> dict[str, str]:
    """The Python of each package that there is one for."""
    given = {package: getattr(options, f"{name}_python", None) for package, name in PEERS.items()}
    return {**dict.fromkeys(OURS, sys.executable), **{package: path for package, path in given.items() if path}}


def python_options(names: Iterable[str]) -> dict[str, Any]:
    """For `read_run`."""
    return {f"{name}_python": (None, f"Python of an environment with {name}; skipped without") for name in names}


def ask(python: str, module: str, methods: Sequence[str], folder: Path, limit: int) -> dict[str, dict[str, Any]]:
    """The answer of each method of one package, or an error in words; all in one process, which loads it once."""
    (folder / ANSWERS).unlink(missing_ok=True)
    # A group of its own, so that at the time limit what it started ends with it.
    process = subprocess.Popen(  # noqa: S603
        [os.path.abspath(python), "-W", "ignore", "-m", module, str(folder), str(limit), *methods],
        cwd=folder, env={**environment(), **dict.fromkeys(THREADS, "1")},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    error = NO_ANSWER.format(limit)
    try:
        _, complaint = process.communicate(timeout=PATIENCE * limit * len(methods))
        if process.returncode != -signal.SIGXCPU:
            error = (complaint.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    answers = json.loads((folder / ANSWERS).read_text()) if (folder / ANSWERS).exists() else {}
    return {method: answers.get(method, {"error": error}) for method in methods}


def by_package(methods: Mapping[str, tuple[Any, ...]], known: Mapping[str, str]) -> dict[str, list[str]]:
    """The methods of each package whose Python is known."""
    packages: dict[str, list[str]] = {}
    for name, (kind, *_) in methods.items():
        if kind.package in known:
            packages.setdefault(kind.package, []).append(name)
    return packages


def skipped_words(missing: Iterable[str]) -> str:
    """What the page says of packages without an environment."""
    names = sorted(set(missing))
    return f"Not run, as no Python was given for them: {', '.join(names)}.\n" if names else ""
