"""`paddle.save` and `paddle.load`: Paddle's own file format, its binary form of one tensor, and safetensors.

A pickle can make Python run anything, so files are read by an unpickler that knows nothing but arrays, numbers, strings
and containers (`unpickler.py`), unless the user trusts the file (`allow_objects`); what stands in a pickle is told in
`content.py`. Files are written whole or not at all (`writing.py`) and end with a checksum behind the pickle, where Paddle
does not look, so that damage is noticed.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import zlib
from typing import Any, BinaryIO

import numpy as np

from ..core import flags
from ..core.dtype import BFLOAT16
from ..core.errors import message, type_error, value_error
from ..core.tracebacks import boundary
from ..eager.declare import public
from ..eager.tensor import Tensor, tensor_from_data
from . import dense, safetensors
from .background import clear_async_save_task_queue, start
from .content import from_content, stored_array, to_content
from .unpickler import Damaged, ObjectUnpickler, Refusal, RestrictedUnpickler, scan
from .writing import SummingWriter, replacing, writable_target

_LOAD_OPTIONS = ("model_filename", "params_filename", "keep_name_table", "return_numpy", "allow_objects")
_TRAILER = b"\nproa crc32 "  # then eight hexadecimal digits
_SUFFIX = ".safetensors"


@public()
@boundary
def save(obj: Any, path: str | os.PathLike[str] | BinaryIO, protocol: int = 4, **configs: Any) -> None:
    """Writes tensors, state dictionaries and nested containers of them to a file that Paddle can read.

    An interrupted save leaves the file as it was before.

    Args:
        obj: what is written.
        path: the file, or an open one. One that ends with `.safetensors` gets that format (a flat dictionary of tensors).
        protocol: the version of pickle, 2 to 4.
        **configs: `use_binary_format=True` writes a single tensor in Paddle's binary form.

    Examples:
        >>> layer = paddle.nn.Linear(2, 3)
        >>> paddle.save(layer.state_dict(), "layer.pdparams")
        >>> sorted(paddle.load("layer.pdparams"))
        ['bias', 'weight']
    """
    _prepared(obj, path, protocol, configs)()


@public()
def async_save(
    obj: Any, path: str | os.PathLike[str], protocol: int = 4, sync_other_task: bool = False, **configs: Any
) -> None:
    """`save` in the background: what is written are the values of now, whatever happens to the tensors later.

    `clear_async_save_task_queue()` waits until all is written and raises what went wrong, as does the next `async_save`.

    Args:
        obj: tensors, state dictionaries and nested containers of them.
        path: the file.
        protocol: the version of pickle.
        sync_other_task: wait for those before it first.
        **configs: as for `save`.

    Examples:
        >>> x = paddle.ones([2])
        >>> paddle.async_save({"x": x}, "kept.pdparams")
        >>> _ = x.zero_()
        >>> paddle.clear_async_save_task_queue()
        >>> paddle.load("kept.pdparams")["x"].tolist()
        [1.0, 1.0]
    """
    if hasattr(path, "write"):
        raise value_error("async_save", "only files are written in the background", type(path).__name__, "use save()")
    write = _prepared(obj, path, protocol, configs, copied=True)
    if sync_other_task:
        clear_async_save_task_queue()
    start(write)


def _prepared(obj: Any, path: Any, protocol: Any, configs: dict[str, Any], copied: bool = False) -> Any:
    """Checks the arguments and takes the values; gives the function that writes them."""
    if type(protocol) is not int or not 2 <= protocol <= 4:
        raise value_error("save", "protocol must be 2, 3 or 4", f"protocol: {protocol!r}")
    binary = configs.pop("use_binary_format", False)
    if configs:
        raise value_error("save", f"there is no option {sorted(configs)}", fix="use_binary_format is the only one")
    if hasattr(obj, "state_dict") and hasattr(obj, "sublayers"):
        raise value_error("save", "a Layer itself cannot be saved", type(obj).__name__, "save its state_dict()")
    to_stream = hasattr(path, "write")
    if not to_stream and not isinstance(path, (str, os.PathLike)):
        raise type_error("save", "path must be the name of a file, or an open file", type(path).__name__)
    if binary:
        if not isinstance(obj, Tensor):
            raise NotImplementedError(
                message("save", "the binary format holds one tensor", type(obj).__name__, "leave use_binary_format out")
            )
        parts = dense.encode(_plain_array(obj, copied))
        arrays = content = None
    elif not to_stream and os.fspath(path).endswith(_SUFFIX):
        arrays = safetensors.named_arrays(obj, lambda v: _plain_array(v, copied) if isinstance(v, Tensor) else None)
        parts = content = None
    else:
        content = to_content(obj, protocol, copied)
        parts = arrays = None
    target = None if to_stream else writable_target("save", path)

    def write_to(file: Any) -> None:
        if parts is not None:
            for part in parts:
                file.write(part)
        elif content is None:
            safetensors.write(file, arrays)  # type: ignore[arg-type]
        elif to_stream:
            pickle.dump(content, file, protocol)
        else:
            summing = SummingWriter(file)
            pickle.dump(content, summing, protocol)  # type: ignore[arg-type]
            file.write(_TRAILER + b"%08x" % summing.checksum)

    def write() -> None:
        if target is None:
            write_to(path)
            return
        with replacing(target) as file:
            write_to(file)

    return write


def _plain_array(tensor: Tensor, copied: bool) -> np.ndarray:
    """A tensor's numbers in their own data type."""
    array = stored_array(tensor, copied)
    return array.view(BFLOAT16) if tensor._aval.dtype == BFLOAT16 else array


# ---- reading -------------------------------------------------------------------------------------


@public()
@boundary
def load(path: str | os.PathLike[str] | BinaryIO, **configs: Any) -> Any:
    """Reads a file that `save` wrote, here or in Paddle, or a safetensors file.

    Nothing in the file is executed: a file with anything but arrays, numbers, strings and containers is refused, unless
    `allow_objects` says otherwise.

    Args:
        path: the file, or an open one.
        **configs: `return_numpy=True` gives arrays instead of tensors; `keep_name_table=True` keeps the table of tensor
            names of a state dictionary; `allow_objects=True` (or a list of classes, or `PROA_ALLOW_OBJECTS=1`) reads
            objects too, which can run any code: for files that you trust.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is damaged, or none that `save` writes.
        pickle.UnpicklingError: it holds something that is refused.

    Examples:
        >>> paddle.save({"w": paddle.ones([2])}, "model.pdparams")
        >>> paddle.load("model.pdparams")["w"].tolist()
        [1.0, 1.0]
        >>> paddle.load("model.pdparams", return_numpy=True)["w"]
        array([1., 1.], dtype=float32)
    """
    unknown = sorted(set(configs) - set(_LOAD_OPTIONS))
    if unknown:
        raise value_error("load", f"there is no option {unknown}", fix=f"use one of {_LOAD_OPTIONS}")
    allowed = configs.get("allow_objects", flags.get("FLAGS_allow_objects"))
    if not isinstance(allowed, (bool, list, tuple, set, frozenset)):
        raise type_error("load", "allow_objects must be True, False or a list of classes", type(allowed).__name__)
    options = bool(configs.get("return_numpy")), bool(configs.get("keep_name_table")), allowed
    if hasattr(path, "read"):
        return _load_stream(path, *options)
    name = os.fspath(path)  # type: ignore[arg-type]
    if os.path.isdir(name):
        raise IsADirectoryError(message("load", "the path is a folder", repr(name)))
    if not os.path.exists(name):
        raise FileNotFoundError(message("load", "there is no such file", repr(name)))
    with open(name, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise value_error("load", "the file is empty: it was never written to its end", repr(name))
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _decoded(data, file, repr(name), options)[0]


def _load_stream(stream: Any, *options: Any) -> Any:
    begin = stream.tell() if hasattr(stream, "seek") else None
    data = stream.read()
    if not isinstance(data, bytes):
        raise value_error("load", "the stream must give bytes", type(data).__name__, "open the file with mode 'rb'")
    found, end = _decoded(data, io.BytesIO(data), "the given stream", options)
    if begin is not None:  # the next load reads what was saved next
        stream.seek(begin + end)
    return found


def _decoded(data: Any, file: Any, name: str, options: tuple[Any, ...]) -> tuple[Any, int]:
    """What stands in `data`, which `file` reads as well; and where it ends."""
    try:
        if data[:4] == dense.MAGIC:
            array, end = dense.decode(data)
            return (array if options[0] else tensor_from_data(array)), end
        if safetensors.looks_like(data):
            arrays = safetensors.read(data)
            return (arrays if options[0] else {key: tensor_from_data(a) for key, a in arrays.items()}), len(data)
        end = scan(data)
        if end < len(data) and isinstance(data, mmap.mmap):
            _check_trailer(data, end)
        allowed = options[2]
        content = (ObjectUnpickler(file, allowed) if allowed else RestrictedUnpickler(file)).load()
        return from_content(content, *options[:2]), end
    except pickle.UnpicklingError as error:
        if isinstance(error, Refusal):
            error.add_note(f"The file is {name}.")
            raise
        problem: Exception = error
    except (ArithmeticError, AttributeError, EOFError, ImportError, LookupError, MemoryError) as error:
        problem = error
    except (RecursionError, TypeError, ValueError) as error:
        problem = error
    reason = str(problem) if isinstance(problem, Damaged) else f"{type(problem).__name__}: {problem}"
    raise value_error(
        "load", "the file is not one that save() writes, or it is damaged", f"{name}: {reason[:300]}"
    ) from problem


def _check_trailer(data: Any, end: int) -> None:
    """Compares with the checksum behind the pickle (Paddle writes nothing there)."""
    with memoryview(data) as view, view[:end] as pickled:
        trailer = _TRAILER + b"%08x" % zlib.crc32(pickled)
    if data[end:] != trailer:
        raise Damaged("its checksum does not fit: it was changed or damaged after it was written")
