"""Recurrent layers: cells (`cells.py`), cells over a sequence, stacked (`stacks.py`), and decoding (`decoding.py`)."""

from __future__ import annotations

from .cells import GRUCell, LSTMCell, RNNCellBase, SimpleRNNCell
from .decoding import BeamSearchDecoder, Decoder, dynamic_decode
from .stacks import GRU, LSTM, RNN, BiRNN, RNNBase, SimpleRNN

__all__ = [
    "GRU", "LSTM", "RNN", "BeamSearchDecoder", "BiRNN", "Decoder", "GRUCell", "LSTMCell", "RNNBase", "RNNCellBase",
    "SimpleRNN", "SimpleRNNCell", "dynamic_decode",
]  # fmt: skip
