"""A cell over a whole sequence (RNN, BiRNN) and stacks of cells (SimpleRNN, LSTM, GRU).

Cells that are exactly Paddle's go through one recorded operation for all steps; a cell of the user's own is called step by
step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.annotations import AttrLike
from ...eager.tensor import Tensor, tensor_from_data
from ...ops.basic import cast_to, transpose_to
from ...ops.linear.linalg import matmul
from ...ops.neural.recurrent import run_recurrence
from ...ops.shape.joining import concat_along, stack_along
from .. import functional as F
from ..base.sizes import whole_sizes
from ..container import LayerList
from ..layer import Layer
from .cells import GRUCell, LSTMCell, RNNCellBase, SimpleRNNCell


def _mapped(function: Any, *structures: Any) -> Any:
    """`function` over the tensors of nested lists and tuples of the same form."""
    first = structures[0]
    if isinstance(first, (list, tuple)):
        return type(first)(_mapped(function, *parts) for parts in zip(*structures, strict=True))
    return function(*structures)


def _swapped(x: Tensor) -> Tensor:
    return transpose_to(x, (1, 0, *range(2, x._aval.ndim)))


def _step_mask(lengths: Tensor, steps: int, dtype: np.dtype) -> Any:
    """1 for steps within the length: [time, batch, 1]."""
    numbers = tensor_from_data(np.arange(steps).reshape(-1, 1), place=lengths._aval.place)
    return cast_to(numbers < lengths.reshape([1, -1]), dtype).unsqueeze(-1)  # type: ignore


def _is_fused(cell: Any) -> bool:
    return type(cell) in (SimpleRNNCell, LSTMCell, GRUCell) and not getattr(cell, "proj_size", 0)


def _run_fused(cell: Any, sequence: Tensor, states: Any, lengths: Tensor | None, reverse: bool) -> tuple[Tensor, Any]:
    """All steps of one of Paddle's cells: states after every step, and the last ones. Time comes first."""
    first = list(states) if isinstance(states, (list, tuple)) else [states]
    if cell._kind == "GRU":  # whose candidate takes the recurrent part times a gate
        projected, bias = cell.project(sequence), cell.bias_hh
    else:  # both are added to the same sum: once, to each other, and not to every step
        projected, bias = matmul(sequence, cell.weight_ih, False, True), cell.bias_ih + cell.bias_hh
    found = run_recurrence(projected, first, cell.weight_hh, bias, lengths, cell._kind, reverse)
    last = [state[0 if reverse else -1] for state in found]  # type: ignore[index]
    return found[0], (tuple(last) if len(last) > 1 else last[0])


def _run_steps(cell: Any, sequence: Any, states: Any, lengths: Tensor | None, reverse: bool, options: Any) -> Any:
    """Any cell, called step by step. Time comes first."""
    leading = sequence
    while isinstance(leading, (list, tuple)):
        leading = leading[0]
    steps = leading._aval.shape[0]
    mask = None if lengths is None else _step_mask(lengths, steps, leading._aval.dtype)
    outputs: list[Any] = [None] * steps
    for t in reversed(range(steps)) if reverse else range(steps):
        out, new = cell(_mapped(lambda x, t=t: x[t], sequence), states, **options)
        if mask is not None:
            new = _mapped(lambda a, b, m=mask[t]: b + m * (a - b), new, states)
        states, outputs[t] = new, out
    stacked = _mapped(lambda *parts: _stack(parts), *outputs)
    return stacked, states


def _stack(parts: Any) -> Tensor:
    return stack_along(list(parts), 0)


class RNN(Layer):
    """Runs a cell over a sequence [batch, time, …] (or [time, batch, …]).

    Args:
        cell: the cell.
        is_reverse: runs from the end.
        time_major: the time is the first axis.

    Examples:
        >>> outputs, last = paddle.nn.RNN(paddle.nn.GRUCell(3, 4))(paddle.ones([2, 5, 3]))
        >>> outputs.shape, last.shape
        (paddle.Size([2, 5, 4]), paddle.Size([2, 4]))
    """

    def __init__(self, cell: RNNCellBase, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        self.cell = cell
        if not hasattr(cell, "call"):
            object.__setattr__(cell, "call", cell.forward)
        self.is_reverse, self.time_major = is_reverse, time_major

    def forward(
        self, inputs: Tensor, initial_states: Any = None, sequence_length: Tensor | None = None, **kwargs: Any
    ) -> tuple[Any, Any]:
        """The outputs of all steps, and the last states.

        Args:
            inputs: the sequence.
            initial_states: the states to start with; zeros if left out.
            sequence_length: the length of each sequence of the batch; behind it states stay as they are.
            kwargs: what else the cell takes.

        Raises:
            ValueError: there is no step.

        Examples:
            >>> layer = paddle.nn.RNN(paddle.nn.SimpleRNNCell(3, 4))
            >>> outputs, last = layer.forward(paddle.ones([2, 5, 3]), sequence_length=paddle.to_tensor([5, 2]))
            >>> bool(((last[1] - outputs[1, 1]).abs() < 1e-6).all())
            True
        """
        leading = inputs
        while isinstance(leading, (list, tuple)):
            leading = leading[0]
        if leading._aval.ndim < 2 or not leading._aval.shape[0 if self.time_major else 1]:
            raise value_error("RNN", "the inputs must have a batch and at least one step", f"inputs: {leading._aval}")
        if initial_states is None:
            initial_states = self.cell.get_initial_states(inputs, batch_dim_idx=1 if self.time_major else 0)
        sequence = inputs if self.time_major else _mapped(_swapped, inputs)
        # With lengths the cell's outputs behind the end are wanted too, which the fused run does not have.
        fused = _is_fused(self.cell) and not kwargs and sequence_length is None
        if fused and isinstance(sequence, Tensor) and sequence._aval.ndim == 3:
            outputs, last = _run_fused(self.cell, sequence, initial_states, None, self.is_reverse)
        else:
            outputs, last = _run_steps(self.cell, sequence, initial_states, sequence_length, self.is_reverse, kwargs)
        return (outputs if self.time_major else _mapped(_swapped, outputs)), last


class BiRNN(Layer):
    """Two cells over a sequence, one of them backwards; their outputs side by side.

    Args:
        cell_fw: the cell that runs forwards.
        cell_bw: the cell that runs backwards.
        time_major: the time is the first axis.

    Raises:
        ValueError: the cells have different input sizes.

    Examples:
        >>> layer = paddle.nn.BiRNN(paddle.nn.GRUCell(3, 4), paddle.nn.GRUCell(3, 4))
        >>> outputs, (first, last) = layer(paddle.ones([2, 5, 3]))
        >>> outputs.shape, first.shape
        (paddle.Size([2, 5, 8]), paddle.Size([2, 4]))
    """

    def __init__(self, cell_fw: RNNCellBase, cell_bw: RNNCellBase, time_major: bool = False) -> None:
        super().__init__()
        if cell_fw.input_size != cell_bw.input_size:
            raise value_error(
                "BiRNN", "the cells must have the same input size",
                f"{cell_fw.input_size} and {cell_bw.input_size}",
            )  # fmt: skip
        self.cell_fw, self.cell_bw, self.time_major = cell_fw, cell_bw, time_major

    def forward(
        self, inputs: Tensor, initial_states: Any = None, sequence_length: Tensor | None = None, **kwargs: Any
    ) -> tuple[Any, Any]:
        """The outputs of all steps, and the last states of both cells.

        Args:
            inputs: the sequence.
            initial_states: those of both cells; zeros if left out.
            sequence_length: the length of each sequence of the batch.
            kwargs: what else the cells take.

        Examples:
            >>> layer = paddle.nn.BiRNN(paddle.nn.LSTMCell(3, 4), paddle.nn.LSTMCell(3, 4))
            >>> outputs, states = layer.forward(paddle.ones([2, 5, 3]))
            >>> outputs.shape, len(states)
            (paddle.Size([2, 5, 8]), 2)
        """
        if initial_states is None:
            initial_states = (None, None)
        if len(initial_states) != 2:
            raise value_error("BiRNN", "initial_states must be those of both cells", f"{len(initial_states)} entries")
        results = []
        for cell, states, reverse in zip((self.cell_fw, self.cell_bw), initial_states, (False, True), strict=True):
            # Not a member: the cells belong to this layer.
            runner = RNN.__new__(RNN)
            Layer.__init__(runner)
            runner.__dict__.update(cell=cell, is_reverse=reverse, time_major=self.time_major)
            results.append(RNN.forward(runner, inputs, states, sequence_length, **kwargs))
        (forward, last_forward), (backward, last_backward) = results
        joined = _mapped(lambda a, b: _joined(a, b), forward, backward)
        return joined, (last_forward, last_backward)


def _joined(a: Tensor, b: Tensor) -> Tensor:
    return concat_along([a, b], a._aval.ndim - 1)


class RNNBase(LayerList):
    """A stack of recurrent layers, in one or two directions: what `SimpleRNN`, `LSTM` and `GRU` share.

    The parameters are also there under flat names (`weight_ih_l0`, `weight_ih_l0_reverse`, …).

    Examples:
        >>> isinstance(paddle.nn.LSTM(3, 4), paddle.nn.layer.rnn.RNNBase)
        True
    """

    def flatten_parameters(self) -> None:
        """Does nothing: parameters need not lie side by side.

        Examples:
            >>> paddle.nn.LSTM(3, 4).flatten_parameters()
        """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if direction not in ("forward", "bidirect", "bidirectional"):
            raise value_error(name, "direction must be 'forward' or 'bidirect'", f"direction: {direction!r}")
        input_size, hidden_size, num_layers, proj_size = whole_sizes(
            self, input_size=input_size, hidden_size=hidden_size, num_layers=num_layers, proj_size=proj_size
        )
        if num_layers < 1:
            raise value_error(name, "num_layers must be positive", f"num_layers: {num_layers}")
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.dropout, self.time_major, self.num_layers = dropout, time_major, num_layers
        self.num_directions = 1 if direction == "forward" else 2
        self.state_components = 2 if mode == "LSTM" else 1
        self.proj_size = proj_size
        options: dict[str, Any] = {
            "weight_ih_attr": weight_ih_attr, "weight_hh_attr": weight_hh_attr,
            "bias_ih_attr": bias_ih_attr, "bias_hh_attr": bias_hh_attr,
        }  # fmt: skip
        kinds: Any = {"LSTM": LSTMCell, "GRU": GRUCell}
        if mode == "LSTM":
            options["proj_size"] = proj_size
        elif mode.startswith("RNN_"):
            options["activation"] = mode[4:].lower()
        cell = kinds.get(mode, SimpleRNNCell)
        size = input_size
        for _ in range(num_layers):
            if self.num_directions == 1:
                self.append(RNN(cell(size, hidden_size, **options), False, time_major))
            else:
                pair = [cell(size, hidden_size, **options) for _ in range(2)]
                self.append(BiRNN(pair[0], pair[1], time_major))
            size = (proj_size or hidden_size) * self.num_directions
        for number, layer in enumerate(self):
            for suffix, owner in zip(("", "_reverse"), self._cells(layer), strict=False):
                for parameter in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                    value = getattr(owner, parameter)
                    if value is not None:
                        self._enter("_parameters", f"{parameter}_l{number}{suffix}", value)

    @staticmethod
    def _cells(layer: Any) -> list[Any]:
        return [layer.cell_fw, layer.cell_bw] if isinstance(layer, BiRNN) else [layer.cell]

    def forward(self, inputs: Tensor, initial_states: Any = None, sequence_length: Tensor | None = None) -> Any:
        """The outputs of the last layer at all steps, and the last states of all layers.

        Args:
            inputs: [batch, time, input_size], or [time, batch, input_size] with `time_major`.
            initial_states: [layers * directions, batch, hidden_size], for an LSTM a pair of them; zeros if left out.
            sequence_length: the length of each sequence of the batch; outputs behind it are zeros.

        Raises:
            ValueError: a shape does not fit.

        Examples:
            >>> outputs, last = paddle.nn.GRU(3, 4, num_layers=2).forward(paddle.ones([2, 5, 3]))
            >>> outputs.shape, last.shape
            (paddle.Size([2, 5, 4]), paddle.Size([2, 2, 4]))
        """
        where = type(self).__name__
        if inputs._aval.ndim != 3 or inputs._aval.shape[2] != self.input_size:
            order = "[time, batch, size]" if self.time_major else "[batch, time, size]"
            raise value_error(where, f"the inputs must be {order} with a size of {self.input_size}", f"{inputs._aval}")
        sequence = inputs if self.time_major else _swapped(inputs)
        if not sequence._aval.shape[0]:
            raise value_error(where, "the inputs must have at least one step", f"inputs: {inputs._aval}")
        cells = [cell for layer in self for cell in self._cells(layer)]
        states = self._initial_states(cells, sequence, initial_states)
        last: list[Any] = []
        for number in range(self.num_layers):
            if number and self.dropout:
                sequence = F.dropout(sequence, self.dropout, training=self.training)
            outputs = []
            for direction in range(self.num_directions):
                position = number * self.num_directions + direction
                run = _run_fused if _is_fused(cells[position]) else _run_projected
                out, end = run(cells[position], sequence, states[position], sequence_length, direction == 1)
                outputs.append(out)
                last.append(end)
            joined = outputs[0] if len(outputs) == 1 else _joined(*outputs)
            if sequence_length is not None:
                joined = joined * _step_mask(sequence_length, joined._aval.shape[0], joined._aval.dtype)  # type: ignore
            sequence = joined
        result = sequence if self.time_major else _swapped(sequence)
        if self.state_components == 1:
            return result, _stack(last)
        return result, tuple(_stack([state[part] for state in last]) for part in range(2))

    def _initial_states(self, cells: list[Any], sequence: Tensor, given: Any) -> list[Any]:
        if given is None:
            return [cell.get_initial_states(sequence, dtype=sequence.dtype, batch_dim_idx=1) for cell in cells]
        parts = list(given) if isinstance(given, (list, tuple)) else [given]
        if len(parts) != self.state_components:
            raise value_error(
                type(self).__name__, f"there must be {self.state_components} initial states", f"{len(parts)} states"
            )
        expected = (len(cells), sequence._aval.shape[1])
        for part in parts:
            if part._aval.ndim != 3 or part._aval.shape[:2] != expected:
                raise value_error(
                    type(self).__name__, f"initial states must be [{expected[0]}, {expected[1]}, size]", f"{part._aval}"
                )
        if self.state_components == 1:
            return [parts[0][i] for i in range(len(cells))]
        return [(parts[0][i], parts[1][i]) for i in range(len(cells))]

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.GRU(3, 4, num_layers=2).extra_repr()
            '3, 4, num_layers=2'
        """
        text = f"{self.input_size}, {self.hidden_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.time_major:
            text += f", time_major={self.time_major}"
        if self.dropout:
            text += f", dropout={self.dropout}"
        return text


def _run_projected(cell: Any, sequence: Tensor, states: Any, lengths: Tensor | None, reverse: bool) -> Any:
    """An LSTM whose outputs are projected, step by step."""
    return _run_steps(cell, sequence, states, lengths, reverse, {})


class SimpleRNN(RNNBase):
    """A stack of simple recurrent layers.

    Args:
        input_size: the size of the input.
        hidden_size: the size of the states.
        num_layers: how many layers.
        direction: 'forward', or 'bidirect' for a second set that runs backwards.
        time_major: the time is the first axis.
        dropout: the probability of dropout between layers while training.
        activation: 'tanh' or 'relu'.
        weight_ih_attr, weight_hh_attr: how the weights of the input and of the state are made (`ParamAttr`).
        bias_ih_attr, bias_hh_attr: the same for the biases.
        name: a label; it changes nothing.

    Examples:
        >>> outputs, last = paddle.nn.SimpleRNN(3, 4, num_layers=2)(paddle.ones([2, 5, 3]))
        >>> outputs.shape, last.shape
        (paddle.Size([2, 5, 4]), paddle.Size([2, 2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        activation: str = "tanh",
        weight_ih_attr: AttrLike | None = None,
        weight_hh_attr: AttrLike | None = None,
        bias_ih_attr: AttrLike | None = None,
        bias_hh_attr: AttrLike | None = None,
        name: str | None = None,
    ) -> None:
        if activation not in ("tanh", "relu"):
            raise value_error("SimpleRNN", "activation must be 'tanh' or 'relu'", f"activation: {activation!r}")
        super().__init__(
            f"RNN_{activation.upper()}", input_size, hidden_size, num_layers, direction, time_major, dropout,
            weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr,
        )  # fmt: skip
        self.activation = activation


class LSTM(RNNBase):
    """A stack of long short-term memory layers; the states are (hidden, cell).

    Args:
        input_size: the size of the input.
        hidden_size: the size of the states.
        num_layers: how many layers.
        direction: 'forward', or 'bidirect' for a second set that runs backwards.
        time_major: the time is the first axis.
        dropout: the probability of dropout between layers while training.
        weight_ih_attr, weight_hh_attr: how the weights of the input and of the state are made (`ParamAttr`).
        bias_ih_attr, bias_hh_attr: the same for the biases.
        proj_size: the size that outputs are projected to; 0 leaves them as they are.
        name: a label; it changes nothing.

    Examples:
        >>> outputs, (hidden, cell) = paddle.nn.LSTM(3, 4, direction="bidirect")(paddle.ones([2, 5, 3]))
        >>> outputs.shape, hidden.shape
        (paddle.Size([2, 5, 8]), paddle.Size([2, 2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: AttrLike | None = None,
        weight_hh_attr: AttrLike | None = None,
        bias_ih_attr: AttrLike | None = None,
        bias_hh_attr: AttrLike | None = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, direction, time_major, dropout,
            weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr, proj_size,
        )  # fmt: skip


class GRU(RNNBase):
    """A stack of gated recurrent units.

    Args:
        input_size: the size of the input.
        hidden_size: the size of the states.
        num_layers: how many layers.
        direction: 'forward', or 'bidirect' for a second set that runs backwards.
        time_major: the time is the first axis.
        dropout: the probability of dropout between layers while training.
        weight_ih_attr, weight_hh_attr: how the weights of the input and of the state are made (`ParamAttr`).
        bias_ih_attr, bias_hh_attr: the same for the biases.
        name: a label; it changes nothing.

    Examples:
        >>> outputs, last = paddle.nn.GRU(3, 4, time_major=True)(paddle.ones([5, 2, 3]))
        >>> outputs.shape, last.shape
        (paddle.Size([5, 2, 4]), paddle.Size([1, 2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: AttrLike | None = None,
        weight_hh_attr: AttrLike | None = None,
        bias_ih_attr: AttrLike | None = None,
        bias_hh_attr: AttrLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            "GRU", input_size, hidden_size, num_layers, direction, time_major, dropout,
            weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr,
        )  # fmt: skip
