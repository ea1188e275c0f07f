"""Batch normalisation over all devices."""

from __future__ import annotations

from ...eager.annotations import AttrLike
from ..layer import Layer
from .layers import _BatchNormBase


class SyncBatchNorm(_BatchNormBase):
    """Batch normalisation over the batches of all devices.

    A tensor that is sharded over devices is one tensor here, so that its statistics are those of the whole batch anyway:
    this is BatchNorm of any rank.

    Args:
        num_features: the number of channels.
        momentum: the share of the old running statistics at each step.
        epsilon: added to the variance.
        weight_attr: how the scales are made (`ParamAttr`); False leaves them out.
        bias_attr: the same for the shifts.
        data_format: where the channels are: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.SyncBatchNorm(3)(paddle.ones([2, 3, 4, 4])).shape
        paddle.Size([2, 3, 4, 4])
    """

    _default_format = "NCHW"

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """The layer with every BatchNorm in it replaced by a SyncBatchNorm with the same parameters.

        Args:
            layer: a layer; its sub-layers are replaced in place.

        Examples:
            >>> model = paddle.nn.Sequential(paddle.nn.Conv2D(3, 4, 1), paddle.nn.BatchNorm2D(4))
            >>> paddle.nn.SyncBatchNorm.convert_sync_batchnorm(model)[1]
            SyncBatchNorm(num_features=4, momentum=0.9, epsilon=1e-05)
        """
        result = layer
        if isinstance(layer, _BatchNormBase) and not isinstance(layer, SyncBatchNorm):
            result = cls(
                layer._num_features, layer._momentum, layer._epsilon,
                None if layer.weight is not None else False, None if layer.bias is not None else False,
                layer._data_format if layer._data_format in ("NCHW", "NHWC") else "NCHW", layer._name,
            )  # fmt: skip
            result.weight, result.bias = layer.weight, layer.bias
            result._mean, result._variance = layer._mean, layer._variance
            result.training = layer.training
        for name, child in list(layer._sub_layers.items()):
            if child is not None:
                result.add_sublayer(name, cls.convert_sync_batchnorm(child))
        return result
