"""`paddle.distributed.passes`: changes of static programs, by name. XLA makes those that join operations by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import type_error, value_error

# What XLA does when it compiles a program, so that there is nothing to change before.
_DONE_BY_XLA = frozenset(
    {
        "allreduce_matmul_grad_overlapping", "build_cinn", "fuse_adamw", "fuse_all_reduce", "fuse_bn_act", "fuse_bn_add_act",
        "fuse_dot_product_attention", "fuse_elewise_add_act", "fuse_gemm_epilogue", "fuse_optimizer",
        "fuse_relu_depthwise_conv", "fuse_resunit", "fused_attention", "fused_feedforward",
        "auto_parallel_supplement_explicit_dependencies",
    }
)  # fmt: skip
# What other passes of Paddle's are for, and what does it here.
_INSTEAD = {
    "amp": "paddle.amp.auto_cast or static.amp.decorate",
    "fp16": "paddle.amp.auto_cast or static.amp.decorate",
    "master_grad": "paddle.amp.decorate(master_grad=True)",
    "recompute": "paddle.distributed.fleet.utils.recompute",
    "gradient_merge": "shard_optimizer(gradient_accumulation_steps=…) or Strategy.gradient_merge",
    "sharding": "ShardingStage1 to 3 with shard_optimizer",
    "pipeline": "PipelineLayer of fleet, or parallelize with pp_config",
    "ps_": "fleet.init with table servers",
    "quantization": "paddle.quantization",
}


class PassContext:
    """What passes leave for those after them.

    Examples:
        >>> context = paddle.distributed.passes.PassContext()
        >>> context.set_attr("level", 2)
        >>> context.get_attr("level")
        2
    """

    def __init__(self) -> None:
        self._applied_passes: list[Pass] = []
        self._attrs: dict[str, Any] = {}

    @property
    def passes(self) -> tuple[Pass, ...]:
        """The passes that were applied.

        Examples:
            >>> paddle.distributed.passes.PassContext().passes
            ()
        """
        return tuple(self._applied_passes)

    def set_attr(self, key: str, value: Any) -> None:
        """Keeps a value under a name.

        Examples:
            >>> context = paddle.distributed.passes.PassContext()
            >>> context.set_attr("level", 2)
            >>> context.get_attr("level")
            2
        """
        self._attrs[key] = value

    def get_attr(self, key: str, default: Any = None) -> Any:
        """The value of that name, or `default`.

        Examples:
            >>> paddle.distributed.passes.PassContext().get_attr("level", 0)
            0
        """
        return self._attrs.get(key, default)


class Pass:
    """A change of programs that has a name and settings."""

    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        self.name = name
        self._attrs = dict(settings)

    def set_attr(self, key: str, value: Any) -> Pass:
        self._attrs[key] = value
        return self

    def get_attr(self, key: str, default: Any = None) -> Any:
        return self._attrs.get(key, default)

    def apply(self, main_programs: Any, startup_programs: Any, context: PassContext | None = None) -> PassContext:
        """Leaves the programs as they are: the change happens when XLA compiles them."""
        context = PassContext() if context is None else context
        context._applied_passes.append(self)
        return context


def new_pass(name: str, pass_attrs: dict[str, Any] = {}) -> Pass:  # noqa: B006  (Paddle's signature; it is copied)
    """The pass of that name.

    Args:
        name: one of those that XLA makes by itself; they change nothing.
        pass_attrs: settings, which are kept.

    Raises:
        NotImplementedError: something else does what the pass does; the message says what.
        ValueError: there is no such pass.

    Examples:
        >>> paddle.distributed.passes.new_pass("fuse_gemm_epilogue").name
        'fuse_gemm_epilogue'
        >>> paddle.distributed.passes.new_pass("auto_parallel_recompute")
        Traceback (most recent call last):
            ...
        NotImplementedError: (new_pass) programs are not changed by the pass 'auto_parallel_recompute' here; ...
    """
    if not isinstance(name, str):
        raise type_error("new_pass", "name must be a string", type(name).__name__)
    if name in _DONE_BY_XLA:
        return Pass(name, pass_attrs)
    for part, instead in _INSTEAD.items():
        if part in name:
            raise NotImplementedError(f"(new_pass) programs are not changed by the pass {name!r} here; use {instead}.")
    raise value_error("new_pass", "there is no pass of that name", repr(name), f"there are {sorted(_DONE_BY_XLA)}")


class PassManager:
    """Several passes, one after another.

    Args:
        passes: what `new_pass` gave.
        context: where they leave what they did; None: a new one.
        auto_solve_conflict: taken; there is none.

    Examples:
        >>> fuse = paddle.distributed.passes.new_pass("fuse_bn_act")
        >>> paddle.distributed.passes.PassManager([fuse]).names
        ['fuse_bn_act']
    """

    def __init__(
        self, passes: Sequence[Pass], context: PassContext | None = None, auto_solve_conflict: bool = True
    ) -> None:
        self._passes = list(passes)
        self._context = PassContext() if context is None else context

    def apply(self, main_programs: Any, startup_programs: Any) -> PassContext:
        """Applies all of them.

        Examples:
            >>> fuse = paddle.distributed.passes.new_pass("fuse_bn_act")
            >>> context = paddle.distributed.passes.PassManager([fuse]).apply([], [])
            >>> [each.name for each in context.passes]
            ['fuse_bn_act']
        """
        for each in self._passes:
            each.apply(main_programs, startup_programs, self._context)
        return self._context

    @property
    def context(self) -> PassContext:
        """Where the passes leave what they did.

        Examples:
            >>> paddle.distributed.passes.PassManager([]).context.passes
            ()
        """
        return self._context

    @property
    def names(self) -> list[str]:
        """The names of the passes.

        Examples:
            >>> paddle.distributed.passes.PassManager([paddle.distributed.passes.new_pass("build_cinn")]).names
            ['build_cinn']
        """
        return [each.name for each in self._passes]

    @property
    def passes(self) -> tuple[Pass, ...]:
        """The passes.

        Examples:
            >>> len(paddle.distributed.passes.PassManager([paddle.distributed.passes.new_pass("build_cinn")]).passes)
            1
        """
        return tuple(self._passes)


__all__ = ["PassContext", "PassManager", "new_pass"]
