"""proa's own artifact: one `.proa` file with Programs, weights, signatures and recorded tests.

    archive.py    the file: a zip whose entries are stored as they are, read with limits
    encoding.py   Programs, attributes and result structures as plain JSON, and back
    kinds.py      what an attribute of an operation may be
    upgrades.py   what operations learned after files were written
    artifact.py   `save_artifact`, `load_artifact`: graphs with their weights
    tests.py      recorded test vectors: making them, replaying them

Nothing of a file is executed: operations are looked up by name in the op table, attributes are plain data, and every
Program is checked (operands defined before use, shapes inferred anew) before it is handed out.
"""

from __future__ import annotations

from .artifact import Artifact, Method, load_artifact, load_graph, save_artifact, save_graph

__all__ = ["Artifact", "Method", "load_artifact", "load_graph", "save_artifact", "save_graph"]
