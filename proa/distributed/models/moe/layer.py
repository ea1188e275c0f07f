"""MoELayer: tokens go to the experts that a gate chooses, which may be in other processes, and come back."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.errors import type_error, value_error
from ....eager.tensor import Tensor, tensor_from_data
from ....nn.container import LayerList
from ....nn.layer import Layer
from ....ops.index.gather import gather
from ....ops.shape.joining import concat, split
from ...fleet.layers.mpu.sequence_ops import GatherOp, ScatterOp
from ...fleet.recompute import recompute
from ...group import Group
from ...transport.operations import sum_forward
from .gates import BaseGate, GShardGate, NaiveGate, SwitchGate
from .routing import Route, count_tokens, swap_counts

_GATES = {"naive": NaiveGate, "gshard": GShardGate, "switch": SwitchGate}


class MoELayer(Layer):
    """`experts` (a list of layers from `d_model` to `d_model`) are those of this process; each process of `moe_group` has
    as many others. `gate` is a gate, or {"type": "naive" | "gshard" | "switch", "top_k": number}.

    With an `mp_group`, whose processes have the same tokens, each of them sends an equal part.
    """

    def __init__(
        self, d_model: int, experts: Any, gate: Any = None, moe_group: Group | None = None, mp_group: Group | None = None,
        recompute_interval: int = 0, recompute_ctx: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if not isinstance(experts, LayerList):
            raise type_error("MoELayer", "experts must be a LayerList", type(experts).__name__)
        self.d_model, self.experts, self.num_expert = d_model, experts, len(experts)
        self.group = moe_group if moe_group is not None and moe_group.nranks > 1 else None
        self.mp_group = mp_group if mp_group is not None and mp_group.nranks > 1 else None
        self.world_size = 1 if self.group is None else self.group.nranks
        self.recompute_interval, self.recompute_ctx = recompute_interval, recompute_ctx
        self.gate = self._made_gate(gate)
        self.top_k = self.gate.top_k
        if self.group is not None:
            parameter: Any
            for parameter in self.experts.parameters():
                # Nobody else has it: it is not averaged, and its norm counts here.
                parameter.no_sync = parameter.expert = parameter.is_distributed = True
                parameter.expert_group = self.group
        if self.mp_group is not None:
            ranks = tuple(self.mp_group.ranks)
            for parameter in self.gate.parameters():
                parameter.register_hook(lambda gradient: sum_forward(gradient, ranks))

    def _made_gate(self, gate: Any) -> BaseGate:
        if isinstance(gate, BaseGate):
            return gate
        settings = dict(gate or {})
        kind = settings.get("type", "gshard")
        if kind not in (*_GATES, None):
            raise value_error("MoELayer", f"the type of a gate must be one of {list(_GATES)}", repr(kind))
        more = {} if kind in ("naive", None) else {"group": self.group}
        choices = int(settings.get("top_k", 1 if kind == "switch" else 2))
        return _GATES[kind or "naive"](self.d_model, self.num_expert, self.world_size, topk=choices, **more)

    def forward(self, inp: Tensor) -> Tensor:
        shape = inp.shape
        tokens = inp.reshape([-1, shape[-1]])
        if self.mp_group is not None:
            tokens = ScatterOp.apply(tokens, group=self.mp_group)
        weights, experts = self.gate(tokens)
        mixed = self._mixed(tokens, weights, experts.numpy())
        if self.mp_group is not None:
            mixed = GatherOp.apply(mixed, group=self.mp_group)
        return mixed.reshape(shape)

    def _mixed(self, tokens: Tensor, weights: Tensor, experts: np.ndarray) -> Tensor:
        """For each token the sum of what its experts make of it, weighted."""
        flat = experts.ravel()
        local = count_tokens(flat, self.num_expert * self.world_size)
        route = Route(local, swap_counts(local, self.group), self.group)
        order = np.argsort(flat, kind="stable")[flat.size - int(local.sum()) :]  # those that go nowhere come first
        rows = gather(tokens, tensor_from_data(order // experts.shape[1]))
        back = route.return_(self._expert_outputs(route.go(rows), route))
        # Entries that went nowhere count nothing: they point at a row of zeros behind the others.
        back = concat([back, (tokens[:1] * 0.0).astype(back.dtype)])
        places = np.full(flat.size, order.size)
        places[order] = np.arange(order.size)
        parts = gather(back, tensor_from_data(places)).reshape([*experts.shape, -1])
        return (parts * weights.astype(parts.dtype).unsqueeze(-1)).sum(axis=1)

    def _expert_outputs(self, rows: Tensor, route: Route) -> Tensor:
        sizes = [int(size) for size in route.arriving.sum(0)]
        parts = split(rows, sizes) if len(sizes) > 1 else [rows]
        outputs = [
            recompute(expert, part) if self.recompute_interval and self.training else expert(part)
            for expert, part in zip(self.experts, parts, strict=True)
        ]
        return concat(outputs) if len(outputs) > 1 else outputs[0]
