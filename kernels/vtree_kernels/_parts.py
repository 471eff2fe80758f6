"""How functions are compiled that only ever become part of compiled loops.

    search ──┐                        Numba makes each of these twice: first it links, optimises
    fill ────┼── grow                 and translates it to machine code, which nobody runs, then
    hand_on ─┘                        optimises it again as part of what calls it.

A loop around a tree has some thirty parts, up to four deep, and each was optimised once a level. A
part is no more than linked here, and optimised where it ends up: the loops of `warmup` took 47
instead of 90 seconds to compile, and run as fast.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import AnnotateTypes


class _Part(JITCodeLibrary):
    """Code to link into other code: there is none in it to call."""

    @property
    def codegen(self) -> Any:
        return _Unset(self._codegen)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _Unset:
    """The code generator as a part sees it: without a place for Python objects."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Leave it at that: the code has no address yet, nor any use for Python objects.

        Code that has one, to print, answers "missing Environment" when it runs.
        """


@register_pass(mutates_CFG=False, analysis_only=False)
class _LowerToPart(LoweringPass):
    """Tell the passes to come to write to a part."""

    _name = "lower_to_part"

    def __init__(self) -> None:  # abstract in Numba
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class _LowerInto(_LowerToPart):
    """Tell them besides that the part is to be copied to each place that calls it."""

    _name = "lower_into"

    def run_pass(self, state: Any) -> bool:
        state.flags.forceinline = True
        return super().run_pass(state)


class PartCompiler(CompilerBase):
    """Numba's compiler, for parts: what `register_jitable` takes as `pipeline_class`."""

    _lowering = _LowerToPart

    def define_pipelines(self) -> list[Any]:
        """Return Numba's passes, the last of which write a part."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(self._lowering, AnnotateTypes)
        passes.finalize()
        return [passes]


class InlinePartCompiler(PartCompiler):
    """The same for parts that go into all that calls them, as `forceinline=True` asks.

    Numba compiles what a function calls once more for callers with other options, and these have
    the options of all parts for as long as it looks at that.
    """

    _lowering = _LowerInto
