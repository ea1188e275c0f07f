"""`paddle.distributed` and `fleet` in one process: rank 0 of 1, collectives that are the identity."""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import distributed as dist
from proa import nn
from proa.core import job
from proa.distributed import fleet, passes
from proa.distributed.fleet.layers.mpu import mp_layers, mp_ops
from proa.distributed.fleet.layers.mpu.random import RNGStatesTracker, get_rng_state_tracker
from proa.distributed.fleet.meta_parallel import LayerDesc, PipelineLayer, PipelineParallel, SharedLayerDesc
from proa.distributed.fleet.utils import mix_precision_utils, sequence_parallel_utils, timer_helper
from proa.ir import xla

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_there_is_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (dist.get_rank(), dist.get_world_size(), dist.is_available()) == (0, 1, True)
    environment = dist.ParallelEnv()
    assert (environment.rank, environment.local_rank, environment.world_size, environment.nranks) == (0, 0, 1, 1)
    group = dist.init_parallel_env()
    assert dist.is_initialized()
    assert (group.rank, group.nranks, group.ranks, group.is_member()) == (0, 1, [0], True)
    other = dist.new_group([0])
    assert dist.get_group(other.id) is other
    assert (dist.get_rank(other), dist.get_world_size(other)) == (0, 1)
    dist.destroy_process_group()
    assert not dist.is_initialized()
    assert dist.get_group(other.id) is None
    with pytest.raises(ValueError, match="different ones of process 0"):
        dist.new_group([0, 1])


def test_collectives_leave_what_one_process_leaves() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    assert dist.all_reduce(x, op=dist.ReduceOp.MAX).wait()
    dist.broadcast(x, src=0)
    dist.reduce(x, dst=0)
    dist.barrier()
    assert x.numpy().tolist() == [1.0, 2.0]
    gathered: list[Any] = []
    dist.all_gather(gathered, x)
    x[0] = 5.0
    assert [one.numpy().tolist() for one in gathered] == [[1.0, 2.0]]
    objects: list[Any] = []
    dist.all_gather_object(objects, {"a": 1})
    assert objects == [{"a": 1}]
    out = paddle.zeros([2])
    dist.scatter(out, [x])
    assert out.numpy().tolist() == [5.0, 2.0]
    exchanged: list[Any] = []
    dist.alltoall(exchanged, [x])
    dist.alltoall_single(out, x * 2)
    assert exchanged[0].numpy().tolist() == [5.0, 2.0]
    assert out.numpy().tolist() == [10.0, 4.0]
    dist.stream.all_gather(out, x, use_calc_stream=True)
    assert out.numpy().tolist() == [5.0, 2.0]


def test_what_one_process_cannot_do_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    x = paddle.ones([1])
    with pytest.raises(ValueError, match=r"\(send\) dst must be one of the group's processes \[0\]; received dst: 1"):
        dist.send(x, 1)
    with pytest.raises(ValueError, match=r"\(recv\) a process exchanges messages with another one"):
        dist.recv(x, 0)
    with pytest.raises(ValueError, match=r"\(broadcast\) src must be one of the group's processes \[0\]"):
        dist.broadcast(x, src=1)
    with pytest.raises(ValueError, match=r"op must be ReduceOp.SUM, MAX, MIN, PROD or AVG; received op: 7"):
        dist.all_reduce(x, op=7)
    with pytest.raises(ValueError, match=r"complex numbers have no max"):
        dist.all_reduce(x.astype("complex64"), op=dist.ReduceOp.MAX)
    with pytest.raises(TypeError, match=r"\(all_reduce\) tensors are exchanged"):
        dist.all_reduce([1.0])
    with pytest.raises(ValueError, match="one tensor for each of the 1 processes"):
        dist.alltoall([], [x, x])
    with pytest.raises(ValueError, match="the list must be empty or have 1 tensors"):
        dist.all_gather([x, x], x)


def test_a_process_that_has_not_met_the_others_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    dist.destroy_process_group()
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    for call in (lambda: dist.all_reduce(paddle.ones([1])), dist.barrier):
        with pytest.raises(RuntimeError, match=r"has not met the 1 others of the job; call .*init_parallel_env"):
            call()
    dist.destroy_process_group()
    with pytest.raises(ValueError, match=r"processes must know where to meet.*set PADDLE_MASTER=host:port"):
        job._address()
    monkeypatch.setenv("PADDLE_MASTER", "127.0.0.1:1")
    monkeypatch.setenv("PADDLE_TRAINER_ID", "2")
    with pytest.raises(ValueError, match="PADDLE_TRAINER_ID must be smaller than PADDLE_TRAINERS_NUM"):
        job._address()
    monkeypatch.setenv("PADDLE_TRAINER_ID", "one")
    with pytest.raises(ValueError, match="PADDLE_TRAINER_ID must be a whole number"):
        dist.get_rank()
    monkeypatch.setenv("PADDLE_TRAINER_ID", "0")
    xla.started_jax()
    with pytest.raises(RuntimeError, match="devices were used before the processes have met"):
        dist.init_parallel_env()


def test_fleet_prepares_a_job_of_one() -> None:
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"dp_degree": 1, "mp_degree": 1, "pp_configs": {"micro_batch_size": 2}}
    strategy.amp = True
    assert strategy.hybrid_configs["sharding_degree"] == 1
    assert strategy.hybrid_configs["pp_configs"].micro_batch_size == 2
    fleet.init(is_collective=True, strategy=strategy)
    assert (fleet.worker_index(), fleet.worker_num(), fleet.is_first_worker(), fleet.is_server()) == (0, 1, True, False)
    groups = fleet.get_hybrid_communicate_group()
    for axis in ("data", "model", "sharding", "pipe", "sep"):
        assert getattr(groups, f"get_{axis}_parallel_world_size")() == 1
        assert getattr(groups, f"get_{axis}_parallel_rank")() == 0
        assert getattr(groups, f"get_{axis}_parallel_group")().nranks == 1
    with pytest.raises(AttributeError, match="get_nothing"):
        groups.get_nothing()
    assert fleet.util.all_gather(3) == [3]
    strategy.hybrid_configs = {"mp_degree": 2}
    with pytest.raises(ValueError, match=r"hybrid_configs\['mp_degree'\]: 2"):
        fleet.init(strategy=strategy)
    with pytest.raises(TypeError, match="takes a dictionary"):
        strategy.hybrid_configs = 3


def test_a_script_for_many_devices_trains_on_one() -> None:
    def losses(distributed: bool) -> list[float]:
        paddle.seed(1)
        model = nn.Linear(3, 1)
        optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
        if distributed:
            fleet.init(is_collective=True)
            optimizer = fleet.distributed_optimizer(optimizer)
            model = paddle.DataParallel(fleet.distributed_model(model))
        x = paddle.to_tensor(np.arange(6, dtype="float32").reshape(2, 3) / 6)
        found = []
        for _ in range(4):
            loss = (model(x) ** 2).mean()
            loss.backward()
            dist.all_reduce(loss)
            optimizer.step()
            optimizer.clear_grad()
            found.append(float(loss))
        return found

    np.testing.assert_allclose(losses(True), losses(False), rtol=1e-6)


def test_parallel_layers_are_the_layers_themselves() -> None:
    x, ids = paddle.randn([2, 4]), paddle.to_tensor([[0, 2]])
    column = mp_layers.ColumnParallelLinear(4, 6, has_bias=True, gather_output=False)
    np.testing.assert_allclose(column(x).numpy(), x.numpy() @ column.weight.numpy() + column.bias.numpy(), rtol=1e-5)
    row = mp_layers.RowParallelLinear(4, 6, has_bias=False)
    assert row.bias is None
    embedding = mp_layers.VocabParallelEmbedding(5, 3)
    np.testing.assert_array_equal(embedding(ids).numpy()[0], embedding.weight.numpy()[[0, 2]])
    assert list(embedding.state_dict()) == ["weight"]
    logits, label = paddle.randn([3, 5]), paddle.to_tensor([1, 4, 0])
    loss = mp_layers.ParallelCrossEntropy()(logits, label)
    assert loss.shape == [3, 1]
    expected = nn.functional.cross_entropy(logits, label, reduction="none")
    np.testing.assert_allclose(loss.numpy().reshape(-1), expected.numpy().reshape(-1), rtol=1e-6)
    assert mp_ops._c_identity(x) is x
    parameter = column.weight
    sequence_parallel_utils.mark_as_sequence_parallel_parameter(parameter)
    assert sequence_parallel_utils.is_sequence_parallel_parameter(parameter)
    assert sequence_parallel_utils.ScatterOp.apply(x) is x


def test_named_random_states_go_on_where_they_were() -> None:
    tracker = RNGStatesTracker()
    tracker.add("local", 7)
    with pytest.raises(ValueError, match="the name is taken"):
        tracker.add("local", 8)
    with pytest.raises(ValueError, match="the seed is taken"):
        tracker.add("other", 7)
    with pytest.raises(ValueError, match="no such state"), tracker.rng_state("nothing"):
        pass
    paddle.seed(5)
    outside = paddle.rand([2]).numpy()
    paddle.seed(5)
    with tracker.rng_state("local"):
        first = paddle.rand([2]).numpy()
    np.testing.assert_array_equal(paddle.rand([2]).numpy(), outside)
    with tracker.rng_state("local"):
        second = paddle.rand([2]).numpy()
    assert not np.array_equal(first, second)
    assert get_rng_state_tracker() is get_rng_state_tracker()


def test_a_pipeline_of_one_stage_runs_all_layers() -> None:
    descriptions = [
        SharedLayerDesc("tied", nn.Linear, None, "weight", 4, 4), LayerDesc(nn.ReLU),
        SharedLayerDesc("tied", nn.Linear, lambda layer, x: layer(x) + 1, "weight", 4, 4),
    ]  # fmt: skip
    model = PipelineLayer(descriptions, num_stages=1, loss_fn=nn.MSELoss(), recompute_interval=2)
    assert list(model.state_dict()) == ["shared_layers.tied.weight", "shared_layers.tied.bias"]
    x = paddle.randn([4, 4])
    layer = model.shared_layers["tied"]
    np.testing.assert_allclose(model(x).numpy(), (layer(nn.functional.relu(layer(x))) + 1).numpy(), rtol=1e-6)
    strategy = fleet.DistributedStrategy()
    strategy.pipeline_configs = {"accumulate_steps": 2}
    optimizer = paddle.optimizer.SGD(0.05, parameters=model.parameters())
    pipeline = PipelineParallel(model, None, strategy)
    first, *_, last = [float(pipeline.train_batch([x, paddle.zeros([4, 4])], optimizer)) for _ in range(6)]
    assert last < first
    assert float(pipeline.eval_batch([x, paddle.zeros([4, 4])], compute_loss=True)) < first
    with pytest.raises(TypeError, match="Layer class"):
        LayerDesc(3)  # type: ignore[arg-type]


def test_gradients_of_half_precision_are_added_up_in_float32() -> None:
    model = mix_precision_utils.MixPrecisionLayer(nn.Linear(2, 1), "bfloat16")
    optimizer = mix_precision_utils.MixPrecisionOptimizer(paddle.optimizer.SGD(0.1, parameters=model.parameters()))
    for _ in range(2):
        model(paddle.ones([1, 2], "bfloat16")).sum().backward()
    weight = model._layers.weight
    assert weight.main_grad.dtype == paddle.float32
    assert weight.main_grad.numpy().tolist() == [[2.0], [2.0]]
    before = weight.astype("float32").numpy()
    optimizer.step()
    optimizer.clear_grad()
    np.testing.assert_allclose(weight.astype("float32").numpy(), before - 0.2, atol=0.01)
    assert weight.main_grad is None


def test_checkpoints_are_filled_in_place(tmp_path: pathlib.Path) -> None:
    state = {"model": {"w": paddle.to_tensor([1.0, 2.0])}, "step": paddle.to_tensor(3)}
    dist.save_state_dict(state, str(tmp_path / "checkpoint"))
    other = {"model": {"w": paddle.zeros([2])}, "step": paddle.to_tensor(0)}
    dist.load_state_dict(other, str(tmp_path / "checkpoint"))
    assert other["model"]["w"].numpy().tolist() == [1.0, 2.0]
    assert int(other["step"]) == 3
    with pytest.raises(ValueError, match="has no 'more'"):
        dist.load_state_dict({"more": paddle.zeros([1])}, str(tmp_path / "checkpoint"))
    model = nn.Linear(1, 1)
    optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
    assert dist.sharding.group_sharded_parallel(model, optimizer, "os_g") == (model, optimizer, None)
    with pytest.raises(ValueError, match="'os', 'os_g' or 'p_g_os'"):
        dist.sharding.group_sharded_parallel(model, optimizer, "all")


def test_timers_measure_by_name() -> None:
    timer_helper.set_timers()
    timer = timer_helper.get_timers()("step")
    timer.start()
    timer.stop()
    assert timer.elapsed(reset=False) >= 0.0
    assert timer_helper.is_timer_initialized()


def test_placements_of_one_process_are_the_whole() -> None:
    mesh = dist.ProcessMesh([[0]], dim_names=["dp", "mp"])
    assert (mesh.shape, mesh.process_ids, mesh.get_dim_size("mp")) == ([1, 1], [0], 1)
    x = paddle.ones([2, 2])
    assert not x.is_dist()
    laid_out = dist.shard_tensor(x, mesh, [dist.Shard(0), dist.Replicate()])
    assert laid_out.is_dist()
    assert laid_out.placements == [dist.Shard(0), dist.Replicate()]
    assert (
        dist.reshard(laid_out, mesh, [dist.Replicate(), dist.Replicate()])._local_value().numpy().tolist()
        == [[1, 1]] * 2
    )
    assert dist.Shard(0) == dist.Shard(0) != dist.Shard(1)
    assert dist.Shard(1).is_shard(1)
    assert dist.Partial().is_partial()
    with pytest.raises(ValueError, match="there are 1 devices"):
        dist.shard_tensor(x, dist.ProcessMesh([0, 1]), [dist.Shard(0)])
    with pytest.raises(ValueError, match="as many names"):
        dist.ProcessMesh([0], dim_names=["a", "b"])


def _write(path: str, text: str) -> None:
    pathlib.Path(path).write_text(f"{text} {os.environ['PADDLE_TRAINER_ID']} {dist.get_world_size()}")


def _fail() -> None:
    raise ValueError("this is meant")


def test_spawn_runs_one_process(tmp_path: pathlib.Path) -> None:
    context = dist.spawn(_write, (str(tmp_path / "out"), "hello"), nprocs=1)
    assert (tmp_path / "out").read_text() == "hello 0 1"
    assert [process.exitcode for process in context.processes] == [0]
    with pytest.raises(RuntimeError, match=r"(?s)process 0 ended with exit status 1:.*ValueError: this is meant"):
        dist.spawn(_fail)
    with pytest.raises(ValueError, match="nprocs must be a number of processes"):
        dist.spawn(_fail, nprocs=0)


def test_launch_becomes_the_script(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import os, sys; print(sys.argv[1:], os.environ['PADDLE_TRAINERS_NUM'], os.getpid())")
    command = [sys.executable, "-m", "proa.distributed.launch", "--devices", "0", str(script), "--lr", "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    out, _ = process.communicate(timeout=100)
    assert out == f"['--lr', '1'] 1 {process.pid}\n"


@pytest.mark.parametrize("level", ["o1", "o2"])
def test_a_strategy_brings_mixed_precision(level: str) -> None:
    """Against the same loop written with `paddle.amp`."""

    def trained(by_strategy: bool) -> tuple[list[float], list[str]]:
        paddle.seed(3)
        net = paddle.nn.Sequential(paddle.nn.Linear(8, 16), paddle.nn.ReLU(), paddle.nn.Linear(16, 4))
        seen: list[str] = []
        net[0].register_forward_post_hook(lambda *given: seen.append(str(given[2].dtype)))
        optimizer = paddle.optimizer.AdamW(0.01, parameters=net.parameters())
        loss_of = paddle.nn.CrossEntropyLoss()
        random = np.random.default_rng(0)
        x, y = (
            paddle.to_tensor(random.normal(size=(12, 8)).astype("float32")),
            paddle.to_tensor(random.integers(0, 4, 12)),
        )
        if by_strategy:
            settings = {"amp": {"enable": True, "dtype": "bfloat16", "level": level}}
            model = dist.to_static(net, None, loss_of, optimizer, dist.Strategy(settings))
            return [float(model(x, y)) for _ in range(8)], seen
        if level == "o2":
            paddle.amp.decorate(net, optimizer, "O2", "bfloat16")
        losses = []
        for _ in range(8):
            with paddle.amp.auto_cast(level=level.upper(), dtype="bfloat16"):
                loss = loss_of(net(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
        return losses, seen

    losses, seen = trained(True)
    wanted, _ = trained(False)
    np.testing.assert_allclose(losses, wanted, rtol=2e-2)
    assert losses[-1] < losses[0]
    assert set(seen) == {"paddle.bfloat16"}


def test_losses_in_float16_are_scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A CPU has no float16 kernels, so casting is left out here: scales are powers of two and change nothing else."""
    from proa.amp import casting
    from proa.distributed.parallelizing import mixed_precision

    monkeypatch.setattr(casting.AmpState, "last_dtype", "float16")
    monkeypatch.setattr(mixed_precision, "auto_cast", lambda *_: contextlib.nullcontext())

    def trained(enable: bool) -> list[float]:
        paddle.seed(3)
        net = paddle.nn.Linear(8, 4)
        optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
        strategy = dist.Strategy({"amp": {"enable": enable, "init_loss_scaling": 1024.0}})
        model = dist.to_static(net, None, paddle.nn.CrossEntropyLoss(), optimizer, strategy)
        random = np.random.default_rng(0)
        x, y = (
            paddle.to_tensor(random.normal(size=(12, 8)).astype("float32")),
            paddle.to_tensor(random.integers(0, 4, 12)),
        )
        return [float(model(x, y)) for _ in range(6)]

    np.testing.assert_allclose(trained(True), trained(False), rtol=1e-6)


def test_a_mesh_of_devices_that_are_not_there() -> None:
    mesh = dist.ProcessMesh([[0, 1], [2, 3]], dim_names=["x", "y"])
    # Paddle 3.3.1 gives the line that this process is on without looking for the others.
    assert mesh.get_submesh_with_dim("x") == dist.ProcessMesh([0, 2], ["x"])
    assert dist.ProcessMesh([[6, 7]], ["x", "y"])["y"] == dist.ProcessMesh([6, 7], ["y"])
    with pytest.raises(ValueError, match=r"\(get_group\) there are 1 devices, .* received a mesh of \[0, 2\]"):
        mesh.get_group("x")


def test_the_advice_for_recompute_is_a_name_that_is_there() -> None:
    with pytest.raises(NotImplementedError, match=r"use paddle.distributed.fleet.utils.recompute\.$"):
        passes.new_pass("auto_parallel_recompute")
    assert callable(paddle.distributed.fleet.utils.recompute)
