"""`paddle.text`: Viterbi decoding and standard text datasets read from local files."""

from __future__ import annotations

from ..nn.viterbi import ViterbiDecoder, viterbi_decode
from . import datasets
from .datasets import WMT14, WMT16, Conll05st, Imdb, Imikolov, Movielens, UCIHousing

__all__ = [
    "Conll05st",
    "Imdb",
    "Imikolov",
    "Movielens",
    "UCIHousing",
    "ViterbiDecoder",
    "WMT14",
    "WMT16",
    "datasets",
    "viterbi_decode",
]
