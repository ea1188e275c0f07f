"""`paddle.base.layer_helper.LayerHelper`: how inner code makes parameters. Operators cannot be appended by name."""

from __future__ import annotations

from typing import Any

from ....core.dtype import get_default_dtype
from ....eager.naming import unique_name
from ....nn import functional as F
from ....nn.base.attributes import ParamAttr, make_parameter
from ....static.mode import default_main_program, default_startup_program


class LayerHelper:
    """Holds the arguments of a layer function."""

    def __init__(self, layer_type: str, **kwargs: Any) -> None:
        self.layer_type, self.kwargs = layer_type, kwargs
        self.name = kwargs.get("name") or unique_name(layer_type)

    @property
    def main_program(self) -> Any:
        return default_main_program()

    @property
    def startup_program(self) -> Any:
        return default_startup_program()

    @property
    def param_attr(self) -> Any:
        return ParamAttr.of(self.kwargs.get("param_attr"))

    @property
    def bias_attr(self) -> Any:
        return ParamAttr.of(self.kwargs.get("bias_attr"))

    def create_parameter(
        self, attr: Any, shape: Any, dtype: Any = None, is_bias: bool = False, default_initializer: Any = None, **more: Any
    ) -> Any:  # fmt: skip
        """A parameter with the given attributes."""
        chosen = dtype or get_default_dtype()
        return make_parameter(shape, chosen, False if attr is None else attr, is_bias, default_initializer, self.name)

    def input_dtype(self, input_param_name: str = "input") -> Any:
        given: Any = self.kwargs.get(input_param_name)
        first = given[0] if isinstance(given, (list, tuple)) else given
        return first.dtype

    def append_activation(self, input_var: Any) -> Any:
        """The activation that the layer's `act` names."""
        act = self.kwargs.get("act")
        return input_var if act is None else getattr(F, act)(input_var)

    def create_variable_for_type_inference(self, dtype: Any, stop_gradient: bool = False, shape: Any = None) -> Any:
        """A place for an appended operator's result."""
        return self.append_op(self.layer_type)

    def append_op(self, type: str = "", *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"(LayerHelper.append_op) operators are not appended by name here; received {type or self.layer_type!r}. Call "
            "the public function, which builds static programs too."
        )
