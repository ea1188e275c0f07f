"""`Strategy.amp`: the mixed precision of a DistModel's steps."""

from __future__ import annotations

import contextlib
from typing import Any

from ...amp import GradScaler, auto_cast, decorate
from ...core.errors import value_error
from ...eager.tensor import Tensor

_LEVELS = {"o1": "O1", "o2": "O2", "o3": "O2"}  # Paddle's o3 keeps what O2 keeps in float32 here as well


class MixedPrecision:
    """How operations are cast, how losses are scaled, how the optimiser steps; without `enable` nothing is changed."""

    def __init__(self, settings: Any, layer: Any, optimizer: Any) -> None:
        self._settings = settings
        self._scaler: Any = None
        if not settings.enable:
            return
        level = _LEVELS.get(str(settings.level).lower())
        if level is None:
            raise value_error("Strategy.amp", "level is o1, o2 or o3", repr(settings.level))
        if str(settings.dtype) not in ("float16", "bfloat16"):
            raise value_error("Strategy.amp", "dtype is float16 or bfloat16", repr(settings.dtype))
        self._level = level
        if level == "O2":
            inner = getattr(optimizer, "_inner_opt", optimizer)
            decorate(layer, inner, level, settings.dtype, master_grad=settings.use_master_grad)
        if settings.dtype == "float16" and optimizer is not None:
            self._scaler = GradScaler(
                init_loss_scaling=settings.init_loss_scaling, incr_ratio=settings.incr_ratio,
                decr_ratio=settings.decr_ratio, incr_every_n_steps=settings.incr_every_n_steps,
                decr_every_n_nan_or_inf=settings.decr_every_n_nan_or_inf,
                use_dynamic_loss_scaling=settings.use_dynamic_loss_scaling,
            )  # fmt: skip

    def casting(self) -> Any:
        """A `with` block for the model and its loss."""
        settings = self._settings
        if not settings.enable:
            return contextlib.nullcontext()
        return auto_cast(
            True, settings.custom_white_list or None, settings.custom_black_list or None, self._level, settings.dtype,
            settings.use_promote,
        )  # fmt: skip

    @property
    def scales(self) -> bool:
        """Whether losses are scaled; gradients are then looked at before a step."""
        return self._scaler is not None and self._scaler.is_enable()

    def scaled(self, loss: Any) -> Tensor:
        """What gradients are taken of."""
        return loss if self._scaler is None else self._scaler.scale(loss)

    def unscaled(self, loss: Any) -> Tensor:
        """A scaled loss as users know it; before the step, which may change the scale."""
        return loss * (1.0 / self._scaler._current) if self.scales else loss

    def step(self, optimizer: Any) -> None:
        if self._scaler is None:
            optimizer.step()
        else:
            self._scaler.step(optimizer)
            self._scaler.update()
