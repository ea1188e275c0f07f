"""A plan for a language model of 70 billion parameters on 1,024 devices: how long planning takes, and whether it fits.

    python -m tests.distributed.planning.large             # plans
    python -m tests.distributed.planning.large --compile   # compiles all layers for the devices that share them, as well

What is compiled is forward and backward pass of a micro-batch with all layers, for one group of devices that share them
(virtual devices of the CPU; the parts of the batch are alike). Parameters, gradients and states are added as the plan cuts
them. It fails where that is more than a device has. It is the program that GPUs would run, but for one operation that keeps
XLA from merging a layer's second run with the first: an optimization barrier there, and on CPUs, where XLA drops those too
early, a zero that it does not know, which changes a copy of the layer's inputs (weights among them). The CPU's compiler also
computes bfloat16 in float32 and keeps attention's scores. All three add memory and take none away. Instructions are put
into the order that needs the least memory, as XLA does for GPUs: its usual order for CPUs begins with widening weights (158
GB instead of 76).
"""

from __future__ import annotations

import sys
import time
from typing import Any

import proa as paddle
from proa.distributed.planner import plan_traced
from proa.distributed.planner.compiling import Variant
from proa.distributed.planner.costs import USABLE
from proa.distributed.planner.pieces import take_apart
from proa.distributed.planner.tracing import trace
from proa.distributed.planner.worker import measured
from proa.nn import functional as F

LENGTH, BATCH, DEVICES, SAMPLES = 4096, 1024, 1024, 2
SECONDS = 3600  # in which all layers must be compiled, on a busy machine
SHAPE = {
    "vocab_size": 128256,
    "hidden_size": 8192,
    "layers": 80,
    "heads": 64,
    "intermediate_size": 28672,
    "kv_heads": 8,
}


def loss_of(logits: Any, labels: Any) -> Any:
    return F.cross_entropy(logits.reshape([-1, logits.shape[-1]]).astype("float32"), labels.reshape([-1]))


def compiled_memory(traced: Any, plan: Any) -> float:
    """Bytes on a device, with activations as XLA lays them out for all layers of the plan."""
    choice, pieces = plan.choice, take_apart(traced)
    cuts = tuple(sorted(plan.cuts.items()))
    units = -(-pieces.count // choice.pipeline)
    variant = Variant(1, choice.model, units, choice.sequence, cuts, choice.recompute, sparing=True)
    found = measured(pieces, [variant], SECONDS)[variant]
    scale = BATCH / (choice.data * choice.micro_batches) / SAMPLES
    kept = {part: size for part, size in plan.estimates[0].memory.items() if part != "activations"}
    activations = found["temporary"] * scale * min(choice.pipeline, choice.micro_batches)
    print(
        f"activations: {plan.estimates[0].memory['activations'] / 1e9:.1f} GB expected, {activations / 1e9:.1f} compiled"
    )
    return activations + sum(kept.values())


def main(arguments: list[str]) -> int:
    begin = time.perf_counter()
    paddle.set_default_dtype("bfloat16")
    with paddle.LazyGuard():
        model = paddle.llm.CausalLM(paddle.llm.Config("llama", **SHAPE))
    optimizer = paddle.optimizer.AdamW(parameters=model.parameters(), multi_precision=True)
    traced = trace(model, loss_of, optimizer, [paddle.static.InputSpec([SAMPLES, LENGTH], "int64")] * 2)
    plan = plan_traced(traced, DEVICES, "h200", batch_size=BATCH)
    print(plan.table())
    print(f"planned in {time.perf_counter() - begin:.1f} s")
    if "--compile" not in arguments:
        return 0
    begin = time.perf_counter()
    size = compiled_memory(traced, plan)
    print(
        f"{size / 1e9:.1f} GB on a device when all layers are compiled ({time.perf_counter() - begin:.0f} s), "
        f"{plan.device_memory / 1e9:.1f} expected, {USABLE * plan.memory / 1e9:.1f} can be used"
    )
    return int(size > USABLE * plan.memory)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
