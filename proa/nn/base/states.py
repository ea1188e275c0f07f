"""State dictionaries of layers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import failed_type_check, warn
from ...eager.tensor import Tensor, alias, tensor_from_data
from ...eager.views import replace_value
from .registry import HookRemoveHelper, Hooks, Registry


class _IncompatibleKeys(NamedTuple):
    """What `load_state_dict` returns, under Paddle's name: the names that are missing, and those that are unexpected."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not (self.missing_keys or self.unexpected_keys):
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    __str__ = __repr__


class StateDict:
    """The part of `Layer` that gives its state and takes one over."""

    _part_of = "Layer"
    _parameters: Registry
    _buffers: Registry
    _sub_layers: Registry
    _non_persistable_buffer_names_set: set[str]
    _state_dict_hooks: Hooks

    def state_dict(
        self,
        destination: dict[str, Tensor] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> dict[str, Tensor]:
        """Parameters and persistable buffers by their dotted names: the tensors themselves, not copies.

        Args:
            destination: a dictionary to put them in; a new one if left out.
            include_sublayers: False gives this layer's own only.
            structured_name_prefix: what all names begin with.
            use_hook: runs the hooks of `register_state_dict_hook`.
            keep_vars: accepted for compatibility.

        Examples:
            >>> model = paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.BatchNorm1D(3))
            >>> list(model.state_dict())
            ['0.weight', '0.bias', '1.weight', '1.bias', '1._mean', '1._variance']
        """
        return self._collect_state(destination, include_sublayers, structured_name_prefix, use_hook, whole=False)

    def to_static_state_dict(
        self,
        destination: dict[str, Tensor] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> dict[str, Tensor]:
        """Parameters and all buffers by their dotted names, those that `state_dict()` leaves out, too.

        Args:
            destination: a dictionary to put them in; a new one if left out.
            include_sublayers: False gives this layer's own only.
            structured_name_prefix: what all names begin with.
            use_hook: runs the hooks of `register_state_dict_hook`.
            keep_vars: accepted for compatibility.

        Examples:
            >>> layer = paddle.nn.Linear(2, 3)
            >>> layer.register_buffer("scratch", paddle.zeros([1]), persistable=False)
            >>> list(layer.state_dict()), list(layer.to_static_state_dict())
            (['weight', 'bias'], ['weight', 'bias', 'scratch'])
        """
        return self._collect_state(destination, include_sublayers, structured_name_prefix, use_hook, whole=True)

    def _collect_state(
        self, destination: dict[str, Tensor] | None, include_sublayers: bool, prefix: str, use_hook: bool, whole: bool
    ) -> dict[str, Tensor]:
        found: dict[str, Tensor] = OrderedDict() if destination is None else destination
        for name, parameter in self._parameters.items():
            if parameter is not None:
                found[prefix + name] = parameter
        for name, buffer in self._buffers.items():
            if buffer is not None and (whole or name not in self._non_persistable_buffer_names_set):
                found[prefix + name] = buffer
        if include_sublayers:
            for name, layer in self._sub_layers.items():
                if layer is not None:
                    collect = layer.to_static_state_dict if whole else layer.state_dict
                    collect(found, True, f"{prefix}{name}.", use_hook)
        if use_hook:
            for hook in list(self._state_dict_hooks.values()):
                changed = hook(found)
                if changed is not None:
                    found = changed
        return found

    def register_state_dict_hook(self, hook: Callable[..., Any]) -> HookRemoveHelper:
        """Has a function called with each new `state_dict`; what it returns, unless None, takes the dictionary's place.

        Args:
            hook: the function.

        Returns:
            A handle whose `remove()` takes the hook away.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> handle = layer.register_state_dict_hook(lambda state: {f"net.{name}": state[name] for name in state})
            >>> list(layer.state_dict())
            ['net.weight', 'net.bias']
        """
        return HookRemoveHelper(self._state_dict_hooks, hook)

    def set_state_dict(
        self, state_dict: dict[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Takes over the numbers of a state dictionary.

        A tensor of another shape is left as it is, with a warning.

        Args:
            state_dict: tensors or arrays by name.
            use_structured_name: False looks them up by the tensors' own names (`linear_0.w_0`) instead of dotted ones.

        Returns:
            The missing names, and the names that nothing was done with.

        Raises:
            TypeError: a tensor has another data type; nothing is changed then.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> layer.set_state_dict({"weight": np.ones([2, 1], "float32"), "other": np.ones(1)})
            (['bias'], ['other'])
            >>> layer.weight.tolist()
            [[1.0], [1.0]]
        """
        missing: list[str] = []
        used: set[str] = set()
        matched: list[tuple[Tensor, Tensor]] = []  # all is checked before anything is changed
        for structured, tensor in self.state_dict(use_hook=False).items():
            key = structured if use_structured_name else tensor.name
            if key not in state_dict:
                warn(f"(set_state_dict) {key} is not in the state dictionary; it is left as it is.")
                missing.append(key)
                continue
            value = state_dict[key]
            shape = tuple(getattr(value, "shape", np.shape(value)))
            if shape != tensor._aval.shape:
                warn(
                    f"(set_state_dict) {key} has the shape {list(shape)} in the state dictionary "
                    f"and {list(tensor._aval.shape)} in the layer; it is left as it is."
                )
                missing.append(key)
                continue
            used.add(key)
            matched.append((tensor, _source(tensor, value)))
        for tensor, source in matched:
            replace_value(tensor, source)
        return missing, [key for key in state_dict if key not in used]

    set_dict = set_state_dict
    load_dict = set_state_dict

    def load_state_dict(
        self, state_dict: dict[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """`set_state_dict`, with an error for names that do not match.

        Args:
            state_dict: tensors or arrays by name.
            strict: False takes what fits.
            assign: accepted for compatibility.

        Returns:
            The missing names, and the names that nothing was done with.

        Raises:
            RuntimeError: a name is missing or unexpected, and `strict` is True.

        Examples:
            >>> source, target = paddle.nn.Linear(2, 1), paddle.nn.Linear(2, 1)
            >>> target.load_state_dict(source.state_dict())
            <All keys matched successfully>
            >>> bool((target.weight == source.weight).all())
            True
        """
        missing, unexpected = self.set_state_dict(state_dict)
        if strict and (missing or unexpected):
            raise RuntimeError(
                f"(load_state_dict) the state dictionary does not fit {type(self).__name__}; "
                f"missing: {missing}, unexpected: {unexpected}; strict=False takes what fits."
            )
        return _IncompatibleKeys(missing, unexpected)


def _source(tensor: Tensor, value: Any) -> Tensor:
    """A tensor or array of a parameter's shape as what the parameter can take over."""
    source = alias(value) if isinstance(value, Tensor) else tensor_from_data(value)
    if source._aval.dtype != tensor._aval.dtype:
        raise failed_type_check(
            "set_state_dict",
            f"{tensor.name} has another data type in the state dictionary",
            f"{source._aval} for {tensor._aval}",
            "convert one of them with astype()",
        )
    return source._to_place(tensor._aval.place)
