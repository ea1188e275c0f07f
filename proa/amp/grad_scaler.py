"""Loss scaling: `GradScaler` and its base `AmpScaler`.

A float16 gradient below 6e-8 is zero. So the loss is multiplied by a large number before backward, the gradients are
divided by it before the update, and an update whose gradients have overflowed is left out. All gradients are divided
and tested by one operation; one flag is read for each step. The scale is a dynamic scalar: changing it recompiles nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.aval import Aval, make_aval
from ..core.dtype import BOOL, FLOAT32
from ..core.errors import message, runtime_error, type_error, value_error
from ..eager.declare import op
from ..eager.dispatch import record
from ..eager.tensor import Tensor, tensor_from_data
from ..eager.views import replace_value
from ..ir.padding import rules
from ..ir.recorder import recording_gradients
from .casting import AmpState

if TYPE_CHECKING:
    from ..optimizer.optimizer import Optimizer

_LARGEST = float(np.finfo(np.float32).max)
_FRESH, _UNSCALED, _STEPPED = "fresh", "unscaled", "stepped"


def _infer_unscaled(operation: Any, operands: Any, attributes: Any, place: Any) -> tuple[Aval, ...]:
    grads = tuple(kind for kind in operands if isinstance(kind, Aval))
    return (*grads, make_aval((), BOOL, place))


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=_infer_unscaled,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def unscale_gradients(xp: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Each gradient times the first operand, and whether any of them has NaN or infinite elements."""
    factor, *grads = arrays
    found = []
    unscaled = []
    for grad in grads:
        found.append(xp.logical_not(xp.all(xp.isfinite(grad))))
        wide = grad.astype(np.float32) if grad.dtype.itemsize <= 2 else grad
        unscaled.append((wide * factor.astype(wide.dtype)).astype(grad.dtype))
    return (*unscaled, xp.any(xp.stack(found)))


class AmpScaler:
    """Scales losses, takes the scale out of gradients, and adapts it to what overflows; `GradScaler` with other defaults.

    Args:
        enable: False scales nothing.
        init_loss_scaling: the first scale.
        incr_ratio: by how much it grows.
        decr_ratio: by how much it shrinks.
        incr_every_n_steps: after how many good steps in a row it grows.
        decr_every_n_nan_or_inf: after how many overflows in a row it shrinks.
        use_dynamic_loss_scaling: False keeps the first scale.

    Raises:
        ValueError: a number is out of its range.

    Examples:
        >>> scaler = paddle.amp.AmpScaler(init_loss_scaling=8.0, use_dynamic_loss_scaling=False)
        >>> scaler.scale(paddle.to_tensor(0.5)).item()
        4.0
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 2.0**15,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 1000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        self._enable = bool(enable)
        self._use_dynamic_loss_scaling = bool(use_dynamic_loss_scaling) and self._enable
        self._incr_count = 0
        self._decr_count = 0
        self.set_init_loss_scaling(init_loss_scaling)
        self.set_incr_ratio(incr_ratio)
        self.set_decr_ratio(decr_ratio)
        self.set_incr_every_n_steps(incr_every_n_steps)
        self.set_decr_every_n_nan_or_inf(decr_every_n_nan_or_inf)
        # By optimiser: how far its step has come, and whether its gradients had overflowed.
        self._optimizer_states: dict[int, tuple[str, bool]] = {}

    @property
    def _scale(self) -> Tensor:
        return tensor_from_data(np.array([self._current], FLOAT32))

    # ---- a step ----------------------------------------------------------------------------------

    def scale(self, var: Tensor) -> Tensor:
        """The loss times the scale.

        A scale that adapts itself is for float16 only: in mixed precision of another type the scaler is switched off, with a
        warning.

        Args:
            var: the loss.

        Raises:
            TypeError: it is no tensor.

        Examples:
            >>> scaler = paddle.amp.GradScaler(init_loss_scaling=4.0, use_dynamic_loss_scaling=False)
            >>> scaler.scale(paddle.to_tensor(2.0)).item()
            8.0
        """
        if not isinstance(var, Tensor):
            raise type_error("GradScaler.scale", "the loss must be a Tensor", type(var).__name__)
        if self._enable and self._use_dynamic_loss_scaling and AmpState.last_dtype != "float16":
            self._enable = self._use_dynamic_loss_scaling = False
            warnings.warn(
                f"(GradScaler) losses need scaling in float16 only, and mixed precision is in {AmpState.last_dtype}; "
                "the scaler is switched off.",
                stacklevel=2,
            )
        if not self._enable:
            return var
        wide: Any = var
        if var._aval.dtype.itemsize <= 2:
            wide = var.astype("float32")  # 65536 is no float16
        return wide * self._current

    def unscale_(self, optimizer: Optimizer) -> None:
        """Takes the scale out of the gradients of an optimiser's parameters: before clipping them, for example.

        Args:
            optimizer: the optimiser.

        Raises:
            RuntimeError: it was done already in this step.

        Examples:
            >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
            >>> optimizer = paddle.optimizer.SGD(0.5, parameters=[weight])
            >>> scaler = paddle.amp.GradScaler(init_loss_scaling=4.0, use_dynamic_loss_scaling=False)
            >>> scaler.scale((weight ** 2).sum()).backward()
            >>> scaled = weight.grad.tolist()
            >>> scaler.unscale_(optimizer)
            >>> scaled, weight.grad.tolist()
            ([8.0], [2.0])
        """
        if not self._enable:
            return
        state, _ = self._state(optimizer)
        if state is _UNSCALED:
            raise runtime_error(
                "GradScaler.unscale_", "the gradients of this optimizer are unscaled already",
                fix="call update() at the end of each step",
            )  # fmt: skip
        if state is _STEPPED:
            raise runtime_error("GradScaler.unscale_", "step() was called already", fix="call unscale_() before step()")
        self._optimizer_states[id(optimizer)] = (_UNSCALED, self._unscale(optimizer))

    def _unscale(self, optimizer: Any) -> bool:
        """Divides the gradients; gives whether any has overflowed, which is the one value that is read."""
        parameters = getattr(optimizer, "_members", None) or getattr(optimizer, "_parameter_list", None)
        if parameters is None:
            raise type_error("GradScaler", "an optimizer is needed", type(optimizer).__name__)
        by_place: dict[Any, list[Tensor]] = {}
        for parameter in parameters:
            grad = parameter._grad
            if grad is not None and not parameter.stop_gradient:
                by_place.setdefault(grad._aval.place, []).append(grad)
        flags = []
        with recording_gradients(False):
            for grads in by_place.values():
                *unscaled, found = record(_UNSCALE, [1.0 / self._current, *grads], ())
                for grad, value in zip(grads, unscaled, strict=True):
                    replace_value(grad, value)
                flags.append(found)
        return any(bool(flag) for flag in flags)

    def step(self, optimizer: Optimizer) -> None:
        """The optimiser's step, unless gradients have overflowed.

        Args:
            optimizer: the optimiser.

        Raises:
            RuntimeError: it was called already since the last `update()`.

        Examples:
            >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
            >>> optimizer = paddle.optimizer.SGD(0.5, parameters=[weight])
            >>> scaler = paddle.amp.GradScaler(init_loss_scaling=4.0, use_dynamic_loss_scaling=False)
            >>> scaler.scale((weight * float("inf")).sum()).backward()
            >>> scaler.step(optimizer)
            >>> weight.tolist()
            [1.0]
        """
        if not self._enable:
            optimizer.step()
            return
        if self._state(optimizer)[0] is _STEPPED:
            raise runtime_error(
                "GradScaler.step", "step() was called already since the last update()",
                fix="call update() at the end of each step",
            )  # fmt: skip
        if self._state(optimizer)[0] is _FRESH:
            self.unscale_(optimizer)
        overflowed = self._state(optimizer)[1]
        if not overflowed:
            optimizer.step()
        self._optimizer_states[id(optimizer)] = (_STEPPED, overflowed)

    def minimize(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """`step(optimizer)` and `update()`, after `backward()` of the scaled loss.

        Args:
            optimizer: the optimiser.
            args: what its `minimize` takes.
            kwargs: the same by name.

        Returns:
            What the optimiser's `minimize` gives; (None, None) where gradients have overflowed.

        Examples:
            >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
            >>> optimizer = paddle.optimizer.SGD(0.25, parameters=[weight])
            >>> scaler = paddle.amp.GradScaler(init_loss_scaling=4.0, use_dynamic_loss_scaling=False)
            >>> loss = scaler.scale((weight ** 2).sum())
            >>> loss.backward()
            >>> _ = scaler.minimize(optimizer, loss)
            >>> weight.tolist()
            [0.5]
        """
        if not self._enable:
            return optimizer.minimize(*args, **kwargs)
        if self._state(optimizer)[0] is _FRESH:
            self.unscale_(optimizer)
        overflowed = self._state(optimizer)[1]
        result = (None, None) if overflowed else optimizer.minimize(*args, **kwargs)
        self._optimizer_states[id(optimizer)] = (_STEPPED, overflowed)
        self.update()
        return result

    def update(self) -> None:
        """The end of a step: adapts the scale to whether gradients have overflowed.

        Examples:
            >>> scaler = paddle.amp.GradScaler(init_loss_scaling=4.0, incr_every_n_steps=1)
            >>> scaler.update()
            >>> scaler.state_dict()["scale"].tolist()
            [8.0]
        """
        if not self._enable:
            return
        if self._use_dynamic_loss_scaling:
            self._update()
        self._optimizer_states.clear()

    def _update(self) -> None:
        if any(overflowed for _, overflowed in self._optimizer_states.values()):
            self._incr_count = 0
            self._decr_count += 1
            if self._decr_count == self._decr_every_n_nan_or_inf:
                self._current = max(self._current * self._decr_ratio, 1.0)
                self._decr_count = 0
        else:
            self._decr_count = 0
            self._incr_count += 1
            if self._incr_count == self._incr_every_n_steps:
                grown = self._current * self._incr_ratio
                if grown <= _LARGEST:
                    self._current = grown
                self._incr_count = 0

    def _state(self, optimizer: Any) -> tuple[str, bool]:
        return self._optimizer_states.get(id(optimizer), (_FRESH, False))

    # ---- settings --------------------------------------------------------------------------------

    def is_enable(self) -> bool:
        """Whether losses are scaled at all.

        Examples:
            >>> paddle.amp.GradScaler(enable=False).is_enable()
            False
        """
        return self._enable

    def is_use_dynamic_loss_scaling(self) -> bool:
        """Whether the scale adapts itself.

        Examples:
            >>> paddle.amp.GradScaler().is_use_dynamic_loss_scaling()
            True
        """
        return self._use_dynamic_loss_scaling

    def get_init_loss_scaling(self) -> float:
        """The first scale.

        Examples:
            >>> paddle.amp.GradScaler(init_loss_scaling=8.0).get_init_loss_scaling()
            8.0
        """
        return self._init_loss_scaling

    def set_init_loss_scaling(self, new_init_loss_scaling: float) -> None:
        """Sets the first scale, and the present one.

        Args:
            new_init_loss_scaling: the scale.

        Raises:
            ValueError: it is not positive.

        Examples:
            >>> scaler = paddle.amp.GradScaler()
            >>> scaler.set_init_loss_scaling(16.0)
            >>> scaler.get_init_loss_scaling()
            16.0
        """
        if not float(new_init_loss_scaling) > 0:
            raise value_error("GradScaler", "the loss scale must be positive", f"{new_init_loss_scaling}")
        self._init_loss_scaling = new_init_loss_scaling
        self._current = float(new_init_loss_scaling)

    def get_incr_ratio(self) -> float:
        """By how much the scale grows.

        Examples:
            >>> paddle.amp.GradScaler().get_incr_ratio()
            2.0
        """
        return self._incr_ratio

    def set_incr_ratio(self, new_incr_ratio: float) -> None:
        """Sets by how much the scale grows.

        Args:
            new_incr_ratio: the factor.

        Raises:
            ValueError: it is not above 1.

        Examples:
            >>> scaler = paddle.amp.GradScaler()
            >>> scaler.set_incr_ratio(3.0)
            >>> scaler.get_incr_ratio()
            3.0
        """
        if not new_incr_ratio > 1.0:
            raise value_error("GradScaler", "incr_ratio must be greater than 1", f"{new_incr_ratio}")
        self._incr_ratio = new_incr_ratio

    def get_decr_ratio(self) -> float:
        """By how much the scale shrinks.

        Examples:
            >>> paddle.amp.GradScaler().get_decr_ratio()
            0.5
        """
        return self._decr_ratio

    def set_decr_ratio(self, new_decr_ratio: float) -> None:
        """Sets by how much the scale shrinks.

        Args:
            new_decr_ratio: the factor.

        Raises:
            ValueError: it is not between 0 and 1.

        Examples:
            >>> scaler = paddle.amp.GradScaler()
            >>> scaler.set_decr_ratio(0.25)
            >>> scaler.get_decr_ratio()
            0.25
        """
        if not 0.0 < new_decr_ratio < 1.0:
            raise value_error("GradScaler", "decr_ratio must be between 0 and 1", f"{new_decr_ratio}")
        self._decr_ratio = new_decr_ratio

    def get_incr_every_n_steps(self) -> int:
        """After how many good steps in a row the scale grows.

        Examples:
            >>> paddle.amp.GradScaler().get_incr_every_n_steps()
            2000
        """
        return self._incr_every_n_steps

    def set_incr_every_n_steps(self, new_incr_every_n_steps: int) -> None:
        """Sets after how many good steps in a row the scale grows.

        Args:
            new_incr_every_n_steps: the number of steps.

        Examples:
            >>> scaler = paddle.amp.GradScaler()
            >>> scaler.set_incr_every_n_steps(500)
            >>> scaler.get_incr_every_n_steps()
            500
        """
        self._incr_every_n_steps = new_incr_every_n_steps

    def get_decr_every_n_nan_or_inf(self) -> int:
        """After how many overflows in a row the scale shrinks.

        Examples:
            >>> paddle.amp.GradScaler().get_decr_every_n_nan_or_inf()
            1
        """
        return self._decr_every_n_nan_or_inf

    def set_decr_every_n_nan_or_inf(self, new_decr_every_n_nan_or_inf: int) -> None:
        """Sets after how many overflows in a row the scale shrinks.

        Args:
            new_decr_every_n_nan_or_inf: the number of overflows.

        Examples:
            >>> scaler = paddle.amp.GradScaler()
            >>> scaler.set_decr_every_n_nan_or_inf(2)
            >>> scaler.get_decr_every_n_nan_or_inf()
            2
        """
        self._decr_every_n_nan_or_inf = new_decr_every_n_nan_or_inf

    # ---- saving ----------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on from here; empty for a scaler that is switched off.

        Examples:
            >>> sorted(paddle.amp.GradScaler().state_dict())[:3]
            ['decr_count', 'decr_every_n_nan_or_inf', 'decr_ratio']
        """
        if not self._enable:
            return {}
        return {
            "scale": np.array([self._current], FLOAT32),
            "incr_ratio": self._incr_ratio,
            "decr_ratio": self._decr_ratio,
            "incr_every_n_steps": self._incr_every_n_steps,
            "decr_every_n_nan_or_inf": self._decr_every_n_nan_or_inf,
            "incr_count": self._incr_count,
            "decr_count": self._decr_count,
            "use_dynamic_loss_scaling": self._use_dynamic_loss_scaling,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from what `state_dict()` gave.

        Args:
            state_dict: the dictionary.

        Raises:
            RuntimeError: it is empty.
            KeyError: something is missing.

        Examples:
            >>> scaler = paddle.amp.GradScaler()
            >>> scaler.load_state_dict(paddle.amp.GradScaler(init_loss_scaling=2.0).state_dict())
            >>> scaler.state_dict()["scale"].tolist()
            [2.0]
        """
        if not self._enable:
            return
        if not state_dict:
            raise runtime_error(
                "GradScaler.load_state_dict", "the state dictionary is empty: it is of a scaler that was switched off"
            )
        missing = [key for key in self.state_dict() if key not in state_dict]
        if missing:
            raise KeyError(message("GradScaler.load_state_dict", f"the state dictionary has no {', '.join(missing)}"))
        scale = state_dict["scale"]
        self.set_init_loss_scaling(float(np.asarray(scale.numpy() if isinstance(scale, Tensor) else scale).reshape(())))
        self.set_incr_ratio(state_dict["incr_ratio"])
        self.set_decr_ratio(state_dict["decr_ratio"])
        self.set_incr_every_n_steps(state_dict["incr_every_n_steps"])
        self.set_decr_every_n_nan_or_inf(state_dict["decr_every_n_nan_or_inf"])
        self._incr_count = int(state_dict["incr_count"])
        self._decr_count = int(state_dict["decr_count"])
        self._use_dynamic_loss_scaling = bool(state_dict["use_dynamic_loss_scaling"])


_UNSCALE = unscale_gradients.operation


class GradScaler(AmpScaler):
    """Loss scaling for float16: small gradients are kept from becoming zero, and steps that overflow are left out.

    The loss is multiplied by the scale before `backward()`, the gradients are divided by it before the update.

    Args:
        enable: False scales nothing.
        init_loss_scaling: the first scale.
        incr_ratio: by how much it grows.
        decr_ratio: by how much it shrinks.
        incr_every_n_steps: after how many good steps in a row it grows.
        decr_every_n_nan_or_inf: after how many overflows in a row it shrinks.
        use_dynamic_loss_scaling: False keeps the first scale.

    Raises:
        ValueError: a number is out of its range.

    Examples:
        >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = paddle.optimizer.SGD(0.25, parameters=[weight])
        >>> scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0, use_dynamic_loss_scaling=False)
        >>> scaler.scale((weight ** 2).sum()).backward()
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> weight.tolist()
        [0.5]
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 2.0**16,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 2000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        super().__init__(
            enable, init_loss_scaling, incr_ratio, decr_ratio, incr_every_n_steps, decr_every_n_nan_or_inf,
            use_dynamic_loss_scaling,
        )  # fmt: skip
