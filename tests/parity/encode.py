"""Values as JSON: what the driver and the workers send each other.

Arrays travel as dtype, shape and base64 bytes; a few Python values that JSON lacks are marked by a key that begins
with `$`. Nothing here can carry code. Only NumPy is needed, because this also runs in Paddle's environment.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

# NumPy has no such types: they travel as float32 and are cast on arrival.
NARROW = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


class NotExpressible(TypeError):
    """A sample holds something that cannot be sent to another framework, such as a function."""


def encode_array(array: np.ndarray) -> dict[str, Any]:
    name = array.dtype.name
    if name in NARROW:
        array = array.astype(np.float32)
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"$array": name, "shape": list(array.shape), "data": data}


def decode_array(value: dict[str, Any]) -> tuple[np.ndarray, str]:
    """The array (float32 for a type that NumPy lacks) and the name of its real type."""
    name = value["$array"]
    held = np.dtype("float32" if name in NARROW else name)
    return np.frombuffer(base64.b64decode(value["data"]), held).reshape(value["shape"]).copy(), name


def encode(value: Any) -> Any:
    """A sample's argument as JSON. Containers keep their kind."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.generic):
        return {"$scalar": value.dtype.name, "value": encode(value.item())}
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, complex):
        return {"$complex": [value.real, value.imag]}
    if isinstance(value, np.ndarray):
        return {**encode_array(value), "plain": True}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"$dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, slice):
        return {"$slice": [encode(value.start), encode(value.stop), encode(value.step)]}
    if value is Ellipsis:
        return {"$ellipsis": True}
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return {"$dtype": np.dtype(value).name}
    if type(value).__name__.lower() == "dtype":  # the framework's own
        return {"$dtype": str(value).rpartition(".")[2]}
    raise NotExpressible(f"{type(value).__name__} cannot be sent to another framework")


def decode(value: Any, framework: Any, make_tensor: Any) -> Any:
    """The opposite of `encode`; `make_tensor(array, dtype name, differentiable)` makes the framework's tensors.

    An array with a `layout` (a method of that tensor and its arguments) becomes a sparse tensor.
    """
    if isinstance(value, list):
        return [decode(item, framework, make_tensor) for item in value]
    if not isinstance(value, dict):
        return value
    if "$array" in value:
        array, name = decode_array(value)
        if value.get("plain"):
            return array
        tensor = make_tensor(array, name, value.get("grad", False))
        method, *rest = value.get("layout") or ("",)
        return getattr(tensor, method)(*rest) if method else tensor
    if "$tuple" in value:
        return tuple(decode(item, framework, make_tensor) for item in value["$tuple"])
    if "$dict" in value:
        return {decode(k, framework, make_tensor): decode(v, framework, make_tensor) for k, v in value["$dict"]}
    if "$complex" in value:
        return complex(*value["$complex"])
    if "$slice" in value:
        return slice(*(decode(item, framework, make_tensor) for item in value["$slice"]))
    if "$scalar" in value:
        return np.dtype(value["$scalar"]).type(decode(value["value"], framework, make_tensor))
    if "$ellipsis" in value:
        return ...
    if "$dtype" in value:
        return getattr(framework, value["$dtype"])
    raise ValueError(f"unknown mark in {sorted(value)}")
