"""Arguments of a kernel in machine code: 64-bit slots, made of Python's objects by a kernel of its own.

Every kernel in machine code has the entry ``i32 f(result*, error*, slots, out)``. All its arguments lie flat in
`slots`: a number as it is, an array as its address and its shape (and its strides, where it is not contiguous), a
record as its fields. What it returns lies in `out`. So one way to call serves kernels from a file, from the library
and compiled just now, and needs neither numba nor a compiler for Python's extensions.

`describe` is the signature of arguments as text. `steps_of` is a program that finds the same arguments again in memory
and checks their types; `read_arguments` runs it, a kernel that reads tuples, floats and numpy arrays where CPython has
them. `gridmodl.jit.native` tests at its first use that they are there, and fills slots by `slots_of` if not, in Python.
"""

from __future__ import annotations

import functools
import hashlib
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Steps of a program, one line each: what is expected, the step of the tuple that holds it and its place there, and two
# facts of its type: the address of the class, and of a tuple its size, of an array the address of the dtype.
TUPLE, INTEGER, FLOAT, BOOLEAN, NOTHING, ARRAY, STRIDED = range(7)
N_COLUMNS = 5

# Where CPython and numpy have the parts of an object, in bytes; the same in all versions with reference counts of one
# word. Arrays: data, number of dimensions, shape, strides, dtype, flags.
TYPE, SIZE, ITEMS, REAL = 8, 16, 24, 16
DATA, N_DIMENSIONS, DIMENSIONS, STRIDES, DTYPE, FLAGS = 16, 24, 32, 40, 56, 64
CONTIGUOUS, ALIGNED = 0x1, 0x100


def canonical(value: Any) -> Any:
    """`value` with Python's own numbers in place of numpy's, so that each kernel has few signatures."""
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, tuple):
        return value
    new = [canonical(item) for item in value]
    if all(one is other for one, other in zip(new, value, strict=True)):
        return value
    if not hasattr(value, "_fields"):
        return tuple(new)
    record: Any = value
    return record._replace(**dict(zip(record._fields, new, strict=True)))


def describe(value: Any) -> str:
    """Text of the type of `value`: what decides the machine code, apart from the code itself."""
    kind = type(value)
    if kind is int:
        return "i"
    if kind is float:
        return "f"
    if kind is bool:
        return "b"
    if value is None:
        return "n"
    if isinstance(value, tuple):
        inner = ",".join(map(describe, value))
        name = "" if kind is tuple else _record_name(kind)  # type: ignore[arg-type]  # mypy: a class has no hash
        return f"{name}({inner})"
    if isinstance(value, np.ndarray):
        return f"{_dtype_name(value.dtype)}{value.ndim}{'' if value.flags.c_contiguous else 's'}"
    raise TypeError(f"a kernel takes numbers, arrays, records and None, got {kind.__name__}")


@functools.cache
def _record_name(record: Any) -> str:
    fields = " ".join(getattr(record, "_fields", ()))
    return f"{record.__module__}.{record.__qualname__}[{fields}]"


@functools.cache
def _dtype_name(dtype: np.dtype[Any]) -> str:
    return dtype.str if dtype.names is None else f"<{hashlib.sha256(repr(dtype.descr).encode()).hexdigest()[:8]}>"


def slots_of(value: Any) -> list[int]:
    """The slots of `value`, in Python."""
    if isinstance(value, tuple):
        return [slot for item in value for slot in slots_of(item)]
    if isinstance(value, np.ndarray):
        strides = () if value.flags.c_contiguous else value.strides
        return [value.ctypes.data, *value.shape, *strides]
    if isinstance(value, float):
        return [struct.unpack("q", struct.pack("d", value))[0]]
    return [] if value is None else [int(value)]


def steps_of(arguments: tuple[Any, ...]) -> tuple[NDArray[np.int64], list[Any]]:
    """The program for `arguments`, and the types whose addresses it holds, which must live as long as it."""
    steps: list[tuple[int, ...]] = []
    types: list[Any] = []

    def add(value: Any, parent: int, place: int) -> None:
        kind = type(value)
        types.append(kind)
        if isinstance(value, tuple):
            steps.append((TUPLE, parent, place, id(kind), len(value)))
            parent = len(steps) - 1
            for place, item in enumerate(value):
                add(item, parent, place)
        elif isinstance(value, np.ndarray):
            types.append(value.dtype)
            what = ARRAY if value.flags.c_contiguous else STRIDED
            steps.append((what, parent, place, id(value.dtype), value.ndim))
        else:
            what = {int: INTEGER, float: FLOAT, bool: BOOLEAN, type(None): NOTHING}[kind]
            steps.append((what, parent, place, id(kind), 0))

    add(arguments, 0, 0)
    return np.array(steps, dtype=np.int64).reshape(-1, N_COLUMNS), types


def paths_to(arguments: tuple[Any, ...], wanted: type) -> list[tuple[int, ...]]:
    """Places that lead to each instance of `wanted` in nested tuples."""
    paths: list[tuple[int, ...]] = []
    for place, value in enumerate(arguments):
        if isinstance(value, wanted):
            paths.append((place,))
        elif isinstance(value, tuple):
            paths += [(place, *path) for path in paths_to(value, wanted)]
    return paths


def load(address: int) -> int:
    """The 64 bits at an `address`; in machine code only."""
    raise NotImplementedError


def to_integer(at: int) -> int:
    """The Python integer at an address; -1 and an error of Python beyond 64 bits; in machine code only."""
    raise NotImplementedError


def failed_integer() -> bool:
    """Whether Python has an error, which is then forgotten; in machine code only."""
    raise NotImplementedError


def read_arguments(steps: Any, at: int, array: int, true: int, objects: Any, slots: Any) -> int:
    """Fill `slots` from the tuple at address `at` by the program `steps`; False where it holds something else.

    `array` and `true` are the addresses of numpy's class of arrays and of Python's True; `objects` is workspace.
    """
    n = 0
    for i in range(len(steps)):
        what, kind, size = steps[i, 0], steps[i, 3], steps[i, 4]
        here = at if i == 0 else load(objects[steps[i, 1]] + ITEMS + 8 * steps[i, 2])
        objects[i] = here
        if what >= ARRAY:
            if load(here + TYPE) != array:
                return False
            flags = load(here + FLAGS)
            is_contiguous = flags & CONTIGUOUS != 0
            if load(here + DTYPE) != kind or flags & ALIGNED == 0:
                return False
            if load(here + N_DIMENSIONS) & 0xFFFFFFFF != size or is_contiguous != (what == ARRAY):
                return False
            slots[n] = load(here + DATA)
            for k in range(size):
                slots[n + 1 + k] = load(load(here + DIMENSIONS) + 8 * k)
            n += 1 + size
            if what == STRIDED:
                for k in range(size):
                    slots[n + k] = load(load(here + STRIDES) + 8 * k)
                n += size
            continue
        if load(here + TYPE) != kind:
            return False
        if what == TUPLE:
            if load(here + SIZE) != size:
                return False
        elif what == INTEGER:
            slots[n] = to_integer(here)
            if slots[n] == -1 and failed_integer():
                return False
            n += 1
        elif what == FLOAT:
            slots[n] = load(here + REAL)
            n += 1
        elif what == BOOLEAN:
            slots[n] = here == true
            n += 1
    return True
