"""Caffe models in: a `.prototxt` says what the network is, a `.caffemodel` holds its weights.

text.py       the text form of protocol buffers
reading.py    both files as plain data
layers.py     one function for each type of layer, registered with `@reads`
loading.py    `from_caffe`
reference.py  what OpenCV 4 gives for the same files (Caffe itself is no longer to be had)
"""

from __future__ import annotations

from .layers import READERS, reads
from .loading import from_caffe

__all__ = ["READERS", "from_caffe", "reads"]
