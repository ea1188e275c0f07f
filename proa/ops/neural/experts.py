"""Mixture of experts: tokens brought into the order of their experts, and back (moe_permute, moe_unpermute).

How many tokens each expert gets is given by the caller, so that all shapes are known at the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ..arguments import integer, integers, require_tensor
from ..basic import cast_to, full_of, reshape_to
from ..index.along import put_along_axis
from ..index.indexing_kernels import take_elements
from ..math.ternary import where as choose_by

_INT32, _INT64 = np.dtype("int32"), np.dtype("int64")


def _layout(where: str, tokens_per_expert: Any, alignment: int) -> tuple[np.ndarray, int]:
    """Where the rows of each expert begin, and how many rows there are, every expert's number rounded up."""
    counts = np.array(integers(where, "tokens_per_expert", tokens_per_expert), _INT64)
    if (counts < 0).any() or alignment < 1:
        raise value_error(where, "tokens_per_expert cannot be negative, padding_alignment must be positive",
                          f"{counts.tolist()}, {alignment}")  # fmt: skip
    sizes = -(-counts // alignment) * alignment
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]), int(sizes.sum())


def _reference_permute(x: Any, scale: Any, route: Any, prob: Any, experts: int, counts: Any, alignment: int) -> Any:
    begins, total = _layout("moe_permute", counts, alignment)
    rows, rowmap = np.zeros((total, x.shape[1]), x.dtype), np.full((len(x), experts), -1)
    probabilities = np.zeros(total, prob.dtype)
    at = begins.copy()
    for t in range(len(x)):
        for e in range(experts):
            if e in route[t]:
                rows[at[e]], rowmap[t, e] = x[t], at[e]
                probabilities[at[e]] = prob[t][list(route[t]).index(e)]
                at[e] += 1
    return rows, rowmap, probabilities


_ROUTE = A(3, 2, values=[[0, 2], [1, -1], [2, 1]], dtype="int32")
_PROB = A(3, 2, low=0.1, high=1.0)


@samples(
    S(A(3, 4), None, _ROUTE, _PROB, 3, [1, 2, 2], 1), S(A(3, 4), None, _ROUTE, _PROB, 3, [1, 2, 2], 4),
    S(A(1, 2), None, A(1, 1, values=[[0]], dtype="int32"), A(1, 1, low=0.1), 1, [1], 2), reference=_reference_permute,
)  # fmt: skip
@public(module="nn.functional")
def moe_permute(
    hidden_states: Tensor,
    scale: Tensor | None,
    expert_routemap_topk: Tensor,
    expert_prob_topk: Tensor,
    num_experts: int,
    tokens_per_expert: Sequence[int] | Tensor,
    padding_alignment: int,
    do_gather: bool = True,
    using_ue8m0_scale: bool = False,
    return_expert_indices: bool = False,
    override_buffer_size: int = -1,
    name: str | None = None,
) -> Any:
    """Tokens in the order of their experts.

    Each expert's part is rounded up to `padding_alignment` rows.

    Args:
        hidden_states: the tokens, `[tokens, size]`.
        scale: a scale for each token, or None.
        expert_routemap_topk: for each token its experts (int32), -1 for none.
        expert_prob_topk: the probabilities of those experts.
        num_experts: how many experts there are.
        tokens_per_expert: how many tokens each expert gets.
        padding_alignment: what the number of rows of an expert is a multiple of.
        do_gather: whether the rows are gathered at all.
        using_ue8m0_scale: whether the scales are packed exponents.
        return_expert_indices: whether the expert of each row is given too.
        override_buffer_size: the number of rows of the result; -1 for what is needed.
        name: a label; it changes nothing.

    Returns:
        The rows, for each token and expert its row (-1: none), the probability of each row, and the rows of `scale`
        (None without one); with `return_expert_indices` also the expert of each row.

    Examples:
        >>> tokens = paddle.to_tensor([[1.0], [2.0], [3.0]]).astype("bfloat16")
        >>> experts = paddle.to_tensor([[1], [0], [1]], dtype="int32")
        >>> permuted = paddle.nn.functional.moe_permute(tokens, None, experts, paddle.ones([3, 1]), 2, [1, 2], 2)
        >>> rows, places, probabilities, _ = permuted
        >>> rows.astype("float32").flatten().tolist()
        [2.0, 0.0, 1.0, 3.0]
    """
    where = "moe_permute"
    aval = require_tensor(where, "hidden_states", hidden_states)._aval
    route: Any = require_tensor(where, "expert_routemap_topk", expert_routemap_topk)
    prob: Any = require_tensor(where, "expert_prob_topk", expert_prob_topk)
    count = integer(where, "num_experts", num_experts)
    if (
        aval.ndim != 2
        or route._aval.ndim != 2
        or route._aval.shape[0] != aval.shape[0]
        or prob._aval.shape != route._aval.shape
    ):
        raise value_error(where, "hidden_states are [tokens, size], routes and probabilities [tokens, k]",
                          f"hidden_states: {aval}, routes: {route._aval}, probabilities: {prob._aval}")  # fmt: skip
    begins, total = _layout(where, tokens_per_expert, integer(where, "padding_alignment", padding_alignment))
    if len(begins) != count:
        raise value_error(where, f"tokens_per_expert must have {count} entries", f"{len(begins)} entries")
    if override_buffer_size > 0:
        total = max(total, int(override_buffer_size))
    place, tokens = aval.place, aval.shape[0]
    experts = tensor_from_data(np.arange(count, dtype=route._aval.dtype).reshape(1, 1, -1), place=place)
    hits = route.unsqueeze(-1) == experts
    chosen = cast_to(hits, _INT64).sum(1).clip(max=1)
    offsets = tensor_from_data(begins.reshape(1, -1), place=place)
    rows = choose_by(chosen > 0, chosen.cumsum(0) - 1 + offsets, -1)
    # The other way round: the token of each row. What goes nowhere is put behind the end.
    flat = reshape_to(choose_by(rows >= 0, rows, total), (tokens * count,))
    numbers = tensor_from_data(np.repeat(np.arange(tokens), count), place=place)
    token = put_along_axis(full_of(-1, (total + 1,), _INT64), flat, numbers, 0)[:total]  # type: ignore[index]
    expert = tensor_from_data(np.searchsorted(begins, np.arange(total), side="right") - 1, place=place).clip(min=0)  # type: ignore
    used = token >= 0
    safe = token.clip(min=0)
    weights = (prob.unsqueeze(-1) * cast_to(hits, prob._aval.dtype)).sum(1)
    probabilities = take_elements(weights, [safe, expert], [0, 1], trusted=True) * cast_to(used, prob._aval.dtype)  # type: ignore

    def gathered(values: Any) -> Any:
        taken = take_elements(values, [safe], [0], trusted=True)
        return choose_by(used.unsqueeze(-1), taken, full_of(0.0, taken._aval.shape, taken._aval.dtype))

    unzipped = gathered(hidden_states) if do_gather else full_of(0.0, (total, aval.shape[1]), aval.dtype)
    result = [unzipped, cast_to(rows, _INT32), probabilities, None if scale is None else gathered(scale)]
    if return_expert_indices:
        result.append(cast_to(expert, _INT32))
    return tuple(result)


def _reference_unpermute(rows: Any, rowmap: Any, route: Any, prob: Any, tokens: int, experts: int) -> Any:
    out = np.zeros((tokens, rows.shape[1]), rows.dtype)
    back = np.zeros(route.shape, prob.dtype)
    for t in range(tokens):
        for e in range(experts):
            if rowmap[t, e] >= 0:
                out[t] += rows[rowmap[t, e]]
        for k, e in enumerate(route[t]):
            if e >= 0 and rowmap[t, e] >= 0:
                back[t, k] = prob[rowmap[t, e]]
    return out, back


_ROWMAP = A(3, 3, values=[[0, -1, 3], [-1, 1, -1], [-1, 2, 4]], dtype="int32")


@samples(
    S(A(5, 4), _ROWMAP, _ROUTE, A(5, low=0.1), 3, 3),
    S(A(6, 2), _ROWMAP, _ROUTE, A(6, low=0.1), 3, 3),
    S(A(2, 2), A(1, 1, values=[[1]], dtype="int32"), A(1, 1, values=[[0]], dtype="int32"), A(2, low=0.1), 1, 1),
    reference=_reference_unpermute,
)  # fmt: skip
@public(module="nn.functional")
def moe_unpermute(
    hidden_states_unzipped: Tensor,
    zipped_expertwise_rowmap: Tensor,
    expert_routemap_topk: Tensor,
    token_prob_unzipped: Tensor,
    total_zipped_tokens: int,
    num_experts: int,
    using_mix_precision: bool = True,
    using_weighted_combine: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The sum of each token's rows, back in the order of the tokens: the inverse of `moe_permute`.

    Args:
        hidden_states_unzipped: the rows, in the order of the experts.
        zipped_expertwise_rowmap: for each token and expert its row, as `moe_permute` gives it.
        expert_routemap_topk: for each token its experts (int32), -1 for none.
        token_prob_unzipped: the probability of each row.
        total_zipped_tokens: how many tokens there are.
        num_experts: how many experts there are.
        using_mix_precision: whether sums are taken in float32.
        using_weighted_combine: whether rows are multiplied by their probabilities.
        name: a label; it changes nothing.

    Returns:
        The tokens, and their probabilities.

    Examples:
        >>> tokens = paddle.to_tensor([[1.0], [2.0], [3.0]]).astype("bfloat16")
        >>> experts = paddle.to_tensor([[1], [0], [1]], dtype="int32")
        >>> permuted = paddle.nn.functional.moe_permute(tokens, None, experts, paddle.ones([3, 1]), 2, [1, 2], 2)
        >>> rows, places, probabilities, _ = permuted
        >>> back, _ = paddle.nn.functional.moe_unpermute(rows, places, experts, probabilities, 3, 2)
        >>> back.astype("float32").flatten().tolist()
        [1.0, 2.0, 3.0]
    """
    where = "moe_unpermute"
    rows: Any = require_tensor(where, "hidden_states_unzipped", hidden_states_unzipped)
    rowmap: Any = cast_to(require_tensor(where, "zipped_expertwise_rowmap", zipped_expertwise_rowmap), _INT64)
    route: Any = cast_to(require_tensor(where, "expert_routemap_topk", expert_routemap_topk), _INT64)
    prob: Any = require_tensor(where, "token_prob_unzipped", token_prob_unzipped)
    tokens, count = int(total_zipped_tokens), int(num_experts)
    if rowmap._aval.shape != (tokens, count) or rows._aval.ndim != 2 or prob._aval.size != rows._aval.shape[0]:
        raise value_error(where, "the row map must be [tokens, experts], with a probability for each row",
                          f"rows: {rows._aval}, row map: {rowmap._aval}, probabilities: {prob._aval}")  # fmt: skip
    there = cast_to(rowmap >= 0, rows._aval.dtype)
    safe = rowmap.clip(min=0)
    flat = prob.reshape([-1])
    share: Any = there
    if using_weighted_combine:
        share = there * cast_to(take_elements(flat, [safe], [0], trusted=True), rows._aval.dtype)  # type: ignore[operator]
    total: Any = None
    for expert in range(count):  # never all experts' rows of all tokens at once
        part: Any = take_elements(rows, [safe[:, expert]], [0], trusted=True) * share[:, expert].unsqueeze(-1)
        total = part if total is None else total + part
    chosen = rowmap.take_along_axis(route.clip(min=0), 1)
    found = cast_to((chosen >= 0) & (route >= 0), flat._aval.dtype)
    back: Any = take_elements(flat, [chosen.clip(min=0)], [0], trusted=True) * found  # type: ignore[operator]
    return total, back
