"""LoRA: two thin factors beside a projection's weight, trained in its place.

    adapter = Adapter.attach(model, Lora(rank=8))   # everything else is frozen
    ...                                             # train
    adapter.save("adapter")                         # the files of the package peft
    adapter.merge()                                 # the weights take the product in; unmerge() gives the old bits back

The factors hang on `Projection.adapter`; the weight itself may be floats or in few bits (QLoRA), the adapter does not ask.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...nn import Layer
from ...nn import functional as F
from ...nn.initializer import Constant, Uniform
from ..layers.projection import Projection
from ..naming import Names
from .settings import Lora

_WHERE = "Adapter"


class LowRank(Layer):
    """`dropout(x) @ down @ up * scale`, computed in float32; `up` begins at zero, so that nothing changes at first."""

    def __init__(self, in_features: int, out_features: int, rank: int, scale: float, dropout: float = 0.0) -> None:
        super().__init__(dtype="float32")
        bound = 1 / math.sqrt(in_features)
        self.down = self.create_parameter([in_features, rank], default_initializer=Uniform(-bound, bound))
        self.up = self.create_parameter([rank, out_features], default_initializer=Constant(0.0))
        self.scale, self.dropout = scale, dropout

    def forward(self, x: Any) -> Any:
        wide = x.astype("float32")
        if self.dropout and self.training:
            wide = F.dropout(wide, self.dropout)
        return (F.linear(F.linear(wide, self.down), self.up) * self.scale).astype(x.dtype)

    def delta(self) -> Any:
        """What it adds to the weight, `[in_features, out_features]`."""
        return (self.down @ self.up) * self.scale

    def extra_repr(self) -> str:
        return f"rank {self.down.shape[1]}, scale {self.scale:g}"


@dataclass
class Place:
    """One projection with an adapter: its name here and in Hugging Face's files, and what merging replaced."""

    ours: str
    theirs: str
    projection: Projection
    factors: LowRank
    before: Any = field(default=None, repr=False)


def projections(model: Any) -> Iterator[tuple[str, str, Projection]]:
    """Every projection of a model: its name, that in Hugging Face's files, and itself.

    Those that lie in one tensor with others there (GPT-2's query, key and value) have no name of their own: left out.
    """
    from ..families import family_of

    names: Names = family_of(model.config.family).names(model.config)
    for ours, layer in model.named_sublayers():
        if isinstance(layer, Projection):
            rule, number = names.rule(f"{ours}.weight")
            theirs = rule.theirs.replace("{}", number)
            if len(rule.parts) == 1 and "{e}" not in theirs:
                yield ours, theirs.removesuffix(".weight"), layer


class Adapter:
    """The low-rank factors of a model, all together."""

    def __init__(self, model: Any, places: list[Place], settings: Lora) -> None:
        self.model, self.places, self.settings = model, places, settings
        self.is_merged = False

    @classmethod
    def attach(cls, model: Any, settings: Lora | None = None) -> Adapter:
        """Adds factors to the projections that `settings.targets` names, and freezes every other parameter.

        A target is the end of a name as Hugging Face's files have it ("q_proj", "mlp.down_proj"), or "all-linear".
        """
        settings = Lora() if settings is None else settings
        found = list(projections(model))
        chosen = [entry for entry in found if any(_matches(entry[1], target) for target in settings.targets)]
        idle = [t for t in settings.targets if not any(_matches(entry[1], t) for entry in chosen)]
        if idle:
            ends = sorted({theirs.rsplit(".", 1)[-1] for _, theirs, _ in found})
            raise value_error(_WHERE, f"no projection is called {idle[0]!r}", f"targets: {list(settings.targets)}",
                              f"this model has {', '.join(ends)}")  # fmt: skip
        if any(layer.adapter is not None for _, _, layer in found):
            raise value_error(_WHERE, "the model has an adapter already", "", "detach() it first")
        scale = settings.alpha / (math.sqrt(settings.rank) if settings.rank_stabilised else settings.rank)
        for parameter in model.parameters():
            parameter.stop_gradient = True
        places = []
        for ours, theirs, layer in chosen:
            factors = LowRank(layer.in_features, layer.out_features, settings.rank, scale, settings.dropout)
            layer.adapter = factors
            places.append(Place(ours, theirs, layer, factors))
        return cls(model, places, settings)

    def parameters(self) -> dict[str, Tensor]:
        """The factors by name; these are all that is trained."""
        return {f"{p.ours}.{part}": getattr(p.factors, part) for p in self.places for part in ("down", "up")}

    def enable(self, on: bool = True) -> None:
        """Without its factors the model is what it was: a reference beside the one that is trained."""
        if not self.is_merged:
            for place in self.places:
                place.projection.adapter = place.factors if on else None

    def merge(self) -> None:
        """Adds the products to the weights and takes the factors off; a weight in few bits becomes floats."""
        if self.is_merged:
            return
        for place in self.places:
            layer = place.projection
            place.before = (layer.weight, layer.storage)
            dense = np.asarray(layer.dense().numpy())
            delta = np.asarray(place.factors.delta().numpy())
            merged = (dense.astype(np.float32) + delta).astype(dense.dtype)
            layer.storage = None
            layer.weight = _parameter(layer, merged)
            layer.adapter = None
        self.is_merged = True

    def unmerge(self) -> None:
        """Puts the weights back that were there before, bit by bit, and the factors on."""
        if not self.is_merged:
            return
        for place in self.places:
            layer = place.projection
            layer.weight, layer.storage = place.before
            layer.adapter, place.before = place.factors, None
        self.is_merged = False

    def detach(self) -> None:
        """Takes the factors off, whatever they have learned; parameters may be trained again."""
        self.unmerge()
        for place in self.places:
            place.projection.adapter = None
        for parameter in self.model.parameters():
            parameter.stop_gradient = False

    def save(self, folder: Any, base: str = "") -> None:
        """Writes `adapter_config.json` and `adapter_model.safetensors` as the package peft does."""
        from .adapter_files import write_adapter

        write_adapter(self, folder, base)

    @classmethod
    def load(cls, model: Any, folder: Any) -> Adapter:
        """The adapter in a folder that `save`, or peft, wrote; attached, everything else frozen."""
        from .adapter_files import read_adapter

        return read_adapter(model, folder)

    def __repr__(self) -> str:
        count = sum(int(np.prod(t.shape)) for t in self.parameters().values())
        return f"Adapter({len(self.places)} projections, rank {self.settings.rank}, {count:,} numbers)"


def _matches(name: str, target: str) -> bool:
    if target == "all-linear":
        return not name.endswith("lm_head")
    return name == target or name.endswith(f".{target}")


def _parameter(layer: Any, values: np.ndarray) -> Any:
    """A parameter of the layer with these numbers, not trained."""
    made = layer.create_parameter(list(values.shape), dtype=str(values.dtype), default_initializer=Constant(0.0))
    made.set_value(values)
    made.stop_gradient = True
    return made
