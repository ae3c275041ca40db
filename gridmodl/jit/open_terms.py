"""The terms that a kernel leaves open, and the terms of one criterion as functions that it calls.

A kernel in machine code calls each free term as a function of plain numbers,

    double gridmodl_term_cell(i64 slots, i64 counts, i64 n_counts, i64 rows, i64 unlabelled)

where `slots` is the address of `Params.slots`, and an array is its address and its length: of counts, which are whole
numbers, or of sums, which are real ones. `OPEN` has the Python side of these calls. What stands behind the name is
linked to the kernel: `address_caller` calls through the address in the slots, so that one kernel serves all criteria;
the functions of `criterion_terms` are those of one criterion, which LLVM then writes into the kernel.

A term that raises leaves the address of numba's description of the exception in the slot `FAILED`, its own number in
`FAILED_TERM`, and costs NaN.
"""

# mypy: disable-error-code="no-untyped-call, attr-defined"

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np import numpy_support
from numba.np.arrayobj import populate_array

from gridmodl import terms
from gridmodl.jit import arguments
from gridmodl.terms import FAILED, FAILED_TERM, FIRST_FIELD, FUNCTIONS, Cell, Part, Shape, Variable, Walk

NAMES = tuple(term.__name__ for term in FUNCTIONS)
PREFIX = "gridmodl_term_"
WORD, REAL = ir.IntType(64), ir.DoubleType()

_whole, _real, _yes = types.int64, types.float64, types.boolean
_counts, _reals = types.Array(_whole, 1, "C"), types.Array(_real, 1, "C")
_cell = types.NamedTuple((_counts, _whole, _whole), Cell)
_shape = types.NamedTuple((_whole, _whole, _real), Shape)
_variable = types.NamedTuple((_yes, _yes, _whole, _real, _reals), Variable)
_walk = types.NamedTuple((_counts, _whole, _reals), Walk)
# Arguments behind ``p``.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "grid": (_shape,),
    "variable": (_variable, _whole),
    "part": (_variable, types.NamedTuple((_whole, _whole), Part)),
    "margin": (_whole, _whole),
    "cell": (_cell,),
    "finish": (_real, _shape),
    "floor": (_cell,),
    "excess": (_cell, _cell, _walk),
    "tangent": (_cell, _cell, _walk, _reals),
    "gradient": (_cell, _reals),
    "predictive": (_cell, _whole),
}


def _flat(kind: Any) -> list[Any]:
    """Types of the plain numbers that a value of type `kind` is handed over as."""
    if isinstance(kind, types.BaseTuple):
        return [flat for item in kind.types for flat in _flat(item)]
    if isinstance(kind, types.Array):
        return [_whole] * (1 + kind.ndim)
    return [_real if kind is _real else _whole]


def flat_types(name: str) -> list[Any]:
    """Types of the arguments of the function of a term, the address of the slots first."""
    return [_whole, *(flat for kind in ARGUMENTS[name] for flat in _flat(kind))]


def _written(name: str) -> list[str]:
    """LLVM's names of `flat_types`."""
    return ["double" if kind is _real else "i64" for kind in flat_types(name)]


# The side of the kernel.


def _caller(name: str) -> Any:
    """Intrinsic that stands for a free term, ``(p, ...)``, and calls the function of this name."""

    def call(typing_context: Any, p: Any, *given: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            place = p.fields.index("slots")
            slots = context.make_array(p[place])(context, builder, builder.extract_value(values[0], place))
            flat = [builder.ptrtoint(slots.data, WORD)]
            for wanted, kind, value in zip(ARGUMENTS[name], given, _each(builder, values[1:], given), strict=True):
                flat += _flattened(context, builder, name, wanted, kind, value)
            function_type = ir.FunctionType(REAL, [value.type for value in flat])
            found = builder.module.globals.get(PREFIX + name)
            return builder.call(found or ir.Function(builder.module, function_type, PREFIX + name), flat)

        return _real(p, types.StarArgTuple(given)), generate

    call.__name__ = name
    return intrinsic(call)


def _each(builder: Any, values: Any, kinds: Any) -> list[Any]:
    """Values of the arguments behind ``p``, which numba hands over as one tuple."""
    return [builder.extract_value(values[0], i) for i in range(len(kinds))]


def _flattened(context: Any, builder: Any, name: str, wanted: Any, kind: Any, value: Any) -> list[Any]:
    """Plain numbers of a `value` of type `kind`, as the type `wanted` has them."""
    if isinstance(wanted, types.BaseTuple):
        items = zip(wanted.types, kind.types, _each(builder, [value], kind), strict=True)
        return [flat for item in items for flat in _flattened(context, builder, name, *item)]
    if not isinstance(wanted, types.Array):
        return [context.cast(builder, value, kind, _flat(wanted)[0])]
    if not (isinstance(kind, types.Array) and kind.ndim == 1 and kind.layout == "C" and kind.dtype.bitwidth == 64):
        raise TypeError(f"term {name!r} takes arrays of one dimension and 64 bits, without gaps, got {kind}")
    array = context.make_array(kind)(context, builder, value)
    return [builder.ptrtoint(array.data, WORD), builder.extract_value(array.shape, 0)]


OPEN = {term: _caller(term.__name__) for term in FUNCTIONS}

# What a term costs that a criterion does not write: as the functions of `gridmodl.terms`, which no address is worth.
_MINUS_INFINITY, _NAN = "0xFFF0000000000000", "0x7FF8000000000000"
_DEFAULT = {
    **dict.fromkeys(("grid", "variable", "part", "margin", "cell"), "ret double 0.0"),
    "finish": "ret double %a1",
    **dict.fromkeys(("floor", "excess"), f"ret double {_MINUS_INFINITY}"),
    "predictive": f"ret double {_NAN}",
    "tangent": f"""%to = inttoptr i64 %a14 to ptr
  %size = mul i64 %a15, 8
  call void @llvm.memset.p0.i64(ptr %to, i8 0, i64 %size, i1 false)
  ret double {_MINUS_INFINITY}""",
    "gradient": """%to = inttoptr i64 %a5 to ptr
  br label %next
next:
  %i = phi i64 [ 0, %default ], [ %j, %fill ]
  %more = icmp slt i64 %i, %a6
  br i1 %more, label %fill, label %done
fill:
  %at = getelementptr double, ptr %to, i64 %i
  store double 0x7FF0000000000000, ptr %at
  %j = add i64 %i, 1
  br label %next
done:
  ret double 0.0""",
}


@functools.cache
def address_caller() -> str:
    """LLVM module of all open terms, which calls through the addresses in the slots."""
    functions = ["declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"]
    for place, name in enumerate(NAMES):
        given = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(_written(name)))
        functions.append(f"""define double @{PREFIX}{name}({given}) alwaysinline {{
  %slots = inttoptr i64 %a0 to ptr
  %slot = getelementptr i64, ptr %slots, i64 {place}
  %term = load ptr, ptr %slot
  %is_default = icmp eq ptr %term, null
  br i1 %is_default, label %default, label %written
written:
  %cost = call double %term({given})
  ret double %cost
default:
  {_DEFAULT[name]}
}}""")
    return "\n".join(functions)


# The side of the criterion.


def value_in(context: Any, builder: Any, kind: Any, slots: list[Any]) -> Any:
    """The value of type `kind` that lies in `slots`."""
    if not isinstance(kind, types.Array):
        if isinstance(kind, types.Float):
            return slots[0] if slots[0].type == REAL else builder.bitcast(slots[0], REAL)
        return context.cast(builder, slots[0], types.int64, kind)
    size = ir.Constant(WORD, numpy_support.as_dtype(kind.dtype).itemsize)
    shape, strides, step = slots[1 : 1 + kind.ndim], slots[1 + kind.ndim :], size
    if kind.layout == "C":
        for length in reversed(shape):
            strides.insert(0, step)
            step = builder.mul(step, length)
    array = context.make_array(kind)(context, builder)
    data = builder.inttoptr(slots[0], context.get_data_type(kind.dtype).as_pointer())
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()


def _arguments_reader(name: str, fields: Any) -> Any:
    """Intrinsic ``read(flat)``: arguments of a term from the tuple of flat ones, ``p`` as a record of `fields`."""
    kinds = types.Tuple((fields, *ARGUMENTS[name]))

    @intrinsic
    def read(typing_context: Any, flat: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            slots = _each(builder, values, flat)
            base = builder.inttoptr(slots.pop(0), WORD.as_pointer())
            at = (builder.gep(base, [ir.Constant(WORD, FIRST_FIELD + i)]) for i in range(len(_flat(fields))))
            slots = [*map(builder.load, at), *slots]

            def value(kind: Any) -> Any:
                if isinstance(kind, types.BaseTuple):
                    return context.make_tuple(builder, kind, [value(item) for item in kind.types])
                return value_in(context, builder, kind, [slots.pop(0) for _ in _flat(kind)])

            return value(kinds)

        return kinds(flat), generate

    return read


def entries(fields: Any, compiled: dict[str, Any]) -> dict[str, Callable[..., float]]:
    """Functions of flat arguments that call the `compiled` terms of a criterion, by name."""

    def entry_of(term: Any, read: Any) -> Callable[..., float]:
        def entry(flat: Any) -> float:
            return float(term(*read(flat)))

        def silent_entry(flat: Any) -> float:
            term(*read(flat))
            return 0.0

        return silent_entry if term is compiled.get("gradient") else entry

    return {name: entry_of(term, _arguments_reader(name, fields)) for name, term in compiled.items()}


def written_terms(criterion: Any) -> list[str]:
    """Names of the terms that a criterion writes."""
    return [name for name in NAMES if getattr(criterion, name) is not getattr(terms, name)]


def term_function(name: str, native: str) -> str:
    """LLVM module of an open term that calls the function `native` of numba."""
    kinds = _written(name)
    given = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(kinds))
    return f"""declare i32 @"{native}"(ptr, ptr, {", ".join(kinds)})
define double @{PREFIX}{name}({given}) alwaysinline {{
  %cost = alloca double
  %error = alloca ptr
  store double {_NAN}, ptr %cost
  store ptr null, ptr %error
  %status = call i32 @"{native}"(ptr %cost, ptr %error, {given})
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %raised, label %done
raised:
  %slots = inttoptr i64 %a0 to ptr
  %slot = getelementptr i64, ptr %slots, i64 {FAILED}
  %description = load ptr, ptr %error
  store ptr %description, ptr %slot
  %place = getelementptr i64, ptr %slots, i64 {FAILED_TERM}
  store i64 {NAMES.index(name)}, ptr %place
  ret double {_NAN}
done:
  %found = load double, ptr %cost
  ret double %found
}}"""


# What `read_arguments` asks of Python's own memory.


@intrinsic
def load(typing_context: Any, address: Any) -> Any:
    """The 64 bits at an address."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load(builder.inttoptr(values[0], WORD.as_pointer()))

    return types.int64(types.int64), generate


def _python_function(symbol: str, result: Any) -> Any:
    def call(builder: Any, given: list[Any]) -> Any:
        function_type = ir.FunctionType(result, [WORD] * len(given))
        found = builder.module.globals.get(symbol)
        return builder.call(found or ir.Function(builder.module, function_type, symbol), given)

    return call


@intrinsic
def to_integer(typing_context: Any, at: Any) -> Any:
    """The Python integer at an address."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _python_function("PyLong_AsLongLong", WORD)(builder, list(values))

    return types.int64(types.int64), generate


@intrinsic
def failed_integer(typing_context: Any) -> Any:
    """Whether Python has an error, which is then forgotten."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        error = _python_function("PyErr_Occurred", WORD)(builder, [])
        _python_function("PyErr_Clear", ir.VoidType())(builder, [])
        return builder.icmp_unsigned("!=", error, ir.Constant(WORD, 0))

    return types.boolean(), generate


PYTHON = {arguments.load: load, arguments.to_integer: to_integer, arguments.failed_integer: failed_integer}
