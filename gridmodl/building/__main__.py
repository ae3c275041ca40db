"""Compile all kernels for the library, link them, and write what the loader must know of them."""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from gridmodl.jit.library import FACTS, FEATURES, LIBRARY, kernel_symbol, terms_symbol

INLINED = ("modl", "bic", "gini")  # criteria whose terms are written into copies of the kernels
PROCESSOR = "x86-64-v3"
# Its facts, as LLVM names them.
LLVM_FEATURES = (
    "64bit", "avx", "avx2", "bmi", "bmi2", "cmov", "crc32", "cx16", "cx8", "f16c", "fma", "fxsr", "lzcnt", "mmx",
    "movbe", "popcnt", "sahf", "sse", "sse2", "sse3", "sse4.1", "sse4.2", "ssse3", "xsave",
)  # fmt: skip
# What kernels may need of the C library and of Python: both are there in every process.
ALLOWED = {
    "erfc", "exp", "expm1", "floor", "lgamma", "log", "log1p", "log2", "memcpy", "memmove", "memset", "pow", "sqrt",
    "PyErr_Clear", "PyErr_Occurred", "PyLong_AsLongLong",
}  # fmt: skip
LINKER = "cc"
N_WORKERS = 2


class Symbols:
    """Names functions by their source, and keeps which kernels a process has asked for."""

    def __init__(self) -> None:
        # By kernel, signature and name of terms: arguments, and the p among them.
        self.kernels: dict[tuple[Any, str, str], tuple[tuple[Any, ...], Any]] = {}

    def of_kernel(self, kernel: Any, text: str) -> str:
        """Name of a kernel with open terms."""
        return _found(kernel_symbol(kernel, text), kernel)

    def of_terms(self, criterion: Any, layout: str) -> str:
        """First part of the names of the terms of a criterion."""
        return _found(terms_symbol(criterion, layout), criterion)

    def hear(self, kernel: Any, text: str, arguments: tuple[Any, ...]) -> None:
        """Keep a kernel whose terms are to be written into it."""
        from gridmodl.jit.arguments import describe
        from gridmodl.jit.native import params_in

        params = params_in(arguments)
        terms = {self.of_terms(p.criterion, describe(p.own)) for p in params if p.criterion.name in INLINED}
        if len(terms) == 1:
            self.kernels.setdefault((kernel, text, *terms), (arguments, params[0]))


def _found(symbol: str | None, of: Any) -> str:
    if symbol is None:
        raise RuntimeError(f"{of.__qualname__} reaches something that is not in a file of source text")
    return symbol


def begin() -> Symbols:
    """Let this process compile for the linker, load by it what it compiles, and name functions by their source."""
    from gridmodl.jit import compiler, engine, native

    engine.is_linked, engine.load_object = True, load_linked
    compiler.kept = {}
    native.symbols = Symbols()
    return native.symbols


def load_linked(code: bytes, symbols: dict[str, str], needs: tuple[str, ...]) -> dict[str, int]:
    """Load an object as a library of its own; the addresses of its `symbols` by name."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "one.o").write_bytes(code)
        subprocess.run([LINKER, "-shared", "-o", "one.so", "one.o", "-lm"], cwd=folder, check=True)  # noqa: S603
        loaded = ctypes.CDLL(os.path.join(folder, "one.so"), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    found = {name: ctypes.cast(getattr(loaded, symbol), ctypes.c_void_p).value for name, symbol in symbols.items()}
    return {name: address or 0 for name, address in found.items()}


def compile_share(place: int, n_workers: int) -> None:
    """Compile what every n-th step of `gridmodl.building.calls` reaches, into the folder of NUMBA_CACHE_DIR."""
    from gridmodl.building.calls import jobs
    from gridmodl.jit import cache, compiler, engine

    heard = begin()
    kept: Any = compiler.kept
    for step, criteria in jobs()[place::n_workers]:
        for criterion in criteria:
            begun = time.process_time()
            step(criterion)
            seconds = time.process_time() - begun
            print(f"{step.__name__} {criterion}: {seconds:.1f} s, {len(kept)} kernels", flush=True)  # noqa: T201
    processor = engine.this_processor()
    for (kernel, text, terms), (arguments, p) in heard.kernels.items():
        symbol, old = _found(kernel_symbol(kernel, text, terms), kernel), heard.of_kernel(kernel, text)
        if cache.holds(symbol):
            continue
        if old not in kept:  # another process was quicker, and may not know of these terms
            compiler.compile_kernel(kernel, arguments, old, processor)
        code, returns = kept[old]
        cache.write(symbol, compiler.inlined_kernel(code, returns, p, old, symbol, processor))


def build(out: Path) -> None:
    """Write the library and its facts into the folder `out`."""
    is_known = platform.machine().lower() in ("x86_64", "amd64")
    with tempfile.TemporaryDirectory() as folder:
        settings = {"NUMBA_CACHE_DIR": folder, "GRIDMODL_COMPILE": "always", "GRIDMODL_QUIET": "1"}
        settings |= {"PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
        if is_known:
            settings["NUMBA_CPU_NAME"] = PROCESSOR
            settings["NUMBA_CPU_FEATURES"] = ",".join(f"+{feature}" for feature in LLVM_FEATURES)
        kept = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}  # they change the code
        command = [sys.executable, "-W", "ignore", "-m", "gridmodl.building", "--share"]
        workers = [
            subprocess.Popen([*command, str(place)], env=kept | settings)  # noqa: S603
            for place in range(N_WORKERS)
        ]
        codes = [worker.wait() for worker in workers]
        if any(codes):
            raise SystemExit(f"kernels could not be compiled: exit codes {codes}")
        link(Path(folder) / "gridmodl", out, FEATURES if is_known else ())


def link(folder: Path, out: Path, features: tuple[str, ...]) -> None:
    """Link all objects of a folder of kernels to the library in the folder `out`, and write its facts."""
    from gridmodl.jit import cache

    returns, terms, objects, needs = {}, {}, [], set()
    for file in sorted(folder.glob(f"*{cache.SUFFIX}")):
        found = cache.parse(file.read_bytes())
        if found is None:
            raise SystemExit(f"{file} is damaged")
        needs |= set(found.needs)
        if "kernel" in found.symbols:
            returns[found.symbols["kernel"]] = found.returns
        else:
            first = next(iter(found.symbols.items()))
            terms[first[1].removesuffix(f"_{first[0]}")] = sorted(found.symbols)
        objects.append((min(found.symbols.values()), found.code))
    if needs - ALLOWED:
        raise SystemExit(f"kernels need {', '.join(sorted(needs - ALLOWED))}, which no process must have")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        files = []
        for symbol, code in sorted(objects):
            files.append(f"{symbol}.o")
            (Path(place) / files[-1]).write_bytes(code)
        (Path(place) / "exported").write_text("{ global: k_*; t_*; local: *; };\n")
        options = ["-shared", "-s", "-Wl,--build-id=none", "-Wl,--version-script=exported", "-Wl,-z,noexecstack"]
        command = [LINKER, *options, "-o", LIBRARY, *files, "-lm"]
        subprocess.run(command, cwd=place, check=True)  # noqa: S603
        shutil.copyfile(Path(place) / LIBRARY, out / LIBRARY)
    facts = {
        "sha256": hashlib.sha256((out / LIBRARY).read_bytes()).hexdigest(),
        "machine": platform.machine().lower(),
        "features": features,
        "returns": dict(sorted(returns.items())),
        "terms": dict(sorted(terms.items())),
    }
    (out / FACTS).write_text(json.dumps(facts, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the library of kernels.")
    parser.add_argument("--out", type=Path, help="folder of the library")
    parser.add_argument("--share", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.share is not None:
        compile_share(given.share, N_WORKERS)
    elif given.out is not None:
        build(given.out)
    else:
        parser.error("--out is needed")
