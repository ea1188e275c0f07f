"""Mixed precision in `Model.prepare(amp_configs=…)`: what may be said, and how a step follows it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from .. import amp
from ..core.errors import type_error, value_error

_CASTING = ("custom_white_list", "custom_black_list", "custom_black_varnames", "dtype")
_SCALING = (
    "init_loss_scaling", "incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf",
    "use_dynamic_loss_scaling",
)  # fmt: skip
_LEVELS = ("O0", "O1", "O2")


class Precision:
    """How forward passes cast and losses are scaled; nothing at all at level O0."""

    def __init__(self, configs: Any) -> None:
        settings: Any = {"level": configs} if isinstance(configs, str) else {} if configs is None else configs
        if not isinstance(settings, dict):
            raise type_error("Model.prepare", "amp_configs must be a level or a dictionary", type(configs).__name__)
        self.level = settings.get("level", "O1" if settings else "O0")
        if self.level not in _LEVELS:
            raise value_error("Model.prepare", "the level of amp_configs must be 'O0', 'O1' or 'O2'", repr(self.level))
        unknown = sorted(set(settings) - {"level", *_CASTING, *_SCALING})
        if unknown:
            raise value_error(
                "Model.prepare", f"amp_configs has no option {unknown}", "",
                f"use 'level' and {', '.join(map(repr, (*_CASTING, *_SCALING)))}",
            )  # fmt: skip
        self._casting: dict[str, Any] = {name: settings[name] for name in _CASTING if name in settings}
        # Names of single variables exist in static graphs alone.
        self._casting.pop("custom_black_varnames", None)
        self._scaling: dict[str, Any] = {name: settings[name] for name in _SCALING if name in settings}
        self._scaler: Any = None

    @property
    def is_plain(self) -> bool:
        return self.level == "O0"

    def decorate(self, network: Any, optimizer: Any) -> None:
        """Half-precision parameters for O2, and the scaler of losses."""
        if self.is_plain:
            return
        kind: dict[str, Any] = {"dtype": self._casting["dtype"]} if "dtype" in self._casting else {}
        if self.level == "O2":
            if optimizer is None:
                amp.decorate(models=network, level="O2", **kind)
            else:
                amp.decorate(models=network, optimizers=optimizer, level="O2", **kind)
        if "bfloat16" not in str(kind.get("dtype")):
            self._scaler = amp.GradScaler(**self._scaling)  # bfloat16 has the range of float32

    def context(self) -> AbstractContextManager[Any]:
        if self.is_plain:
            return nullcontext()
        return amp.auto_cast(enable=True, level=self.level, **self._casting)

    def backward(self, loss: Any) -> None:
        (loss if self._scaler is None else self._scaler.scale(loss)).backward()

    def step(self, optimizer: Any) -> None:
        if self._scaler is None:
            optimizer.step()
        else:
            self._scaler.step(optimizer)
            self._scaler.update()
        optimizer.clear_grad()
