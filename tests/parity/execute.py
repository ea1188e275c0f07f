"""One call in one framework: values, gradients or the error, as JSON.

The same code runs in proa's process and in Paddle's; it uses only what both offer under the same name.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np

from .encode import NARROW, decode, decode_array, encode_array


def find(framework: Any, path: str) -> Any:
    """The object at a dotted name, or None."""
    try:
        return functools.reduce(getattr, path.split("."), framework)
    except AttributeError:
        return None


def type_name(tensor: Any) -> str:
    return str(tensor.dtype).rpartition(".")[2]


def describe(framework: Any, result: Any) -> tuple[list[Any], list[dict[str, Any]], str]:
    """Every tensor of a result in order, all its leaves as JSON, and its nesting, such as `list[T, T]`."""
    tensors: list[Any] = []
    leaves: list[dict[str, Any]] = []

    def visit(value: Any) -> str:
        if isinstance(value, framework.Tensor):
            if value.is_sparse():
                value = value.to_dense()
            tensors.append(value)
            plain = value.detach()
            name = type_name(plain)
            array = np.asarray((plain.astype("float32") if name in NARROW else plain).numpy())
            leaves.append({**encode_array(array), "dtype": name, "stop_gradient": bool(value.stop_gradient)})
            return "T"
        if isinstance(value, (list, tuple)):
            inner = ", ".join([visit(item) for item in value])
            return f"{'list' if isinstance(value, list) else 'tuple'}[{inner}]"
        if isinstance(value, np.ndarray):
            leaves.append({**encode_array(value), "dtype": value.dtype.name, "stop_gradient": True})
            return "array"
        leaves.append({"value": str(value)})
        return type(value).__name__

    nesting = visit(result)
    return tensors, leaves, nesting


def cotangent(tensor: Any, position: int) -> np.ndarray:
    """The fixed weights that an output is multiplied by before all are added up and differentiated."""
    random = np.random.default_rng(7 + position)  # by position: which outputs carry gradients may differ
    shape = tuple(int(n) for n in tensor.shape)
    weight: Any = random.uniform(0.5, 1.5, shape)
    if type_name(tensor).startswith("complex"):
        weight = weight + 1j * random.uniform(0.5, 1.5, shape)
    return np.asarray(weight)


def differentiable(tensor: Any) -> bool:
    return type_name(tensor).startswith(("float", "bfloat", "complex"))


def to_tensor(framework: Any, array: np.ndarray, name: str) -> Any:
    tensor = framework.to_tensor(array)
    return tensor.astype(name) if type_name(tensor) != name else tensor


def failure(error: BaseException) -> dict[str, Any]:
    kinds = [kind.__name__ for kind in type(error).__mro__ if kind not in (object, BaseException, Exception)]
    return {"kinds": kinds, "message": str(error)[-600:]}


def execute(framework: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Runs a request of `plan.py`: the outcome has `missing`, or `error`, or `leaves` and perhaps `gradients`."""
    inputs: list[Any] = []

    def make_tensor(array: np.ndarray, name: str, wanted: bool) -> Any:
        tensor = to_tensor(framework, array, name)
        if wanted and request["differentiate"]:
            tensor.stop_gradient = False
            inputs.append(tensor)
        return tensor

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        framework.seed(2024)
        try:
            args = decode(request["args"], framework, make_tensor)
            kwargs = decode(request["kwargs"], framework, make_tensor)
        except Exception as error:
            return {"unusable": failure(error)}
        form, path = request["form"], request["path"]
        method = path.rpartition(".")[2]
        if form == "method":
            if not hasattr(framework.Tensor, method):
                return {"missing": f"Tensor.{method}"}
            function = getattr(args[0], method)
            args = args[1:]
        else:
            function = find(framework, path)
            if function is None and form == "in-place" and hasattr(framework.Tensor, method):
                function = getattr(framework.Tensor, method)
            if function is None:
                return {"missing": path}
        try:
            if form == "in-place":
                # A leaf that wants a gradient may not be changed in place: its copy may.
                target = request["target"]
                args[target] = args[target].clone()
                version = args[target].inplace_version
            result = function(*args, **kwargs)
            tensors, leaves, nesting = describe(framework, result)
        except Exception as error:
            return {"error": failure(error)}
        outcome: dict[str, Any] = {"leaves": leaves, "nesting": nesting}
        if form == "in-place":
            outcome["same"] = result is args[request["target"]]
            outcome["counted"] = args[request["target"]].inplace_version - version
        if inputs:
            outcome |= gradients(framework, tensors, inputs)
        if request.get("verify") and any(outcome.get("gradients", [])):
            outcome["slopes"] = slopes(framework, request, function, outcome["gradients"])
        return outcome


def slopes(framework: Any, request: dict[str, Any], function: Any, found: list[Any]) -> list[float]:
    """The directional derivative from a framework's gradients, and from central differences of its own values.

    Where two frameworks disagree, this says which of them contradicts itself.
    """
    step = 1e-6
    random = np.random.default_rng(11)
    directions: list[np.ndarray] = []
    analytic = 0.0

    def value_at(scale: float) -> float:
        position = iter(range(len(found)))

        def make_moved(array: np.ndarray, name: str, wanted: bool) -> Any:
            if wanted:
                array = array + (scale * directions[next(position)]).astype(array.dtype)
            return to_tensor(framework, array, name)

        args = decode(request["args"], framework, make_moved)
        kwargs = decode(request["kwargs"], framework, make_moved)
        tensors = describe(framework, function(*args, **kwargs))[0]
        return sum(
            float(np.real(np.conj(cotangent(tensor, place)) * tensor.numpy()).sum())
            for place, tensor in enumerate(tensors)
            if differentiable(tensor) and place in carried
        )

    inputs: list[np.ndarray] = []

    def collect(array: np.ndarray, name: str, wanted: bool) -> Any:
        tensor = to_tensor(framework, array, name)
        if wanted:
            inputs.append(array)
            tensor.stop_gradient = False
        return tensor

    args, kwargs = decode(request["args"], framework, collect), decode(request["kwargs"], framework, collect)
    outputs = describe(framework, function(*args, **kwargs))[0]
    carried = {place for place, tensor in enumerate(outputs) if not tensor.stop_gradient}
    for array, gradient in zip(inputs, found, strict=True):
        direction: Any = random.uniform(-1, 1, array.shape)
        if array.dtype.kind == "c":
            direction = direction + 1j * random.uniform(-1, 1, array.shape)
        if request.get("hermitian"):
            direction = direction + np.conj(np.swapaxes(direction, -1, -2))
        if request.get("sparse"):
            direction = direction * (array != 0)  # what is not stored stays so
        directions.append(np.asarray(direction))
        if gradient is not None:
            analytic += float(np.real(np.conj(decode_array(gradient)[0]) * direction).sum())
    return [analytic, (value_at(step) - value_at(-step)) / (2 * step)]


def gradients(framework: Any, tensors: list[Any], inputs: list[Any]) -> dict[str, Any]:
    chosen = {i: t for i, t in enumerate(tensors) if differentiable(t) and not t.stop_gradient}
    if not chosen:
        return {"gradients": [None] * len(inputs)}
    try:
        weights = [
            to_tensor(framework, cotangent(tensor, position).astype(_numpy_name(tensor)), type_name(tensor))
            for position, tensor in chosen.items()
        ]
        found = framework.grad(list(chosen.values()), inputs, grad_outputs=weights, allow_unused=True)
        return {"gradients": [None if g is None else describe(framework, g)[1][0] for g in found]}
    except Exception as error:
        return {"gradient_error": failure(error)}


def _numpy_name(tensor: Any) -> str:
    name = type_name(tensor)
    return "float32" if name in NARROW else name
