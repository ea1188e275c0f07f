"""Taking elements, putting elements, finding and ordering them."""

from __future__ import annotations

from typing import Any

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import F, paddle
from ..registry import reads
from .promotion import as_tensor


@reads("embedding")
def embedding(weight: Tensor, indices: Tensor, padding: int = -1, *_rest: Any) -> Tensor:
    return F.embedding(indices, weight)


@reads("index", "_unsafe_index")
def index(x: Tensor, places: list[Any]) -> Tensor:
    """Tensors stand for axes that are indexed; those that are None stay."""
    return x[tuple(slice(None) if place is None else place for place in places)]


@reads("index_put", "_unsafe_index_put", "_index_put_impl")
def index_put(x: Tensor, places: list[Any], values: Tensor, accumulate: bool = False, *_rest: Any) -> Tensor:
    if any(place is None for place in places):
        shape = x._aval.shape
        if not all(place is None for place in places[:-1]) or accumulate:
            raise NotImplementedError("(index_put) an axis that stays between indexed ones is not here yet.")
        axis = len(places) - 1
        moved = paddle.moveaxis(x, axis, 0)
        wide = [places[-1]._aval.shape[0], *(size for a, size in enumerate(shape) if a != axis)]
        source = paddle.moveaxis(paddle.expand(values, [*shape[:axis], wide[0], *shape[axis + 1 :]]), axis, 0)
        return paddle.moveaxis(paddle.index_put(moved, (places[-1],), source.astype(x.dtype)), 0, axis)
    return paddle.index_put(x, tuple(places), values.astype(x.dtype), accumulate)


@reads("index_select")
def index_select(x: Tensor, axis: int, places: Tensor) -> Tensor:
    return paddle.index_select(x, places, axis)


@reads("index_copy")
def index_copy(x: Tensor, axis: int, places: Tensor, source: Tensor) -> Tensor:
    moved = paddle.moveaxis(x, axis, 0)
    return paddle.moveaxis(paddle.index_put(moved, (places,), paddle.moveaxis(source, axis, 0)), 0, axis)


@reads("index_add")
def index_add(x: Tensor, axis: int, places: Tensor, source: Tensor, alpha: Any = 1) -> Tensor:
    return paddle.index_add(x, places, axis, source if alpha == 1 else source * alpha)


@reads("index_fill")
def index_fill(x: Tensor, axis: int, places: Tensor, value: Any) -> Tensor:
    return paddle.index_fill(x, places, axis, value)


@reads("gather")
def gather(x: Tensor, axis: int, places: Tensor, sparse_grad: bool = False) -> Tensor:
    return paddle.take_along_axis(x, places, axis, broadcast=False)


@reads("take_along_dim")
def take_along_dim(x: Tensor, places: Tensor, axis: int) -> Tensor:
    return paddle.take_along_axis(x, places, axis)


@reads("scatter")
def scatter(x: Tensor, axis: int, places: Tensor, source: Any, reduce: str | None = None) -> Tensor:
    values = source if isinstance(source, Tensor) else paddle.full(list(places._aval.shape), source, x.dtype)
    values = (
        paddle.slice(values, list(range(values.ndim)), [0] * values.ndim, list(places._aval.shape))
        if (values._aval.shape != places._aval.shape)
        else values
    )
    if reduce:
        return paddle.put_along_axis(x, places, values, axis, reduce, True, False)
    return paddle.put_along_axis(x, places, values, axis, broadcast=False)


@reads("scatter_add")
def scatter_add(x: Tensor, axis: int, places: Tensor, source: Tensor) -> Tensor:
    return scatter(x, axis, places, source, "add")


@reads("scatter_reduce")
def scatter_reduce(
    x: Tensor, axis: int, places: Tensor, source: Tensor, reduce: str, include_self: bool = True
) -> Tensor:
    kind = {"sum": "add", "prod": "multiply"}.get(reduce, reduce)
    return paddle.put_along_axis(x, places, source, axis, kind, include_self, False)


@reads("masked_select")
def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    return paddle.masked_select(x, mask)


@reads("masked_scatter")
def masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    return paddle.masked_scatter(x, mask, source)


@reads("nonzero")
def nonzero(x: Tensor) -> Tensor:
    return paddle.nonzero(x)


@reads("topk")
def topk(x: Tensor, count: int, axis: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    values, places = paddle.topk(x, count, axis, largest)
    return values, places


@reads("sort")
def sort(x: Tensor, *rest: Any, dim: int = -1, descending: bool = False, stable: Any = None) -> Any:
    given = [one for one in rest if one is not None and not isinstance(one, bool)]
    flags = [one for one in rest if isinstance(one, bool)]
    axis = given[0] if given else dim
    order = paddle.argsort(x, axis, descending=flags[-1] if flags else descending, stable=True)
    return paddle.take_along_axis(x, order, axis, broadcast=False), order


@reads("argsort")
def argsort(x: Tensor, *rest: Any, dim: int = -1, descending: bool = False, stable: Any = None) -> Tensor:
    return sort(x, *rest, dim=dim, descending=descending)[1]


@reads("one_hot")
def one_hot(x: Tensor, classes: int = -1) -> Tensor:
    return F.one_hot(x, classes).astype("int64")


@reads("bucketize")
def bucketize(x: Tensor, edges: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    return paddle.bucketize(as_tensor(x, edges), edges, out_int32, right)


@reads("isin")
def isin(x: Tensor, values: Any, assume_unique: bool = False, invert: bool = False) -> Tensor:
    found = paddle.any(x.unsqueeze(-1) == as_tensor(values, x).reshape([-1]), -1)
    return paddle.logical_not(found) if invert else found
