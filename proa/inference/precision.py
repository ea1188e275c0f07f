"""Model files with parameters in half precision."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np

from ..core.errors import value_error
from ..formats.paddle.files import read_model, write_model  # type: ignore[attr-defined]
from ..formats.paddle.files.dtypes import numpy_dtype
from ..formats.paddle.model import Op, Value
from .kinds import PrecisionType


def convert_to_mixed_precision(
    model_file: str,
    params_file: str,
    mixed_model_file: str,
    mixed_params_file: str,
    mixed_precision: PrecisionType,
    backend: Any,
    keep_io_types: bool = True,
    black_list: set[str] = set(),  # noqa: B006  (Paddle's signature)
    **kwargs: Any,
) -> None:
    """Writes a model whose floating parameters take half the space.

    They are cast back to float32 where they are used, except for what operations in `black_list` use, which stays as it
    is; inputs and outputs keep their types.

    Args:
        model_file: the program to read.
        params_file: its parameters.
        mixed_model_file: the program to write.
        mixed_params_file: its parameters.
        mixed_precision: `PrecisionType.Half` or `PrecisionType.Bfloat16`.
        backend: taken; the file is the same for all.
        keep_io_types: taken; inputs and outputs keep their types.
        black_list: operations whose parameters stay as they are.

    Raises:
        ValueError: `mixed_precision` is another one.

    Examples:
        >>> import os
        >>> spec = paddle.static.InputSpec([None, 64], "float32", "x")
        >>> paddle.jit.save(paddle.nn.Linear(64, 64), "model", input_spec=[spec])
        >>> half, place = paddle.inference.PrecisionType.Half, paddle.inference.PlaceType.CPU
        >>> paddle.inference.convert_to_mixed_precision(
        ...     "model.json", "model.pdiparams", "half.json", "half.pdiparams", half, place
        ... )
        >>> os.path.getsize("half.pdiparams") < 0.6 * os.path.getsize("model.pdiparams")
        True
    """
    names = {PrecisionType.Half: "float16", PrecisionType.Bfloat16: "bfloat16"}
    narrow = names.get(PrecisionType(mixed_precision))
    if narrow is None:
        raise value_error(
            "convert_to_mixed_precision", "mixed_precision must be Half or Bfloat16", f"{mixed_precision!r}"
        )
    model = read_model(model_file, params_file)
    kept = {
        value.name for op in model.block.ops if op.name in black_list for value in op.inputs if isinstance(value, Value)
    }
    casts: list[Op] = []
    for name, array in list(model.parameters.items()):
        wide = model.parameter_values[name]
        if array.dtype != np.float32 or name in kept:
            continue
        held = Value(name, narrow, wide.shape)
        wide.name = f"{name}.float32"
        model.parameters[name] = array.astype(numpy_dtype(narrow))
        model.parameter_values[name] = held
        casts.append(Op("cast", [held], {"dtype": "float32"}, [wide]))
    model.block.ops[:0] = casts
    kind = "pdmodel" if os.fspath(mixed_model_file).endswith(".pdmodel") else "json"
    for path in (mixed_model_file, mixed_params_file):
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    # Both files are complete before the first one takes its name.
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(mixed_model_file))) as folder:
        write_model(model, os.path.join(folder, "mixed"), kind)
        os.replace(os.path.join(folder, "mixed.pdiparams"), mixed_params_file)
        os.replace(os.path.join(folder, f"mixed.{kind}"), mixed_model_file)
