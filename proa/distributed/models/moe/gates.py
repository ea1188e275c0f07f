"""Gates: which experts each token goes to, and with which weight. -1 means that it goes nowhere."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....eager.tensor import Tensor, tensor_from_data
from ....nn import functional as F
from ....nn.common import Linear
from ....nn.layer import Layer
from ....ops.create.random import rand
from ....ops.index.search import topk
from ...group import Group
from .routing import count_tokens, limit_by_capacity


class BaseGate(Layer):
    """Base: knows how many experts there are (`tot_expert`), and keeps the loss that balances them."""

    def __init__(self, num_expert: int, world_size: int) -> None:
        super().__init__()
        self.num_expert, self.world_size = num_expert, world_size
        self.tot_expert = num_expert * world_size
        self.loss: Any = None

    def set_loss(self, loss: Any) -> None:
        self.loss = loss

    def get_loss(self, clear: bool = True) -> Any:
        """The balancing loss of the last call, which the program adds to its own."""
        loss = self.loss
        if clear:
            self.loss = None
        return loss

    @property
    def has_loss(self) -> bool:
        return self.loss is not None


class NaiveGate(BaseGate):
    """The `topk` experts with the highest scores, with their scores as weights."""

    def __init__(self, d_model: int, num_expert: int, world_size: int, topk: int = 2) -> None:
        super().__init__(num_expert, world_size)
        self.gate = Linear(d_model, self.tot_expert)
        self.top_k = topk

    def forward(self, inp: Tensor, return_all_scores: bool = False) -> tuple[Tensor, ...]:
        scores = self.gate(inp)
        values, experts = topk(scores, self.top_k, axis=-1)
        return (values, experts, scores) if return_all_scores else (values, experts)


class _LimitedGate(NaiveGate):
    """Experts take a limited number of tokens: a share of those of this process, while training and otherwise."""

    capacity: tuple[float, float]
    group: Group | None

    def _limited(self, experts: Tensor) -> np.ndarray:
        share = self.capacity[0 if self.training else 1]
        capacity = math.ceil(share * experts.shape[0])
        return limit_by_capacity(experts.numpy(), self.num_expert, self.world_size, capacity, self.group)


class GShardGate(_LimitedGate):
    """Two experts; the second one only as often as its weight says (`random_routing`)."""

    def __init__(
        self, d_model: int, num_expert: int, world_size: int, topk: int = 2,
        capacity: tuple[float, float] = (1.2, 2.4), random_routing: bool = True, group: Group | None = None,
    ) -> None:  # fmt: skip
        super().__init__(d_model, num_expert, world_size, topk)
        self.capacity, self.random_routing, self.group = capacity, random_routing, group

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        values, experts, scores = super().forward(x, return_all_scores=True)
        share = tensor_from_data((count_tokens(experts.numpy(), self.tot_expert) / x.shape[0]).astype("float32"))
        probability = F.softmax(scores, axis=1).mean(axis=0)
        self.set_loss((share * probability).mean() * self.num_expert**2)
        chosen = self._limited(experts)
        if self.random_routing and self.top_k == 2:
            drawn = rand([x.shape[0]], "float32").numpy()
            chosen[:, 1] = np.where(2 * values.numpy()[:, 1] < drawn, -1, chosen[:, 1])
        return values, tensor_from_data(chosen)


class SwitchGate(_LimitedGate):
    """One expert, with noise on the scores while training."""

    def __init__(
        self, d_model: int, num_expert: int, world_size: int, topk: int = 1, switch_eps: float = 0.1,
        capacity: tuple[float, float] = (1.2, 2.4), group: Group | None = None,
    ) -> None:  # fmt: skip
        super().__init__(d_model, num_expert, world_size, topk)
        self.switch_eps, self.capacity, self.group = switch_eps, capacity, group

    def forward(self, inp: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        scores = self.gate(inp)
        if self.training:
            scores = scores + (rand(scores.shape, "float32") * (2 * self.switch_eps) + (1.0 - self.switch_eps))
        probabilities = F.softmax(scores, axis=-1)
        values, experts = topk(probabilities, 1, axis=-1)
        chosen = self._limited(experts)
        kept = max(1, int((chosen >= 0).sum()))
        share = tensor_from_data((count_tokens(chosen, self.tot_expert) / kept).astype("float32"))
        self.set_loss((share * (probabilities.sum(axis=0) / kept)).sum() * self.tot_expert)
        return values, tensor_from_data(chosen)
