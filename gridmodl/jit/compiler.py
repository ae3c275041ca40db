"""Compile kernels and terms to objects of machine code, by numba's front end and LLVM.

Numba types and lowers a kernel and its helpers; LLVM then optimises all in one run, links what stands behind the open
terms (`gridmodl.jit.open_terms`) and writes an object, in the format of the system's linker. An object names no version
of Python, numba or numpy: it is kept on disk (`gridmodl.jit.cache`), or linked into the library. Numba's dispatchers,
wrappers and reference counts are left out, as nothing here needs them; only a term that allocates has the counts.

Numba's private names are used for KNOWN_VERSIONS, which tests cover; other versions go through `numba.njit`, which
takes longer and makes the same code. Only this module and `open_terms` import numba.
"""

# mypy: disable-error-code="no-untyped-call, attr-defined"

from __future__ import annotations

import contextlib
import types as pytypes
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.extending import intrinsic
from numba.np import numpy_support

from gridmodl.clock import begin_compiling, end_compiling
from gridmodl.jit.cache import Object
from gridmodl.jit.digest import Reachable, copied
from gridmodl.jit.engine import Processor
from gridmodl.jit.open_terms import (
    OPEN,
    PREFIX,
    PYTHON,
    WORD,
    address_caller,
    entries,
    flat_types,
    term_function,
    value_in,
    written_terms,
)
from gridmodl.progress import notice
from gridmodl.terms import FUNCTIONS, Params

KNOWN_VERSIONS = ("0.68",)

# fastmath is off because it changed the result of a greedy merge. nogil is free. error_model="numpy" saves a branch per
# division. boundscheck costs up to 25 %, so it is off except in the checked lane (tests/testing/test_lanes.py).
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
# Texts of numba's errors for a function without reference counts that allocates or returns an array.
NO_MEMORY, NO_ARRAY = "NRT required", "Only accept returning of array"

# Numba's C function for a view of another shape; it types reshape for arrays without gaps only, so strides follow.
RESHAPE = "numba_attempt_nocopy_reshape"
RESHAPED = f"""
define i32 @{RESHAPE}(i64 %n, ptr %d, ptr %s, i64 %size, ptr %shape, ptr %strides, i64 %item, i32 %f)
alwaysinline {{
entry:
  br label %next
next:
  %i = phi i64 [ %size, %entry ], [ %j, %axis ]
  %stride = phi i64 [ %item, %entry ], [ %longer, %axis ]
  %more = icmp sgt i64 %i, 0
  br i1 %more, label %axis, label %done
axis:
  %j = sub i64 %i, 1
  %to = getelementptr i64, ptr %strides, i64 %j
  store i64 %stride, ptr %to
  %from = getelementptr i64, ptr %shape, i64 %j
  %length = load i64, ptr %from
  %longer = mul i64 %stride, %length
  br label %next
done:
  ret i32 1
}}"""


def is_known_version() -> bool:
    """Whether the installed numba is one of KNOWN_VERSIONS."""
    return ".".join(numba.__version__.split(".")[:2]) in KNOWN_VERSIONS


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Hold the lock of the compiler; tell the clocks and the user that they wait for it."""
    with global_compiler_lock:
        begin_compiling()
        notice.compile_began()
        try:
            yield
        finally:
            end_compiling()
            notice.compile_ended()


def register_symbols() -> None:
    """Tell LLVM of all functions of numba: of its memory, and of Python."""
    rtsys.initialize(cpu_target.target_context)
    cpu_target.target_context.refresh()


# Numba's front end: functions that call compiled copies of the functions that they call.


class Binder:
    """Copies of functions, which call compiled helpers; a helper compiles once for all kernels of a process.

    Parameters
    ----------
    replaced : mapping
        Functions in place of others: the open terms, or those of a criterion.
    allocates : bool
        Whether helpers may allocate memory, which needs reference counts.
    """

    def __init__(self, replaced: Mapping[Any, Any], allocates: bool = False) -> None:
        self.replaced, self.allocates = replaced, allocates
        self.helpers: dict[tuple[Any, bool], Any] = {}

    def helper(self, function: Any, inline: bool = False) -> Any:
        """The compiled copy of a plain function."""
        if (function, inline) not in self.helpers:
            reachable = Reachable(function, self.replaced, inline)
            is_shared = function.__module__.startswith("gridmodl.") and not self._replaces(reachable)
            key = (function, inline, self.allocates)
            made = _shared.get(key) if is_shared else None
            if made is None:
                uses = reachable.uses[function]
                names = {name: self._value(value, reachable) for name, value in uses.names.items()}
                copy = copied(function, names, [self._value(value, reachable) for value in uses.closure])
                made = _make_helper(copy, inline, self.allocates)
            if is_shared:
                _shared[key] = made
            self.helpers[function, inline] = made
        return self.helpers[function, inline]

    def _replaces(self, reachable: Reachable) -> bool:
        """Whether any function there refers to one that is replaced."""
        named = (value for uses in reachable.uses.values() for value in (*uses.names.values(), *uses.closure))
        return any(isinstance(value, pytypes.FunctionType) and value in self.replaced for value in named)

    def _value(self, value: Any, reachable: Reachable) -> Any:
        """The compiled copy of a function, or any other value as it is."""
        value = reachable.resolve(value)
        is_helper = isinstance(value, pytypes.FunctionType) and value in reachable.uses
        return self.helper(value, value in reachable.inlined) if is_helper else value


_shared: dict[tuple[Any, bool, bool], Any] = {}  # helpers of gridmodl that call nothing that is replaced
_open_binder = Binder({**OPEN, **PYTHON})
kept: dict[str, tuple[bytes, str]] | None = None  # while the library is built: kernels by symbol, and what they return


def _make_helper(function: Any, inline: bool, allocates: bool) -> Any:
    if not is_known_version():
        return numba.njit(inline="always" if inline else "never", **OPTIONS)(function)
    from gridmodl.jit.short_pipeline import make_helper

    return make_helper(function, {**OPTIONS, "_nrt": allocates, "forceinline": inline})


def _lowered(function: Any, kinds: tuple[Any, ...], allocates: bool = False) -> tuple[Any, str]:
    """LLVM module of `function` for arguments of types `kinds`, not optimised, and its symbol there."""
    dispatcher = _make_helper(function, False, allocates)
    dispatcher.compile(kinds)
    (found,) = dispatcher.overloads.values()
    return llvm.parse_assembly(found.library.get_llvm_str()), found.fndesc.llvm_func_name


# Kernels.


def compile_kernel(kernel: Callable[..., Any], arguments: tuple[Any, ...], symbol: str, target: Processor) -> Object:
    """Compile a kernel for arguments of these types, with its terms open."""
    with compiling():
        try:
            module, returns = _lowered_kernel(kernel, arguments, symbol, _open_binder)
        except NumbaError as error:
            if not _is_of_memory(error):
                raise
            module, returns = _lowered_kernel(kernel, arguments, symbol, Binder(_open_binder.replaced, allocates=True))
        if kept is not None:
            kept[symbol] = module.as_bitcode(), returns
        module.link_in(llvm.parse_assembly(address_caller()))
        return _finished(module, {"kernel": symbol}, returns, target)


def _lowered_kernel(
    kernel: Callable[..., Any], arguments: tuple[Any, ...], symbol: str, binder: Binder
) -> tuple[Any, str]:
    """LLVM module of a kernel whose terms are functions without code yet, and what it returns."""
    bound = binder.helper(kernel)
    kinds = tuple(map(type_of, arguments))
    read = _arguments_reader(kinds)

    def entry(slots: Any, out: Any) -> int:
        _write_result(out, bound(*read(slots)))  # type: ignore[call-arg]  # an intrinsic
        return 0

    module, name = _lowered(entry, (types.int64, types.int64), binder.allocates)
    module.get_function(name).name = symbol
    return module, _returns(bound.overloads[kinds].signature.return_type)


def _is_of_memory(error: NumbaError) -> bool:
    """Whether a function without reference counts needs them."""
    return NO_MEMORY in str(error) or NO_ARRAY in str(error)


def type_of(value: Any) -> Any:
    """Numba's type of a canonical argument; arrays can all be written to."""
    if isinstance(value, np.ndarray):
        return types.Array(numpy_support.from_dtype(value.dtype), value.ndim, "C" if value.flags.c_contiguous else "A")
    if isinstance(value, tuple):
        return types.BaseTuple.from_types([type_of(item) for item in value], type(value))
    return types.none if value is None else numba.typeof(value)


def _n_slots(kind: Any) -> int:
    if isinstance(kind, types.Array):
        return 1 + kind.ndim * (1 if kind.layout == "C" else 2)
    if isinstance(kind, types.BaseTuple):
        sizes: list[int] = [_n_slots(item) for item in kind.types]
        return sum(sizes)
    return 0 if kind is types.none else 1


def _arguments_reader(kinds: tuple[Any, ...]) -> Any:
    """Intrinsic ``read(slots)``: the tuple of arguments that lie flat in the slots of an address."""
    everything = types.Tuple(kinds)

    @intrinsic
    def read(typing_context: Any, slots: Any) -> Any:
        def value(context: Any, builder: Any, kind: Any, base: Any, place: int) -> Any:
            if isinstance(kind, types.BaseTuple):
                items = []
                for item in kind.types:
                    items.append(value(context, builder, item, base, place))
                    place += _n_slots(item)
                return context.make_tuple(builder, kind, items)
            if kind is types.none:
                return context.get_dummy_value()
            places = (ir.Constant(WORD, place + i) for i in range(_n_slots(kind)))
            return value_in(context, builder, kind, [builder.load(builder.gep(base, [at])) for at in places])

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return value(context, builder, everything, builder.inttoptr(values[0], WORD.as_pointer()), 0)

        return everything(slots), generate

    return read


@intrinsic
def _write_result(typing_context: Any, out: Any, result: Any) -> Any:
    """Write what a kernel returns to the 64-bit words at an address."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        base = builder.inttoptr(values[0], WORD.as_pointer())

        def write(kind: Any, value: Any, place: int) -> int:
            if isinstance(kind, types.BaseTuple):
                for i, item in enumerate(kind.types):
                    place = write(item, builder.extract_value(value, i), place)
                return place
            if kind is types.none:
                return place
            if isinstance(kind, types.Float):
                word = builder.bitcast(context.cast(builder, value, kind, types.float64), WORD)
            else:
                word = context.cast(builder, value, kind, types.int64)
            builder.store(word, builder.gep(base, [ir.Constant(WORD, place)]))
            return place + 1

        write(signature.args[1], values[1], 0)
        return context.get_dummy_value()

    return types.none(out, result), generate


def _returns(kind: Any) -> str:
    """Text of what a kernel returns: n nothing, i, f or b a number, a tuple of these in parentheses."""
    if isinstance(kind, types.BaseTuple):
        return f"({''.join(map(_returns, kind.types))})"
    for known, letter in ((types.NoneType, "n"), (types.Float, "f"), (types.Boolean, "b"), (types.Integer, "i")):
        if isinstance(kind, known):
            return letter
    raise TypeError(f"a kernel returns numbers, not {kind}; hand it an array to write to")


# Terms of a criterion.


def compile_terms(p: Params, prefix: str, target: Processor) -> Object:
    """Compile the terms that the criterion of `p` writes, for fields of the types that `p` has."""
    with compiling():
        module = terms_module(p)
        symbols = {}
        for name in written_terms(p.criterion):
            symbols[name] = f"{prefix}_{name}"
            module.get_function(PREFIX + name).name = symbols[name]
        return _finished(module, symbols, "", target)


def terms_module(p: Params) -> Any:
    """LLVM module of the terms that the criterion of `p` writes."""
    try:
        return _terms_module(p, allocates=False)
    except NumbaError as error:
        if not _is_of_memory(error):
            raise
        return _terms_module(p, allocates=True)


def _terms_module(p: Params, allocates: bool) -> Any:
    own = {term: getattr(p.criterion, term.__name__) for term in FUNCTIONS}
    binder, names = Binder(own, allocates), written_terms(p.criterion)
    compiled = {name: binder.helper(getattr(p.criterion, name), inline=True) for name in names}
    whole = llvm.parse_assembly("")
    for name, function in entries(type_of(p.own), compiled).items():
        module, native = _lowered(function, (types.Tuple(flat_types(name)),), allocates)
        module.get_function(native).linkage = "external"
        whole.link_in(module)
        whole.link_in(llvm.parse_assembly(term_function(name, native)))
    return whole


# LLVM.


def inlined_kernel(code: bytes, returns: str, p: Params, old: str, symbol: str, target: Processor) -> Object:
    """The kernel of the bit `code`, there named `old`, with the terms of the criterion of `p` written into it."""
    with compiling():
        module = llvm.parse_bitcode(code)
        module.get_function(old).name = symbol
        others = llvm.parse_assembly(address_caller())
        for function in others.functions:  # those that the criterion writes replace them
            if not function.is_declaration:
                function.linkage = "weak_any"
        others.link_in(terms_module(p))
        module.link_in(others)
        return _finished(module, {"kernel": symbol}, returns, target)


def _finished(module: Any, symbols: dict[str, str], returns: str, target: Processor) -> Object:
    """Optimise a module and write the object, in which only the functions of `symbols` are known to others."""
    kept = set(symbols.values())
    for function in module.functions:
        if not function.is_declaration and function.name not in kept:
            function.linkage = "internal"
        elif function.name in kept:
            function.linkage = "external"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    if any(function.name == RESHAPE and function.is_declaration for function in module.functions):
        module.link_in(llvm.parse_assembly(RESHAPED))
        module.get_function(RESHAPE).linkage = "internal"
    module.name = "gridmodl"
    module.verify()
    target.optimise(module)
    needs = {
        known.name
        for known in (*module.functions, *module.global_variables)
        if known.is_declaration and not known.name.startswith("llvm.")
    }
    return Object(target.object_of(module), symbols, returns, tuple(sorted(needs)))
