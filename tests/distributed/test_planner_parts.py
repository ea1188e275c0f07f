"""The parts of the planner that compile nothing: data sheets, links, what is repeated in a model, what could be cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.distributed.planner import auto_parallel, load_plan
from proa.distributed.planner.collectives import Exchange, exchanges, num_kernels
from proa.distributed.planner.costs import Choice
from proa.distributed.planner.cuts import COLUMNS, main_dtype, propose
from proa.distributed.planner.devices import Link, bytes_of, find_device
from proa.distributed.planner.pieces import Pieces, take_apart
from proa.distributed.planner.plan import Plan
from proa.distributed.planner.searching import choices, cuts_for
from proa.distributed.planner.tracing import trace
from proa.distributed.planner.worker import decoded, encoded
from proa.graph.replay import replay_program

from .support import models


def pieces_of(model: Any, is_text: bool = True) -> Pieces:
    x, y = models.batch(0, is_text)
    return take_apart(trace(model, models.loss_of, None, [paddle.to_tensor(x), paddle.to_tensor(y)]))


def loss_by_pieces(pieces: Pieces, model: Any, batch: tuple[Any, Any]) -> float:
    """All pieces run one after another, with the parameters of each unit: an independent reading of what they mean."""
    parameters = dict(model.named_parameters())
    given = iter(batch)
    known: dict[int, Any] = {}
    for position, source in enumerate(pieces.sources):
        if source.role == "parameter":
            known[~position] = parameters[source.name]
        elif source.role == "batch":
            known[~position] = paddle.to_tensor(next(given))
    if pieces.first is not None:
        first = pieces.first
        inputs = [known[a] for a in first.arguments]
        known.update(zip(first.results, replay_program(first.program, inputs, first.scalars), strict=True))
    results: list[Any] = []
    for name in pieces.names:
        unit = pieces.unit
        assert unit is not None
        inputs = []
        for argument in unit.arguments:
            if argument in pieces.own:
                inputs.append(parameters[f"{name}.{pieces.own[argument]}"])
            elif argument in pieces.carried:
                inputs.append(results[pieces.carried[argument]] if results else known[pieces.entries[argument]])
            else:
                inputs.append(known[argument])
        results = replay_program(unit.program, inputs, unit.scalars)
    inputs = [results[pieces.exits[a]] if a in pieces.exits else known[a] for a in pieces.last.arguments]
    return float(replay_program(pieces.last.program, inputs, pieces.last.scalars)[0])


class Mixed(nn.Layer):
    """Layers of which the first differs, and which all read what the first was given."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(16, 16, bias_attr=False), *[nn.Linear(16, 16) for _ in range(3)]])
        self.head = nn.Linear(16, models.VOCABULARY)

    def forward(self, x: Any) -> Any:
        begin = x
        for layer in self.layers:
            x = paddle.tanh(layer(x)) + begin
        return self.head(x)


class Alone(nn.Layer):
    """Nothing in it is repeated."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(16, 64), nn.Linear(64, models.VOCABULARY)

    def forward(self, x: Any) -> Any:
        return self.down(paddle.tanh(self.up(x)))


@pytest.mark.parametrize(
    ("make", "is_text", "count"),
    [
        (models.GPT, True, 4),
        (lambda: models.GPT(True), True, 4),
        (models.MLP, False, 4),
        (Mixed, False, 3),
        (Alone, False, 0),
    ],
)
def test_the_pieces_together_are_the_model(make: Any, is_text: bool, count: int) -> None:
    model = make()
    pieces = pieces_of(model, is_text)
    assert pieces.count == count
    x, y = models.batch(0, is_text)
    wanted = float(models.loss_of(model(paddle.to_tensor(x)), paddle.to_tensor(y)))
    assert loss_by_pieces(pieces, model, (x, y)) == pytest.approx(wanted, rel=1e-6)
    again = decoded(encoded(pieces))  # as the compiling process gets them
    assert loss_by_pieces(again, model, (x, y)) == pytest.approx(wanted, rel=1e-6)


def test_layers_that_differ_in_an_attribute_are_not_repeated() -> None:
    model = models.GPT()
    model.blocks[3].before._epsilon = 0.1
    assert pieces_of(model).count == 0 or pieces_of(model).names[-1] != "blocks.3"


def test_what_is_read_from_every_layer_is_no_repetition() -> None:
    class All(models.MLP):
        def forward(self, x: Any) -> Any:
            kept = []
            for block in self.blocks:
                x = x + paddle.tanh(block(x))
                kept.append(x)
            return self.head(paddle.add_n(kept))

    assert pieces_of(All(), False).count == 0


def test_parameters_stay_without_numbers() -> None:
    with paddle.LazyGuard():
        model = nn.Sequential(nn.Linear(8, 1 << 20), nn.Linear(1 << 20, 8))
    traced = trace(model, lambda out, y: ((out - y) ** 2).mean(), None, [np.zeros((4, 8), "float32")] * 2)
    assert not any(parameter._is_initialized() for parameter in model.parameters())
    assert sum(source.size for source in traced.sources if source.role == "parameter") > 6 << 20
    assert model[0].weight.numpy().shape == (8, 1 << 20)  # and are drawn when they are used


def test_tensor_parallelism_alternates_columns_and_rows() -> None:
    pieces = pieces_of(models.GPT())
    assert propose(pieces, 1) == {}
    assert propose(pieces, 4) == {
        "tokens.weight": 0, "positions.weight": 0, "blocks.*.attention.qkv.weight": 1, "blocks.*.attention.qkv.bias": 0,
        "blocks.*.attention.out.weight": 0, "blocks.*.mlp.up.weight": 1, "blocks.*.mlp.up.bias": 0,
        "blocks.*.mlp.down.weight": 0, "head.weight": 1, "head.bias": 0,
    }  # fmt: skip
    # Four heads cannot be cut into eight: attention stays whole, the rest does not.
    assert "blocks.*.attention.qkv.weight" not in propose(pieces, 8)
    assert propose(pieces, 8)["blocks.*.mlp.down.weight"] == 0


def test_experts_are_cut_along_the_first_dimension_and_their_gate_is_whole() -> None:
    found = propose(pieces_of(models.GPT(True)), 4)
    assert found["blocks.*.mlp.first"] == found["blocks.*.mlp.second"] == 0
    assert "blocks.*.mlp.gate.weight" not in found


def test_layers_without_a_pair_are_cut_by_columns() -> None:
    pieces = pieces_of(models.MLP(), False)
    assert "blocks.*.weight" not in propose(pieces, 4)
    assert cuts_for(pieces, 4) == propose(pieces, 4, COLUMNS)
    assert cuts_for(pieces, 4)["blocks.*.weight"] == 1


def test_the_data_type_of_most_products() -> None:
    assert main_dtype(pieces_of(models.GPT())) == "float32"
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8)).bfloat16()
    spec = paddle.static.InputSpec([4, 8], "bfloat16")
    traced = trace(model, lambda out, y: (out - y).mean().astype("float32"), None, [spec, spec])
    assert main_dtype(take_apart(traced)) == "bfloat16"


def test_choices_use_all_devices_and_divide_the_batch() -> None:
    pieces = pieces_of(models.GPT())
    found = list(choices(pieces, 8, 16, 8, {}))
    assert len(found) == len(set(found)) > 50
    for choice in found:
        assert choice.data * choice.model * choice.pipeline == 8
        assert 16 % (choice.data * choice.micro_batches) == 0
        assert choice.pipeline <= min(4, choice.micro_batches)
        assert choice.stage == 0 or choice.data > 1
    assert {c.model for c in choices(pieces, 8, 16, 2, {})} == {1, 2}  # layers are not shared between machines
    assert {c.stage for c in choices(pieces, 8, 16, 8, {"stage": 1})} == {1}


# ---- what XLA writes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "members", "stride"),
    [
        ("replica_groups={{0,2,4,6},{1,3,5,7}}", 4, 2), ("replica_groups=[2,4]<=[8]", 4, 1),
        ("replica_groups=[2,4]<=[4,2]T(1,0)", 4, 2), ("replica_groups=mesh['a'=2,'b'=4] {'b'}", 4, 1),
        ("replica_groups=mesh['a'=2,'b'=4] {'a'}", 2, 4), ("replica_groups=mesh['a'=8] {'a':(2)4}", 4, 1),
        ("replica_groups=mesh['a'=8] {'a':(1)2}", 2, 4), ("replica_groups=mesh['a'=2,'b'=4] {'a','b'}", 8, 1),
    ],
)  # fmt: skip
def test_groups_of_collectives_are_read(groups: str, members: int, stride: int) -> None:
    text = f"  %x = f32[8,16]{{1,0}} all-reduce(%y), channel_id=1, {groups}, use_global_device_ids=true"
    assert exchanges(text) == [Exchange("all-reduce", members, stride, 8 * 16 * 4)]


def test_sizes_of_collectives_are_read() -> None:
    text = """
      %a = (f32[64]{0}, bf16[2,3]{1,0}) all-reduce(%p, %q), replica_groups=[1,4]<=[4]
      %b = f32[4,8]{1,0} reduce-scatter(%p), replica_groups=[1,4]<=[4], dimensions={0}
      %c = f32[16,8]{1,0} all-gather(%p), replica_groups=[1,4]<=[4], dimensions={0}
      %d = f32[5]{0} all-reduce(%p), replica_groups={{0},{1}}
      %e = f32[5]{0} collective-permute(%p), source_target_pairs={{0,1},{1,2}}
      %f = f32[5]{0} fusion(%all-reduce.3), kind=kLoop
    """
    assert [(one.kind, one.size) for one in exchanges(text)] == [
        ("all-reduce", 64 * 4 + 6 * 2), ("reduce-scatter", 32 * 4 * 4), ("all-gather", 128 * 4), ("collective-permute", 20),
    ]  # fmt: skip


def test_collectives_of_many_tensors_are_read() -> None:
    types = "f32[8]{0}, f32[8]{0}, f32[8]{0}, f32[8]{0}, f32[8]{0}, /*index=5*/f32[8]{0}, f32[2,3]{1,0}"
    text = f"  %all-reduce.1 = ({types}) all-reduce(%a, %b, %c, %d, %e, /*index=5*/%f, %g), replica_groups=[1,4]<=[4]"
    assert exchanges(text) == [Exchange("all-reduce", 4, 1, 6 * 32 + 24, tensors=7)]


def test_what_is_sent_goes_as_far_as_its_farthest_pair() -> None:
    text = "  %x = f32[8]{0} collective-permute(%y), channel_id=1, source_target_pairs={{0,0},{1,3},{2,6},{3,1}}"
    assert exchanges(text) == [Exchange("collective-permute", 2, 4, 32)]
    assert exchanges(text.replace("{{0,0},{1,3},{2,6},{3,1}}", "{{0,0},{1,1}}")) == []


def test_only_work_counts_as_a_kernel() -> None:
    text = """HloModule m
%f (p: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  ROOT %n = f32[] negate(%p)
}

ENTRY %main (a: f32[4]) -> (f32[4]) {
  %a = f32[4]{0} parameter(0)
  %c = f32[] constant(1)
  %x = f32[4]{0} fusion(%a), kind=kLoop, calls=%f
  %y = f32[4]{0} custom-call(%x), custom_call_target="t"
  ROOT %t = (f32[4]{0}) tuple(%y)
}
"""
    assert num_kernels(text) == 2


# ---- devices ---------------------------------------------------------------------------------------------------------


def test_links_are_latency_and_bandwidth() -> None:
    link = Link(1e9, 1e-6)
    assert link.seconds("all-reduce", 4e9, 1) == 0
    assert link.seconds("all-reduce", 4e9, 4) == pytest.approx(2 * 3 + 4e-6)
    assert link.seconds("all-gather", 4e9, 4) == pytest.approx(3 + 2e-6)
    assert link.seconds("collective-permute", 4e9, 2) == pytest.approx(4 + 1e-6)
    link = Link(1e9, 1e-6, {"all-gather": 5e-6})
    assert link.seconds("all-gather", 0, 4) == pytest.approx(10e-6)
    assert link.seconds("all-reduce", 0, 4) == pytest.approx(4e-6)
    assert Link(1e9, 1e-6, tensor=2e-6).seconds("all-reduce", 0, 4, 3) == pytest.approx(4 * (1 + 2 * 2) * 1e-6)
    link = Link(1e9, 4e-6, {"all-gather": 6e-6}, groups={2: (1e-6, 5e8)})  # two wait less for each other than four
    assert link.seconds("all-reduce", 1e9, 2) == pytest.approx(2 + 2e-6)
    assert link.seconds("all-gather", 0, 2) == pytest.approx(1.5e-6)
    assert link.seconds("all-reduce", 0, 4) == pytest.approx(16e-6)


def test_every_data_sheet_can_be_read(tmp_path: Any) -> None:
    for name in ("h100", "h200", "b200", "a100", "v100", "l40s", "tpu-v4", "tpu-v5e", "tpu-v5p", "cpu"):
        device = find_device(name)
        assert device.flops_of("bfloat16") > 0
        assert device.flops_of("int8") == device.flops["float32"]
        assert device.inside.bandwidth >= device.across.bandwidth
    assert find_device("h200").link(8).bandwidth > find_device("h200").link(16).bandwidth
    with pytest.raises(ValueError, match=r"a device is one of .*'h200'.*received device: h300"):
        find_device("h300")
    (tmp_path / "mine.toml").write_text("flops = { float32 = 1e9 }\n")
    with pytest.raises(ValueError, match=r"the data sheet of mine needs"):
        find_device(tmp_path / "mine.toml")
    with pytest.raises(TypeError, match="device is a name or a file"):
        find_device(7)


@pytest.mark.parametrize(
    ("text", "size"),
    [("141GB", 141e9), ("16 GiB", 16 * 2**30), (5, 5.0), ("1.5tb", 1.5e12), ("80g", 80e9), ("100", 100.0)],
)
def test_sizes_of_memory(text: Any, size: float) -> None:
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["much", "", "-1GB", 0, "GB", None, "12 elephants"])
def test_bad_sizes_of_memory(text: Any) -> None:
    with pytest.raises(ValueError, match="memory is a number of bytes"):
        bytes_of(text)


# ---- bad input -------------------------------------------------------------------------------------------------------


def test_bad_input_is_named() -> None:
    model = models.MLP()
    x, y = models.batch(0, False)

    def plan(*inputs: Any, **others: Any) -> Plan:
        return auto_parallel(model, list(inputs), **{"loss": models.loss_of, "devices": 8, **others})

    with pytest.raises(ValueError, match="devices is at least 1"):
        plan(x, y, devices=0)
    with pytest.raises(TypeError, match="devices is an integer"):
        plan(x, y, devices=2.5)
    with pytest.raises(TypeError, match="model must be a Layer"):
        auto_parallel(len, [x, y], devices=8)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="inputs are those of the model and a label"):
        plan(x)
    with pytest.raises(ValueError, match="a training step ends in a loss of one element"):
        plan(x, loss=None)
    with pytest.raises(ValueError, match=r"what can be settled is .*fixed: tensor=2"):
        plan(x, y, fixed={"tensor": 2})
    with pytest.raises(TypeError, match="fixed recompute is of type bool"):
        plan(x, y, fixed={"recompute": 1})
    with pytest.raises(ValueError, match="no plan divides a batch of 8 among 7 devices"):
        plan(x, y, devices=7)
    with pytest.raises(ValueError, match="plans are made for sizes that are known"):
        plan(paddle.static.InputSpec([None, 16], "float32"), y)


def test_plans_are_files_that_a_person_can_change(tmp_path: Any) -> None:
    choice = Choice(2, 2, 2, 1, True, True, 4)
    plan = Plan("h200", 141e9, 64, choice, {"blocks.*.mlp.up.weight": 1}, "blocks")
    path = tmp_path / "plan.toml"
    plan.save(path)
    assert load_plan(path) == plan
    assert plan.mesh().shape == [2, 2, 2]
    assert plan.mesh().dim_names == ["pp", "dp", "mp"]
    assert plan.strategy().pipeline.accumulate_steps == 4
    path.write_text(path.read_text().replace("stage = 1", "phase = 1"))
    with pytest.raises(ValueError, match=r"unknown \['phase'\]"):
        load_plan(path)
    with pytest.raises(ValueError, match="has no estimates"):
        _ = Plan("h200", 1.0, 1, choice).seconds


def test_a_pattern_that_names_no_parameter_is_an_error() -> None:
    plan = Plan("cpu", 1e9, 8, Choice(1, 2), {"layers.*.weight": 1})
    with pytest.raises(ValueError, match=r"no parameter is called 'layers\.\*\.weight'"):
        plan.apply(models.MLP())
    with pytest.raises(TypeError, match="model must be a Layer"):
        plan.apply(None)  # type: ignore[arg-type]


def test_paddles_module_of_the_same_name_is_still_there() -> None:
    import importlib

    import proa
    import proa.distributed as dist

    module = importlib.import_module("proa.distributed.auto_parallel")
    assert dist.auto_parallel is module
    assert importlib.import_module("proa.distributed.auto_parallel.api").shard_tensor is dist.shard_tensor
    with pytest.raises(ValueError, match="a loss of one element"):
        dist.auto_parallel(proa.nn.Linear(2, 2), [proa.ones([1, 2])], devices=4)
