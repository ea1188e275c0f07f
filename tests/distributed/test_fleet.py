"""fleet: arrangements, schedules and cuts by themselves; divided models in two processes.

All forms of division, with up to eight processes: `python -m tests.distributed.fleet_forms`.
"""

from __future__ import annotations

import itertools
import json
import pathlib
from collections.abc import Iterator

import numpy as np
import pytest

import proa as paddle
from proa.distributed import fleet
from proa.distributed.fleet.meta_parallel.parallel_layers.pp_layers import LayerDesc, cut
from proa.distributed.fleet.meta_parallel.schedules import Action, forward_then_backward, one_forward_one_backward
from proa.distributed.models.moe import GShardGate, SwitchGate
from proa.distributed.models.moe.routing import limit_by_capacity
from tools.run_doc_examples import example_source

from . import fleet_forms
from .support.processes import run_processes

nn = paddle.nn
# What pays is compiled, and not everything that comes three times, as other tests have it: these steps are small.
_SMALL = {"PROA_HOT_THRESHOLD": "0"}


def test_processes_are_arranged_as_in_paddle() -> None:
    axes = ["data", "pipe", "sharding", "sep", "context", "model"]
    topology = fleet.CommunicateTopology(axes, [2, 2, 1, 1, 1, 2])
    # These lists are what Paddle 3.3.1 gives.
    assert topology.get_comm_list("data") == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert topology.get_comm_list("model") == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert topology.get_comm_list("pipe") == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert topology.get_fused_ranks(["data", "model"]) == [[0, 1, 4, 5], [2, 3, 6, 7]]
    assert topology.get_rank_from_stage(3, pipe=0) == 1
    assert topology.get_coord(5)._asdict() == {"data": 1, "pipe": 0, "sharding": 0, "sep": 0, "context": 0, "model": 1}
    assert topology.get_axis_list("pipe", 1) == [2, 3, 6, 7]


def test_degrees_multiply_to_the_number_of_processes() -> None:
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"mp_degree": 2, "pp_degree": 2}
    assert strategy.arrangement(8) == {"data": 2, "pipe": 2, "sharding": 1, "sep": 1, "context": 1, "model": 2}
    strategy.hybrid_configs = {"order": ["mp", "pp", "dp"]}
    assert list(strategy.arrangement(8))[:3] == ["model", "pipe", "data"]
    with pytest.raises(ValueError, match=r"number of processes, 6; received hybrid_configs\['pp_degree'\]: 2, .*: 2;"):
        strategy.arrangement(6)
    strategy.hybrid_configs = {"order": ["mp", "dp"]}
    with pytest.raises(ValueError, match="the order of axes must name each"):
        strategy.arrangement(8)
    strategy.hybrid_configs = {"order": ["mp", "pp", "dp"], "dp_degree": 4}
    with pytest.raises(ValueError, match="the degrees must multiply to the number of processes, 8"):
        strategy.arrangement(8)


def finish(plans: list[list[Action]], stages: int, chunks: int) -> list[int]:
    """Runs the schedules of all stages side by side; gives how many micro-batches each holds at most."""
    done: set[tuple[bool, int, int]] = set()
    positions, held, most = [0] * stages, [0] * stages, [0] * stages
    while any(position < len(plan) for position, plan in zip(positions, plans, strict=True)):
        moved = False
        for stage, plan in enumerate(plans):
            if positions[stage] == len(plan):
                continue
            is_forward, chunk, micro = plan[positions[stage]]
            part = chunk * stages + stage
            needed = (is_forward, part - 1 if is_forward else part + 1, micro)
            is_end = part == 0 if is_forward else part == stages * chunks - 1
            if (is_end or needed in done) and (is_forward or (True, part, micro) in done):
                done.add((is_forward, part, micro))
                positions[stage] += 1
                held[stage] += 1 if is_forward else -1
                most[stage] = max(most[stage], held[stage])
                moved = True
        assert moved, f"all stages wait: {[plan[p] for p, plan in zip(positions, plans, strict=True) if p < len(plan)]}"
    return most


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("chunks", [1, 2, 3])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_schedules_come_to_an_end(stages: int, chunks: int, rounds: int) -> None:
    micros = stages * rounds
    for schedule in (one_forward_one_backward, forward_then_backward):
        plans = [schedule(stage, stages, micros, chunks) for stage in range(stages)]
        for plan in plans:
            assert sorted(plan) == sorted(
                map(Action._make, itertools.product((False, True), range(chunks), range(micros)))
            )
        most = finish(plans, stages, chunks)
        if schedule is one_forward_one_backward and chunks == 1:
            assert most == [min(stages - stage, micros) for stage in range(stages)]


def test_a_pipeline_is_shorter_than_its_stages_or_has_a_rest() -> None:
    for stages, micros in ((4, 1), (4, 3), (3, 7), (2, 5)):
        finish([one_forward_one_backward(stage, stages, micros) for stage in range(stages)], stages, 1)
    with pytest.raises(ValueError, match="interleaved stages need a multiple of 2 micro-batches; received 3"):
        one_forward_one_backward(0, 2, 3, 2)


def test_layers_are_cut_into_stages() -> None:
    linear, relu = LayerDesc(nn.Linear, 1, 1), LayerDesc(nn.ReLU)
    assert cut([linear] * 7, 3, "uniform") == [0, 2, 4, 7]  # as Paddle 3.3.1
    assert cut([linear] * 10, 4, "uniform") == [0, 2, 4, 7, 10]
    mixed = [relu, linear, relu, linear, linear, relu, linear]
    assert cut(mixed, 2, "layer:Linear") == [0, 4, 7]
    assert cut(mixed, 2, [0, 3, 7]) == [0, 3, 7]
    assert cut([nn.ReLU(), max, nn.Linear(1, 1)], 1, "layer:Linear") == [0, 3]
    for parts, method, words in (
        (3, "layer:Linear", "multiple of the 3 parts; received 4"), (8, "uniform", "each of 8 parts needs a layer"),
        (2, [0, 5, 3], "3 rising positions from 0 to 7"), (2, "best", "'uniform', 'layer:ClassName' or a list"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            cut(mixed, parts, method)


@pytest.fixture
def static_mode() -> Iterator[None]:
    paddle.enable_static()
    yield
    paddle.disable_static()


def test_split_makes_layers_and_so_is_refused_in_eager_code() -> None:
    with pytest.raises(
        ValueError, match=r"only a static program keeps; received eager code; use .*ColumnParallelLinear"
    ):
        paddle.distributed.split(paddle.ones([2, 3]), (3, 4), "linear")


def test_split_is_a_divided_layer_of_a_static_program(static_mode: None) -> None:
    numbers = np.arange(12, dtype="float32").reshape(3, 4)
    weight = paddle.ParamAttr(initializer=nn.initializer.Assign(numbers))
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x, ids = paddle.static.data("x", [2, 3], "float32"), paddle.static.data("ids", [2], "int64")
        results = [
            paddle.distributed.split(x, (3, 4), "linear", axis=axis, weight_attr=weight, bias_attr=False)
            for axis in (0, 1)
        ]
        results.append(paddle.distributed.split(ids, (3, 4), "embedding", weight_attr=weight))
        with pytest.raises(ValueError, match="num_partitions must be the mp_degree"):
            paddle.distributed.split(x, (3, 4), "linear", num_partitions=2)
        with pytest.raises(ValueError, match="operation must be 'linear'"):
            paddle.distributed.split(x, (3, 4), "convolution")
    executor = paddle.static.Executor()
    executor.run(startup)
    given = np.random.default_rng(0).normal(size=(2, 3)).astype("float32")
    found = executor.run(main, feed={"x": given, "ids": np.array([2, 0])}, fetch_list=results)
    for one, expected in zip(found, [given @ numbers, given @ numbers, numbers[[2, 0]]], strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-5)


def test_experts_take_as_many_tokens_as_they_can() -> None:
    random = np.random.default_rng(0)
    chosen = random.integers(-1, 3, (20, 2))
    limited = limit_by_capacity(chosen, 3, 1, 5)
    for expert in range(3):
        places = np.flatnonzero(chosen.ravel() == expert)
        np.testing.assert_array_equal(np.flatnonzero(limited.ravel() == expert), places[:5])
    assert (limited[chosen == -1] == -1).all()


def test_gates_choose_and_balance_as_those_of_paddle() -> None:
    random = np.random.default_rng(0)
    x, weight = random.normal(size=(7, 4)).astype("float32"), random.normal(size=(4, 3)).astype("float32")
    gates = [GShardGate(4, 3, 1, random_routing=False), SwitchGate(4, 3, 1, switch_eps=0.0)]
    for gate in gates:
        gate.gate.weight.set_value(weight)
        gate.gate.bias.set_value(np.zeros(3, "float32"))
    scores = x @ weight
    values, chosen = gates[0](paddle.to_tensor(x))
    np.testing.assert_array_equal(chosen.numpy(), np.argsort(-scores, 1)[:, :2])
    np.testing.assert_allclose(values.numpy(), -np.sort(-scores, 1)[:, :2], rtol=1e-5)
    assert gates[0].get_loss().item() == pytest.approx(2.02655649, rel=1e-6)  # of Paddle 3.3.1
    gates[1].eval()
    gates[1].capacity = (1.2, 2 / 7)  # two tokens for each expert
    values, chosen = gates[1](paddle.to_tensor(x))
    probabilities = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    np.testing.assert_allclose(values.numpy(), probabilities.max(1, keepdims=True), rtol=1e-5)
    best = scores.argmax(1)
    kept = [expert if list(best[:place]).count(expert) < 2 else -1 for place, expert in enumerate(best)]
    assert chosen.numpy().ravel().tolist() == kept
    share = np.bincount([expert for expert in kept if expert >= 0], minlength=3) / sum(expert >= 0 for expert in kept)
    expected = (share * probabilities.sum(0) / sum(expert >= 0 for expert in kept)).sum() * 3
    assert gates[1].get_loss().item() == pytest.approx(expected, rel=1e-5)


def test_divided_models_in_two_processes() -> None:
    names = ["layers", "randomness", "levels", "ring", "experts", "pipeline", "overflow"]
    for output in run_processes(2, ["-m", "tests.distributed.workers.fleet_worker", ",".join(names)], 100, **_SMALL):
        assert [line for line in output.splitlines() if line.endswith(" done")] == [f"{name} done" for name in names]


def test_the_documented_example_runs_in_two_processes() -> None:
    root = pathlib.Path(__file__).resolve().parents[2]
    example = example_source((root / "docs" / "fleet.md").read_text(encoding="utf-8"))
    assert "ColumnParallelLinear" in example
    shown = "print('columns', model._layers.first.weight.shape)"
    for output in run_processes(2, ["-c", f"{example}\n{shown}"], 100, **_SMALL):
        assert "[8, 16]" in output


def test_two_forms_train_as_one_process() -> None:
    names = ["mp", "pp interleaved"]
    outputs = run_processes(2, ["-m", "tests.distributed.fleet_forms", "--worker", ",".join(names), "6"], 100, **_SMALL)
    for output in outputs:
        lines = [
            line.removeprefix(fleet_forms.MARK) for line in output.splitlines() if line.startswith(fleet_forms.MARK)
        ]
        for name, found in zip(names, map(json.loads, lines), strict=True):
            with paddle.jit.eager_mode("immediate"):
                expected = fleet_forms.expected_losses(fleet_forms.FORMS[name], 6)
            np.testing.assert_allclose(found, expected, atol=fleet_forms.TOLERANCE)
            assert expected[0] != expected[-1]
