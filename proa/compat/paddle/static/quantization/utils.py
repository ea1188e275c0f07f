"""Tables of `paddle.static.quantization.utils`, which name operators of Paddle's inner graphs."""

from ....missing import MissingTable

_channelwise_quant_axis1_ops = MissingTable("static.quantization.utils._channelwise_quant_axis1_ops")
