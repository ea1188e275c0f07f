"""The loss of a sequence of labels without their places."""

from __future__ import annotations

from ...eager.tensor import Tensor
from .. import functional as F
from ..layer import Layer
from .common import _reduction


class CTCLoss(Layer):
    """Connectionist temporal classification: the loss of a sequence of labels against longer scores without alignment.

    Args:
        blank: the class that stands for no label.
        reduction: 'mean' (of each loss divided by its label's length), 'sum' or 'none'.
        zero_infinity: gives 0 where no alignment is possible, instead of infinity.

    Examples:
        >>> loss = paddle.nn.CTCLoss(reduction="none")
        >>> scores = paddle.zeros([4, 1, 3])  # [time, batch, classes], before softmax
        >>> lengths = paddle.to_tensor([4]), paddle.to_tensor([2])
        >>> print(loss(scores, paddle.to_tensor([[1, 2]], dtype="int32"), *lengths).numpy().round(3))
        [1.686]
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__()
        self.blank, self.reduction, self.zero_infinity = blank, _reduction(self, reduction), zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        labels: Tensor,
        input_lengths: Tensor,
        label_lengths: Tensor,
        norm_by_times: bool = False,
    ) -> Tensor:
        """The loss.

        Args:
            log_probs: scores [time, batch, classes], before softmax.
            labels: the labels [batch, longest length].
            input_lengths: how many steps of each sequence count.
            label_lengths: how many labels each sequence has.
            norm_by_times: divides gradients by the number of steps.

        Examples:
            >>> lengths = paddle.to_tensor([3]), paddle.to_tensor([1])
            >>> loss = paddle.nn.CTCLoss().forward(paddle.zeros([3, 1, 2]), paddle.to_tensor([[1]], dtype="int32"), *lengths)
            >>> round(loss.item(), 4)
            0.2877
        """
        return F.ctc_loss(
            log_probs,
            labels,
            input_lengths,
            label_lengths,
            self.blank,
            self.reduction,
            norm_by_times,
            self.zero_infinity,
        )
