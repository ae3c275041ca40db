"""A graph of ONNX that is built step by step: inputs, constants, look-ups in sorted values, outputs.

All arithmetic is in float64 and int64. Values of the graph are vectors with one number for each row, or tables.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl import __version__
from gridmodl.data.frames import Name
from gridmodl.writing import replace_file

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8  # those of ONNX 1.12, of 2022
FEW = 32  # sorted values up to this are all compared at once, more by bisection
ML = "ai.onnx.ml"
TYPES = {"float64": "DOUBLE", "int64": "INT64", "bool": "BOOL", "string": "STRING"}


def import_onnx() -> Any:
    try:
        import onnx
    except ImportError as error:
        raise ImportError('to_onnx needs onnx: pip install "gridmodl[onnx]"') from error
    return onnx


class Graph:
    """Nodes, constants, inputs and outputs of a graph; methods return the name of a value of the graph."""

    def __init__(self, columns: Iterable[Name], outputs: Collection[str]) -> None:
        self._onnx = import_onnx()
        self.names = input_names(columns, outputs)  # name of the input of each column
        self._taken = {*self.names.values(), *outputs}  # which no inner value may have
        self._nodes: list[Any] = []
        self._constants: dict[tuple[Any, ...], str] = {}
        self._initializers: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def input(self, name: str, type_: str, doc: str) -> str:
        """A column of the data, of shape (rows, 1); the value is the vector of it."""
        self._inputs.append(self._described(name, type_, ["rows", 1], doc))
        return self.op("Reshape", name, self.constant(np.array([-1])))

    def output(self, name: str, value: str, type_: str, shape: Sequence[Any], doc: str) -> None:
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name]))
        self._outputs.append(self._described(name, type_, shape, doc))

    def _described(self, name: str, type_: str, shape: Sequence[Any], doc: str) -> Any:
        kind = getattr(self._onnx.TensorProto, TYPES[type_])
        return self._onnx.helper.make_tensor_value_info(name, kind, shape, doc)

    def op(self, kind: str, *values: str, domain: str = "", **attributes: Any) -> str:
        """The value of an operator of one output."""
        name = self._unused(kind.lower())
        self._nodes.append(self._onnx.helper.make_node(kind, values, [name], domain=domain, **attributes))
        return name

    def constant(self, array: Any) -> str:
        """A constant: float64, int64 or, for texts, strings; equal ones are one."""
        array = np.asarray(array)
        key = (array.dtype.str, array.shape, tuple(array.tolist()) if array.dtype == object else array.tobytes())
        if key not in self._constants:
            name = self._constants[key] = self._unused("constant")
            self._initializers.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))
        return self._constants[key]

    def _unused(self, stem: str) -> str:
        name, n = f"{stem}_{len(self._taken)}", 1
        while name in self._taken:
            name, n = f"{stem}_{len(self._taken)}_{n}", n + 1
        self._taken.add(name)
        return name

    def zeros(self, like: str) -> str:
        """0 for each row of the vector `like`."""
        value = self._onnx.helper.make_tensor("value", self._onnx.TensorProto.INT64, [1], [0])
        return self.op("ConstantOfShape", self.op("Shape", like), value=value)

    def as_int64(self, value: str) -> str:
        return self.op("Cast", value, to=self._onnx.TensorProto.INT64)

    def as_float64(self, value: str) -> str:
        return self.op("Cast", value, to=self._onnx.TensorProto.DOUBLE)

    def column(self, vector: str) -> str:
        """The vector as a table of one column."""
        return self.op("Unsqueeze", vector, self.constant(np.array([1])))

    def count_below(self, x: str, ascending: NDArray[Any], or_equal: bool = False) -> str:
        """Number of the values below x, or with `or_equal` at most x; 0 for NaN."""
        n, above = len(ascending), "GreaterOrEqual" if or_equal else "Greater"
        if n == 0:
            return self.zeros(x)
        if n <= FEW:
            bits = self.as_int64(self.op(above, self.column(x), self.constant(ascending[None])))
            return self.op("ReduceSum", bits, self.constant(np.array([1])), keepdims=0)
        size = 1 << n.bit_length()
        largest = np.inf if ascending.dtype.kind == "f" else np.iinfo(np.int64).max
        values = self.constant(np.append(ascending, np.full(size - 1 - n, largest, dtype=ascending.dtype)))
        found, step = self.zeros(x), size // 2
        while step:
            probe = self.op("Gather", values, self.op("Add", found, self.constant(np.int64(step - 1))))
            beyond = self.op("Add", found, self.constant(np.int64(step)))
            found = self.op("Where", self.op(above, x, probe), beyond, found)
            step //= 2
        return self.op("Min", found, self.constant(np.int64(n))) if or_equal else found

    def find(self, x: str, ascending: NDArray[Any], results: NDArray[np.int64], otherwise: str) -> str:
        """The result of the value that equals x; `otherwise`, a value of the graph, where none does."""
        if len(ascending) == 0:
            return otherwise
        place = self.count_below(x, ascending)
        nearest = self.op("Gather", self.constant(np.append(ascending, ascending[-1:])), place)
        result = self.op("Gather", self.constant(np.append(results, results[-1:])), place)
        return self.op("Where", self.op("Equal", nearest, x), result, otherwise)

    def find_text(self, x: str, texts: Sequence[str], results: Sequence[int], otherwise: int) -> str:
        """The result of the text that equals x, character by character."""
        return self.op(
            "LabelEncoder", x, domain=ML, keys_strings=list(texts), values_int64s=list(results), default_int64=otherwise
        )

    def lines(self, table: NDArray[Any], number: str) -> str:
        """Line of `table` for each row; -1 is the last line."""
        return self.op("Gather", self.constant(table), number)

    def model(self, description: str, facts: Mapping[str, Any], path: str | os.PathLike[str] | None) -> Any:
        """The model, checked, also written to the file `path` if that is passed; `facts` are written as JSON."""
        helper = self._onnx.helper
        graph = helper.make_graph(self._nodes, "gridmodl", self._inputs, self._outputs, self._initializers)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)]
        made = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="gridmodl",
            producer_version=__version__, doc_string=description,
        )  # fmt: skip
        helper.set_model_props(made, {f"gridmodl.{name}": json.dumps(fact) for name, fact in facts.items()})
        self._onnx.checker.check_model(made, full_check=True)
        if path is not None:
            replace_file(path, made.SerializeToString(deterministic=True))
        return made


def input_names(columns: Iterable[Name], outputs: Collection[str] = ()) -> dict[Name, str]:
    """Name of the input of each column: its own as a text; ValueError if it is empty, or of another or an output."""
    found: dict[Name, str] = {}
    for name in columns:
        text = str(name)
        if text in outputs:
            raise ValueError(f"column {name!r} has the name of an output of ONNX; rename the column")
        if not text or text in found.values():
            raise ValueError(f"column {name!r} has no name of its own as an input of ONNX; rename the column")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(f"the name of column {name!r} is no text that ONNX can hold: {error.reason}") from error
        found[name] = text
    return found
