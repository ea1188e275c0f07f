"""The files that large models come in.

gguf.py            GGUF(path): what llama.cpp reads; metadata, and tensors as blocks of their kind or dequantised
header.py          the head of such a file, checked number by number
kinds.py           the kinds of tensors: how many elements and bytes a block has
dequantising.py    blocks as floats
safetensors.py     a safetensors file, or several with an index, read and written
mapped.py          files as memory maps; what both of the above read from

Nothing is read before it is asked for, nothing of a file is run, and every place and size in it is compared with the file
before it is used. This folder knows files, not models: what the tensors mean is said by whoever reads them.
"""

from __future__ import annotations

from .gguf import GGUF, GGUFTensor
from .kinds import KINDS, Kind
from .safetensors import SafeTensors, read_safetensors, write_safetensors

__all__ = ["GGUF", "KINDS", "GGUFTensor", "Kind", "SafeTensors", "read_safetensors", "write_safetensors"]
