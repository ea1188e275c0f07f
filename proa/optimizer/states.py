"""State dictionaries of optimisers, with Paddle's names."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import value_error
from ..eager.tensor import Tensor, alias, tensor_from_data
from ..eager.views import replace_value
from ..ops.basic import cast_to
from .groups import MASTER, Group, ParameterState
from .lr import LRScheduler


class StateDict:
    """The part of `Optimizer` that gives its state and takes one over."""

    _part_of = "Optimizer"
    _accumulator_names: tuple[str, ...]
    _learning_rate: Any
    _member_groups: list[Group]
    _members: list[Any]
    _states: dict[int, ParameterState]
    _settle: Callable[[Group], None]
    _state: Callable[[Any], ParameterState]

    def get_opti_var_name_list(self) -> list[str]:
        """The names of all states, as in `state_dict`.

        Examples:
            >>> weight = paddle.create_parameter([1], "float32", name="scale")
            >>> optimizer = paddle.optimizer.Momentum(parameters=[weight])
            >>> weight.sum().backward()
            >>> optimizer.step()
            >>> optimizer.get_opti_var_name_list()
            ['scale_velocity_0']
        """
        return [key for key in self.state_dict() if key not in ("LR_Scheduler", "master_weights")]

    def _settled_states(self) -> list[ParameterState]:
        for group in self._member_groups:
            self._settle(group)
        found = [self._states.get(id(parameter)) for parameter in self._members]
        return [state for state in found if state is not None]

    def _scalar_state(self, state: ParameterState) -> dict[str, Any]:
        """Numbers that belong into the state dictionary, by their names; arrays where Paddle has another form than [1]."""
        return {}

    def _load_scalar_state(self, state: ParameterState, found: dict[str, float]) -> None:
        """Takes back what `_scalar_state` gave."""

    def state_dict(self) -> dict[str, Any]:
        """States by Paddle's names (`linear_0.w_0_moment1_0`), and the schedule's state.

        Examples:
            >>> weight = paddle.create_parameter([1], "float32", name="scale")
            >>> optimizer = paddle.optimizer.Adam(parameters=[weight])
            >>> weight.sum().backward()
            >>> optimizer.step()
            >>> sorted(optimizer.state_dict())
            ['scale_beta1_pow_acc_0', 'scale_beta2_pow_acc_0', 'scale_moment1_0', 'scale_moment2_0']
        """
        states = self._settled_states()
        found: dict[str, Any] = {}
        for name in self._accumulator_names:
            for state in states:
                if name in state.accumulators:
                    found[f"{state.key}_{name}_0"] = state.accumulators[name]
        numbers = [(state, self._scalar_state(state)) for state in states]
        for name in numbers[0][1] if numbers else ():
            for state, scalars in numbers:
                number = scalars[name]
                if not isinstance(number, np.ndarray):
                    kind = np.float64 if state.parameter._aval.dtype == np.float64 else np.float32
                    number = np.array([number], kind)
                found[f"{state.key}_{name}_0"] = tensor_from_data(number)
        masters = {s.parameter.name: s.master for s in states if s.master is not None}
        if masters:
            found["master_weights"] = masters
        if isinstance(self._learning_rate, LRScheduler):
            found["LR_Scheduler"] = self._learning_rate.state_dict()
        return found

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes the states of a dictionary that `state_dict` gave, here or in Paddle.

        Args:
            state_dict: the dictionary.

        Examples:
            >>> weight = paddle.create_parameter([1], "float32", name="scale")
            >>> optimizer = paddle.optimizer.Momentum(parameters=[weight])
            >>> optimizer.set_state_dict({"scale_velocity_0": np.array([3.0], "float32")})
            >>> optimizer.state_dict()["scale_velocity_0"].tolist()
            [3.0]
        """
        schedule = state_dict.get("LR_Scheduler")
        if isinstance(self._learning_rate, LRScheduler) and schedule is not None:
            self._learning_rate.set_state_dict(schedule)
        # Paddle numbers the states of a second optimiser over the same parameters with _1.
        values = {
            re.sub(r"_\d+$", "", key): value
            for key, value in state_dict.items()
            if key not in ("LR_Scheduler", "master_weights")
        }
        masters = state_dict.get("master_weights", {})
        for group in self._member_groups:
            self._settle(group)
            group.active, group.buckets = [], []
        if not values:
            return
        left_out = [p.name for p in self._members if not self._load_state(p, values, masters)]
        missing = [p.name for p in self._members if p.name in left_out and not p.stop_gradient]
        if len(left_out) == len(self._members):
            raise value_error(
                "set_state_dict",
                "no state in the dictionary belongs to a parameter of this optimiser",
                f"{list(state_dict)[:3]} … for {left_out[:3]} …",
                "make the model's layers in the same order as when the state was saved",
            )
        if missing:
            warnings.warn(
                f"(set_state_dict) the dictionary has no state for {missing}; they start afresh.",
                stacklevel=2,
            )

    load_state_dict = set_state_dict
    set_dict = set_state_dict

    def _load_state(self, parameter: Any, values: dict[str, Any], masters: dict[str, Any]) -> bool:
        """Fills the state of one parameter; False where the dictionary has none."""
        keys = [parameter.name, parameter.name + MASTER]
        names = (*self._accumulator_names, *self._scalar_state(ParameterState(parameter)))
        if not any(f"{key}_{name}" in values for key in keys for name in names):
            return False
        state = self._state(parameter)
        found: dict[str, Any] = {}
        for name in names:
            for key in keys:
                if f"{key}_{name}" in values:
                    found[name] = values[f"{key}_{name}"]
        for name, tensor in state.accumulators.items():
            if name in found:
                _assign(tensor, found.pop(name), f"{parameter.name}_{name}")
        self._load_scalar_state(state, {name: float(np.asarray(v).ravel()[0]) for name, v in found.items()})
        if state.master is not None and parameter.name in masters:
            _assign(state.master, masters[parameter.name], f"{parameter.name}{MASTER}")
        return True


def _assign(tensor: Tensor, value: Any, name: str) -> None:
    source = alias(value) if isinstance(value, Tensor) else tensor_from_data(value)
    if source._aval.shape != tensor._aval.shape:
        raise value_error(
            "set_state_dict",
            f"{name} has another shape in the dictionary",
            f"{source._aval} for {tensor._aval}",
        )
    if source._aval.dtype != tensor._aval.dtype:
        source = cast_to(source, tensor._aval.dtype)
    replace_value(tensor, source._to_place(tensor._aval.place))
