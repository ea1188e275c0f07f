"""Text as numbers, and back.

tokenizer.py          Tokenizer: encode, decode, stream, chat; around a tokenizer of the `tokenizers` package
stream.py             decoding piece by piece, never half a character
folder.py             from the files of a model's folder (tokenizer.json and the older ones)
gguf.py               from the metadata of a GGUF file
pretokenisers.py      how text is cut before byte pairs are merged, by llama.cpp's names
building.py           tokenizers made from vocabularies: byte pairs, sentencepiece's two, word pieces
sentencepiece.py      what a sentencepiece model file holds
chat.py, sandbox/     conversations as text by a model's template, which may do little and take little

The work is done by the `tokenizers` package (extra `llm`), imported when the first tokenizer is made.
"""

from __future__ import annotations

from .chat import ChatTemplate
from .stream import Stream
from .tokenizer import Tokenizer

__all__ = ["ChatTemplate", "Stream", "Tokenizer"]
