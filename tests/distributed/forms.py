"""Every form of parallel training beside one device: `python -m tests.distributed.forms` prints a table.

Eight virtual devices, a small GPT (dense and with experts) and an MLP, AdamW with gradient clipping, 20 steps in float32.
The losses must be those of one device within 1e-5.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from typing import Any

STEPS = 20
TOLERANCE = 1e-5


@dataclass
class Form:
    """A way to train: the mesh's axes and sizes, and what is done besides cutting the batch over `dp`."""

    name: str
    axes: dict[str, int] = field(default_factory=dict)
    level: int = 0
    tensor: bool = False
    sequence: bool = False
    experts: bool = False
    micro_batches: int = 1
    static: bool = False


FORMS = [
    Form("dp", {"dp": 8}),
    Form("sharding 1", {"dp": 8}, level=1),
    Form("sharding 2", {"dp": 8}, level=2),
    Form("sharding 3", {"dp": 8}, level=3),
    Form("tp", {"mp": 4}, tensor=True),
    Form("sp", {"mp": 4}, tensor=True, sequence=True),
    Form("pp", {"pp": 4}, micro_batches=4),
    Form("ep", {"mp": 4}, experts=True),
    Form("dp x tp", {"dp": 2, "mp": 4}, tensor=True),
    Form("dp x sp", {"dp": 2, "mp": 4}, tensor=True, sequence=True),
    Form("dp x pp", {"dp": 2, "pp": 4}, micro_batches=2),
    Form("dp x ep", {"dp": 2, "mp": 4}, experts=True),
    Form("sharding 1 x tp", {"dp": 2, "mp": 4}, level=1, tensor=True),
    Form("sharding 2 x tp", {"dp": 2, "mp": 4}, level=2, tensor=True),
    Form("sharding 3 x tp", {"dp": 2, "mp": 4}, level=3, tensor=True),
    Form("sharding 3 x sp", {"dp": 2, "mp": 4}, level=3, tensor=True, sequence=True),
    Form("sharding 1 x pp", {"dp": 2, "pp": 4}, level=1, micro_batches=2),
    Form("sharding 2 x pp", {"dp": 2, "pp": 4}, level=2, micro_batches=2),
    Form("sharding 3 x pp", {"dp": 2, "pp": 4}, level=3, micro_batches=2),
    Form("sharding 3 x ep", {"dp": 2, "mp": 4}, level=3, experts=True),
    Form("tp x pp", {"pp": 2, "mp": 4}, tensor=True, micro_batches=4),
    Form("sp x pp", {"pp": 2, "mp": 4}, tensor=True, sequence=True, micro_batches=4),
    Form("tp x ep", {"mp": 4}, tensor=True, experts=True),
    Form("ep x pp", {"pp": 2, "mp": 4}, experts=True, micro_batches=2),
    Form("dp x tp x pp", {"dp": 2, "pp": 2, "mp": 2}, tensor=True, micro_batches=2),
    Form("dp x tp x pp, sharding 2", {"dp": 2, "pp": 2, "mp": 2}, level=2, tensor=True, micro_batches=2),
    Form("dp x tp, to_static", {"dp": 2, "mp": 4}, tensor=True, static=True),
]


def plan_of(dist: Any, form: Form, is_text: bool) -> dict[str, Any]:
    plan: dict[str, Any] = {}
    if form.tensor and is_text:
        plan |= {
            "tokens": dist.RowWiseParallel(), "head": dist.ColWiseParallel(),
            r"blocks\.\d+\.attention\.qkv": dist.ColWiseParallel(),
            r"blocks\.\d+\.attention\.out": dist.RowWiseParallel(),
        }  # fmt: skip
        if not form.experts:
            plan |= {r"blocks\.\d+\.mlp\.up": dist.ColWiseParallel(), r"blocks\.\d+\.mlp\.down": dist.RowWiseParallel()}
    elif form.tensor:
        plan |= {r"blocks\.[02]": dist.ColWiseParallel(), r"blocks\.[13]": dist.RowWiseParallel()}
    if form.sequence and is_text:
        plan |= {r"blocks\.\d+\.(before|between)": dist.SequenceParallelEnable(), "norm": dist.SequenceParallelEnable()}
    return plan


def losses(form: Form | None, is_text: bool, with_experts: bool, steps: int = STEPS) -> tuple[list[float], int]:
    """The losses of a form, or of one device, and how many programs were compiled."""
    import proa as paddle
    from proa import distributed as dist

    from .support.models import GPT, MLP, batch, loss_of

    paddle.seed(11)
    model: Any = GPT(with_experts) if is_text else MLP()
    optimizer: Any = paddle.optimizer.AdamW(
        0.01, parameters=model.parameters(), weight_decay=0.1, grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0)
    )
    train = None
    if form is not None:
        sizes = list(form.axes.values())
        count = 1
        for size in sizes:
            count *= size
        mesh = dist.ProcessMesh(shape=sizes, process_ids=range(count), dim_names=list(form.axes))
        if form.experts and with_experts:
            for _name, layer in model.named_sublayers():
                if type(layer).__name__ == "Experts" and "pp" not in form.axes:
                    cut = [dist.Shard(0) if axis == "mp" else dist.Replicate() for axis in form.axes]
                    dist.shard_tensor(layer.first, mesh, cut)
                    dist.shard_tensor(layer.second, mesh, cut)
        config: dict[str, Any] = {
            "dp_config": {"sharding_level": form.level},
            "mp_config": {"parallelize_plan": plan_of(dist, form, is_text) | expert_plan(dist, form, with_experts)},
        }
        if "pp" in form.axes:
            config["pp_config"] = {"split_spec": "blocks"}
        model, optimizer = dist.parallelize(model, optimizer, mesh, config)
        if form.static or form.micro_batches > 1:
            enable = form.micro_batches > 1
            strategy = dist.Strategy({"pipeline": {"enable": enable, "accumulate_steps": form.micro_batches}})
            train = dist.to_static(model, None, loss_of, optimizer, strategy)
    found = []
    for step in range(steps):
        x, y = (paddle.to_tensor(one) for one in batch(step % 4, is_text))
        if train is not None:
            loss = train(x, y)
        else:
            loss = loss_of(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
        found.append(float(loss))
    return found, paddle.jit.explain().num_programs


def expert_plan(dist: Any, form: Form, with_experts: bool) -> dict[str, Any]:
    """In a pipeline the experts lie on their stage's mesh, which only the plan knows."""
    from proa.distributed.parallelizing.plans import PlanBase

    if not (form.experts and with_experts and "pp" in form.axes):
        return {}

    class CutExperts(PlanBase):
        def apply(self, layer: Any, process_mesh: Any, shard_param_list: Any = None) -> None:
            cut = [dist.Shard(0) if axis == "mp" else dist.Replicate() for axis in process_mesh.dim_names]
            dist.shard_tensor(layer.first, process_mesh, cut)
            dist.shard_tensor(layer.second, process_mesh, cut)

    return {r"blocks\.\d+\.mlp": CutExperts()}


def worst(form: Form, model: str, single: dict[str, list[float]], steps: int = STEPS) -> tuple[float, float]:
    """The largest difference of a loss from that of one device, relative to it, and the seconds it took."""
    started = time.perf_counter()
    found, _ = losses(form, model != "MLP", model == "GPT with experts", steps)
    difference = max(abs(a - b) / abs(b) for a, b in zip(found, single[model], strict=True))
    return difference, time.perf_counter() - started


def models_for(form: Form) -> list[str]:
    if form.experts:
        return ["GPT with experts"]
    return ["GPT"] if form.sequence else ["GPT", "MLP"]


def main() -> None:
    os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
    wanted = sys.argv[1:]
    single = {
        name: losses(None, name != "MLP", name == "GPT with experts")[0] for name in ("GPT", "MLP", "GPT with experts")
    }
    for name, found in single.items():
        print(f"one device, {name}: {found[0]:.4f} -> {found[-1]:.4f}")
        assert found[-1] < 0.8 * found[0], "it learns something"
    print(f"{'form':28} {'devices':>16}  {'model':18} {'worst difference':>16} {'seconds':>8}")
    bad = 0
    for form in FORMS:
        if wanted and form.name not in wanted:
            continue
        for model in models_for(form):
            difference, seconds = worst(form, model, single)
            bad += difference > TOLERANCE
            devices = " ".join(f"{axis}={size}" for axis, size in form.axes.items())
            mark = "" if difference <= TOLERANCE else "  <-- too much"
            print(f"{form.name:28} {devices:>16}  {model:18} {difference:16.1e} {seconds:8.1f}{mark}", flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
