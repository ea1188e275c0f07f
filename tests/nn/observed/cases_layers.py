"""Layers with fixed parameters whose results in Paddle 3.3.1 were written down (`layers.json`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.nn.observed.cases_functional import leaf, ramp

CASES: dict[str, Callable[[Any], Any]] = {}


def case(name: str, call: Callable[[Any], Any]) -> None:
    assert name not in CASES, name
    CASES[name] = call


def filled(P: Any, layer: Any) -> Any:
    """The layer with fixed numbers in its parameters."""
    layer.train()
    for parameter in layer.parameters():
        parameter.set_value(P.to_tensor(ramp(*parameter.shape, low=-0.6, high=0.5)))
    return layer


def trained(P: Any, layer: Any, *inputs: Any, **options: Any) -> Any:
    """Outputs, and the gradients of inputs and parameters."""
    filled(P, layer)
    result = layer(*inputs, **options)
    outputs = []

    def collect(part: Any) -> None:
        if isinstance(part, (list, tuple)):
            for item in part:
                collect(item)
        else:
            outputs.append(part)

    collect(result)
    total = sum((out * P.to_tensor(ramp(*out.shape, low=0.5, high=1.5))).sum() for out in outputs)
    total.backward()
    leaves = [x for x in inputs if x is not None and not isinstance(x, (list, tuple)) and not x.stop_gradient]
    return [*outputs, *[x.grad for x in leaves], *[p.grad for p in layer.parameters() if p.grad is not None]]


for kind in ("LSTM", "GRU", "SimpleRNN"):
    for direction in ("forward", "bidirect"):
        case(f"{kind} {direction}", lambda P, kind=kind, d=direction: trained(
            P, getattr(P.nn, kind)(3, 2, 2, d), leaf(P, 2, 4, 3)))  # fmt: skip
        case(f"{kind} {direction} lengths", lambda P, kind=kind, d=direction: trained(
            P, getattr(P.nn, kind)(3, 2, 1, d), leaf(P, 2, 4, 3),
            sequence_length=P.to_tensor(np.array([2, 4]))))  # fmt: skip
    case(f"{kind} keys", lambda P, kind=kind: [
        *getattr(P.nn, kind)(3, 2, 2, "bidirect").state_dict()])  # fmt: skip
    case(f"{kind}Cell", lambda P, kind=kind: trained(P, getattr(P.nn, f"{kind}Cell")(3, 2), leaf(P, 2, 3)))
    case(f"RNN {kind}", lambda P, kind=kind: trained(
        P, P.nn.RNN(getattr(P.nn, f"{kind}Cell")(3, 2), is_reverse=True), leaf(P, 2, 4, 3)))  # fmt: skip
    case(f"RNN {kind} lengths", lambda P, kind=kind: trained(
        P, P.nn.RNN(getattr(P.nn, f"{kind}Cell")(3, 2)), leaf(P, 2, 4, 3),
        sequence_length=P.to_tensor(np.array([2, 4]))))  # fmt: skip
case("GRU states", lambda P: trained(
    P, P.nn.GRU(3, 2, 1, time_major=True), leaf(P, 4, 2, 3), leaf(P, 1, 2, 2)))  # fmt: skip
case("SimpleRNN relu", lambda P: trained(P, P.nn.SimpleRNN(3, 2, activation="relu"), leaf(P, 2, 4, 3)))
case("LSTM projected", lambda P: trained(P, P.nn.LSTM(3, 4, proj_size=2), leaf(P, 2, 3, 3)))
case("BiRNN", lambda P: trained(P, P.nn.BiRNN(P.nn.GRUCell(3, 2), P.nn.GRUCell(3, 2)), leaf(P, 2, 4, 3)))
case("LSTM wrong", lambda P: P.nn.LSTM(3, 2, direction="sideways"))
case("GRUCell wrong", lambda P: P.nn.GRUCell(3, 0))

# ---- transformers --------------------------------------------------------------------------------

case("MultiHeadAttention", lambda P: trained(P, P.nn.MultiHeadAttention(4, 2), leaf(P, 2, 3, 4)))
case("MultiHeadAttention other", lambda P: trained(
    P, P.nn.MultiHeadAttention(4, 2, kdim=3, vdim=5, need_weights=True), leaf(P, 2, 3, 4), leaf(P, 2, 2, 3),
    leaf(P, 2, 2, 5), P.to_tensor(ramp(2, 1, 3, 2))))  # fmt: skip
case("MultiHeadAttention whole mask", lambda P: trained(
    P, P.nn.MultiHeadAttention(4, 2), leaf(P, 2, 3, 4),
    attn_mask=P.to_tensor((ramp(2, 1, 3, 3) > -0.4).astype("int64"))))  # fmt: skip
for first in (False, True):
    case(f"TransformerEncoder {first}", lambda P, first=first: trained(
        P, P.nn.TransformerEncoder(
            P.nn.TransformerEncoderLayer(4, 2, 6, 0.0, "gelu", normalize_before=first), 2, P.nn.LayerNorm(4)),
        leaf(P, 2, 3, 4)))  # fmt: skip
    case(f"TransformerDecoder {first}", lambda P, first=first: trained(
        P, P.nn.TransformerDecoder(P.nn.TransformerDecoderLayer(4, 2, 6, 0.0, normalize_before=first), 2),
        leaf(P, 2, 3, 4), leaf(P, 2, 2, 4)))  # fmt: skip
case("Transformer", lambda P: trained(
    P, P.nn.Transformer(4, 2, 1, 1, 6, 0.0), leaf(P, 2, 3, 4), leaf(P, 2, 2, 4), None,
    P.nn.Transformer(4, 2, 1, 1, 6).generate_square_subsequent_mask(2)))  # fmt: skip
case("Transformer keys", lambda P: [*P.nn.Transformer(4, 2, 1, 1, 6).state_dict()])


def decoded(P: Any) -> Any:
    """Two steps with caches."""
    layer = filled(P, P.nn.TransformerDecoder(P.nn.TransformerDecoderLayer(4, 2, 6, 0.0), 2))
    memory = P.to_tensor(ramp(2, 3, 4))
    cache = layer.gen_cache(memory)
    outputs = []
    for low in (-1.0, -0.5):
        out, cache = layer(P.to_tensor(ramp(2, 1, 4, low=low)), memory, cache=cache)
        outputs.append(out)
    return [*outputs, cache[0][0].k, cache[1][1].v]


case("TransformerDecoder cached", decoded)


def beams(P: Any) -> Any:
    cell = filled(P, P.nn.GRUCell(3, 4))
    embedding, output = filled(P, P.nn.Embedding(6, 3)), filled(P, P.nn.Linear(4, 6))
    decoder = P.nn.BeamSearchDecoder(cell, 0, 1, 2, embedding, output)
    found, _, lengths = P.nn.dynamic_decode(
        decoder, P.to_tensor(ramp(2, 4)), max_step_num=4, return_length=True)  # fmt: skip
    return [found, lengths]


case("beam search", beams)
