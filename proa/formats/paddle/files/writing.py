"""Writing the files of a Paddle model: both or none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import BinaryIO

from proa.core.errors import naming
from proa.formats.paddle.files.params import write_parameters
from proa.formats.paddle.files.pir_write import is_saved
from proa.formats.paddle.model import Model

_FORMATS = ("json", "pdmodel")


def _check(model: Model) -> None:
    for name, array in model.parameters.items():
        value = model.parameter_values.get(name)
        if value is None:
            raise ValueError(f"(write_model) the parameter {name!r} is in parameters but not in parameter_values")
        if value.name != name:
            raise ValueError(
                f"(write_model) the parameter {name!r} has a value called {value.name!r}; the names must agree"
            )
        if value.dtype != array.dtype.name or (value.shape is not None and tuple(value.shape) != array.shape):
            raise ValueError(
                f"(write_model) the parameter {name!r} is said to be {value.dtype}{list(value.shape or ())}, but its "
                f"numbers are {array.dtype.name}{list(array.shape)}"
            )
    for name in model.parameter_values:
        if name not in model.parameters:
            raise ValueError(f"(write_model) the parameter {name!r} has no numbers; read it with its .pdiparams file")


def _replace(path: str, write: Callable[[BinaryIO], object]) -> tuple[str, str]:
    """Writes beside the path; the caller puts it into its place."""
    folder, name = os.path.split(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(prefix=name + ".", suffix=".part", dir=folder)
    try:
        with naming(path), os.fdopen(handle, "wb") as file:
            write(file)
        os.chmod(temporary, 0o666 & ~_umask())
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary, path


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def write_model(model: Model, path_prefix: str | os.PathLike[str], format: str = "json") -> None:
    """Writes `path_prefix` + ".json" (or ".pdmodel") and `path_prefix` + ".pdiparams", as Paddle 3.3 loads them.

    A model without parameters has no `.pdiparams`. If anything fails, files that were there before are unchanged.
    """
    prefix = os.fspath(path_prefix)
    if format not in _FORMATS:
        raise ValueError(f"(write_model) format is 'json' or 'pdmodel', received {format!r}")
    _check(model)
    if format == "json":
        from proa.formats.paddle.files.pir_write import write_program
    else:
        from proa.formats.paddle.files.legacy import write_program
    content = write_program(model)
    saved = {name: array for name, array in model.parameters.items() if is_saved(name)}
    folder = os.path.dirname(prefix)
    if folder:
        os.makedirs(folder, exist_ok=True)
    written: list[tuple[str, str]] = []
    try:
        if saved:
            written.append(_replace(prefix + ".pdiparams", lambda file: write_parameters(file, saved)))
        written.append(_replace(f"{prefix}.{format}", lambda file: file.write(content)))
        while written:
            os.replace(*written[0])
            written.pop(0)
    finally:
        for temporary, _ in written:
            os.unlink(temporary)
