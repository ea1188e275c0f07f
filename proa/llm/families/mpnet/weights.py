"""MPNet's names of weights."""

from __future__ import annotations

from ...config import Config
from ...naming import Names, Rule
from ..encoders import ROBERTA_HEAD, encoder_names

_ATTENTION = {"query": "attn.q", "key": "attn.k", "value": "attn.v", "output": "attn.o", "norm": "LayerNorm"}
_RELATIVE = Rule("relative.weight", "mpnet.encoder.relative_attention_bias.weight")


def names(config: Config) -> Names:
    return encoder_names("mpnet", ROBERTA_HEAD, _ATTENTION, _RELATIVE)
