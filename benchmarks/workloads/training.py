"""The training loop that the larger workloads share: the loss is read at every tenth step.

`form` says how a framework is asked to run it: `eager` (plain user code), `static` (proa: the whole step as one
`train_step`; Paddle: the model through `to_static`), `channels_last` and `compile` (PyTorch's memory format for pictures,
and `torch.compile`). `precision` is `float32`, or `bfloat16`: then the forward pass stands in `auto_cast` (level O1) or
`torch.autocast`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from itertools import cycle, islice
from typing import Any

import numpy as np

READ_EVERY = 10
LEARNING_RATE = 1e-3

# The arrays that the model is called with, and the labels of its rows of scores.
Batches = list[tuple[np.ndarray, np.ndarray]] | list[tuple[tuple[np.ndarray, ...], np.ndarray]]


def arrays_of(inputs: Any) -> tuple[np.ndarray, ...]:
    return inputs if isinstance(inputs, tuple) else (inputs,)


class PaddleTraining:
    """`num_steps` steps of a model whose call gives rows of scores, one row for each label."""

    def __init__(
        self,
        paddle: Any,
        model: Any,
        batches: Batches,
        optimizer: str,
        num_steps: int,
        form: str = "eager",
        precision: str = "float32",
    ) -> None:
        if form not in ("eager", "static"):
            raise ValueError(f"a Paddle model has no form {form!r}; it has: eager, static")
        self.casting = partial(paddle.amp.auto_cast, dtype=precision) if precision != "float32" else nullcontext
        self.cross_entropy = paddle.nn.functional.cross_entropy
        self.parameter = next(iter(model.parameters()))
        settings = {"momentum": 0.9} if optimizer == "Momentum" else {}
        make = getattr(paddle.optimizer, optimizer)
        self.optimizer = make(learning_rate=LEARNING_RATE, parameters=model.parameters(), **settings)
        self.batches = [(tuple(map(paddle.to_tensor, arrays_of(x))), paddle.to_tensor(y)) for x, y in batches]
        self.num_steps = num_steps
        whole_step = getattr(paddle.jit, "train_step", None)
        if form == "static" and whole_step is None:
            model = paddle.jit.to_static(model)
        self.model = model
        self.step = whole_step(self._step) if form == "static" and whole_step is not None else self._step

    def _step(self, inputs: tuple[Any, ...], labels: Any) -> Any:
        with self.casting():
            loss = self.cross_entropy(self.model(*inputs), labels)
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        return loss

    def run(self) -> float:
        value = 0.0
        for number, (inputs, labels) in enumerate(islice(cycle(self.batches), self.num_steps), start=1):
            loss = self.step(inputs, labels)
            if number % READ_EVERY == 0 or number == self.num_steps:
                value = loss.item()
        # The first layer's weight is the last thing that a step brings up to date.
        self.parameter.numpy()
        return value


class TorchTraining:
    """The same loop in PyTorch."""

    def __init__(
        self,
        torch: Any,
        model: Any,
        batches: Batches,
        optimizer: str,
        num_steps: int,
        form: str = "eager",
        precision: str = "float32",
    ) -> None:
        if form not in ("eager", "channels_last", "compile"):
            raise ValueError(f"a PyTorch model has no form {form!r}; it has: eager, channels_last, compile")
        low = precision != "float32"
        self.casting = partial(torch.autocast, "cpu", getattr(torch, precision)) if low else nullcontext
        self.cross_entropy = torch.nn.functional.cross_entropy
        self.batches = [(tuple(map(torch.from_numpy, arrays_of(x))), torch.from_numpy(y)) for x, y in batches]
        if form == "channels_last":
            model = model.to(memory_format=torch.channels_last)
            self.batches = [
                (tuple(x.to(memory_format=torch.channels_last) for x in inputs), y) for inputs, y in self.batches
            ]
        self.parameter = next(iter(model.parameters()))
        if optimizer == "Momentum":
            self.optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=0.9)
        else:
            self.optimizer = getattr(torch.optim, optimizer)(model.parameters(), lr=LEARNING_RATE)
        self.model = torch.compile(model) if form == "compile" else model
        self.num_steps = num_steps

    def run(self) -> float:
        value = 0.0
        for number, (inputs, labels) in enumerate(islice(cycle(self.batches), self.num_steps), start=1):
            with self.casting():
                loss = self.cross_entropy(self.model(*inputs), labels)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            if number % READ_EVERY == 0 or number == self.num_steps:
                value = loss.item()
        self.parameter.detach().numpy()
        return value


def training_families(
    paddle_model: Callable[..., Any],
    torch_model: Callable[..., Any],
    batches: Callable[..., Batches],
    optimizer: str,
) -> dict[str, Any]:
    """The table of versions for a model written once for Paddle's API and once for PyTorch's.

    Further options (sizes) go to the model and to the batches.
    """

    def paddle_version(
        paddle: Any, num_steps: int = READ_EVERY, form: str = "eager", precision: str = "float32", **sizes: Any
    ) -> PaddleTraining:
        model = paddle_model(paddle, **sizes)
        return PaddleTraining(paddle, model, batches(**sizes), optimizer, num_steps, form, precision)

    def torch_version(
        torch: Any, num_steps: int = READ_EVERY, form: str = "eager", precision: str = "float32", **sizes: Any
    ) -> TorchTraining:
        model = torch_model(torch, **sizes)
        return TorchTraining(torch, model, batches(**sizes), optimizer, num_steps, form, precision)

    return {"paddle": paddle_version, "torch": torch_version}
