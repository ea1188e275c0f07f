"""One graph: dynamic code captured as a Program with names, run whole, saved, shown.

    capture.py    runs a function on placeholders and gives the Graph
    graph.py      Graph: the Program, what it needs from outside, how it runs
    replay.py     runs a Graph op by op on the tape: gradients through captured code
    control.py    conditions and loops: operations whose attributes are Programs
    structure.py  nested lists and dictionaries of tensors
    passes/       what is done to a graph before it is compiled; patterns and passes of users
    optimised.py  a graph after the passes
    report.py     what a graph is and costs, as text and as an HTML page (costs.py, report_html.py)

The static API, `to_static`, saved models and predictors stand on this; nothing here knows of them.
"""

from __future__ import annotations

from .capture import capture, placeholder
from .graph import Graph, GraphInput

__all__ = ["Graph", "GraphInput", "capture", "placeholder"]
