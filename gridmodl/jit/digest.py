"""Find everything that a kernel can reach, and compute one digest of it.

The cache (`gridmodl.jit.cache`) finds a compiled kernel by this digest, not by file name and time stamp: those miss
edits of a term, and once made a criterion run the machine code of another. The digest covers everything that decides
the machine code: byte code, constants, called functions of all modules, defaults, closures, compiler options and
versions. It does not cover comments and docstrings. An object of unknown type raises a `TermError`.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import os
import sys
import types
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gridmodl.spelling import did_you_mean
from gridmodl.terms import FAILED, FAILED_TERM, FIRST_FIELD, FUNCTIONS

# Modules whose functions numba implements itself: their names and versions identify them.
KNOWN_MODULES = ("math", "numpy", "numba", "builtins", "operator")
# Files of this folder that decide how kernels are compiled and called.
COMPILERS = ("arguments.py", "compiler.py", "engine.py", "open_terms.py", "short_pipeline.py")
# Variables that do not decide the code that numba makes; the processor is a part of the name of a file.
IGNORED = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_DISABLE_JIT", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")


class TermError(TypeError):
    """A criterion's term cannot be compiled or priced; the message says which and why."""


class Uses(NamedTuple):
    """Objects that one function refers to."""

    names: dict[str, Any]  # values of the global names
    attributes: dict[str, Any]  # values of dotted names that start at a module
    closure: list[Any]


class Reachable:
    """All plain functions that `kernel` can reach; `terms` maps each free term to that of the criterion."""

    def __init__(self, kernel: Callable[..., Any], terms: Mapping[Any, Any], inline: bool = False) -> None:
        self.terms = terms
        self.uses: dict[Any, Uses] = {}  # by function, in the order of the visit, the kernel first
        self.inlined: set[Any] = set()
        self._visit(kernel, inline, ())

    def resolve(self, value: Any) -> Any:
        """`value`, or the term of the criterion if `value` is a free term."""
        return self.terms.get(value, value) if isinstance(value, types.FunctionType) else value

    @property
    def n_instructions(self) -> int:
        """Number of byte code instructions of all functions, each counted once."""
        return sum(len(function.__code__.co_code) // 2 for function in self.uses)

    def _visit(self, function: Any, inline: bool, callers: tuple[Any, ...]) -> None:
        if function in callers:
            raise TermError(f"{function.__qualname__} calls itself, which a kernel cannot do; write a loop")
        # Terms and the functions they call are inlined into the kernel; so are helpers marked with `inlined`.
        inline = inline or function in self.terms.values() or getattr(function, "inlined", False)
        if function in self.uses and (not inline or function in self.inlined):
            return
        if inline:
            self.inlined.add(function)
        self.uses.setdefault(function, _uses(function))
        for value in (*self.uses[function].names.values(), *self.uses[function].closure):
            called = self.resolve(value)
            if isinstance(called, types.FunctionType) and not is_known(called):
                self._visit(called, inline, (*callers, function))


def digest_of(reachable: Reachable) -> str:
    """Digest of 16 hexadecimal digits, which changes whenever the machine code might change."""
    order = {function: i for i, function in enumerate(reachable.uses)}
    lines = [repr(versions())]
    for function, uses in reachable.uses.items():
        lines.append(_code_token(function.__code__, function.__doc__))
        lines.append(repr(function in reachable.inlined))
        parts = {"defaults": function.__defaults__, "keywords": _as_tuple(function.__kwdefaults__)}
        parts |= uses.names | uses.attributes | {f"closure {i}": value for i, value in enumerate(uses.closure)}
        for name, value in parts.items():
            lines.append(f"{name} = {_token(reachable.resolve(value), name, function, order)}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


@functools.cache
def versions() -> tuple[str, ...]:
    """What decides machine code beside kernels and processors: versions, numba's options and the way to compile."""
    options = sorted(f"{key}={value}" for key, value in os.environ.items() if key.startswith("NUMBA_"))
    flags = [option for option in options if not option.startswith(IGNORED)]
    return (_version("numba"), _version("llvmlite"), np.__version__, way_to_compile(), *flags)


@functools.cache
def way_to_compile() -> str:
    """Digest of the files that decide how kernels are compiled and called, and of what the slots of ``p`` hold."""
    texts = [(Path(__file__).parent / name).read_bytes() for name in COMPILERS]
    slots = repr(([term.__name__ for term in FUNCTIONS], FAILED, FAILED_TERM, FIRST_FIELD))
    return hashlib.sha256(b"".join([*texts, slots.encode()])).hexdigest()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def copied(function: Any, names: dict[str, Any], closure: list[Any]) -> types.FunctionType:
    """Copy of `function` with other values for its global `names` and its `closure`."""
    scope = {
        key: value for key, value in function.__globals__.items() if key in ("__name__", "__file__", "__builtins__")
    }
    cells = tuple(types.CellType(value) for value in closure)
    copy = types.FunctionType(
        function.__code__, scope | names, function.__name__, function.__defaults__, cells or None
    )  # fmt: skip
    copy.__kwdefaults__, copy.__module__ = function.__kwdefaults__, function.__module__
    copy.__qualname__ = function.__qualname__
    return copy


def _uses(function: Any) -> Uses:
    """Find the objects that `function` refers to; raise TermError for those that a kernel cannot use."""
    names, attributes = {}, {}
    for name, chain in _global_names(function.__code__):
        if name not in function.__globals__ and not hasattr(builtins, name):
            raise TermError(f"{function.__qualname__} uses {name!r}, which is not defined")
        names[name] = value = function.__globals__.get(name, getattr(builtins, name, None))
        if value is print:
            raise TermError(
                f"{function.__qualname__} calls print, but a search calls it millions of times; to debug it, call the "
                "plain function yourself"
            )
        if not isinstance(value, types.ModuleType):
            continue
        dotted = name
        for attribute in chain:
            dotted, module, value = f"{dotted}.{attribute}", value, getattr(value, attribute, None)
            if not hasattr(module, attribute):
                near = did_you_mean(attribute, dir(module))
                raise TermError(f"{function.__qualname__} uses {dotted}, which {module.__name__} does not have{near}")
            if not isinstance(value, types.ModuleType):
                break
        if isinstance(value, types.FunctionType) and not is_known(value):
            raise TermError(
                f"{function.__qualname__} calls {dotted}; a kernel reaches functions by name only: "
                f"write `from {value.__module__} import {value.__name__}`"
            )
        if isinstance(value, types.ModuleType) and value.__name__.split(".")[0] not in KNOWN_MODULES:
            raise TermError(f"{function.__qualname__} uses module {dotted} as a value; import what it needs by name")
        attributes[dotted] = value
    closure = [cell.cell_contents for cell in function.__closure__ or ()]
    for value in closure:
        if isinstance(value, types.ModuleType) and value.__name__.split(".")[0] not in KNOWN_MODULES:
            raise TermError(
                f"{function.__qualname__} uses module {value.__name__} of an enclosing function; "
                "import what it needs by name"
            )
    return Uses(names, attributes, closure)


@functools.cache  # many kernels share a helper, and disassembling was two thirds of the time of a `bind`
def _global_names(code: types.CodeType) -> list[tuple[str, list[str]]]:
    """Global names that the code loads, each with the chain of attributes that is loaded directly after it."""
    found = []
    instructions = [
        i for i in dis.get_instructions(code) if i.opname not in ("CACHE", "PRECALL", "NOP", "EXTENDED_ARG")
    ]
    for i, instruction in enumerate(instructions):
        if instruction.opname == "LOAD_GLOBAL":
            chain = []
            for following in instructions[i + 1 :]:
                if following.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
                    break
                chain.append(following.argval)
            found.append((instruction.argval, chain))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += _global_names(constant)
    return found


@functools.cache
def _code_token(code: types.CodeType, doc: str | None) -> str:
    """Text that stands for byte code and constants in the digest, without the docstring `doc`."""
    constants = code.co_consts[1:] if doc is not None and code.co_consts[:1] == (doc,) else code.co_consts
    tokens = [_code_token(c, None) if isinstance(c, types.CodeType) else f"{type(c).__name__} {c!r}" for c in constants]
    arguments = (code.co_argcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return repr((code.co_code, code.co_exceptiontable, names, arguments, tokens))


def _token(value: Any, name: str, function: Any, order: Mapping[Any, int]) -> str:
    """Text that stands for `value` in the digest; `name` and `function` are for the error message."""
    if isinstance(value, types.FunctionType) and value in order:
        return f"function {order[value]}"
    if isinstance(value, tuple):
        inner = ", ".join(_token(item, name, function, order) for item in value)
        return f"{type(value).__module__}.{type(value).__qualname__} {getattr(value, '_fields', ())} ({inner})"
    if is_jitted(value):
        return f"jitted {sorted(value.targetoptions.items())!r} {digest_of(Reachable(value.py_func, {}))}"
    token = constant_token(value)
    if token is None:
        raise TermError(
            f"{function.__qualname__} uses {name!r}, a {type(value).__name__}, which a kernel cannot carry; "
            "use numbers, strings, tuples, numpy arrays or functions"
        )
    return token


def constant_token(value: Any) -> str | None:
    """Text that stands for a number, text, array, record class or a thing of KNOWN_MODULES; None for all else.

    It is the same on all machines and in all versions of Python and numpy: no path of a module is in it.
    """
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return f"array {value.dtype.str} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, (np.generic, np.dtype)):
        return f"{type(value).__name__} {value.item() if isinstance(value, np.generic) else value.descr!r}"
    if isinstance(value, type) and hasattr(value, "_fields"):
        return f"record {value.__module__}.{value.__qualname__} {value._fields}"
    if isinstance(value, (types.ModuleType, np.ufunc)):
        return f"{type(value).__name__} {value.__name__}"
    if is_known(value):
        return f"known {value.__module__} {getattr(value, '__qualname__', repr(value))}"
    return None


def is_jitted(value: Any) -> bool:
    """Whether `value` is a function that its author has compiled with numba."""
    dispatchers = sys.modules.get("numba.core.dispatcher")
    return dispatchers is not None and isinstance(value, dispatchers.Dispatcher)


def is_known(value: Any) -> bool:
    """Whether the name of `value` identifies it, because it is of one of KNOWN_MODULES."""
    if isinstance(value, (types.ModuleType, np.ufunc)):
        return True  # the attributes that a function uses of a module have tokens of their own
    home = getattr(value, "__module__", None)
    return isinstance(home, str) and home.split(".")[0] in KNOWN_MODULES


def _as_tuple(keywords: Mapping[str, Any] | None) -> tuple[Any, ...]:
    return tuple(sorted((keywords or {}).items()))
