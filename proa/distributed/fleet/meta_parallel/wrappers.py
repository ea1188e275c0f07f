"""Models wrapped for a kind of parallelism: with one process, the model itself under Paddle's wrapper."""

from __future__ import annotations

from typing import Any

from ....nn.layer import Layer


class Wrapper(Layer):
    """Hands everything to the wrapped model, `_layers`."""

    _layers: Layer

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self._layers(*inputs, **kwargs)

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, state_dict: dict[str, Any], use_structured_name: bool = True) -> Any:
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = set_state_dict
    load_dict = set_state_dict


class MetaParallelBase(Wrapper):
    """A model wrapped for a kind of parallelism."""

    def __init__(self, layers: Layer, hcg: Any = None, strategy: Any = None) -> None:
        super().__init__(f"{layers.full_name()}_meta_parallel_base")
        self._layers, self._hcg, self._strategy = layers, hcg, strategy


class TensorParallel(MetaParallelBase):
    """A model whose weights are divided."""


class ShardingParallel(MetaParallelBase):
    """A model whose optimiser state is divided."""


class SegmentParallel(MetaParallelBase):
    """A model whose sequences are divided."""


class PipelineParallel(MetaParallelBase):
    """A model whose layers are divided; `train_batch` runs micro-batches one after another."""

    def __init__(self, layers: Any, hcg: Any = None, strategy: Any = None) -> None:
        super().__init__(layers, hcg, strategy)
        settings = getattr(strategy, "pipeline_configs", None) or {}
        self.accumulate_steps = int(settings.get("accumulate_steps", 1))

    def train_batch(self, data: Any, optimizer: Any, lr_scheduler: Any = None, scaler: Any = None) -> Any:
        """One update from a batch `[inputs, labels]`; gives the mean loss of its micro-batches."""
        inputs, labels = data
        steps, total = self.accumulate_steps, None
        for step in range(steps):
            loss = self._layers._loss_fn(self._layers(_part(inputs, step, steps)), _part(labels, step, steps)) / steps
            (loss if scaler is None else scaler.scale(loss)).backward()
            total = loss.detach() if total is None else total + loss.detach()
        if scaler is None:
            optimizer.step()
        else:
            scaler.step(optimizer)
            scaler.update()
        optimizer.clear_grad()
        if lr_scheduler is not None:
            lr_scheduler.step()
        return total

    def eval_batch(self, data: Any, compute_loss: bool = True) -> Any:
        """The loss of a batch `[inputs, labels]`, or the outputs."""
        inputs, labels = data
        output = self._layers(inputs)
        return self._layers._loss_fn(output, labels) if compute_loss else output


def _part(data: Any, step: int, steps: int) -> Any:
    """The share of one micro-batch: of a tensor, or of each tensor of a list."""
    if isinstance(data, (list, tuple)):
        return type(data)(_part(one, step, steps) for one in data)
    size = data.shape[0] // steps
    return data[step * size : (step + 1) * size]
