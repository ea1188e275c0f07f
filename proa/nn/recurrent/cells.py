"""Recurrent cells: one step of a simple RNN, an LSTM or a GRU."""

from __future__ import annotations

import math
from typing import Any

from ...core.dtype import to_numpy_dtype
from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...ops.basic import full_of
from ...ops.linear.linalg import matmul
from .. import functional as F
from ..base.sizes import whole_sizes
from ..initializer import Uniform
from ..layer import Layer


class RNNCellBase(Layer):
    """Base of cells: `forward(inputs, states)` gives (outputs, new states)."""

    def get_initial_states(
        self, batch_ref: Any, shape: Any = None, dtype: Any = None, init_value: float = 0.0, batch_dim_idx: int = 0
    ) -> Any:
        """States full of `init_value`, for the batch size of `batch_ref`; structured like `shape` (`state_shape`)."""
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
        raise NotImplementedError(f"({type(self).__name__}) a cell needs state_shape for its initial states.")

    @property
    def state_dtype(self) -> Any:
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
        return (self.hidden_size,)

    def project(self, inputs: Tensor) -> Tensor:
        """The input's part of the gates."""
        return matmul(inputs, self.weight_ih, False, True) + self.bias_ih  # type: ignore[operator]

    def _recurrent(self, hidden: Tensor) -> Any:
        return matmul(hidden, self.weight_hh, False, True) + self.bias_hh  # type: ignore[operator]

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


class SimpleRNNCell(_GatedCell):
    """h' = activation(W_ih x + b_ih + W_hh h + b_hh)."""

    _num_gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
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
        hidden = self.get_initial_states(inputs) if states is None else states
        new = self._activation_fn(self.project(inputs) + self._recurrent(hidden))  # type: ignore[operator]
        return new, new

    def extra_repr(self) -> str:
        text = super().extra_repr()
        return text if self.activation == "tanh" else f"{text}, activation={self.activation}"


class LSTMCell(_GatedCell):
    """Long short-term memory: input, forget and output gates around a cell that goes on."""

    _kind, _num_gates = "LSTM", 4

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
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
        return ((self.proj_size or self.hidden_size,), (self.hidden_size,))

    def forward(self, inputs: Tensor, states: Any = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        hidden, cell = self.get_initial_states(inputs) if states is None else states
        gates: Any = self.project(inputs) + self._recurrent(hidden)  # type: ignore[operator]
        i, f, g, o = gates.split(4, -1)
        cell = i.sigmoid() * g.tanh() + f.sigmoid() * cell
        hidden = o.sigmoid() * cell.tanh()
        if self.proj_size:
            hidden = matmul(hidden, self.weight_ho, False, False)
        return hidden, (hidden, cell)


class GRUCell(_GatedCell):
    """A gated recurrent unit: reset and update gates."""

    _kind, _num_gates = "GRU", 3

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)

    def forward(self, inputs: Tensor, states: Tensor | None = None) -> tuple[Tensor, Tensor]:
        hidden: Any = self.get_initial_states(inputs) if states is None else states
        inner: Any = self.project(inputs)
        xr, xz, xc = inner.split(3, -1)
        hr, hz, hc = self._recurrent(hidden).split(3, -1)
        candidate = (xc + (xr + hr).sigmoid() * hc).tanh()
        new = (hidden - candidate) * (xz + hz).sigmoid() + candidate
        return new, new
