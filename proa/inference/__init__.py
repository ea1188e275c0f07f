"""`paddle.inference`: running saved models.

    config.py     Config: which model, where, with what
    predictor.py  create_predictor, Predictor, PredictorPool
    models.py     the model behind a predictor: Paddle's files, or proa's own artifact
    engines/      what runs it: XLA, ONNX Runtime, OpenVINO; how one is chosen
    examples.py   inputs to try a model on
    handles.py    inputs and outputs by name, for each thread
    precision.py  convert_to_mixed_precision
    kinds.py      enumerations

A predictor reads Paddle's own files (`.pdmodel` or PIR `.json` with `.pdiparams`) or a `.proa` artifact. It may be used from
any number of threads, keeps a bounded amount of memory whatever shapes come, and needs no network.
"""

from __future__ import annotations

from ..version import full_version
from .config import Config, XpuConfig
from .handles import Tensor
from .kinds import DataType, PlaceType, PrecisionType, get_num_bytes_of_data_type
from .precision import convert_to_mixed_precision
from .predictor import Predictor, PredictorPool, create_predictor


def get_version() -> str:
    """The version whose behaviour this has, as Paddle writes it.

    Examples:
        >>> paddle.inference.get_version().splitlines()[1]
        'commit: proa'
    """
    return f"version: {full_version}\ncommit: proa\nbranch: main\n"


def get_trt_compile_version() -> tuple[int, int, int]:
    """(0, 0, 0): there is no TensorRT here.

    Examples:
        >>> paddle.inference.get_trt_compile_version()
        (0, 0, 0)
    """
    return (0, 0, 0)


def get_trt_runtime_version() -> tuple[int, int, int]:
    """(0, 0, 0): there is no TensorRT here.

    Examples:
        >>> paddle.inference.get_trt_runtime_version()
        (0, 0, 0)
    """
    return (0, 0, 0)


__all__ = [
    "Config", "DataType", "PlaceType", "PrecisionType", "Predictor", "PredictorPool", "Tensor", "XpuConfig",
    "convert_to_mixed_precision", "create_predictor", "get_num_bytes_of_data_type", "get_trt_compile_version",
    "get_trt_runtime_version", "get_version",
]  # fmt: skip
