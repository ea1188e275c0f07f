"""paddleformers: Llama of two small layers, from a configuration."""

import numpy as np
import paddle
from common import FLOAT, report, survives_saving, train
from paddleformers.transformers import LlamaConfig, LlamaForCausalLM

paddle.seed(1)
words = paddle.to_tensor(np.random.default_rng(0).integers(1, 90, (2, 16)))


def build():
    configuration = LlamaConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2,
        intermediate_size=64, max_position_embeddings=64,
    )  # fmt: skip
    configuration.dtype = FLOAT
    configuration.fuse_rms_norm = False  # the other form has no kernel for a CPU in Paddle
    return LlamaForCausalLM(configuration)


def first(out):
    return out[0] if isinstance(out, (tuple, list)) else out


model = build()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters())
losses = train("LlamaForCausalLM", model, optimizer, lambda: first(model(words, labels=words)))
survives_saving(model, build(), lambda one: first(one(words)).numpy())
report(LlamaForCausalLM=losses)
