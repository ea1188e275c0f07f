"""Mixtures of experts whose experts are divided among processes.

gates.py      which experts a token goes to
routing.py    counting, capacities, and the way of tokens to experts and back
layer.py      MoELayer
clipping.py   the norm of gradients, experts counted where they are
"""

from __future__ import annotations

from .clipping import ClipGradForMOEByGlobalNorm
from .gates import BaseGate, GShardGate, NaiveGate, SwitchGate
from .layer import MoELayer

__all__ = ["BaseGate", "ClipGradForMOEByGlobalNorm", "GShardGate", "MoELayer", "NaiveGate", "SwitchGate"]
