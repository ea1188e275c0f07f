# Written by `python -m tools.stubs`; changes made by hand are lost.
"""`paddle.geometric`: functions of the package that are exported here (collected at import)."""

from proa.ops.graph.messages import send_u_recv as send_u_recv
from proa.ops.graph.messages import send_ue_recv as send_ue_recv
from proa.ops.graph.messages import send_uv as send_uv
from proa.ops.graph.reindex import reindex_graph as reindex_graph
from proa.ops.graph.reindex import reindex_heter_graph as reindex_heter_graph
from proa.ops.graph.sampling import sample_neighbors as sample_neighbors
from proa.ops.graph.sampling import weighted_sample_neighbors as weighted_sample_neighbors
from proa.ops.graph.segments import segment_max as segment_max
from proa.ops.graph.segments import segment_mean as segment_mean
from proa.ops.graph.segments import segment_min as segment_min
from proa.ops.graph.segments import segment_sum as segment_sum
