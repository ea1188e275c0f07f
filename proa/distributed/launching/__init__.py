"""Starting the processes of a job.

options.py    what `python -m paddle.distributed.launch` (and `proa launch`) understands
workers.py    the processes of one machine: started, watched, stopped; none is left behind
rounds.py     `launch`: a job is run, and run again where a process failed
servers.py    the same with table servers beside the trainers
spawning.py   `spawn`: processes for a function of the program at hand

A launcher talks to nobody. Where a process fails on another machine, those here lose their connection to it and fail as
well, so every launcher sees it and begins the next round; each round meets at a port of its own.
"""

from __future__ import annotations

from .rounds import launch
from .spawning import SpawnContext, spawn

__all__ = ["SpawnContext", "launch", "spawn"]
