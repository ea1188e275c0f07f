"""paddle.flops: Paddle 3.3.1's numbers (its own call fails with NumPy 2 unless 1-element arrays become integers)."""

from __future__ import annotations

import pytest

import proa as paddle
from proa import nn


class LeNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(6, 16, 5), nn.BatchNorm2D(16),
            nn.AvgPool2D(2),
        )  # fmt: skip
        self.classifier = nn.Sequential(nn.Linear(400, 120), nn.Linear(120, 10))

    def forward(self, x):
        return self.classifier(paddle.flatten(self.features(x), 1))


def test_a_network_and_its_table(capsys):
    network = LeNet()
    assert paddle.flops(network, [1, 1, 28, 28]) == 341440
    lines = capsys.readouterr().out.splitlines()
    assert (
        "Cannot find suitable count function for <class 'proa.nn.pooling.MaxPool2D'>. Treat it as zero FLOPs." in lines
    )
    assert lines[-1] == "Total Flops: 341440     Total Params: 51870"
    assert len(lines) == 7
    assert paddle.flops(network, [4, 1, 28, 28], print_detail=True) == 1365760
    text = capsys.readouterr().out
    names = [layer.full_name() for layer in network.sublayers() if not isinstance(layer, nn.Sequential)]
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]
    assert [cell.strip() for cell in rows[0]] == ["Layer Name", "Input Shape", "Output Shape", "Params", "Flops"]
    assert [row[0].strip() for row in rows[1:]] == names
    assert [int(row[3]) for row in rows[1:]] == [60, 0, 0, 2416, 64, 0, 48120, 1210]
    assert [int(row[4]) for row in rows[1:]] == [188160, 0, 0, 966400, 12800, 1600, 192000, 4800]
    assert "|  [4, 1, 28, 28] |  [4, 6, 28, 28] |   60   | 188160 |\n" in text  # as the original centres
    assert network.training
    assert "total_ops" not in network.features[0]._buffers
    assert list(network.state_dict()) == list(LeNet().state_dict())


@pytest.mark.parametrize(
    ("layer", "shape", "count"),
    [  # observed in Paddle, each in a Sequential
        (nn.Conv1D(2, 4, 3), [2, 2, 9], 392),
        (nn.Conv2D(4, 4, 3, groups=2, bias_attr=False), [2, 4, 9, 9], 7056),
        (nn.Conv3D(2, 4, 3), [1, 2, 5, 5, 5], 5940),
        (nn.Conv1DTranspose(2, 4, 3), [2, 2, 9], 616),
        (nn.Conv2DTranspose(4, 4, 3, groups=2), [2, 4, 9, 9], 18392),
        (nn.Conv3DTranspose(2, 4, 3), [1, 2, 5, 5, 5], 75460),
        (nn.Linear(4, 5), [2, 3, 4], 120),
        (nn.BatchNorm2D(3), [2, 3, 4, 4], 192),
        (nn.BatchNorm(3), [2, 3, 4, 4], 192),
        (nn.BatchNorm1D(3), [2, 3, 4], 0),
        (nn.LayerNorm(4), [2, 3, 4], 0),
        (nn.ReLU(), [2, 3], 0),
        (nn.LeakyReLU(), [2, 3], 6),
        (nn.Softmax(), [2, 3], 0),
        (nn.AvgPool1D(2), [2, 3, 8], 24),
        (nn.AvgPool3D(2), [2, 3, 8, 8, 8], 384),
        (nn.AdaptiveAvgPool1D(2), [2, 3, 8], 60),
        (nn.AdaptiveAvgPool2D((3, None)), [2, 3, 9, 8], 576),
        (nn.AdaptiveAvgPool2D(3), [2, 3, 8, 8], 270),
        (nn.AdaptiveAvgPool3D(2), [2, 3, 8, 8, 8], 3120),
        (nn.LSTMCell(4, 4), [2, 4], 0),
    ],
)  # fmt: skip
def test_layers(layer, shape, count):
    assert paddle.flops(nn.Sequential(layer), shape) == count


def test_own_rules_and_layers_used_twice(capsys):
    class Twice(nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear, self.double, self.unused = nn.Linear(4, 4), Double(), nn.Linear(2, 2)

        def forward(self, x):
            return self.linear(self.double(self.linear(x)))

    class Double(nn.Layer):
        def forward(self, x):
            return x * 2

    def rule(layer, inputs, output):
        assert isinstance(inputs, tuple)
        assert output.shape == [2, 4]
        layer.total_ops += paddle.to_tensor([100])

    assert paddle.flops(Twice(), [2, 4], custom_ops={Double: rule}, print_detail=True) == 2 * 32 + 100
    text = capsys.readouterr().out
    assert "Customize Function has been applied to <class" in text
    assert "Total Params: 20\n" in text
    assert text.count("linear_") == 1


def test_a_layer_alone_counts():
    assert paddle.flops(nn.Linear(4, 5), [2, 4]) == 40  # 0 in Paddle, which looks at the layers inside only


def test_refused():
    with pytest.warns(UserWarning, match="net must be a Layer"):
        assert paddle.flops("x", [1]) == -1
    for size in (3, [0, 4], ["a"]):
        with pytest.raises(ValueError, match="list of positive numbers"):
            paddle.flops(nn.Linear(4, 5), size)
    with pytest.raises(TypeError, match="custom_ops must be a dictionary"):
        paddle.flops(nn.Linear(4, 5), [2, 4], custom_ops=3)  # type: ignore[arg-type]
