"""Finding and reading the files of a Paddle model."""

from __future__ import annotations

import os

from proa.formats.paddle.files import dtypes
from proa.formats.paddle.files.params import read_parameters
from proa.formats.paddle.model import Model

_PROGRAM_ENDINGS = (".json", ".pdmodel")
_LARGEST_PROGRAM = 1 << 30


def find_files(program: str | os.PathLike[str], params: str | os.PathLike[str] | None = None) -> tuple[str, str | None]:
    """The program's and the parameters' path (a file, or a folder of old) for a prefix, a program's file or a folder."""
    program = str(os.fspath(program))
    if os.path.isdir(program):
        for name in ("inference.json", "inference.pdmodel", "model.json", "model.pdmodel", "__model__"):
            if os.path.isfile(os.path.join(program, name)):
                program = os.path.join(program, name)
                break
        else:
            raise FileNotFoundError(
                f"(read_model) the folder {program} has no inference.json, inference.pdmodel, model.json, model.pdmodel or "
                "__model__"
            )
    elif not os.path.isfile(program):
        for ending in _PROGRAM_ENDINGS:
            if os.path.isfile(program + ending):
                program += ending
                break
        else:
            named = program.endswith(_PROGRAM_ENDINGS)
            tried = f"there is no {program}" if named else f"neither {program}.json nor {program}.pdmodel exists"
            raise FileNotFoundError(f"(read_model) {tried}; give the path that the model was saved to")
    if params is not None:
        if not os.path.exists(params):
            raise FileNotFoundError(
                f"(read_model) there is no {params}, where the parameters of {program} are said to be"
            )
        return program, str(os.fspath(params))
    if os.path.basename(program) == "__model__":
        folder = os.path.dirname(program) or "."
        combined = os.path.join(folder, "__params__")
        return program, combined if os.path.isfile(combined) else folder
    prefix = os.path.splitext(program)[0] if program.endswith(_PROGRAM_ENDINGS) else program
    return program, prefix + ".pdiparams" if os.path.isfile(prefix + ".pdiparams") else None


def read_program_file(path: str) -> Model:
    """The program alone: a Model without the numbers of its saved parameters."""
    if os.path.getsize(path) > _LARGEST_PROGRAM:
        raise ValueError(f"(read_model) {path} is larger than 1 GiB: not a program")
    with open(path, "rb") as file:
        content = file.read()
    if content[:64].lstrip().startswith(b"{"):
        from proa.formats.paddle.files.pir_read import read_program
    else:
        from proa.formats.paddle.files.legacy import read_program
    try:
        return read_program(content)
    except (TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:  # damage that no check foresaw
        raise ValueError(f"(read_model) {path} is damaged: {error}") from error


def read_model(program: str | os.PathLike[str], params: str | os.PathLike[str] | None = None) -> Model:
    """The model of a path prefix ("folder/model"), of a program's file, or of a folder.

    `params` is the parameters' file where it is not beside the program under the same name. Raises FileNotFoundError if
    a file is missing and ValueError if one is damaged.
    """
    program_path, params_path = find_files(program, params)
    model = read_program_file(program_path)
    saved = [name for name in model.parameter_values if name not in model.parameters]
    if saved:
        if params_path is None:
            names = ", ".join(sorted(saved)[:3])
            raise FileNotFoundError(
                f"(read_model) {program_path} has {len(saved)} parameters ({names} …), but there is no "
                ".pdiparams file beside it; pass its path as params"
            )
        model.parameters |= read_parameters(params_path, saved, model.offsets)
    for name, array in model.parameters.items():
        value = model.parameter_values[name]
        declared = value.shape or ()
        if (
            dtypes.numpy_dtype(value.dtype) != array.dtype
            or len(declared) != array.ndim
            or any(size not in (-1, real) for size, real in zip(declared, array.shape, strict=True))
        ):
            raise ValueError(
                f"(read_model) the program says that {name!r} is {value.dtype}{list(declared)}, but the parameters' file "
                f"has {array.dtype.name}{list(array.shape)}; are the two files of one model?"
            )
    return model
