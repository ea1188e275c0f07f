"""A saved model as an ONNX file, whatever it was saved as."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import message, value_error
from ..core.place import CPU
from ..formats.paddle.files import read_model
from ..formats.paddle.reading import LoadedModel
from ..formats.proa import load_artifact
from ..inference import Config
from ..onnx import write_onnx


@dataclass(frozen=True)
class Port:
    """An input or output of an ONNX model; a size that is free is None."""

    name: str
    type: str
    shape: tuple[int | None, ...]


def write_model(where: str, model: str, target: Path) -> None:
    """Writes an ONNX file: from a `.proa` file, Paddle's files (a folder or their common beginning), or a copy of one."""
    if model.endswith(".onnx"):
        if not os.path.isfile(model):
            raise FileNotFoundError(message(where, "there is no such model", repr(model)))
        _checked(where, model)
        shutil.copyfile(model, target)
        return
    files = _files(model)
    loaded = load_artifact(files[0], CPU) if files[0].endswith(".proa") else LoadedModel(read_model(*files), place=CPU)
    write_onnx(loaded, str(target))


def config_of(model: str) -> Config:
    """What a predictor of the same model is made with."""
    return Config(*_files(model))


def _files(model: str) -> list[str]:
    """A `.proa` file; a folder or the common beginning of Paddle's files; or the two of them."""
    prefix, ending = os.path.splitext(model)
    if ending in (".pdmodel", ".json"):
        return [model, prefix + ".pdiparams"]
    has_paddle = os.path.isdir(model) or any(os.path.isfile(model + part) for part in (".json", ".pdmodel"))
    return [model + ".proa"] if not has_paddle and os.path.isfile(model + ".proa") else [model]


def ports(where: str, path: str | os.PathLike[str]) -> tuple[list[Port], list[Port]]:
    """The inputs and outputs of an ONNX file."""
    graph = _checked(where, os.fspath(path)).graph
    constants = {tensor.name for tensor in graph.initializer}
    return [_port(v) for v in graph.input if v.name not in constants], [_port(v) for v in graph.output]


def _port(value: Any) -> Port:
    import numpy as np
    import onnx

    tensor = value.type.tensor_type
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)).name
    sizes = (d.dim_value if d.HasField("dim_value") and d.dim_value > 0 else None for d in tensor.shape.dim)
    return Port(value.name, dtype, tuple(sizes))


def _checked(where: str, path: str) -> Any:
    try:
        import onnx
    except ImportError as error:
        raise ImportError(f"({where}) the package onnx is needed: pip install 'proa[onnx]'.") from error
    try:
        model = onnx.load(path, load_external_data=False)
        onnx.checker.check_model(model)
    except Exception as error:  # protobuf and the checker raise classes of their own
        raise value_error(
            where, f"this is no valid ONNX model ({str(error).splitlines()[0][:200]})", repr(path)
        ) from None
    if any(tensor.external_data for tensor in model.graph.initializer):
        raise value_error(where, "the model keeps its weights in other files", repr(path), "save it as one file first")
    return model
