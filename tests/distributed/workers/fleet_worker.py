"""One process of a job of two whose models are divided: what a test asks for by name."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.distributed import fleet
from proa.distributed.fleet import meta_parallel as parallel
from proa.distributed.fleet.layers.mpu import mp_ops
from proa.distributed.fleet.layers.mpu.random import get_rng_state_tracker
from proa.distributed.fleet.meta_parallel.sharding.whole import Piece
from proa.distributed.fleet.recompute import recompute, recompute_hybrid
from proa.distributed.fleet.utils import sequence_parallel_utils as sequence
from proa.distributed.utils.moe_utils import global_gather, global_scatter
from proa.incubate.distributed.models.moe import MoELayer, NaiveGate

dist, nn, F = paddle.distributed, paddle.nn, paddle.nn.functional


def start(pipeline: Any = None, **degrees: Any) -> Any:
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = degrees
    strategy.pipeline_configs = pipeline or {}
    fleet.init(is_collective=True, strategy=strategy)
    return fleet.get_hybrid_communicate_group()


def everywhere(value: Any) -> list[Any]:
    found: list[Any] = []
    dist.all_gather_object(found, value)
    return found


def whole(parameter: Any) -> np.ndarray:
    """A divided parameter, put together."""
    return np.concatenate(everywhere(parameter.numpy()), axis=parameter.split_axis)


def layers() -> None:
    """Divided layers with every setting, beside the same arithmetic with the whole weights."""
    groups = start(mp_degree=2)
    rank = dist.get_rank()
    assert (groups.get_model_parallel_rank(), groups.get_model_parallel_world_size()) == (rank, 2)
    assert groups.get_parallel_mode() == dist.ParallelMode.TENSOR_PARALLEL
    random = np.random.default_rng(1)
    x, ids = random.normal(size=(3, 4)).astype("float32"), np.array([[0, 5, 3], [2, 1, 4]])
    column = parallel.ColumnParallelLinear(4, 6, has_bias=True, gather_output=True)
    row = parallel.RowParallelLinear(6, 4, input_is_parallel=False)
    table, entropy = parallel.VocabParallelEmbedding(6, 4), parallel.ParallelCrossEntropy(ignore_index=2)
    assert not np.array_equal(*everywhere(column.weight.numpy())), "each process draws its own part"
    fleet.distributed_model(nn.LayerList([column, row, table]))  # biases of rows begin alike
    weights = [whole(column.weight), whole(column.bias), whole(row.weight), row.bias.numpy(), whole(table.weight)]
    np.testing.assert_array_equal(*everywhere(row.bias.numpy()))

    given = paddle.to_tensor(x, stop_gradient=False)
    hidden = row(paddle.tanh(column(given)))
    label = paddle.to_tensor([0, 2, 5])
    scores = paddle.matmul(hidden, paddle.to_tensor(weights[4]).t())
    loss = entropy(mp_ops._c_split(scores), label).sum() + (table(paddle.to_tensor(ids)) ** 2).sum()
    loss.backward()

    ours = [paddle.to_tensor(each, stop_gradient=False) for each in (x, *weights)]
    hidden = paddle.tanh(ours[0] @ ours[1] + ours[2]) @ ours[3] + ours[4]
    scores = paddle.matmul(hidden, paddle.to_tensor(weights[4]).t())
    expected = F.cross_entropy(scores, label, reduction="sum", ignore_index=2)
    expected = expected + (F.embedding(paddle.to_tensor(ids), ours[5]) ** 2).sum()
    expected.backward()
    np.testing.assert_allclose(loss.numpy(), expected.numpy(), rtol=1e-5)
    np.testing.assert_allclose(given.grad.numpy(), ours[0].grad.numpy(), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(row.bias.grad.numpy(), ours[4].grad.numpy(), rtol=1e-4, atol=1e-6)
    divided = [column.weight, column.bias, row.weight, table.weight]
    for parameter, tensor in zip(divided, [*ours[1:4], ours[5]], strict=True):
        found = np.concatenate(everywhere(parameter.grad.numpy()), axis=parameter.split_axis)
        np.testing.assert_allclose(found, tensor.grad.numpy(), rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match=r"\(ColumnParallelLinear\) out_features must divide into 2 equal parts"):
        parallel.ColumnParallelLinear(4, 5)
    with pytest.raises(ValueError, match=r"\(ScatterOp\) the sequence must divide into 2 equal pieces"):
        sequence.ScatterOp.apply(paddle.ones([3, 1]))


def randomness() -> None:
    """What is drawn apart differs, what is drawn alike does not, and a second run draws the same."""
    start(mp_degree=2)
    tracker = get_rng_state_tracker()
    alike = everywhere(paddle.rand([4]).numpy())
    with tracker.rng_state():
        apart = everywhere(paddle.rand([4]).numpy())
    np.testing.assert_array_equal(*alike)
    assert not np.array_equal(*apart)

    def part(x: Any) -> Any:
        with tracker.rng_state():
            return F.dropout(x, 0.5) * 3

    group = fleet.get_hybrid_communicate_group().get_model_parallel_group()
    for run in (
        lambda x: recompute(part, x),
        # All processes have these inputs and results alike; each keeps a half.
        lambda x: recompute_hybrid({"mp_group": group, "partition": True}, lambda v: F.dropout(v, 0.5) * 3, x),
    ):
        x = paddle.ones([64])
        x.stop_gradient = False
        out = run(x)
        out.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), out.numpy())
    with pytest.raises(ValueError, match="'mp_group'"):
        recompute_hybrid({}, part, x)


def levels() -> None:
    """Group sharding: what each process keeps, and two backward passes for one update."""
    random = np.random.default_rng(2)
    inputs, first = random.normal(size=(2, 2, 3, 4)).astype("float32"), random.normal(size=(4, 5)).astype("float32")
    rank = dist.get_rank()
    results = []
    for level in ("os", "os_g", "p_g_os"):
        layer = nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 1))
        layer[0].weight.set_value(first)
        layer[0].bias.set_value(np.zeros(5, "float32"))
        layer[1].weight.set_value(first[:1].T)
        layer[1].bias.set_value(np.zeros(1, "float32"))
        optimizer = paddle.optimizer.Momentum(
            0.1, parameters=layer.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0)
        )
        scaler = paddle.amp.GradScaler(enable=False)
        model, divided, _ = dist.sharding.group_sharded_parallel(layer, optimizer, level, scaler, segment_size=5)
        if level == "p_g_os":
            assert layer[0].weight.shape == [10]
            assert layer[1].bias.shape == [1], "small parameters stay whole"
        for _ in range(2):
            for part in inputs[rank]:
                loss = (model(paddle.to_tensor(part)) ** 2).mean()
                with counting_gathers() as gathers:
                    loss.backward()
                assert (len(gathers) > 0) == (level == "p_g_os"), "the tape keeps pieces"
            if level == "os_g":
                kept = [each for each in layer.parameters() if each._grad is not None]
                assert 0 < len(kept) < 4
                assert sum(map(len, everywhere([each.name for each in kept]))) >= 4
            divided.step()
            divided.clear_grad()
            if level == "p_g_os":  # it goes on with its pieces
                with tempfile.TemporaryDirectory() as folder:
                    dist.sharding.save_group_sharded_model(model, folder, divided)
                    saved = paddle.load(f"{folder}/model.pdmodel") if rank == 0 else {}
                    assert os.path.exists(f"{folder}/model.pdopt.{rank}")
                assert [list(value.shape) for value in saved.values()] == (
                    [[4, 5], [5], [5, 1], [1]] if rank == 0 else []
                )
        states = [value for name, value in divided.state_dict().items() if "velocity" in name]
        counts = everywhere(sum(int(state.size) for state in states))
        assert sum(counts) == 31 + 2 * (level == "p_g_os"), (
            counts
        )  # five elements are cut into three and two, filled up
        if level == "p_g_os":
            model.get_all_parameters()
        results.append(np.concatenate([each.numpy().ravel() for each in layer.parameters()]))
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(results[0], _by_hand(first, inputs), rtol=1e-4, atol=1e-6)


@contextlib.contextmanager
def counting_gathers() -> Iterator[list[Any]]:
    """The parameters that are gathered inside the block."""
    found: list[Any] = []
    whole_of = Piece.whole
    Piece.whole = lambda self: (found.append(self), whole_of(self))[1]  # type: ignore[method-assign]
    try:
        yield found
    finally:
        Piece.whole = whole_of  # type: ignore[method-assign]


def _by_hand(first: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """The same training in one process, on the data of both."""
    layer = nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 1))
    values = [first, np.zeros(5, "float32"), first[:1].T, np.zeros(1, "float32")]
    for parameter, value in zip(layer.parameters(), values, strict=True):
        parameter.set_value(value)
    optimizer = paddle.optimizer.Momentum(0.1, parameters=layer.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
    for _ in range(2):
        for part in inputs.reshape(4, 3, 4):
            ((layer(paddle.to_tensor(part)) ** 2).mean() / 2).backward()
        optimizer.step()
        optimizer.clear_grad()
    return np.concatenate([each.numpy().ravel() for each in layer.parameters()])


def ring() -> None:
    """Attention over both pieces beside attention over the whole, with gradients."""
    groups = start(sep_degree=2)
    rank = dist.get_rank()
    random = np.random.default_rng(3)
    q, k, v, weight = random.normal(size=(4, 2, 6, 2, 3))
    for is_causal in (False, True):
        tensors = [paddle.to_tensor(each, stop_gradient=False) for each in (q, k, v)]
        expected = F.scaled_dot_product_attention(*tensors, is_causal=is_causal)
        (expected * paddle.to_tensor(weight)).sum().backward()
        own = slice(3 * rank, 3 * rank + 3)
        pieces = [paddle.to_tensor(each[:, own], stop_gradient=False) for each in (q, k, v)]
        found = parallel.ring_flash_attention(*pieces, is_causal=is_causal)
        (found * paddle.to_tensor(weight[:, own])).sum().backward()
        np.testing.assert_allclose(found.numpy(), expected.numpy()[:, own], rtol=1e-6)
        for piece, tensor in zip(pieces, tensors, strict=True):
            np.testing.assert_allclose(piece.grad.numpy(), tensor.grad.numpy()[:, own], rtol=1e-6, atol=1e-12)
    assert groups.get_sep_parallel_group().ranks == [0, 1]
    with pytest.raises(ValueError, match="masks and dropout do not go round"):
        parallel.ring_flash_attention(*pieces, dropout=0.1)


def experts() -> None:
    """Tokens on their way, and gates with capacities, beside NumPy."""
    rank = dist.get_rank()
    x = paddle.to_tensor([[1.0, 2], [3, 4], [5, 6], [7, 8], [9, 10]], stop_gradient=False)
    counts = paddle.to_tensor([[2, 1, 1, 1], [1, 1, 2, 1]][rank])
    arriving = paddle.to_tensor([[2, 1, 1, 1], [1, 1, 2, 1]][rank])
    rows = global_scatter(x, counts, arriving)
    expected = [[[1, 2], [3, 4], [1, 2], [5, 6], [3, 4]], [[7, 8], [5, 6], [7, 8], [9, 10], [9, 10]]][rank]
    assert rows.numpy().tolist() == expected
    back = global_gather(rows * rows, counts, arriving)
    np.testing.assert_allclose(back.numpy(), x.numpy() ** 2)
    back.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.numpy())

    group = dist.new_group([0, 1])
    made = nn.LayerList([nn.Linear(3, 3) for _ in range(2)])
    gate = NaiveGate(3, 2, 2, topk=2)
    for parameter in gate.parameters():
        dist.broadcast(parameter, 0)
    layer = MoELayer(3, made, gate, group)
    weights = [
        pair for pairs in everywhere([(each.weight.numpy(), each.bias.numpy()) for each in made]) for pair in pairs
    ]
    tokens = np.random.default_rng(10 + rank).normal(size=(2, 4, 3)).astype("float32")
    found = layer(paddle.to_tensor(tokens)).numpy()
    flat = tokens.reshape(-1, 3)
    scores = flat @ gate.gate.weight.numpy() + gate.gate.bias.numpy()
    chosen = np.argsort(-scores, 1)[:, :2]
    by_hand = sum(
        np.take_along_axis(scores, chosen[:, [i]], 1)
        * np.stack([token @ weights[e][0] + weights[e][1] for token, e in zip(flat, chosen[:, i], strict=True)])
        for i in range(2)
    )
    np.testing.assert_allclose(found.reshape(-1, 3), by_hand, rtol=1e-4, atol=1e-5)
    # Processes that divide weights have the same tokens: each sends a half of them, and all get everything.
    same = np.random.default_rng(5).normal(size=(2, 4, 3)).astype("float32")
    results = []
    for mp_group in (None, group):
        out = MoELayer(3, made, gate, group, mp_group)(paddle.to_tensor(same))
        (out**2).sum().backward()
        results.append([out.numpy(), gate.gate.weight.grad.numpy()])
        gate.clear_gradients()
    for alone, halves in zip(*results, strict=True):
        np.testing.assert_allclose(halves, alone, rtol=1e-4, atol=1e-5)
    for kind in ("gshard", "switch"):
        limited = MoELayer(3, made, {"type": kind}, group)
        limited.train()
        out = limited(paddle.to_tensor(tokens))
        (out.sum() + limited.gate.get_loss()).backward()
        assert out.shape == [2, 4, 3]
        assert not limited.gate.has_loss
        assert limited.gate.gate.weight.grad is not None


class Pair(nn.Layer):
    """Hands on an activation and integers, for which no gradient comes back."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, given: Any) -> Any:
        x, shift = given if isinstance(given, tuple) else (given, paddle.to_tensor([1]))
        return self.linear(x) * shift.astype("float32"), shift + 1


def pipeline() -> None:
    """Several tensors between stages, batches as lists, evaluation, and what is refused."""
    groups = start({"accumulate_steps": 2}, pp_degree=2)
    rank = dist.get_rank()
    assert (groups.get_stage_id(), groups.is_first_stage, groups.is_last_stage) == (rank, rank == 0, rank == 1)
    assert groups.get_rank_from_stage(1) == 1
    assert [group.ranks for group in groups.get_p2p_groups()] == [[0, 1]] * 4
    assert (groups.get_data_parallel_world_size(), groups.get_moe_sharding_parallel_world_size()) == (1, 0)
    model = parallel.PipelineLayer([parallel.LayerDesc(Pair)] * 3 + [lambda given: given[0]], loss_fn=nn.MSELoss())
    assert model.segment_parts == [0, 2, 4]
    assert next(iter(model.state_dict())) == f"{2 * rank}.linear.weight"
    stages = fleet.distributed_model(model)
    optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, parameters=model.parameters()))
    x, y = np.random.default_rng(4).normal(size=(2, 4, 3)).astype("float32")
    alone = nn.LayerList([Pair() for _ in range(3)])
    values: dict[str, Any] = {}
    for numbers in everywhere({name: parameter.numpy() for name, parameter in model.named_parameters()}):
        values.update(numbers)
    alone.set_state_dict(values)
    updates = paddle.optimizer.SGD(0.1, parameters=alone.parameters())
    for given in ((x, y), (list(x.reshape(2, 2, 3)), list(y.reshape(2, 2, 3)))):
        batch = tuple(
            [paddle.to_tensor(part) for part in each] if isinstance(each, list) else paddle.to_tensor(each)
            for each in given
        )
        expected = nn.MSELoss()(_chain(alone, x), paddle.to_tensor(y))
        assert stages.eval_batch(batch, compute_loss=True).item() == pytest.approx(expected.item(), rel=1e-5)
        outputs = stages.eval_batch(batch)
        assert [each.shape for each in outputs] == ([[2, 3], [2, 3]] if rank == 1 else [])
        loss = stages.train_batch(batch, optimizer)
        assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
        expected.backward()
        updates.step()
        updates.clear_grad()
    own = model.state_dict()
    for name, value in own.items():
        np.testing.assert_allclose(value.numpy(), alone.state_dict()[name].numpy(), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="accumulate_steps: 2 equal micro-batches"):
        parallel.pipeline_parallel.micro_batch(paddle.ones([3, 1]), 0, 2)
    with pytest.raises(TypeError, match="must be a PipelineLayer; received Linear"):
        fleet.distributed_model(nn.Linear(1, 1))


def _chain(layers: Any, x: np.ndarray) -> Any:
    given: Any = paddle.to_tensor(x)
    for layer in layers:
        given = layer(given)
    return given[0]


def overflow() -> None:
    """An overflow in one process leaves the update out in both."""
    start(mp_degree=2)
    layer = nn.Linear(2, 1)
    before = layer.weight.numpy()
    optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, parameters=layer.parameters()))
    scaler = fleet.distributed_scaler(paddle.amp.GradScaler(init_loss_scaling=4.0, use_dynamic_loss_scaling=False))
    loss = (layer(paddle.ones([1, 2])) * (np.inf if dist.get_rank() == 1 else 1.0)).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    np.testing.assert_array_equal(layer.weight.numpy(), before)


if __name__ == "__main__":
    dist.init_parallel_env()
    for name in sys.argv[1].split(","):
        globals()[name]()
        print(name, "done", flush=True)
