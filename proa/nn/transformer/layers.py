"""Encoder, decoder, and both together."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ...core.errors import failed_check, value_error
from ...eager.annotations import AttrLike
from ...eager.tensor import Tensor, tensor_from_data
from .. import functional as F
from ..base.attributes import ParamAttr
from ..base.sizes import whole_sizes
from ..common import Linear
from ..container import LayerList
from ..dropout import Dropout
from ..layer import Layer
from ..normalization.layers import LayerNorm
from .attention import MultiHeadAttention, additive_mask


def _attributes(attr: Any, count: int) -> list[Any]:
    """One attribute for each part of a layer, from one for all or a list."""
    if isinstance(attr, (list, tuple)):
        if len(attr) == 1:
            return list(attr) * count
        if len(attr) != count:
            raise value_error("Transformer", f"a list of attributes must have {count} entries", f"{len(attr)} entries")
        return list(attr)
    # A name of the user's own would be taken by the first part.
    return [copy.copy(attr) if isinstance(attr, ParamAttr) else attr for _ in range(count)]


def _check_sizes(layer: Layer, d_model: int, nhead: int, dim_feedforward: int) -> None:
    whole_sizes(layer, d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
    if min(d_model, nhead, dim_feedforward) <= 0:
        raise failed_check(
            type(layer).__name__, "d_model, nhead and dim_feedforward must be positive",
            f"d_model: {d_model}, nhead: {nhead}, dim_feedforward: {dim_feedforward}",
        )  # fmt: skip


def _repeated(layer: Layer, count: int) -> LayerList:
    """The layer itself, then new ones made with the same arguments."""
    return LayerList([layer, *(type(layer)(**layer._config) for _ in range(count - 1))])


class TransformerEncoderLayer(Layer):
    """Self-attention and a feed-forward part, each with dropout, a residual and a norm.

    Args:
        d_model: the size of the features.
        nhead: the number of heads.
        dim_feedforward: the inner size of the feed-forward part.
        dropout: the probability of dropout behind both parts.
        activation: the function between the two linear layers, by its name in `paddle.nn.functional`.
        attn_dropout: the dropout of attention weights; `dropout` if left out.
        act_dropout: the dropout behind the activation; `dropout` if left out.
        normalize_before: puts the norms before the parts instead of behind them.
        weight_attr: how weights are made; a list has one for the attention and one for the feed-forward part.
        bias_attr: the same for the biases.
        layer_norm_eps: the epsilon of the norms.

    Examples:
        >>> layer = paddle.nn.TransformerEncoderLayer(8, nhead=2, dim_feedforward=16)
        >>> layer(paddle.ones([3, 5, 8])).shape
        paddle.Size([3, 5, 8])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        arguments = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        super().__init__()
        self._config = arguments
        _check_sizes(self, d_model, nhead, dim_feedforward)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        act_dropout = dropout if act_dropout is None else act_dropout
        self.normalize_before = normalize_before
        weights, biases = _attributes(weight_attr, 2), _attributes(bias_attr, 2)
        self.self_attn = MultiHeadAttention(d_model, nhead, attn_dropout, weight_attr=weights[0], bias_attr=biases[0])
        self.linear1 = Linear(d_model, dim_feedforward, weights[1], biases[1])
        self.dropout = Dropout(act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model, weights[1], biases[1])
        self.norm1 = LayerNorm(d_model, layer_norm_eps)
        self.norm2 = LayerNorm(d_model, layer_norm_eps)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = getattr(F, activation)

    def forward(self, src: Tensor, src_mask: Tensor | None = None, cache: Any = None) -> Any:
        """The layer's result, and the new cache where one is given.

        Args:
            src: [batch, sequence, d_model].
            src_mask: what is added to the scores; booleans and integers hide places where they are 0.
            cache: what `gen_cache` or the call before gave.

        Examples:
            >>> layer = paddle.nn.TransformerEncoderLayer(8, 2, 16)
            >>> layer.forward(paddle.ones([1, 4, 8]), src_mask=paddle.tril(paddle.ones([4, 4], dtype="bool"))).shape
            paddle.Size([1, 4, 8])
        """
        mask = additive_mask(src_mask, src._aval.dtype)
        inner = self.norm1(src) if self.normalize_before else src
        if cache is None:
            inner = self.self_attn(inner, inner, inner, mask)
        else:
            inner, cache = self.self_attn(inner, inner, inner, mask, cache)
        x = src + self.dropout1(inner)
        x = x if self.normalize_before else self.norm1(x)
        inner = self.norm2(x) if self.normalize_before else x
        x = x + self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(inner)))))
        x = x if self.normalize_before else self.norm2(x)
        return x if cache is None else (x, cache)

    def gen_cache(self, src: Tensor) -> Any:
        """An empty cache for decoding step by step.

        Args:
            src: a tensor of the batch size.

        Examples:
            >>> paddle.nn.TransformerEncoderLayer(8, 2, 16).gen_cache(paddle.ones([3, 5, 8])).k.shape
            paddle.Size([3, 2, 0, 4])
        """
        return self.self_attn.gen_cache(src, type=MultiHeadAttention.Cache)


class TransformerEncoder(Layer):
    """A stack of encoder layers: the given one, and others made with the same arguments.

    Args:
        encoder_layer: the first layer.
        num_layers: how many layers there are.
        norm: a layer behind the last one.

    Raises:
        ValueError: `num_layers` is not positive.

    Examples:
        >>> encoder = paddle.nn.TransformerEncoder(paddle.nn.TransformerEncoderLayer(8, 2, 16), num_layers=2)
        >>> encoder(paddle.ones([3, 5, 8])).shape
        paddle.Size([3, 5, 8])
    """

    def __init__(self, encoder_layer: Layer, num_layers: int, norm: Layer | None = None) -> None:
        super().__init__()
        num_layers = whole_sizes(self, num_layers=num_layers)
        if num_layers < 1:
            raise value_error("TransformerEncoder", "num_layers must be positive", f"num_layers: {num_layers}")
        self.layers = _repeated(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src: Tensor, src_mask: Tensor | None = None, cache: Any = None) -> Any:
        """The result of the last layer, and the new caches where caches are given.

        Args:
            src: [batch, sequence, d_model].
            src_mask: what is added to the scores; booleans and integers hide places where they are 0.
            cache: what `gen_cache` or the call before gave.

        Examples:
            >>> encoder = paddle.nn.TransformerEncoder(paddle.nn.TransformerEncoderLayer(8, 2, 16), 2)
            >>> step = paddle.ones([3, 1, 8])
            >>> out, caches = encoder.forward(step, cache=encoder.gen_cache(step))
            >>> out.shape, len(caches)
            (paddle.Size([3, 1, 8]), 2)
        """
        mask = additive_mask(src_mask, src._aval.dtype)
        caches = []
        for number, layer in enumerate(self.layers):
            if cache is None:
                src = layer(src, src_mask=mask)
            else:
                src, new = layer(src, src_mask=mask, cache=cache[number])
                caches.append(new)
        if self.norm is not None:
            src = self.norm(src)
        return src if cache is None else (src, caches)

    def gen_cache(self, src: Tensor) -> list[Any]:
        """An empty cache for each layer.

        Args:
            src: a tensor of the batch size.

        Examples:
            >>> encoder = paddle.nn.TransformerEncoder(paddle.nn.TransformerEncoderLayer(8, 2, 16), 2)
            >>> len(encoder.gen_cache(paddle.ones([3, 5, 8])))
            2
        """
        return [layer.gen_cache(src) for layer in self.layers]


class TransformerDecoderLayer(Layer):
    """Self-attention, attention to the encoder's result, and a feed-forward part.

    Args:
        d_model: the size of the features.
        nhead: the number of heads.
        dim_feedforward: the inner size of the feed-forward part.
        dropout: the probability of dropout behind each part.
        activation: the function between the two linear layers, by its name in `paddle.nn.functional`.
        attn_dropout: the dropout of attention weights; `dropout` if left out.
        act_dropout: the dropout behind the activation; `dropout` if left out.
        normalize_before: puts the norms before the parts instead of behind them.
        weight_attr: how weights are made; a list has one for each of the three parts.
        bias_attr: the same for the biases.
        layer_norm_eps: the epsilon of the norms.

    Examples:
        >>> layer = paddle.nn.TransformerDecoderLayer(8, nhead=2, dim_feedforward=16)
        >>> layer(paddle.ones([3, 4, 8]), paddle.ones([3, 5, 8])).shape
        paddle.Size([3, 4, 8])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        arguments = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        super().__init__()
        self._config = arguments
        _check_sizes(self, d_model, nhead, dim_feedforward)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        act_dropout = dropout if act_dropout is None else act_dropout
        self.normalize_before = normalize_before
        weights, biases = _attributes(weight_attr, 3), _attributes(bias_attr, 3)
        self.self_attn = MultiHeadAttention(d_model, nhead, attn_dropout, weight_attr=weights[0], bias_attr=biases[0])
        self.cross_attn = MultiHeadAttention(d_model, nhead, attn_dropout, weight_attr=weights[1], bias_attr=biases[1])
        self.linear1 = Linear(d_model, dim_feedforward, weights[2], biases[2])
        self.dropout = Dropout(act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model, weights[2], biases[2])
        self.norm1 = LayerNorm(d_model, layer_norm_eps)
        self.norm2 = LayerNorm(d_model, layer_norm_eps)
        self.norm3 = LayerNorm(d_model, layer_norm_eps)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = getattr(F, activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: Any = None,
    ) -> Any:
        """The layer's result, and the new caches where caches are given.

        Args:
            tgt: [batch, sequence, d_model].
            memory: the encoder's result, [batch, source, d_model].
            tgt_mask: what is added to the scores of the self-attention; booleans and integers hide places where they are 0.
            memory_mask: the same for the attention to `memory`.
            cache: what `gen_cache` or the call before gave.

        Examples:
            >>> layer = paddle.nn.TransformerDecoderLayer(8, 2, 16)
            >>> memory = paddle.ones([3, 5, 8])
            >>> out, cache = layer.forward(paddle.ones([3, 1, 8]), memory, cache=layer.gen_cache(memory))
            >>> out.shape, cache[0].k.shape
            (paddle.Size([3, 1, 8]), paddle.Size([3, 2, 1, 4]))
        """
        kind = tgt._aval.dtype
        before = self.normalize_before
        own_mask, other_mask = additive_mask(tgt_mask, kind), additive_mask(memory_mask, kind)
        inner = self.norm1(tgt) if before else tgt
        own_cache: Any = None
        if cache is None:
            inner = self.self_attn(inner, inner, inner, own_mask)
        else:
            inner, own_cache = self.self_attn(inner, inner, inner, own_mask, cache[0])
        x = tgt + self.dropout1(inner)
        x = x if before else self.norm1(x)
        inner = self.norm2(x) if before else x
        other_cache: Any = None
        if cache is None:
            inner = self.cross_attn(inner, memory, memory, other_mask)
        else:
            inner, other_cache = self.cross_attn(inner, memory, memory, other_mask, cache[1])
        x = x + self.dropout2(inner)
        x = x if before else self.norm2(x)
        inner = self.norm3(x) if before else x
        x = x + self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(inner)))))
        x = x if before else self.norm3(x)
        return x if cache is None else (x, (own_cache, other_cache))

    def gen_cache(self, memory: Tensor) -> tuple[Any, Any]:
        """An empty cache for the layer's own sequence, and one of the encoder's result.

        Args:
            memory: the encoder's result.

        Examples:
            >>> own, other = paddle.nn.TransformerDecoderLayer(8, 2, 16).gen_cache(paddle.ones([3, 5, 8]))
            >>> own.k.shape, other.k.shape
            (paddle.Size([3, 2, 0, 4]), paddle.Size([3, 2, 5, 4]))
        """
        own = self.self_attn.gen_cache(memory, type=MultiHeadAttention.Cache)
        return own, self.cross_attn.gen_cache(memory, memory, type=MultiHeadAttention.StaticCache)


class TransformerDecoder(Layer):
    """A stack of decoder layers: the given one, and others made with the same arguments.

    Args:
        decoder_layer: the first layer.
        num_layers: how many layers there are.
        norm: a layer behind the last one.

    Raises:
        ValueError: `num_layers` is not positive.

    Examples:
        >>> decoder = paddle.nn.TransformerDecoder(paddle.nn.TransformerDecoderLayer(8, 2, 16), num_layers=2)
        >>> decoder(paddle.ones([3, 4, 8]), paddle.ones([3, 5, 8])).shape
        paddle.Size([3, 4, 8])
    """

    def __init__(self, decoder_layer: Layer, num_layers: int, norm: Layer | None = None) -> None:
        super().__init__()
        num_layers = whole_sizes(self, num_layers=num_layers)
        if num_layers < 1:
            raise value_error("TransformerDecoder", "num_layers must be positive", f"num_layers: {num_layers}")
        self.layers = _repeated(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: Any = None,
    ) -> Any:
        """The result of the last layer, and the new caches where caches are given.

        Args:
            tgt: [batch, sequence, d_model].
            memory: the encoder's result, [batch, source, d_model].
            tgt_mask: what is added to the scores of the self-attention; booleans and integers hide places where they are 0.
            memory_mask: the same for the attention to `memory`.
            cache: what `gen_cache` or the call before gave.

        Examples:
            >>> decoder = paddle.nn.TransformerDecoder(paddle.nn.TransformerDecoderLayer(8, 2, 16), 2)
            >>> decoder.forward(paddle.ones([1, 4, 8]), paddle.ones([1, 5, 8])).shape
            paddle.Size([1, 4, 8])
        """
        kind = tgt._aval.dtype
        own_mask, other_mask = additive_mask(tgt_mask, kind), additive_mask(memory_mask, kind)
        caches = []
        for number, layer in enumerate(self.layers):
            if cache is None:
                tgt = layer(tgt, memory, tgt_mask=own_mask, memory_mask=other_mask)
            else:
                tgt, new = layer(tgt, memory, tgt_mask=own_mask, memory_mask=other_mask, cache=cache[number])
                caches.append(new)
        if self.norm is not None:
            tgt = self.norm(tgt)
        return tgt if cache is None else (tgt, caches)

    def gen_cache(self, memory: Tensor, do_zip: bool = False) -> list[Any]:
        """A pair of caches for each layer.

        Args:
            memory: the encoder's result.
            do_zip: gives all own caches, then all of the encoder's result.

        Examples:
            >>> decoder = paddle.nn.TransformerDecoder(paddle.nn.TransformerDecoderLayer(8, 2, 16), 3)
            >>> len(decoder.gen_cache(paddle.ones([1, 5, 8]))), len(decoder.gen_cache(paddle.ones([1, 5, 8]), do_zip=True))
            (3, 2)
        """
        caches = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*caches, strict=True)) if do_zip else caches


class Transformer(Layer):
    """An encoder and a decoder.

    Args:
        d_model: the size of the features.
        nhead: the number of heads.
        num_encoder_layers: the layers of the encoder.
        num_decoder_layers: the layers of the decoder.
        dim_feedforward: the inner size of the feed-forward parts.
        dropout: the probability of dropout.
        activation: the function inside the feed-forward parts, by its name in `paddle.nn.functional`.
        attn_dropout: the dropout of attention weights; `dropout` if left out.
        act_dropout: the dropout behind the activation; `dropout` if left out.
        normalize_before: puts the norms before the parts instead of behind them.
        weight_attr: how weights are made: one for all, or a list of 1, 2 or 3.
        bias_attr: the same for the biases.
        custom_encoder: a layer to be used as the encoder.
        custom_decoder: a layer to be used as the decoder.

    Examples:
        >>> model = paddle.nn.Transformer(8, 2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=16)
        >>> model(paddle.ones([3, 5, 8]), paddle.ones([3, 4, 8])).shape
        paddle.Size([3, 4, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        custom_encoder: Layer | None = None,
        custom_decoder: Layer | None = None,
    ) -> None:
        super().__init__()
        num_encoder_layers, num_decoder_layers = whole_sizes(
            self, num_encoder_layers=num_encoder_layers, num_decoder_layers=num_decoder_layers
        )
        _check_sizes(self, d_model, nhead, dim_feedforward)

        def attributes(attr: Any) -> tuple[Any, Any]:
            """For the encoder's two parts and the decoder's three."""
            if not isinstance(attr, (list, tuple)):
                return attr, attr
            given = list(attr)
            if len(given) == 1:
                return given * 2, given * 3
            if len(given) == 2:
                return [given[0], given[1]], [given[0], given[0], given[1]]
            if len(given) == 3:
                return [given[0], given[2]], given
            raise value_error(
                "Transformer", "a list of attributes must have 1, 2 or 3 entries", f"{len(given)} entries"
            )

        encoder_weights, decoder_weights = attributes(weight_attr)
        encoder_biases, decoder_biases = attributes(bias_attr)
        common = (d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout, normalize_before)
        if custom_encoder is None:
            layer: Layer = TransformerEncoderLayer(*common, encoder_weights, encoder_biases)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, LayerNorm(d_model))
        self.encoder = custom_encoder
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*common, decoder_weights, decoder_biases)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, LayerNorm(d_model))
        self.decoder = custom_decoder
        self.d_model, self.nhead = d_model, nhead

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Any:
        """The decoder's result.

        Args:
            src: the source, [batch, source, d_model].
            tgt: the target, [batch, target, d_model].
            src_mask: what is added to the encoder's scores; booleans and integers hide places where they are 0.
            tgt_mask: the same for the decoder's self-attention.
            memory_mask: the same for its attention to the encoder's result.

        Examples:
            >>> model = paddle.nn.Transformer(8, 2, 1, 1, 16)
            >>> mask = model.generate_square_subsequent_mask(4)
            >>> model.forward(paddle.ones([3, 5, 8]), paddle.ones([3, 4, 8]), tgt_mask=mask).shape
            paddle.Size([3, 4, 8])
        """
        memory = self.encoder(src, src_mask=additive_mask(src_mask, src._aval.dtype))
        kind = tgt._aval.dtype
        return self.decoder(
            tgt, memory, tgt_mask=additive_mask(tgt_mask, kind), memory_mask=additive_mask(memory_mask, kind)
        )

    def generate_square_subsequent_mask(self, length: int) -> Tensor:
        """A mask to add that hides what comes later: 0 on and below the diagonal, -inf above.

        Args:
            length: the length of the sequence.

        Examples:
            >>> paddle.nn.Transformer(8, 2, 1, 1, 16).generate_square_subsequent_mask(2).tolist()
            [[0.0, -inf], [0.0, 0.0]]
        """
        return tensor_from_data(np.triu(np.full((int(length),) * 2, -np.inf, "float32"), 1))
