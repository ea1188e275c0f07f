"""How the functions of `static.nn` make their parameters and apply their activations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.dtype import dtype_of
from ...core.errors import type_error, value_error
from ...eager.naming import unique_name
from ...eager.tensor import Tensor, tensor_from_data
from ...eager.views import replace_value
from ...nn import functional
from ...nn.base.attributes import ParamAttr, make_parameter

if TYPE_CHECKING:
    from ...nn.initializer import Initializer
    from ...optimizer.regularizer import WeightDecay


class WeightNormParamAttr(ParamAttr):
    """A parameter that is kept as a direction and a length: `g * v / |v|`, with a length for each index along `dim`.

    With `dim` None there is one length for the whole parameter.

    Args:
        dim: the dimension along which lengths differ.
        name: the parameter's name.
        initializer: how it begins.
        learning_rate: a factor of the optimiser's.
        regularizer: its own.
        trainable: whether it is trained.
        do_model_average: whether averages include it.
        need_clip: whether its gradient is clipped.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     attr = paddle.static.WeightNormParamAttr(dim=0)
        ...     y = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 3, weight_attr=attr)
        >>> y.shape, len(main.all_parameters())
        (paddle.Size([-1, 3]), 3)
    """

    def __init__(
        self,
        dim: int | None = None,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: WeightDecay | None = None,
        trainable: bool = True,
        do_model_average: bool = False,
        need_clip: bool = True,
    ) -> None:
        super().__init__(name, initializer, learning_rate, regularizer, trainable, do_model_average, need_clip)
        self.dim = dim


class Parameters:
    """Makes the parameters of one call: `fc_0.w_0`, `fc_0.b_0` …"""

    def __init__(self, kind: str, x: Any, name: str | None = None) -> None:
        if not isinstance(x, Tensor):
            raise type_error(f"static.nn.{kind}", "the input must be a variable", type(x).__name__)
        self.where = f"static.nn.{kind}"
        self.owner = name if name is not None else unique_name(kind)
        self.dtype = dtype_of(x._aval.dtype)

    def weight(self, shape: Any, attr: Any, initializer: Any = None, dtype: Any = None) -> Any:
        self._check(shape)
        if isinstance(attr, WeightNormParamAttr):
            return self._normed(list(shape), attr, initializer)
        return make_parameter(list(shape), dtype or self.dtype, attr, False, initializer, self.owner)

    def bias(self, shape: Any, attr: Any, initializer: Any = None) -> Any:
        self._check(shape)
        return make_parameter(list(shape), self.dtype, attr, True, initializer, self.owner)

    def _check(self, shape: Any) -> None:
        if any(size < 0 for size in shape):
            raise value_error(
                self.where, "a parameter's shape depends on an unknown dimension", f"{list(shape)}",
                "give that dimension of the data a fixed size",
            )  # fmt: skip

    def _normed(self, shape: list[int], attr: WeightNormParamAttr, initializer: Any) -> Tensor:
        plain = ParamAttr(**{k: v for k, v in attr.__dict__.items() if k != "dim"})
        direction: Any = make_parameter(shape, self.dtype, plain, False, initializer, self.owner)
        axes = None if attr.dim is None else [axis for axis in range(len(shape)) if axis != attr.dim % len(shape)]
        lengths = [] if axes is None else [1 if axis in axes else size for axis, size in enumerate(shape)]

        def first_length(parameter: Tensor) -> None:
            """That of the direction as it is initialised, so that the weight begins as its initializer says."""
            array = np.asarray(direction._data())
            norm = np.sqrt((array * array).sum(None if axes is None else tuple(axes), keepdims=axes is not None))
            replace_value(parameter, tensor_from_data(norm.astype(array.dtype), None, parameter._aval.place))

        own = ParamAttr(name=f"{attr.name}.g" if attr.name else None, initializer=first_length)  # type: ignore[arg-type]
        length: Any = make_parameter(lengths, self.dtype, own, False, None, self.owner)
        norm = (direction * direction).sum(axes, keepdim=attr.dim is not None).sqrt()
        return direction * (length / norm)


def activated(where: str, x: Tensor, activation: str | None) -> Tensor:
    """The result of the activation of this name."""
    if activation is None:
        return x
    function = getattr(functional, activation, None) if isinstance(activation, str) else None
    if function is None:
        raise value_error(where, "there is no activation of this name", f"{activation!r}", "use 'relu', 'tanh' …")
    return function(x)
