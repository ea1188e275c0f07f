"""What takes the place of floats in a model: a Projection's weight and an embedding in blocks."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor, tensor_from_data
from ...nn import Embedding, Layer
from ...nn.base.lazy_init import LazyGuard
from ...ops.quantised.blocks import block_embedding, block_product, block_rows
from ..layers.projection import Projection
from .packing import KEPT, Packed, packed, rounded_to


class BlockStorage(Layer):
    """A packed weight [outputs, inputs] as a buffer. `forward(x)` is the product, `rows(ids)` takes rows of it."""

    def __init__(self, weight: Packed) -> None:
        super().__init__(dtype=None)
        self.inputs, self.outputs, self.bits = weight.inputs, weight.outputs, weight.bits
        self._form = (weight.outputs, weight.bits, weight.zero, weight.half, weight.has_minima)
        self.is_shared = False  # by an embedding and the head that is tied to it
        self.register_buffer("blocks", tensor_from_data(weight.blocks))

    def forward(self, x: Tensor) -> Tensor:
        return block_product(x, self.blocks, None, *self._form)

    def rows(self, ids: Tensor) -> Tensor:
        """Rows of the weight in float32, as an embedding takes them."""
        return block_embedding(ids, self.blocks, self.inputs, *self._form)

    def dense(self) -> Tensor:
        """The weight as floats, [inputs, outputs]."""
        rows: Any = block_rows(self.blocks, self.inputs, *self._form)
        return rows.t()

    def extra_repr(self) -> str:
        return f"{self.inputs} -> {self.outputs}, {self.bits} bits"


class BlockEmbedding(Layer):
    """An embedding whose table is in blocks."""

    def __init__(self, storage: BlockStorage) -> None:
        super().__init__(dtype=None)
        self.storage = storage

    def forward(self, ids: Tensor) -> Tensor:
        return self.storage.rows(ids)

    @property
    def weight(self) -> Tensor:
        """The table as floats [rows, size]; made when asked for."""
        dense: Any = self.storage.dense()
        return dense.t()


def keep_blocks(layer: Layer, blocks: np.ndarray, kind: str) -> None:
    """Gives a Projection the blocks of a GGUF tensor, uint8 [outputs, bytes of a row], in the place of its floats."""
    if not isinstance(layer, Projection):
        raise type_error("keep_blocks", "blocks are kept by a Projection", type(layer).__name__)
    _store(layer, packed(blocks, kind))


def keep_file(model: Any, file: Any) -> set[str]:
    """Gives a model all weights of its GGUF file (a `GGUFModel`) that can stay in blocks; the names of those tensors."""
    layers = {f"{name}.weight": layer for name, layer in model.named_sublayers()}
    places = [(layer, name) for name, layer in layers.items() if isinstance(layer, (Projection, Embedding))]
    found = [(layer, theirs) for layer, name in places if (theirs := _kept_name(file, name)) is not None]

    def pack(theirs: str) -> Packed:
        tensor, rows = file.file.tensors[theirs], file.rows(theirs)
        return packed(tensor.blocks if rows is None else tensor.blocks[rows], tensor.kind.name)

    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        for (layer, _), weight in zip(found, threads.map(pack, [theirs for _, theirs in found]), strict=True):
            if layer is model.embedding:
                keep_embedding(model, weight)
            elif isinstance(layer, Projection):
                _store(layer, weight)
    return {theirs for _, theirs in found}


def _kept_name(file: Any, ours: str) -> str | None:
    """What the file calls one of our weights, if that can stay in blocks."""
    rule, number = file.names.rule(ours)
    theirs = rule.theirs.replace("{}", number)
    tensor = file.file.tensors.get(theirs)
    fits = tensor is not None and len(rule.parts) == 1 and len(tensor.shape) == 2 and tensor.kind.name in KEPT
    return theirs if fits else None


def dense_state(model: Layer) -> dict[str, Tensor]:
    """`state_dict()` with floats in the place of blocks, under the names that they had."""
    state = {name: tensor for name, tensor in model.state_dict().items() if ".storage." not in name}
    for name, layer in model.named_sublayers():
        if isinstance(layer, BlockEmbedding):
            state[f"{name}.weight"] = layer.weight
        elif isinstance(layer, Projection) and isinstance(layer.storage, BlockStorage) and not layer.storage.is_shared:
            state[f"{name}.weight"] = layer.dense()
    return state


def _store(layer: Projection, weight: Packed) -> None:
    if (weight.inputs, weight.outputs) != (layer.in_features, layer.out_features):
        raise value_error(
            "quantise", f"the layer has {layer.in_features} inputs and {layer.out_features} outputs",
            f"a weight of {weight.inputs} and {weight.outputs}",
        )  # fmt: skip
    layer.store(BlockStorage(weight))


def keep_embedding(model: Any, weight: Packed) -> None:
    """Gives a model a packed embedding; where the head is tied to it, the head multiplies with the same blocks."""
    storage = BlockStorage(weight)
    model.embedding = BlockEmbedding(storage)
    if model.head is None:
        model.head = _tied_head(model, storage)


def _tied_head(model: Any, storage: BlockStorage) -> Projection:
    with LazyGuard():  # its floats are never made
        head = Projection(storage.inputs, storage.outputs)
    head.store(storage)
    storage.is_shared = True
    return head


def quantise(model: Any, bits: int = 4, group: int = 32, where: Callable[[str, Projection], bool] | None = None) -> Any:
    """Rounds the weights of a model's Projections to 8 or 4 bits, in place, and its embedding and head to 8.

    `where(name, layer)` says which Projections; without it all of them. One weight after the other is rounded, so that the
    model is never in memory twice.
    """
    for name, layer in model.named_sublayers():
        if isinstance(layer, Projection) and layer.storage is None and (where is None or where(name, layer)):
            is_head = layer is getattr(model, "head", None)
            dense: Any = layer.dense()
            _store(layer, rounded_to(dense.numpy().astype(np.float32).T, 8 if is_head else bits, group))
    if isinstance(getattr(model, "embedding", None), Embedding) and where is None:
        keep_embedding(model, rounded_to(model.embedding.weight.numpy().astype(np.float32), 8, group))
    return model
