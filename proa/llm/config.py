"""What a language model looks like, in one form for all families.

A family's `configuration.py` turns its own `config.json` into a `Config`; the layers know nothing else. Everything is
frozen and hashable, so a Config can be a key, and two models of equal Config have the same parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

from ..core.errors import value_error

SCALINGS = ("default", "linear", "dynamic", "yarn", "llama3")


@dataclass(frozen=True)
class Rope:
    """How queries and keys are turned by their positions.

    `dims` of a head are turned (the first ones), in pairs of neighbours if `interleaved`, otherwise the first half with the
    second. `scaling` is one of SCALINGS; `original_positions` is the length that the model was first trained for.

    Examples:
        >>> paddle.llm.Rope(dims=64).dims
        64
    """

    base: float = 10000.0
    dims: int = 0
    interleaved: bool = False
    scaling: str = "default"
    factor: float = 1.0
    original_positions: int = 0
    low_frequency: float = 1.0  # llama3
    high_frequency: float = 4.0
    beta_fast: float = 32.0  # yarn
    beta_slow: float = 1.0
    truncate: bool = True
    magnitude: float = 1.0  # cos and sin are multiplied by it (yarn)

    def __post_init__(self) -> None:
        if self.scaling not in SCALINGS:
            raise value_error("Rope", f"scaling is one of {SCALINGS}", repr(self.scaling))
        if self.dims <= 0 or self.dims % 2:
            raise value_error("Rope", "dims must be even and positive: pairs of elements are turned", f"{self.dims}")


@dataclass(frozen=True)
class Experts:
    """A mixture of experts in place of an MLP, in the layers where `sparse` says so.

    Scores are a `scoring` of the router's products ("softmax" or "sigmoid"). With `correction`, a bias is added for the
    choice, not for the weights. With `groups` above 1, experts are chosen among those of the `groups_kept` best groups.

    Examples:
        >>> experts = paddle.llm.Experts(count=8, per_token=2, intermediate_size=64, sparse=(False, True))
        >>> paddle.llm.Config("mixtral", 100, 32, 2, 4, 64, experts=experts).is_sparse(1)
        True
    """

    count: int
    per_token: int
    intermediate_size: int
    sparse: tuple[bool, ...]
    scoring: str = "softmax"
    normalised: bool = True
    norm_minimum: float = 0.0  # the sum is divided by at least this
    scale: float = 1.0
    correction: bool = False
    groups: int = 1
    groups_kept: int = 1
    group_scoring: str = "maximum"  # or "best two": the sum of a group's two best scores
    shared_intermediate_size: int = 0  # an MLP that every token passes, beside the chosen experts
    shared_gate: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.per_token <= self.count:
            raise value_error("Experts", f"each token takes 1 to {self.count} experts", f"{self.per_token}")
        if self.groups > 1 and (self.count % self.groups or not 0 < self.groups_kept <= self.groups):
            raise value_error("Experts", "groups must divide the experts, and some must be kept",
                              f"{self.count} experts, {self.groups} groups, {self.groups_kept} kept")  # fmt: skip


@dataclass(frozen=True)
class Latent:
    """Multi-head latent attention: keys and values are computed from a short vector per token (DeepSeek).

    A query or key has `plain_dims` elements that know no position and `rope_dims` that are turned; the latter are shared
    by all heads of the key. `query_rank` 0: queries come from the hidden state directly.

    Examples:
        >>> latent = paddle.llm.Latent(kv_rank=16, plain_dims=8, rope_dims=4, value_dims=8)
        >>> paddle.llm.Config("deepseek", 100, 32, 2, 4, 64, latent=latent).key_dim
        12
    """

    kv_rank: int
    plain_dims: int
    rope_dims: int
    value_dims: int
    query_rank: int = 0


@dataclass(frozen=True)
class Config:
    """The architecture of one model. Sizes of 0 follow from others (`head_dim`, `kv_heads`).

    Raises:
        ValueError: a size is not positive, or sizes do not fit together.

    Examples:
        >>> config = paddle.llm.Config("llama", vocab_size=100, hidden_size=32, layers=2, heads=4, intermediate_size=64)
        >>> config.head_dim, config.kv_heads
        (8, 4)
    """

    family: str
    vocab_size: int
    hidden_size: int
    layers: int
    heads: int
    intermediate_size: int
    kv_heads: int = 0
    head_dim: int = 0
    max_positions: int = 2048
    norm: str = "rms"  # or "layer"
    norm_epsilon: float = 1e-6
    norm_offset: float = 0.0  # the norm's weight is what is stored plus this (Gemma: 1)
    norm_bias: bool = True  # of layer norms
    placement: str = "before"  # norms before, "after", or "around" attention and MLP
    activation: str = "silu"
    gated: bool = True
    rope: Rope | None = None
    local_rope: Rope | None = None  # for layers with a window, where it differs (Gemma 3)
    positions: str = "rotary"  # or "learned", "relative"
    position_offset: int = 0  # rows of the learned table before position 0 (RoBERTa, MPNet: 2)
    relative_buckets: int = 0
    relative_distance: int = 128
    windows: tuple[int | None, ...] = ()  # of each layer; empty: none anywhere
    attention_scale: float = 0.0  # 0: one over the root of head_dim
    attention_cap: float = 0.0  # scores are held within this by tanh; 0: they are not
    logit_cap: float = 0.0
    output_scale: float = 1.0  # of the states that the head is given (T5 with tied weights)
    embedding_scale: float = 1.0
    attention_bias: bool = False  # of query, key and value
    output_bias: bool = False  # of attention's last projection
    mlp_bias: bool = False
    head_norms: bool = False  # queries and keys are normed, head by head (Qwen 3, Gemma 3)
    tied: bool = False
    head_bias: bool = False
    head: str = "linear"  # "masked": dense, activation, norm, product (encoders); "": none
    experts: Experts | None = None
    latent: Latent | None = None
    token_types: int = 0
    task_types: int = 0  # ERNIE 3
    embedding_norm: bool = False
    pooler: bool = False
    decoder_layers: int = 0  # T5: `layers` are the encoder's
    decoder_start: int | None = None
    bos: tuple[int, ...] = ()
    eos: tuple[int, ...] = ()
    pad: int | None = None
    initializer_range: float = 0.02
    source: str = field(default="", compare=False, repr=False)  # config.json as it was read, for writing it back

    def __post_init__(self) -> None:
        for name in ("vocab_size", "hidden_size", "layers", "heads", "intermediate_size", "max_positions"):
            value = getattr(self, name)
            if type(value) is not int or value <= 0:
                raise value_error("Config", f"{name} must be a positive whole number", f"{value!r}")
        given = {"kv_heads": self.kv_heads or self.heads, "head_dim": self.head_dim or self.hidden_size // self.heads}
        for name, value in given.items():
            object.__setattr__(self, name, value)
        if self.heads % self.kv_heads:
            raise value_error("Config", "kv_heads must divide heads", f"{self.heads} heads, {self.kv_heads} kv_heads")
        if self.windows and len(self.windows) != self.layers:
            raise value_error(
                "Config", "windows has one entry a layer", f"{len(self.windows)} for {self.layers} layers"
            )
        if self.positions == "rotary" and self.rope is None:
            object.__setattr__(self, "rope", Rope(dims=self.latent.rope_dims if self.latent else self.head_dim))
        if not self.attention_scale:
            width = self.latent.plain_dims + self.latent.rope_dims if self.latent else self.head_dim
            object.__setattr__(self, "attention_scale", width**-0.5)

    @property
    def key_dim(self) -> int:
        """How long a key is: `head_dim`, or both parts of a latent one.

        Examples:
            >>> paddle.llm.Config("llama", 100, 32, 2, 4, 64).key_dim
            8
        """
        return self.latent.plain_dims + self.latent.rope_dims if self.latent else self.head_dim

    @property
    def value_dim(self) -> int:
        """How long a value is.

        Examples:
            >>> paddle.llm.Config("llama", 100, 32, 2, 4, 64).value_dim
            8
        """
        return self.latent.value_dims if self.latent else self.head_dim

    @property
    def cached_heads(self) -> int:
        """Heads of the keys and values that attention is handed: with a latent, every head has its own.

        Examples:
            >>> paddle.llm.Config("llama", 100, 32, 2, 4, 64, kv_heads=2).cached_heads
            2
        """
        return self.heads if self.latent else self.kv_heads

    def window(self, layer: int) -> int | None:
        """How far back a layer looks; None: to the beginning.

        Examples:
            >>> paddle.llm.Config("llama", 100, 32, 2, 4, 64, windows=(128, None)).window(0)
            128
        """
        return self.windows[layer] if self.windows else None

    def is_sparse(self, layer: int) -> bool:
        """Whether a layer has a mixture of experts.

        Examples:
            >>> paddle.llm.Config("llama", 100, 32, 2, 4, 64).is_sparse(0)
            False
        """
        return self.experts is not None and self.experts.sparse[layer]

    def changed(self, **changes: Any) -> Config:
        """A copy with other fields.

        Examples:
            >>> paddle.llm.Config("llama", 100, 32, 2, 4, 64).changed(layers=3).layers
            3
        """
        return replace(self, **changes)

    def describe(self) -> str:
        """The fields that differ from their defaults, in one line.

        Examples:
            >>> "vocab_size=100" in paddle.llm.Config("llama", 100, 32, 2, 4, 64).describe()
            True
        """
        shown = (f for f in fields(self) if f.name != "source" and getattr(self, f.name) != f.default)
        return ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in shown)
