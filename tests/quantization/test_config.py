"""`paddle.quantization`: which layers are replaced by what, as Paddle 3.3.1 was seen to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.quantization import PTQ, QAT, BaseObserver, BaseQuanter, QuantConfig, quanter
from proa.quantization.observers import AbsMaxChannelWiseWeightObserver, AbsmaxObserver, GroupWiseWeightObserver
from proa.quantization.quanters import FakeQuanterWithAbsMaxObserver

OBSERVER = AbsmaxObserver(quant_bits=8)


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2D(4)
        self.relu = nn.ReLU()
        self.flat = nn.Flatten()
        self.fc = nn.Linear(4 * 8 * 8, 5)
        self.seq = nn.Sequential(nn.Linear(5, 5), nn.Dropout(0.1), nn.Linear(5, 2))

    def forward(self, x: Any) -> Any:
        return self.seq(self.fc(self.flat(self.relu(self.norm(self.conv(x))))))


def kinds(model: nn.Layer) -> dict[str, str]:
    return {name: type(layer).__name__ for name, layer in model.named_sublayers() if "quanter" not in name}


def images(seed: int = 0, count: int = 2) -> paddle.Tensor:
    return paddle.to_tensor(np.random.default_rng(seed).normal(size=(count, 3, 8, 8)).astype("float32"))


def evaluated(model: nn.Layer) -> nn.Layer:
    model.eval()
    return model


def test_a_global_config_reaches_every_leaf() -> None:
    model = evaluated(Net())
    found = kinds(PTQ(QuantConfig(OBSERVER, OBSERVER)).quantize(model))
    assert {name: kind for name, kind in found.items() if "_observe" not in name} == {
        "conv": "QuantedConv2D", "norm": "ObserveWrapper", "relu": "ObserveWrapper", "flat": "ObserveWrapper",
        "fc": "QuantedLinear", "seq": "Sequential", "seq.0": "QuantedLinear", "seq.1": "ObserveWrapper",
        "seq.2": "QuantedLinear",
    }  # fmt: skip
    assert kinds(model)["conv"] == "Conv2D"  # the model itself is as it was


def test_configs_by_layer_name_and_type() -> None:
    model = evaluated(Net())
    config = QuantConfig(None, None)
    config.add_layer_config([model.fc], activation=OBSERVER, weight=OBSERVER)
    config.add_name_config(model.seq[0].full_name(), weight=OBSERVER)
    config.add_type_config(nn.ReLU, activation=OBSERVER)
    made: Any = PTQ(config).quantize(model)
    found = kinds(made)
    assert (found["conv"], found["norm"], found["relu"], found["fc"]) == (
        "Conv2D", "BatchNorm2D", "ObserveWrapper", "QuantedLinear",
    )  # fmt: skip
    assert made.seq[0].activation_quanter is None
    assert isinstance(made.seq[0].weight_quanter, BaseObserver)
    assert found["seq.2"] == "Linear"


def test_what_is_said_of_a_layer_goes_before_its_type_and_its_parent() -> None:
    model = evaluated(Net())
    config = QuantConfig(OBSERVER, OBSERVER)
    config.add_type_config(nn.Linear)
    config.add_layer_config(model.fc, activation=OBSERVER)
    config.add_layer_config(model.conv)
    made: Any = PTQ(config).quantize(model)
    assert made.fc.activation_quanter is not None
    assert (made.seq[0].activation_quanter, made.seq[0].weight_quanter) == (None, None)
    assert made.conv.activation_quanter is None
    assert "AbsmaxObserver(quant_bits=8)" in config.details()
    inside = QuantConfig(None, None)
    inside.add_layer_config(model.seq, activation=OBSERVER, weight=OBSERVER)
    made = PTQ(inside).quantize(model)
    assert (kinds(made)["seq.2"], kinds(made)["fc"]) == ("QuantedLinear", "Linear")


def test_mappings_and_leaves_of_ones_own() -> None:
    class Twice(nn.Layer):
        def __init__(self, layer: Any, config: Any) -> None:
            super().__init__()
            self.inner = layer

        def forward(self, x: Any) -> Any:
            return self.inner(self.inner(x))

    config = QuantConfig(OBSERVER, OBSERVER)
    config.add_qat_layer_mapping(nn.ReLU, Twice)
    config.add_customized_leaf(nn.Sequential)
    assert config.customized_leaves == [nn.Sequential]
    found = kinds(PTQ(config).quantize(evaluated(Net())))
    assert found["relu"] == "Twice"
    assert found["seq"] == "ObserveWrapper"
    assert found["seq._observed.0"] == "Linear"
    with pytest.raises(AssertionError, match="source must be a subclass"):
        config.add_qat_layer_mapping(int, Twice)  # type: ignore[arg-type]


def test_a_layer_at_two_places_stays_one_and_a_single_layer_is_replaced() -> None:
    shared = nn.Linear(3, 3)
    made: Any = PTQ(QuantConfig(OBSERVER, OBSERVER)).quantize(evaluated(nn.Sequential(shared, nn.ReLU(), shared)))
    assert made[0] is made[2]
    assert type(PTQ(QuantConfig(OBSERVER, OBSERVER)).quantize(evaluated(nn.Linear(2, 2)))).__name__ == "QuantedLinear"


def test_stubs_take_their_own_observer_or_the_configs() -> None:
    class WithStubs(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.quant.Stub(AbsmaxObserver(4)), nn.quant.Stub()

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x))

    made: Any = PTQ(QuantConfig(OBSERVER, OBSERVER)).quantize(evaluated(WithStubs()))
    assert (made.first._observer.bit_length(), made.second._observer.bit_length()) == (4, 8)
    made(paddle.to_tensor([1.0, -2.0]))
    converted = PTQ(QuantConfig(OBSERVER, OBSERVER)).convert(made)
    # 1 is nearest to 4 / 7 of 2, and that to 73 / 127.
    assert converted(paddle.to_tensor([1.0, 0.1])).numpy() == pytest.approx([73 * 2 / 127, 0.0])


def test_quanters_of_ones_own() -> None:
    @quanter("FixedQuanter")
    class FixedQuanterLayer(BaseQuanter):
        def __init__(self, layer: Any, reach: float = 1.0) -> None:
            super().__init__()
            self.reach = reach

        def forward(self, input: Any) -> Any:
            return input

        def scales(self) -> Any:
            return paddle.to_tensor([self.reach])

        def zero_points(self) -> Any:
            return None

        def quant_axis(self) -> int:
            return -1

        def bit_length(self) -> int:
            return 8

    factory = globals()["FixedQuanter"](reach=2.54)
    assert str(factory) == "FixedQuanter(reach=2.54)"
    model: Any = QAT(QuantConfig(factory, None)).quantize(nn.Sequential(nn.Linear(2, 2)))
    model.eval()
    converted: Any = QAT(QuantConfig(factory, None)).convert(model)
    assert converted[0].activation_quanter(paddle.to_tensor([0.031, 9.0])).numpy() == pytest.approx([0.04, 2.54])
    with pytest.raises(TypeError, match="subclass of BaseQuanter"):
        quanter("Nothing")(int)
    with pytest.raises(TypeError, match="name of the factory"):
        quanter(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="abstract"):
        BaseQuanter()  # type: ignore[abstract]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: QAT("config"), TypeError, "must be a QuantConfig"),
        (lambda: QuantConfig(3, None), TypeError, "activation must be an observer"),
        (lambda: QuantConfig(None, None).add_layer_config("x"), TypeError, "must be a Layer"),
        (lambda: QuantConfig(None, None).add_name_config(3), TypeError, "full_name"),
        (lambda: QuantConfig(None, None).add_type_config(int), TypeError, "class of layers"),
        (lambda: PTQ(QuantConfig(OBSERVER, None)).quantize(nn.Linear(2, 2)), AssertionError, "training mode"),
        (lambda: QAT(QuantConfig(OBSERVER, None)).quantize(evaluated(nn.Linear(2, 2))), AssertionError, "evaluation"),
        (lambda: PTQ(QuantConfig(OBSERVER, None)).quantize(3), TypeError, "must be a Layer"),
        (lambda: PTQ(QuantConfig(AbsmaxObserver(9), None)).quantize(evaluated(nn.Linear(2, 2))), ValueError, "2 to 8 bits"),
        (lambda: GroupWiseWeightObserver(4, 3)._instance(None)(paddle.ones([4, 2])), AssertionError, "factor of input"),
    ],
)  # fmt: skip
def test_bad_input(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_what_saw_no_data_is_named_and_stays_float() -> None:
    class Unused(Net):
        def __init__(self) -> None:
            super().__init__()
            self.extra = nn.Linear(3, 3)
            self.table = nn.Embedding(4, 4)

    ptq = PTQ(QuantConfig(OBSERVER, AbsMaxChannelWiseWeightObserver()))
    made = ptq.quantize(evaluated(Unused()))
    with pytest.raises(RuntimeError, match="no observer has seen any data"):
        ptq.convert(made)
    made(images())
    with pytest.warns(UserWarning, match="not quantised: extra, table"):
        converted: Any = ptq.convert(made)
    assert str(converted.extra.weight.dtype).endswith("float32")
    assert converted.extra(paddle.ones([1, 3])).shape == [1, 3]
    assert type(converted.table).__name__ == "Embedding"


def test_indices_are_not_rounded() -> None:
    ptq = PTQ(QuantConfig(OBSERVER, OBSERVER))
    made = ptq.quantize(evaluated(nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 3))))
    indices = paddle.to_tensor([0, 4, 2])
    expected = made(indices).numpy()
    with pytest.warns(UserWarning, match="not quantised: 0"):
        converted = ptq.convert(made)
    np.testing.assert_allclose(converted(indices).numpy(), expected, atol=0.05)


def test_a_broken_model_is_not_converted() -> None:
    ptq = PTQ(QuantConfig(OBSERVER, OBSERVER))
    made = ptq.quantize(evaluated(nn.Sequential(nn.Linear(2, 2))))
    made(paddle.to_tensor([[np.nan, 1.0]]))
    with pytest.raises(ValueError, match="not finite"):
        ptq.convert(made)


def test_training_follows_scales_as_paddle_does() -> None:
    # What Paddle 3.3.1 gave for the same three calls.
    layer = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)._instance(nn.Linear(3, 3))
    seen = [layer(paddle.to_tensor([0.3, -1.0, 2.0]) * (i + 1)).numpy() for i in range(3)]
    np.testing.assert_allclose(seen[0], [0.30045587, -0.9975135, 1.5263158], rtol=1e-6)
    np.testing.assert_allclose(seen[2], [0.9028375, -3.0094583, 3.4745564], rtol=1e-6)
    assert layer._state.numpy() == pytest.approx([3.439])
    layer.eval()
    x = paddle.to_tensor([0.3, -9.0, 2.0], stop_gradient=False)
    out = layer(x)
    np.testing.assert_allclose(out.numpy(), [0.30094582, -3.4745564, 1.9971861], rtol=1e-6)
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [1, 1, 1], rtol=1e-6)
