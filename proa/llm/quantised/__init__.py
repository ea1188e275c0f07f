"""Weights of language models in 8 and 4 bits.

packing.py    weights as the operations of `ops/quantised/blocks.py` want them: from GGUF's blocks bit by bit, or rounded from
              floats
storage.py    what takes the place of a Projection's or an embedding's floats, and a whole model quantised

    model = quantise(proa.llm.load("folder"), bits=4)

A packed weight stands for exactly the numbers of the file. Products round what they multiply it with to int8, 32 inputs at a
time, as llama.cpp does. `dense()` gives floats back, for adapters that are merged and for files that are written.
"""

from __future__ import annotations

from .packing import KEPT, Packed, packed, rounded_to
from .storage import BlockEmbedding, BlockStorage, dense_state, keep_blocks, keep_file, quantise

__all__ = ["KEPT", "BlockEmbedding", "BlockStorage", "Packed", "dense_state", "keep_blocks", "keep_file",
           "packed", "quantise", "rounded_to"]  # fmt: skip
