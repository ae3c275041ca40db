"""Bind a kernel to the terms of a criterion: as plain Python, or as machine code that calls them.

A kernel is a plain function that calls the free terms of `gridmodl.terms`. As plain Python, `bind` gives a copy in
which the terms are those of the criterion. In machine code a kernel exists once, with its terms left open: it calls
them through the addresses that ``p`` holds, so that another criterion, option or literal compiles its terms alone.

    library     kernels and terms of built-in criteria, compiled when gridmodl was built      `gridmodl.jit.library`
    on disk     compiled by an earlier process                                                `gridmodl.jit.cache`
    compiled    now, by numba                                                                 `gridmodl.jit.compiler`
    plain       for debuggers, and while a kernel's work is smaller than compiling it         `gridmodl.jit.tiers`

Nothing is ever stale: names end in a digest of everything that a kernel or a term can reach, and the terms of a
criterion are looked at again for each ``p``.
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

from gridmodl.jit.arguments import canonical, describe
from gridmodl.jit.digest import Reachable, copied
from gridmodl.jit.native import (
    MISMATCH,
    Native,
    find_native,
    give_addresses,
    kernel_exists,
    known_terms,
    naming,
    params_in,
    terms_exist,
    with_terms_of,
)
from gridmodl.jit.term_errors import run_failure
from gridmodl.jit.tiers import TERM_SECONDS, compile_mode, compile_seconds, expected_seconds, pace, patience
from gridmodl.terms import Criterion

Function = TypeVar("Function", bound=Callable[..., Any])


def inlined(function: Function) -> Function:
    """Mark a helper of a kernel to be inlined into its callers.

    For small functions that take a large record: passing the record in a loop cost 15 times the work itself.
    """
    function.inlined = True  # type: ignore[attr-defined]
    return function


_bound: dict[Any, Kernel] = {}


def bind(kernel: Callable[..., Any], criterion: type[Criterion] | None = None) -> Kernel:
    """Replace the free terms in `kernel` by the terms of `criterion`."""
    found = _bound.get((kernel, criterion))
    return found if found is not None else _bound.setdefault((kernel, criterion), Kernel(kernel, criterion))


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
        self.kernel, self.criterion = kernel, criterion
        self._natives: dict[bool, list[Native]] = {True: [], False: []}  # with and without the library
        self._plain: Any = None  # the bound kernel as plain Python, and the terms that it is bound to
        self._seconds = 0.0  # run time of the plain runs so far
        self._missing: set[str] = set()  # signatures that are not on disk

    def __call__(self, *arguments: Any) -> Any:
        mode = compile_mode()
        if mode != "never":
            for native in self._natives[mode != "always"]:
                answer = native(arguments)
                if answer is not MISMATCH:
                    return answer
            arguments = canonical(arguments)
            if self.criterion is not None:
                arguments = with_terms_of(self.criterion, arguments)
            found = self._find_native(arguments, mode)
            if found is not None:
                return found.run(arguments)
        return self._run_plain(arguments)

    def _find_native(self, arguments: tuple[Any, ...], mode: str) -> Native | None:
        """The kernel in machine code, with terms for these arguments; None to run it as plain Python."""
        uses_library, text, params = mode != "always", describe(arguments), params_in(arguments)
        seconds = 0.0  # to compile what is missing
        if text in self._missing or not kernel_exists(self.kernel, text, uses_library):
            self._missing.add(text)
            seconds += self._compile_seconds
        if not all(terms_exist(p, uses_library) for p in params):
            seconds += TERM_SECONDS
        if seconds and mode == "auto":
            if self._seconds + max(pace.expected, expected_seconds(arguments)) <= patience.share * seconds:
                return None
            patience.halve()
        if not all(give_addresses(p, uses_library) for p in params):
            return None
        given, natives = {id(p.addresses): p.addresses for p in params}, self._natives[uses_library]
        terms = next(iter(given.values())) if len(given) == 1 else None  # that may be written into the kernel
        for native in natives:  # `p` had no addresses yet
            if native.text == text and native.terms in (None, terms):
                return native
        made = find_native(self.kernel, self.criterion, arguments, text, terms, uses_library)
        if made is not None:
            self._missing.discard(text)
            natives[:] = [made, *(old for old in natives if old.text != text)]
        return made

    @functools.cached_property
    def _compile_seconds(self) -> float:
        return compile_seconds(Reachable(self.kernel, {}).n_instructions)

    @property
    def plain(self) -> Any:
        """The bound kernel as plain Python, bound anew where a term was changed in this process."""
        terms = None if self.criterion is None else known_terms(self.criterion)
        if self._plain is None or self._plain[1] is not terms:
            own = {} if terms is None else terms.own
            with naming(self.criterion):
                self._plain = _plain_copy(self.kernel, own), terms
        return self._plain[0]

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


def _plain_copy(kernel: Any, terms: Mapping[Any, Any]) -> Callable[..., Any]:
    """Copy of a kernel that calls copies of the functions it calls, with `terms` in place of the free ones."""
    reachable = Reachable(kernel, terms)

    @functools.cache
    def copy(function: Any) -> types.FunctionType:
        uses = reachable.uses[function]
        names = {name: replaced(value) for name, value in uses.names.items()}
        return copied(function, names, [replaced(value) for value in uses.closure])

    def replaced(value: Any) -> Any:
        value = reachable.resolve(value)
        return copy(value) if isinstance(value, types.FunctionType) and value in reachable.uses else value

    return copy(kernel)
