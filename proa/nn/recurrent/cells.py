"""Recurrent cells: one step of a simple RNN, an LSTM or a GRU."""

from __future__ import annotations

import math
from typing import Any

from ...core.dtype import to_numpy_dtype
from ...core.errors import value_error
from ...eager.annotations import AttrLike, DTypeLike, ShapeLike
from ...eager.tensor import Tensor
from ...ops.basic import full_of
from ...ops.linear.linalg import matmul
from .. import functional as F
from ..base.sizes import whole_sizes
from ..initializer import Uniform
from ..layer import Layer


class RNNCellBase(Layer):
    """The base class of recurrent cells: `forward(inputs, states)` gives (outputs, new states).

    A subclass that defines `state_shape` gets its initial states from `get_initial_states`, and runs over sequences in
    `paddle.nn.RNN`.

    Examples:
        >>> class Sum(paddle.nn.RNNCellBase):
        ...     @property
        ...     def state_shape(self):
        ...         return (2,)
        ...     def forward(self, inputs, states):
        ...         return states + inputs, states + inputs
        >>> outputs, last = paddle.nn.RNN(Sum())(paddle.ones([1, 3, 2]))
        >>> outputs.tolist(), last.tolist()
        ([[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]], [[3.0, 3.0]])
    """

    def get_initial_states(
        self,
        batch_ref: Any,
        shape: ShapeLike | None = None,
        dtype: DTypeLike | None = None,
        init_value: float = 0.0,
        batch_dim_idx: int = 0,
    ) -> Any:
        """States full of `init_value`, for the batch size of a tensor.

        Args:
            batch_ref: a tensor, or a nest of tensors, with that batch size.
            shape: the shapes of the states without the batch; `state_shape` if left out.
            dtype: their data type; that of the cell if left out.
            init_value: what they are full of.
            batch_dim_idx: the axis of the batch in `batch_ref`.

        Examples:
            >>> hidden, cell = paddle.nn.LSTMCell(3, 4).get_initial_states(paddle.ones([2, 3]))
            >>> hidden.shape, cell.shape
            (paddle.Size([2, 4]), paddle.Size([2, 4]))
        """
        while isinstance(batch_ref, (list, tuple)):
            batch_ref = batch_ref[0]
        size = batch_ref._aval.shape[batch_dim_idx]
        shapes = self.state_shape if shape is None else shape
        kind = to_numpy_dtype(dtype or self._dtype)

        def filled(part: Any) -> Any:
            if isinstance(part, (list, tuple)) and (not part or not isinstance(part[0], int)):
                return type(part)(filled(item) for item in part)
            dims = (part,) if isinstance(part, int) else tuple(part)
            dims = dims[1:] if dims and dims[0] == -1 else dims
            return full_of(float(init_value), (size, *dims), kind)

        return filled(shapes)

    @property
    def state_shape(self) -> Any:
        """The shapes of the states, without the batch; subclasses define it.

        Examples:
            >>> paddle.nn.RNNCellBase().state_shape
            Traceback (most recent call last):
                ...
            NotImplementedError: (RNNCellBase) a cell needs state_shape for its initial states.
        """
        raise NotImplementedError(f"({type(self).__name__}) a cell needs state_shape for its initial states.")

    @property
    def state_dtype(self) -> Any:
        """The data types of the states; subclasses may define it.

        Examples:
            >>> paddle.nn.RNNCellBase().state_dtype
            Traceback (most recent call last):
                ...
            NotImplementedError: (RNNCellBase) a cell needs state_dtype for its initial states.
        """
        raise NotImplementedError(f"({type(self).__name__}) a cell needs state_dtype for its initial states.")


class _GatedCell(RNNCellBase):
    """What the three cells share: the parameters, and how they are shown."""

    _kind: str
    _num_gates: int

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any,
        weight_hh_attr: Any,
        bias_ih_attr: Any,
        bias_hh_attr: Any,
        recurrent_size: int | None = None,
    ) -> None:
        super().__init__()
        input_size, hidden_size = whole_sizes(self, input_size=input_size, hidden_size=hidden_size)
        if hidden_size <= 0:
            raise value_error(type(self).__name__, "hidden_size must be positive", f"hidden_size: {hidden_size}")
        bound = 1.0 / math.sqrt(hidden_size)
        rows = self._num_gates * hidden_size
        self.weight_ih = self._create([rows, input_size], weight_ih_attr, bound)
        self.weight_hh = self._create([rows, recurrent_size or hidden_size], weight_hh_attr, bound)
        self.bias_ih = self._create([rows], bias_ih_attr, bound, True)
        self.bias_hh = self._create([rows], bias_hh_attr, bound, True)
        self.input_size, self.hidden_size = input_size, hidden_size

    def _create(self, shape: list[int], attr: Any, bound: float, is_bias: bool = False) -> Any:
        """A parameter; `False` for `attr` makes one that stays as it is: ones for a weight, zeros for a bias."""
        from ..initializer import Constant

        if attr is not False:
            return self.create_parameter(shape, attr, is_bias=is_bias, default_initializer=Uniform(-bound, bound))
        fixed = self.create_parameter(shape, is_bias=is_bias, default_initializer=Constant(0.0 if is_bias else 1.0))
        fixed.stop_gradient = True
        return fixed

    def _activation(self, x: Tensor) -> Tensor:
        """Of what goes into the state."""
        return F.tanh(x)

    @property
    def state_shape(self) -> Any:
        """The shape of the state, without the batch.

        Examples:
            >>> paddle.nn.GRUCell(3, 4).state_shape
            (4,)
        """
        return (self.hidden_size,)

    def project(self, inputs: Tensor) -> Tensor:
        """The input's part of the gates: `inputs @ weight_ih.T + bias_ih`.

        Examples:
            >>> paddle.nn.GRUCell(3, 4).project(paddle.ones([2, 3])).shape
            paddle.Size([2, 12])
        """
        return matmul(inputs, self.weight_ih, False, True) + self.bias_ih  # type: ignore[operator]

    def _recurrent(self, hidden: Tensor) -> Any:
        return matmul(hidden, self.weight_hh, False, True) + self.bias_hh  # type: ignore[operator]

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.LSTMCell(3, 4)
            LSTMCell(3, 4)
        """
        return f"{self.input_size}, {self.hidden_size}"


class SimpleRNNCell(_GatedCell):
    """One step of a simple recurrent layer: `h' = activation(W_ih x + b_ih + W_hh h + b_hh)`.

    Args:
        input_size: the size of the input.
        hidden_size: the size of the state.
        activation: 'tanh' or 'relu'.
        weight_ih_attr, weight_hh_attr: how the weights of the input and of the state are made (`ParamAttr`).
        bias_ih_attr, bias_hh_attr: the same for the biases.
        name: a label; it changes nothing.

    Raises:
        ValueError: `hidden_size` is not positive, or the activation is unknown.

    Examples:
        >>> cell = paddle.nn.SimpleRNNCell(3, 4)
        >>> output, state = cell(paddle.ones([2, 3]))
        >>> output.shape, state.shape
        (paddle.Size([2, 4]), paddle.Size([2, 4]))
    """

    _num_gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: str = "tanh",
        weight_ih_attr: AttrLike | None = None,
        weight_hh_attr: AttrLike | None = None,
        bias_ih_attr: AttrLike | None = None,
        bias_hh_attr: AttrLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        if activation not in ("tanh", "relu"):
            raise value_error("SimpleRNNCell", "activation must be 'tanh' or 'relu'", f"activation: {activation!r}")
        self.activation = activation
        self._activation_fn = getattr(F, activation)

    @property
    def _kind(self) -> str:  # type: ignore[override]
        return f"RNN_{self.activation.upper()}"

    def forward(self, inputs: Tensor, states: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The output and the new state, which are the same tensor.

        Args:
            inputs: [batch, input_size].
            states: [batch, hidden_size]; zeros if left out.

        Examples:
            >>> output, state = paddle.nn.SimpleRNNCell(3, 4).forward(paddle.ones([2, 3]), paddle.zeros([2, 4]))
            >>> output is state
            True
        """
        hidden = self.get_initial_states(inputs) if states is None else states
        new = self._activation_fn(self.project(inputs) + self._recurrent(hidden))  # type: ignore[operator]
        return new, new

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.SimpleRNNCell(3, 4, activation="relu")
            SimpleRNNCell(3, 4, activation=relu)
        """
        text = super().extra_repr()
        return text if self.activation == "tanh" else f"{text}, activation={self.activation}"


class LSTMCell(_GatedCell):
    """One step of a long short-term memory: input, forget and output gates around a cell that goes on.

    Args:
        input_size: the size of the input.
        hidden_size: the size of the states.
        weight_ih_attr, weight_hh_attr: how the weights of the input and of the state are made (`ParamAttr`).
        bias_ih_attr, bias_hh_attr: the same for the biases.
        proj_size: the size that the output is projected to; 0 leaves it as it is.
        name: a label; it changes nothing.

    Raises:
        ValueError: `hidden_size` is not positive, or `proj_size` is not below it.

    Examples:
        >>> cell = paddle.nn.LSTMCell(3, 4)
        >>> output, (hidden, memory) = cell(paddle.ones([2, 3]))
        >>> output.shape, hidden.shape, memory.shape
        (paddle.Size([2, 4]), paddle.Size([2, 4]), paddle.Size([2, 4]))
    """

    _kind, _num_gates = "LSTM", 4

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: AttrLike | None = None,
        weight_hh_attr: AttrLike | None = None,
        bias_ih_attr: AttrLike | None = None,
        bias_hh_attr: AttrLike | None = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        hidden_size, proj_size = whole_sizes(self, hidden_size=hidden_size, proj_size=proj_size)
        if proj_size < 0 or (proj_size and proj_size >= hidden_size):
            raise value_error("LSTMCell", "proj_size must be from 0 to below hidden_size", f"proj_size: {proj_size}")
        super().__init__(
            input_size, hidden_size, weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr, proj_size or None
        )
        self.proj_size = proj_size
        if proj_size:
            self.weight_ho = self._create([hidden_size, proj_size], weight_hh_attr, 1.0 / math.sqrt(hidden_size))

    @property
    def state_shape(self) -> Any:
        """The shapes of hidden state and cell, without the batch.

        Examples:
            >>> paddle.nn.LSTMCell(3, 4).state_shape
            ((4,), (4,))
        """
        return ((self.proj_size or self.hidden_size,), (self.hidden_size,))

    def forward(self, inputs: Tensor, states: Any = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """The output, and the new (hidden, cell).

        Args:
            inputs: [batch, input_size].
            states: (hidden, cell); zeros if left out.

        Examples:
            >>> output, (hidden, memory) = paddle.nn.LSTMCell(3, 4, proj_size=2).forward(paddle.ones([5, 3]))
            >>> output.shape, memory.shape
            (paddle.Size([5, 2]), paddle.Size([5, 4]))
        """
        hidden, cell = self.get_initial_states(inputs) if states is None else states
        gates: Any = self.project(inputs) + self._recurrent(hidden)  # type: ignore[operator]
        i, f, g, o = gates.split(4, -1)
        cell = i.sigmoid() * g.tanh() + f.sigmoid() * cell
        hidden = o.sigmoid() * cell.tanh()
        if self.proj_size:
            hidden = matmul(hidden, self.weight_ho, False, False)
        return hidden, (hidden, cell)


class GRUCell(_GatedCell):
    """One step of a gated recurrent unit, with a reset and an update gate.

    Args:
        input_size: the size of the input.
        hidden_size: the size of the state.
        weight_ih_attr, weight_hh_attr: how the weights of the input and of the state are made (`ParamAttr`).
        bias_ih_attr, bias_hh_attr: the same for the biases.
        name: a label; it changes nothing.

    Raises:
        ValueError: `hidden_size` is not positive.

    Examples:
        >>> cell = paddle.nn.GRUCell(3, 4)
        >>> output, state = cell(paddle.ones([2, 3]))
        >>> output.shape, cell.weight_ih.shape
        (paddle.Size([2, 4]), paddle.Size([12, 3]))
    """

    _kind, _num_gates = "GRU", 3

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: AttrLike | None = None,
        weight_hh_attr: AttrLike | None = None,
        bias_ih_attr: AttrLike | None = None,
        bias_hh_attr: AttrLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)

    def forward(self, inputs: Tensor, states: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The output and the new state, which are the same tensor.

        Args:
            inputs: [batch, input_size].
            states: [batch, hidden_size]; zeros if left out.

        Examples:
            >>> paddle.nn.GRUCell(3, 4).forward(paddle.ones([2, 3]))[0].shape
            paddle.Size([2, 4])
        """
        hidden: Any = self.get_initial_states(inputs) if states is None else states
        inner: Any = self.project(inputs)
        xr, xz, xc = inner.split(3, -1)
        hr, hz, hc = self._recurrent(hidden).split(3, -1)
        candidate = (xc + (xr + hr).sigmoid() * hc).tanh()
        new = (hidden - candidate) * (xz + hz).sigmoid() + candidate
        return new, new
