"""`from_caffe`: a Caffe model as a Layer."""

from __future__ import annotations

import os
from typing import Any

from ...core.errors import value_error
from ...core.tracebacks import boundary
from ...eager.parameter import Parameter
from ...eager.tensor import Tensor, tensor_from_data
from ...static.input_spec import InputSpec
from ..layer import ConvertedLayer
from ..uncovered import Uncovered, UncoveredOperators
from .layers import READERS
from .reading import CaffeNet, read_caffe


@boundary
def from_caffe(prototxt: str | os.PathLike[str], caffemodel: str | os.PathLike[str]) -> ConvertedLayer:
    """The network of a `.prototxt` with the weights of a `.caffemodel` as a Layer; the first dimension may have any size.

    Args:
        prototxt: the network's file.
        caffemodel: the weights' file.

    Examples:
        >>> with open("net.prototxt", "w") as file:
        ...     print('input: "data" input_shape { dim: 1 dim: 3 }', file=file)
        ...     print('layer { name: "out" type: "ReLU" bottom: "data" top: "out" }', file=file)
        >>> open("net.caffemodel", "wb").close()  # this network has no weights
        >>> paddle.convert.from_caffe("net.prototxt", "net.caffemodel")(paddle.to_tensor([[-1.0, 2.0, 3.0]])).tolist()
        [[0.0, 2.0, 3.0]]
    """
    name = os.path.splitext(os.path.basename(os.fspath(caffemodel)))[0]
    return layer_of(read_caffe(prototxt, caffemodel), name)


def layer_of(net: CaffeNet, name: str) -> ConvertedLayer:
    missing = [Uncovered(layer.kind, layer.name) for layer in net.layers if layer.kind not in READERS]
    if missing:
        raise UncoveredOperators("caffe", missing)
    titles: dict[str, list[str]] = {}
    weights: dict[str, Tensor] = {}
    for layer in net.layers:
        titles[layer.name] = []
        for number, array in enumerate(net.weights.get(layer.name, ())):
            title = f"{layer.name}.{number}"
            trainable = layer.kind != "BatchNorm"
            weights[title] = Parameter(tensor_from_data(array), name=title, trainable=trainable)
            titles[layer.name].append(title)
        if layer.kind in ("Convolution", "Deconvolution", "InnerProduct") and not titles[layer.name]:
            raise value_error("caffe", f"the .caffemodel has no weights for the layer {layer.name!r}")

    def translate(weights: dict[str, Any], tensors: list[Any]) -> list[Any]:
        values = dict(zip(net.inputs, tensors, strict=True))
        for layer in net.layers:
            try:
                own = [weights[title] for title in titles[layer.name]]
                made = READERS[layer.kind](layer, own, *(values[bottom] for bottom in layer.bottoms))
            except Exception as error:
                error.add_note(f"while the layer {layer.name} ({layer.kind}) was translated")
                raise
            values.update(zip(layer.tops, made if isinstance(made, list) else [made], strict=False))
        return [values[output] for output in net.outputs]

    specs = [InputSpec([-1, *shape[1:]], "float32", title) for title, shape in net.inputs.items()]
    return ConvertedLayer(name, translate, specs, weights, net.outputs)


__all__ = ["from_caffe", "layer_of"]
