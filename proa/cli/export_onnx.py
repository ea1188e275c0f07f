"""`proa export onnx MODEL`: a saved model as an ONNX file, with its certificate."""

from __future__ import annotations

import argparse
import os
from typing import Any

import numpy as np

from ..core.errors import value_error
from ..eager.tensor import tensor_from_data
from ..formats.paddle.files.reading import read_model
from ..formats.paddle.reading import LoadedModel
from ..formats.proa import load_artifact
from ..onnx.certificate import ENDING
from ..onnx.exporting import write_onnx
from ..onnx.sources import Source, source_of
from .problems import complain

_OWN = ".proa"
_PADDLES = (".json", ".pdmodel", ".pdiparams")


def run(arguments: argparse.Namespace) -> int:
    output = arguments.output or f"{_stem(arguments.model)}.onnx"
    try:
        source = load_source(arguments.model, dict(map(_shape, arguments.shape)))
        document = write_onnx(
            source, output, opset_version=arguments.opset, check=not arguments.no_verify, tolerance=arguments.tolerance,
            external_data=arguments.external_data,
        )  # fmt: skip
    except (ImportError, NotImplementedError, OSError, RuntimeError, TypeError, ValueError) as error:
        return complain("export", error, output)
    count = sum(document["operators"].values())
    print(f"{output}: {count} nodes of {len(document['operators'])} operators, opset {document['opset']}")
    for title in ("inputs", "outputs"):
        shown = [f"{p['name']}: {p['type']}[{', '.join(map(str, p['shape']))}]" for p in document[title]]
        print(f"  {title:8} {'; '.join(shown)}")
    if document["verified"]:
        error = document["largest_error"]
        text = "random numbers, not compared" if error is None else f"largest difference {error:.1e}"
        print(f"  run by ONNX Runtime {document['versions']['onnxruntime']}: {text} ({output}{ENDING})")
    else:
        print("  not run: its results were not compared")
    return 0


def _stem(model: str) -> str:
    """The name of the model's files without their ending."""
    plain = model.rstrip(os.sep)
    return next((plain.removesuffix(e) for e in (_OWN, *_PADDLES) if plain.endswith(e)), plain)


def _shape(word: str) -> tuple[str, list[int]]:
    name, _, sizes = word.rpartition("=")
    try:
        return name, [int(size) for size in sizes.split(",") if size.strip()]
    except ValueError:
        raise value_error("export", "--shape takes NAME=1,3,224,224", repr(word)) from None


def load_source(path: str, shapes: dict[str, list[int]]) -> Source:
    """The graph of a saved model, for inputs of some fixed shapes."""
    own = path if path.endswith(_OWN) else path + _OWN
    has_paddle = os.path.isdir(path) or any(os.path.isfile(path + ending) for ending in ("", *_PADDLES))
    if path.endswith(_OWN) or (os.path.isfile(own) and not has_paddle):
        if not os.path.isfile(own):
            raise FileNotFoundError(f"(export) {own} does not exist.")
        return _fitted(source_of(load_artifact(own)), shapes)
    prefix = _stem(path) if not os.path.isdir(path) else path
    loaded = LoadedModel(read_model(prefix), name=os.path.basename(_stem(path)))
    given = {value.name: list(value.shape or ()) for value in loaded.model.inputs}
    return source_of(loaded, list(_chosen(given, shapes).values()) if shapes else None)


def _chosen(given: dict[str, Any], shapes: dict[str, list[int]]) -> dict[str, list[int]]:
    """The shapes of all inputs, some of them replaced; a shape without a name is that of the only input."""
    if "" in shapes and len(given) == 1:
        shapes = {next(iter(given)): shapes[""]}
    for name, sizes in shapes.items():
        own = given.get(name)
        if own is None:
            raise value_error("export", f"there is no input {name!r}", f"inputs: {', '.join(given)}")
        if len(own) != len(sizes) or any(a not in (-1, b) for a, b in zip(own, sizes, strict=True)):
            raise value_error("export", f"{name} has the shape {own} (-1: any size)", f"--shape {name}={sizes}")
    return {**given, **shapes}


def _fitted(source: Source, shapes: dict[str, list[int]]) -> Source:
    if not shapes:
        return source
    chosen = _chosen({given.name: given.shape for given in source.graph.inputs}, shapes)
    if any(size < 0 for sizes in chosen.values() for size in sizes):
        raise value_error("export", "of a .proa file all unknown sizes are fixed, or none", f"{chosen}")
    tensors = [tensor_from_data(np.zeros(chosen[given.name], given.aval.dtype)) for given in source.graph.inputs]
    return Source(source.graph.fitted(tensors), source.output_names, source.weights)
