"""A product with a weight, the one class for all of them: quantisation and adapters are put in here, not into layers.

The weight is `[in_features, out_features]`, as in `nn.Linear`. `store(storage)` puts another layer in its place, whose
`forward(x)` is the product and whose `dense()` gives the weight back. `product` is how a float weight is
multiplied (`F.linear`). `adapter`, a layer, adds its own `forward(x)`: LoRA is `adapter = two factors`.
"""

from __future__ import annotations

from typing import Any

from ...core.errors import type_error
from ...eager.tensor import Tensor
from ...nn import Layer
from ...nn import functional as F
from ...nn.initializer import Constant, Normal


class Projection(Layer):
    """`x @ weight + bias`, with exchangeable storage of the weight and an optional adapter."""

    def __init__(self, in_features: int, out_features: int, bias: bool = False, deviation: float = 0.02) -> None:
        super().__init__(dtype=None)
        self.in_features, self.out_features = in_features, out_features
        self.weight = self.create_parameter([in_features, out_features], default_initializer=Normal(0.0, deviation))
        self.bias = self.create_parameter([out_features], default_initializer=Constant(0.0)) if bias else None
        self.storage: Any = None
        self.product: Any = F.linear  # with a float weight; another one computes it in other formats
        self.adapter: Any = None

    def forward(self, x: Tensor) -> Tensor:
        weight: Any = self.weight
        if self.storage is None:
            out: Any = self.product(x, weight, self.bias)
        else:
            out = self.storage(x) if self.bias is None else self.storage(x) + self.bias
        return out if self.adapter is None else out + self.adapter(x)

    def store(self, storage: Layer) -> None:
        """Replaces the float weight by `storage`, a layer with `forward(x)` and `dense()`."""
        if not (isinstance(storage, Layer) and callable(getattr(storage, "dense", None))):
            raise type_error(
                "Projection.store", "storage is a layer with forward(x) and dense()", type(storage).__name__
            )
        self.weight = None
        self.storage = storage

    def dense(self) -> Tensor:
        """The weight as floats, `[in_features, out_features]`, whatever its storage; adapters are not in it."""
        weight: Any = self.weight
        return weight if self.storage is None else self.storage.dense()

    def extra_repr(self) -> str:
        return f"{self.in_features} -> {self.out_features}{'' if self.bias is None else ', bias'}"
