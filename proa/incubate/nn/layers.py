"""Fused layers, with the parameters and the names that Paddle's have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.errors import value_error, warn
from ...eager.annotations import AttrLike
from ...nn.initializer import Constant
from ...nn.layer import Layer
from .functional import (
    fused_bias_dropout_residual_layer_norm,
    fused_dropout_add,
    fused_feedforward,
    fused_linear,
    fused_multi_head_attention,
)

if TYPE_CHECKING:
    from ...eager.tensor import Tensor


class FusedLinear(Layer):
    """A linear layer.

    Args:
        in_features: the size of the input's last axis.
        out_features: that of the result's.
        weight_attr: how the weight is made.
        bias_attr: how the bias is made; False for none.
        transpose_weight: whether the weight is `[out, in]`; otherwise it is `[in, out]`.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.incubate.nn.FusedLinear(4, 2, transpose_weight=True)
        >>> layer.weight.shape, layer(paddle.ones([3, 4])).shape
        (paddle.Size([2, 4]), paddle.Size([3, 2]))
    """

    def __init__(
        self, in_features: int, out_features: int, weight_attr: AttrLike | None = None, bias_attr: AttrLike | None = None,
        transpose_weight: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(dtype=None)
        shape = [out_features, in_features] if transpose_weight else [in_features, out_features]
        self.weight = self.create_parameter(shape, weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)
        self.transpose_weight, self.name = transpose_weight, name

    def forward(self, input: Tensor) -> Any:
        """`input @ weight + bias`.

        Args:
            input: `[..., in_features]`.

        Returns:
            A tensor `[..., out_features]`.

        Examples:
            >>> paddle.incubate.nn.FusedLinear(4, 2)(paddle.ones([3, 4])).shape
            paddle.Size([3, 2])
        """
        return fused_linear(input, self.weight, self.bias, self.transpose_weight)


class FusedDropoutAdd(Layer):
    """`dropout(x) + y`, as a layer.

    Args:
        p: the probability of an element to be dropped.
        mode: that of `dropout`.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.incubate.nn.FusedDropoutAdd(p=0.0)(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).tolist()
        [3.0]
    """

    def __init__(self, p: float = 0.5, mode: str = "upscale_in_train", name: str | None = None) -> None:
        super().__init__()
        self.p, self.mode, self.name = p, mode, name

    def forward(self, x: Tensor, y: Tensor) -> Any:
        """`dropout(x) + y`.

        Args:
            x: the tensor.
            y: what is added, of the same shape.

        Returns:
            A tensor of the shape and dtype of `x`.

        Examples:
            >>> layer = paddle.incubate.nn.FusedDropoutAdd(p=0.5)
            >>> _ = layer.eval()
            >>> layer(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).tolist()
            [3.0]
        """
        return fused_dropout_add(x, y, self.p, self.training, self.mode)

    def extra_repr(self) -> str:
        """What `print` shows between the brackets.

        Examples:
            >>> paddle.incubate.nn.FusedDropoutAdd(p=0.25).extra_repr()
            'p=0.25, mode=upscale_in_train'
        """
        return f"p={self.p}, mode={self.mode}{f', name={self.name}' if self.name else ''}"


class FusedBiasDropoutResidualLayerNorm(Layer):
    """`layer_norm(residual + dropout(x + bias))`, as a layer.

    Args:
        embed_dim: the size of the last axis.
        dropout_rate: the probability of an element to be dropped.
        weight_attr: how the scale is made.
        bias_attr: how the biases are made.
        epsilon: what is added to the variance.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.incubate.nn.FusedBiasDropoutResidualLayerNorm(2, dropout_rate=0.0)
        >>> print(layer(paddle.to_tensor([[1.0, 3.0]]), paddle.to_tensor([[0.0, 0.0]])).numpy().round(4))
        [[-1.  1.]]
    """

    def __init__(
        self,
        embed_dim: int,
        dropout_rate: float = 0.5,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        epsilon: float = 1e-5,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=None)
        if embed_dim <= 0:
            raise value_error("FusedBiasDropoutResidualLayerNorm", "embed_dim must be positive", f"{embed_dim}")
        self.embed_dim, self.dropout_rate, self._epsilon, self.name = embed_dim, dropout_rate, epsilon, name
        self.linear_bias = self.create_parameter([embed_dim], bias_attr, is_bias=True)
        self.ln_scale = self.create_parameter([embed_dim], weight_attr, default_initializer=Constant(1.0))
        self.ln_bias = self.create_parameter([embed_dim], bias_attr, is_bias=True)

    def forward(self, x: Tensor, residual: Tensor) -> Any:
        """`layer_norm(residual + dropout(x + bias))`.

        Args:
            x: `[..., embed_dim]`.
            residual: of the same shape.

        Returns:
            A tensor of the shape and dtype of `x`.

        Examples:
            >>> layer = paddle.incubate.nn.FusedBiasDropoutResidualLayerNorm(4)
            >>> layer(paddle.ones([2, 4]), paddle.ones([2, 4])).shape
            paddle.Size([2, 4])
        """
        return fused_bias_dropout_residual_layer_norm(
            x, residual, self.linear_bias, self.ln_scale, self.ln_bias, self.dropout_rate, self._epsilon, self.training
        )


class FusedMultiHeadAttention(Layer):
    """Attention of a sequence to itself with its projections, residual and layer norm.

    Args:
        embed_dim: the size of the input.
        num_heads: into how many heads it is divided.
        dropout_rate: behind the projection.
        attn_dropout_rate: of the attention's weights.
        kdim, vdim: None, or `embed_dim`.
        normalize_before: whether the layer norm is before; otherwise it is behind.
        need_weights: must be False.
        qkv_weight_attr, qkv_bias_attr, linear_weight_attr, linear_bias_attr: how the projections are made.
        pre_ln_scale_attr, pre_ln_bias_attr, ln_scale_attr, ln_bias_attr: how the layer norms are made.
        epsilon: what is added to variances.
        nranks, ring_id: accepted and ignored.
        transpose_qkv_wb: whether the weight of queries, keys and values is `[embed_dim, 3 * embed_dim]`.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.incubate.nn.FusedMultiHeadAttention(8, 2)(paddle.ones([2, 3, 8])).shape
        paddle.Size([2, 3, 8])
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout_rate: float = 0.5,
        attn_dropout_rate: float = 0.5,
        kdim: int | None = None,
        vdim: int | None = None,
        normalize_before: bool = False,
        need_weights: bool = False,
        qkv_weight_attr: AttrLike | None = None,
        qkv_bias_attr: AttrLike | None = None,
        linear_weight_attr: AttrLike | None = None,
        linear_bias_attr: AttrLike | None = None,
        pre_ln_scale_attr: AttrLike | None = None,
        pre_ln_bias_attr: AttrLike | None = None,
        ln_scale_attr: AttrLike | None = None,
        ln_bias_attr: AttrLike | None = None,
        epsilon: float = 1e-5,
        nranks: int = 1,
        ring_id: int = -1,
        transpose_qkv_wb: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=None)
        where = "FusedMultiHeadAttention"
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise value_error(
                where, "embed_dim must be positive and divisible by num_heads", f"{embed_dim}, {num_heads}"
            )
        if need_weights or (kdim or embed_dim) != embed_dim or (vdim or embed_dim) != embed_dim:
            raise value_error(where, "queries, keys and values are of one sequence, and weights are not given")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.normalize_before, self.transpose_qkv_wb, self._epsilon, self.name = (
            normalize_before, transpose_qkv_wb, epsilon, name,
        )  # fmt: skip
        self.dropout_rate, self.attn_dropout_rate = dropout_rate, attn_dropout_rate
        split = [3, num_heads, self.head_dim]
        qkv_shape = [embed_dim, 3 * embed_dim] if transpose_qkv_wb else [*split, embed_dim]
        self.qkv_weight = self.create_parameter(qkv_shape, qkv_weight_attr)
        self.qkv_bias = self.create_parameter(
            [3 * embed_dim] if transpose_qkv_wb else split, qkv_bias_attr, is_bias=True
        )
        self.linear_weight = self.create_parameter([embed_dim, embed_dim], linear_weight_attr)
        self.linear_bias = self.create_parameter([embed_dim], linear_bias_attr, is_bias=True)
        scale_attr, shift_attr = (
            (pre_ln_scale_attr, pre_ln_bias_attr) if normalize_before else (ln_scale_attr, ln_bias_attr)
        )
        scale = self.create_parameter([embed_dim], scale_attr, default_initializer=Constant(1.0))
        shift = self.create_parameter([embed_dim], shift_attr, is_bias=True)
        self.pre_ln_scale, self.pre_ln_bias = (scale, shift) if normalize_before else (None, None)
        self.ln_scale, self.ln_bias = (None, None) if normalize_before else (scale, shift)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        attn_mask: Tensor | None = None,
        cache: Any = None,
    ) -> Any:
        """The result of the half layer.

        Args:
            query: `[batch, sequence, embed_dim]`.
            key: None, or `query`. As in Paddle nothing else is looked at, which a warning says.
            value: likewise.
            attn_mask: what is added to the scores, or None.
            cache: earlier keys and values, or None.

        Returns:
            A tensor of the shape of `query`; with `cache` also the grown cache.

        Examples:
            >>> layer = paddle.incubate.nn.FusedMultiHeadAttention(8, 2)
            >>> layer(paddle.ones([1, 3, 8])).shape
            paddle.Size([1, 3, 8])
        """
        for name, given in (("key", key), ("value", value)):
            if given is not None and given is not query:
                warn(f"(FusedMultiHeadAttention) {name} is not looked at: the layer attends to query alone.")
        return fused_multi_head_attention(
            query, self.qkv_weight, self.linear_weight, self.normalize_before, self.pre_ln_scale, self.pre_ln_bias,
            self.ln_scale, self.ln_bias, self._epsilon, self.qkv_bias, self.linear_bias, cache, attn_mask,
            self.dropout_rate, self.attn_dropout_rate, self._epsilon, self.training, num_heads=self.num_heads,
            transpose_qkv_wb=self.transpose_qkv_wb,
        )  # fmt: skip


class FusedFeedForward(Layer):
    """The feed-forward half of a transformer layer, with its residual and layer norm.

    Args:
        d_model: the size of the input.
        dim_feedforward: the size between the two linear layers.
        dropout_rate: behind the second layer.
        epsilon: what is added to variances.
        activation: 'relu' or 'gelu'.
        act_dropout_rate: behind the activation; None for `dropout_rate`.
        normalize_before: whether the layer norm is before; otherwise it is behind.
        linear1_weight_attr, linear1_bias_attr, linear2_weight_attr, linear2_bias_attr: how the linear layers are
            made.
        ln1_scale_attr, ln1_bias_attr, ln2_scale_attr, ln2_bias_attr: how the layer norms are made.
        nranks, ring_id: accepted and ignored.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.incubate.nn.FusedFeedForward(8, 16)(paddle.ones([2, 3, 8])).shape
        paddle.Size([2, 3, 8])
    """

    def __init__(
        self,
        d_model: int,
        dim_feedforward: int,
        dropout_rate: float = 0.1,
        epsilon: float = 1e-5,
        activation: str = "relu",
        act_dropout_rate: float | None = None,
        normalize_before: bool = False,
        linear1_weight_attr: AttrLike | None = None,
        linear1_bias_attr: AttrLike | None = None,
        linear2_weight_attr: AttrLike | None = None,
        linear2_bias_attr: AttrLike | None = None,
        ln1_scale_attr: AttrLike | None = None,
        ln1_bias_attr: AttrLike | None = None,
        ln2_scale_attr: AttrLike | None = None,
        ln2_bias_attr: AttrLike | None = None,
        nranks: int = 1,
        ring_id: int = -1,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=None)
        self._d_model, self._dim_feedforward, self._epsilon, self.name = d_model, dim_feedforward, epsilon, name
        self._dropout_rate, self._act_method, self._normalize_before = dropout_rate, activation, normalize_before
        self._act_dropout_rate = dropout_rate if act_dropout_rate is None else act_dropout_rate
        self._linear1_weight = self.create_parameter([d_model, dim_feedforward], linear1_weight_attr)
        self._linear1_bias = self.create_parameter([dim_feedforward], linear1_bias_attr, is_bias=True)
        self._linear2_weight = self.create_parameter([dim_feedforward, d_model], linear2_weight_attr)
        self._linear2_bias = self.create_parameter([d_model], linear2_bias_attr, is_bias=True)
        scale_attr, shift_attr = (
            (ln1_scale_attr, ln1_bias_attr) if normalize_before else (ln2_scale_attr, ln2_bias_attr)
        )
        scale = self.create_parameter([d_model], scale_attr, default_initializer=Constant(1.0))
        shift = self.create_parameter([d_model], shift_attr, is_bias=True)
        self._ln1_scale, self._ln1_bias = (scale, shift) if normalize_before else (None, None)
        self._ln2_scale, self._ln2_bias = (None, None) if normalize_before else (scale, shift)

    def forward(self, src: Tensor, cache: Any = None) -> Any:
        """The result of the half layer.

        Args:
            src: `[batch, sequence, d_model]`.
            cache: None.

        Returns:
            A tensor of the shape of `src`.

        Examples:
            >>> layer = paddle.incubate.nn.FusedFeedForward(8, 16)
            >>> layer(paddle.ones([1, 3, 8])).shape
            paddle.Size([1, 3, 8])
        """
        return fused_feedforward(
            src, self._linear1_weight, self._linear2_weight, self._linear1_bias, self._linear2_bias, self._ln1_scale,
            self._ln1_bias, self._ln2_scale, self._ln2_bias, self._act_dropout_rate, self._dropout_rate, self._act_method,
            self._epsilon, self._epsilon, self._normalize_before, self.training,
        )  # fmt: skip


class FusedTransformerEncoderLayer(Layer):
    """A layer of a transformer encoder: `FusedMultiHeadAttention`, then `FusedFeedForward`.

    Args:
        d_model: the size of the input.
        nhead: how many heads.
        dim_feedforward: the size inside the feed-forward half.
        dropout_rate: behind both halves.
        activation: 'relu' or 'gelu'.
        attn_dropout_rate: of the attention's weights; None for `dropout_rate`.
        act_dropout_rate: behind the activation; None for `dropout_rate`.
        normalize_before: whether layer norms are before the halves; otherwise they are behind.
        weight_attr: how weights are made.
        bias_attr: how biases are made.

    Examples:
        >>> paddle.incubate.nn.FusedTransformerEncoderLayer(8, 2, 16)(paddle.ones([2, 3, 8])).shape
        paddle.Size([2, 3, 8])
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int, dropout_rate: float = 0.1, activation: str = "relu",
        attn_dropout_rate: float | None = None, act_dropout_rate: float | None = None, normalize_before: bool = False,
        weight_attr: AttrLike | None = None, bias_attr: AttrLike | None = None,
    ) -> None:  # fmt: skip
        super().__init__(dtype=None)
        weights = list(weight_attr) if isinstance(weight_attr, (list, tuple)) else [weight_attr] * 2
        biases = list(bias_attr) if isinstance(bias_attr, (list, tuple)) else [bias_attr] * 2
        self.normalize_before = normalize_before
        self.fused_attn = FusedMultiHeadAttention(
            d_model, nhead, dropout_rate, dropout_rate if attn_dropout_rate is None else attn_dropout_rate,
            normalize_before=normalize_before, qkv_weight_attr=weights[0], qkv_bias_attr=biases[0],
            linear_weight_attr=weights[0], linear_bias_attr=biases[0],
        )  # fmt: skip
        self.ffn = FusedFeedForward(
            d_model, dim_feedforward, dropout_rate, activation=activation, act_dropout_rate=act_dropout_rate,
            normalize_before=normalize_before, linear1_weight_attr=weights[1], linear1_bias_attr=biases[1],
            linear2_weight_attr=weights[1], linear2_bias_attr=biases[1],
        )  # fmt: skip

    def forward(self, src: Tensor, src_mask: Tensor | None = None, cache: Any = None) -> Any:
        """The result of the layer.

        Args:
            src: `[batch, sequence, d_model]`.
            src_mask: what is added to the scores, or None.
            cache: earlier keys and values, or None.

        Returns:
            A tensor of the shape of `src`; with `cache` also the grown cache.

        Examples:
            >>> layer = paddle.incubate.nn.FusedTransformerEncoderLayer(8, 2, 16)
            >>> layer(paddle.ones([1, 3, 8])).shape
            paddle.Size([1, 3, 8])
        """
        attended = self.fused_attn(src, attn_mask=src_mask, cache=cache)
        if cache is None:
            return self.ffn(attended)
        out, grown = attended
        return self.ffn(out), grown
