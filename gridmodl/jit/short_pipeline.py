"""The shorter way through numba that `compiler` describes, made of names that numba does not promise to keep.

Imported only where the version of numba is one that the tests have seen.
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

# What numba says where a function without reference counts would allocate, or give an array back.
NO_MEMORY, NO_ARRAY = "NRT required", "Only accept returning of array"


class LinkedLibrary(JITCodeLibrary):
    """The code of a helper, for kernels to link: neither optimised nor made into machine code by itself."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class KernelLibrary(JITCodeLibrary):
    """The code of a kernel and its helpers, optimised in one run: there are no reference counts to prune before it."""

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


VIEWS = ("getitem", "static_getitem", "getiter", "iternext", "pair_first")  # what makes of an array one that owns none


def _holds_array(state: Any, kind: Any) -> bool:
    return bool(state.targetctx.data_model_manager[kind].contains_nrt_meminfo())


def _refuse_memory(state: Any) -> None:
    """Raise where a function calls something that may give it memory to free.

    Numba says so itself where it compiles an allocation, but not of a function that was compiled before, with counts.
    """
    for expression, signature in state.calltypes.items():
        if signature is None or not _holds_array(state, signature.return_type):
            continue
        if isinstance(expression, ir.Expr) and expression.op == "call":
            called = state.typemap[expression.func.name]
            is_record = isinstance(called, types.NamedTupleClass)
            is_helper = isinstance(called, types.Dispatcher) and isinstance(called.dispatcher, Helper)
            is_reshape = isinstance(called, types.BoundFunction) and called.typing_key == "array.reshape"
            if is_record or is_helper or is_reshape:
                continue
        elif (isinstance(expression, ir.Expr) and expression.op in VIEWS) or not isinstance(expression, ir.Expr):
            continue
        raise NumbaRuntimeError(f"{NO_MEMORY}: {state.func_id.func_name} calls what may allocate, {expression}")


class Starting(LoweringPass):
    """Gives a function its library, before code is put into it."""

    library_class: Any

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        if not state.flags.nrt:
            _refuse_memory(state)
        state.library = self.library_class(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class StartKernel(Starting):
    _name = "gridmodl_start_kernel"
    library_class = KernelLibrary

    def run_pass(self, state: Any) -> bool:
        # Python would give back a reference that was never taken.
        if _holds_array(state, state.return_type):
            raise NumbaRuntimeError(f"{NO_MEMORY}: {state.func_id.func_name} returns an array")
        return super().run_pass(state)


@register_pass(mutates_CFG=False, analysis_only=False)
class StartHelper(Starting):
    _name = "gridmodl_start_helper"
    library_class = LinkedLibrary

    def run_pass(self, state: Any) -> bool:
        state.flags.no_compile = True
        return super().run_pass(state)


@register_pass(mutates_CFG=False, analysis_only=False)
class FinishHelper(LoweringPass):
    """Makes a helper known to callers. Its entry for Python is never called: it leads nowhere."""

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
    """Numba's passes with one before and one after the one that makes code."""
    manager = DefaultPassBuilder.define_nopython_pipeline(state)
    at = [known for known, _ in manager.passes].index(NativeLowering)
    manager.passes.insert(at, (before, "give the function its library"))
    if after is not None:
        manager.passes.insert(at + 2, (after, "make the function known to its callers"))
    manager._finalized = False
    manager.finalize()
    return [manager]


class KernelPipeline(CompilerBase):
    """How a kernel without reference counts is compiled."""

    def define_pipelines(self) -> list[Any]:
        return _with_passes(self.state, StartKernel)


class HelperPipeline(CompilerBase):
    """How a helper is made ready for linking."""

    def define_pipelines(self) -> list[Any]:
        return _with_passes(self.state, StartHelper, FinishHelper)


class Helper(CPUDispatcher):
    """A function that kernels call; a literal number among its arguments is a number like any other."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return super().get_call_template(tuple(map(_unliteral, args)), {key: _unliteral(kws[key]) for key in kws})


def _unliteral(argument: Any) -> Any:
    is_number = isinstance(argument, (types.IntegerLiteral, types.BooleanLiteral))
    return types.unliteral(argument) if is_number else argument


class Kernel(CPUDispatcher):
    """A function that Python calls; compiled with reference counts where it turns out to need them."""

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
        self._cache.save_overload(sig, found)  # the next process need not find out again
        return found.entry_point


def make_kernel(
    function: pytypes.FunctionType, options: Mapping[str, Any], allocating: Callable[[], Any] | None
) -> CPUDispatcher:
    """A dispatcher of a kernel; `allocating` makes the one to use where this one needs reference counts."""
    if allocating is None:
        return CPUDispatcher(function, targetoptions=_whole(options))
    kernel = Kernel(function, targetoptions=_whole(options), pipeline_class=KernelPipeline)
    kernel.allocating = allocating
    return kernel


def make_helper(function: pytypes.FunctionType, options: Mapping[str, Any]) -> CPUDispatcher:
    """A dispatcher of a helper."""
    return Helper(function, targetoptions=_whole(options), pipeline_class=HelperPipeline)


def _whole(options: Mapping[str, Any]) -> dict[str, Any]:
    return {"nopython": True, "boundscheck": None, **options}
