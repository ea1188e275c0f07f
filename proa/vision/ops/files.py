"""Image files as tensors: read_file and decode_jpeg."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor, tensor_from_data
from ...ops.arguments import require_tensor

_MODES = {"unchanged": None, "gray": "L", "rgb": "RGB"}


def read_file(filename: str | os.PathLike[str], name: str | None = None) -> Tensor:
    """The bytes of a file.

    Args:
        filename: the file.
        name: a label; it changes nothing.

    Returns:
        A uint8 tensor of one dimension.

    Examples:
        >>> with open("three.bin", "wb") as file:
        ...     _ = file.write(b"abc")
        >>> paddle.vision.ops.read_file("three.bin").tolist()
        [97, 98, 99]
    """
    if not isinstance(filename, (str, os.PathLike)):
        raise type_error("read_file", "filename must be a path", f"filename: {type(filename).__name__}")
    with open(filename, "rb") as file:
        return tensor_from_data(np.frombuffer(file.read(), np.uint8).copy())


def decode_jpeg(x: Tensor, mode: str = "unchanged", name: str | None = None) -> Tensor:
    """The picture in a JPEG file's bytes.

    Decoded on the host, by Pillow.

    Args:
        x: the bytes, as `read_file` gives them.
        mode: "gray" for one channel, "rgb" for three, "unchanged" for those of the file.
        name: a label; it changes nothing.

    Returns:
        A uint8 tensor `[channels, height, width]`.

    Examples:
        >>> from PIL import Image
        >>> Image.new("RGB", (4, 2), "red").save("red.jpg")
        >>> paddle.vision.ops.decode_jpeg(paddle.vision.ops.read_file("red.jpg")).shape
        paddle.Size([3, 2, 4])
    """
    where = "decode_jpeg"
    aval = require_tensor(where, "x", x)._aval
    if aval.dtype != np.uint8 or aval.ndim != 1:
        raise value_error(where, "x must be the bytes of a file, uint8 with one dimension", f"x: {aval}")
    if mode not in _MODES:
        raise value_error(where, f"mode must be one of {', '.join(_MODES)}", f"mode: {mode!r}")
    picture = np.asarray(_decoded(where, np.asarray(x._data()).tobytes(), _MODES[mode]))
    picture = picture[None] if picture.ndim == 2 else picture.transpose(2, 0, 1)
    return tensor_from_data(np.ascontiguousarray(picture), place=aval.place)


def _decoded(where: str, data: bytes, mode: str | None) -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(f"({where}) Pillow is needed to decode pictures; install the package pillow.") from error
    try:
        picture = Image.open(io.BytesIO(data), formats=["JPEG"])
        return picture.convert(mode) if mode else picture.copy()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise value_error(where, f"x is no JPEG picture that can be read ({error})", f"{len(data)} bytes") from error
