"""The process that times plans of one model, step by step in turn: `planning_steps MODEL '[choices]'`.

It prints a line when it begins with a plan (`begun`), and one for each that was timed, or that could not be.
"""

from __future__ import annotations

import gc
import json
import math
import operator
import sys
import time
from collections.abc import Callable
from typing import Any

ROUNDS = 40
# After so many rounds a plan that takes so many times the best's seconds is left as it is.
BEHIND = {3: 3.0, 8: 2.0, 16: 1.4}


def step_of(name: str, choice: dict[str, Any]) -> Callable[[], float]:
    """One training step of a model under a plan, compiled."""
    import proa as paddle
    from proa import distributed as dist
    from proa.distributed.planner.costs import Choice
    from proa.distributed.planner.pieces import take_apart
    from proa.distributed.planner.plan import Plan
    from proa.distributed.planner.searching import cuts_for
    from proa.distributed.planner.tracing import trace

    from .planning_models import MODELS

    make, batch, loss = MODELS[name]
    paddle.seed(0)
    model, (x, y) = make(), batch()
    optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters())
    pieces = take_apart(trace(model, loss, optimizer, [x, y]))
    plan = Plan("cpu", 1e9, len(x), Choice(**choice), cuts_for(pieces, choice["model"]), pieces.prefix)
    model, optimizer = plan.apply(model, optimizer)
    step = dist.to_static(model, None, loss, optimizer, strategy=plan.strategy())
    inputs, labels = paddle.to_tensor(x), paddle.to_tensor(y)

    def run() -> float:
        value = float(step(inputs, labels))
        assert math.isfinite(value), f"the loss is {value}"
        return value

    for _ in range(5):  # the first ones compile
        run()
    return run


def main(name: str, choices: list[dict[str, Any]]) -> None:
    from proa.distributed.planner.costs import Choice

    steps: dict[str, Callable[[], float]] = {}
    for choice in choices:
        plan = str(Choice(**choice))
        print(json.dumps({"begun": plan}), flush=True)
        try:
            steps[plan] = step_of(name, choice)
        except Exception as error:
            print(json.dumps({"plan": plan, "error": f"{type(error).__name__}: {error}"[:600]}), flush=True)
    gc.collect()
    gc.freeze()
    best = dict.fromkeys(steps, (math.inf, math.inf))
    alive, number = dict(steps), 0
    for number in range(1, ROUNDS + 1):
        for plan, step in alive.items():
            before, busy = time.perf_counter(), time.process_time()
            step()
            taken = (time.perf_counter() - before, time.process_time() - busy)
            best[plan] = (min(best[plan][0], taken[0]), min(best[plan][1], taken[1]))
        if number in BEHIND and best:  # behind in both: a busy machine may be why one of them is long
            limits = [BEHIND[number] * min(times) for times in zip(*best.values(), strict=True)]
            alive = {plan: step for plan, step in alive.items() if any(map(operator.le, best[plan], limits))}
        print(json.dumps({"round": number}), flush=True)
    for plan, (clock, processor) in best.items():
        print(json.dumps({"plan": plan, "clock": clock, "processor": processor}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
