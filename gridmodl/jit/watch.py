"""Notice that a criterion changed after its kernels were bound: a constant, a helper, a default or a term of the class.

A notebook changes a global and calls again; Python would use the new value, and kernels copied the old one. So the
first kernel of each ``p`` (`gridmodl.jit.native.known_terms`) compares what the functions of the author refer to with
what they referred to, by identity, and arrays, which change in place, by their bytes. That takes about a microsecond
for a criterion of gridmodl, and some for one with helpers. Functions of gridmodl itself are not looked at: only which
of them are the terms of the class.
"""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from gridmodl.jit.digest import KNOWN_MODULES, Reachable, TermError, Uses, is_jitted
from gridmodl.terms import FUNCTIONS, Criterion

OWN = (*KNOWN_MODULES, "gridmodl")  # modules whose functions do not change
ABSENT = object()


class Watch:
    """What functions refer to, and whether any of it has changed since it was added."""

    def __init__(self, criterion: type[Criterion] | None = None) -> None:
        self.criterion = criterion
        self._terms = [(term.__name__, getattr(criterion, term.__name__)) for term in FUNCTIONS if criterion]
        self._functions: dict[Any, tuple[Any, ...]] = {}  # code, defaults and keywords of each
        self._names: list[tuple[dict[str, Any], str, Any]] = []  # globals, a name, its value
        self._attributes: list[tuple[dict[str, Any], list[str], Any]] = []  # globals, the parts of a dotted name, value
        self._cells: list[tuple[Any, Any]] = []
        self._arrays: dict[int, tuple[Any, tuple[Any, ...]]] = {}
        self._jitted: list[Any] = []

    def add(self, reachable: Reachable) -> None:
        """Watch the functions of an author among `reachable`."""
        for function, uses in reachable.uses.items():
            if function not in self._functions and _home(function) not in OWN:
                self._add(function, uses)

    def _add(self, function: Any, uses: Uses) -> None:
        scope = function.__globals__
        self._functions[function] = _own_state(function)
        self._names += [(scope, name, value if name in scope else ABSENT) for name, value in uses.names.items()]
        for dotted, value in uses.attributes.items():
            root, *chain = dotted.split(".")
            if _home(uses.names[root]) not in OWN:
                self._attributes.append((scope, [root, *chain], value))
        self._cells += list(zip(function.__closure__ or (), uses.closure, strict=True))
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        for value in _flat((*uses.names.values(), *uses.attributes.values(), *uses.closure, *defaults)):
            if isinstance(value, np.ndarray):
                self._arrays[id(value)] = (value, _contents(value))
            elif "numba" in sys.modules and is_jitted(value):
                _watch_jitted(value)
                self._jitted.append(value)

    def has_changed(self) -> bool:
        """Whether anything is another object, or another array; raise TermError if a jitted helper went stale."""
        for name, term in self._terms:
            if getattr(self.criterion, name) is not term:
                return True
        for scope, name, value in self._names:
            if scope.get(name, ABSENT) is not value:
                return True
        for cell, value in self._cells:
            if cell.cell_contents is not value:
                return True
        for function, state in self._functions.items():
            now = _own_state(function)
            if len(now) != len(state) or any(map(_is_other, now, state)):
                return True
        for scope, chain, value in self._attributes:
            if _resolved(scope, chain) is not value:
                return True
        if any(_contents(array) != known for array, known in self._arrays.values()):
            return True
        for dispatcher in self._jitted:
            _watch_jitted(dispatcher)
        return False


_jitted: dict[Any, Watch] = {}  # what functions that authors compiled themselves referred to when first met


def _watch_jitted(dispatcher: Any) -> None:
    """Raise TermError if `dispatcher` was compiled with what has changed since."""
    watch = _jitted.get(dispatcher)
    if watch is None or (watch.has_changed() and not dispatcher.overloads):
        _jitted[dispatcher] = watch = Watch()
        watch.add(Reachable(dispatcher.py_func, {}))
    elif watch.has_changed():
        raise TermError(
            f"{dispatcher.py_func.__qualname__} was compiled by numba, and what it refers to has changed since, which "
            "numba does not see; run the cell that defines it again, or leave the compiling to gridmodl"
        )


def _own_state(function: Any) -> tuple[Any, ...]:
    """Parts of a function that can be assigned to."""
    keywords = function.__kwdefaults__
    state = (function.__code__, function.__defaults__)
    return state if keywords is None else (*state, *keywords, *keywords.values())


def _is_other(one: Any, other: Any) -> bool:
    return one is not other


def _resolved(scope: dict[str, Any], chain: list[str]) -> Any:
    """Value of a dotted name, ABSENT if there is none any more."""
    value = scope.get(chain[0], getattr(builtins, chain[0], ABSENT))
    for attribute in chain[1:]:
        value = getattr(value, attribute, ABSENT)
    return value


def _contents(array: Any) -> tuple[Any, ...]:
    return array.dtype, array.shape, array.tobytes()


def _flat(values: Any) -> Iterator[Any]:
    """The values, and those inside of tuples."""
    for value in values:
        if isinstance(value, tuple):
            yield from _flat(value)
        else:
            yield value


def _home(value: Any) -> str:
    """First part of the name of the module that `value` is, or of which it is."""
    module = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    return module.split(".")[0] if isinstance(module, str) else ""
