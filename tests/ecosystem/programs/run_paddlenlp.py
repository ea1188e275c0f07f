"""paddlenlp: BERT, ERNIE, GPT and Llama of two small layers, from configurations."""

import numpy as np
import paddle
from common import report, survives_saving, train
from paddlenlp.transformers import (
    BertConfig,
    BertForSequenceClassification,
    ErnieConfig,
    ErnieForSequenceClassification,
    GPTConfig,
    GPTForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
)

SETTINGS = {
    "vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64,
    "max_position_embeddings": 64, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "num_labels": 2,
}  # fmt: skip
paddle.seed(1)
words = paddle.to_tensor(np.random.default_rng(0).integers(1, 90, (2, 16)))
labels = paddle.to_tensor([0, 1])


def loss_of(model):
    if "Causal" in type(model).__name__:
        out = model(words, labels=words)
        return out[0] if isinstance(out, tuple) else out
    return paddle.nn.functional.cross_entropy(model(words), labels)


def answer(model):
    out = model(words)
    return (out[0] if isinstance(out, tuple) else out).numpy()


losses = {}
for configuration, build in (
    (BertConfig, BertForSequenceClassification), (ErnieConfig, ErnieForSequenceClassification),
    (GPTConfig, GPTForCausalLM), (LlamaConfig, LlamaForCausalLM),
):  # fmt: skip
    model = build(configuration(**SETTINGS))
    optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters())
    losses[build.__name__] = train(build.__name__, model, optimizer, lambda model=model: loss_of(model))
    survives_saving(model, build(configuration(**SETTINGS)), answer)
report(**losses)
