"""Pretrained weights: files in a local folder, under the names Paddle gives them.

Nothing is downloaded. The folder is `PROA_WEIGHTS` if that is set, else Paddle's own cache
(`~/.cache/paddle/hapi/weights`), so weights that Paddle fetched once are found.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ...core.errors import message, value_error
from ...framework.io import load
from ...nn import Layer

VARIABLE = "PROA_WEIGHTS"
CACHE = "~/.cache/paddle/hapi/weights"


def weights_folder() -> Path:
    return Path(os.environ.get(VARIABLE) or CACHE).expanduser()


def build(create: Any, name: str, pretrained: bool, file: str | None, **options: Any) -> Any:
    """The model, with its pretrained weights if they are wanted. `file` None: Paddle publishes no weights for it."""
    if pretrained and file is None:
        raise value_error(
            name, "there are no pretrained weights for this model", f"pretrained: {pretrained}", "leave pretrained out"
        )
    path = _existing(name, file) if pretrained and file else None
    model = create(**options)
    if path is not None:
        fill(name, model, path)
    return model


def _existing(name: str, file: str) -> Path:
    path = weights_folder() / file
    if not path.is_file():
        raise FileNotFoundError(
            message(
                name,
                f"the pretrained weights {file} are not there; nothing is downloaded",
                f"pretrained: True, folder: {path.parent}",
                f"put Paddle's file {file} into that folder, or set {VARIABLE} to the folder that holds it",
            )
        )
    return path


def fill(name: str, model: Layer, path: Path) -> None:
    """Sets the model's parameters from a file; a file that does not fit the model changes nothing."""
    state = load(str(path))
    if not isinstance(state, dict):
        raise value_error(name, f"{path} holds no parameters by name", type(state).__name__)
    own = model.state_dict()
    missing = [key for key in own if key not in state]
    unfit = [key for key in own if key in state and list(state[key].shape) != list(own[key].shape)]
    if missing or unfit:
        listed = ", ".join((missing + unfit)[:4])
        raise value_error(
            name,
            f"{path} does not fit this model: {len(missing)} parameter(s) are missing and {len(unfit)} have another shape "
            f"({listed} ...)",
            fix="make the model with the number of classes and the scale the weights were trained with",
        )
    model.set_state_dict(state)
