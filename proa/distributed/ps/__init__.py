"""Parameter servers: embeddings of more features than a worker's memory holds, for recommendation.

embedding.py     `SparseEmbedding`, a layer whose rows come from the servers; what an optimiser's step sends back
programs.py      the same in static programs; dense.py: a model's own parameters on the servers
communicator.py  when updates are sent: at once, in the background, or as differences now and then (geo)
client.py        a worker's questions, divided among the servers, sent until they are answered
cluster.py       the servers as actors of Ray
server.py        one server: its log, its recovery
table.py         rows of features; rules.py: their optimisers; index.py: where they are
store.py         rows on disk; log.py, records.py: updates before they are acknowledged
config.py        what a table is like; which features take part
"""

from __future__ import annotations

from .config import CountFilterEntry, ProbabilityEntry, ShowClickEntry, TableConfig

__all__ = ["CountFilterEntry", "ProbabilityEntry", "ShowClickEntry", "TableConfig"]
