"""Training ResNet-50 or MobileNetV3-large on pictures of 224 × 224 with momentum."""

from __future__ import annotations

from typing import Any

from benchmarks.workloads.common import classification_batches, set_torch_parameters
from benchmarks.workloads.training import Batches, training_families

NUM_CLASSES = 1000
NUM_BATCHES = 2  # more pictures only take memory


def batches(batch: int = 8, extent: int = 224, **sizes: Any) -> Batches:
    """Random pictures with random labels."""
    return classification_batches((batch, 3, extent, extent), NUM_CLASSES, NUM_BATCHES)


def paddle_pictures(paddle: Any, model: str = "resnet50", **sizes: Any) -> Any:
    """The framework's own model. Without dropout, which draws other numbers in each framework."""
    from benchmarks.workloads.inference import paddle_model

    made = paddle_model(paddle, model)
    made.train()
    for layer in made.sublayers():
        if isinstance(layer, paddle.nn.Dropout):
            layer.p = 0.0
    return made


def torch_pictures(torch: Any, model: str = "resnet50", **sizes: Any) -> Any:
    """The same model as PyTorch modules."""
    from benchmarks.workloads.in_torch.inference import pictures

    made = pictures(torch, model)
    set_torch_parameters(torch, made)
    return made


def jax_pictures(jax: Any, model: str = "resnet50", num_steps: int = 1, **sizes: Any) -> Any:
    """ResNet-50 written by hand in JAX; there is no such MobileNet."""
    from benchmarks.workloads.in_jax.pictures import JaxResNet

    if model != "resnet50":
        raise ValueError(f"there is no JAX version of {model}")
    return JaxResNet(jax, batches(**sizes), num_steps)


FAMILIES = {**training_families(paddle_pictures, torch_pictures, batches, "Momentum"), "jax": jax_pictures}
