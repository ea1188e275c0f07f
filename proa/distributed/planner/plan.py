"""Plan: what was chosen, why, what came second; how it is written down, read again and applied."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import re
import tomllib
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...nn.layer import Layer
from ..fleet.recompute import recompute
from ..meshes.dtensor import lay_out_parameter, reshard
from ..meshes.mesh import ProcessMesh
from ..parallelizing.parallelize import parallelize
from ..parallelizing.plans import PlanBase, _map_tensors, placements_on
from ..parallelizing.strategy import Strategy
from .costs import Choice, Estimate

_AXES = ("pp", "dp", "mp")


class CutParameters(PlanBase):
    """Lays parameters of a layer out over the axis `mp`, each along the dimension that is named with it."""

    def __init__(self, cuts: dict[str, int]) -> None:
        self.cuts = cuts

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: list[str] | None = None) -> None:
        for name, dimension in self.cuts.items():
            parameter = getattr(layer, name)
            lay_out_parameter(parameter, process_mesh, placements_on(process_mesh, mp=dimension))


class CutSequence(PlanBase):
    """What enters and leaves a layer, `[batch, sequence, …]`, is cut along the sequence over the axis `mp`."""

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: list[str] | None = None) -> None:
        def cut(x: Any) -> Any:
            return reshard(x, process_mesh, placements_on(process_mesh, dp=0, mp=1)) if x.ndim == 3 else x

        layer.register_forward_pre_hook(lambda _layer, inputs: _map_tensors(cut, inputs))
        layer.register_forward_post_hook(lambda _layer, _inputs, outputs: _map_tensors(cut, outputs))


@dataclass
class Plan:
    """How a model is trained on many devices.

    `choice` is what is done, `cuts` which parameters tensor parallelism cuts (by names, a star for the number of a layer),
    `layers` the list of equal layers that pipelines, recomputation and sequences go by. `estimates` are what was compared,
    best first; a plan that was read from a file has none.
    """

    device: str
    memory: float
    batch: int
    choice: Choice
    cuts: dict[str, int] = field(default_factory=dict)
    layers: str = ""
    estimates: list[Estimate] = field(default_factory=list)
    fitting: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Expected seconds of a step."""
        return self._best().total_seconds

    @property
    def device_memory(self) -> float:
        """Expected bytes on each device."""
        return self._best().total_memory

    def _best(self) -> Estimate:
        if not self.estimates:
            raise value_error("Plan", "a plan that was read from a file has no estimates", "none", "make it anew")
        return self.estimates[0]

    def mesh(self) -> ProcessMesh:
        """The mesh of the plan: stages of a pipeline outermost, devices that share layers side by side."""
        shape = (self.choice.pipeline, self.choice.data, self.choice.model)
        kept = [(size, name) for size, name in zip(shape, _AXES, strict=True) if size > 1 or name == "dp"]
        numbers = np.arange(self.choice.devices).reshape([size for size, _ in kept])
        return ProcessMesh(numbers, [name for _, name in kept])

    def strategy(self) -> Strategy:
        """For `dist.to_static`: micro-batches as the plan has them."""
        count = self.choice.micro_batches
        return Strategy({"pipeline": {"enable": count > 1, "accumulate_steps": count}})

    def apply(self, model: Layer, optimizer: Any = None) -> tuple[Layer, Any]:
        """Model and optimiser on the plan's mesh, as `dist.parallelize` gives them. The model stays the same object."""
        if not isinstance(model, Layer):
            raise type_error("Plan.apply", "model must be a Layer", type(model).__name__)
        if self.choice.devices == 1:
            return model, optimizer
        plans: dict[str, list[PlanBase]] = {}
        for layer, cuts in self._cuts_by_layer(model).items():
            plans.setdefault(layer, []).append(CutParameters(cuts))
        units = rf"{re.escape(self.layers)}\.\d+"
        if self.choice.sequence:
            plans.setdefault(units, []).append(CutSequence())
        config: dict[str, Any] = {"dp_config": {"sharding_level": self.choice.stage if self.choice.data > 1 else 0}}
        if plans:
            config["mp_config"] = {"parallelize_plan": plans}
        if self.choice.pipeline > 1:
            config["pp_config"] = {"split_spec": self.layers}
        if self.choice.recompute:
            for name, layer in model.named_sublayers():
                if re.fullmatch(units, name):
                    layer.forward = functools.partial(recompute, layer.forward)
        return parallelize(model, optimizer, self.mesh(), config)

    def _cuts_by_layer(self, model: Layer) -> dict[str, dict[str, int]]:
        """The parameters to cut by the layers that own them; a name that fits none is an error."""
        if self.choice.model == 1:
            return {}
        names = [name for name, _ in model.named_parameters()]
        found: dict[str, dict[str, int]] = {}
        for pattern, dimension in self.cuts.items():
            expression = re.escape(pattern).replace(r"\*", r"[^.]+")
            matches = [name for name in names if re.fullmatch(expression, name)]
            if not matches:
                raise value_error("Plan.apply", f"no parameter is called {pattern!r}", f"a model of {names[:6]} …")
            for name in matches:
                layer, _, own = name.rpartition(".")
                found.setdefault(re.escape(layer), {})[own] = dimension
        return found

    # ---- files -----------------------------------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Writes the plan as a TOML file that a person can read and change."""
        lines = ["# How a model is trained on many devices; `dist.load_plan(path).apply(model, optimizer)` does it."]
        if self.estimates:
            lines.append(f"# Expected: {self.seconds:.4g} s a step, {self.device_memory / 1e9:.4g} GB on each device.")
        lines += [f"device = {json.dumps(self.device)}", f"memory = {self.memory:.0f}", f"batch = {self.batch}"]
        lines += [f"layers = {json.dumps(self.layers)}", "", "[choice]"]
        lines += [f"{name} = {json.dumps(value)}" for name, value in asdict(self.choice).items()]
        lines += ["", "# Parameters that are cut over the axis `mp`, and the dimension that is cut.", "[cuts]"]
        lines += [f"{json.dumps(name)} = {dimension}" for name, dimension in self.cuts.items()]
        pathlib.Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Any) -> Plan:
        """A plan from such a file."""
        content = tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        missing = [key for key in ("device", "memory", "batch", "choice") if key not in content]
        known = {one.name for one in fields(Choice)}
        unknown = sorted(set(content.get("choice", {})) - known)
        if missing or unknown:
            raise value_error(
                "load_plan", f"a plan has device, memory, batch, and a choice of {sorted(known)}",
                f"{path}: missing {missing}, unknown {unknown}",
            )  # fmt: skip
        return cls(
            content["device"], float(content["memory"]), content["batch"], Choice(**content["choice"]),
            content.get("cuts", {}), content.get("layers", ""),
        )  # fmt: skip

    # ---- words and pictures ----------------------------------------------------------------------------------------

    def table(self, count: int = 8) -> str:
        """The best plans side by side, what each is expected to take, and why the first is the first."""
        from .showing import table

        return table(self, count)

    def picture(self, path: Any, count: int = 8) -> None:
        """Draws the best plans: where the time of a step and the memory of a device go."""
        from .showing import picture

        picture(self, path, count)

    def __str__(self) -> str:
        return self.table()


def load_plan(path: str | os.PathLike[str]) -> Plan:
    r"""The plan in a file that `Plan.save` wrote, perhaps changed by hand.

    Examples:
        >>> lines = ['device = "H100"', "memory = 80e9", "batch = 32", "[choice]"]
        >>> with open("plan.toml", "w") as file:
        ...     print("\n".join(lines), file=file)
        >>> paddle.distributed.load_plan("plan.toml").batch
        32
    """
    return Plan.load(path)
