"""Decoding step by step: `dynamic_decode` and the beam search decoder.

How many steps are taken depends on what the model says, so that every step's end marks are read on the host.
"""

from __future__ import annotations

import contextlib
from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import value_error
from ...eager.tensor import Tensor, tensor_from_data
from ...ops.basic import cast_to, full_of
from ...ops.neural.softmax import log_softmax_along
from .. import functional as F
from .stacks import _mapped, _stack, _swapped

if TYPE_CHECKING:
    from ..layer import Layer

_INT64 = np.dtype("int64")
_FAR_BELOW = -1e9


class Decoder:
    """What `dynamic_decode` asks of a decoder: `initialize`, `step`, and `finalize` if it has one."""

    def initialize(self, inits: Any) -> tuple[Any, Any, Any]:
        raise NotImplementedError

    def step(self, time: Any, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Any]:
        raise NotImplementedError

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `step` reports all finished sequences itself, not only new ones."""
        return False


class BeamSearchDecoder(Decoder):
    """Keeps the `beam_size` most probable beginnings at every step of a recurrent cell; `dynamic_decode` runs it.

    Args:
        cell: the cell.
        start_token: the token that sequences start with.
        end_token: the token that ends them.
        beam_size: how many beginnings are kept.
        embedding_fn: makes the cell's input of tokens.
        output_fn: makes scores of all tokens of the cell's output.

    Raises:
        ValueError: `beam_size` is not positive.

    Examples:
        >>> decoder = paddle.nn.BeamSearchDecoder(
        ...     paddle.nn.GRUCell(4, 4), start_token=0, end_token=1, beam_size=2,
        ...     embedding_fn=paddle.nn.Embedding(6, 4), output_fn=paddle.nn.Linear(4, 6),
        ... )
        >>> outputs, states = paddle.nn.dynamic_decode(decoder, inits=paddle.zeros([3, 4]), max_step_num=5)
        >>> outputs.shape[0], outputs.shape[2]
        (3, 2)
    """

    OutputWrapper = namedtuple("OutputWrapper", ("scores", "predicted_ids", "parent_ids"))
    StateWrapper = namedtuple("StateWrapper", ("cell_states", "log_probs", "finished", "lengths"))

    def __init__(
        self,
        cell: Layer,
        start_token: int,
        end_token: int,
        beam_size: int,
        embedding_fn: Callable[..., Any] | None = None,
        output_fn: Callable[..., Any] | None = None,
    ) -> None:
        if beam_size < 1:
            raise value_error("BeamSearchDecoder", "beam_size must be positive", f"beam_size: {beam_size}")
        self.cell, self.embedding_fn, self.output_fn = cell, embedding_fn, output_fn
        self.start_token, self.end_token, self.beam_size = int(start_token), int(end_token), int(beam_size)
        self.batch_size = 0

    @staticmethod
    def tile_beam_merge_with_batch(x: Tensor, beam_size: int) -> Tensor:
        """[batch, …] with every row `beam_size` times: [batch * beam, …].

        Args:
            x: the tensor.
            beam_size: how often.

        Examples:
            >>> paddle.nn.BeamSearchDecoder.tile_beam_merge_with_batch(paddle.to_tensor([[1], [2]]), 2).tolist()
            [[1], [1], [2], [2]]
        """
        return x.repeat_interleave(beam_size, 0)

    def _split_batch_beams(self, x: Any) -> Any:
        return x.reshape([-1, self.beam_size, *x._aval.shape[1:]])

    def _merge_batch_beams(self, x: Any) -> Any:
        return x.reshape([-1, *x._aval.shape[2:]])

    def _expand_to_beam_size(self, x: Any) -> Any:
        return x.unsqueeze(1).expand([x._aval.shape[0], self.beam_size, *x._aval.shape[1:]])

    def _gather(self, x: Any, indices: Any) -> Any:
        """The beams of each batch that the indices name."""
        places = indices
        for _ in range(x._aval.ndim - 2):
            places = places.unsqueeze(-1)
        return x.take_along_axis(places.expand([*indices._aval.shape, *x._aval.shape[2:]]), 1)

    def initialize(self, initial_cell_states: Any) -> tuple[Any, Any, Any]:
        """The first inputs, the first states, and which sequences have ended (none).

        Args:
            initial_cell_states: the states of the cell, [batch, …].

        Examples:
            >>> decoder = paddle.nn.BeamSearchDecoder(paddle.nn.GRUCell(4, 4), start_token=0, end_token=1, beam_size=2)
            >>> inputs, states, finished = decoder.initialize(paddle.zeros([3, 4]))
            >>> inputs.shape, finished.any().item()
            (paddle.Size([3, 2]), False)
        """
        leading = initial_cell_states
        while isinstance(leading, (list, tuple)):
            leading = leading[0]
        batch = self.batch_size = leading._aval.shape[0]
        states = _mapped(self._expand_to_beam_size, initial_cell_states)
        inputs: Any = full_of(float(self.start_token), (batch, self.beam_size), _INT64)
        first = [[0.0] + [_FAR_BELOW] * (self.beam_size - 1)]
        scores = tensor_from_data(np.repeat(np.array(first, "float32"), batch, 0))
        finished = tensor_from_data(np.zeros((batch, self.beam_size), bool))
        lengths = full_of(0.0, (batch, self.beam_size), _INT64)
        if self.embedding_fn is not None:
            inputs = self.embedding_fn(inputs)
        return inputs, self.StateWrapper(states, scores, finished, lengths), finished

    def step(self, time: int | Tensor, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Any]:
        """One step of the search.

        Args:
            time: the number of the step.
            inputs: what the step before gave, or `initialize`.
            states: the same.
            kwargs: what else the cell takes.

        Returns:
            The tokens with their scores and the beams they continue, the new states, the next inputs, and which beams have
            ended.

        Examples:
            >>> decoder = paddle.nn.BeamSearchDecoder(
            ...     paddle.nn.GRUCell(4, 4), start_token=0, end_token=1, beam_size=2,
            ...     embedding_fn=paddle.nn.Embedding(6, 4), output_fn=paddle.nn.Linear(4, 6),
            ... )
            >>> inputs, states, finished = decoder.initialize(paddle.zeros([3, 4]))
            >>> found, states, inputs, finished = decoder.step(0, inputs, states)
            >>> found.predicted_ids.shape
            paddle.Size([3, 2])
        """
        merged = _mapped(self._merge_batch_beams, inputs)
        cell_states = _mapped(self._merge_batch_beams, states.cell_states)
        outputs, new_states = self.cell(merged, cell_states, **kwargs)
        if self.output_fn is not None:
            outputs = self.output_fn(outputs)
        logits = self._split_batch_beams(outputs)
        new_states = _mapped(self._split_batch_beams, new_states)
        found, wrapped = self._beam_search_step(logits, new_states, states)
        ids = found.predicted_ids
        return found, wrapped, (ids if self.embedding_fn is None else self.embedding_fn(ids)), wrapped.finished

    def _beam_search_step(self, logits: Any, cell_states: Any, states: Any) -> tuple[Any, Any]:
        batch, beams, words = logits._aval.shape
        logp: Any = log_softmax_along(logits, 2)
        # A finished beam goes on with its end token, which costs nothing.
        ended = np.full(words, _FAR_BELOW, "float32")
        ended[self.end_token] = 0.0
        done = cast_to(states.finished, logp._aval.dtype).unsqueeze(-1)
        logp = logp * (1.0 - done) + tensor_from_data(ended).reshape([1, 1, -1]) * done
        scores = (states.log_probs.unsqueeze(-1) + logp).reshape([batch, beams * words])
        best, places = scores.topk(self.beam_size)
        parents, ids = places // words, places % words
        finished = self._gather(states.finished, parents)
        lengths = self._gather(states.lengths, parents) + cast_to(~finished, _INT64)
        finished = finished | (ids == self.end_token)
        carried = _mapped(lambda x: self._gather(x, parents), cell_states)
        return self.OutputWrapper(best, ids, parents), self.StateWrapper(carried, best, finished, lengths)

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """The tokens of the whole sequences, [time, batch, beam], traced back from the end; and the states.

        Args:
            outputs: the outputs of all steps.
            final_states: the last states.
            sequence_lengths: how long the sequences are.

        Examples:
            >>> steps = paddle.nn.BeamSearchDecoder.OutputWrapper(
            ...     None, paddle.to_tensor([[[4, 5]], [[6, 7]]]), paddle.to_tensor([[[0, 0]], [[1, 0]]])
            ... )
            >>> decoder = paddle.nn.BeamSearchDecoder(None, start_token=0, end_token=1, beam_size=2)
            >>> decoder.finalize(steps, None, None)[0].tolist()
            [[[5, 4]], [[6, 7]]]
        """
        return F.gather_tree(outputs.predicted_ids, outputs.parent_ids), final_states

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `step` reports all beams that have ended: it does.

        Examples:
            >>> paddle.nn.BeamSearchDecoder(None, start_token=0, end_token=1, beam_size=2).tracks_own_finished
            True
        """
        return True


def _structured(function: Any, *parts: Any) -> Any:
    """`_mapped` for named tuples as well."""
    first = parts[0]
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(_structured(function, *items) for items in zip(*parts, strict=True)))
    return _mapped(function, *parts)


def dynamic_decode(
    decoder: Any,
    inits: Any = None,
    max_step_num: int | None = None,
    output_time_major: bool = False,
    impute_finished: bool = False,
    is_test: bool = False,
    return_length: bool = False,
    **kwargs: Any,
) -> Any:
    """Calls a decoder's `step` until every sequence has ended, or enough steps were taken.

    Args:
        decoder: a `BeamSearchDecoder`, or another object with `initialize`, `step` and perhaps `finalize`.
        inits: what `initialize` takes.
        max_step_num: the number of the last step, counted from 0; no limit if left out.
        output_time_major: gives [time, batch, …] instead of [batch, time, …].
        impute_finished: keeps the states of sequences that have ended.
        is_test: accepted for compatibility.
        return_length: gives the lengths too.
        kwargs: what else `step` takes.

    Returns:
        The outputs and the last states, and the lengths with `return_length`.

    Raises:
        ValueError: all sequences had ended before the first step.

    Examples:
        >>> decoder = paddle.nn.BeamSearchDecoder(
        ...     paddle.nn.GRUCell(4, 4), start_token=0, end_token=1, beam_size=2,
        ...     embedding_fn=paddle.nn.Embedding(6, 4), output_fn=paddle.nn.Linear(4, 6),
        ... )
        >>> outputs, states, lengths = paddle.nn.dynamic_decode(
        ...     decoder, inits=paddle.zeros([3, 4]), max_step_num=5, return_length=True
        ... )
        >>> lengths.shape
        paddle.Size([3, 2])
    """
    inputs, states, finished = decoder.initialize(inits)
    collected: list[Any] = []
    lengths: Any = cast_to(finished, _INT64) * 0  # type: ignore[operator]
    step = 0
    while not bool(finished.all()):
        outputs, next_states, inputs, ended = decoder.step(
            tensor_from_data(np.array([step], "int64")), inputs, states, **kwargs
        )
        if decoder.tracks_own_finished:
            next_lengths = getattr(next_states, "lengths", lengths + cast_to(~finished, _INT64))
        else:
            ended = ended | finished
            next_lengths = lengths + cast_to(~finished, _INT64)
            if impute_finished:
                next_states = _structured(lambda new, old, f=finished: _held(new, old, f), next_states, states)
        collected.append(outputs)
        states, finished, lengths = next_states, ended, next_lengths
        step += 1
        if max_step_num is not None and step > max_step_num:
            break
    if not collected:
        raise value_error("dynamic_decode", "all sequences had ended before the first step")
    stacked = _structured(lambda *parts: _stack(parts), *collected)
    with contextlib.suppress(NotImplementedError):
        stacked, states = decoder.finalize(stacked, states, lengths)
    if not output_time_major:
        stacked = _structured(_swapped, stacked)
    return (stacked, states, lengths) if return_length else (stacked, states)


def _held(new: Any, old: Any, finished: Any) -> Any:
    share = cast_to(finished, new._aval.dtype)
    for _ in range(new._aval.ndim - share._aval.ndim):
        share = share.unsqueeze(-1)
    return new + (old - new) * share
