"""What optimisers are asked by programs that know Paddle's own: state by name, master weights, one parameter at a time."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtype import BFLOAT16, FLOAT16, dtype_of, to_numpy_dtype
from ..core.errors import value_error
from ..eager.tensor import Tensor, tensor_from_data


class PaddleNames:
    """Names of Paddle's Optimizer that subclasses and trainers use; all of them read what the optimiser keeps anyway.

    A subclass may define `_append_optimize_op(block, param_and_grad)` to change what happens with one parameter (a learning
    rate by depth, for example) and call this class's for the update: the parameters that arrive here are updated together.
    """

    helper: Any = None
    _use_lowprecision_moment = False
    _appends = False  # whether a subclass defines `_append_optimize_op`
    _moment1_acc_str, _moment2_acc_str = "moment1", "moment2"
    _beta1_pow_acc_str, _beta2_pow_acc_str = "beta1_pow_acc", "beta2_pow_acc"

    if TYPE_CHECKING:
        _accumulator_names: tuple[str, ...]
        _grad_clip: Any
        _group_options: tuple[str, ...]
        _grouped: bool
        _member_groups: list[Any]
        _members: list[Any]
        _states: dict[int, Any]
        _take: Callable[[list[Any]], None]
        _weight_decay: Any

        def _settled_states(self) -> list[Any]: ...
        def _scalar_state(self, state: Any) -> dict[str, Any]: ...
        def _state(self, parameter: Any) -> Any: ...
        def apply_gradients(self, params_grads: Sequence[tuple[Any, Tensor]]) -> list[Any]: ...
        def clear_grad(self, set_to_zero: bool = True) -> None: ...
        def get_lr(self) -> float: ...
        def state_dict(self) -> dict[str, Any]: ...

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._appends = cls._append_optimize_op is not PaddleNames._append_optimize_op

    @property
    def type(self) -> str:
        """The name of the kind: `adamw`."""
        known = next((cls for cls in type(self).__mro__ if cls.__module__.startswith(__package__ or "")), type(self))
        return self.__dict__.get("type") or re.sub(r"[^a-z]", "", known.__name__.lower())

    @type.setter
    def type(self, value: str) -> None:
        self.__dict__["type"] = value

    @property
    def _dtype(self) -> Any:
        """The data type of the first parameter."""
        if "_dtype" in self.__dict__:
            return self.__dict__["_dtype"]
        return dtype_of(self._members[0]._aval.dtype) if self._members else None

    @_dtype.setter
    def _dtype(self, value: Any) -> None:
        self.__dict__["_dtype"] = value

    @property
    def regularization(self) -> Any:
        """The regularizer; None where there is no weight decay or it is a number."""
        return None if isinstance(self._weight_decay, (int, float)) else self._weight_decay

    @property
    def _default_dict(self) -> dict[str, Any]:
        """The settings that parameter groups may have of their own."""
        names = ("weight_decay", "grad_clip", *self._group_options)
        return {name: getattr(self, f"_{name}", None) for name in names}

    @property
    def _param_groups(self) -> list[Any]:
        """What it was given: the parameters, or the groups, each with all of its settings."""
        if not self._grouped:
            return self._members
        defaults = self._default_dict
        for group in self._member_groups:
            for name, value in defaults.items():
                group.setdefault(name, value)
        return self._member_groups

    @_param_groups.setter
    def _param_groups(self, given: Any) -> None:
        self._take(list(given or ()))  # libraries that divide models say so which parameters are theirs

    _parameter_list = _param_groups

    @property
    def _params_name(self) -> set[str]:
        return {parameter.name for parameter in self._members}

    # ---- state ---------------------------------------------------------------------------------

    @property
    def _master_weights(self) -> dict[str, Tensor]:
        """Copies in float32 of parameters in half precision, by name."""
        return {state.parameter.name: state.master for state in self._settled_states() if state.master is not None}

    @property
    def _accumulators(self) -> dict[str, dict[str, Tensor]]:
        """States by kind and by the parameter's name."""
        found: dict[str, dict[str, Tensor]] = defaultdict(dict)
        for state in self._settled_states():
            for name, tensor in state.accumulators.items():
                found[name][state.parameter.name] = tensor
            for name, number in self._scalar_state(state).items():
                found[name][state.parameter.name] = tensor_from_data(np.asarray(number, "float32").reshape(-1))
        return found

    @property
    def _accumulators_holder(self) -> dict[str, Tensor]:
        """States that were loaded before their parameters were known: parameters are known from the start."""
        return {}

    @property
    def _already_create_accumulator(self) -> set[str]:
        return {state.parameter.name for state in self._states.values()}

    @property
    def _auxiliary_vars(self) -> dict[str, Any]:
        return self.__dict__.setdefault("_added", {})

    def _get_auxiliary_var(self, key: str) -> Any:
        return self._auxiliary_vars.get(key)

    def _set_auxiliary_var(self, key: str, value: Any) -> None:
        self._auxiliary_vars[key] = value

    def _create_accumulators(self, block: Any, parameters: Sequence[Any]) -> None:
        """Makes the states of parameters now, not at the first step."""
        for parameter in parameters:
            self._state(parameter)

    def _add_moments_pows(self, parameter: Any, acc_dtype: Any = None) -> None:
        self._state(parameter)

    def _add_accumulator(
        self, name: str, param: Any, dtype: Any = None, fill_value: float = 0.0, shape: Any = None, type: Any = None,
        device: Any = None,
    ) -> Tensor:  # fmt: skip
        """One more state of a parameter, filled with a number."""
        accumulators = self._state(param).accumulators
        if name not in accumulators:
            kind = to_numpy_dtype(dtype) if dtype is not None else param._aval.dtype
            made = tensor_from_data(np.full(shape if shape is not None else param._aval.shape, fill_value, kind))
            made.name = f"{param.name}_{name}_0"
            accumulators[name] = made
        return accumulators[name]

    def _get_accumulator(self, name: str, param: Any) -> Tensor:
        """One state of a parameter."""
        found = self._accumulators.get(name, {})
        if param.name not in found:
            raise value_error(type(self).__name__, f"there is no state {name!r} of {param.name}", f"{sorted(found)}")
        return found[param.name]

    _get_accumulator_master = _get_accumulator

    def _is_dtype_fp16_or_bf16(self, dtype: Any) -> bool:
        return to_numpy_dtype(dtype) in (FLOAT16, BFLOAT16)

    def _gen_master_weight_var_name(self, param: Any) -> str:
        return f"{param.name}_fp32_master_0"

    def _create_master_weight(self, param: Any) -> Any:
        """The copy in float32 that the optimiser steps; the parameter itself where it needs none."""
        master = self._state(param).master
        return param if master is None else master

    def sharded_state_dict(self, model_sharded_state_dict: Any = None) -> dict[str, Any]:
        """The state by full name: nothing is cut up in one process."""
        return self.state_dict()

    # ---- stepping ------------------------------------------------------------------------------

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """As `clear_grad`."""
        self.clear_grad(set_to_zero)

    def _update_param_group(self, parameters: Any) -> Any:
        """The parameters of a group; its options are looked up where they are needed."""
        return parameters.get("params") if isinstance(parameters, dict) else parameters

    def _create_param_lr(self, param_and_grad: Any) -> float:
        """The learning rate of one parameter."""
        attribute = getattr(param_and_grad[0], "optimize_attr", None)
        return self.get_lr() * (attribute["learning_rate"] if attribute else 1.0)

    def _append_optimize_op(self, block: Any, param_and_grad: Any) -> None:
        """Updates one parameter; within a step, together with the others."""
        collected = self.__dict__.get("_collected")
        if collected is None:
            parameter, grad = (param_and_grad["params"] if isinstance(param_and_grad, dict) else param_and_grad)[:2]
            self.apply_gradients([(parameter, grad)])
        else:
            parameter, grad = param_and_grad[:2]
            factor = parameter.optimize_attr["learning_rate"] if hasattr(parameter, "optimize_attr") else 1.0
            collected.append((parameter, grad, factor))

    def _collect(self, active: list[Any], grads: list[Tensor]) -> list[tuple[Any, Tensor, float]]:
        """What a subclass's `_append_optimize_op` leaves to be updated: parameters, gradients, factors of the rate."""
        collected = self.__dict__["_collected"] = []
        try:
            for pair in zip(active, grads, strict=True):
                self._append_optimize_op(None, pair)
        finally:
            del self.__dict__["_collected"]
        return collected

    def _apply_optimize(
        self, loss: Any, startup_program: Any, params_grads: Any, param_group_idx: int = 0
    ) -> list[Any]:
        """A step with the given gradients."""
        pairs = params_grads["params"] if isinstance(params_grads, dict) else params_grads
        return self.apply_gradients([(parameter, grad) for parameter, grad in pairs if grad is not None])

    def _create_optimization_pass(self, parameters_and_grads: Any, param_group_idx: int = 0) -> list[Any]:
        """As `_apply_optimize`."""
        return self._apply_optimize(None, None, parameters_and_grads)
