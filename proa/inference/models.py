"""The model behind a predictor, whatever file it comes from: Paddle's files, or proa's own artifact.

Engines want four things of it: its ports (inputs and outputs by name), a Graph for just the sizes at hand (`exact`), a Graph
for these sizes and others (`flexible`), and inputs to try it on (`vectors`).
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

from ..amp import auto_cast
from ..core.errors import runtime_error, value_error
from ..core.locks import new_lock
from ..core.place import Place
from ..eager.tensor import Tensor
from ..formats.paddle.files import find_files, read_model
from ..formats.paddle.reading import LoadedModel, read_graph
from ..formats.paddle.reading.observing import ObservedTranslation
from ..formats.paddle.reading.translation import Translation
from ..formats.proa import load_artifact
from ..graph import Graph, capture
from ..graph.replay import replay
from ..graph.structure import flatten
from ..ir.capture import CaptureError
from ..ir.sizes.dimensions import shown_shape
from .examples import Vector
from .releasing import ParameterStore, open_store

ENDING = ".proa"
_MOST_FLEXIBLE = 8  # graphs for sizes that answer the model's questions about sizes differently
_CHUNK = 1 << 20


class Port(NamedTuple):
    """An input or output: its name, its type, and its sizes (-1: any)."""

    name: str
    dtype: str
    shape: tuple[int, ...]


class _Spec(NamedTuple):
    """An input as `capture` wants it."""

    name: str
    shape: list[int]
    dtype: str


class Casts(NamedTuple):
    """In which precision products are computed, and for which operations (Paddle's names) that does not hold.

    `in_layers`: the graph stays as it is, and only its layers multiply in bfloat16, by weights packed for that (`fused.py`).
    """

    precision: str = "float32"
    but: tuple[str, ...] = ()
    in_layers: bool = False

    def scope(self) -> Any:
        """Code that is captured in this scope casts the operands of its operations."""
        if self.precision == "float32" or self.in_layers:
            return nullcontext()
        return auto_cast(custom_black_list=list(self.but), level="O1", dtype=self.precision)


PLAIN = Casts()


class Model:
    """What engines and predictors know of a model; the subclasses know where it comes from."""

    inputs: list[Port]
    outputs: list[Port]
    reason: Exception | None = None  # why it is no graph and runs operation by operation
    recorded: Sequence[Vector] = ()  # what its file says that it answers

    def __init__(self, name: str, place: Place, files: Sequence[str | bytes]) -> None:
        self.name = name
        self.place = place
        self._files = files
        self._flexible: dict[Casts, list[Graph]] = {}
        self._lock = new_lock()

    @property
    def has_unknown_sizes(self) -> bool:
        return any(size < 0 for port in self.inputs for size in port.shape)

    def check(self, tensors: Sequence[Tensor]) -> None:
        """ValueError or TypeError naming the input that does not fit."""
        raise NotImplementedError

    def exact(self, tensors: Sequence[Tensor], casts: Casts = PLAIN) -> Graph | None:
        """A Graph for these sizes; None where the model is no graph."""
        raise NotImplementedError

    def flexible(self, tensors: Sequence[Tensor], casts: Casts = PLAIN) -> Graph | None:
        """A Graph for these sizes and all that lead the same way through the model; None where there is none."""
        raise NotImplementedError

    def directly(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The results, operation by operation, for a model that is no graph."""
        raise self.reason or NotImplementedError(self.name)

    def observed(self, tensors: Sequence[Tensor], hooks: Sequence[Any]) -> list[Tensor]:
        """The results, while hooks look at every operation."""
        raise NotImplementedError

    def release(self, tensor: Tensor) -> None:
        """A weight that no engine needs any more, until somebody looks at it again."""

    def release_all(self) -> None:
        """The same for all of them."""

    def _fixed(self, graph: Graph) -> Graph:
        """Says that weights never change: they may be packed for good, and the originals let go."""
        if not graph.updates:
            graph.release = self.release
        return graph

    def _cast(self, casts: Casts, build: Any, shapes: Any = None, examples: Any = None) -> Graph:
        """The Graph of `build(tensors)` with casts in it; its results have the types that the model declares."""
        wanted = shapes or [port.shape for port in self.inputs]
        specs = [_Spec(port.name, list(shape), port.dtype) for port, shape in zip(self.inputs, wanted, strict=True)]

        def results(tensors: list[Tensor]) -> list[Tensor]:
            with casts.scope():
                made = build(tensors)
            return [
                t if t.dtype.name == p.dtype else t.astype(p.dtype) for t, p in zip(made, self.outputs, strict=True)
            ]

        made = capture(build, specs, name=self.name, place=self.place, build=results, examples=examples)
        made.low_products = casts.in_layers
        return made

    def digest(self) -> str:
        """What tells this model's content from every other's."""
        found = hashlib.sha256()
        for part in self._files:
            if isinstance(part, bytes):
                found.update(part)
                continue
            with open(part, "rb") as file:
                while chunk := file.read(_CHUNK):
                    found.update(chunk)
        return found.hexdigest()


class PaddleModel(Model):
    """Paddle's files: read anew for each shape, because saved programs compute with sizes in every possible way."""

    def __init__(
        self, loaded: LoadedModel, place: Place, files: Sequence[str | bytes], store: ParameterStore | None = None
    ) -> None:
        super().__init__(loaded.name, place, files)
        self.loaded = loaded
        self.store = store
        self._names = {id(tensor): name for name, tensor in loaded.parameters.items()}
        self.inputs = [Port(v.name, v.dtype, tuple(v.shape or ())) for v in loaded.model.inputs]
        self.outputs = [Port(v.name, v.dtype, tuple(v.shape or ())) for v in loaded.model.outputs]

    def check(self, tensors: Sequence[Tensor]) -> None:
        self.loaded.check(tensors)

    def exact(self, tensors: Sequence[Tensor], casts: Casts = PLAIN) -> Graph | None:
        return self._read(casts, shapes=[tensor._aval.shape for tensor in tensors])

    def flexible(self, tensors: Sequence[Tensor], casts: Casts = PLAIN) -> Graph | None:
        with self._lock:
            known = self._flexible.get(casts, [])
            for graph in known:
                if graph.holds_for(tensors):
                    return graph
            made = self._read(casts, examples=[tensor._aval.shape for tensor in tensors])
            if made is not None:
                self._flexible[casts] = [*known[1 - _MOST_FLEXIBLE :], made]
            return made

    def _read(self, casts: Casts, **sizes: Any) -> Graph | None:
        if self.reason is not None:
            return None
        try:
            model, parameters = self.loaded.model, self.loaded.parameters
            if casts == PLAIN:
                return self._fixed(read_graph(model, parameters, place=self.place, name=self.name, **sizes))
            return self._fixed(self._cast(casts, Translation(model, parameters).run, **sizes))
        except CaptureError as error:
            self.reason = error
            return None

    def release(self, tensor: Tensor) -> None:
        name = self._names.get(id(tensor))
        if self.store is not None and name is not None:
            self.store.release(name, tensor)

    def release_all(self) -> None:
        for tensor in self.loaded.parameters.values():
            self.release(tensor)

    def directly(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        return self.loaded.run_directly(tensors)

    def observed(self, tensors: Sequence[Tensor], hooks: Sequence[Any]) -> list[Tensor]:
        self.check(tensors)
        return ObservedTranslation(self.loaded.model, self.loaded.parameters, list(hooks)).run(list(tensors))


class ArtifactModel(Model):
    """proa's own artifact: the method `forward` of a file, which is one Graph for all sizes that it was saved for."""

    def __init__(self, path: str, place: Place) -> None:
        super().__init__(os.path.basename(path), place, [path])
        artifact = load_artifact(path, place)
        method = artifact.methods.get("forward")
        if method is None:
            known = ", ".join(artifact.methods) or "none"
            raise value_error("create_predictor", f"{path} has no method forward", f"methods: {known}")
        self.graph = self._fixed(method.graph)
        if self.graph.is_staged:
            self.reason = CaptureError("values decide shapes in the model")
        self.recorded = [Vector(test.inputs, test.outputs) for test in method.tests]
        self.inputs = [Port(g.name, g.aval.dtype.name, tuple(g.shape)) for g in self.graph.inputs]
        results = self.graph.output_avals[: self.graph.num_results]
        self.outputs = [
            Port(f"output_{i}", aval.dtype.name, tuple(shown_shape(aval.shape))) for i, aval in enumerate(results)
        ]

    def check(self, tensors: Sequence[Tensor]) -> None:
        self.graph.check_inputs(tensors)

    def exact(self, tensors: Sequence[Tensor], casts: Casts = PLAIN) -> Graph | None:
        graph = self.flexible(tensors, casts)
        return graph.fit(tensors) if graph is not None and graph.has_unknown_sizes else graph

    def directly(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        return results_of(self.graph(*tensors))

    def flexible(self, tensors: Sequence[Tensor], casts: Casts = PLAIN) -> Graph | None:
        if self.reason is not None:
            return None
        if casts == PLAIN:
            return self.graph
        with self._lock:
            for graph in self._flexible.get(casts, ()):
                if graph.holds_for(tensors):
                    return graph
            shapes = [tensor._aval.shape for tensor in tensors]
            made = self._fixed(self._cast(casts, lambda given: results_of(replay(self.graph, given)), examples=shapes))
            self._flexible[casts] = [*self._flexible.get(casts, [])[1 - _MOST_FLEXIBLE :], made]
            return made

    def observed(self, tensors: Sequence[Tensor], hooks: Sequence[Any]) -> list[Tensor]:
        self.check(tensors)
        raise runtime_error(
            "Predictor.run", "hooks need a model in Paddle's format; an artifact runs as one executable",
            f"{len(hooks)} hook(s)", "save the model without the ending .proa to watch its operations",
        )  # fmt: skip


def results_of(structure: Any) -> list[Tensor]:
    """The tensors of a graph's results, in order."""
    found: list[Tensor] = []
    flatten(structure, found)
    return found


def load_model(config: Any) -> Model:
    """The model that a Config names. Raises FileNotFoundError or ValueError, naming the file."""
    place = config._place
    own = artifact_path(config)
    if own is not None:
        return ArtifactModel(own, place)
    if config._buffers is not None:
        with tempfile.TemporaryDirectory() as folder:
            program, params = os.path.join(folder, "program"), os.path.join(folder, "params")
            for path, content in zip((program, params), config._buffers, strict=True):
                with open(path, "wb") as file:
                    file.write(content)
            return PaddleModel(LoadedModel(read_model(program, params), place=place), place, config._buffers)
    named = config._model_dir or config._program
    if not named:
        raise value_error("create_predictor", "the Config names no model", "Config()", "call set_model first")
    program, weights = find_files(named, None if config._model_dir else config._params or None)
    model = read_model(program, weights)
    store = open_store(weights, model.offsets)
    return PaddleModel(LoadedModel(model, place=place), place, _single_files(program, weights), store)


def _single_files(program: str, weights: str | None) -> list[str]:
    """The files of a model; old ones have a folder of parameters."""
    if weights is None or not os.path.isdir(weights):
        return [program] if weights is None else [program, weights]
    return [program, *sorted(entry.path for entry in os.scandir(weights) if entry.is_file() and entry.path != program)]


def artifact_path(config: Any) -> str | None:
    """The artifact that a Config names, if it names one: by its whole name, or without the ending."""
    named = config._model_dir or config._program
    if config._buffers is not None or not named:
        return None
    if named.endswith(ENDING):
        return named
    has_paddle = os.path.isdir(named) or any(os.path.isfile(named + ending) for ending in (".json", ".pdmodel"))
    return named + ENDING if config._model_dir and not has_paddle and os.path.isfile(named + ENDING) else None


__all__ = ["ArtifactModel", "Model", "PaddleModel", "Port", "load_model", "results_of"]
