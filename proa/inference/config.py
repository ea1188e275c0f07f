"""Config: which model a predictor runs, where, and with what.

Engines decide by themselves much of what Paddle's passes and pools are configured for. Such options are accepted and
remembered (their questions answer what was set), so that scripts written for Paddle run unchanged; they have no effect.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..core import flags
from ..core.errors import type_error, value_error
from ..core.place import CPU, Place, jax_devices, make_place
from .engines import Settings, check_name
from .examples import Vector, given_by_user
from .kinds import PrecisionType

flags.define(
    "FLAGS_inference_engine", "xla",
    "What runs a model behind a predictor whose Config names no engine: xla, onnxruntime, openvino or auto.",
    "PROA_INFERENCE_ENGINE",
)  # fmt: skip

_PRECISIONS = {PrecisionType.Float32: "float32", PrecisionType.Half: "float16", PrecisionType.Bfloat16: "bfloat16"}

# Options that are remembered; few have an effect (`_EFFECTS`). Method -> (what it sets, its value without arguments).
_ACCEPTED: dict[str, tuple[str, Any]] = {
    "collect_shape_range_info": ("shape_range_info_path", ""),
    "delete_pass": ("deleted_pass", ""),
    "disable_glog_info": ("glog_info_disabled", True),
    "disable_mkldnn": ("onednn_enabled", False),
    "disable_mkldnn_fc_passes": ("onednn_fc_passes_disabled", True),
    "disable_onednn": ("onednn_enabled", False),
    "disable_onednn_fc_passes": ("onednn_fc_passes_disabled", True),
    "enable_cinn": ("cinn_enabled", True),
    "enable_custom_passes": ("custom_passes", ()),
    "enable_low_precision_io": ("low_precision_io", True),
    "enable_memory_optim": ("memory_optim", True),
    "enable_mkldnn": ("onednn_enabled", True),
    "enable_mkldnn_int8": ("onednn_int8_enabled", True),
    "enable_new_executor": ("new_executor", True),
    "enable_new_ir": ("new_ir_enabled", True),
    "enable_onednn": ("onednn_enabled", True),
    "enable_onednn_int8": ("onednn_int8_enabled", True),
    "enable_ort_optimization": ("ort_optimization", True),
    "enable_profile": ("profile", True),
    "enable_save_optim_model": ("save_optim_model", False),
    "exp_disable_mixed_precision_ops": ("mixed_precision_disabled", ()),
    "exp_disable_tensorrt_dynamic_shape_ops": ("trt_dynamic_shape_disabled", True),
    "exp_disable_tensorrt_ops": ("trt_ops_disabled", ()),
    "exp_disable_tensorrt_subgraph": ("trt_subgraph_disabled", ()),
    "exp_enable_mixed_precision_ops": ("mixed_precision_enabled", ()),
    "exp_enable_use_cutlass": ("cutlass", True),
    "exp_sparse_conv_using_buffer": ("sparse_conv_buffer", ()),
    "exp_specify_tensorrt_subgraph_precision": ("trt_subgraph_precision", ()),
    "mark_trt_engine_outputs": ("trt_outputs", ()),
    "set_bfloat16_op": ("bfloat16_ops", ()),
    "set_mkldnn_op": ("onednn_ops", ()),
    "set_onednn_op": ("onednn_ops", ()),
    "set_optim_cache_dir": ("optim_cache_dir", ""),
    "set_tensorrt_optimization_level": ("tensorrt_optimization_level", 3),
    "switch_ir_debug": ("ir_debug", True),
    "switch_ir_optim": ("ir_optim", True),
    "switch_specify_input_names": ("specify_input_name", True),
    "switch_use_feed_fetch_ops": ("use_feed_fetch_ops_enabled", True),
    "use_optimized_model": ("optimized_model", True),
}
# Engines that are not here: asking for one says so, and the model runs with the engine that there is.
_ENGINES = {
    "TensorRT": (
        "enable_tensorrt_engine enable_tensorrt_dla enable_tensorrt_explicit_quantization enable_tensorrt_inspector "
        "enable_tensorrt_memory_optim enable_tensorrt_varseqlen enable_tuned_tensorrt_dynamic_shape "
        "set_trt_dynamic_shape_info"
    ),
    "IPU": "enable_ipu load_ipu_config set_ipu_config set_ipu_custom_info",
    "XPU": "enable_xpu set_xpu_config set_xpu_device_id",
}
# Questions about options, with the answer before anything was set.
_QUESTIONS: dict[str, tuple[str, Any]] = {
    "glog_info_disabled": ("glog_info_disabled", False),
    "ir_optim": ("ir_optim", True),
    "mkldnn_enabled": ("onednn_enabled", False),
    "mkldnn_int8_enabled": ("onednn_int8_enabled", False),
    "new_ir_enabled": ("new_ir_enabled", False),
    "onednn_enabled": ("onednn_enabled", False),
    "onednn_int8_enabled": ("onednn_int8_enabled", False),
    "shape_range_info_path": ("shape_range_info_path", ""),
    "specify_input_name": ("specify_input_name", False),
    "tensorrt_dla_enabled": ("", False),
    "tensorrt_dynamic_shape_enabled": ("", False),
    "tensorrt_engine_enabled": ("", False),
    "tensorrt_explicit_quantization_enabled": ("", False),
    "tensorrt_inspector_enabled": ("", False),
    "tensorrt_optimization_level": ("tensorrt_optimization_level", 3),
    "tensorrt_precision_mode": ("", PrecisionType.Float32),
    "tensorrt_varseqlen_enabled": ("", False),
    "trt_allow_build_at_runtime": ("", False),
    "tuned_tensorrt_dynamic_shape": ("", False),
    "use_feed_fetch_ops_enabled": ("use_feed_fetch_ops_enabled", False),
    "use_xpu": ("", False),
    "xpu_device_id": ("", 0),
}


class XpuConfig:
    """Options of XPU devices; remembered only.

    Examples:
        >>> config = paddle.inference.XpuConfig()
        >>> config.l3_size = 1024
        >>> config.l3_size
        1024
    """

    def __init__(self) -> None:
        self.device_id = 0
        self.l3_size = self.l3_autotune_size = 0
        self.l3_ptr = self.stream = self.context = None
        self.context_gm_size = -1
        self.conv_autotune_level = self.fc_autotune_level = 0
        self.conv_autotune_file = self.fc_autotune_file = ""
        self.conv_autotune_file_writeback = self.fc_autotune_file_writeback = False
        self.gemm_compute_precision = 1
        self.transformer_softmax_optimize_level = 0
        self.transformer_encoder_adaptive_seqlen = True
        self.quant_post_static_gelu_out_threshold = 10.0
        self.quant_post_dynamic_activation_method = 0
        self.quant_post_dynamic_weight_precision = 1
        self.quant_post_dynamic_op_types: list[str] = []


class PassBuilder:
    """The list of passes of a Config: XLA has its own, so changing it changes nothing."""

    def __init__(self) -> None:
        self._passes: list[str] = []

    def append_pass(self, name: str) -> None:
        self._passes.append(name)

    def insert_pass(self, position: int, name: str) -> None:
        self._passes.insert(position, name)

    def delete_pass(self, name: str) -> None:
        self._passes = [kept for kept in self._passes if kept != name]

    def all_passes(self) -> list[str]:
        return list(self._passes)


class Config:
    """Which model to run, and how.

    `Config(folder)`, `Config("folder/model")` (the files' common beginning), `Config("folder/model.proa")`,
    `Config(program, parameters)`, or `Config()` and `set_model` later.

    Examples:
        >>> import proa as paddle
        >>> config = paddle.inference.Config("resnet.json", "resnet.pdiparams")
        >>> config.enable_memory_optim()
        >>> config.prog_file()
        'resnet.json'
    """

    if TYPE_CHECKING:  # the methods of the tables above, attached below

        def __getattr__(self, name: str) -> Any: ...

    Precision = PrecisionType  # the older name
    Float32, Int8, Half, Bfloat16 = PrecisionType

    def __init__(self, *args: Any) -> None:
        self._model_dir = self._program = self._params = ""
        self._buffers: tuple[bytes, bytes] | None = None
        self._place: Place = CPU
        self._memory_mb = 100
        self._threads: int | None = None
        self._engine = ""
        self._examples: list[Vector] = []
        self._precision = PrecisionType.Float32
        self._options: dict[str, Any] = {}
        self._passes = PassBuilder()
        self._xpu = XpuConfig()
        if len(args) == 1 and isinstance(args[0], Config):
            self.__dict__.update({**args[0].__dict__, "_options": dict(args[0]._options)})
        elif args:
            self.set_model(*args)

    # ---- the model -----------------------------------------------------------------------------------------------

    def set_model(self, *args: Any) -> None:
        """Says which model to run.

        Args:
            *args: a folder, or the files' common beginning; or the program's and the parameters' file.

        Raises:
            TypeError: they are not one or two paths.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.set_model("resnet.json", "resnet.pdiparams")
            >>> config.prog_file(), config.params_file()
            ('resnet.json', 'resnet.pdiparams')
        """
        if not 1 <= len(args) <= 2 or not all(isinstance(part, (str, os.PathLike)) for part in args):
            raise type_error("Config", "a folder, or a program's and a parameters' file are needed", repr(args))
        paths = [os.fspath(part) for part in args]
        self._model_dir = paths[0] if len(paths) == 1 else ""
        self._program, self._params = paths if len(paths) == 2 else ("", "")
        self._buffers = None

    def set_model_buffer(self, prog: bytes, prog_size: int, params: bytes, params_size: int) -> None:
        """The content of the two files instead of their paths.

        Args:
            prog: the program.
            prog_size: how many of its bytes count.
            params: the parameters.
            params_size: how many of their bytes count.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.set_model_buffer(b"program", 7, b"numbers", 7)
            >>> config.model_from_memory()
            True
        """
        if not isinstance(prog, (bytes, bytearray)) or not isinstance(params, (bytes, bytearray)):
            raise type_error(
                "Config.set_model_buffer", "bytes are needed", f"{type(prog).__name__}, {type(params).__name__}"
            )
        self._buffers = (bytes(prog[:prog_size]), bytes(params[:params_size]))

    def set_prog_file(self, path: str) -> None:
        """Says where the program is.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.set_prog_file("resnet.json")
            >>> config.prog_file()
            'resnet.json'
        """
        self._program = os.fspath(path)

    def set_params_file(self, path: str) -> None:
        """Says where the parameters are.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.set_params_file("resnet.pdiparams")
            >>> config.params_file()
            'resnet.pdiparams'
        """
        self._params = os.fspath(path)

    def model_dir(self) -> str:
        """The folder, or the files' common beginning; empty where two files were named.

        Examples:
            >>> paddle.inference.Config("models/resnet").model_dir()
            'models/resnet'
        """
        return self._model_dir

    def prog_file(self) -> str:
        """The program's file; empty where a folder was named.

        Examples:
            >>> paddle.inference.Config("resnet.json", "resnet.pdiparams").prog_file()
            'resnet.json'
        """
        return self._program

    def params_file(self) -> str:
        """The parameters' file; empty where a folder was named.

        Examples:
            >>> paddle.inference.Config("resnet.json", "resnet.pdiparams").params_file()
            'resnet.pdiparams'
        """
        return self._params

    def model_from_memory(self) -> bool:
        """Whether `set_model_buffer` gave the model.

        Examples:
            >>> paddle.inference.Config("resnet.json", "resnet.pdiparams").model_from_memory()
            False
        """
        return self._buffers is not None

    # ---- the device ----------------------------------------------------------------------------------------------

    def enable_use_gpu(
        self, memory_pool_init_size_mb: int, device_id: int = 0, precision_mode: Any = PrecisionType.Float32
    ) -> None:
        """Runs on a GPU. Without one this warns, and the model runs on the CPU (as in Paddle).

        Args:
            memory_pool_init_size_mb: remembered; XLA has its own pool.
            device_id: which GPU.
            precision_mode: a `PrecisionType` to compute in.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.enable_use_gpu(256, 0)
            >>> config.memory_pool_init_size_mb()
            256
        """
        self._memory_mb = int(memory_pool_init_size_mb)
        self._set_precision("Config.enable_use_gpu", precision_mode)
        try:
            found = len(jax_devices("gpu"))
        except Exception:
            found = 0
        if not 0 <= device_id < found:
            import warnings

            warnings.warn(
                f"(Config.enable_use_gpu) there is no gpu:{device_id}; the model runs on the CPU.", stacklevel=2
            )
            return
        self._place = make_place("gpu", int(device_id))

    def disable_gpu(self) -> None:
        """Runs the model on the CPU.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.disable_gpu()
            >>> config.use_gpu()
            False
        """
        self._place = CPU

    def use_gpu(self) -> bool:
        """Whether the model runs on a GPU.

        Examples:
            >>> paddle.inference.Config().use_gpu()
            False
        """
        return self._place.kind == "gpu"

    def gpu_device_id(self) -> int:
        """The number of the GPU; 0 where the model runs on the CPU.

        Examples:
            >>> paddle.inference.Config().gpu_device_id()
            0
        """
        return self._place.index if self.use_gpu() else 0

    def enable_custom_device(
        self, device_type: str, device_id: int = 0, precision: Any = PrecisionType.Float32
    ) -> None:
        """Runs on the device of another PJRT plug-in ("tpu").

        Args:
            device_type: the plug-in's name.
            device_id: which of its devices.
            precision: taken; it changes nothing.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.enable_custom_device("cpu")
            >>> config.use_gpu()
            False
        """
        self._place = make_place(device_type, int(device_id))

    def memory_pool_init_size_mb(self) -> int:
        """What `enable_use_gpu` was given; 100 before.

        Examples:
            >>> paddle.inference.Config().memory_pool_init_size_mb()
            100
        """
        return self._memory_mb

    def fraction_of_gpu_memory_for_pool(self) -> float:
        """0: no memory is set aside.

        Examples:
            >>> paddle.inference.Config().fraction_of_gpu_memory_for_pool()
            0.0
        """
        return 0.0

    def set_cpu_math_library_num_threads(self, num: int) -> None:
        """How many threads ONNX Runtime and OpenVINO take. XLA's belong to the process (PROA_NUM_THREADS).

        Raises:
            ValueError: `num` is less than 1.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.set_cpu_math_library_num_threads(4)
            >>> config.cpu_math_library_num_threads()
            4
        """
        if not isinstance(num, int) or num < 1:
            raise value_error("Config.set_cpu_math_library_num_threads", "a number of at least 1 is needed", repr(num))
        self._threads = num

    def cpu_math_library_num_threads(self) -> int:
        """The number of threads that was set; 1 before.

        Examples:
            >>> paddle.inference.Config().cpu_math_library_num_threads()
            1
        """
        return 1 if self._threads is None else self._threads

    # ---- the engine ----------------------------------------------------------------------------------------------

    def set_engine(self, name: str, examples: Any = ()) -> None:
        """What runs the model: "xla" (the default), "onnxruntime", "openvino", or "auto".

        "auto" measures what is installed when the model is first loaded on this machine, leaves out what gives other
        results than XLA, and takes the quickest (`predictor.explain()` says why). It measures with `examples` (lists of
        arrays, one list for each run); without them, with the vectors that a .proa file has recorded, or made-up ones.

        Args:
            name: the engine.
            examples: inputs to measure with.

        Raises:
            ValueError: there is no such engine.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.set_engine("onnxruntime")
            >>> config.engine()
            'onnxruntime'
        """
        self._engine = check_name("Config.set_engine", name)
        self._examples = given_by_user(examples)

    def engine(self) -> str:
        """The engine that was set, or the one that PROA_INFERENCE_ENGINE names.

        Examples:
            >>> paddle.inference.Config().engine()
            'xla'
        """
        return self._engine or check_name("PROA_INFERENCE_ENGINE", flags.get("FLAGS_inference_engine"))

    def enable_onnxruntime(self) -> None:
        """Runs the model with ONNX Runtime.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.enable_onnxruntime()
            >>> config.engine()
            'onnxruntime'
        """
        self._engine = "onnxruntime"

    def disable_onnxruntime(self) -> None:
        """Runs the model with the usual engine again.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.enable_onnxruntime()
            >>> config.disable_onnxruntime()
            >>> config.engine()
            'xla'
        """
        self._engine = "" if self._engine == "onnxruntime" else self._engine

    def onnxruntime_enabled(self) -> bool:
        """Whether ONNX Runtime runs the model.

        Examples:
            >>> paddle.inference.Config().onnxruntime_enabled()
            False
        """
        return self.engine() == "onnxruntime"

    def enable_openvino_engine(self, inference_precision: Any = PrecisionType.Float32) -> None:
        """Runs the model with OpenVINO.

        Args:
            inference_precision: a `PrecisionType` to compute in: Float32, Half or Bfloat16.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.enable_openvino_engine()
            >>> config.engine()
            'openvino'
        """
        self._engine = "openvino"
        self._set_precision("Config.enable_openvino_engine", inference_precision)

    def openvino_engine_enabled(self) -> bool:
        """Whether OpenVINO runs the model.

        Examples:
            >>> paddle.inference.Config().openvino_engine_enabled()
            False
        """
        return self.engine() == "openvino"

    def enable_mkldnn_bfloat16(self) -> None:
        """Products in bfloat16, sums in float32.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.enable_mkldnn_bfloat16()
            >>> "bfloat16" in config.summary()
            True
        """
        self._set_precision("Config.enable_mkldnn_bfloat16", PrecisionType.Bfloat16)
        self._options["onednn_enabled"] = True

    enable_onednn_bfloat16 = enable_mkldnn_bfloat16

    def _set_precision(self, where: str, precision: Any) -> None:
        try:
            self._precision = PrecisionType(int(precision))
        except (TypeError, ValueError):
            raise value_error(where, "a PrecisionType is needed", repr(precision)) from None
        if self._precision not in _PRECISIONS:
            raise value_error(
                where, "models in int8 say so themselves: they come from paddle.quantization", repr(precision)
            )

    def set_mkldnn_cache_capacity(self, capacity: int = 0) -> None:
        """For how many shapes of its inputs a predictor keeps an executable (0: the usual number).

        Raises:
            ValueError: `capacity` is negative.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.set_mkldnn_cache_capacity(8)
            >>> "onednn_cache_capacity" in config.summary()
            True
        """
        if not isinstance(capacity, int) or capacity < 0:
            raise value_error("Config.set_mkldnn_cache_capacity", "a number of at least 0 is needed", repr(capacity))
        self._options["onednn_cache_capacity"] = capacity

    set_onednn_cache_capacity = set_mkldnn_cache_capacity

    def set_optimization_level(self, opt_level: int = 2) -> None:
        """0: no pass changes the graph; 1: those that only take away; more: all.

        Raises:
            ValueError: `opt_level` is negative.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.set_optimization_level(0)
            >>> "optimization_level" in config.summary()
            True
        """
        if not isinstance(opt_level, int) or opt_level < 0:
            raise value_error("Config.set_optimization_level", "a number of at least 0 is needed", repr(opt_level))
        self._options["optimization_level"] = opt_level

    def _settings(self) -> Settings:
        level = self._options.get("optimization_level")
        if self._options.get("ir_optim") is False:
            level = 0
        capacity = self._options.get("onednn_cache_capacity") or Settings.shapes
        but = self._options.get("mixed_precision_disabled", ())
        return Settings(
            threads=self._threads,
            precision=_PRECISIONS[self._precision],
            but=tuple(sorted([but] if isinstance(but, str) else but)),
            level=None if level is None else min(level, 2),
            shapes=capacity,
        )

    # ---- the rest ------------------------------------------------------------------------------------------------

    def pass_builder(self) -> PassBuilder:
        """The list of passes, which may be changed and changes nothing.

        Examples:
            >>> passes = paddle.inference.Config().pass_builder()
            >>> passes.append_pass("fuse")
            >>> passes.all_passes()
            ['fuse']
        """
        return self._passes

    def xpu_config(self) -> XpuConfig:
        """The options of XPU devices.

        Examples:
            >>> paddle.inference.Config().xpu_config().device_id
            0
        """
        return self._xpu

    def shape_range_info_collected(self) -> bool:
        """Whether `collect_shape_range_info` was called.

        Examples:
            >>> config = paddle.inference.Config()
            >>> config.collect_shape_range_info("shapes.pbtxt")
            >>> config.shape_range_info_collected()
            True
        """
        return "shape_range_info_path" in self._options

    def to_native_config(self) -> Config:
        """A copy of the Config.

        Examples:
            >>> paddle.inference.Config("models/resnet").to_native_config().model_dir()
            'models/resnet'
        """
        return Config(self)

    def summary(self) -> str:
        """The options as a table.

        Examples:
            >>> print(paddle.inference.Config("models/resnet").summary())
            +-----------------+---------------+
            | Option          | Value         |
            +-----------------+---------------+
            | model_dir       | models/resnet |
            +-----------------+---------------+
            | engine          | xla           |
            | precision       | float32       |
            | device          | cpu:0         |
            | cpu_math_thread | 1             |
            +-----------------+---------------+
            +-----------------+---------------+
        """
        rows: list[tuple[str, Any] | None] = [
            ("model_dir", self._model_dir) if self._model_dir else ("model_file", self._program),
            *([] if self._model_dir else [("params_file", self._params)]),
            None,
            ("engine", self.engine()),
            ("precision", _PRECISIONS[self._precision]),
            ("device", f"{self._place.kind}:{self._place.index}"),
            ("cpu_math_thread", self.cpu_math_library_num_threads()),
            None,
            *sorted(self._options.items()),
        ]
        text = [(name, str(value)) for row in rows if row is not None for name, value in [row]]
        left = max(len("Option"), *(len(name) for name, _ in text))
        right = max(len("Value"), *(len(value) for _, value in text))
        line = f"+-{'-' * left}-+-{'-' * right}-+"
        lines = [line, f"| {'Option':{left}} | {'Value':{right}} |", line]
        lines += [line if row is None else f"| {row[0]:{left}} | {row[1]!s:{right}} |" for row in rows]
        return "\n".join([*lines, line])


# The options of the first table that do something after all.
_EFFECTS = {
    "switch_ir_optim": "Whether passes may change the graph; `switch_ir_optim(False)` is `set_optimization_level(0)`.",
    "exp_disable_mixed_precision_ops": "The operations that stay in float32 where the others are computed in fewer bits.",
}


def _described(summary: str, *lines: Any) -> str:
    """A docstring: the summary, statements to run, and what the last one gives."""
    *statements, value = lines
    shown = "".join(f"        >>> {statement}\n" for statement in statements)
    return f"{summary}\n\n    Examples:\n{shown}        {value!r}\n    "


def _accepting(method: str, option: str, default: Any) -> Any:
    def accept(self: Config, *args: Any, **kwargs: Any) -> None:
        given = [*args, *kwargs.values()]
        self._options[option] = given[0] if len(given) == 1 else tuple(given) or default

    accept.__name__ = method
    accept.__doc__ = _described(
        _EFFECTS.get(method, "Accepted and remembered; no engine here needs such an option."),
        "config = paddle.inference.Config()", f"config.{method}()", f"{option!r} in config.summary()", True,
    )  # fmt: skip
    return accept


def _without_engine(method: str, engine: str) -> Any:
    def refuse(self: Config, *args: Any, **kwargs: Any) -> None:
        import warnings

        warnings.warn(
            f"(Config.{method}) there is no {engine} here; the model runs with {self.engine()}.", stacklevel=2
        )

    refuse.__name__ = method
    refuse.__doc__ = _described(
        f"Warns that {engine} is not there; the model runs with the engine that was set.",
        "config = paddle.inference.Config()", f"config.{method}()", "config.engine()", "xla",
    )  # fmt: skip
    return refuse


def _answering(method: str, option: str, default: Any) -> Any:
    def answer(self: Config) -> Any:
        return self._options.get(option, default)

    answer.__name__ = method
    answer.__doc__ = _described("What was set, or the default.", f"paddle.inference.Config().{method}()", default)
    return answer


for _name, _setting in _ACCEPTED.items():
    setattr(Config, _name, _accepting(_name, *_setting))
for _engine, _methods in _ENGINES.items():
    for _name in _methods.split():
        setattr(Config, _name, _without_engine(_name, _engine))
for _name, _setting in _QUESTIONS.items():
    setattr(Config, _name, _answering(_name, *_setting))
