"""Every way to divide a small model, over real processes, beside one process.

    python -m tests.distributed.fleet_forms                  # all forms; a table
    python -m tests.distributed.fleet_forms mp pp            # some of them

A form is an arrangement of processes and a model. The loss of each of 20 steps must be that of one process within 1e-5.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any, NamedTuple

import numpy as np

from .support.processes import run_processes

STEPS, BATCH, TOLERANCE = 20, 8, 1e-5
MARK = "losses "


class Form(NamedTuple):
    """How many processes, what `hybrid_configs` says, which model; `level` of group sharding."""

    processes: int
    degrees: dict[str, int]
    model: str = "gpt"
    options: dict[str, Any] = {}  # noqa: RUF012
    accumulate: int = 1
    level: str = ""


FORMS = {
    "dp": Form(2, {"dp_degree": 2}),
    "dp mlp": Form(2, {"dp_degree": 2}, "mlp"),
    "sharding 1": Form(2, {"sharding_degree": 2}),
    "sharding os": Form(2, {}, level="os"),
    "sharding os_g": Form(2, {}, level="os_g"),
    "sharding p_g_os": Form(2, {}, level="p_g_os"),
    "mp": Form(2, {"mp_degree": 2}),
    "mp mlp": Form(2, {"mp_degree": 2}, "mlp"),
    "sequence parallel": Form(2, {"mp_degree": 2}, options={"sequence_parallel": True}),
    "pp 1F1B": Form(2, {"pp_degree": 2}, accumulate=4),
    "pp 1F1B mlp": Form(3, {"pp_degree": 3}, "mlp", accumulate=4),
    "pp F-then-B": Form(2, {"pp_degree": 2}, accumulate=4, options={"schedule": "F-then-B"}),
    "pp interleaved": Form(2, {"pp_degree": 2}, accumulate=4, options={"depth": 4, "num_virtual_pipeline_stages": 2}),
    "ep": Form(2, {"dp_degree": 2, "ep_degree": 2}, "moe"),
    "experts in dp": Form(2, {"dp_degree": 2}, "moe"),
    "ep x pp": Form(4, {"pp_degree": 2, "ep_degree": 2}, "moe", accumulate=2),
    "sep": Form(2, {"sep_degree": 2}),
    "dp x mp": Form(4, {"dp_degree": 2, "mp_degree": 2}),
    "sharding x mp": Form(4, {"sharding_degree": 2, "mp_degree": 2}),
    "dp x sep": Form(4, {"dp_degree": 2, "sep_degree": 2}),
    "sharding x pp": Form(4, {"sharding_degree": 2, "pp_degree": 2}, accumulate=2),
    "sequence parallel x pp": Form(
        4, {"mp_degree": 2, "pp_degree": 2}, options={"sequence_parallel": True}, accumulate=2
    ),
    "mp x pp": Form(4, {"mp_degree": 2, "pp_degree": 2}, accumulate=4),
    "dp x mp x pp": Form(8, {"dp_degree": 2, "mp_degree": 2, "pp_degree": 2}, accumulate=2),
    "dp x mp x pp mlp": Form(8, {"dp_degree": 2, "mp_degree": 2, "pp_degree": 2}, "mlp", accumulate=2),
}


def _made(form: Form) -> Any:
    """The model with its numbers."""
    from .support import fleet_models as models

    options = {name: value for name, value in form.options.items() if name != "schedule"}
    groups = models.fleet.get_hybrid_communicate_group()
    if form.model == "moe":
        group = groups.get_expert_parallel_group()
        group = group if group.nranks > 1 else groups.get_data_parallel_group()
        share = EXPERTS // group.nranks
        model = models.gpt(experts=lambda: models.experts(share, group), **options)
        models.fill(model, share * group.rank)
    else:
        model = getattr(models, form.model)(**options)
        models.fill(model)
    return model


EXPERTS = 4


def _own_part(form: Form, values: np.ndarray) -> np.ndarray:
    """This process's samples, and its piece of each sequence."""
    from proa.distributed import fleet, get_rank, get_world_size

    groups = fleet.get_hybrid_communicate_group()
    count = groups.get_data_parallel_world_size() * groups.get_sharding_parallel_world_size()
    position = groups.get_data_parallel_rank() * groups.get_sharding_parallel_world_size()
    position += groups.get_sharding_parallel_rank()
    if form.level:
        count, position = get_world_size(), get_rank()
    part = np.split(values, count)[position]
    return np.split(part, groups.get_sep_parallel_world_size(), 1)[groups.get_sep_parallel_rank()]


def _optimizer(form: Form, model: Any) -> Any:
    """Momentum shows a wrong factor in a gradient, which Adam would not; clipping acts in some of the steps."""
    import proa as paddle

    if form.model == "mlp":
        clip = paddle.nn.ClipGradByGlobalNorm(0.6)
        return paddle.optimizer.AdamW(0.003, parameters=model.parameters(), weight_decay=0.01, grad_clip=clip)
    clip = paddle.nn.ClipGradByGlobalNorm(0.45)
    return paddle.optimizer.Momentum(0.1, parameters=model.parameters(), grad_clip=clip)


def train(form: Form, steps: int = STEPS) -> list[float]:
    """The losses of this process's training: means over the data of all processes."""
    import proa as paddle
    from proa.distributed import all_reduce, fleet

    from .support import fleet_models as models

    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = form.degrees
    strategy.pipeline_configs = {
        "accumulate_steps": form.accumulate,
        "schedule_mode": form.options.get("schedule", "1F1B"),
    }
    fleet.init(is_collective=True, strategy=strategy)
    inner = _made(form)
    optimizer = _optimizer(form, inner)
    if form.level:
        model, optimizer, _ = paddle.distributed.sharding.group_sharded_parallel(
            inner, optimizer, form.level, segment_size=100, exclude_layer=["VocabParallelEmbedding"]
        )
    else:
        model, optimizer = fleet.distributed_model(inner), fleet.distributed_optimizer(optimizer)
    if form.options.get("sequence_parallel"):
        fleet.utils.sequence_parallel_utils.register_sequence_parallel_allreduce_hooks(model, form.accumulate)
    data = models.points if form.model == "mlp" else models.tokens
    losses = []
    for step in range(steps):
        x, y = (paddle.to_tensor(_own_part(form, values)) for values in data(step, BATCH))
        if form.degrees.get("pp_degree", 1) > 1:
            loss = model.train_batch((x, y), optimizer)
        else:
            loss = inner._loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            loss = loss.detach()
        if form.processes > 1:
            all_reduce(loss)  # every process of the job has the loss of its own data
            loss = loss / form.processes
        losses.append(float(loss))
    return losses


def alone(form: Form) -> Form:
    """The same model in one process."""
    options = {name: value for name, value in form.options.items() if name == "depth"}
    return form._replace(processes=1, degrees={}, level="", accumulate=1, options=options)


def losses_of(name: str, limit: float = 300, steps: int = STEPS) -> list[list[float]]:
    """The losses of each process of a job."""
    arguments = ["-m", "tests.distributed.fleet_forms", "--worker", name, str(steps)]
    outputs = run_processes(FORMS[name].processes, arguments, limit=limit)
    return [
        json.loads(next(line for line in text.splitlines() if line.startswith(MARK)).removeprefix(MARK))
        for text in outputs
    ]


_EXPECTED: dict[str, list[float]] = {}


def expected_losses(form: Form, steps: int = STEPS) -> list[float]:
    """Those of one process; here."""
    key = repr((alone(form), steps))
    if key not in _EXPECTED:
        _EXPECTED[key] = train(alone(form), steps)
    return _EXPECTED[key]


def difference(name: str, steps: int = STEPS) -> tuple[float, float, float]:
    """The largest difference of a loss from one process; the first and last loss."""
    form = FORMS[name]
    expected, found = np.array(expected_losses(form, steps)), np.array(losses_of(name, steps=steps))
    assert found.shape == (form.processes, steps)
    return float(np.abs(found - expected).max()), expected[0], expected[-1]


def main(names: list[str]) -> int:
    print(f"{'form':<24} processes  first loss  last loss   difference   seconds")
    failed = []
    for name in names or list(FORMS):
        begin = time.monotonic()
        try:
            largest, first, last = difference(name)
        except AssertionError as error:
            print(f"{name:<24} failed\n{error}", flush=True)
            failed.append(name)
            continue
        seconds = time.monotonic() - begin
        print(
            f"{name:<24} {FORMS[name].processes:>9}  {first:10.6f} {last:10.6f}   {largest:10.2e}  {seconds:8.1f}",
            flush=True,
        )
        if not largest < TOLERANCE:
            failed.append(name)
    print("all forms agree" if not failed else f"these differ: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    if "--worker" in sys.argv:
        for chosen in sys.argv[2].split(","):
            print(MARK + json.dumps(train(FORMS[chosen], int(sys.argv[3]))), flush=True)
    else:
        sys.exit(main(sys.argv[1:]))
