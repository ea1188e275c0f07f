"""`decorate`: models and optimisers made ready for O2, where the parameters themselves are in the low type."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..core.dtype import FLOAT32, is_floating, name_of, to_numpy_dtype
from ..core.errors import type_error, value_error
from ..eager.annotations import DTypeLike
from ..eager.tensor import Tensor, alias
from ..eager.views import replace_value
from ..ir.recorder import LOCAL, recording_gradients
from ..nn.layer import Layer
from ..nn.normalization.layers import _BatchNormBase
from ..ops.basic import cast_to
from .casting import AmpState, low_dtype, supports

_SAVE_DTYPES = ("float16", "bfloat16", "float32", "float64")


def decorate(
    models: Layer | Sequence[Layer],
    optimizers: Any = None,
    level: str = "O1",
    dtype: DTypeLike = "float16",
    master_weight: bool | None = None,
    save_dtype: str | None = None,
    master_grad: bool = False,
    excluded_layers: Layer | type[Layer] | Sequence[Layer | type[Layer]] | None = None,
) -> Any:
    """Prepares models (and optimisers) for mixed precision; gives them back as they came.

    At level O2 floating parameters and buffers are cast to `dtype`, except those of batch norms, and optimisers keep
    float32 master weights. O1 changes nothing.

    Args:
        models: a layer, or several.
        optimizers: an optimiser, or several.
        level: 'O1' or 'O2'.
        dtype: 'float16' or 'bfloat16'.
        master_weight: False keeps no master weights.
        save_dtype: the data type that `state_dict()` gives.
        master_grad: gradients are float32.
        excluded_layers: layers, or classes of layers, that stay as they are.

    Raises:
        ValueError: an option is unknown.
        TypeError: something is no layer or no optimiser.

    Examples:
        >>> model = paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.BatchNorm1D(3))
        >>> model = paddle.amp.decorate(model, level="O2", dtype="bfloat16")
        >>> model[0].weight.dtype, model[1].weight.dtype
        (paddle.bfloat16, paddle.float32)
    """
    if level not in ("O1", "O2"):
        raise value_error("decorate", "level should be O1 or O2", repr(level))
    name = low_dtype("decorate", dtype)
    saved = _save_dtype(save_dtype)
    chosen = _listed("models", models, lambda model: isinstance(model, Layer), "a Layer")
    steppers = [] if optimizers is None else _listed("optimizers", optimizers, _is_optimizer, "an optimizer")
    excluded = _excluded(excluded_layers)
    if level == "O2":
        if supports(name, LOCAL.place):
            AmpState.last_dtype = name
            for model in chosen:
                _cast_model(model, to_numpy_dtype(name), excluded)
            for optimizer in steppers:
                _keep_masters(optimizer, master_weight is None or bool(master_weight))
            if master_grad:
                for model in chosen:
                    _widen_gradients(model)
        else:
            warnings.warn(
                f"(decorate) {name} is not for the device {LOCAL.place}, so the models stay as they are; "
                "use dtype='bfloat16' to have mixed precision on a CPU.",
                stacklevel=2,
            )
    if saved is not None:
        for model in chosen:
            model.register_state_dict_hook(_SaveAs(saved))
    return models if optimizers is None else (models, optimizers)


amp_decorate = decorate


def _is_optimizer(candidate: Any) -> bool:
    return hasattr(candidate, "step") and hasattr(candidate, "_parameter_list")


def _listed(what: str, given: Any, fits: Any, kind: str) -> list[Any]:
    members = list(given) if isinstance(given, (list, tuple)) else [given]
    for member in members:
        if not fits(member):
            raise type_error("decorate", f"{what} must be {kind} or a list of them", type(member).__name__)
    return members


def _save_dtype(given: Any) -> str | None:
    if given is None:
        return None
    try:
        name = name_of(to_numpy_dtype(given))
    except (TypeError, ValueError):
        name = repr(given)
    if name not in _SAVE_DTYPES:
        raise value_error("decorate", f"save_dtype can be one of {', '.join(_SAVE_DTYPES)}", name)
    return name


def _excluded(given: Any) -> tuple[tuple[type, ...], list[Layer]]:
    """Classes and single layers that keep float32."""
    members = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
    kinds: list[type] = [_BatchNormBase]
    layers: list[Layer] = []
    for member in members:
        if isinstance(member, Layer):
            layers += member.sublayers(include_self=True)
        elif isinstance(member, type) and issubclass(member, Layer):
            kinds.append(member)
        else:
            raise type_error(
                "decorate",
                "excluded_layers must be layers or classes of layers",
                getattr(member, "__name__", repr(member)),
            )
    return tuple(kinds), layers


def _cast_model(model: Layer, low: Any, excluded: tuple[tuple[type, ...], list[Layer]]) -> None:
    kinds, layers = excluded
    kept = {id(layer) for layer in layers}
    with recording_gradients(False):
        for layer in model.sublayers(include_self=True):
            if isinstance(layer, kinds) or id(layer) in kept:
                continue
            layer._dtype = name_of(low)
            for tensor in (*layer._parameters.values(), *layer._buffers.values()):
                if tensor is not None and tensor._aval.dtype == FLOAT32:
                    replace_value(tensor, cast_to(alias(tensor), low))


def _keep_masters(optimizer: Any, wanted: bool) -> None:
    if hasattr(optimizer, "_multi_precision"):
        optimizer._multi_precision = wanted


def _widen_gradients(model: Layer) -> None:
    """Gradients in float32, so that they are added up and clipped there."""
    for parameter in model.parameters():
        if not parameter.stop_gradient and parameter._aval.dtype.itemsize <= 2:
            parameter.register_hook(lambda grad: cast_to(grad, FLOAT32))


class _SaveAs:
    """A hook of `state_dict`: floating tensors in the dtype to save."""

    def __init__(self, dtype: str) -> None:
        self._dtype = to_numpy_dtype(dtype)

    def __call__(self, found: dict[str, Tensor]) -> None:
        with recording_gradients(False):
            for key, tensor in found.items():
                if is_floating(tensor._aval.dtype) and tensor._aval.dtype != self._dtype:
                    changed = cast_to(alias(tensor), self._dtype)
                    changed.name = tensor.name
                    found[key] = changed
