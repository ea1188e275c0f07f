"""`paddle.inference`: running saved models.

    config.py     Config: which model, where, how
    predictor.py  create_predictor, Predictor, PredictorPool
    artifacts.py  proa's own artifact behind a predictor
    handles.py    inputs and outputs by name
    precision.py  convert_to_mixed_precision
    kinds.py      enumerations

A predictor reads Paddle's own files (`.pdmodel` or PIR `.json` with `.pdiparams`) or a `.proa` artifact, and runs them
with XLA.
"""

from __future__ import annotations

from .config import Config, XpuConfig
from .handles import Tensor
from .kinds import DataType, PlaceType, PrecisionType, get_num_bytes_of_data_type
from .precision import convert_to_mixed_precision
from .predictor import Predictor, PredictorPool, create_predictor


def get_version() -> str:
    """The version whose behaviour this has, as Paddle writes it."""
    from ..version import full_version

    return f"version: {full_version}\ncommit: proa\nbranch: main\n"


def get_trt_compile_version() -> tuple[int, int, int]:
    """(0, 0, 0): there is no TensorRT here."""
    return (0, 0, 0)


def get_trt_runtime_version() -> tuple[int, int, int]:
    """(0, 0, 0): there is no TensorRT here."""
    return (0, 0, 0)


__all__ = [
    "Config", "DataType", "PlaceType", "PrecisionType", "Predictor", "PredictorPool", "Tensor", "XpuConfig",
    "convert_to_mixed_precision", "create_predictor", "get_num_bytes_of_data_type", "get_trt_compile_version",
    "get_trt_runtime_version", "get_version",
]  # fmt: skip
