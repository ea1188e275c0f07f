"""`from_torch`: an exported PyTorch program as a Layer."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...core.tracebacks import boundary
from ...eager.parameter import Parameter
from ...eager.tensor import Tensor, tensor_from_data
from ...static.input_spec import InputSpec
from ..layer import ConvertedLayer
from ..uncovered import Uncovered, UncoveredOperators
from . import operators as operators
from .program import Program
from .reading import exported, read_program
from .translation import TorchTranslation, is_covered


@boundary
def from_torch(source: Any, example_inputs: Any = None, dynamic_shapes: Any = None) -> ConvertedLayer:
    """A PyTorch model as a Layer. torch is needed for reading only; what comes out does not refer to it.

    Args:
        source: a `.pt2` file, an `ExportedProgram`, or a module.
        example_inputs: what a module is exported with.
        dynamic_shapes: sizes that may be others, as `torch.export.export` takes them.

    Raises:
        UncoveredOperators: the model needs operators that nothing translates.

    Examples:
        >>> layer = paddle.convert.from_torch(module, (torch.zeros(1, 3, 224, 224),))  # doctest: +SKIP
        >>> layer(paddle.zeros([1, 3, 224, 224])).shape  # doctest: +SKIP
        paddle.Size([1, 1000])
    """
    name = (
        os.path.basename(os.fspath(source)).removesuffix(".pt2") if isinstance(source, (str, os.PathLike)) else "model"
    )
    return layer_of(read_program(exported(source, example_inputs, dynamic_shapes)), name)


def layer_of(program: Program, name: str) -> ConvertedLayer:
    check_covered(program)
    held = {title: _held(title, array, title in program.trainable) for title, array in program.weights.items()}
    specs = [InputSpec(given.shape, given.dtype, given.name) for given in program.inputs]

    def translate(weights: dict[str, Any], tensors: list[Any]) -> list[Any]:
        return TorchTranslation(program, weights).run(tensors)

    return ConvertedLayer(name, translate, specs, held, program.outputs)


def check_covered(program: Program) -> None:
    missing = [Uncovered(node.target, node.place) for node in program.part.all_nodes() if not is_covered(node.target)]
    if missing:
        raise UncoveredOperators("torch", missing)


def _held(name: str, array: np.ndarray, trainable: bool) -> Tensor:
    tensor = tensor_from_data(array)
    return Parameter(tensor, name=name, trainable=trainable and array.dtype.kind in "fV") if trainable else tensor


__all__ = ["check_covered", "from_torch", "layer_of"]
