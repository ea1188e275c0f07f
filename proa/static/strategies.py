"""Options that Paddle's executors take. XLA decides itself what they decide: they are kept, and change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from ..core.errors import type_error

if TYPE_CHECKING:
    pass


class _Options:
    """Attributes that may be set to anything."""

    _defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.__dict__.update(self._defaults)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in sorted(self.__dict__.items()))})"


class BuildStrategy(_Options):
    """How Paddle optimises a program before it runs. The settings are kept; XLA decides by itself.

    Examples:
        >>> strategy = paddle.static.BuildStrategy()
        >>> strategy.fuse_gemm_epilogue = True
        >>> strategy.fuse_gemm_epilogue
        True
    """

    class ReduceStrategy:
        AllReduce = 0
        Reduce = 1

    class GradientScaleStrategy:
        CoeffNumDevice = 0
        One = 1
        Customized = 2

    _defaults: ClassVar[dict[str, Any]] = {
        "build_cinn_pass": False, "debug_graphviz_path": "", "enable_addto": False, "enable_auto_fusion": False,
        "enable_inplace": None, "enable_sequential_execution": False, "fuse_adamw": False,
        "fuse_all_optimizer_ops": False, "fuse_bn_act_ops": False, "fuse_bn_add_act_ops": True,
        "fuse_broadcast_ops": False, "fuse_dot_product_attention": False,
        "fuse_elewise_add_act_ops": False, "fuse_gemm_epilogue": False, "fuse_relu_depthwise_conv": False,
        "fuse_resunit": False, "fused_attention": False, "fused_feedforward": False,
        "gradient_scale_strategy": GradientScaleStrategy.CoeffNumDevice, "memory_optimize": None,
        "reduce_strategy": ReduceStrategy.AllReduce, "remove_unnecessary_lock": True, "sequential_run": False,
        "sync_batch_norm": False,
    }  # fmt: skip


class ExecutionStrategy(_Options):
    """How Paddle schedules operations. The settings are kept; XLA decides by itself.

    Examples:
        >>> strategy = paddle.static.ExecutionStrategy()
        >>> strategy.num_threads = 4
        >>> strategy.num_threads
        4
    """

    _defaults: ClassVar[dict[str, Any]] = {
        "num_threads": 0, "num_iteration_per_drop_scope": 100, "num_iteration_per_run": 1, "use_thread_barrier": False,
    }  # fmt: skip


class CompiledProgram:
    """A program with options. Every program is compiled when it runs.

    Args:
        program_or_graph: a Program.
        build_strategy: a BuildStrategy, which is kept.

    Raises:
        TypeError: they are something else.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.data("x", [None, 2]) * 2
        >>> compiled = paddle.static.CompiledProgram(main)
        >>> paddle.static.Executor().run(compiled, feed={"x": np.ones((1, 2), "float32")}, fetch_list=[y])[0].tolist()
        [[2.0, 2.0]]
    """

    def __init__(self, program_or_graph: Any, build_strategy: BuildStrategy | None = None) -> None:
        from .program import Program

        if isinstance(program_or_graph, CompiledProgram):
            program_or_graph = program_or_graph.program
        if not isinstance(program_or_graph, Program):
            raise type_error("CompiledProgram", "a Program is needed", type(program_or_graph).__name__)
        if build_strategy is not None and not isinstance(build_strategy, BuildStrategy):
            raise type_error("CompiledProgram", "build_strategy must be a BuildStrategy", type(build_strategy).__name__)
        self.program = program_or_graph
        self.build_strategy = build_strategy

    def with_data_parallel(self, *arguments: Any, **named: Any) -> CompiledProgram:
        """The program itself: data parallelism is a matter of how its inputs are placed.

        Examples:
            >>> program = paddle.static.CompiledProgram(paddle.static.Program())
            >>> program.with_data_parallel() is program
            True
        """
        return self

    def with_inference_optimize(self, config: Any = None) -> CompiledProgram:
        """The program itself: XLA optimises every program.

        Examples:
            >>> program = paddle.static.CompiledProgram(paddle.static.Program())
            >>> program.with_inference_optimize() is program
            True
        """
        return self


# ---- Graphcore's devices: the names exist and say that there is no such device ---------------------------------------


def _no_ipu(where: str) -> NoReturn:
    raise RuntimeError(f"({where}) there is no IPU here; use paddle.device.get_all_device_type() to see what there is.")


class IpuStrategy(_Options):
    """Settings for Graphcore's devices, which are not there.

    Examples:
        >>> paddle.static.IpuStrategy()
        Traceback (most recent call last):
            ...
        RuntimeError: (IpuStrategy) there is no IPU here; use paddle.device.get_all_device_type() to see what there is.
    """

    def __init__(self) -> None:
        _no_ipu("IpuStrategy")

    def set_graph_config(
        self, num_ipus: int = 1, is_training: bool = True, micro_batch_size: int = 1, enable_manual_shard: bool = False
    ) -> None:
        """Never reached: there is no IpuStrategy.

        Examples:
            >>> paddle.static.IpuStrategy().set_graph_config(num_ipus=2)
            Traceback (most recent call last):
                ...
            RuntimeError: (IpuStrategy) there is no IPU here; ...
        """

    def set_pipelining_config(self, *arguments: Any, **named: Any) -> None:
        """Never reached: there is no IpuStrategy.

        Examples:
            >>> paddle.static.IpuStrategy().set_pipelining_config()
            Traceback (most recent call last):
                ...
            RuntimeError: (IpuStrategy) there is no IPU here; ...
        """

    set_precision_config = add_custom_op = set_options = get_option = set_pipelining_config
    enable_pattern = disable_pattern = register_patch = release_patch = set_pipelining_config
    set_optimizer = parse_optimizer = set_pipelining_config


class IpuCompiledProgram:
    """A program for Graphcore's devices, which are not there.

    Examples:
        >>> paddle.static.IpuCompiledProgram()
        Traceback (most recent call last):
            ...
        RuntimeError: (IpuCompiledProgram) there is no IPU here; ...
    """

    def __init__(self, program: Any = None, scope: Any = None, ipu_strategy: Any = None) -> None:
        _no_ipu("IpuCompiledProgram")

    def compile(self, feed_list: Any, fetch_list: Any) -> Any:
        """Never reached: there is no IpuCompiledProgram.

        Examples:
            >>> paddle.static.IpuCompiledProgram().compile([], [])
            Traceback (most recent call last):
                ...
            RuntimeError: (IpuCompiledProgram) there is no IPU here; ...
        """


def ipu_shard_guard(index: int = -1, stage: int = -1) -> Any:
    """RuntimeError: there are no Graphcore devices here.

    Examples:
        >>> paddle.static.ipu_shard_guard()
        Traceback (most recent call last):
            ...
        RuntimeError: (ipu_shard_guard) there is no IPU here; ...
    """
    _no_ipu("ipu_shard_guard")


def set_ipu_shard(call_func: Any, index: int = -1, stage: int = -1) -> Any:
    """RuntimeError: there are no Graphcore devices here.

    Examples:
        >>> paddle.static.set_ipu_shard(print)
        Traceback (most recent call last):
            ...
        RuntimeError: (set_ipu_shard) there is no IPU here; ...
    """
    _no_ipu("set_ipu_shard")
