"""What each exchange does to the arrays of a group's processes.

Every function begins an exchange on a line and gives its `Call`; the result has the shape named. Arrays are laid end to end
(along axis 0): that is what gathering, dividing and swapping mean in Paddle. Where there is nothing to move (one process, no
elements) nothing is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import value_error
from .exchange import AXIS, Call, Line

_HALVES = ("float16", "bfloat16")
# Pieces of different sizes are filled up to sizes like these, so that few programs serve all of them.
_SIZES_PER_DOUBLING = 4


def _begin(line: Line, name: str, value: Any, shape: Sequence[int], kind: Any, body: Callable[[Any], Any]) -> Call:
    shown = f"{value.dtype}{list(value.shape)}"
    _require_own(name, value)
    return line.begin(name, shown, lambda: line.shaped(line.run(kind, body, value), shape))


def _require_own(name: str, value: Any) -> None:
    sharding = getattr(value, "sharding", None)
    if sharding is not None and len(sharding.device_set) > 1:
        raise value_error(
            name, "each process gives a tensor of its own, and this one is spread over devices",
            f"{value.dtype}{list(value.shape)}", "use reshard(), or give it its local part",
        )  # fmt: skip


def _nothing(line: Line, name: str, result: Any) -> Call:
    """A call that is done: every process knows that there is nothing to send."""
    call = Call(line, name, "", lambda: None)
    call.result = result
    call.finished.set()
    return call


def _folded(parts: Any, operation: str) -> Any:
    """Rows reduced to one, in their order; narrow floats are added in float32."""
    import jax.numpy as jnp

    narrow = parts.dtype.name in _HALVES
    wide = parts.astype(jnp.float32) if narrow else parts
    if operation in ("sum", "avg"):
        folded = wide.any(0) if parts.dtype == bool else wide.sum(0, dtype=wide.dtype)
        if operation == "avg" and parts.dtype != bool:
            exact = jnp.issubdtype(parts.dtype, jnp.integer)
            folded = folded // parts.shape[0] if exact else folded / parts.shape[0]
    elif operation == "prod":
        folded = wide.all(0) if parts.dtype == bool else wide.prod(0, dtype=wide.dtype)
    else:
        folded = wide.max(0) if operation == "max" else wide.min(0)
    return folded.astype(parts.dtype)


def all_reduce(line: Line, value: Any, operation: str) -> Call:
    """The reduction of all arrays."""
    count = len(line.ranks)
    if count == 1 or not value.size:
        return _nothing(line, "all_reduce", value)

    def body(x: Any) -> Any:
        from jax import lax
        from jax import numpy as jnp

        if operation == "prod" or x.dtype == bool:
            return _folded(lax.all_gather(x, AXIS), operation)
        if operation == "max":
            return lax.pmax(x, AXIS)
        if operation == "min":
            return lax.pmin(x, AXIS)
        total = lax.psum(x.astype(jnp.float32) if x.dtype.name in _HALVES else x, AXIS)
        if operation == "avg":
            total = total // count if jnp.issubdtype(x.dtype, jnp.integer) else total / count
        return total.astype(x.dtype)

    return _begin(line, "all_reduce", value, value.shape, ("all_reduce", operation), body)


def all_gather(line: Line, value: Any) -> Call:
    """All arrays, end to end; of 0-d arrays, a vector."""
    count = len(line.ranks)
    shape = (count * value.shape[0], *value.shape[1:]) if value.ndim else (count,)
    if count == 1 or not value.size:
        return _nothing(line, "all_gather", value.reshape(shape))

    def body(x: Any) -> Any:
        from jax import lax

        return lax.all_gather(x, AXIS, tiled=True)

    return _begin(line, "all_gather", value, shape, "all_gather", body)


def reduce_scatter(line: Line, value: Any, operation: str) -> Call:
    """This process's part of the reduction of all arrays."""
    count = len(line.ranks)
    shape = (value.shape[0] // count, *value.shape[1:])
    if count == 1 or not value.size:
        return _nothing(line, "reduce_scatter", value.reshape(shape))

    def body(x: Any) -> Any:
        from jax import lax

        return _folded(lax.all_to_all(x.reshape(count, -1), AXIS, 0, 0), operation)

    return _begin(line, "reduce_scatter", value, shape, ("reduce_scatter", operation), body)


def broadcast(line: Line, value: Any, source: int) -> Call:
    """The array of the process at position `source`. In each round those who have it hand it on to as many others."""
    count = len(line.ranks)
    if count == 1 or not value.size:
        return _nothing(line, "broadcast", value)

    def body(x: Any) -> Any:
        from jax import lax
        from jax import numpy as jnp

        behind = (lax.axis_index(AXIS) - source) % count
        having = 1
        while having < count:
            pairs = [((source + i) % count, (source + i + having) % count) for i in range(min(having, count - having))]
            received = lax.ppermute(x, AXIS, pairs)
            x = jnp.where((behind >= having) & (behind < 2 * having), received, x)
            having *= 2
        return x

    return _begin(line, "broadcast", value, value.shape, ("broadcast", source), body)


def gather(line: Line, value: Any, target: int) -> Call:
    """As `all_gather` for the process at position `target`; what the others get is of no use."""
    count = len(line.ranks)
    shape = (count * value.shape[0], *value.shape[1:]) if value.ndim else (count,)
    if count == 1 or not value.size:
        return _nothing(line, "gather", value.reshape(shape))

    def body(x: Any) -> Any:
        from jax import lax
        from jax import numpy as jnp

        return jnp.concatenate([x if i == target else lax.ppermute(x, AXIS, [(i, target)]) for i in range(count)])

    return _begin(line, "gather", value, shape, ("gather", target), body)


def scatter(line: Line, value: Any, source: int) -> Call:
    """This process's part of the array of the process at position `source`; the others' arrays only have its shape."""
    count = len(line.ranks)
    shape = (value.shape[0] // count, *value.shape[1:])
    if count == 1 or not value.size:
        return _nothing(line, "scatter", value.reshape(shape))

    def body(x: Any) -> Any:
        from jax import lax
        from jax import numpy as jnp

        parts = x.reshape(count, -1)
        own, result = lax.axis_index(AXIS), parts[source]
        for i in range(count):
            if i != source:
                result = jnp.where(own == i, lax.ppermute(parts[i], AXIS, [(source, i)]), result)
        return result

    return _begin(line, "scatter", value, shape, ("scatter", source), body)


def all_to_all(line: Line, value: Any, sizes: Sequence[int] | None = None, wanted: Sequence[int] | None = None) -> Call:
    """Piece i of this array goes to the process at position i, and what the others have for this one comes, end to end.

    `sizes` are the lengths of the pieces along axis 0 and `wanted` those that come; None means equal pieces.
    """
    count = len(line.ranks)
    if sizes is None and wanted is None:
        if count == 1 or not value.size:
            return _nothing(line, "alltoall", value)

        def body(x: Any) -> Any:
            from jax import lax

            return lax.all_to_all(x.reshape(count, -1), AXIS, 0, 0).reshape(-1)

        return _begin(line, "alltoall", value, value.shape, "alltoall", body)
    _require_own("alltoall", value)
    own = [value.shape[0] // count] * count if sizes is None else list(sizes)
    expected = None if wanted is None else list(wanted)
    shown = f"{value.dtype}{list(value.shape)} in pieces of {own}"
    return line.begin("alltoall", shown, lambda: _swap_pieces(line, value, own, expected))


def _swap_pieces(line: Line, value: Any, own: list[int], expected: list[int] | None) -> Any:
    """Pieces of different lengths, in the line's thread: lengths first, then pieces filled up to a common length."""
    from jax import lax

    count, rest = len(line.ranks), value.shape[1:]
    table = line.run("lengths", lambda x: lax.all_gather(x, AXIS, tiled=True), np.array(own, np.int64))
    table = np.asarray(table).reshape(count, count)
    coming = [int(length) for length in table[:, line.position]]
    if expected is not None and coming != expected:
        raise value_error(
            "alltoall_single", f"the others send pieces of {coming} rows to process {line.ranks[line.position]}",
            f"out_split_sizes: {expected}", "let out_split_sizes be what the others have for this process in in_split_sizes",
        )  # fmt: skip
    width = int(np.prod(rest, dtype=np.int64))
    room = _roomy(int(table.max()) * width)
    if not room:
        return line.placed(np.zeros((sum(coming), *rest), value.dtype))
    host = np.asarray(value).reshape(-1)
    filled = np.zeros((count, room), host.dtype)
    begin = 0
    for position, length in enumerate(own):
        filled[position, : length * width] = host[begin * width : (begin + length) * width]
        begin += length
    swapped = line.run("alltoall", lambda x: lax.all_to_all(x.reshape(count, -1), AXIS, 0, 0).reshape(-1), filled)
    rows = np.asarray(swapped).reshape(count, room)
    pieces = [rows[position, : length * width] for position, length in enumerate(coming)]
    return line.placed(np.concatenate(pieces).reshape(sum(coming), *rest))


def _roomy(length: int) -> int:
    """The next larger of a few sizes."""
    if length < _SIZES_PER_DOUBLING:
        return length
    step = 1 << max(0, length.bit_length() - _SIZES_PER_DOUBLING.bit_length())
    return -(-length // step) * step


def send(line: Line, value: Any) -> Call:
    """From the first to the second process of a line of two: `value` goes from the first, and one like it comes."""
    if not value.size:
        return _nothing(line, "send", value)

    def body(x: Any) -> Any:
        from jax import lax

        return lax.ppermute(x, AXIS, [(0, 1)])

    return _begin(line, "send" if line.position == 0 else "recv", value, value.shape, "send", body)
