"""Layer: the base class of everything with parameters.

A layer keeps parameters, sub-layers and buffers in three registries (`_parameters`, `_sub_layers`,
`_buffers`), as Paddle does, so that code which edits them works. Every registry mirrors its entries
into the layer's instance dictionary, so that `self.weight` is a plain attribute access.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

import numpy as np

from ..core.dtype import get_default_dtype, name_of, to_numpy_dtype
from ..core.errors import failed_type_check, type_error, value_error, warn
from ..core.tracebacks import boundary, trim
from ..eager.annotations import AttrLike, DeviceLike, DTypeLike, ShapeLike
from ..eager.naming import unique_name
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor, tensor_from_data
from ..ir import recorder
from ..ir.observing import RUNTIME
from .base.conversion import Conversion
from .base.layer_names import PaddleNames
from .base.members import Members
from .base.registry import HookRemoveHelper, Hooks, Registry
from .base.states import StateDict

if TYPE_CHECKING:
    from .initializer import Initializer

_Inputs = ParamSpec("_Inputs")
_Result = TypeVar("_Result", covariant=True)


class _HasForward(Protocol[_Inputs, _Result]):
    def forward(self, *inputs: _Inputs.args, **kwargs: _Inputs.kwargs) -> _Result: ...


_REGISTRIES = ("_parameters", "_sub_layers", "_buffers")


def scope_name(class_name: str) -> str:
    """`BatchNorm2D` as `batch_norm2d`."""
    parted = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", class_name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", parted).lower()


class Layer(Members, Conversion, StateDict, PaddleNames):
    """The base class of everything with parameters.

    Assign parameters, sub-layers and buffers in `__init__`, after `super().__init__()`; compute in `forward`. Calling
    the layer calls `forward`, with the hooks that were registered.

    Args:
        name_scope: the beginning of the layer's name; made from the name of the class if left out.
        dtype: the data type of parameters that `create_parameter` makes.

    Examples:
        >>> class Scaled(paddle.nn.Layer):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.linear = paddle.nn.Linear(2, 3)
        ...         self.scale = self.create_parameter([1], default_initializer=paddle.nn.initializer.Constant(2.0))
        ...     def forward(self, x):
        ...         return self.linear(x) * self.scale
        >>> layer = Scaled()
        >>> layer(paddle.ones([4, 2])).shape
        paddle.Size([4, 3])
        >>> [name for name, _ in layer.named_parameters()]
        ['scale', 'linear.weight', 'linear.bias']
    """

    training: bool

    def __init__(self, name_scope: str | None = None, dtype: DTypeLike | None = "float32") -> None:
        state = self.__dict__
        state["training"] = True
        state["_full_name"] = unique_name(name_scope or scope_name(type(self).__name__))
        state["_dtype"] = get_default_dtype() if dtype is None else name_of(to_numpy_dtype(dtype))
        for registry in _REGISTRIES:
            state[registry] = Registry(self)
        state["_non_persistable_buffer_names_set"] = set()
        state["_forward_pre_hooks"] = Hooks()
        state["_forward_post_hooks"] = Hooks()
        state["_state_dict_hooks"] = Hooks()

    # ---- calling -------------------------------------------------------------------------------

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the layer computes; subclasses define it.

        Raises:
            NotImplementedError: the subclass defines none.

        Examples:
            >>> class Double(paddle.nn.Layer):
            ...     def forward(self, x):
            ...         return 2 * x
            >>> Double()(paddle.to_tensor([1.0, 2.0])).tolist()
            [2.0, 4.0]
        """
        raise NotImplementedError(f"({type(self).__name__}) a layer is called through its forward(); define one.")

    if TYPE_CHECKING:
        # A call takes and gives what the layer's own `forward` does.
        def __call__(
            self: _HasForward[_Inputs, _Result], *inputs: _Inputs.args, **kwargs: _Inputs.kwargs
        ) -> _Result: ...
    else:

        def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
            try:
                if RUNTIME.observed is not None:
                    return RUNTIME.observed.call_layer(self, inputs, kwargs)
                if self._forward_pre_hooks or self._forward_post_hooks:
                    return self._call_with_hooks(inputs, kwargs)
                return self.forward(*inputs, **kwargs)
            except Exception as failure:
                trim(failure)
                raise

    def _call_with_hooks(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for hook, with_kwargs in list(self._forward_pre_hooks.values()):
            if with_kwargs:
                changed = hook(self, inputs, kwargs)
                if changed is not None:
                    inputs, kwargs = changed
            else:
                changed = hook(self, inputs)
                if changed is not None:
                    inputs = changed if isinstance(changed, tuple) else (changed,)
        outputs, after = None, list(self._forward_post_hooks.values())
        try:
            outputs = self.forward(*inputs, **kwargs)
            while after:
                hook, with_kwargs, _ = after.pop(0)
                changed = hook(self, inputs, kwargs, outputs) if with_kwargs else hook(self, inputs, outputs)
                if changed is not None:
                    outputs = changed
        except Exception:
            for hook, with_kwargs, always in after:
                if always:
                    self._call_after_failure(hook, inputs, (kwargs, outputs) if with_kwargs else (outputs,))
            raise
        return outputs

    def _call_after_failure(self, hook: Callable[..., Any], inputs: tuple[Any, ...], rest: tuple[Any, ...]) -> None:
        try:
            hook(self, inputs, *rest)
        except Exception as failure:
            warn(f"({type(self).__name__}) a hook that is always called failed after the call had failed: {failure!r}")

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookRemoveHelper:
        """Has a function called before `forward`.

        Args:
            hook: `hook(layer, inputs)`; what it returns, unless None, takes the place of the inputs.
            prepend: calls it before the hooks that are there already.
            with_kwargs: calls `hook(layer, inputs, kwargs)` instead, which returns (inputs, kwargs) or None.

        Returns:
            A handle whose `remove()` takes the hook away.

        Examples:
            >>> layer = paddle.nn.ReLU()
            >>> handle = layer.register_forward_pre_hook(lambda layer, inputs: inputs[0] + 10)
            >>> layer(paddle.to_tensor([1.0])).tolist()
            [11.0]
            >>> handle.remove()
            >>> layer(paddle.to_tensor([1.0])).tolist()
            [1.0]
        """
        return HookRemoveHelper(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_post_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> HookRemoveHelper:
        """Has a function called after `forward`.

        Args:
            hook: `hook(layer, inputs, outputs)`; what it returns, unless None, takes the place of the outputs.
            prepend: calls it before the hooks that are there already.
            with_kwargs: calls `hook(layer, inputs, kwargs, outputs)` instead.
            always_call: calls it after a call that failed as well, with what there is of outputs (None).

        Returns:
            A handle whose `remove()` takes the hook away.

        Examples:
            >>> shapes = []
            >>> layer = paddle.nn.Linear(2, 3)
            >>> handle = layer.register_forward_post_hook(lambda layer, inputs, outputs: shapes.append(outputs.shape))
            >>> _ = layer(paddle.ones([4, 2]))
            >>> shapes
            [paddle.Size([4, 3])]
        """
        return HookRemoveHelper(self._forward_post_hooks, (hook, with_kwargs, always_call), prepend)

    register_forward_hook = register_forward_post_hook

    # ---- members -------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        if isinstance(value, Parameter):
            self._enter("_parameters", name, value)
        elif isinstance(value, Layer):
            self._enter("_sub_layers", name, value)
        elif isinstance(value, Tensor) and "_buffers" in state and not _is_property(self, name):
            if name in state["_parameters"]:
                raise _wrong_member("parameter", name, "Parameter", value)
            if name not in state["_buffers"]:
                state["_non_persistable_buffer_names_set"].add(name)
            self._enter("_buffers", name, value)
        elif name in _REGISTRIES:
            state[name] = Registry(self, value)
        else:
            for registry, kind in zip(_REGISTRIES, ("Parameter", "Layer", "Tensor"), strict=True):
                entries = state.get(registry)
                if entries and name in entries:
                    if value is not None:
                        raise _wrong_member(registry.strip("_").rstrip("s"), name, kind, value)
                    entries[name] = None
                    return
            object.__setattr__(self, name, value)

    def _enter(self, registry: str, name: str, value: Any) -> None:
        """Puts a member into one registry and out of the others."""
        state = self.__dict__
        if registry not in state:
            raise value_error(type(self).__name__, "super().__init__() should be called first", f"self.{name} = …")
        for other in _REGISTRIES:
            if other != registry and name in state[other]:
                del state[other][name]
        state[registry][name] = value

    def __getattr__(self, name: str) -> Any:
        # Members are in the instance dictionary, so that only missing names come here.
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        state = self.__dict__
        for registry in _REGISTRIES:
            if registry in state and name in state[registry]:
                del state[registry][name]
                state["_non_persistable_buffer_names_set"].discard(name)
                return
        object.__delattr__(self, name)

    def __getstate__(self) -> dict[str, Any]:
        members = {name for registry in _REGISTRIES for name in self.__dict__.get(registry, ())}
        state = {name: value for name, value in self.__dict__.items() if name not in members}
        for registry in _REGISTRIES:
            if registry in state:
                state[registry] = dict(state[registry])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for registry in _REGISTRIES:
            if registry in state:
                self.__dict__[registry] = Registry(self, state[registry])

    def add_parameter(self, name: str, parameter: Parameter | None) -> Parameter | None:
        """Registers a parameter under a name, as `layer.name = parameter` does.

        Args:
            name: the name, without dots.
            parameter: the parameter; None reserves the name.

        Returns:
            The parameter.

        Raises:
            KeyError: the name is empty, has a dot, or is taken by something else.
            TypeError: it is no parameter.

        Examples:
            >>> layer = paddle.nn.Layer()
            >>> _ = layer.add_parameter("scale", paddle.create_parameter([2], "float32"))
            >>> layer.scale.shape
            paddle.Size([2])
        """
        self._check_name("parameter", name, self._parameters)
        if parameter is not None and not isinstance(parameter, Parameter):
            raise failed_type_check("add_parameter", "the parameter must be a Parameter", type(parameter).__name__)
        self._enter("_parameters", name, parameter)
        return parameter

    def add_sublayer(self, name: str, sublayer: Layer | None) -> Layer | None:
        """Registers a sub-layer under a name, as `layer.name = sublayer` does.

        Args:
            name: the name; it may be one that is no attribute in Python, such as "0".
            sublayer: the layer; None reserves the name.

        Returns:
            The sub-layer.

        Examples:
            >>> layer = paddle.nn.Layer()
            >>> layer.add_sublayer("act", paddle.nn.ReLU())
            ReLU()
            >>> layer
            Layer(
              (act): ReLU()
            )
        """
        if sublayer is not None and not isinstance(sublayer, Layer):
            raise failed_type_check("add_sublayer", "the sublayer must be a Layer", type(sublayer).__name__)
        self._enter("_sub_layers", str(name), sublayer)
        return sublayer

    def register_buffer(self, name: str, tensor: Tensor | None, persistable: bool = True) -> None:
        """Registers a tensor that is no parameter, such as a running mean.

        Args:
            name: the name, without dots.
            tensor: the tensor; None reserves the name.
            persistable: whether `state_dict` contains it.

        Raises:
            KeyError: the name is empty, has a dot, or is taken by something else.
            TypeError: it is no tensor.

        Examples:
            >>> layer = paddle.nn.Layer()
            >>> layer.register_buffer("steps", paddle.zeros([1]))
            >>> layer.register_buffer("scratch", paddle.zeros([1]), persistable=False)
            >>> list(layer.state_dict())
            ['steps']
        """
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise type_error("register_buffer", "the buffer must be a Tensor", type(tensor).__name__)
        self._enter("_buffers", name, tensor)
        if persistable:
            self._non_persistable_buffer_names_set.discard(name)
        else:
            self._non_persistable_buffer_names_set.add(name)

    def _check_name(self, what: str, name: Any, registry: Registry) -> None:
        if not isinstance(name, str):
            raise type_error(f"add_{what}", f"the name of a {what} must be a string", repr(name))
        if not name or "." in name:
            raise KeyError(f"the name of a {what} can not be empty or contain '.'; received {name!r}")
        if hasattr(self, name) and name not in registry:
            raise KeyError(f"the {what} {name!r} already exists as an attribute")

    def register_parameter(self, name: str, param: Parameter | None) -> Parameter | None:
        """`add_parameter`, under PyTorch's name.

        Examples:
            >>> layer = paddle.nn.Layer()
            >>> _ = layer.register_parameter("scale", paddle.create_parameter([2], "float32"))
            >>> layer.scale.shape
            paddle.Size([2])
        """
        return self.add_parameter(name, param)

    def add_module(self, name: str, module: Layer | None) -> None:
        """`add_sublayer` under PyTorch's name, which returns nothing.

        Examples:
            >>> layer = paddle.nn.Layer()
            >>> layer.add_module("act", paddle.nn.ReLU())
            >>> layer.act
            ReLU()
        """
        self.add_sublayer(name, module)

    register_module = add_module

    @boundary
    def create_parameter(
        self,
        shape: ShapeLike,
        attr: AttrLike | None = None,
        dtype: DTypeLike | None = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
        device: DeviceLike | None = None,
    ) -> Any:
        """A new parameter, initialised. Assign it to the layer to register it.

        Args:
            shape: its extents.
            attr: how it is made: a `ParamAttr`, an initializer or a name; False makes none.
            dtype: its data type; that of the layer if left out.
            is_bias: starts from zeros if nothing else is said; weights start from `XavierUniform`.
            default_initializer: what fills it where `attr` names no initializer.
            device: where it lies; the current device if left out.

        Returns:
            The parameter, or None where `attr` is False.

        Examples:
            >>> layer = paddle.nn.Layer()
            >>> layer.bias = layer.create_parameter([3], is_bias=True)
            >>> layer.bias.tolist(), layer.bias.stop_gradient
            ([0.0, 0.0, 0.0], False)
        """
        from .base.attributes import make_parameter

        kind = self._dtype if dtype is None else dtype
        return make_parameter(shape, kind, attr, is_bias, default_initializer, self._full_name, device)

    def create_tensor(
        self, name: str | None = None, persistable: bool | None = None, dtype: DTypeLike | None = None
    ) -> Tensor:
        """An empty tensor, to be filled later.

        Args:
            name: the end of its name, behind that of the layer; a unique one if left out.
            persistable: whether it is saved with the layer.
            dtype: its data type; that of the layer if left out.

        Examples:
            >>> paddle.nn.Layer().create_tensor("total", dtype="int64").dtype
            paddle.int64
        """
        tensor = tensor_from_data(np.zeros((), to_numpy_dtype(dtype or self._dtype)))
        tensor.name = f"{self._full_name}.{name}" if name else unique_name(f"{self._full_name}._generated_var")
        tensor.persistable = bool(persistable)
        return tensor

    create_variable = create_tensor

    # ---- modes ---------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Layer:
        """Training behaviour (dropout drops, batch norm learns its statistics), here and below.

        Args:
            mode: False means `eval()`.

        Returns:
            This layer.

        Examples:
            >>> layer = paddle.nn.Sequential(paddle.nn.Dropout())
            >>> layer.eval()[0].training, layer.train()[0].training
            (False, True)
        """
        for layer in self.sublayers(include_self=True):
            layer.training = bool(mode)
        return self

    def eval(self) -> Layer:
        """Inference behaviour (dropout does nothing, batch norm uses what it has learned), here and below.

        Returns:
            This layer.

        Examples:
            >>> paddle.nn.Dropout(0.9).eval()(paddle.ones([3])).tolist()
            [1.0, 1.0, 1.0]
        """
        return self.train(False)

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Sets all gradients to zeros, or takes them away: like an optimiser's `clear_grad`, the end of a step.

        Args:
            set_to_zero: False takes them away, so that `grad` is None.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> layer(paddle.ones([1, 2])).sum().backward()
            >>> layer.clear_gradients()
            >>> layer.bias.grad.tolist()
            [0.0]
        """
        for parameter in self.parameters():
            parameter.clear_gradient(set_to_zero)
        recorder.boundary()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Takes all gradients away, under PyTorch's name.

        Args:
            set_to_none: False sets them to zeros instead.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> layer(paddle.ones([1, 2])).sum().backward()
            >>> layer.zero_grad()
            >>> layer.bias.grad is None
            True
        """
        self.clear_gradients(not set_to_none)

    def requires_grad_(self, requires_grad: bool = True) -> Layer:
        """Whether the parameters, here and below, get gradients.

        Args:
            requires_grad: False freezes them.

        Returns:
            This layer.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1).requires_grad_(False)
            >>> [parameter.trainable for parameter in layer.parameters()]
            [False, False]
        """
        for parameter in self.parameters():
            parameter.stop_gradient = not requires_grad
        return self

    def full_name(self) -> str:
        """The unique name of this layer, which the names of its parameters begin with.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> layer.weight.name.startswith(layer.full_name())
            True
        """
        return self._full_name

    # ---- text ----------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed; subclasses define it.

        Examples:
            >>> class Noise(paddle.nn.Layer):
            ...     def extra_repr(self):
            ...         return "level=3"
            >>> Noise()
            Noise(level=3)
        """
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        inner = []
        for name, layer in self._sub_layers.items():
            text = repr(layer).replace("\n", "\n  ")
            inner.append(f"({name}): {text}")
        head = f"{type(self).__name__}("
        text = "\n  " + "\n  ".join(lines) + "\n" if len(lines) > 1 else extra
        return head + text + ("\n  " + "\n  ".join(inner) + "\n" if inner else "") + ")"


def _wrong_member(what: str, name: str, kind: str, value: Any) -> TypeError:
    what = what.replace("sub_layer", "sublayer")
    return TypeError(
        f"assignment to {what} '{name}' should be of type {kind} or None, but got '{type(value).__name__}'"
    )


def _is_property(layer: Layer, name: str) -> bool:
    return isinstance(getattr(type(layer), name, None), property)
