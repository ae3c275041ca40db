"""Compile the built-in criteria for a level of processors, and build the wheel of them; `make kernels` runs this.

    python build_wheel.py --out ../../dist --jobs 2
    python build_wheel.py --out ../../dist --criterion modl --problem classes

Kernels fit the versions of Python, numba, llvmlite and numpy that this runs with, and no others.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROCESSOR = "x86-64-v3"  # Intel since Haswell (2013), AMD since Excavator (2015)
FEATURES = (
    "64bit", "avx", "avx2", "bmi", "bmi2", "cmov", "crc32", "cx16", "cx8", "f16c", "fma", "fxsr", "lzcnt", "mmx",
    "movbe", "popcnt", "sahf", "sse", "sse2", "sse3", "sse4.1", "sse4.2", "ssse3", "xsave",
)  # fmt: skip


def build(out: Path, criteria: list[str], problems: list[str], n_jobs: int) -> None:
    """Write a wheel with kernels, and one without for all other machines, into the folder `out`."""
    out.mkdir(parents=True, exist_ok=True)
    _write_wheel(out, {})
    if platform.machine().lower() not in ("x86_64", "amd64"):
        raise SystemExit(f"kernels are built on x86-64 only, and this is {platform.machine()}: the wheel has none")
    with tempfile.TemporaryDirectory() as folder:
        # Read when numba is imported, here and in the processes that compile.
        os.environ |= {
            "NUMBA_CACHE_DIR": folder,
            "NUMBA_CPU_NAME": PROCESSOR,
            "NUMBA_CPU_FEATURES": ",".join(f"+{feature}" for feature in FEATURES),
            "NUMBA_DISABLE_INTEL_SVML": "1",  # few have it, and none needs it
            "GRIDMODL_SHIPPED": "ignore",
        }
        from gridmodl.analysis.warming import warm_up
        from gridmodl.criteria import gridmodl_criteria
        from gridmodl.jit.cache import cache_folder
        from gridmodl.jit.shipped import MANIFEST, manifest

        built_in = sorted({criterion.name for criterion in gridmodl_criteria()})
        n_kernels = warm_up(criteria or built_in, problems or None, n_jobs=n_jobs, progress=sys.stderr.isatty())
        kernels = cache_folder().path
        (kernels / MANIFEST).write_text(manifest(), encoding="utf-8")
        _write_wheel(out, {"GRIDMODL_KERNELS": str(kernels)})
        n_bytes = sum(file.stat().st_size for file in kernels.iterdir())
    print(f"{n_kernels} kernels, {n_bytes / 2**20:.1f} MB, are in the newest wheel of {out}")


def _write_wheel(out: Path, variables: dict[str, str]) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out.resolve())]
    # hatchling finds no other way to the folder of a project than the working directory.
    subprocess.run(command, cwd=HERE, env=os.environ | variables, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the wheels of gridmodl-kernels.")
    parser.add_argument("--out", type=Path, required=True, help="folder of the wheels")
    parser.add_argument("--criterion", action="append", default=[], help="only this one; may be given again")
    parser.add_argument("--problem", action="append", default=[], help="only this one; may be given again")
    parser.add_argument("--jobs", type=int, default=2, help="processes that compile")
    given = parser.parse_args()
    build(given.out, given.criterion, given.problem, given.jobs)
