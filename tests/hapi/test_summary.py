"""paddle.summary: Paddle 3.3.1's tables, character by character (but for the layers' running numbers)."""

from __future__ import annotations

import re

import pytest

import proa as paddle
from proa import nn
from proa.static import InputSpec


class Cnn(nn.Layer):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, stride=1, padding=1), nn.BatchNorm2D(6), nn.ReLU(), nn.MaxPool2D(2, 2)
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(6 * 14 * 14, 10))
        self.softmax = nn.Softmax()

    def forward(self, x):
        return self.softmax(self.classifier(self.features(x)))


CNN_TABLE = """\
---------------------------------------------------------------------------
 Layer (type)       Input Shape          Output Shape         Param #    |
===========================================================================
   Conv2D-#       [[1, 1, 28, 28]]      [1, 6, 28, 28]          60       |
 BatchNorm2D-#    [[1, 6, 28, 28]]      [1, 6, 28, 28]          24       |
    ReLU-#        [[1, 6, 28, 28]]      [1, 6, 28, 28]           0       |
  MaxPool2D-#     [[1, 6, 28, 28]]      [1, 6, 14, 14]           0       |
   Flatten-#      [[1, 6, 14, 14]]        [1, 1176]              0       |
   Linear-#         [[1, 1176]]            [1, 10]            11,770     |
   Softmax-#         [[1, 10]]             [1, 10]               0       |
===========================================================================
Total params: 11,854
Trainable params: 11,842
Non-trainable params: 12
---------------------------------------------------------------------------
Input size (MB): 0.00
Forward/backward pass size (MB): 0.13
Params size (MB): 0.05
Estimated Total Size (MB): 0.17
---------------------------------------------------------------------------

""".replace("|\n", "\n")  # a bar marks blanks at the end of a line


def table(capsys):
    """The printed text with `#` for the layers' running numbers, which depend on what was made before."""
    return re.sub(r"^ *(\w+)-\d+ *(?=\[)", _with_mark, capsys.readouterr().out, flags=re.MULTILINE)


def _with_mark(match):
    before_the_next_cell = len(match[0]) - 15
    return f"{match[1] + '-#':^15}" + " " * before_the_next_cell


@pytest.mark.parametrize("size", [(1, 1, 28, 28), (None, 1, 28, 28), (-1, 1, 28, 28), InputSpec([None, 1, 28, 28])])
def test_a_convolutional_network(capsys, size):
    network = Cnn()
    assert paddle.summary(network, size) == {"total_params": 11854, "trainable_params": 11842}
    assert table(capsys) == CNN_TABLE
    assert network.training
    assert network.features[1].training


def rows(capsys):
    """The rows between the double lines, cells without blanks around them and without running numbers."""
    body = capsys.readouterr().out.split("\n")
    first, last = (n for n, line in enumerate(body) if line.startswith("==="))
    lines = [re.sub(r"-\d+", "", line, count=1) for line in body[first + 1 : last]]
    return [tuple(re.split(r"\s{2,}", line.strip())) for line in lines]


def test_a_recurrent_network(capsys):
    class Tagger(nn.Layer):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(10, 6)
            self.lstm = nn.LSTM(6, 8, num_layers=2, direction="bidirect")
            self.out = nn.Linear(16, 2)

        def forward(self, x):
            return self.out(self.lstm(self.embedding(x))[0])

    assert paddle.summary(Tagger(), (3, 5), dtypes="int64") == {"total_params": 2782, "trainable_params": 2782}
    assert rows(capsys) == [
        ("Embedding", "[[3, 5]]", "[3, 5, 6]", "60"),
        ("LSTM", "[[3, 5, 6]]", "[[3, 5, 16], [[4, 3, 8], [4, 3, 8]]]", "2,688"),
        ("Linear", "[[3, 5, 16]]", "[3, 5, 2]", "34"),
    ]


def test_columns_grow_with_their_longest_cell(capsys):
    paddle.summary(nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2), (1, 5, 8))
    text = capsys.readouterr().out
    assert "\n" + "=" * 104 + "\n" in text
    assert "Total params: 1,200" in text
    assert re.search(
        r"\n  MultiHeadAttention-\d+ +\[\[1, 5, 8\], \[1, 5, 8\], \[1, 5, 8\], None\]      \[1, 5, 8\]  ", text
    )


def test_nested_networks_and_shared_layers(capsys):
    class Shared(nn.Layer):
        def __init__(self):
            super().__init__()
            self.inner = Cnn()
            self.first = nn.Linear(10, 10)
            self.again = self.first

        def forward(self, x):
            return self.again(self.first(self.inner(x))[:1])

    assert paddle.summary(Shared(), (2, 1, 28, 28))["total_params"] == 11854 + 110
    found = rows(capsys)
    assert [row[0] for row in found] == [
        "Conv2D", "BatchNorm2D", "ReLU", "MaxPool2D", "Flatten", "Linear", "Softmax", "Cnn", "Linear",
    ]  # fmt: skip
    assert found[-2] == ("Cnn", "[[2, 1, 28, 28]]", "[2, 10]", "0")
    assert found[-1] == ("Linear", "[[1, 10]]", "[1, 10]", "110")  # one row, of its last call


def test_frozen_parameters(capsys):
    network = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
    network[0].weight.stop_gradient = True
    assert paddle.summary(network, (2, 3)) == {"total_params": 16, "trainable_params": 7}
    assert "Non-trainable params: 9\n" in capsys.readouterr().out


class Two(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(3, 4)

    def forward(self, x, y):
        return self.first(x) + self.second(y)


class Listed(Two):
    def forward(self, inputs):
        return super().forward(*inputs) if isinstance(inputs, (list, tuple)) else super().forward(**inputs)


@pytest.mark.parametrize("network", [Two, Listed])
def test_several_inputs(capsys, network):
    x, y = paddle.ones([2, 4]), paddle.ones([2, 3])
    for example in ([x, y], (x, y), {"x": x, "y": y}):
        assert paddle.summary(network(), input=example)["total_params"] == 36
    if network is Two:
        assert paddle.summary(Two(), [(2, 4), (2, 3)])["total_params"] == 36
    assert rows_of_last(capsys) == [("Linear", "[[2, 4]]", "[2, 4]", "20"), ("Linear", "[[2, 3]]", "[2, 4]", "16")]


def rows_of_last(capsys):
    lines = capsys.readouterr().out.split("\n")
    marks = [n for n, line in enumerate(lines) if line.startswith("===")]
    found = [re.sub(r"-\d+", "", line, count=1) for line in lines[marks[-2] + 1 : marks[-1]]]
    return [tuple(re.split(r"\s{2,}", line.strip())) for line in found]


def test_a_layer_alone_and_a_number_as_size(capsys):
    assert paddle.summary(nn.Linear(2, 3), 2) == {"total_params": 9, "trainable_params": 9}
    assert rows(capsys) == [("Linear", "[[2]]", "[3]", "9")]


def test_nothing_is_left_behind():
    network, state = Cnn(), paddle.get_rng_state()
    network.features[1].eval()
    before = network.features[1]._mean.numpy().copy()
    paddle.summary(network, (4, 1, 28, 28))
    assert network.training
    assert not network.features[1].training
    assert (network.features[1]._mean.numpy() == before).all()
    assert paddle.get_rng_state() == state
    assert not network.features[0]._forward_post_hooks


def test_refused(capsys):
    network = nn.Linear(2, 3)
    for size, message in [
        ((0, 2), "must be positive"), ((-2, 2), "must be positive"), ((None, None), "only one dimension"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            paddle.summary(network, size)
    with pytest.raises(ValueError, match="cannot both be None"):
        paddle.summary(network)
    with pytest.raises(TypeError, match="net must be a Layer"):
        paddle.summary("x", (1,))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a shape or a list of shapes"):
        paddle.summary(network, "ab")
    with pytest.raises(ValueError, match="shape of the input is not known"):
        paddle.Model(network).summary()
    assert paddle.Model(network, InputSpec([None, 2], name="x")).summary()["total_params"] == 9
    assert "Linear" in capsys.readouterr().out
