"""One process of a job: what a test asks for by name. Prints what it found; a failed assertion is its exit status."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import jax
import numpy as np
import pytest

import proa as paddle
from proa.distributed.transport import operations, store

dist = paddle.distributed


def gradients() -> None:
    """The differentiable operations, beside the gradients of the sum of both processes' losses, by hand."""
    rank, ranks = dist.get_rank(), (0, 1)
    xs = [np.array([[1.0, 2.0], [3.0, -4.0]]) * (r + 1) for r in ranks]
    weights = [np.arange(4.0).reshape(2, 2) + r for r in ranks]

    def grad_of(function: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = paddle.to_tensor(xs[rank], stop_gradient=False)
        out = function(x)
        (out * paddle.to_tensor(weight)).sum().backward()
        return out.numpy(), x.grad.numpy()

    total = weights[0] + weights[1]
    out, grad = grad_of(lambda x: operations.all_reduce_op(x, "sum", ranks), weights[rank])
    np.testing.assert_allclose(out, xs[0] + xs[1])
    np.testing.assert_allclose(grad, total)
    _, grad = grad_of(lambda x: operations.all_reduce_op(x, "avg", ranks), weights[rank])
    np.testing.assert_allclose(grad, total / 2)
    _, grad = grad_of(lambda x: operations.all_reduce_op(x, "max", ranks), weights[rank])
    np.testing.assert_allclose(grad, total * (xs[rank] == np.maximum(*xs)))
    _, grad = grad_of(lambda x: operations.all_reduce_op(x, "prod", ranks), weights[rank])
    np.testing.assert_allclose(grad, total * xs[1 - rank])
    out, grad = grad_of(lambda x: operations.sum_forward(x, ranks), weights[rank])
    np.testing.assert_allclose(out, xs[0] + xs[1])
    np.testing.assert_allclose(grad, weights[rank])
    out, grad = grad_of(lambda x: operations.sum_backward(x, ranks), weights[rank])
    np.testing.assert_allclose(out, xs[rank])
    np.testing.assert_allclose(grad, total)
    tall = np.arange(8.0).reshape(4, 2) * (rank + 1)
    talls = [np.arange(8.0).reshape(4, 2) * (r + 1) for r in ranks]
    out, grad = grad_of(lambda x: operations.all_gather_op(x, ranks), tall)
    np.testing.assert_allclose(out, np.concatenate(xs))
    np.testing.assert_allclose(grad, (talls[0] + talls[1])[2 * rank : 2 * rank + 2])
    out, grad = grad_of(lambda x: operations.reduce_scatter_op(x, ranks, "sum"), weights[rank][:1])
    np.testing.assert_allclose(out, (xs[0] + xs[1])[rank : rank + 1])
    np.testing.assert_allclose(grad, np.concatenate([weights[0][:1], weights[1][:1]]))
    out, grad = grad_of(lambda x: operations.all_to_all_op(x, ranks, (), ()), weights[rank])
    np.testing.assert_allclose(out, np.stack([xs[0][rank], xs[1][rank]]))
    np.testing.assert_allclose(grad, np.stack([weights[0][rank], weights[1][rank]]))
    _, grad = grad_of(lambda x: operations.broadcast_op(x, ranks, 1), weights[rank])
    np.testing.assert_allclose(grad, total if rank == 1 else 0 * total)
    x = paddle.to_tensor(2.0 + rank, stop_gradient=False)  # 0-d, and differentiated twice
    y = operations.all_gather_op(x * x, ranks)
    (first,) = paddle.grad(y.sum(), x, create_graph=True)
    np.testing.assert_allclose(first.numpy(), 2 * 2 * (2.0 + rank))
    first.backward()
    np.testing.assert_allclose(x.grad.numpy(), 4.0)


def in_place() -> None:
    """Tensors change in place, with those that share their memory; gradients that were recorded stay."""
    rank = dist.get_rank()
    whole = paddle.zeros([3, 2])
    whole[1] = float(rank + 1)
    dist.all_reduce(whole[1])
    assert whole.numpy().tolist() == [[0.0, 0.0], [3.0, 3.0], [0.0, 0.0]]
    x = paddle.to_tensor([1.0], stop_gradient=False)
    y = x * 2
    dist.all_reduce(y)
    assert y.numpy().tolist() == [4.0]
    (y * 3).backward()
    assert x.grad.numpy().tolist() == [6.0], "as in Paddle: a collective in place leaves no trace in the graph"
    parameter = paddle.nn.Linear(2, 2).weight
    dist.broadcast(parameter, 0)
    assert not parameter.stop_gradient


def uneven_steps() -> None:
    """Segments are cut differently in each process, which has nothing to do with their collectives."""
    rank = dist.get_rank()
    total = 0.0
    for step in range(30):
        x = paddle.full([4], float(step + rank)) * 2
        if rank == 0 and step % 3 == 0:
            float(x.sum())
        y = x + 1
        dist.all_reduce(y)
        total += float(y[0]) if rank == 1 else 0.0
    if rank == 1:
        assert total == sum(2 * step + 1 + 2 * (step + 1) + 1 for step in range(30))


def refusals() -> None:
    """Bad input is refused before anything is sent, so the group goes on."""
    rank = dist.get_rank()
    x = paddle.ones([3])
    for call, words in [
        (lambda: dist.broadcast(x, 5), "src must be one of the group's processes"),
        (lambda: dist.new_group([0, 2]), "different ones of processes 0 to 1"),
        (lambda: dist.new_group([0, 0]), "different ones"),
        (lambda: dist.stream.reduce_scatter(paddle.ones([1]), x), "must divide into 2 equal parts"),
        (lambda: dist.scatter(x, [x], src=rank), "one tensor for each of the 2 processes"),
        (lambda: dist.send(x, rank), "with another one"),
        (lambda: dist.alltoall_single(x, x, [1, 1], [1, 2]), "sizes must add up"),
        (lambda: dist.new_group([0, 1], timeout=0), "longer than nothing"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(ValueError, match="the others send pieces of"):
        dist.alltoall_single(paddle.ones([3]), paddle.ones([3]), [1, 2], [2, 1] if rank else [1, 2])
    function = paddle.jit.to_static(lambda t: operations.all_reduce_op(t, "sum", (0, 1)), full_graph=True)
    with pytest.raises(RuntimeError, match="one call at a time, which a graph cannot hold"):
        function(x)
    devices = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    everywhere = jax.sharding.NamedSharding(devices, jax.sharding.PartitionSpec())
    spread = paddle.to_tensor(jax.make_array_from_callback((2,), everywhere, lambda _: np.ones(2, "float32")))
    with pytest.raises(ValueError, match="each process gives a tensor of its own, and this one is spread over devices"):
        dist.all_reduce(spread)
    dist.shutdown_process_group()
    dist.restart_process_group()
    dist.gloo_barrier()
    dist.all_reduce(x)
    assert x.numpy().tolist() == [2.0] * 3


def absent() -> None:
    """Process 1 does not come: who waits is told so."""
    x = paddle.ones([2])
    dist.all_reduce(x)
    group = dist.new_group([0, 1], timeout=3)
    if dist.get_rank() == 0:
        for call in (lambda: dist.all_reduce(x, group=group), lambda: dist.barrier(group)):
            with pytest.raises(TimeoutError) as raised:
                call()
            print(raised.value)
        store.put("told", b"1")
        time.sleep(1)
    else:
        store.take("told", 60_000)
    sys.stdout.flush()
    os._exit(0)


def killed() -> None:
    """Process 1 is killed while process 0 waits for it."""
    x = paddle.ones([2])
    dist.all_reduce(x)
    if dist.get_rank() == 1:
        time.sleep(1)
        os.kill(os.getpid(), 9)
    dist.all_reduce(x)


def failing() -> None:
    """Process 1 fails: it must not wait for the others when it ends."""
    dist.all_reduce(paddle.ones([1]))
    if dist.get_rank() == 1:
        raise ArithmeticError("on purpose")
    dist.all_reduce(paddle.ones([1]))


def leaving() -> None:
    """Process 1 leaves with a status of its own."""
    dist.all_reduce(paddle.ones([1]))
    if dist.get_rank() == 1:
        sys.exit(7)
    dist.all_reduce(paddle.ones([1]))


if __name__ == "__main__":
    dist.init_parallel_env()
    for name in sys.argv[1].split(","):
        globals()[name]()
        print(name, "done", flush=True)
