"""The high-level API: `paddle.Model` with its loops and callbacks, `paddle.summary`, `paddle.flops`.

`model.py` is the central file: what users call. A batch is in `steps.py`, the loops around it in `loops.py`, the numbers
that callbacks see in `logs.py`, progress on the screen in `progress.py`, files in `checkpoint.py`. This package sits on
top of the other public ones and may import them; none of them imports it.
"""

from __future__ import annotations

from . import callbacks
from .flops import flops
from .model import Model
from .summary import summary

__all__ = ["Model", "callbacks", "flops", "summary"]
