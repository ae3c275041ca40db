"""Compile kernels and helpers with fewer passes than numba's default; `gridmodl.jit.compiler` says why.

Uses private names of numba, so it is imported only for versions in `compiler.KNOWN_VERSIONS`.
"""

# mypy: disable-error-code="no-untyped-call, attr-defined"

from __future__ import annotations

import types as pytypes
from collections.abc import Callable, Mapping
from typing import Any

from numba import _dynfunc
from numba.core import ir, sigutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.errors import NumbaError, NumbaRuntimeError
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering

# Texts of numba's errors for a function without reference counts that allocates or returns an array.
NO_MEMORY, NO_ARRAY = "NRT required", "Only accept returning of array"


class LinkedLibrary(JITCodeLibrary):
    """Code of a helper, which kernels link; it is neither optimised nor compiled to machine code on its own."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class KernelLibrary(JITCodeLibrary):
    """Code of a kernel and its helpers, optimised in one run, as there are no reference counts to prune first."""

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


VIEWS = ("getitem", "static_getitem", "getiter", "iternext", "pair_first")  # expressions that return a view


def _holds_array(state: Any, kind: Any) -> bool:
    """Whether values of the numba type `kind` own memory."""
    return bool(state.targetctx.data_model_manager[kind].contains_nrt_meminfo())


def _check_no_allocation(state: Any) -> None:
    """Raise if the function calls something that may return newly allocated memory.

    Numba raises when it compiles an allocation, but not when a called function was compiled before with reference
    counts.
    """
    for expression, signature in state.calltypes.items():
        if signature is None or not _holds_array(state, signature.return_type):
            continue
        if isinstance(expression, ir.Expr) and expression.op == "call":
            called = state.typemap[expression.func.name]
            is_record = isinstance(called, types.NamedTupleClass)
            is_helper = isinstance(called, types.Dispatcher) and isinstance(called.dispatcher, HelperDispatcher)
            is_reshape = isinstance(called, types.BoundFunction) and called.typing_key == "array.reshape"
            if is_record or is_helper or is_reshape:
                continue
        elif (isinstance(expression, ir.Expr) and expression.op in VIEWS) or not isinstance(expression, ir.Expr):
            continue
        raise NumbaRuntimeError(f"{NO_MEMORY}: {state.func_id.func_name} calls what may allocate, {expression}")


class StartPass(LoweringPass):
    """Create the library of a function, before code is added to it."""

    library_class: Any

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        if not state.flags.nrt:
            _check_no_allocation(state)
        state.library = self.library_class(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class StartKernel(StartPass):
    _name = "gridmodl_start_kernel"
    library_class = KernelLibrary

    def run_pass(self, state: Any) -> bool:
        # Python would release a reference that was never taken.
        if _holds_array(state, state.return_type):
            raise NumbaRuntimeError(f"{NO_MEMORY}: {state.func_id.func_name} returns an array")
        return super().run_pass(state)


@register_pass(mutates_CFG=False, analysis_only=False)
class StartHelper(StartPass):
    _name = "gridmodl_start_helper"
    library_class = LinkedLibrary

    def run_pass(self, state: Any) -> bool:
        state.flags.no_compile = True
        return super().run_pass(state)


@register_pass(mutates_CFG=False, analysis_only=False)
class FinishHelper(LoweringPass):
    """Register a helper for its callers. The entry point for Python is a dummy that is never called."""

    _name = "gridmodl_finish_helper"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        lowered = state["cr"]
        module, name = lowered.fndesc.lookup_module(), lowered.fndesc.qualname.split(".")[-1]
        entry = _dynfunc.make_function(module, name, "", 0, lowered.env, (state.library,))
        state.library.finalize()
        state.targetctx.insert_user_function(entry, lowered.fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state["cr"] = lowered._replace(cfunc=entry)
        return True


def _with_passes(state: Any, before: Any, after: Any = None) -> list[Any]:
    """Numba's passes, with `before` and `after` inserted around the pass that generates code."""
    manager = DefaultPassBuilder.define_nopython_pipeline(state)
    at = [known for known, _ in manager.passes].index(NativeLowering)
    manager.passes.insert(at, (before, "give the function its library"))
    if after is not None:
        manager.passes.insert(at + 2, (after, "make the function known to its callers"))
    manager._finalized = False
    manager.finalize()
    return [manager]


class KernelPipeline(CompilerBase):
    """Passes that compile a kernel without reference counts."""

    def define_pipelines(self) -> list[Any]:
        return _with_passes(self.state, StartKernel)


class HelperPipeline(CompilerBase):
    """Passes that prepare a helper for linking."""

    def define_pipelines(self) -> list[Any]:
        return _with_passes(self.state, StartHelper, FinishHelper)


class HelperDispatcher(CPUDispatcher):
    """Dispatcher of a function that kernels call; literal numbers are typed as plain numbers."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return super().get_call_template(tuple(map(_unliteral, args)), {key: _unliteral(kws[key]) for key in kws})


def _unliteral(argument: Any) -> Any:
    is_number = isinstance(argument, (types.IntegerLiteral, types.BooleanLiteral))
    return types.unliteral(argument) if is_number else argument


class KernelDispatcher(CPUDispatcher):
    """Dispatcher of a function that Python calls; it falls back to reference counts if the function needs them."""

    allocating: Callable[[], Any]

    def compile(self, sig: Any) -> Any:
        try:
            return super().compile(sig)
        except NumbaError as error:
            if NO_MEMORY not in str(error) and NO_ARRAY not in str(error):
                raise
        counting = self.allocating()
        counting.compile(sig)
        found = counting.overloads[tuple(sigutils.normalize_signature(sig)[0])]
        self.add_overload(found)
        self._cache.save_overload(sig, found)  # so that the next process loads it without a failed attempt
        return found.entry_point


def make_kernel(
    function: pytypes.FunctionType, options: Mapping[str, Any], allocating: Callable[[], Any] | None
) -> CPUDispatcher:
    """Make the dispatcher of a kernel; `allocating` makes the dispatcher with reference counts, if it needs them."""
    if allocating is None:
        return CPUDispatcher(function, targetoptions=_full_options(options))
    kernel = KernelDispatcher(function, targetoptions=_full_options(options), pipeline_class=KernelPipeline)
    kernel.allocating = allocating
    return kernel


def make_helper(function: pytypes.FunctionType, options: Mapping[str, Any]) -> CPUDispatcher:
    """Make the dispatcher of a helper."""
    return HelperDispatcher(function, targetoptions=_full_options(options), pipeline_class=HelperPipeline)


def _full_options(options: Mapping[str, Any]) -> dict[str, Any]:
    return {"nopython": True, "boundscheck": None, **options}
