"""Models for inference in Paddle's files: `save_inference_model` and its kin.

The files themselves are `proa.formats.paddle`'s: a program is cut to its inputs and results, in its form for inference, and
written as a Model; a file that is read gives a Program that runs the Model.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.aval import make_aval
from ..core.dtype import to_numpy_dtype
from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor
from ..graph.capture import placeholder
from ..graph.graph import Graph, GraphInput
from . import mode
from .program import VARIABLES, Program

if TYPE_CHECKING:
    from .execution import Executor


def _tensors(where: str, what: str, given: Any) -> list[Tensor]:
    tensors: list[Any] = [given] if isinstance(given, Tensor) else list(given or ())
    if not tensors or not all(isinstance(tensor, Tensor) for tensor in tensors):
        raise type_error(where, f"{what} must be a variable or a list of them", type(given).__name__)
    return tensors


def _inference_graph(where: str, feed_vars: Any, fetch_vars: Any, program: Program | None) -> Graph:
    feeds, fetches = _tensors(where, "feed_vars", feed_vars), _tensors(where, "fetch_vars", fetch_vars)
    segment: Any = fetches[0]._segment
    chosen = program or (segment.owner if segment is not None else None) or mode.default_main_program()
    with mode.running():
        return chosen.clone(for_test=True).graph_for(fetches, [_input_name(where, chosen, t) for t in feeds])


def _input_name(where: str, program: Program, tensor: Tensor) -> str:
    for name, known in program.data.items():
        if known is tensor:
            return name
    raise value_error(where, f"{tensor.name} is no input of the program", f"{tensor!r}", "use what static.data() gave")


def _model_of(graph: Graph) -> Any:
    from ..formats.paddle.writing import graph_to_model

    with mode.running():
        return graph_to_model(graph, {id(t): t.name for t in graph.captured if t.persistable})


def save_inference_model(
    path_prefix: str,
    feed_vars: Tensor | Sequence[Tensor],
    fetch_vars: Tensor | Sequence[Tensor],
    executor: Executor,
    **kwargs: Any,
) -> None:
    """Writes the part of a program that computes `fetch_vars` from `feed_vars`, with its parameters.

    `path_prefix` gets the endings `.json` (or `.pdmodel` with `legacy_format=True`) and `.pdiparams`.

    Args:
        path_prefix: where, without endings.
        feed_vars: the inputs.
        fetch_vars: the results.
        executor: taken; it is not needed.
        **kwargs: `program` (the default main one), `legacy_format`.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.static.nn.fc(x, 3)
        >>> executor = paddle.static.Executor()
        >>> executor.run(startup)
        []
        >>> paddle.static.save_inference_model("model", [x], [y], executor, program=main)
        >>> program, names, results = paddle.static.load_inference_model("model", executor)
        >>> executor.run(program, feed={names[0]: np.ones((4, 2), "float32")}, fetch_list=results)[0].shape
        (4, 3)
    """
    from ..formats.paddle.files.writing import write_model

    graph = _inference_graph("save_inference_model", feed_vars, fetch_vars, kwargs.get("program"))
    folder = os.path.dirname(os.path.abspath(path_prefix))
    os.makedirs(folder, exist_ok=True)
    write_model(_model_of(graph), path_prefix, "pdmodel" if kwargs.get("legacy_format") else "json")


class LoadedProgram(Program):
    """A Program that was read from a file: it runs as the Model it is."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        from ..formats.paddle.reading.loading import LoadedModel

        with mode.running():
            self.loaded = LoadedModel(model, takes_others=True)
            self.parameters.update(self.loaded.parameters)
            VARIABLES.update(self.loaded.parameters)
            self.data = {value.name: self._variable(value) for value in model.inputs}
            self.results = [self._variable(value) for value in model.outputs]

    def _variable(self, value: Any) -> Tensor:
        kind = np.dtype(to_numpy_dtype(value.dtype))
        sizes = self.segment.assumptions.shape(value.shape or (), value.name)
        aval = make_aval(sizes, kind, self.segment.root.place)
        tensor = placeholder(self.segment, aval)
        tensor.name = value.name
        return tensor

    def compute(
        self, find_input: Callable[[GraphInput], Tensor], fetches: Sequence[Tensor], scope: Any
    ) -> list[Tensor]:
        wanted = []
        for tensor in fetches:
            found = [n for n, result in enumerate(self.results) if result is tensor or result.name == tensor.name]
            if not found:
                raise value_error("Executor.run", f"{tensor.name} is no result of the loaded program", tensor.name)
            wanted.append(found[0])
        inputs = [find_input(GraphInput(name, tensor._aval)) for name, tensor in self.data.items()]
        with scope.in_force(self.parameters.values()):
            results = self.loaded.run(inputs)
        return [results[n] for n in wanted]


def load_inference_model(path_prefix: str | os.PathLike[str], executor: Executor, **kwargs: Any) -> list[Any]:
    """[program, names of the inputs, result variables] of a model that Paddle or proa saved.

    Args:
        path_prefix: what `save_inference_model` was given.
        executor: taken; it is not needed.
        **kwargs: `model_filename` and `params_filename`, where the files have other names.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.static.nn.fc(x, 3)
        >>> executor = paddle.static.Executor()
        >>> executor.run(startup)
        []
        >>> paddle.static.save_inference_model("model", [x], [y], executor, program=main)
        >>> program, names, results = paddle.static.load_inference_model("model", executor)
        >>> names
        ['x']
    """
    from ..formats.paddle.files.reading import read_model

    parameters = kwargs.get("params_filename")
    program_file = kwargs.get("model_filename")
    path = os.fspath(path_prefix)
    if program_file is not None:
        model = read_model(os.path.join(path, program_file), parameters and os.path.join(path, parameters))
    else:
        model = read_model(path)
    program = LoadedProgram(model)
    return [program, list(program.data), program.results]


def normalize_program(
    program: Program, feed_vars: Tensor | Sequence[Tensor], fetch_vars: Tensor | Sequence[Tensor], **kwargs: Any
) -> Program:
    """A copy of a program in its form for inference, which computes `fetch_vars` from `feed_vars`.

    Args:
        program: a Program.
        feed_vars: the inputs.
        fetch_vars: the results.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.nn.functional.dropout(x, 0.5)
        >>> paddle.static.normalize_program(main, [x], [y]).is_test
        True
    """
    if not isinstance(program, Program):
        raise type_error("normalize_program", "program must be a Program", type(program).__name__)
    graph = _inference_graph("normalize_program", feed_vars, fetch_vars, program)
    made = program.clone(for_test=True)
    made.data = {given.name: program.data[given.name] for given in graph.inputs}
    return made


# ---- as bytes --------------------------------------------------------------------------------------------------------


def _files(graph: Graph) -> tuple[bytes, bytes]:
    """The program and the parameters of a graph as the contents of Paddle's two files."""
    from ..formats.paddle.files.writing import write_model

    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "model")
        write_model(_model_of(graph), prefix)
        contents = []
        for ending in (".json", ".pdiparams"):
            path = prefix + ending
            contents.append(open(path, "rb").read() if os.path.isfile(path) else b"")  # noqa: SIM115
    return contents[0], contents[1]


def serialize_program(
    feed_vars: Tensor | Sequence[Tensor], fetch_vars: Tensor | Sequence[Tensor], **kwargs: Any
) -> bytes:
    """The program that computes `fetch_vars` from `feed_vars`, without the numbers of its parameters.

    Args:
        feed_vars: the inputs.
        fetch_vars: the results.
        **kwargs: `program` (the default main one).

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.static.nn.fc(x, 3)
        >>> isinstance(paddle.static.serialize_program([x], [y], program=main), bytes)
        True
    """
    return _files(_inference_graph("serialize_program", feed_vars, fetch_vars, kwargs.get("program")))[0]


def serialize_persistables(
    feed_vars: Tensor | Sequence[Tensor], fetch_vars: Tensor | Sequence[Tensor], executor: Executor, **kwargs: Any
) -> bytes:
    """The numbers of the parameters of that program.

    Args:
        feed_vars: the inputs.
        fetch_vars: the results.
        executor: taken; it is not needed.
        **kwargs: `program` (the default main one).

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.static.nn.fc(x, 3)
        >>> executor = paddle.static.Executor()
        >>> executor.run(startup)
        []
        >>> isinstance(paddle.static.serialize_persistables([x], [y], executor, program=main), bytes)
        True
    """
    return _files(_inference_graph("serialize_persistables", feed_vars, fetch_vars, kwargs.get("program")))[1]


def deserialize_program(data: bytes) -> Program:
    """The program that `serialize_program` wrote; its parameters are zeros until `deserialize_persistables`.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.static.nn.fc(x, 3)
        >>> program = paddle.static.deserialize_program(paddle.static.serialize_program([x], [y], program=main))
        >>> isinstance(program, paddle.static.Program)
        True
    """
    from ..formats.paddle.files.params import zeros
    from ..formats.paddle.files.reading import read_program_file

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        with open(path, "wb") as file:
            file.write(data)
        model = read_program_file(path)
    for name, value in model.parameter_values.items():
        if name not in model.parameters:
            model.parameters[name] = zeros(value)
    return LoadedProgram(model)


def deserialize_persistables(program: Program, data: bytes, executor: Executor) -> None:
    """Gives a program the parameters that `serialize_persistables` wrote.

    Args:
        program: what `deserialize_program` gave.
        data: what `serialize_persistables` gave.
        executor: taken; it is not needed.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.static.nn.fc(x, 3)
        >>> executor = paddle.static.Executor()
        >>> executor.run(startup)
        []
        >>> numbers = paddle.static.serialize_persistables([x], [y], executor, program=main)
        >>> program = paddle.static.deserialize_program(paddle.static.serialize_program([x], [y], program=main))
        >>> paddle.static.deserialize_persistables(program, numbers, executor)
        >>> len(numbers) > 0
        True
    """
    from ..formats.paddle.files.params import read_parameters

    names = [name for name in program.parameters if name]
    if not data:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.pdiparams")
        with open(path, "wb") as file:
            file.write(data)
        program.set_state_dict(read_parameters(path, names))


__all__ = [
    "deserialize_persistables", "deserialize_program", "load_inference_model", "normalize_program",
    "save_inference_model", "serialize_persistables", "serialize_program",
]  # fmt: skip
