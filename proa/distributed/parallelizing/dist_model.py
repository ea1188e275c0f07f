"""`dist.to_static`: a model on a mesh whose training step, evaluation or prediction is one program."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...core.errors import runtime_error, type_error, value_error
from ...core.tracebacks import boundary
from ...eager.tensor import Tensor
from ...graph.capture import capture
from ...ir.recorder import one_segment, recording_gradients
from ...nn.layer import Layer
from ..meshes.shard_optimizers import ShardingStage1, ShardingStage2, ShardingStage3, ShardOptimizer, shard_optimizer
from .mixed_precision import MixedPrecision
from .pipeline import batches, run_micro_batches
from .strategy import Strategy

if TYPE_CHECKING:
    from ...optimizer.optimizer import Optimizer

_STAGES = {1: ShardingStage1, 2: ShardingStage2, 3: ShardingStage3}
_MODES = ("train", "eval", "predict")


class DistModel:
    """A model in one of the modes `train()`, `eval()` and `predict()`; calling it does a step of that mode.

    A step is recorded and compiled as a whole when it is first run; a pipeline's stages are programs of their own.

    `paddle.distributed.to_static` makes one.

    Examples:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        >>> model = paddle.distributed.to_static(layer, None, paddle.nn.MSELoss(), optimizer)
        >>> before = float(model(paddle.ones([4, 2]), paddle.ones([4, 1])))
        >>> float(model(paddle.ones([4, 2]), paddle.ones([4, 1]))) < before
        True
    """

    def __init__(
        self,
        layer: Layer,
        loader: Any = None,
        loss: Any = None,
        optimizer: Optimizer | None = None,
        strategy: Strategy | None = None,
        metrics: Any = None,
        input_spec: Sequence[Any] | None = None,
    ) -> None:
        if not isinstance(layer, Layer):
            raise type_error("to_static", "layer must be a Layer", type(layer).__name__)
        if loss is not None and not callable(loss):
            raise type_error("to_static", "loss must be a Layer or a function", type(loss).__name__)
        self._layer, self._loader, self._loss = layer, loader, loss
        self._strategy = Strategy() if strategy is None else strategy
        self._metrics = metrics
        self._optimizer = self._sharded(optimizer)
        self._seen: dict[str, list[Tensor]] = {}
        self._steps_since_update = 0
        self._precision = MixedPrecision(self._strategy.amp, layer, self._optimizer)
        self._mode = "predict" if loss is None else "eval" if optimizer is None else "train"
        getattr(self, self._mode)()

    def _sharded(self, optimizer: Any) -> Any:
        sharding = self._strategy.sharding
        if optimizer is None or not sharding.enable or isinstance(optimizer, ShardOptimizer):
            return optimizer
        if sharding.stage not in _STAGES:
            raise value_error("to_static", "sharding.stage is 1, 2 or 3", repr(sharding.stage))
        return shard_optimizer(optimizer, _STAGES[sharding.stage](0))

    # ---- modes -------------------------------------------------------------------------------------------------

    def train(self) -> None:
        """From now on a call changes the parameters and gives the loss.

        Raises:
            ValueError: there is no loss or no optimiser.

        Examples:
            >>> paddle.distributed.to_static(paddle.nn.Linear(2, 1)).train()
            Traceback (most recent call last):
                ...
            ValueError: (DistModel.train) this mode needs loss and optimizer; received no loss.
        """
        self._require("train", loss=self._loss, optimizer=self._optimizer)
        self._layer.train()
        self._mode = "train"

    def eval(self) -> None:
        """From now on a call gives the loss.

        Raises:
            ValueError: there is no loss.

        Examples:
            >>> model = paddle.distributed.to_static(paddle.nn.Linear(2, 1), None, paddle.nn.MSELoss())
            >>> model.eval()
            >>> model(paddle.ones([4, 2]), paddle.ones([4, 1])).shape
            paddle.Size([])
        """
        self._require("eval", loss=self._loss)
        self._layer.eval()
        self._mode = "eval"

    def predict(self) -> None:
        """From now on a call gives the outputs of the model.

        Examples:
            >>> model = paddle.distributed.to_static(paddle.nn.Linear(2, 1), None, paddle.nn.MSELoss())
            >>> model.predict()
            >>> model(paddle.ones([4, 2])).shape
            paddle.Size([4, 1])
        """
        self._layer.eval()
        self._mode = "predict"

    def _require(self, mode: str, **needed: Any) -> None:
        missing = [name for name, value in needed.items() if value is None]
        if missing:
            raise value_error(f"DistModel.{mode}", f"this mode needs {' and '.join(needed)}", f"no {missing[0]}")

    # ---- steps -------------------------------------------------------------------------------------------------

    @boundary
    def __call__(self, *args: Any) -> Any:
        """A step of the mode. With a loss the last argument is what it compares with, the others go into the model."""
        self._seen[self._mode] = [one for one in args if isinstance(one, Tensor)]
        stages = getattr(self._layer, "_pipeline_stages", None)
        result = self._train(args, stages) if self._mode == "train" else self._infer(args)
        return result if stages is None else stages.for_all(result)

    def _infer(self, args: tuple[Any, ...]) -> Any:
        with one_segment(), recording_gradients(False):
            if self._mode == "eval":
                return self._evaluate(*args)
            with self._precision.casting():
                return self._layer(*args)

    def _evaluate(self, *args: Any) -> Tensor:
        if len(args) < 2:
            raise value_error("DistModel", "inputs and a label are needed for the loss", f"{len(args)} argument(s)")
        with self._precision.casting():
            outputs = self._layer(*args[:-1])
            outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
            loss: Any = self._loss
            return loss(*outputs, args[-1])

    def _train(self, args: tuple[Any, ...], stages: Any) -> Tensor:
        pipeline = self._strategy.pipeline
        count = pipeline.accumulate_steps if pipeline.enable else 1
        merged, mean = self._merged_steps()
        scale = 1.0 / merged if mean else 1.0
        parts = batches(args, count) if count > 1 or stages is not None else [list(args)]

        def forward(number: int) -> Tensor:
            return self._precision.scaled(self._evaluate(*parts[number]) * scale)

        # Who scales losses looks at the gradients before the update, which ends the program there.
        whole = stages is None and not self._precision.scales
        with one_segment() if stages is None else contextlib.nullcontext():
            loss: Any = run_micro_batches(forward, count, 1 if stages is None else len(stages.meshes))
            loss = self._precision.unscaled(loss) * (1.0 / scale)
            if whole:
                self._update(merged)
        if not whole:
            self._update(merged)
        return loss

    def _merged_steps(self) -> tuple[int, bool]:
        """Over how many calls gradients are added up before an update, and whether their mean is meant."""
        merge = self._strategy.gradient_merge
        if merge.enable:
            return merge.k_steps, merge.avg
        return getattr(self._optimizer, "gradient_accumulation_steps", 1), True

    def _update(self, merged: int) -> None:
        self._steps_since_update += 1
        if self._steps_since_update >= merged:
            self._steps_since_update = 0
            self._precision.step(self._optimizer)
            self._optimizer.clear_grad()

    # ---- states and programs -----------------------------------------------------------------------------------

    def state_dict(self, mode: str = "all", split_fusion: bool = True) -> dict[str, Any]:
        """Parameters (`mode="param"`), the optimiser's states (`"opt"`), or both (`"all"`).

        Args:
            mode: which.
            split_fusion: taken; nothing is fused.

        Raises:
            ValueError: `mode` is another one.

        Examples:
            >>> sorted(paddle.distributed.to_static(paddle.nn.Linear(2, 1)).state_dict("param"))
            ['bias', 'weight']
        """
        if mode not in ("all", "param", "opt"):
            raise value_error("DistModel.state_dict", "mode is 'all', 'param' or 'opt'", repr(mode))
        found: dict[str, Any] = {}
        if mode != "opt":
            found.update(self._layer.state_dict())
        if mode != "param" and self._optimizer is not None:
            found.update(self._optimizer.state_dict())
        return found

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes parameters and states of such a dictionary; they are laid out as those that are there.

        Examples:
            >>> model = paddle.distributed.to_static(paddle.nn.Linear(2, 1))
            >>> model.set_state_dict({"bias": paddle.to_tensor([5.0])})
            >>> model.state_dict()["bias"].tolist()
            [5.0]
        """
        own = self._layer.state_dict()
        self._layer.set_state_dict({key: value for key, value in state_dict.items() if key in own})
        rest = {key: value for key, value in state_dict.items() if key not in own}
        if rest and self._optimizer is not None:
            self._optimizer.set_state_dict(rest)

    def dist_main_program(self, mode: str | None = None) -> Any:
        """The Program of a mode (its forward part, with the layouts in it), after a call in that mode.

        Args:
            mode: "train", "eval" or "predict"; None: the present one.

        Raises:
            RuntimeError: there was no call in that mode.

        Examples:
            >>> model = paddle.distributed.to_static(paddle.nn.Linear(2, 1))
            >>> outputs = model(paddle.ones([4, 2]))
            >>> model.dist_main_program() is not None
            True
        """
        mode = self._mode if mode is None else mode
        if mode not in _MODES:
            raise value_error("DistModel", f"a mode is one of {list(_MODES)}", repr(mode))
        if mode not in self._seen:
            raise runtime_error("DistModel.dist_main_program", "programs are made at the first call", f"mode: {mode}")
        function: Callable[..., Any] = self._layer if mode == "predict" else self._evaluate
        with recording_gradients(False):
            return capture(function, self._seen[mode], name=mode).program

    serial_main_program = dist_main_program

    def dist_startup_program(self, mode: str | None = None) -> None:
        """None: parameters are there when the model is.

        Examples:
            >>> print(paddle.distributed.to_static(paddle.nn.Linear(2, 1)).dist_startup_program())
            None
        """

    serial_startup_program = dist_startup_program


def to_static(
    layer: Layer, loader: Any = None, loss: Any = None, optimizer: Optimizer | None = None, strategy: Strategy | None = None,
    input_spec: Sequence[Any] | None = None,
) -> DistModel:  # fmt: skip
    """The model as a `DistModel`, in the mode that its arguments allow: train, eval or predict.

    Args:
        layer: the model.
        loader: what its data come from; kept.
        loss: a Layer or function of its outputs and a label.
        optimizer: an optimiser of its parameters.
        strategy: a `Strategy`.
        input_spec: taken; it is not needed.

    Examples:
        >>> model = paddle.distributed.to_static(paddle.nn.Linear(2, 1))
        >>> model(paddle.ones([4, 2])).shape
        paddle.Size([4, 1])
    """
    return DistModel(layer, loader, loss, optimizer, strategy, None, input_spec)
