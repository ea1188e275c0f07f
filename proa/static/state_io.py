"""Saving and loading what programs keep: parameters and optimiser states by name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor
from ..framework.io import load as load_object
from ..framework.io import save as save_object
from .program import Program
from .strategies import CompiledProgram

if TYPE_CHECKING:
    from .execution import Executor


def _program(where: str, given: Any) -> Program:
    program = given.program if isinstance(given, CompiledProgram) else given
    if not isinstance(program, Program):
        raise type_error(where, "program must be a Program", type(given).__name__)
    return program


def _prefix(where: str, path: Any) -> str:
    prefix = os.fspath(path)
    if not os.path.basename(prefix):
        raise value_error(where, "model_path must end with a file's name", repr(prefix), "add a name behind the folder")
    for ending in (".pdparams", ".pdopt", ".pdmodel"):
        if prefix.endswith(ending):
            return prefix[: -len(ending)]
    return prefix


def save(program: Program, model_path: str, protocol: int = 4, **configs: Any) -> None:
    """Writes parameters (`.pdparams`) and, where there are any, optimiser states (`.pdopt`).

    Args:
        program: a Program.
        model_path: where, without endings.
        protocol: pickle's.

    Examples:
        >>> import os
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 3)
        >>> executor = paddle.static.Executor()
        >>> executor.run(startup)
        []
        >>> paddle.static.save(main, "model")
        >>> os.path.exists("model.pdparams")
        True
    """
    chosen = _program("static.save", program)
    prefix = _prefix("static.save", model_path)
    folder = os.path.dirname(prefix)
    if folder:
        os.makedirs(folder, exist_ok=True)
    from .mode import running

    states = {ending: chosen.state_dict(mode) for ending, mode in ((".pdparams", "param"), (".pdopt", "opt"))}
    with running():
        for ending, tensors in states.items():
            save_object(_arrays(tensors), prefix + ending, protocol)


def _arrays(tensors: dict[str, Tensor]) -> dict[str, np.ndarray]:
    return {name: np.asarray(tensor._data()) for name, tensor in tensors.items()}


def load_program_state(model_path: str, var_list: Sequence[Tensor] | None = None) -> dict[str, np.ndarray]:
    """The arrays that `save` wrote, by name; only those of `var_list` where it is given.

    Args:
        model_path: what `save` was given.
        var_list: only these variables; None: all.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     weight = paddle.static.create_parameter([2], "float32", name="weight_of_file")
        >>> executor = paddle.static.Executor()
        >>> executor.run(startup)
        []
        >>> paddle.static.save(main, "model")
        >>> list(paddle.static.load_program_state("model"))
        ['weight_of_file']
    """
    prefix = _prefix("load_program_state", model_path)
    if not os.path.isfile(prefix + ".pdparams"):
        raise FileNotFoundError(f"(load_program_state) there is no {prefix}.pdparams; save with paddle.static.save().")
    found: dict[str, Any] = {}
    for ending in (".pdparams", ".pdopt"):
        if os.path.isfile(prefix + ending):
            loaded = load_object(prefix + ending, return_numpy=True)
            if not isinstance(loaded, dict):
                raise value_error("load_program_state", "the file must hold a dictionary of arrays", prefix + ending)
            found.update(loaded)
    found.pop("StructuredToParameterName@@", None)
    if var_list is not None:
        wanted = {tensor.name for tensor in var_list}
        found = {name: array for name, array in found.items() if name in wanted}
    return found


def set_program_state(program: Program, state_dict: dict[str, Any]) -> None:
    """Gives a program's parameters and states the arrays of a dictionary, by name.

    Args:
        program: a Program.
        state_dict: arrays by name.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     weight = paddle.static.create_parameter([2], "float32", name="weight_of_arrays")
        >>> paddle.static.set_program_state(main, {"weight_of_arrays": np.array([1.0, 2.0], "float32")})
        >>> main.state_dict()["weight_of_arrays"].numpy().tolist()
        [1.0, 2.0]
    """
    _program("set_program_state", program).set_state_dict(state_dict)


def load(
    program: Program, model_path: str, executor: Executor | None = None, var_list: Sequence[Tensor] | None = None
) -> None:
    """Loads what `save` wrote into a program; every parameter of it must be there.

    Args:
        program: a Program.
        model_path: what `save` was given.
        executor: taken; it is not needed.
        var_list: only these variables; None: all.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     weight = paddle.static.create_parameter([2], "float32", name="weight_to_load")
        >>> main.set_state_dict({"weight_to_load": np.array([1.0, 2.0], "float32")})
        >>> paddle.static.save(main, "model")
        >>> main.set_state_dict({"weight_to_load": np.zeros(2, "float32")})
        >>> paddle.static.load(main, "model")
        >>> main.state_dict()["weight_to_load"].numpy().tolist()
        [1.0, 2.0]
    """
    chosen = _program("static.load", program)
    state = load_program_state(model_path, var_list)
    wanted = [p.name for p in chosen.all_parameters()] if var_list is None else [t.name for t in var_list]
    missing = [name for name in wanted if name not in state]
    if missing:
        raise value_error("static.load", f"the file has no {missing[0]}", f"{model_path}: {sorted(state)[:5]}")
    chosen.set_state_dict(state)


def save_to_file(path: str, content: bytes) -> None:
    """Writes bytes to a file, whole or not at all.

    Examples:
        >>> paddle.static.save_to_file("content", b"abc")
        >>> paddle.static.load_from_file("content")
        b'abc'
    """
    if not isinstance(content, bytes):
        raise type_error("save_to_file", "content must be bytes", type(content).__name__)
    temporary = f"{path}.part{os.getpid()}"
    with open(temporary, "wb") as file:
        file.write(content)
    os.replace(temporary, path)


def load_from_file(path: str) -> bytes:
    """The bytes of a file.

    Examples:
        >>> paddle.static.save_to_file("content", b"abc")
        >>> paddle.static.load_from_file("content")
        b'abc'
    """
    with open(path, "rb") as file:
        return file.read()
