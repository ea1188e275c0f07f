"""`paddle.static`: programs that are recorded once and run by an Executor.

mode.py            which program a thread records into: enable_static, program_guard
segment.py         the open capture of a program
program.py         Program; block.py, printing.py: what can be seen of it
variable.py        data, parameters, global variables
backward.py        gradients as part of a program
execution.py       Executor; scope.py: where values are
deferral.py        calls whose results have shapes that values decide; stages.py: running a program with such in pieces
inference_form.py  clone(for_test=True)
state_io.py, model_io.py   files
nn/                functions with parameters of their own, control flow
"""

from __future__ import annotations

from . import nn
from .averaging import ExponentialMovingAverage
from .backward import append_backward, gradients
from .block import Block, Operator
from .execution import Executor
from .guards import IrGuard, cpu_places, cuda_places, device_guard, ir_guard, name_scope, xpu_places  # noqa: F401
from .host_calls import Print, py_func
from .input_spec import InputSpec
from .metrics import accuracy, auc, ctr_metric_bundle
from .mode import default_main_program, default_startup_program, disable_static, enable_static, program_guard
from .model_io import (
    deserialize_persistables,
    deserialize_program,
    load_inference_model,
    normalize_program,
    save_inference_model,
    serialize_persistables,
    serialize_program,
)
from .nn.parameters import WeightNormParamAttr
from .program import Program
from .scope import Scope, global_scope, scope_guard
from .state_io import load, load_from_file, load_program_state, save, save_to_file, set_program_state
from .strategies import (
    BuildStrategy,
    CompiledProgram,
    ExecutionStrategy,
    IpuCompiledProgram,
    IpuStrategy,
    ipu_shard_guard,
    set_ipu_shard,
)
from .variable import Variable, create_global_var, create_parameter, data, setitem

__all__ = [
    "Block", "BuildStrategy", "CompiledProgram", "ExecutionStrategy", "Executor", "ExponentialMovingAverage", "InputSpec",
    "IpuCompiledProgram", "IpuStrategy", "Operator", "Print", "Program", "Scope", "Variable", "WeightNormParamAttr",
    "accuracy", "append_backward", "auc", "cpu_places", "create_global_var", "create_parameter", "ctr_metric_bundle",
    "cuda_places", "data", "default_main_program", "default_startup_program", "deserialize_persistables",
    "deserialize_program", "device_guard", "disable_static", "enable_static", "global_scope", "gradients",
    "ipu_shard_guard", "load", "load_from_file", "load_inference_model", "load_program_state", "name_scope", "nn",
    "normalize_program", "program_guard", "py_func", "save", "save_inference_model", "save_to_file", "scope_guard",
    "serialize_persistables", "serialize_program", "set_ipu_shard", "set_program_state", "setitem", "xpu_places",
]  # fmt: skip
