"""Training in bfloat16 with float32 master weights on a GPU: a GPT-2-small-shaped model or ResNet-50.

Paddle's family uses `amp.decorate` and `auto_cast` at level O2, in plain eager code. PyTorch uses `torch.compile`, either
with `autocast` around float32 parameters (`parameters="float32"`, as precise as O2) or with everything in bfloat16, moments
included, which moves less memory. JAX's GPT is written by hand: masters in float32, cuDNN's attention.
"""

from __future__ import annotations

from dataclasses import asdict
from itertools import cycle, islice
from typing import Any

import numpy as np

from benchmarks.workloads.common import set_paddle_parameters
from benchmarks.workloads.models import pictures
from benchmarks.workloads.models.transformer import Sizes, paddle_transformer, token_batches, torch_transformer

LEARNING_RATE = 1e-3


def _batches(model: str, options: dict[str, Any]) -> list[tuple[tuple[np.ndarray, ...], np.ndarray]]:
    """Inputs and labels; a batch of tokens comes with the positions."""
    if model == "resnet50":
        return [((x,), y) for x, y in pictures.batches(options["batch"], options["extent"])]
    sizes = Sizes(**options)
    positions = np.arange(sizes.num_tokens)
    return [((tokens, positions), targets) for tokens, targets in token_batches(sizes)]


class PaddleMixed:
    """`num_steps` training steps, the loss read at the end."""

    def __init__(self, paddle: Any, model: str, num_steps: int, device: str = "gpu", **options: Any) -> None:
        paddle.set_device(device)
        self.paddle, self.num_steps, self.is_text = paddle, num_steps, model == "gpt"
        if self.is_text:
            network = paddle_transformer(paddle, Sizes(**options))
            optimizer = paddle.optimizer.AdamW(LEARNING_RATE, parameters=network.parameters())
        else:
            network = pictures.paddle_pictures(paddle)
            set_paddle_parameters(network)
            optimizer = paddle.optimizer.Momentum(LEARNING_RATE, 0.9, parameters=network.parameters())
        self.first = min(network.parameters()[:2], key=lambda parameter: parameter.size)
        self.model, self.optimizer = paddle.amp.decorate(network, optimizer, level="O2", dtype="bfloat16")
        self.batches = [(tuple(map(paddle.to_tensor, x)), paddle.to_tensor(y)) for x, y in _batches(model, options)]

    def run(self) -> float:
        paddle = self.paddle
        loss: Any = None
        for inputs, labels in islice(cycle(self.batches), self.num_steps):
            with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
                scores = self.model(*inputs, None) if self.is_text else self.model(*inputs)
                scores = scores.reshape([-1, scores.shape[-1]])
                loss = paddle.nn.functional.cross_entropy(scores, labels)
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()
        # What the first layers hold is the last thing that a step brings up to date.
        self.first.numpy()
        return float(loss.item())


class TorchMixed:
    """The same loop in PyTorch."""

    def __init__(
        self,
        torch: Any,
        model: str,
        num_steps: int,
        device: str = "cuda",
        parameters: str = "float32",
        compiled: bool = True,
        **options: Any,
    ) -> None:
        self.torch, self.num_steps, self.device, self.is_text = torch, num_steps, device, model == "gpt"
        if self.is_text:
            network = torch_transformer(torch, Sizes(**options))
        else:
            network = pictures.torch_pictures(torch).to(memory_format=torch.channels_last)
        network = network.to(device=device, dtype=getattr(torch, parameters))
        if self.is_text:
            self.optimizer = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE, fused=True)
        else:
            self.optimizer = torch.optim.SGD(network.parameters(), lr=LEARNING_RATE, momentum=0.9, fused=True)
        self.first = min(islice(network.parameters(), 2), key=lambda parameter: parameter.numel())
        dtype = torch.bfloat16 if parameters == "bfloat16" else torch.float32
        self.batches = []
        for inputs, labels in _batches(model, options):
            tensors = [torch.from_numpy(x).to(device) for x in inputs]
            tensors = [t.to(dtype) if t.is_floating_point() else t for t in tensors]
            if not self.is_text:
                tensors = [t.to(memory_format=torch.channels_last) for t in tensors]
            self.batches.append((tensors, torch.from_numpy(labels).to(device)))

        def loss_of(inputs: Any, labels: Any) -> Any:
            with torch.autocast(device, torch.bfloat16, enabled=parameters == "float32"):
                scores = network(*inputs, None) if self.is_text else network(*inputs)
                return torch.nn.functional.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels)

        self.loss_of = torch.compile(loss_of) if compiled else loss_of

    def run(self) -> float:
        loss: Any = None
        for inputs, labels in islice(cycle(self.batches), self.num_steps):
            loss = self.loss_of(inputs, labels)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
        self.first.detach().float().cpu().numpy()
        return loss.item()


def jax_mixed(jax: Any, model: str, **options: Any) -> Any:
    """The hand-written step; there is none of ResNet-50 in half precision."""
    from benchmarks.workloads.in_jax.transformer import JaxTransformer

    if model != "gpt":
        raise ValueError(f"there is no JAX version of {model}")
    sizes = Sizes(**options)
    return JaxTransformer(jax, decay=0.01, masters=True, **{**asdict(sizes), "dtype": "bfloat16"})


FAMILIES = {"paddle": PaddleMixed, "torch": TorchMixed, "jax": jax_mixed}
