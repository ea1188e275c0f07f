"""proa's own artifact behind a Predictor: the file's method `forward`, with names for its inputs and outputs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.errors import value_error
from ..core.place import Place
from ..eager.tensor import Tensor
from ..formats.proa import load_artifact
from ..graph.structure import flatten

ENDING = ".proa"


class Port(NamedTuple):
    """An input or output by name."""

    name: str
    dtype: str


class LoadedArtifact:
    """What a Predictor needs of a model: names, types, and `run`."""

    def __init__(self, path: str, place: Place) -> None:
        artifact = load_artifact(path, place)
        method = artifact.methods.get("forward")
        if method is None:
            known = ", ".join(artifact.methods) or "none"
            raise value_error("create_predictor", f"{path} has no method forward", f"methods: {known}")
        self.graph = method.graph
        self.inputs = [Port(given.name, given.aval.dtype.name) for given in self.graph.inputs]
        results = self.graph.output_avals[: self.graph.num_results]
        self.outputs = [Port(f"output_{i}", aval.dtype.name) for i, aval in enumerate(results)]
        self.input_names = [port.name for port in self.inputs]
        self.output_names = [port.name for port in self.outputs]

    @property
    def model(self) -> LoadedArtifact:
        """Itself: inputs and outputs stand here as they do in a model of Paddle's."""
        return self

    def check(self, tensors: Sequence[Tensor]) -> None:
        self.graph.check_inputs(tensors)

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The results in the order of their names."""
        found: list[Tensor] = []
        flatten(self.graph(*tensors), found)
        return found


def artifact_path(config: Any) -> str | None:
    """The artifact that a Config names, if it names one: by its whole name, or without the ending."""
    named = config._model_dir or config._program
    if config._buffers is not None or not named:
        return None
    if named.endswith(ENDING):
        return named
    has_paddle = os.path.isdir(named) or any(os.path.isfile(named + ending) for ending in (".json", ".pdmodel"))
    return named + ENDING if config._model_dir and not has_paddle and os.path.isfile(named + ENDING) else None
