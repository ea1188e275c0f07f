"""Inner names of `paddle.amp.auto_cast`."""

from __future__ import annotations

from typing import Any

from ....amp.casting import current


class AMPGlobalState:
    """Counts the found infinities of a run; kept for programs that read it."""

    def __init__(self) -> None:
        self.model_parameters: list[Any] = []
        self.use_master_grad = False
        self.already_register_final_backward_hook = False
        self.already_classify_params_meshes = False
        self.mesh2params: dict[Any, Any] = {}
        self.amp_dtype = "float32"


_state = AMPGlobalState()


def amp_global_state() -> AMPGlobalState:
    return _state


def amp_state() -> dict[str, Any] | None:
    """The settings of the autocast block that the code is in; None outside."""
    found = current()
    if found is None:
        return None
    return {"level": found.level, "dtype": found.dtype, "enable": True, "custom_white_list": set(found.white)}
