"""Bind a kernel to the terms of a criterion, plain or compiled.

A kernel is a plain function that calls the free terms of `gridmodl.terms`. `bind` copies the function, with the free
terms replaced by those of the criterion. The copy runs as plain Python while its work is small (`gridmodl.jit.tiers`);
then numba compiles it, and the machine code is saved (`gridmodl.jit.cache`) under a name that ends in a digest of
everything the kernel can reach. So a compiled kernel is as fast as one with the formula written in, a second process
loads it, and editing a file never leaves it stale. Nor does a constant, helper or term that gets another value within a
process: each `bind` looks whether one did (`gridmodl.jit.watch`), and binds anew.

Measured (numba 0.68, run time over that of the hand-written kernel): this 1.01-1.04; dispatchers as arguments
1.07-1.14 and never cached; function pointers 2.4-19; overloads silently stale after an edit.
"""

from __future__ import annotations

import contextlib
import functools
import signal
import threading
import time
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from gridmodl.jit.digest import Reachable, TermError, digest_of
from gridmodl.jit.term_errors import compile_failure, run_failure
from gridmodl.jit.tiers import compile_mode, compile_seconds, expected_seconds, pace, patience
from gridmodl.jit.watch import Watch
from gridmodl.terms import FUNCTIONS, Criterion

_bind_lock = threading.RLock()  # without it, two threads that bind one kernel would compile it twice

Function = TypeVar("Function", bound=Callable[..., Any])


def inlined(function: Function) -> Function:
    """Mark a helper of a kernel to be inlined into its callers.

    For small functions that take a large record: passing the record in a loop cost 15 times the work itself.
    """
    function.inlined = True  # type: ignore[attr-defined]
    return function


def bind(kernel: Callable[..., Any], criterion: type[Criterion] | None = None) -> Kernel:
    """Replace the free terms in `kernel` by the terms of `criterion`."""
    with _bind_lock, _naming_criterion(criterion):
        return _bind(kernel, criterion)


@contextlib.contextmanager
def _naming_criterion(criterion: type[Criterion] | None) -> Iterator[None]:
    """Add the name of the criterion to a TermError."""
    try:
        yield
    except TermError as error:
        raise TermError(f"criterion {criterion.name!r}: {error}" if criterion is not None else str(error)) from error


_kernels: dict[Any, dict[Any, Kernel]] = {}  # by criterion and kernel
_watches: dict[Any, Watch] = {}  # by criterion: of all that its kernels reach


def _bind(kernel: Callable[..., Any], criterion: type[Criterion] | None) -> Kernel:
    bound, watch = _kernels.setdefault(criterion, {}), _watches.get(criterion)
    if watch is not None and watch.has_changed():
        bound.clear()
        del _watches[criterion]
    if kernel not in bound:
        made = Kernel(kernel, criterion)
        if criterion is not None:
            _watches.setdefault(criterion, Watch(criterion)).add(made.reachable)
        bound[kernel] = made
    return bound[kernel]


class Kernel:
    """A kernel bound to the terms of one criterion; it is called like `kernel`.

    Parameters
    ----------
    kernel : function
        Plain function, which may call free terms.
    criterion : subclass of Criterion, optional
        Class whose terms replace the free ones; None for a kernel that calls no terms.
    """

    def __init__(self, kernel: Callable[..., Any], criterion: type[Criterion] | None = None) -> None:
        free = FUNCTIONS if criterion is not None else ()
        self.kernel, self.criterion = kernel, criterion
        self._terms = {term: getattr(criterion, term.__name__) for term in free}
        self.reachable = Reachable(kernel, self._terms)
        self._compile_seconds = compile_seconds(self.reachable.n_instructions)
        self._seconds = 0.0  # run time of the plain runs so far
        self._looked_up = False  # whether the kernel was searched for on disk
        self._is_compiled = False

    def __call__(self, *arguments: Any) -> Any:
        if self._stays_plain(arguments):
            return self._run_plain(arguments)
        self._is_compiled = True
        from numba.core.errors import NumbaError

        try:
            return self.compiled(*arguments)
        except NumbaError as error:
            if self.criterion is None:
                raise
            raise compile_failure(self.criterion, error) from None

    def _stays_plain(self, arguments: tuple[Any, ...]) -> bool:
        """Whether to run this call as plain Python; see `gridmodl.jit.tiers`."""
        mode = compile_mode()
        if mode != "auto":
            return mode == "never"
        if self._is_compiled:
            return False
        if self._is_on_disk(arguments):
            return False
        seconds = self._seconds + max(pace.expected, expected_seconds(arguments))
        if seconds <= patience.share * self._compile_seconds:
            return True
        patience.halve()
        return False

    def _is_on_disk(self, arguments: tuple[Any, ...]) -> bool:
        """Whether the kernel is on disk for the types of `arguments`; False after the first call."""
        if self._looked_up:
            return False
        dispatcher, is_there = self.compiled, False
        if dispatcher._cache.exists():
            signature = tuple(dispatcher.typeof_pyval(argument) for argument in arguments)
            is_there = dispatcher._cache.holds(signature, dispatcher.targetctx)
        self._looked_up = True
        return is_there

    def _run_plain(self, arguments: tuple[Any, ...]) -> Any:
        begun = time.thread_time()  # does not count other work on the machine
        try:
            # No numpy warnings, as in compiled code: infinities and overflows of hashes are expected.
            with _delayed_interrupts(), np.errstate(all="ignore"):
                return _python_numbers(self.plain(*arguments))
        except Exception as error:  # any error of a term
            if self.criterion is None:
                raise
            raise run_failure(self.criterion, self.kernel, error) from error
        finally:
            seconds = time.thread_time() - begun
            self._seconds += seconds  # approximate: when two threads add at once, one value may be lost
            pace.plain += seconds

    @functools.cached_property
    def plain(self) -> types.FunctionType:
        """The bound kernel as plain Python."""
        return _PlainBinder(self.reachable).copy(self.kernel)

    @functools.cached_property
    def compiled(self) -> Any:
        """The bound kernel as a dispatcher, which loads it from disk or compiles it at its first call."""
        with _bind_lock:  # since Python 3.12 two threads may run this at once: the second takes the first's result
            if "compiled" not in self.__dict__:
                self.__dict__["compiled"] = self._dispatcher(allocates=False)
            return self.__dict__["compiled"]

    def _dispatcher(self, allocates: bool) -> Any:
        from gridmodl.jit.cache import KernelCache
        from gridmodl.jit.compiler import compile_kernel

        with _bind_lock, _naming_criterion(self.criterion):
            function = _Binder(self._terms, allocates).copy(self.kernel)
            dispatcher = compile_kernel(function, None if allocates else lambda: self._dispatcher(True))
            dispatcher._cache = KernelCache(function)
            return dispatcher


def _python_numbers(answer: Any) -> Any:
    """Convert numpy scalars to Python numbers, which is what compiled kernels return."""
    if isinstance(answer, np.generic):
        return answer.item()
    return tuple(map(_python_numbers, answer)) if type(answer) is tuple else answer


@contextlib.contextmanager
def _delayed_interrupts() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block, as compiled code does.

    An interrupted kernel would leave inconsistent arrays, from which the search then reads its result.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    received = []
    signal.signal(signal.SIGINT, lambda number, frame: received.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if received:
            handler(*received[0])


def _copy(function: Any, names: dict[str, Any], closure: list[Any]) -> types.FunctionType:
    """Copy `function` with other values for its global `names` and its `closure`."""
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


class _PlainBinder:
    """Copy functions so that each copy calls plain copies of the functions it calls."""

    def __init__(self, reachable: Reachable) -> None:
        self.reachable = reachable
        self.copies: dict[Any, types.FunctionType] = {}

    def copy(self, function: Any) -> types.FunctionType:
        if function not in self.copies:
            uses = self.reachable.uses[function]
            names = {name: self.value(value) for name, value in uses.names.items()}
            self.copies[function] = _copy(function, names, [self.value(value) for value in uses.closure])
        return self.copies[function]

    def value(self, value: Any) -> Any:
        """The plain copy of a function, or any other value as it is."""
        value = self.reachable.resolve(value)
        is_bound = isinstance(value, types.FunctionType) and value in self.reachable.uses
        return self.copy(value) if is_bound else value


_helpers: dict[tuple[str, bool], Any] = {}  # by name with digest, and inline: shared by kernels and criteria


class _Binder:
    """Copy functions so that each copy calls compiled copies of the functions it calls.

    A helper with the same code in several kernels, also of different criteria, compiles once. Each helper has a
    digest in its name, because the name becomes a symbol of the machine code: if two kernels from the disk cache had
    the same symbol for helpers of different criteria, one kernel would silently run the helper of the other.
    """

    def __init__(self, terms: Mapping[Any, Any], allocates: bool) -> None:
        self.terms, self.allocates = terms, allocates
        self.compiled: dict[tuple[Any, bool], Any] = {}

    def copy(self, function: Any, inline: bool = False) -> types.FunctionType:
        from gridmodl.jit.compiler import digest_options

        reachable = Reachable(function, self.terms, inline)
        uses = reachable.uses[function]
        names = {name: self.value(value, reachable) for name, value in uses.names.items()}
        copy = _copy(function, names, [self.value(value, reachable) for value in uses.closure])
        copy.__qualname__ = f"{function.__qualname__}-{digest_of(reachable, digest_options(self.allocates))}"
        return copy

    def value(self, value: Any, reachable: Reachable) -> Any:
        """The dispatcher of a function, or any other value as it is."""
        from gridmodl.jit.compiler import compile_helper

        value = reachable.resolve(value)
        if not isinstance(value, types.FunctionType) or value not in reachable.uses:
            return value
        inline = value in reachable.inlined
        if (value, inline) not in self.compiled:
            copy = self.copy(value, inline)
            # A process that loads the kernel imports the module of each helper; a notebook is not importable.
            copy.__module__ = __name__
            name = (copy.__qualname__, inline)
            if name not in _helpers:
                _helpers[name] = compile_helper(copy, inline, self.allocates)
            self.compiled[value, inline] = _helpers[name]
        return self.compiled[value, inline]
