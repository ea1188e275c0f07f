"""Training on a mesh: layers, optimisers, loaders, plans, programs, pipelines; a selection of the forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import distributed as dist
from proa import nn
from proa.distributed.parallelizing.pipeline import assign_stages, run_micro_batches
from proa.io import DataLoader, Dataset
from proa.ir.tiers import kept
from tests.distributed import forms
from tests.distributed.support import models
from tests.distributed.support.models import GPT, MLP, batch, loss_of

GRID = dist.ProcessMesh([[0, 1, 2, 3], [4, 5, 6, 7]], ["dp", "mp"])
LINE = dist.ProcessMesh(list(range(8)), ["x"])
R, S, P = dist.Replicate, dist.Shard, dist.Partial


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype("float32")


@pytest.fixture
def one_layer() -> Iterator[None]:
    """The GPT of the forms with one layer: compiling four takes four times as long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "LAYERS", 1)
        yield


@pytest.fixture(scope="module")
def known() -> dict[str, list[float]]:
    return {}


@pytest.fixture
def single(one_layer: None, known: dict[str, list[float]], model: str) -> dict[str, list[float]]:
    """The losses of one device, by the name of the model; computed once."""
    if model not in known:
        known[model] = forms.losses(None, model == "GPT", False, 5)[0]
    return known


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("sharding 2", "MLP"), ("sharding 3 x tp", "MLP"), ("dp x sp", "GPT"), ("dp x tp x pp", "MLP"),
        ("dp x tp, to_static", "MLP"),
    ],
)  # fmt: skip
def test_losses_are_those_of_one_device(name: str, model: str, single: dict[str, list[float]]) -> None:
    form = next(form for form in forms.FORMS if form.name == name)
    difference, _ = forms.worst(form, model, single, 5)
    assert difference < forms.TOLERANCE


def test_shard_layer_lays_out_parameters_inputs_and_outputs() -> None:
    def shard(name: str, layer: Any, mesh: Any) -> None:
        if name == "0":
            dist.shard_tensor(layer.weight, mesh, [R(), S(1)])

    paddle.seed(1)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4), nn.BatchNorm1D(4))
    expected = model(paddle.to_tensor(numbers(8, 8))).numpy()
    seen: list[Any] = []
    model = dist.shard_layer(
        model, GRID, shard, lambda inputs, mesh: [dist.shard_tensor(inputs[0], mesh, [S(0), R()])],
        lambda outputs, mesh: seen.append(outputs.is_dist()) or dist.reshard(outputs, mesh, [R(), R()]),
    )  # fmt: skip
    model.train()
    result = model(paddle.to_tensor(numbers(8, 8)))
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-4, atol=1e-5)
    assert seen == [True]
    assert result.placements == [R(), R()]
    assert model[0].weight._local_shape == [8, 4]
    assert model[2].weight.placements == [R(), R()]
    assert all(tensor.is_dist() for tensor in (*model.parameters(), *model.buffers()))
    with pytest.raises(TypeError, match="must be a Layer"):
        dist.shard_layer(3, GRID)


@pytest.mark.parametrize(("stage", "state", "weight"), [(1, 8, 64), (2, 8, 64), (3, 8, 8)])
def test_stages_cut_what_they_say(stage: int, state: int, weight: int) -> None:
    model = nn.Linear(16, 64)
    optimizer = paddle.optimizer.Adam(0.1, parameters=model.parameters())
    kind = (dist.ShardingStage1, dist.ShardingStage2, dist.ShardingStage3)[stage - 1]
    optimizer = dist.shard_optimizer(optimizer, kind("x", LINE))
    for _ in range(3):
        (model(dist.shard_tensor(numbers(8, 16), LINE, [S(0)])) ** 2).mean().backward()
        grad = model.weight.grad
        rows = grad._data().addressable_shards[0].data.shape[0]
        assert rows == (16 if stage == 1 else 2), "gradients are cut from stage 2 on"
        optimizer.step()
        optimizer.clear_grad()
    moment = optimizer.state_dict()[f"{model.weight.name}_moment1_0"]
    assert moment._data().addressable_shards[0].data.shape == (2, 64)
    assert model.weight._data().addressable_shards[0].data.shape == (2 if stage == 3 else 16, 64)
    assert (state, weight) == (8, 8 if stage == 3 else 64)


@pytest.mark.parametrize(("cut", "found"), [(0, 1), (1, 0)])
def test_stages_cut_a_dimension_that_is_whole(cut: int, found: int) -> None:
    """To cut the same one again, devices would have to exchange their parts in each step."""
    mesh = dist.ProcessMesh(np.arange(8).reshape(2, 4), ["dp", "mp"])
    layer = nn.Linear(8, 8)
    dist.shard_tensor(layer.weight, mesh, [dist.Replicate(), dist.Shard(cut)])
    dist.shard_tensor(layer.bias, mesh, [dist.Replicate(), dist.Shard(0)])
    optimizer = paddle.optimizer.Adam(0.1, parameters=layer.parameters())
    dist.shard_optimizer(optimizer, dist.ShardingStage3("dp"))
    assert layer.weight.placements == [dist.Shard(found), dist.Shard(cut)]
    assert layer.bias.placements == [dist.Shard(0), dist.Shard(0)]  # it has no other


def test_a_step_is_one_program_that_writes_over_its_state() -> None:
    model = nn.Linear(16, 48)
    optimizer = paddle.optimizer.Adam(0.1, parameters=model.parameters())
    dist.shard_layer(model, LINE)
    optimizer = dist.shard_optimizer(optimizer, dist.ShardingStage1("x"))
    before = set(kept.PROGRAMS)
    for _ in range(4):
        loss = (model(dist.shard_tensor(numbers(8, 16), LINE, [S(0)])) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        assert float(loss) > 0
    made = [record for key, record in kept.PROGRAMS.items() if key not in before]
    steps = [record for record in made if record.hits > 1]
    assert len(steps) == 1
    assert steps[0].hits == 4
    assert steps[0].donated >= 6  # weight and bias, each with two moments


def test_states_are_laid_out_by_a_function() -> None:
    asked: list[str] = []

    def place(key: str, parameter: Any, state: Any) -> Any:
        asked.append(key)
        return dist.shard_tensor(state, LINE, [S(state.ndim - 1)])

    model = nn.Linear(8, 16)
    dist.shard_layer(model, LINE)
    optimizer = dist.shard_optimizer(paddle.optimizer.Momentum(0.1, parameters=model.parameters()), place, 2)
    assert optimizer.gradient_accumulation_steps == 2
    model(paddle.ones([2, 8])).sum().backward()
    optimizer.step()
    assert set(asked) == {"velocity"}
    assert optimizer.state_dict()[f"{model.weight.name}_velocity_0"]._local_shape == [8, 2]
    for bad in (0, True, 1.5):
        with pytest.raises((TypeError, ValueError), match="gradient_accumulation_steps"):
            dist.shard_optimizer(optimizer, None, bad)
    with pytest.raises(ValueError, match="no mesh is known"):
        dist.shard_optimizer(paddle.optimizer.SGD(0.1, parameters=nn.Linear(2, 2).parameters()), dist.ShardingStage1(0))


def test_mixed_precision() -> None:
    def losses(spread: bool) -> list[float]:
        paddle.seed(4)
        model = nn.Linear(16, 8)
        optimizer: Any = paddle.optimizer.AdamW(0.01, parameters=model.parameters())
        if spread:
            dist.shard_layer(model, GRID)
            optimizer = dist.shard_optimizer(optimizer, dist.ShardingStage2("dp"))
        found = []
        for _ in range(4):
            x = paddle.to_tensor(numbers(8, 16))
            with paddle.amp.auto_cast(dtype="bfloat16"):
                loss = (model(dist.shard_tensor(x, GRID, [S(0)]) if spread else x).astype("float32") ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            found.append(float(loss))
        return found

    np.testing.assert_allclose(losses(True), losses(False), rtol=1e-2)
    scaler = paddle.amp.GradScaler()
    assert dist.shard_scaler(scaler) is scaler


class Rows(Dataset):
    def __getitem__(self, index: int) -> Any:
        return np.full(3, index, "float32"), np.int64(index)

    def __len__(self) -> int:
        return 16


def test_batches_lie_on_the_mesh() -> None:
    loader = dist.shard_dataloader(DataLoader(Rows(), batch_size=8), GRID, shard_dims="dp")
    assert len(loader) == 2
    for number, (x, y) in enumerate(loader()):
        assert (x.placements, x._local_shape, y._local_shape) == ([S(0), R()], [4, 3], [4])
        assert y.numpy().tolist() == list(range(8 * number, 8 * number + 8))
    halves = [dist.ProcessMesh([0, 1, 2, 3], ["dp"]), dist.ProcessMesh([4, 5, 6, 7], ["dp"])]
    x, y = next(iter(dist.shard_dataloader(DataLoader(Rows(), batch_size=8), halves, shard_dims="dp")))
    assert (x.process_mesh, y.process_mesh) == tuple(halves)
    with pytest.raises(ValueError, match="one axis for all meshes"):
        dist.shard_dataloader(DataLoader(Rows()), halves, shard_dims=["dp", "dp", "dp"])


def test_local_layers_see_parts() -> None:
    class Mean(dist.LocalLayer):
        def forward(self, x: Any) -> Any:
            return x.sum() / 24.0

    x = paddle.to_tensor(numbers(8, 3), stop_gradient=False)
    laid_out = dist.shard_tensor(x, LINE, [S(0)])
    result = Mean([(LINE, [P()])], [(LINE, [P()])])(laid_out)
    np.testing.assert_allclose(float(result), numbers(8, 3).mean(), rtol=1e-5)
    result.backward()
    np.testing.assert_allclose(x.grad.numpy(), np.full((8, 3), 1 / 24), rtol=1e-5)
    doubled = dist.local_map(lambda part: part * 2.0, [[S(0)]], [[S(0)]])(laid_out)
    np.testing.assert_allclose(doubled.numpy(), 2 * numbers(8, 3), rtol=1e-6)
    with pytest.raises(ValueError, match="must lie as"):
        dist.local_map(lambda part: part, [[S(0)]], [[R()]])(laid_out)
    with pytest.raises(ValueError, match="process_mesh must be given"):
        dist.local_map(lambda part: part, [[S(0)]])(paddle.ones([2]))


def test_programs_train_evaluate_and_predict() -> None:
    paddle.seed(3)
    model = MLP()
    optimizer = paddle.optimizer.AdamW(0.01, parameters=model.parameters())
    model, optimizer = dist.parallelize(model, optimizer, GRID, {"dp_config": {"sharding_level": 1}})
    strategy = dist.Strategy({"gradient_merge": {"enable": True, "k_steps": 2}})
    static = dist.to_static(model, None, loss_of, optimizer, strategy)
    x, y = (paddle.to_tensor(one) for one in batch(0, False))
    before = model.head.weight.numpy()
    first = float(static(x, y))
    assert (model.head.weight.numpy() == before).all(), "gradients of two calls are added up"
    static(x, y)
    assert not (model.head.weight.numpy() == before).all()
    for _ in range(6):
        static(x, y)
    static.eval()
    assert float(static(x, y)) < first
    static.predict()
    logits = static(x)
    np.testing.assert_allclose(float(loss_of(logits, y)), _loss(model, x, y), rtol=1e-5)
    assert any(i.operation.name == "lay_out" for i in static.dist_main_program("predict").instructions)
    with pytest.raises(ValueError, match="a mode is one of"):
        static.dist_main_program("other")
    state = {key: value.numpy() for key, value in static.state_dict("param").items()}
    static.set_state_dict({key: np.zeros_like(value) for key, value in state.items()})
    assert not model.head.weight.numpy().any()
    assert model.head.weight.is_dist()
    assert set(state) < set(static.state_dict())
    with pytest.raises(ValueError, match="needs loss"):
        dist.to_static(model).train()
    with pytest.raises(ValueError, match="level is o1, o2 or o3"):
        dist.to_static(model, None, loss_of, optimizer, dist.Strategy({"amp": {"enable": True, "level": "o7"}}))


def _loss(model: Any, x: Any, y: Any) -> float:
    model.eval()
    return float(loss_of(model(x), y))


def test_strategies_refuse_what_they_do_not_know() -> None:
    strategy = dist.Strategy({"pipeline": {"accumulate_steps": 4}})
    assert (strategy.pipeline.accumulate_steps, strategy.sharding.stage, strategy.amp.enable) == (4, 1, False)
    with pytest.raises(ValueError, match="there is no setting 'steps'"):
        strategy.pipeline.steps = 3
    with pytest.raises(ValueError, match="the parts are"):
        dist.Strategy({"pipelines": {}})


def test_plans_lay_out_by_name() -> None:
    model = GPT()
    plan = {
        "tokens": dist.ColWiseParallel(), r"blocks\.\d+\.mlp\.up": dist.ColWiseParallel(),
        r"blocks\.\d+\.mlp\.down": dist.RowWiseParallel(is_input_parallel=False), "head.weight": dist.ColWiseParallel(True),
    }  # fmt: skip
    dist.parallelize(model, None, GRID, {"mp_config": {"parallelize_plan": plan}})
    assert model.tokens.weight.placements == [R(), S(1)]
    assert model.blocks[1].mlp.up.bias.placements == [R(), S(0)]
    assert model.blocks[2].mlp.down.weight.placements == [R(), S(0)]
    assert (model.head.weight.placements, model.head.bias.placements) == ([R(), S(1)], [R(), R()])
    with pytest.raises(ValueError, match="no layer is called 'nothing'"):
        dist.parallelize(model, None, GRID, {"mp_config": {"parallelize_plan": {"nothing": dist.ColWiseParallel()}}})
    with pytest.raises(TypeError, match="is one of dist's"):
        dist.parallelize(model, None, GRID, {"mp_config": {"parallelize_plan": {"head": 3}}})
    with pytest.raises(ValueError, match="has 2 dimension"):
        dist.parallelize(model, None, GRID, {"mp_config": {"parallelize_plan": {"norm": dist.ColWiseParallel()}}})
    with pytest.raises(ValueError, match="sharding_level is"):
        dist.parallelize(model, None, GRID, {"dp_config": {"sharding_level": 4}})
    assert dist.parallelize(model, None, None, None) == (model, None)


def test_sequences_are_cut_between_begin_and_end() -> None:
    class Inner(nn.Layer):
        def forward(self, x: Any) -> Any:
            seen.append((list(x.shape), x.placements))
            return x * 2.0

    seen: list[Any] = []
    model = nn.Sequential(nn.Linear(4, 4), Inner(), Inner(), Inner())
    plan = {"0": dist.SequenceParallelBegin(), "2": dist.SequenceParallelDisable(), "3": dist.SequenceParallelEnd()}
    x = paddle.to_tensor(numbers(2, 8, 4))
    expected = model(x).numpy()
    seen.clear()
    dist.parallelize(model, None, GRID, {"mp_config": {"parallelize_plan": plan}})
    np.testing.assert_allclose(model(x).numpy(), expected, rtol=1e-5, atol=1e-5)
    assert seen[0] == ([8, 2, 4], [S(1), S(0)])
    assert seen[1] == ([2, 8, 4], [S(0), R()])
    assert seen[2] == ([2, 8, 4], [S(0), R()])


@pytest.mark.parametrize("backend", ["p2p", "all2all"])
def test_attention_over_a_cut_sequence(backend: str) -> None:
    class Attend(nn.Layer):
        def forward(self, q: Any, k: Any, v: Any) -> Any:
            return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    class Model(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.attend = Attend()

        def forward(self, x: Any) -> Any:
            return self.attend(x, x * 0.5, x + 1.0)

    mesh = dist.ProcessMesh(np.arange(8).reshape(2, 4), ["dp", "sep"])
    model, x = Model(), paddle.to_tensor(numbers(2, 8, 4, 4))
    expected = model(x).numpy()
    plan = {"": dist.PrepareContextParallel(backend), "attend": dist.ContextParallel(backend)}
    dist.parallelize(model, None, mesh, {"cp_config": {"parallelize_plan": plan}})
    result = model(x)
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-4, atol=1e-5)
    assert result.placements == [S(0), S(1)]
    with pytest.raises(ValueError, match="backend is one of"):
        dist.ContextParallel("ring")


def test_images_cut_by_columns() -> None:
    model, x = nn.Sequential(nn.Conv2D(2, 3, 3, padding=1)), paddle.to_tensor(numbers(2, 2, 8, 8))
    expected = model(x).numpy()
    dist.parallelize(model, None, GRID, {"mp_config": {"parallelize_plan": {"0": dist.ConvParallel()}}})
    np.testing.assert_allclose(model(x).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_stages_are_found_by_names() -> None:
    stages = assign_stages(GPT(), "blocks", 4)
    assert (stages["tokens"], stages["blocks.0.mlp.up"], stages["blocks.3"], stages["head"]) == (0, 0, 3, 3)
    assert "blocks" not in stages
    ended = assign_stages(GPT(), {r"blocks\.1": dist.SplitPoint.END}, 2)
    assert (ended["blocks.1.mlp"], ended["blocks.2"], ended["norm"]) == (0, 1, 1)
    with pytest.raises(ValueError, match="8 stages need as many layers"):
        assign_stages(GPT(), "blocks", 8)
    with pytest.raises(ValueError, match="need 2 split point"):
        assign_stages(GPT(), {"norm": dist.SplitPoint.BEGINNING}, 3)


def test_one_forward_one_backward() -> None:
    order: list[str] = []
    weight = paddle.ones([1])
    weight.stop_gradient = False

    def forward(number: int) -> Any:
        order.append(f"F{number}")
        loss = (weight * float(number)).sum()
        loss.register_hook(lambda grad: order.append(f"B{number}"))
        return loss

    total = run_micro_batches(forward, 5, 3)
    assert " ".join(order) == "F0 F1 F2 B0 F3 B1 F4 B2 B3 B4"
    assert float(total) == 2.0
    assert weight.grad.numpy().tolist() == [2.0]


def test_stages_lie_on_their_devices() -> None:
    mesh = dist.ProcessMesh(np.arange(8).reshape(2, 4), ["dp", "pp"])
    model, optimizer = dist.parallelize(
        MLP(), None, mesh, {"pp_config": {"split_spec": "blocks"}, "dp_config": {"sharding_level": 0}}
    )
    assert optimizer is None
    for stage in range(4):
        assert {device.id for device in model.blocks[stage].weight._data().sharding.device_set} == {stage, stage + 4}
    x, y = batch(0, False)
    loss = loss_of(model(paddle.to_tensor(x)), paddle.to_tensor(y))
    loss.backward()
    for stage in range(4):
        assert {device.id for device in model.blocks[stage].weight.grad._data().sharding.device_set} == {
            stage,
            stage + 4,
        }
    with pytest.raises(ValueError, match="micro-batches of one size"):
        dist.to_static(
            model, None, loss_of, paddle.optimizer.SGD(0.1, parameters=model.parameters()),
            dist.Strategy({"pipeline": {"enable": True, "accumulate_steps": 3}}),
        )(paddle.to_tensor(x), paddle.to_tensor(y))  # fmt: skip


def test_older_annotations() -> None:
    assert dist.DistAttr(GRID, [None, "mp"]).dims_mapping == [-1, 1]
    product = dist.shard_op(paddle.matmul, GRID, [["dp", None], [None, "mp"]], [["dp", "mp"]])
    result = product(paddle.to_tensor(numbers(4, 8)), paddle.to_tensor(numbers(8, 4)))
    assert result.placements == [S(0), S(1)]
    np.testing.assert_allclose(result.numpy(), numbers(4, 8) @ numbers(8, 4), rtol=1e-4, atol=1e-5)
    dist.set_mesh(GRID)
    x = paddle.to_tensor(numbers(4, 8))
    for axis in (0, 1):
        paddle.seed(5)
        whole = nn.Linear(8, 12)(x)
        paddle.seed(5)
        cut = dist.split(x, (8, 12), "linear", axis=axis, num_partitions=4)
        np.testing.assert_allclose(cut.numpy(), whole.numpy(), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="'mp' of 3 devices"):
        dist.split(x, (8, 12), "linear", num_partitions=3)
    model, optimizer, loader = dist.to_distributed(
        nn.Linear(3, 1), paddle.optimizer.SGD(0.1, parameters=[]), DataLoader(Rows(), batch_size=8), 8
    )
    assert model(next(iter(loader))[0]).shape == [8, 1]
    assert optimizer.gradient_accumulation_steps == 1
