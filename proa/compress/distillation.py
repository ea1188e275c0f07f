"""Distillation: a small model (the student) learns what a large one (the teacher) answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..core.errors import type_error, value_error
from ..ir.recorder import recording_gradients
from ..nn import functional as F
from ..nn.layer import Layer

if TYPE_CHECKING:
    from ..eager.tensor import Tensor


def distillation_loss(student: Tensor, teacher: Tensor, temperature: float = 4.0) -> Any:
    """How far the student's answers are from the teacher's.

    It is the mean divergence of both distributions at a temperature, times its square, so that gradients keep their size.

    Args:
        student: logits, `[..., classes]`.
        teacher: the same of the teacher.
        temperature: how much both are softened.

    Examples:
        >>> logits = paddle.to_tensor([[1.0, 2.0]])
        >>> float(paddle.compress.distillation_loss(logits, logits))
        0.0
    """
    if not temperature > 0:
        raise value_error("distillation_loss", "temperature must be positive", f"temperature: {temperature!r}")
    if list(student.shape) != list(teacher.shape):
        raise value_error(
            "distillation_loss", "both models must answer in the same shape",
            f"student: {list(student.shape)}, teacher: {list(teacher.shape)}",
        )  # fmt: skip
    soft = 1.0 / temperature
    wanted = F.softmax(teacher.detach() * soft, axis=-1)
    log_wanted = F.log_softmax(teacher.detach() * soft, axis=-1)
    divergence = (wanted * (log_wanted - F.log_softmax(student * soft, axis=-1))).sum(-1)
    return divergence.mean() * (temperature * temperature)


def feature_loss(student: Tensor, teacher: Tensor) -> Any:
    """The mean squared difference of two layers' results, each divided by its root mean square.

    Args:
        student: a tensor.
        teacher: one of the same shape.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> float(paddle.compress.feature_loss(x, x * 3)) < 1e-6
        True
    """

    def scaled(x: Any) -> Any:
        return x / ((x * x).mean() + 1e-12).sqrt()

    return ((scaled(student) - scaled(teacher.detach())) ** 2).mean()


class Distiller(Layer):
    """Student and teacher called together; `forward` gives the student's answer, `loss` what training minimises.

    Parameters of the adapters are trained with the student's; the teacher is left as it is, in evaluation mode.

    Args:
        student: the model that learns.
        teacher: the model that it learns from.
        temperature: how much answers are softened.
        weight: how much the teacher's answers count beside the truth, from 0 to 1.
        features: pairs of layers (in the student: in the teacher) whose results are compared, too.
        feature_weight: how much these count.
        adapters: layers, by the student's names, that bring the student's results to the size of the teacher's.

    Examples:
        >>> student, teacher = paddle.nn.Linear(4, 3), paddle.nn.Linear(4, 3)
        >>> distiller = paddle.compress.Distiller(student, teacher)
        >>> adam = paddle.optimizer.Adam(parameters=distiller.parameters())
        >>> loss = distiller.loss(paddle.ones([2, 4]), paddle.to_tensor([0, 1]), paddle.nn.functional.cross_entropy)
        >>> loss.shape
        paddle.Size([])
    """

    def __init__(
        self,
        student: Layer,
        teacher: Layer,
        *,
        temperature: float = 4.0,
        weight: float = 0.7,
        features: Mapping[str, str] | None = None,
        feature_weight: float = 1.0,
        adapters: Mapping[str, Layer] | None = None,
    ) -> None:
        super().__init__()
        for name, model in (("student", student), ("teacher", teacher)):
            if not isinstance(model, Layer):
                raise type_error("Distiller", f"{name} must be a Layer", type(model).__name__)
        if not 0.0 <= weight <= 1.0:
            raise value_error("Distiller", "weight must be from 0 to 1", f"weight: {weight!r}")
        if not temperature > 0:
            raise value_error("Distiller", "temperature must be positive", f"temperature: {temperature!r}")
        self.student = student
        # In a tuple, so that the teacher is no part of this layer: not trained, not saved, never in training mode.
        self._teacher = (teacher,)
        self._temperature, self._weight, self._feature_weight = temperature, weight, feature_weight
        self._features = dict(features or {})
        for name, layer in (adapters or {}).items():
            if name not in self._features:
                raise value_error("Distiller", "adapters are for layers in features", f"{name!r}")
            self.add_sublayer(_adapter_name(name), layer)
        for mine, other in self._features.items():
            _layer_of("student", student, mine)
            _layer_of("teacher", teacher, other)

    @property
    def teacher(self) -> Layer:
        """The model that the student learns from.

        Examples:
            >>> student, teacher = paddle.nn.Linear(4, 3), paddle.nn.Linear(4, 3)
            >>> paddle.compress.Distiller(student, teacher).teacher is teacher
            True
        """
        return self._teacher[0]

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The student's answer.

        Examples:
            >>> student, teacher = paddle.nn.Linear(4, 3), paddle.nn.Linear(4, 3)
            >>> paddle.compress.Distiller(student, teacher)(paddle.ones([2, 4])).shape
            paddle.Size([2, 3])
        """
        return self.student(*inputs, **kwargs)

    def loss(self, inputs: Any, labels: Any = None, criterion: Callable[[Any, Any], Any] | None = None) -> Any:
        """What the student has to learn: the teacher's answers, its features, and perhaps the truth.

        Args:
            inputs: what both are called with.
            labels: the truth, which is weighed 1 - `weight`; None: it does not count.
            criterion: a function of the student's answer and the labels.

        Examples:
            >>> model = paddle.nn.Linear(4, 3)
            >>> round(float(paddle.compress.Distiller(model, model).loss(paddle.ones([2, 4]))), 6)
            0.0
        """
        given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
        self.teacher.eval()
        with recording_gradients(False):
            wanted, theirs = _watching(self.teacher, list(self._features.values()), given)
        found, mine = _watching(self.student, list(self._features), given)
        total = distillation_loss(found, wanted, self._temperature) * self._weight
        if criterion is not None:
            total = total + criterion(found, labels) * (1.0 - self._weight)
        for name, other in self._features.items():
            adapter = self._sub_layers.get(_adapter_name(name))
            own = mine[name] if adapter is None else adapter(mine[name])
            total = total + feature_loss(own, theirs[other]) * self._feature_weight
        return total


def _adapter_name(name: str) -> str:
    return f"adapter_{name.replace('.', '_')}"


def _layer_of(whose: str, model: Layer, name: str) -> Layer:
    found = dict(model.named_sublayers()).get(name)
    if found is None:
        raise value_error("Distiller", f"the {whose} has no layer {name!r}", fix=f"see {whose}.named_sublayers()")
    return found


def _watching(model: Layer, names: list[str], inputs: tuple[Any, ...]) -> tuple[Any, dict[str, Any]]:
    """The model's answer, and the results of some of its layers."""
    seen: dict[str, Any] = {}

    def note(name: str) -> Callable[[Any, Any, Any], None]:
        def hook(layer: Any, given: Any, result: Any) -> None:
            seen[name] = result

        return hook

    hooks = [_layer_of("model", model, name).register_forward_post_hook(note(name)) for name in names]
    try:
        return model(*inputs), seen
    finally:
        for hook in hooks:
            hook.remove()
