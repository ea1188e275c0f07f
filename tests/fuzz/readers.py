"""Programs that train a small model while other threads read its parameters and evaluate it."""

from __future__ import annotations

import random

from .program import Program

PROLOGUE = (
    "import numpy as np",
    "import {module} as paddle",
    "import {module}.nn.functional as F",
    "from tests.fuzz.reading import are_from, are_outputs, while_reading",
    "from tests.fuzz.runtime import given, record",
)
OPTIMIZERS = (
    "SGD(learning_rate=0.05, parameters=model.parameters())",
    "Momentum(learning_rate=0.05, momentum=0.5, parameters=model.parameters())",
    # A large epsilon keeps Adam from blowing up the rounding noise of gradients near zero.
    "Adam(learning_rate=0.05, beta1=0.7, beta2=0.8, epsilon=0.2, parameters=model.parameters())",
)
PARAMETER_READS = (
    "[one.numpy() for one in model.parameters()]",
    "[one.numpy() for one in model.state_dict().values()]",
    "[np.array(one) for one in model.parameters()]",
    "[one.detach().clone().numpy() for one in model.parameters()]",
    "[np.array(one.tolist(), 'float32') for one in model.parameters()]",
)


def generate_readers(seed: int, module: str, chance: random.Random, repetitions: int) -> Program:
    """Main thread: train. Others: read, or evaluate, until it is done. Then: was what they saw possible?"""
    decide = lambda probability: chance.random() < probability  # noqa: E731
    features = {"readers", "threads", "training", "gradient"}
    watched = decide(0.7)  # whether the main thread keeps what the parameters were after each step
    readers = ["evaluate"] + ["read_parameters"] * decide(0.8)
    lines = [line.format(module=module) for line in PROLOGUE] + model_lines(chance)
    if decide(0.4):
        features.add("view of a parameter")
        lines.append("row = model[0].weight.detach()[0]")
    lines += ["def evaluate():"] + ["    model.eval()"] * decide(0.5)
    lines += ["    with paddle.no_grad():", "        return model(batch).numpy()"] if decide(0.6) else [
        "    return model(batch).numpy()"
    ]  # fmt: skip
    if "read_parameters" in readers:
        lines += ["def read_parameters():", f"    return {chance.choice(PARAMETER_READS)}"]
    lines += [
        f"with while_reading({', '.join(readers)}) as seen:",
        f"    for step in range({chance.choice((4, 6, 8))}):",
        "        loss = F.mse_loss(model(batch), target)",
        "        loss.backward()",
        "        optimizer.step()",
        "        optimizer.clear_grad()",
    ]
    lines += ['        record("loss", loss)'] * decide(0.5)
    if watched:
        features.add("watched steps")
        lines += [
            "        history.append([one.numpy() for one in model.parameters()])",
            'record("expected: outputs are possible", are_outputs(history, batch.numpy(), seen[0]))',
        ]
        if "read_parameters" in readers:
            lines.append('record("expected: reads are possible", are_from(history, seen[1]))')
    lines.append('record("expected: outputs are finite", all(np.isfinite(one).all() for one in seen[0]))')
    if "view of a parameter" in features:
        lines.append('record("row", row)')
    lines += ['record("loss", loss)', "for one in model.parameters():", '    record("parameter", one)']
    return Program(
        seed=seed,
        source="\n".join(lines) + "\n",
        features=frozenset(features),
        repetitions=repetitions,
        known=frozenset({"reading while another thread trains"}),
    )


def model_lines(chance: random.Random) -> list[str]:
    inputs, hidden, outputs, rows = (chance.randint(1, 4) for _ in range(4))
    return [
        f"model = paddle.nn.Sequential(paddle.nn.Linear({inputs}, {hidden}), paddle.nn.Tanh(), "
        f"paddle.nn.Linear({hidden}, {outputs}))",
        "for number, parameter in enumerate(model.parameters()):",
        f"    parameter.set_value(given(parameter.shape, number + {chance.randint(0, 50)}) * 0.25)",
        f"optimizer = paddle.optimizer.{chance.choice(OPTIMIZERS)}",
        f"batch = paddle.to_tensor(given([{rows}, {inputs}], {chance.randint(0, 99)}))",
        f"target = paddle.to_tensor(given([{rows}, {outputs}], {chance.randint(0, 99)}))",
        "history = [[one.numpy() for one in model.parameters()]]",
    ]
