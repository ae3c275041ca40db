"""LLVM without numba: optimise modules for a processor, write objects, and load them into this process."""

from __future__ import annotations

import functools
import os
import threading
from typing import Any

import llvmlite.binding as llvm

_lock = threading.RLock()  # of LLVM's engine: two threads may load kernels at once
# Whether objects are made for the linker, in a process that builds the library. Their parts refer to each other by
# distances of 32 bits; LLVM does not keep parts so near, and aborts the process where they are not.
is_linked = False


class Processor:
    """Processor that code is made for.

    Parameters
    ----------
    cpu, features : str
        As LLVM names them; those of this machine by default.
    """

    def __init__(self, cpu: str | None = None, features: str | None = None) -> None:
        _initialise()
        self.triple = llvm.get_process_triple()
        self.cpu = cpu or os.environ.get("NUMBA_CPU_NAME") or llvm.get_host_cpu_name()
        if features is None:
            given = os.environ.get("NUMBA_CPU_FEATURES")
            features = llvm.get_host_cpu_features().flatten() if given is None and cpu is None else given or ""
        self.features = features
        self.machine: Any = llvm.Target.from_triple(self.triple).create_target_machine(
            cpu=self.cpu,
            features=self.features,
            opt=3,
            reloc="pic" if is_linked else "static",
            codemodel="small" if is_linked else "large",
        )
        self.model = "small" if is_linked else "large"

    @property
    def name(self) -> tuple[str, str, str, str]:
        """What decides the machine code of a module."""
        return self.triple, self.cpu, self.features, self.model

    def optimise(self, module: Any) -> None:
        """Run LLVM's passes of level 3."""
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = options.slp_vectorization = True
        builder = llvm.create_pass_builder(self.machine, options)
        builder.getModulePassManager().run(module, builder)

    def object_of(self, module: Any) -> bytes:
        """Object of the linker's format."""
        code: bytes = self.machine.emit_object(module)
        return code


@functools.cache
def this_processor() -> Processor:
    """The `Processor` of this machine."""
    return Processor()


@functools.cache
def _initialise() -> None:
    # Newer versions of llvmlite have initialised LLVM by themselves, and refuse the call.
    for name in ("initialize", "initialize_native_target", "initialize_native_asmprinter"):
        try:
            getattr(llvm, name)()
        except (AttributeError, RuntimeError):
            continue


_objects: list[Any] = []


@functools.cache
def _engine() -> Any:
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def load_object(code: bytes, symbols: dict[str, str], needs: tuple[str, ...]) -> dict[str, int] | None:
    """Load an object; the addresses of its `symbols` by name, or None where the process lacks one of the `needs`."""
    with _lock:
        _initialise()
        engine = _engine()
        if not all(llvm.address_of_symbol(name) for name in needs):
            return None
        _objects.append(llvm.object_file.ObjectFileRef.from_data(code))  # LLVM refers to it
        engine.add_object_file(_objects[-1])
        engine.finalize_object()
        return {name: engine.get_function_address(symbol) for name, symbol in symbols.items()}
