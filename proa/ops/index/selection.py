"""Choosing among tensors and shards: multiplex, shard_index, top_p_sampling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import make_aval
from ...core.dtype import INT64, is_differentiable
from ...core.errors import type_error, value_error
from ...eager.declare import op, public
from ...eager.infer import same
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.operation import Check
from ...ir.padding import rules
from ..arguments import integer, require_tensor
from ..basic import cast_to, full_of, reshape_to
from ..create.random import draw, uniform_of
from ..math.scan import sum_along
from ..math.statistics.counting import count_from
from ..shape.joining import stack
from .indexing_kernels import IndexOutOfRange, take_elements
from .search import pick_along, top_along

# ---- multiplex -----------------------------------------------------------------------------------


@op(
    "index",
    infer=lambda _op, operands, attributes, place: make_aval((operands[0].size,), INT64, place),
    check=Check(
        lambda xp, index, count: xp.all((index >= 0) & (index < count)),
        lambda kinds, attributes: f"an index is out of range; allowed: 0 to {attributes[0] - 1}",
        IndexOutOfRange,
        (0,),
    ),
    padding=rules.shapes.one_hot,
)
def choice_among(xp: Any, index: Any, count: int) -> Any:
    """The index as a vector, checked against the number of things to choose from."""
    return xp.reshape(index, (-1,)).astype(np.int64)


@samples(
    S([A(2, 3), A(2, 3)], A(values=[[1], [0]], dtype="int32")),
    S([A(3, 2, 2), A(3, 2, 2), A(3, 2, 2)], A(values=[[2], [0], [2]], dtype="int32")),
    S([A(2, 3, dtype="int64"), A(2, 3, dtype="int64")], A(values=[[1]], dtype="int64")),
    S([A(0, 3), A(0, 3)], A(0, 1, dtype="int32")),
    reference=lambda inputs, index: np.stack(inputs)[index.reshape(-1), np.arange(index.size)],
)  # fmt: skip
@public(method=True)
def multiplex(inputs: Sequence[Tensor], index: Tensor, name: str | None = None) -> Tensor:
    """Row `i` of the result is row `i` of the input that `index[i]` names.

    Args:
        inputs: a list of tensors of one shape.
        index: integers, one for each row.
        name: a label; it changes nothing.

    Examples:
        >>> inputs = [paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[5, 6], [7, 8]])]
        >>> paddle.multiplex(inputs, paddle.to_tensor([[1], [0]])).tolist()
        [[5, 6], [3, 4]]
    """
    if not isinstance(inputs, (list, tuple)) or len(inputs) < 2:
        raise value_error("multiplex", "inputs must be a list of at least two tensors", f"{type(inputs).__name__}")
    first = require_tensor("multiplex", "inputs[0]", inputs[0])._aval
    for position, other in enumerate(inputs):
        aval = require_tensor("multiplex", f"inputs[{position}]", other)._aval
        if aval.ndim < 2 or aval.shape != first.shape or aval.dtype != first.dtype:
            raise value_error(
                "multiplex", "all inputs must have one shape of at least two dimensions, and one data type",
                f"inputs[0]: {first}, inputs[{position}]: {aval}",
            )  # fmt: skip
    chosen = require_tensor("multiplex", "index", index)._aval
    if chosen.dtype.kind not in "iu":
        raise type_error("multiplex", "index must be integers", f"index: {chosen}")
    if chosen.ndim != 2 or chosen.shape[1] != 1 or chosen.shape[0] > first.shape[0]:
        raise value_error(
            "multiplex", f"index must have the shape [{first.shape[0]}, 1]", f"index: {chosen}, inputs[0]: {first}"
        )
    which = choice_among(index, len(inputs))
    return take_elements(stack(inputs), [which, count_from(0, 1, (chosen.size,), INT64)], [0, 1], True)


# ---- shard_index ---------------------------------------------------------------------------------


@op(
    "input",
    scalars="ignore_value",
    infer=same,
    follow_scalars=True,
    check=Check(
        lambda xp, input, ignore_value, index_num, size, shard_id: xp.all((input >= 0) & (input < index_num)),
        lambda kinds, attributes: f"an index is out of range; allowed: 0 to {attributes[0] - 1}",
        ValueError,
        (0,),
    ),
    name="shard_index",
)
def index_in_shard(xp: Any, input: Any, ignore_value: Any, index_num: int, size: int, shard_id: int) -> Any:
    return xp.where(input // size == shard_id, input % size, ignore_value)


def _reference_shard(input: Any, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Any:
    size = -(-index_num // nshards)
    return np.where(input // size == shard_id, input % size, ignore_value)


@samples(
    S(A(values=[[16], [1]], dtype="int64"), 20, 2, 0), S(A(values=[[16], [1]], dtype="int64"), 20, 2, 1, -2),
    S(A(4, 2, dtype="int32", low=0, high=7), 7, 3, 2), S(A(0, 1, dtype="int64"), 5, 1, 0),
    reference=_reference_shard,
)  # fmt: skip
@public(method=True)
def shard_index(input: Tensor, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Tensor:
    """Indices of a whole as they are within one of its shards.

    Args:
        input: indices below `index_num`.
        index_num: how many there are in all.
        nshards: into how many shards they are divided.
        shard_id: which shard is meant.
        ignore_value: what stands for the indices of other shards.

    Examples:
        >>> paddle.shard_index(paddle.to_tensor([[1], [6]]), index_num=8, nshards=2, shard_id=1).tolist()
        [[-1], [2]]
    """
    aval = require_tensor("shard_index", "input", input)._aval
    if aval.dtype.kind not in "iu":
        raise type_error("shard_index", "input must be integers", f"input: {aval}")
    if aval.ndim < 2:
        raise value_error("shard_index", "input needs two dimensions, the last of size 1", f"input: {aval}")
    count, shards = integer("shard_index", "index_num", index_num), integer("shard_index", "nshards", nshards)
    shard, ignored = integer("shard_index", "shard_id", shard_id), integer("shard_index", "ignore_value", ignore_value)
    if count < 1 or shards < 1 or not 0 <= shard < shards:
        raise value_error(
            "shard_index", "index_num and nshards must be positive and shard_id one of the shards",
            f"index_num: {count}, nshards: {shards}, shard_id: {shard}",
        )  # fmt: skip
    return index_in_shard(input, ignored, count, -(-count // shards), shard)


# ---- top_p_sampling ------------------------------------------------------------------------------


@samples(
    S(A(9, 40, low=0, high=0.05), A(9, low=0.6, high=0.9)),
    S(A(9, 40, dtype="float64", low=0, high=0.05), A(9, 1, dtype="float64", low=0.6, high=0.9), mode="non-truncated"),
    S(A(1, 3, low=0, high=0.5), A(1, low=0.5, high=0.9), A(1, low=0, high=0.2), return_top=True, k=2), random=True,
)  # fmt: skip
@public(method=True)
def top_p_sampling(
    x: Tensor,
    ps: Tensor,
    threshold: Tensor | None = None,
    topp_seed: Tensor | None = None,
    seed: int = -1,
    k: int = 0,
    mode: str = "truncated",
    return_top: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Draws from each row of probabilities, among the likeliest that together reach `ps`.

    Args:
        x: probabilities, [batch, number of categories].
        ps: how much probability the candidates have together, one number for each row.
        threshold: categories below it are left out, unless they are the likeliest.
        topp_seed: a seed for each row.
        seed: a seed for all rows; -1 draws from the default generator.
        k: how many of the likeliest `return_top` gives (0: one).
        mode: "truncated" leaves out what would exceed `ps`, "non-truncated" keeps the category that crosses it.
        return_top: also give the likeliest probabilities and their positions.
        name: a label; it changes nothing.

    Returns:
        The drawn probability and its position, both [batch, 1].

    Examples:
        >>> score, position = paddle.top_p_sampling(paddle.to_tensor([[0.1, 0.8, 0.1]]), paddle.to_tensor([0.5]))
        >>> position.tolist()
        [[1]]
    """
    aval, limit = require_tensor("top_p_sampling", "x", x)._aval, require_tensor("top_p_sampling", "ps", ps)._aval
    if aval.ndim != 2 or not aval.shape[1] or not is_differentiable(aval.dtype):
        raise value_error("top_p_sampling", "x must be a matrix of probabilities", f"x: {aval}")
    if limit.size != aval.shape[0]:
        raise value_error("top_p_sampling", "ps must have a number for each row", f"ps: {limit}, x: {aval}")
    if mode not in ("truncated", "non-truncated"):
        raise value_error("top_p_sampling", "mode is 'truncated' or 'non-truncated'", f"mode: {mode!r}")
    rows, columns = aval.shape
    values, positions = top_along(x.detach(), 1, columns, True)
    sums = sum_along(values, 1, False)
    bound = cast_to(reshape_to(ps, (rows, 1)), aval.dtype)
    kept = sums <= bound if mode == "truncated" else sums - values < bound
    if threshold is not None:
        kept = kept & (values >= cast_to(reshape_to(threshold, (rows, 1)), aval.dtype))
    rank = count_from(0, 1, (columns,), INT64)
    kept = kept | (rank == 0)  # the likeliest always stays
    weights = values * cast_to(kept, aval.dtype)
    running = sum_along(weights, 1, False)
    probability = _uniform_draws(topp_seed, integer("top_p_sampling", "seed", seed), rows, aval.dtype)
    drawn = probability * running[:, -1:]
    place = cast_to(running <= drawn, INT64).sum(1, keepdim=True)
    # Rounding may lead behind the last that counts.
    last = cast_to(weights > 0, INT64).sum(1, keepdim=True) - 1
    place = place.minimum(last).maximum(full_of(0, (rows, 1), INT64))
    result = pick_along(values, place, 1, True), pick_along(positions, place, 1, True)
    if not return_top:
        return result
    count = max(integer("top_p_sampling", "k", k), 1)
    if count > columns:
        raise value_error("top_p_sampling", f"k must not exceed the {columns} columns", f"k: {k}, x: {aval}")
    return (*result, values[:, :count], positions[:, :count])


def _uniform_draws(topp_seed: Tensor | None, seed: int, rows: int, dtype: np.dtype) -> Tensor:
    """A number below 1 for each row: from its own seed, one seed for all, or the generator."""
    if topp_seed is None:
        return uniform_of(0.0, 1.0, *draw(seed if seed > 0 else 0), (rows, 1), dtype)
    seeds = np.asarray(require_tensor("top_p_sampling", "topp_seed", topp_seed)._data()).reshape(-1)
    if seeds.size != rows:
        raise value_error("top_p_sampling", "topp_seed must have a seed for each row", f"topp_seed: {topp_seed._aval}")
    parts = [uniform_of(0.0, 1.0, *draw(int(one)), (1,), dtype) for one in seeds]
    return stack(parts) if parts else full_of(0.0, (0, 1), dtype)
