"""Both files of a Caffe model as plain data."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...formats.paddle.files.wire import Schema, decode
from .text import Message, parse

_BLOB: Schema = {
    1: ("num", "int"), 2: ("channels", "int"), 3: ("height", "int"), 4: ("width", "int"), 5: ("data", "bytess"),
    7: ("shape", {1: ("dim", "ints")}), 8: ("double_data", "bytess"),
}  # fmt: skip
_LAYER: Schema = {1: ("name", "string"), 7: ("blobs", [_BLOB])}
_OLD_LAYER: Schema = {4: ("name", "string"), 6: ("blobs", [_BLOB])}
_NET: Schema = {2: ("layers", [_OLD_LAYER]), 100: ("layer", [_LAYER])}

INPUTS = frozenset({"Input", "Data", "ImageData", "DummyData", "MemoryData", "HDF5Data"})


@dataclass
class CaffeLayer:
    """One layer: its type, what it reads and makes, and its settings as the text has them."""

    name: str
    kind: str
    bottoms: list[str]
    tops: list[str]
    settings: Message

    def options(self, name: str) -> Message:
        found = self.settings.get(name, [{}])[0]
        return found if isinstance(found, dict) else {}


@dataclass
class CaffeNet:
    inputs: dict[str, list[int]]
    layers: list[CaffeLayer]
    weights: dict[str, list[np.ndarray]]
    outputs: list[str]


def read_caffe(prototxt: Any, caffemodel: Any = None) -> CaffeNet:
    """The network of a `.prototxt` with the weights of a `.caffemodel`."""
    with open(os.fspath(prototxt), encoding="utf-8") as file:
        net = parse(file.read())
    weights = {} if caffemodel is None else read_weights(caffemodel)
    inputs: dict[str, list[int]] = {}
    for position, name in enumerate(net.get("input", [])):
        if "input_shape" in net:
            inputs[name] = [int(n) for n in net["input_shape"][position].get("dim", [])]
        else:
            inputs[name] = [int(n) for n in net.get("input_dim", [])[4 * position : 4 * position + 4]]
    layers = []
    for message in [*net.get("layer", []), *net.get("layers", [])]:
        layer = _layer(message)
        if layer is None:
            continue
        if layer.kind in INPUTS:
            shapes = layer.options("input_param").get("shape", [])
            for position, top in enumerate(layer.tops[: max(len(shapes), 1)]):
                sizes = shapes[min(position, len(shapes) - 1)].get("dim", []) if shapes else []
                inputs[top] = [int(n) for n in sizes]
            continue
        layers.append(layer)
    if not inputs or any(not shape for shape in inputs.values()):
        raise value_error(
            "caffe", "the .prototxt does not say what the inputs are", f"inputs: {list(inputs)}",
            "use the one for deployment, which has a layer of type Input, or input_shape",
        )  # fmt: skip
    used = {bottom for layer in layers for bottom in layer.bottoms if bottom not in layer.tops}
    outputs = list(dict.fromkeys(top for layer in layers for top in layer.tops if top not in used))
    return CaffeNet(inputs, layers, weights, outputs)


def _layer(message: Any) -> CaffeLayer | None:
    """None for a layer that is there for training only."""
    if not isinstance(message, dict):
        raise value_error("prototxt", "a layer is a message in braces", repr(message)[:40])
    for rule in message.get("include", []):
        if rule.get("phase", ["TEST"])[0] == "TRAIN":
            return None
    if any(rule.get("phase", [""])[0] == "TEST" for rule in message.get("exclude", [])):
        return None
    kind = str(message.get("type", [""])[0])
    # The older form writes types as words: INNER_PRODUCT, RELU.
    kind = _OLD_TYPES.get(kind, "".join(part.capitalize() for part in kind.split("_"))) if kind.isupper() else kind
    return CaffeLayer(
        str(message.get("name", [""])[0]), kind, list(map(str, message.get("bottom", []))),
        list(map(str, message.get("top", []))), message,
    )  # fmt: skip


_OLD_TYPES = {
    "RELU": "ReLU",
    "LRN": "LRN",
    "TANH": "TanH",
    "PRELU": "PReLU",
    "ABSVAL": "AbsVal",
    "ELU": "ELU",
    "BNLL": "BNLL",
}


def read_weights(path: Any) -> dict[str, list[np.ndarray]]:
    with open(os.fspath(path), "rb") as file:
        data = file.read()
    try:
        net = decode(data, _NET)
    except ValueError as error:
        raise value_error("caffe", f"{path} is not a .caffemodel: {error}") from None
    layers = [*net.get("layers", ()), *net.get("layer", ())]
    return {layer.get("name", ""): [_array(blob) for blob in layer.get("blobs", ())] for layer in layers}


def _array(blob: dict[str, Any]) -> np.ndarray:
    if "data" in blob:
        flat = np.frombuffer(b"".join(blob["data"]), "<f4")
    else:
        flat = np.frombuffer(b"".join(blob.get("double_data", ())), "<f8").astype("float32")
    if "shape" in blob:
        shape = tuple(blob["shape"].get("dim", ()))
    else:
        shape = tuple(blob.get(name, 1) for name in ("num", "channels", "height", "width"))
    if any(size < 0 for size in shape) or math.prod(shape) != flat.size:
        raise value_error(
            "caffe", "a weight has another number of elements than its shape says", f"{flat.size}, {shape}"
        )
    return flat.reshape(shape).copy()


__all__ = ["INPUTS", "CaffeLayer", "CaffeNet", "read_caffe", "read_weights"]
