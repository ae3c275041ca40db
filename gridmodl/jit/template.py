"""How a criterion's terms reach a kernel, plain or compiled.

A kernel is a plain function that calls the free terms of `gridmodl.terms`. Binding makes a new function of its code in
which those names mean the criterion's terms. It runs as it is while its work is small (`gridmodl.jit.tiers`); then
numba compiles it, and it is kept on disk (`gridmodl.jit.cache`) under a name that ends in a digest of everything the
kernel can reach. So a compiled kernel runs as fast as one with the formula written in, a second process finds it
compiled, and no edit of a file can leave it stale. (Within one process a class is bound once: whoever assigns a new
helper in a notebook runs the class's cell again.)

Measured (numba 0.68, ratio to the hand-written kernel): this 1.01-1.04; dispatchers as arguments 1.07-1.14 and
never cached; function pointers 2.4-19; overloads silently stale after an edit.
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
from gridmodl.jit.tiers import compile_mode, compile_seconds, expected_seconds, pace, patience
from gridmodl.terms import FUNCTIONS, Criterion

_binding = threading.RLock()  # two threads that bind one kernel would compile it twice

Function = TypeVar("Function", bound=Callable[..., Any])


def inlined(function: Function) -> Function:
    """Mark a helper of a kernel to be copied into its caller.

    For small functions that take a large record: handing one over in a loop cost 15 times the work itself.
    """
    function.inlined = True  # type: ignore[attr-defined]
    return function


def bind(kernel: Callable[..., Any], criterion: type[Criterion] | None = None) -> Kernel:
    """`kernel` with the terms of `criterion` in place of the free ones."""
    with _binding, _naming(criterion):
        return _bind(kernel, criterion)  # type: ignore[arg-type]  # mypy thinks a class cannot be hashed


@contextlib.contextmanager
def _naming(criterion: type[Criterion] | None) -> Iterator[None]:
    """Let errors that a term cannot be compiled say of which criterion it is."""
    try:
        yield
    except TermError as error:
        raise TermError(f"criterion {criterion.name!r}: {error}" if criterion is not None else str(error)) from error


@functools.cache
def _bind(kernel: Callable[..., Any], criterion: Any) -> Kernel:
    return Kernel(kernel, criterion)


class Kernel:
    """A kernel with the terms of one criterion, called like the function that it is made of.

    Parameters
    ----------
    kernel : function
        Calls free terms, or none.
    criterion : subclass of Criterion, optional
        Whose terms it calls.
    """

    def __init__(self, kernel: Callable[..., Any], criterion: type[Criterion] | None = None) -> None:
        free = FUNCTIONS if criterion is not None else ()
        self.kernel, self.criterion = kernel, criterion
        self._terms = {term: getattr(criterion, term.__name__) for term in free}
        self._reachable = Reachable(kernel, self._terms)
        self._compile_seconds = compile_seconds(self._reachable.n_instructions)
        self._seconds = 0.0  # of plain runs so far
        self._was_sought = False  # on disk
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
            raise TermError(
                f"criterion {self.criterion.name!r} does not compile; its terms may use numbers, tuples, arrays, "
                f"`math`, and functions made of these. The compiler says: {str(error).strip()}"
            ) from error

    def _stays_plain(self, arguments: tuple[Any, ...]) -> bool:
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
        patience.lose()
        return False

    def _is_on_disk(self, arguments: tuple[Any, ...]) -> bool:
        """Whether an earlier process has compiled it for such arguments; looked up once."""
        if self._was_sought:
            return False
        dispatcher, is_there = self.compiled, False
        if dispatcher._cache.exists():
            signature = tuple(dispatcher.typeof_pyval(argument) for argument in arguments)
            is_there = dispatcher._cache.holds(signature, dispatcher.targetctx)
        self._was_sought = True
        return is_there

    def _run_plain(self, arguments: tuple[Any, ...]) -> Any:
        begun = time.thread_time()  # not lengthened by other work on the machine
        try:
            # As compiled code, where infinities and hashes that wrap are no news.
            with _interrupts_held(), np.errstate(all="ignore"):
                return _as_compiled(self.plain(*arguments))
        except Exception as error:  # whatever a term does wrong
            if self.criterion is None:
                raise
            raise TermError(
                f"criterion {self.criterion.name!r} failed in {self.kernel.__name__}: {type(error).__name__}: {error}"
            ) from error
        finally:
            seconds = time.thread_time() - begun
            self._seconds += seconds  # an estimate: of two threads that add at once, one may go uncounted
            pace.plain += seconds

    @functools.cached_property
    def plain(self) -> types.FunctionType:
        """The bound kernel as plain Python."""
        return _PlainBinder(self._reachable).copy(self.kernel)

    @functools.cached_property
    def compiled(self) -> Any:
        """The bound kernel, which numba compiles at its first call, or finds on disk."""
        with _binding:  # since Python 3.12 two threads may come here at once: the second takes what the first made
            if "compiled" not in self.__dict__:
                self.__dict__["compiled"] = self._dispatcher(allocates=False)
            return self.__dict__["compiled"]

    def _dispatcher(self, allocates: bool) -> Any:
        from gridmodl.jit.cache import KernelCache
        from gridmodl.jit.compiler import compile_kernel

        with _binding, _naming(self.criterion):
            function = _Binder(self._terms, allocates).copy(self.kernel)
            dispatcher = compile_kernel(function, None if allocates else lambda: self._dispatcher(True))
            dispatcher._cache = KernelCache(function)
            return dispatcher


def _as_compiled(answer: Any) -> Any:
    """What a plain kernel returns, in the types of compiled ones: numbers of Python, not of numpy."""
    if isinstance(answer, np.generic):
        return answer.item()
    return tuple(map(_as_compiled, answer)) if type(answer) is tuple else answer


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let Ctrl-C be heard at the end of the block, as of compiled code.

    A kernel that is broken off leaves arrays that contradict each other, and the search takes its result from them.
    """
    hear = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(hear):
        yield
        return
    held = []
    signal.signal(signal.SIGINT, lambda number, frame: held.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, hear)
        if held:
            hear(*held[0])


def _copy(function: Any, names: dict[str, Any], closure: list[Any]) -> types.FunctionType:
    """A function of the same code in which global names and closure mean something else."""
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
    """Copies functions so that the functions they call are the plain copies of one binding."""

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
        value = self.reachable.meaning(value)
        is_bound = isinstance(value, types.FunctionType) and value in self.reachable.uses
        return self.copy(value) if is_bound else value


_helpers: dict[tuple[str, bool], Any] = {}  # by name, which ends in the digest: shared by kernels and criteria


class _Binder:
    """Copies functions so that the functions they call are the compiled copies of one binding.

    A helper that means the same in several kernels, of whatever criteria, compiles once. Each has a digest in its name:
    the name becomes a symbol of the machine code, and of two kernels from the disk cache that both bring a symbol, one
    would silently run the helper of the other, of another criterion.
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
        from gridmodl.jit.compiler import compile_helper

        value = reachable.meaning(value)
        if not isinstance(value, types.FunctionType) or value not in reachable.uses:
            return value
        inline = value in reachable.inlined
        if (value, inline) not in self.compiled:
            copy = self.copy(value, inline)
            # A process that finds the kernel on disk imports the module of each helper, which a notebook's may not be.
            copy.__module__ = __name__
            name = (copy.__qualname__, inline)
            if name not in _helpers:
                _helpers[name] = compile_helper(copy, inline, self.allocates)
            self.compiled[value, inline] = _helpers[name]
        return self.compiled[value, inline]
