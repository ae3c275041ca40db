"""The terms that a kernel leaves open, and the terms of one criterion as functions that it calls.

A kernel in machine code calls each free term as a function of plain numbers,

    double gridmodl_term_cell(i64 slots, i64 counts, i64 n_counts, i64 rows, i64 unlabelled)

where `slots` is the address of `Params.slots`, and an array is its address and its length: of counts, which are whole
numbers, or of sums, which are real ones. `OPEN` has the Python side of these calls. What stands behind the name is
linked to the kernel: `address_caller` calls through the address in the slots, so that one kernel serves all criteria;
the functions of `criterion_terms` are those of one criterion, which LLVM then writes into the kernel.

A term that raises leaves the address of numba's description of the exception in the slot `FAILED`, and costs NaN.
"""

# mypy: disable-error-code="no-untyped-call"

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
from gridmodl.terms import FAILED, FIRST_FIELD, FUNCTIONS, Cell, Part, Shape, Variable, Walk

NAMES = tuple(term.__name__ for term in FUNCTIONS)
PREFIX = "gridmodl_term_"
# Arguments behind the slots: i whole number, f real number, a array.
ARGUMENTS = {
    "grid": "iif",
    "variable": "iiifai",
    "part": "iiifaii",
    "margin": "ii",
    "cell": "aii",
    "finish": "fiif",
    "floor": "aii",
    "excess": "aiiaiiaia",
    "tangent": "aiiaiiaiaa",
    "gradient": "aiia",
    "predictive": "aiii",
}
WORD, REAL = ir.IntType(64), ir.DoubleType()


def flat_types(name: str) -> list[str]:
    """LLVM's types of the arguments of a term, slots first."""
    flat = {"i": ["i64"], "f": ["double"], "a": ["i64", "i64"]}
    return ["i64", *(kind for argument in ARGUMENTS[name] for kind in flat[argument])]


# The side of the kernel.


def _caller(name: str) -> Any:
    """Intrinsic ``call(slots, arguments)`` of a term."""

    def call(typing_context: Any, slots: Any, given: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            flat = [_address(context, builder, signature.args[0], values[0])]
            for place, (wanted, kind) in enumerate(zip(ARGUMENTS[name], signature.args[1], strict=True)):
                value = builder.extract_value(values[1], place)
                if wanted == "a":
                    _check_array(name, kind)
                    length = context.make_array(kind)(context, builder, value).shape
                    flat += [_address(context, builder, kind, value), builder.extract_value(length, 0)]
                else:
                    plain = types.int64 if wanted == "i" else types.float64
                    flat.append(context.cast(builder, value, kind, plain))
            function_type = ir.FunctionType(REAL, [value.type for value in flat])
            symbol, found = PREFIX + name, builder.module.globals.get(PREFIX + name)
            return builder.call(found or ir.Function(builder.module, function_type, symbol), flat)

        return types.float64(slots, given), generate

    call.__name__ = f"call_{name}"
    return intrinsic(call)


def _address(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return builder.ptrtoint(context.make_array(kind)(context, builder, value).data, WORD)


def _check_array(name: str, kind: Any) -> None:
    if not (isinstance(kind, types.Array) and kind.ndim == 1 and kind.layout == "C" and kind.dtype.bitwidth == 64):
        raise TypeError(f"term {name!r} takes arrays of one dimension and 64 bits, without gaps, got {kind}")


_call = {name: _caller(name) for name in NAMES}
_call_grid, _call_variable, _call_part, _call_margin, _call_cell, _call_finish = (_call[n] for n in NAMES[:6])
_call_floor, _call_excess, _call_tangent, _call_gradient, _call_predictive = (_call[n] for n in NAMES[6:])


def grid(p, shape):
    return _call_grid(p.slots, (shape.n_variables, shape.n_informative, shape.n_cells))


def variable(p, variable, n_parts):
    v = variable
    return _call_variable(p.slots, (v.categorical, v.is_target, v.n_values, v.constant, v.by_parts, n_parts))


def part(p, variable, part):
    v = variable
    facts = (v.categorical, v.is_target, v.n_values, v.constant, v.by_parts, part.rows, part.values)
    return _call_part(p.slots, facts)


def margin(p, rows, n_target_parts):
    return _call_margin(p.slots, (rows, n_target_parts))


def cell(p, cell):
    return _call_cell(p.slots, (cell.counts, cell.rows, cell.unlabelled))


def finish(p, total, shape):
    return _call_finish(p.slots, (total, shape.n_variables, shape.n_informative, shape.n_cells))


def floor(p, cell):
    return _call_floor(p.slots, (cell.counts, cell.rows, cell.unlabelled))


def excess(p, cell, other, walk):
    c, o, w = cell, other, walk
    facts = (c.counts, c.rows, c.unlabelled, o.counts, o.rows, o.unlabelled, w.counts, w.rows, w.low)
    return _call_excess(p.slots, facts)


def tangent(p, cell, more, walk, slopes):
    c, m, w = cell, more, walk
    facts = (c.counts, c.rows, c.unlabelled, m.counts, m.rows, m.unlabelled, w.counts, w.rows, w.low, slopes)
    return _call_tangent(p.slots, facts)


def gradient(p, cell, slopes):
    _call_gradient(p.slots, (cell.counts, cell.rows, cell.unlabelled, slopes))


def predictive(p, cell, code):
    return _call_predictive(p.slots, (cell.counts, cell.rows, cell.unlabelled, code))


OPEN = {term: globals()[term.__name__] for term in FUNCTIONS}

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
        kinds = flat_types(name)
        given = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(kinds))
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


def _fields_reader(fields: Any) -> Any:
    """Intrinsic ``read(slots)``: the record of type `fields` that lies in the slots of an address."""

    @intrinsic
    def read(typing_context: Any, slots: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            base, place, found = builder.inttoptr(values[0], WORD.as_pointer()), FIRST_FIELD, []
            for kind in fields.types:
                n_slots = 1 + (kind.ndim if isinstance(kind, types.Array) else 0)
                slots = [builder.load(builder.gep(base, [ir.Constant(WORD, place + i)])) for i in range(n_slots)]
                found.append(value_in(context, builder, kind, slots))
                place += n_slots
            return context.make_tuple(builder, fields, found)

        return fields(slots), generate

    return read


def value_in(context: Any, builder: Any, kind: Any, slots: list[Any]) -> Any:
    """The value of type `kind` that lies in `slots`."""
    if not isinstance(kind, types.Array):
        if isinstance(kind, types.Float):
            return builder.bitcast(slots[0], REAL)
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


def _viewer(dtype: Any) -> Any:
    """Intrinsic ``view(address, length)``: an array of one dimension."""
    kind = types.Array(dtype, 1, "C")

    @intrinsic
    def view(typing_context: Any, address: Any, length: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return value_in(context, builder, kind, list(values))

        return kind(address, length), generate

    return view


_counts, _reals = _viewer(types.int64), _viewer(types.float64)


def entries(fields: Any, compiled: dict[str, Any]) -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Functions of flat arguments that call the `compiled` terms of a criterion, each with its types, by name."""
    read = _fields_reader(fields)
    i, f = types.int64, types.float64
    grid, variable, part, margin = (compiled.get(name) for name in NAMES[:4])
    cell, finish, floor, excess = (compiled.get(name) for name in NAMES[4:8])
    tangent, gradient, predictive = (compiled.get(name) for name in NAMES[8:])

    def of_grid(s, n, informative, cells):
        return grid(read(s), Shape(n, informative, cells))

    def of_variable(s, categorical, target, values, constant, at, n, parts):
        return variable(read(s), Variable(categorical != 0, target != 0, values, constant, _reals(at, n)), parts)

    def of_part(s, categorical, target, values, constant, at, n, rows, own):
        return part(read(s), Variable(categorical != 0, target != 0, values, constant, _reals(at, n)), Part(rows, own))

    def of_margin(s, rows, parts):
        return margin(read(s), rows, parts)

    def of_cell(s, at, n, rows, unlabelled):
        return cell(read(s), Cell(_counts(at, n), rows, unlabelled))

    def of_finish(s, total, n, informative, cells):
        return finish(read(s), total, Shape(n, informative, cells))

    def of_floor(s, at, n, rows, unlabelled):
        return floor(read(s), Cell(_counts(at, n), rows, unlabelled))

    def of_excess(s, at, n, rows, un, at2, n2, rows2, un2, at3, n3, rows3, low, n4):
        walk = Walk(_counts(at3, n3), rows3, _reals(low, n4))
        return excess(read(s), Cell(_counts(at, n), rows, un), Cell(_counts(at2, n2), rows2, un2), walk)

    def of_tangent(s, at, n, rows, un, at2, n2, rows2, un2, at3, n3, rows3, low, n4, slopes, n5):
        walk, more = Walk(_counts(at3, n3), rows3, _reals(low, n4)), Cell(_counts(at2, n2), rows2, un2)
        return tangent(read(s), Cell(_counts(at, n), rows, un), more, walk, _reals(slopes, n5))

    def of_gradient(s, at, n, rows, un, slopes, n2):
        gradient(read(s), Cell(_counts(at, n), rows, un), _reals(slopes, n2))
        return 0.0

    def of_predictive(s, at, n, rows, un, code):
        return predictive(read(s), Cell(_counts(at, n), rows, un), code)

    of = (of_grid, of_variable, of_part, of_margin, of_cell, of_finish)
    of += (of_floor, of_excess, of_tangent, of_gradient, of_predictive)
    kinds = {"i64": i, "double": f}
    return {
        name: (function, tuple(kinds[kind] for kind in flat_types(name)))
        for name, function in zip(NAMES, of, strict=True)
        if name in compiled
    }


def written_terms(criterion: Any) -> list[str]:
    """Names of the terms that a criterion writes."""
    return [name for name in NAMES if getattr(criterion, name) is not getattr(terms, name)]


def term_function(name: str, native: str) -> str:
    """LLVM module of an open term that calls the function `native` of numba."""
    kinds = flat_types(name)
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
