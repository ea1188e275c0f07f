"""What the garbage collector is told not to look at any more: never the program's garbage."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc, weakref
import proa as paddle
from proa.ir.xla import started_jax

class Node:
    pass

gc.disable()
node = Node()
node.itself = node
seen = weakref.ref(node)
del node
started_jax()
print(seen() is None, gc.get_freeze_count() > 10_000)
"""


def test_garbage_from_before_xla_starts_is_not_kept_for_ever():
    finished = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert finished.stdout.split() == ["True", "True"], finished.stderr
