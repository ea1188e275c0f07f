"""pgl: GCN, GAT, GraphSAGE and GIN learn the labels of a small graph's nodes."""

import numpy as np
import paddle
import pgl
from common import FLOAT, report, survives_saving, train

paddle.seed(1)
random = np.random.default_rng(0)
edges = [(int(a), int(b)) for a, b in random.integers(0, 12, (40, 2))]
features = random.normal(size=(12, 8)).astype(FLOAT)
graph = pgl.Graph(num_nodes=12, edges=edges, node_feat={"words": features}).tensor()
labels = paddle.to_tensor(random.integers(0, 3, 12))


class Net(paddle.nn.Layer):
    """Two layers of a kind."""

    def __init__(self, kind):
        super().__init__()
        layers = {
            "GCN": lambda i, o: pgl.nn.GCNConv(i, o),
            "GAT": lambda i, o: pgl.nn.GATConv(i, o, feat_drop=0, attn_drop=0, num_heads=1),
            "SAGE": lambda i, o: pgl.nn.GraphSageConv(i, o), "GIN": lambda i, o: pgl.nn.GINConv(i, o),
        }  # fmt: skip
        self.first, self.second = layers[kind](8, 16), layers[kind](16, 3)

    def forward(self):
        return self.second(graph, paddle.nn.functional.relu(self.first(graph, graph.node_feat["words"])))


losses = {}
for kind in ("GCN", "GAT", "SAGE", "GIN"):
    model = Net(kind)
    optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters())
    losses[kind] = train(
        kind, model, optimizer, lambda model=model: paddle.nn.functional.cross_entropy(model(), labels)
    )
    survives_saving(model, Net(kind), lambda one: one().numpy())
report(**losses)
