"""A mixture of experts: each token passes a few MLPs of many, chosen by a router.

All of it is tensor operations of fixed shapes, so that it compiles and nothing waits for the host. Tokens are put into rows
grouped by expert, each group filled up to whole blocks of rows; a block meets the weights of one expert. How many blocks
there are follows from the number of tokens alone: every pair of token and expert has a row, whatever the router says, so
that no token is ever dropped. With fewer pairs than experts a block is one row, and only chosen experts' weights are read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...eager.tensor import Tensor, tensor_from_data
from ...nn import Layer
from ...nn import functional as F
from ...nn.initializer import Constant, Normal
from ...ops.basic import cast_to, full_of
from ...ops.index.along import put_along_axis
from ...ops.index.indexing_kernels import take_elements
from ...ops.linear.linalg import matmul
from ...ops.math.ternary import where as choose_by
from ..config import Config, Experts
from .mlp import MLP, activation_of
from .projection import Projection

_FLOAT32, _INT64 = np.dtype("float32"), np.dtype("int64")
_LOWEST = float(np.finfo(np.float32).min / 2)


class Mixture(Layer):
    """The experts of one layer, stacked: `gate`, `up` `[experts, hidden, inner]`, `down` `[experts, inner, hidden]`."""

    def __init__(self, config: Config) -> None:
        super().__init__(dtype=None)
        assert config.experts is not None
        self.experts: Experts = config.experts
        count, size, inner = self.experts.count, config.hidden_size, self.experts.intermediate_size
        drawn = Normal(0.0, config.initializer_range)
        self._activation = activation_of(config.activation)
        self.router = self.create_parameter([size, count], default_initializer=drawn)
        self.correction = None
        if self.experts.correction:
            # Set by whoever balances experts, not by a gradient; small differences decide, so it stays in float32.
            self.correction = self.create_parameter([count], dtype="float32", default_initializer=Constant(0.0))
            self.correction.stop_gradient = True
        self.gate = self.create_parameter([count, size, inner], default_initializer=drawn)
        self.up = self.create_parameter([count, size, inner], default_initializer=drawn)
        self.down = self.create_parameter([count, inner, size], default_initializer=drawn)
        shared = self.experts.shared_intermediate_size
        self.shared = MLP(config, shared) if shared else None
        self.shared_gate = Projection(size, 1) if self.experts.shared_gate else None

    def forward(self, x: Any) -> Tensor:
        shape = x._aval.shape
        tokens = x.reshape([-1, shape[-1]])
        weights, chosen = self.route(tokens)
        out = self._mixed(tokens, weights, chosen)
        if self.shared is not None:
            beside: Any = self.shared(tokens)
            out = out + (beside if self.shared_gate is None else F.sigmoid(self.shared_gate(tokens)) * beside)
        return out.reshape(list(shape))

    def route(self, tokens: Any) -> tuple[Any, Any]:
        """The weights of each token's experts, float32 `[tokens, per token]`, and their numbers."""
        experts = self.experts
        products: Any = matmul(cast_to(tokens, _FLOAT32), cast_to(self.router, _FLOAT32), False, False)
        scores = F.softmax(products, -1) if experts.scoring == "softmax" else F.sigmoid(products)
        ranked: Any = scores.detach()
        if self.correction is not None:
            ranked = ranked + self.correction
        if experts.groups > 1:
            ranked = _of_best_groups(ranked, experts)
        chosen = ranked.topk(experts.per_token, -1)[1]
        weights = scores.take_along_axis(chosen, 1)
        if experts.normalised:
            weights = weights / weights.sum(-1, keepdim=True).clip(min=max(experts.norm_minimum, 1e-20))
        return weights * experts.scale if experts.scale != 1.0 else weights, chosen

    def _mixed(self, tokens: Any, weights: Any, chosen: Any) -> Any:
        count, per_token, size = tokens._aval.shape[0], self.experts.per_token, tokens._aval.shape[1]
        rows, token_of_row, expert_of_block = _places(chosen, self.experts.count)
        blocks = expert_of_block._aval.shape[0]
        x = take_elements(tokens, [token_of_row], [0], trusted=True).reshape([blocks, -1, size])
        gate, up, down = (
            take_elements(weight, [expert_of_block], [0], trusted=True) for weight in (self.gate, self.up, self.down)
        )
        inner: Any = self._activation(matmul(x, gate, False, False)) * matmul(x, up, False, False)
        out: Any = matmul(inner, down, False, False)
        pairs: Any = take_elements(out.reshape([-1, size]), [rows], [0], trusted=True)
        shares = cast_to(weights, tokens._aval.dtype).unsqueeze(-1)
        return (pairs.reshape([count, per_token, size]) * shares).sum(1)


def _of_best_groups(ranked: Any, experts: Experts) -> Any:
    """Scores of the experts in the best groups; the others cannot be chosen."""
    tokens, size = ranked._aval.shape[0], experts.count // experts.groups
    grouped = ranked.reshape([tokens, experts.groups, size])
    best = grouped.max(-1) if experts.group_scoring == "maximum" else grouped.topk(min(2, size), -1)[0].sum(-1)
    kept = best.topk(experts.groups_kept, -1)[1]
    numbers = tensor_from_data(np.arange(experts.groups)[None, None])
    allowed = (kept.unsqueeze(-1) == numbers).any(1).unsqueeze(-1)
    return choose_by(allowed, grouped, _LOWEST).reshape([tokens, experts.count])


def block_rows(pairs: int, experts: int) -> int:
    """Rows of a block: about as many as an expert gets on average, so that few rows stay empty and few blocks are needed."""
    return 1 if pairs <= experts else 1 << (-(-pairs // experts) - 1).bit_length()


def _places(chosen: Any, experts: int) -> tuple[Any, Any, Any]:
    """The row of each pair of token and expert, the token of each row (any, where nothing is), the expert of each block."""
    tokens, per_token = chosen._aval.shape
    pairs = tokens * per_token
    height = block_rows(pairs, experts)
    blocks = (pairs + experts * (height - 1)) // height
    numbers = tensor_from_data(np.arange(experts)[None])
    flat = cast_to(chosen, _INT64).reshape([pairs])
    hits: Any = cast_to(flat.unsqueeze(-1) == numbers, _INT64)
    before = hits.cumsum(0) - hits  # pairs of the same expert that stand before
    needed = (hits.sum(0) + (height - 1)) // height
    ends = needed.cumsum(0)  # in blocks
    rows = (hits * (before + (ends - needed).unsqueeze(0) * height)).sum(1)
    owners = tensor_from_data(np.repeat(np.arange(tokens), per_token))
    token_of_row = put_along_axis(full_of(0, (blocks * height,), _INT64), rows, owners, 0)
    passed = tensor_from_data(np.arange(blocks)[:, None]) >= ends.unsqueeze(0)  # experts whose blocks are over
    return rows, token_of_row, cast_to(passed, _INT64).sum(1).clip(max=experts - 1)
