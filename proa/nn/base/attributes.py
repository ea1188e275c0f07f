"""ParamAttr, and how a parameter is made from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.dtype import to_numpy_dtype
from ...core.errors import type_error
from ...core.place import parse_place
from ...eager.annotations import AttrLike, DTypeLike, ShapeLike
from ...eager.declare import public
from ...eager.naming import unique_name
from ...eager.parameter import Parameter
from ...eager.tensor import tensor_from_data
from ...ir.capture import outside_capture
from ...ir.recorder import LOCAL
from ...ops.basic import creation_shape
from ..initializer import Initializer, default_initializer, drawing
from .lazy_init import is_lazy, make_late

if TYPE_CHECKING:
    from ...optimizer.regularizer import WeightDecay


class ParamAttr:
    """What one may say about a parameter of a layer.

    Args:
        name: its name.
        initializer: how it begins.
        learning_rate: a factor for the learning rate of the optimiser.
        regularizer: a penalty on its size, instead of the optimiser's.
        trainable: whether it is trained.
        do_model_average: accepted; whether averages of it may be kept.
        need_clip: whether gradient clipping includes it.

    Examples:
        >>> start = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(2.0))
        >>> paddle.nn.Linear(1, 2, weight_attr=start).weight.tolist()
        [[2.0, 2.0]]
    """

    def __init__(
        self,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: WeightDecay | None = None,
        trainable: bool = True,
        do_model_average: bool = True,
        need_clip: bool = True,
    ) -> None:
        if initializer is not None and not callable(initializer):
            raise type_error("ParamAttr", "initializer must be an Initializer", type(initializer).__name__)
        self.name = name
        self.initializer = initializer
        self.learning_rate = float(learning_rate)
        self.regularizer = regularizer
        self.trainable = bool(trainable)
        self.do_model_average = bool(do_model_average)
        self.need_clip = bool(need_clip)

    @staticmethod
    def of(given: Any) -> ParamAttr | None:
        """A ParamAttr for anything that may stand for one.

        Args:
            given: a ParamAttr, a name, an initializer, a regularizer, a boolean or None.

        Returns:
            A ParamAttr; None for False, which means no parameter.

        Examples:
            >>> paddle.ParamAttr.of("w").name
            'w'
            >>> paddle.ParamAttr.of(False) is None
            True
        """
        if given is None or given is True:
            return ParamAttr()
        if given is False:
            return None
        if isinstance(given, ParamAttr):
            return given
        if isinstance(given, str):
            return ParamAttr(name=given)
        if isinstance(given, Initializer):
            return ParamAttr(initializer=given)
        raise type_error(
            "ParamAttr",
            "attr must be a ParamAttr, an Initializer, a name, or False for no parameter",
            type(given).__name__,
        )

    @staticmethod
    def _to_attr(given: Any) -> Any:
        """As `of`, for lists too, and False for False: what inner code of Paddle's calls."""
        if isinstance(given, (list, tuple)):
            return [ParamAttr._to_attr(one) for one in given]
        return False if given is False else ParamAttr.of(given)

    def __repr__(self) -> str:
        return f"ParamAttr({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"


public()(ParamAttr)


def make_parameter(
    shape: Any,
    dtype: Any,
    attr: Any,
    is_bias: bool,
    proposed: Initializer | None,
    owner: str,
    device: Any = None,
) -> Parameter | None:
    """A named, initialised parameter; None where `attr` is False."""
    settings = ParamAttr.of(attr)
    if settings is None:
        return None
    dims = creation_shape("create_parameter", shape)
    kind = to_numpy_dtype(dtype)
    name = settings.name or unique_name(f"{owner}.{'b' if is_bias else 'w'}")
    initializer = settings.initializer or default_initializer(is_bias, proposed)
    existing = LOCAL.segment.existing_parameter(name, dims, kind)
    if existing is not None:
        LOCAL.segment.note_parameter(existing, initializer)
        return existing
    place = LOCAL.place if device is None else parse_place(device)
    draw = drawing(initializer)
    late = draw is not None and is_lazy()
    numbers = np.zeros((0,) if late else dims, kind) if draw is None or late else draw(dims, kind)
    parameter = Parameter(
        tensor_from_data(numbers, kind, place),
        name=name,
        trainable=settings.trainable,
        learning_rate=settings.learning_rate,
        regularizer=settings.regularizer,
        need_clip=settings.need_clip,
        do_model_average=settings.do_model_average,
    )
    if late:
        parameter = make_late(parameter, dims, kind, place, initializer)
    elif draw is None:  # a callable of the user's own
        with outside_capture():
            initializer(parameter)
    LOCAL.segment.note_parameter(parameter, initializer)
    return parameter


@public()
def create_parameter(
    shape: ShapeLike,
    dtype: DTypeLike | None,
    name: str | None = None,
    attr: AttrLike | None = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Parameter | None:
    """A parameter outside of any layer.

    Args:
        shape: its shape.
        dtype: its type.
        name: a label; it changes nothing.
        attr: its attributes, a ParamAttr or what stands for one.
        is_bias: whether it is a bias, which begins with zeros.
        default_initializer: how it begins where `attr` does not say.

    Returns:
        A parameter; None where `attr` is False.

    Examples:
        >>> paddle.create_parameter([3], "float32", is_bias=True).tolist()
        [0.0, 0.0, 0.0]
    """
    settings = ParamAttr.of(attr)
    if settings is not None and name is not None and settings.name is None:
        settings = ParamAttr(**{**settings.__dict__, "name": name})
    owner = unique_name("create_parameter")
    return make_parameter(shape, dtype, False if settings is None else settings, is_bias, default_initializer, owner)
