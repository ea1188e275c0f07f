"""`paddle.jit.save` and `load`: layers as model files, and files as layers.

By default the files are Paddle's own (PIR `.json` and `.pdiparams`), which the real package loads too; a path that ends in
`.proa`, or `format="proa"`, gives proa's artifact: one file that also holds test vectors and keeps the structure of the
results. Everything is captured in evaluation mode.
"""

from __future__ import annotations

import functools
import glob
import inspect
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from types import MethodType
from typing import Any

import numpy as np

from ..core.errors import type_error, value_error
from ..core.symbols import signs_by_formula
from ..core.tracebacks import boundary
from ..eager.modes import no_grad
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor, tensor_from_data
from ..formats.paddle.files.reading import read_model
from ..formats.paddle.files.writing import write_model
from ..formats.paddle.reading import LoadedModel, read_graph
from ..formats.proa import Artifact, Method, load_artifact, save_artifact
from ..graph import Graph
from ..graph.replay import replay
from ..graph.structure import Leaf, flatten, map_leaves
from ..ir.capture import CaptureError, deferring
from ..ir.recorder import LOCAL
from ..ir.sizes.dimensions import UnknownSize, shown_shape, used_sources
from ..nn.layer import Layer
from ..static.deferral import defer
from ..static.input_spec import InputSpec
from .conversion.runtime import sizes_asked_by_graph
from .static_function import StaticFunction

_FORWARD = "forward"
_OWN = ".proa"
# Paddle's options; those without meaning here (how its own protobuf is trimmed) are accepted.
_SAVE_OPTIONS = frozenset({
    "clip_extra", "combine_params", "input_names_after_prune", "legacy_format", "output_spec", "separate_parameters",
    "skip_forward", "skip_prune_program", "with_hook", "format", "test_inputs", "_not_reset", "allow_pickle",
})  # fmt: skip
_LOAD_OPTIONS = frozenset({"model_filename", "params_filename", "keep_name_table", "return_numpy"})


# ---- saving ------------------------------------------------------------------------------------------------------


@boundary
def save(layer: Any, path: Any, input_spec: Any = None, **configs: Any) -> None:
    """Saves a Layer or a function, captured in evaluation mode.

    `path` is a prefix ("folder/model"): `.json` and `.pdiparams` are written, as Paddle 3 does; with
    `format="pdmodel"`, its older format; with a path that ends in ".proa" or `format="proa"`, proa's own single file.
    `input_spec` may be left out if the function was decorated with one or was called before. Other methods of a layer
    that are decorated with `to_static` are saved beside `forward`. `output_spec` chooses results by their positions.

    Examples:
        >>> layer = paddle.nn.Linear(2, 3)
        >>> paddle.jit.save(layer, "model", input_spec=[paddle.static.InputSpec([None, 2])])
        >>> list(paddle.jit.load("model")(paddle.ones([4, 2])).shape)
        [4, 3]
    """
    unknown = sorted(set(configs) - _SAVE_OPTIONS)
    if unknown:
        raise value_error(
            "jit.save", f"there is no option {', '.join(unknown)}", f"known: {', '.join(sorted(_SAVE_OPTIONS))}"
        )
    path = os.fspath(path)
    if not os.path.basename(path):
        raise value_error("jit.save", "path must end with a file's prefix, not with a folder", f"path: {path!r}")
    kind = configs.get("format") or ("proa" if path.endswith(_OWN) else "json")
    if kind not in ("json", "pdmodel", "proa"):
        raise value_error("jit.save", "format is 'json', 'pdmodel' or 'proa'", f"format: {kind!r}")
    methods = _methods(layer, input_spec, bool(configs.get("skip_forward", False)))
    with _evaluating(layer):
        graphs = {title: _graph_of(function, spec, kind != "proa") for title, (function, spec) in methods.items()}
    chosen = configs.get("output_spec")
    if chosen is not None and _FORWARD in graphs:
        graphs[_FORWARD] = _selected(graphs[_FORWARD], chosen)
    if kind == "proa":
        names = _structured_names(layer)
        own = {title: Method(graph, names) for title, graph in graphs.items()}
        given = configs.get("test_inputs")
        tests = given if isinstance(given, dict) or given is None else {_FORWARD: given}
        save_artifact(path if path.endswith(_OWN) else path + _OWN, own, test_inputs=tests)
        return
    from ..formats.paddle.writing import graph_to_model

    models = {
        title: graph_to_model(graph, {id(t): t.name for t in graph.captured if _is_state(t, layer)})
        for title, graph in graphs.items()
    }
    for title, model in models.items():
        write_model(model, path if title == _FORWARD else f"{path}.{title}", kind)


def captured_forward(layer: Any, input_spec: Any, output_spec: Any = None) -> tuple[Graph, dict[int, str]]:
    """`forward` of a layer, or a function, as `save` captures it; and the names of its parameters and buffers, by id."""
    function, spec = (
        _methods(layer, input_spec, False)[_FORWARD] if not isinstance(layer, Layer) else (layer.forward, input_spec)
    )
    with _evaluating(layer):
        graph = _graph_of(function, spec, one_graph=True)
    return graph if output_spec is None else _selected(graph, output_spec), _structured_names(layer)


def _methods(layer: Any, input_spec: Any, skip_forward: bool) -> dict[str, tuple[Any, Any]]:
    """Functions to capture, by name, with their specs."""
    if not isinstance(layer, Layer):
        if not callable(layer) or isinstance(layer, type):
            raise type_error("jit.save", "a Layer or a function is needed", type(layer).__name__)
        return {_FORWARD: (layer, input_spec)}
    found: dict[str, tuple[Any, Any]] = {}
    if not skip_forward:
        found[_FORWARD] = (layer.forward, input_spec)
    for name in dir(type(layer)):
        if name != _FORWARD and isinstance(inspect.getattr_static(type(layer), name, None), StaticFunction):
            function = getattr(layer, name)
            if input_spec is not None and _specs_of(function) is None:
                raise value_error(
                    "jit.save", f"{name} is saved too, and input_spec is that of forward", "input_spec",
                    "give every method its own input_spec in to_static",
                )  # fmt: skip
            found[name] = (function, None)
    if not found:
        raise value_error(
            "jit.save", "there is nothing to save: forward is skipped and no other method is decorated", ""
        )
    return found


def _specs_of(function: Any) -> Any:
    """The specs of a decorated function: its own, or those of its last call."""
    if not isinstance(function, StaticFunction):
        return None
    if function.input_spec is not None:
        return function.input_spec
    last = function._last
    return None if last is None else [InputSpec(_dims(i.shape), i.dtype, i.name) for i in last.inputs]


def _dims(shape: Sequence[Any]) -> list[Any]:
    return [None if size in (None, -1) else int(size) for size in shape]


def _as_spec(value: Any) -> Any:
    if isinstance(value, Tensor):
        return InputSpec.from_tensor(value)
    if isinstance(value, np.ndarray):
        return InputSpec.from_numpy(value)
    if isinstance(value, (list, tuple)):
        return type(value)([_as_spec(part) for part in value])
    if isinstance(value, dict):
        return {key: _as_spec(part) for key, part in value.items()}
    return value


def _graph_of(function: Any, input_spec: Any, one_graph: bool) -> Graph:
    """The graph of a function's results; `one_graph`: it must hold for all sizes, whatever the code asks about them."""
    specs = input_spec if input_spec is not None else _specs_of(function)
    if specs is None:
        title = getattr(function, "__qualname__", getattr(function, "__name__", type(function).__name__))
        raise value_error(
            "jit.save", f"the inputs of {title} are not known", "input_spec: None",
            "give input_spec, or decorate it with to_static and call it once before",
        )  # fmt: skip
    if not isinstance(specs, (list, tuple)):
        specs = [specs]
    plain = function.function if isinstance(function, StaticFunction) else function
    instance = plain.__self__ if isinstance(plain, MethodType) else None
    if instance is not None:
        plain = plain.__func__
    given = [_as_spec(spec) for spec in specs]

    def captured() -> Graph:
        return StaticFunction(plain, given, None, None, True, 1, instance).concrete_program.graph

    looking: Callable[[], Any] = nullcontext
    try:
        graph = captured()
    except CaptureError:
        # It looks at values: such calls may stand in a file, and run between its graphs.
        looking = functools.partial(deferring, defer)
        with looking():
            graph = captured()
    if not one_graph:
        return _results_only(graph)
    signs = signs_by_formula if graph.assumptions.depends_on_signs else nullcontext
    if graph.assumptions.depends_on_signs:
        with suppress(Exception), looking(), signs():
            graph = captured()
    if graph.assumptions.question is not None:
        # Where both ways cannot be one graph, the caller says what was asked: it is the way that is never taken that fails,
        # with whatever error, as the code was captured before.
        # Ways that give other sizes run between graphs, like calls that look at values.
        for between in (nullcontext(), deferring(defer)):
            with suppress(Exception), sizes_asked_by_graph(), signs(), between:
                graph = captured()
                break
    return _results_only(graph)


def _results_only(graph: Graph) -> Graph:
    """The graph without what a call changes besides its results (arguments, attributes of objects)."""
    structure = graph.structure[0]
    leaves: list[int] = []
    _positions(structure, leaves)
    outputs = graph.program.outputs
    numbers = tuple(outputs[position] for position in leaves) + tuple(outputs[graph.num_results :])
    return _with_outputs(graph, numbers, _renumbered(structure))


def _with_outputs(graph: Graph, numbers: tuple[int, ...], structure: Any) -> Graph:
    needed_too = used_sources(graph.program, graph.scalars)
    program = graph.program.slice(numbers, needed_too)
    made = Graph(
        graph.name, program, graph.inputs, graph.captured, graph.scalars, structure, graph.updates, graph.locations,
        graph.assumptions,
    )  # fmt: skip
    made.stops = graph.stops
    return made


def _positions(structure: Any, into: list[int]) -> None:
    map_leaves(lambda leaf: into.append(leaf.position), structure)


def _renumbered(structure: Any) -> Any:
    count = iter(range(1 << 30))
    return map_leaves(lambda _: Leaf(next(count)), structure)


def _selected(graph: Graph, chosen: Any) -> Graph:
    """The graph with some of its results only."""
    if not isinstance(chosen, (list, tuple)) or not all(isinstance(c, int) and not isinstance(c, bool) for c in chosen):
        raise type_error("jit.save", "output_spec is a list of positions of results", f"{chosen!r:.80}")
    if any(not 0 <= c < graph.num_results for c in chosen):
        raise value_error("jit.save", f"there are {graph.num_results} results", f"output_spec: {list(chosen)}")
    outputs = graph.program.outputs
    numbers = tuple(outputs[c] for c in chosen) + tuple(outputs[graph.num_results :])
    return _with_outputs(graph, numbers, [Leaf(i) for i in range(len(chosen))])


@contextmanager
def _evaluating(layer: Any) -> Iterator[None]:
    """Evaluation mode for a layer and its sublayers, each of which gets its own mode back."""
    owner = layer if isinstance(layer, Layer) else getattr(layer, "_instance", None) or getattr(layer, "__self__", None)
    parts = list(owner.sublayers(include_self=True)) if isinstance(owner, Layer) else []
    before = [part.training for part in parts]
    try:
        for part in parts:
            part.training = False
        yield
    finally:
        for part, mode in zip(parts, before, strict=True):
            part.training = mode


def _structured_names(layer: Any) -> dict[int, str]:
    owner = layer if isinstance(layer, Layer) else getattr(layer, "_instance", None)
    if not isinstance(owner, Layer):
        return {}
    named = [*owner.named_parameters(), *owner.named_buffers()]
    return {id(tensor): name for name, tensor in named}


def _is_state(tensor: Tensor, layer: Any) -> bool:
    return isinstance(tensor, Parameter) or id(tensor) in _structured_names(layer)


# ---- loading -----------------------------------------------------------------------------------------------------


@boundary
def load(path: Any, **configs: Any) -> TranslatedLayer:
    """A saved model as a Layer: proa's artifact, or Paddle's `.json`/`.pdmodel` with `.pdiparams`.

    Examples:
        >>> layer = paddle.nn.Linear(2, 3)
        >>> paddle.jit.save(layer, "model", input_spec=[paddle.static.InputSpec([None, 2])])
        >>> list(paddle.jit.load("model")(paddle.ones([4, 2])).shape)
        [4, 3]
    """
    unknown = sorted(set(configs) - _LOAD_OPTIONS)
    if unknown:
        raise value_error(
            "jit.load", f"there is no option {', '.join(unknown)}", f"known: {', '.join(sorted(_LOAD_OPTIONS))}"
        )
    path = os.fspath(path)
    model, parameters = configs.get("model_filename"), configs.get("params_filename")
    if model is None:
        own = path if path.endswith(_OWN) else path + _OWN
        has_paddle = any(os.path.isfile(path + ending) for ending in (".json", ".pdmodel"))
        if path.endswith(_OWN) or (os.path.isfile(own) and not has_paddle):
            if not os.path.isfile(own):
                raise FileNotFoundError(f"(jit.load) {own} does not exist.")
            return TranslatedLayer._of_artifact(load_artifact(own))
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    program = path if model is None else os.path.join(folder, model)
    runners = {_FORWARD: _PaddleRunner(program, None if parameters is None else os.path.join(folder, parameters))}
    if model is None:
        for title, prefix in _other_methods(path):
            runners[title] = _PaddleRunner(prefix, None, runners[_FORWARD])
    return TranslatedLayer._of_runners(runners)


def _other_methods(path: str) -> list[tuple[str, str]]:
    """Names and prefixes of the methods saved beside `forward`."""
    found: dict[str, str] = {}
    for ending in (".json", ".pdmodel"):
        for name in sorted(glob.glob(f"{glob.escape(path)}.*{ending}")):
            title = name[len(path) + 1 : -len(ending)]
            if title.isidentifier():
                found.setdefault(title, name[: -len(ending)])
    return list(found.items())


class _OwnRunner:
    """A method of an artifact."""

    def __init__(self, method: Method) -> None:
        self.graph = method.graph
        self.inputs = [InputSpec(given.shape, given.aval.dtype, given.name) for given in self.graph.inputs]
        avals = self.graph.output_avals[: self.graph.num_results]
        self.outputs = [InputSpec(shown_shape(a.shape), a.dtype, f"output_{i}") for i, a in enumerate(avals)]
        self.program: Any = self.graph.program

    def __call__(self, tensors: list[Tensor], wants_gradient: bool) -> Any:
        if not wants_gradient:
            return self.graph(*tensors)
        if self.graph.stops is not None and self.graph.stops.custom:
            raise NotImplementedError(
                "(jit.load) the model was saved from code with a gradient of its own (PyLayer), which files do not hold; "
                "call it under paddle.no_grad()."
            )
        return replay(self.graph, tensors)


class _PaddleRunner:
    """A method in Paddle's files."""

    def __init__(self, prefix: str, parameters: str | None, shared: _PaddleRunner | None = None) -> None:
        self.loaded = LoadedModel(read_model(prefix, parameters), name=os.path.basename(prefix), takes_others=True)
        if shared is not None:  # weights of one name are one tensor for all methods
            own, others = self.loaded.parameters, shared.loaded.parameters
            own.update({name: others[name] for name in own if name in others and others[name]._aval is own[name]._aval})
        model = self.loaded.model
        self.inputs = [InputSpec(list(v.shape or ()), v.dtype, v.name) for v in model.inputs]
        self.outputs = [InputSpec(list(v.shape or ()), v.dtype, v.name) for v in model.outputs]

    @property
    def program(self) -> Any:
        """Our Program where the sizes of the inputs need not be known for it, else Paddle's."""
        try:
            return read_graph(self.loaded.model, self.loaded.parameters, name=self.loaded.name).program
        except (CaptureError, UnknownSize, ValueError, TypeError, IndexError, ArithmeticError):
            return self.loaded.model

    def __call__(self, tensors: list[Tensor], wants_gradient: bool) -> Any:
        results = self.loaded.run_directly(tensors, True) if wants_gradient else self.loaded.run(tensors)
        return results[0] if len(results) == 1 else results


def _is_constant(name: str, tensor: Tensor) -> bool:
    """Whether it is a number of the program that was written as a parameter (`formats/paddle/writing`), not a weight."""
    return tensor.stop_gradient and re.fullmatch(r"constant_\d+", name) is not None


class TranslatedLayer(Layer):
    """A loaded model: a Layer whose methods run what was saved. Made by `paddle.jit.load`.

    Its parameters can be trained: where a gradient is wanted, the operations are recorded as any others. The model stays as
    it was saved (in evaluation mode: dropout is not there any more), whatever `train()` says.

    Examples:
        >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[paddle.static.InputSpec([None, 2])])
        >>> loaded = paddle.jit.load("model")
        >>> isinstance(loaded, paddle.jit.TranslatedLayer), len(loaded.parameters())
        (True, 2)
    """

    def __init__(self, runners: dict[str, Callable[..., Any]], weights: dict[str, Tensor]) -> None:
        super().__init__()
        self._runners: dict[str, Any] = dict(runners)
        for name, tensor in weights.items():
            if isinstance(tensor, Parameter):
                self._parameters[name] = tensor
            else:
                self._buffers[name] = tensor
        for title in self._runners:
            if title != _FORWARD:
                object.__setattr__(self, title, _Bound(self, title))
        self.eval()

    @staticmethod
    def _of_artifact(artifact: Artifact) -> TranslatedLayer:
        names = {name for method in artifact.methods.values() for name in method.names.values()}
        weights = {name: tensor for name, tensor in artifact.weights.items() if name in names}
        return TranslatedLayer({title: _OwnRunner(method) for title, method in artifact.methods.items()}, weights)

    @staticmethod
    def _of_runners(runners: dict[str, _PaddleRunner]) -> TranslatedLayer:
        weights: dict[str, Tensor] = {}
        for runner in runners.values():
            weights |= {n: each for n, each in runner.loaded.parameters.items() if not _is_constant(n, each)}
        return TranslatedLayer(dict(runners), weights)  # type: ignore[arg-type]

    def forward(self, *inputs: Any) -> Any:
        """What the saved `forward` gives for these inputs.

        Examples:
            >>> paddle.jit.save(paddle.nn.ReLU(), "model", input_spec=[paddle.static.InputSpec([None])])
            >>> paddle.jit.load("model").forward(paddle.to_tensor([-1.0, 2.0])).tolist()
            [0.0, 2.0]
        """
        return self._run(_FORWARD, inputs)

    def _run(self, title: str, inputs: Sequence[Any]) -> Any:
        runner = self._runners.get(title)
        if runner is None:
            raise value_error("jit.load", f"the model has no method {title}", f"it has {', '.join(self._runners)}")
        tensors: list[Tensor] = []
        flatten([tensor_from_data(i) if isinstance(i, (np.ndarray, np.generic)) else i for i in inputs], tensors)
        if len(tensors) != len(runner.inputs):
            wanted = ", ".join(f"{spec.name}: {list(spec.shape)}" for spec in runner.inputs)
            raise value_error(
                "jit.load", f"{title} takes {len(runner.inputs)} tensors ({wanted})", f"{len(tensors)} tensors"
            )
        wants = LOCAL.grad_enabled and any(
            not t.stop_gradient for t in (*tensors, *self._parameters.values()) if t is not None
        )
        if wants:
            return runner(tensors, True)
        with no_grad():
            return runner(tensors, False)

    def program(self, method_name: str = _FORWARD) -> Any:
        """The program of a method.

        Examples:
            >>> paddle.jit.save(paddle.nn.ReLU(), "model", input_spec=[paddle.static.InputSpec([None])])
            >>> len(paddle.jit.load("model").program().instructions)
            1
        """
        if method_name not in self._runners:
            raise value_error("program", f"there is no method {method_name!r}", f"it has {', '.join(self._runners)}")
        return self._runners[method_name].program

    def _input_spec(self, method_name: str = _FORWARD) -> list[InputSpec]:
        return list(self._runners[method_name].inputs)

    def _output_spec(self, method_name: str = _FORWARD) -> list[InputSpec]:
        return list(self._runners[method_name].outputs)


class _Bound:
    """A method of a TranslatedLayer other than `forward`."""

    def __init__(self, layer: TranslatedLayer, title: str) -> None:
        self.layer = layer
        self.__name__ = title

    def __call__(self, *inputs: Any) -> Any:
        return self.layer._run(self.__name__, inputs)


__all__ = ["TranslatedLayer", "load", "save"]
