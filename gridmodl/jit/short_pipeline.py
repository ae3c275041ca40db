"""Lower functions with fewer passes than numba's default; `gridmodl.jit.compiler` says why.

    helpers are linked, not compiled    LLVM sees a helper only inside a kernel, and generates no separate code for it
    no reference counts                 kernels do not allocate memory, so nothing is counted and no count is pruned
    inlined by LLVM                     numba's own inlining copies the function before types are known: each copy is
                                        inferred and lowered again (40 % of a joint grid's time)
    no literal arguments                a helper that is called with a literal 0 is not compiled again for that 0

Uses private names of numba, so it is imported only for versions in `compiler.KNOWN_VERSIONS`.
"""

# mypy: disable-error-code="no-untyped-call, attr-defined"

from __future__ import annotations

import types as pytypes
from collections.abc import Mapping
from typing import Any

from numba import _dynfunc
from numba.core import ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.errors import NumbaRuntimeError
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering


class LinkedLibrary(JITCodeLibrary):
    """Code that others link; it is neither optimised nor compiled to machine code on its own."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


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
            is_helper = isinstance(called, types.Dispatcher) and isinstance(called.dispatcher, LinkedDispatcher)
            is_reshape = isinstance(called, types.BoundFunction) and called.typing_key == "array.reshape"
            is_view = isinstance(called, types.Function) and called.typing_key.__class__.__name__ == "_Intrinsic"
            if is_record or is_helper or is_reshape or is_view:
                continue
        elif (isinstance(expression, ir.Expr) and expression.op in VIEWS) or not isinstance(expression, ir.Expr):
            continue
        raise NumbaRuntimeError(f"NRT required: {state.func_id.func_name} calls what may allocate, {expression}")


@register_pass(mutates_CFG=False, analysis_only=False)
class Start(LoweringPass):
    """Create the library of a function, before code is added to it."""

    _name = "gridmodl_start"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        if not state.flags.nrt:
            _check_no_allocation(state)
        state.flags.no_compile = True
        state.library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class Finish(LoweringPass):
    """Register a function for its callers. The entry point for Python is a dummy that is never called."""

    _name = "gridmodl_finish"

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


class LinkedPipeline(CompilerBase):
    """Numba's passes, with ours around the one that generates code."""

    def define_pipelines(self) -> list[Any]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        at = [known for known, _ in manager.passes].index(NativeLowering)
        manager.passes.insert(at, (Start, "give the function its library"))
        manager.passes.insert(at + 2, (Finish, "make the function known to its callers"))
        manager._finalized = False
        manager.finalize()
        return [manager]


class LinkedDispatcher(CPUDispatcher):
    """Dispatcher of a function that kernels call; literal numbers are typed as plain numbers."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return super().get_call_template(tuple(map(_unliteral, args)), {key: _unliteral(kws[key]) for key in kws})


def _unliteral(argument: Any) -> Any:
    is_number = isinstance(argument, (types.IntegerLiteral, types.BooleanLiteral))
    return types.unliteral(argument) if is_number else argument


def make_helper(function: pytypes.FunctionType, options: Mapping[str, Any]) -> CPUDispatcher:
    """Make the dispatcher of a function that others link."""
    full = {"nopython": True, "boundscheck": None, **options}
    return LinkedDispatcher(function, targetoptions=full, pipeline_class=LinkedPipeline)
