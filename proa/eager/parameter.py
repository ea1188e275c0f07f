"""Parameter: a tensor that a model owns and an optimiser changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.dtype import default_float, to_numpy_dtype
from ..core.printing import PARAMETER_PREFIX
from .annotations import DTypeLike, TensorLike
from .naming import unique_name
from .tensor import Tensor, adopt, tensor_from_data

if TYPE_CHECKING:
    from ..optimizer.regularizer import WeightDecay


class Parameter(Tensor):
    """A tensor that a layer owns and an optimiser changes.

    `optimize_attr["learning_rate"]` scales the learning rate for this parameter, `regularizer` replaces the optimiser's
    weight decay, `need_clip` lets gradient clipping see it.

    Args:
        data: its numbers: a tensor, an array or a nested list; a list of ints is a shape, as in Paddle, and gives zeros.
        dtype: its data type; that of the numbers if left out.
        name: its name; a unique one if left out.
        trainable: whether it gets gradients.
        learning_rate: the factor of the optimiser's learning rate.
        regularizer: its own weight decay.
        need_clip: whether gradient clipping sees it.
        do_model_average: whether averages of the model see it.
        requires_grad: PyTorch's name for `trainable`.

    Examples:
        >>> weight = paddle.nn.Parameter(paddle.to_tensor([1.0, 2.0]))
        >>> weight.trainable, weight.stop_gradient
        (True, False)
        >>> paddle.nn.Parameter([2, 3], "float32").shape
        paddle.Size([2, 3])
    """

    _print_prefix = PARAMETER_PREFIX
    persistable = True

    def __init__(
        self,
        data: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        learning_rate: float = 1.0,
        regularizer: WeightDecay | None = None,
        need_clip: bool = True,
        do_model_average: bool = True,
        requires_grad: bool | None = None,
    ) -> None:
        if isinstance(data, (list, tuple)) and all(isinstance(n, int) for n in data):
            # Paddle's own signature: a shape. The numbers come from an initializer later.
            import numpy as np

            data = np.zeros(data, default_float() if dtype is None else to_numpy_dtype(dtype))
        adopt(
            self,
            data if isinstance(data, Tensor) and dtype is None else tensor_from_data(data, dtype),
        )
        self._version = 0
        self.stop_gradient = not (trainable if requires_grad is None else requires_grad)
        self._name = name if name is not None else unique_name("parameter")
        self.optimize_attr: dict[str, Any] = {"learning_rate": learning_rate}
        self.regularizer = regularizer
        self.need_clip = need_clip
        self.do_model_average = do_model_average

    @property
    def trainable(self) -> bool:
        """Whether optimisers change it: the opposite of `stop_gradient`.

        Examples:
            >>> weight = paddle.nn.Parameter(paddle.to_tensor([1.0]))
            >>> weight.trainable = False
            >>> weight.stop_gradient
            True
        """
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.stop_gradient = not value

    def initialize(self) -> None:
        """Draws the numbers of a parameter that was made under `paddle.LazyGuard`; others have theirs.

        Examples:
            >>> with paddle.LazyGuard():
            ...     layer = paddle.nn.Linear(2, 1, weight_attr=paddle.nn.initializer.Constant(3.0))
            >>> layer.weight.initialize()
            >>> layer.weight.tolist()
            [[3.0], [3.0]]
        """

    def _is_initialized(self) -> bool:
        return True
