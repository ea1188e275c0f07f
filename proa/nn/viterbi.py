"""The most likely sequence of tags under scores of tags and of transitions between them."""

from __future__ import annotations

from typing import Any

from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor
from ..ops.index.along import take_along_axis
from ..ops.index.search import argmax
from ..ops.math.reduction import max as maximum_along
from ..ops.math.ternary import where
from ..ops.shape.joining import stack
from .layer import Layer


def viterbi_decode(
    potentials: Tensor,
    transition_params: Tensor,
    lengths: Tensor,
    include_bos_eos_tag: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The highest score of each sequence, and its tags.

    The width of the result depends on the values of `lengths`, which are read for it.

    Args:
        potentials: the score of each tag, `[batch, time, tags]`.
        transition_params: the score of each change of tags, `[tags, tags]`, from row to column.
        lengths: how long each sequence is.
        include_bos_eos_tag: whether the last row of the transitions is added at the beginning of a sequence and the
            last but one at its end.
        name: a label; it changes nothing.

    Returns:
        Scores `[batch]` and tags `[batch, longest length]` of int64, 0 behind the end of a sequence.

    Examples:
        >>> potentials = paddle.to_tensor([[[1.0, 0.0], [0.0, 2.0]]])
        >>> scores, tags = paddle.text.viterbi_decode(potentials, paddle.zeros([2, 2]), paddle.to_tensor([2]), False)
        >>> scores.tolist(), tags.tolist()
        ([3.0], [[0, 1]])
    """
    longest = _check(potentials, transition_params, lengths)
    tags = potentials._aval.shape[2]
    transitions = transition_params.unsqueeze(0)
    score = potentials[:, 0]
    if include_bos_eos_tag:
        score = score + transition_params[tags - 1].unsqueeze(0)
        score = _ended(score, transition_params, lengths, 1)
    pointers = []
    for time in range(1, longest):
        arriving = score.unsqueeze(2) + transitions  # [batch, from, to]
        pointers.append(argmax(arriving, axis=1))
        best = maximum_along(arriving, axis=1) + potentials[:, time]
        if include_bos_eos_tag:
            best = _ended(best, transition_params, lengths, time + 1)
        score = where((lengths > time).unsqueeze(1), best, score)
    last = argmax(score, axis=1)
    inside = lengths > longest - 1
    path = [where(inside, last, last * 0)]
    for time in range(longest - 2, -1, -1):
        previous = take_along_axis(pointers[time], last.unsqueeze(1), 1).squeeze(1)
        # Before the end of a sequence the pointers lead; behind it the final tag waits.
        last = where(lengths > time + 1, previous, last)
        path.append(where(lengths > time, last, last * 0))
    paths = stack(path[::-1], axis=1) if longest else last.unsqueeze(1)[:, :0]
    return maximum_along(score, axis=1), paths


def _ended(score: Tensor, transitions: Tensor, lengths: Tensor, position: int) -> Tensor:
    """Sequences of this length receive the scores of an end."""
    tags = transitions._aval.shape[0]
    return where((lengths == position).unsqueeze(1), score + transitions[tags - 2].unsqueeze(0), score)


def _check(potentials: Any, transitions: Any, lengths: Any) -> int:
    """The longest length; everything that cannot be decoded is refused."""
    where_ = "viterbi_decode"
    named = {"potentials": potentials, "transition_params": transitions, "lengths": lengths}
    for name, value in named.items():
        if not isinstance(value, Tensor):
            raise type_error(where_, f"{name} must be a Tensor", f"{name}: {type(value).__name__}")
    shown = ", ".join(f"{name}: {value._aval}" for name, value in named.items())
    shape = potentials._aval.shape
    if len(shape) != 3 or not shape[1] or not shape[2]:
        raise value_error(where_, "potentials must be [batch, time, tags] and not empty", shown)
    if transitions._aval.shape != (shape[2], shape[2]):
        raise value_error(where_, "transition_params must be [tags, tags]", shown)
    if lengths._aval.shape != (shape[0],) or lengths._aval.dtype.kind != "i":
        raise value_error(where_, "lengths must be integers, one for each sequence", shown)
    values = lengths.numpy()
    if values.size and not 0 <= values.min() <= values.max() <= shape[1]:
        raise value_error(where_, f"lengths must be between 0 and {shape[1]}", f"lengths: {values.tolist()}")
    return int(values.max(initial=0))


class ViterbiDecoder(Layer):
    """`viterbi_decode` with fixed transitions, as a layer.

    Args:
        transitions: the score of each change of tags, `[tags, tags]`.
        include_bos_eos_tag: as of `viterbi_decode`.
        name: a label; it changes nothing.

    Examples:
        >>> decoder = paddle.text.ViterbiDecoder(paddle.zeros([2, 2]), include_bos_eos_tag=False)
        >>> decoder(paddle.to_tensor([[[1.0, 0.0], [0.0, 2.0]]]), paddle.to_tensor([2]))[1].tolist()
        [[0, 1]]
    """

    def __init__(self, transitions: Tensor, include_bos_eos_tag: bool = True, name: str | None = None) -> None:
        super().__init__()
        self.transitions = transitions
        self.include_bos_eos_tag = include_bos_eos_tag
        self.name = name

    def forward(self, potentials: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The highest score of each sequence, and its tags.

        Args:
            potentials: the score of each tag, `[batch, time, tags]`.
            lengths: how long each sequence is.

        Returns:
            Scores `[batch]` and tags `[batch, longest length]`.

        Examples:
            >>> decoder = paddle.text.ViterbiDecoder(paddle.zeros([2, 2]), include_bos_eos_tag=False)
            >>> decoder(paddle.to_tensor([[[1.0, 0.0], [0.0, 2.0]]]), paddle.to_tensor([2]))[0].tolist()
            [3.0]
        """
        return viterbi_decode(potentials, self.transitions, lengths, self.include_bos_eos_tag, self.name)
