"""Mixed precision whose gradients are summed in float32 (`main_grad`)."""

from __future__ import annotations

from typing import Any

from ....core.dtype import dtype_of
from ....core.errors import value_error
from ....nn.layer import Layer
from ..meta_parallel.wrappers import Wrapper


class MixPrecisionLayer(Wrapper):
    """A model in half precision; each parameter's gradients are added up in float32, in `main_grad`."""

    def __init__(self, layers: Layer, dtype: str = "float16") -> None:
        super().__init__(layers.full_name() + "_mix_precision")
        if dtype not in ("float16", "bfloat16"):
            raise value_error("MixPrecisionLayer", "dtype must be 'float16' or 'bfloat16'", repr(dtype))
        self._layers = layers.to(dtype=dtype)
        setattr(self, "_dtype", dtype_of(dtype))  # noqa: B010 - Paddle has an object here, other layers a name
        for parameter in self._layers.parameters():
            if not parameter.stop_gradient:
                setattr(parameter, "main_grad", None)  # noqa: B010 - an attribute of these parameters alone
                parameter.register_hook(_adding(parameter))


def _adding(parameter: Any) -> Any:
    def add(gradient: Any) -> Any:
        wide = gradient.astype("float32").detach()
        parameter.main_grad = wide if parameter.main_grad is None else parameter.main_grad + wide
        return gradient

    return add


class MixPrecisionOptimizer:
    """Steps an optimiser with the gradients in `main_grad`."""

    def __init__(self, optimizer: Any) -> None:
        self._inner_opt = optimizer

    def _parameters(self) -> list[Any]:
        from .hybrid_parallel_util import obtain_optimizer_parameters_list

        return obtain_optimizer_parameters_list(self._inner_opt)

    def step(self) -> None:
        for parameter in self._parameters():
            if getattr(parameter, "main_grad", None) is not None:
                parameter.grad = parameter.main_grad.astype(parameter.dtype)
        self._inner_opt.step()

    def clear_grad(self, set_to_zero: bool = True) -> None:
        for parameter in self._parameters():
            if hasattr(parameter, "main_grad"):
                parameter.main_grad = None
        self._inner_opt.clear_grad(set_to_zero)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner_opt, name)


class MixPrecisionScaler:
    """A scaler beside a MixPrecisionOptimizer: the scaler itself."""

    def __init__(self, scaler: Any) -> None:
        self._inner_scaler = scaler

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner_scaler, name)
