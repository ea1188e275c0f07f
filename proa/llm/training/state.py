"""What a training is at the end of a step, saved and found again.

Checkpoints are those of `paddle.distributed`: whole or not at all, checksummed, the last few kept. Names of optimiser states
are made of the parameters' paths in the model, not of the numbers that Paddle gives parameters in the order of their
making: a training may be continued in a process that has made other models before.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...core.generator import GeneratorState, default_generator
from ...distributed.checkpoint import load_state_dict, save_state_dict
from ...distributed.checkpoint.folder import finished
from ...ir.recorder import flush_current

_NUMBERED = re.compile(r"_\d+$")


def last_checkpoint(folder: str) -> int | None:
    """The step of the newest whole checkpoint in a folder."""
    return max(finished(folder), default=None)


class State:
    """The parts of a training that change."""

    def __init__(self, parameters: dict[str, Any], optimizer: Any, average: Any, about: dict[str, Any]) -> None:
        self._parameters, self._optimizer, self._average = parameters, optimizer, average
        self._about = about
        self._paths = {parameter.name: path for path, parameter in parameters.items()}
        # Loading fills tensors that are there, so every parameter has its states from the start on.
        for parameter in parameters.values():
            optimizer._state(parameter)
        flush_current()

    def save(self, folder: str, step: int, keep: int) -> None:
        save_state_dict(self._described(step), folder, unique_id=step, keep=keep)

    def _described(self, step: int) -> dict[str, Any]:
        random = default_generator.get_state()
        found = {
            "parameters": dict(self._parameters),
            "optimizer": self._optimizer_states(),
            "step": step,
            "random": [int(random.seed), int(random.offset)],
            "about": dict(self._about),
        }
        if self._average is not None:
            found["average"] = dict(self._average.shadows)
        return found

    def _optimizer_states(self) -> dict[str, Any]:
        """States by path: `layers.0.mlp.up.weight/moment1`."""
        found: dict[str, Any] = {}
        states = self._optimizer.state_dict()
        masters = states.pop("master_weights", {})
        states.pop("LR_Scheduler", None)
        for key, value in states.items():
            name, kind = self._split(key)
            found[f"{self._paths[name]}/{kind}"] = value
        for name, value in masters.items():
            found[f"{self._paths[name]}/master"] = value
        return found

    def _split(self, key: str) -> tuple[str, str]:
        """A key of Paddle's as the parameter's name and the kind of state."""
        name = max((name for name in self._paths if key.startswith(name + "_")), key=len)
        return name, _NUMBERED.sub("", key[len(name) + 1 :])

    def load(self, folder: str, step: int) -> int:
        """Takes over the checkpoint of a step."""
        wanted = self._described(0)
        load_state_dict(wanted, folder, unique_id=step)
        differing = [k for k, v in self._about.items() if wanted["about"].get(k) != v]
        if differing:
            key = differing[0]
            raise value_error(
                "proa train", f"the checkpoint in {folder!r} belongs to another training: {key} differs",
                f"{self._about[key]!r} now, {wanted['about'].get(key)!r} then",
                "choose another output folder, or set checkpoints.resume to false",
            )  # fmt: skip
        self._take(wanted)
        return int(wanted["step"])

    def _take(self, loaded: dict[str, Any]) -> None:
        names = {path: name for name, path in self._paths.items()}
        states: dict[str, Any] = {}
        masters: dict[str, Any] = {}
        for key, value in loaded["optimizer"].items():
            path, kind = key.rsplit("/", 1)
            if kind == "master":
                masters[names[path]] = value
            else:
                states[f"{names[path]}_{kind}_0"] = value
        if masters:
            states["master_weights"] = masters
        self._optimizer.set_state_dict(states)
        default_generator.set_state(GeneratorState(*(int(n) for n in np.ravel(loaded["random"]))))
