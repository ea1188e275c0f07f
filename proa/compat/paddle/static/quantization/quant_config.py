"""Tables of `paddle.static.quantization.quant_config`, which name operators of Paddle's inner graphs."""

from ....missing import MissingTable

SUPPORT_QUANTIZATION_OP_DICT = MissingTable("static.quantization.quant_config.SUPPORT_QUANTIZATION_OP_DICT")
SUPPORT_WEIGHT_QUANTIZATION_OP_DICT = MissingTable(
    "static.quantization.quant_config.SUPPORT_WEIGHT_QUANTIZATION_OP_DICT"
)
SUPPORT_ACT_QUANTIZATION_OP_DICT = MissingTable("static.quantization.quant_config.SUPPORT_ACT_QUANTIZATION_OP_DICT")
