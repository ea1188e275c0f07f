"""nn.Layer: registration, names, state, modes, hooks, devices and types, printing, copying."""

from __future__ import annotations

import copy
import gc
import pickle
import timeit
import weakref

import numpy as np
import pytest

import proa as paddle
from proa.eager.naming import guard

nn = paddle.nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.bn = nn.BatchNorm1D(2)
        self.register_buffer("buf", paddle.ones([2]))
        self.register_buffer("tmp", paddle.ones([2]), persistable=False)
        self.x = 3
        self.t = paddle.ones([1])
        self.none = None
        self.lst = nn.LayerList([nn.Linear(1, 1), nn.ReLU()])
        self.p = paddle.create_parameter([2], "float32")

    def forward(self, x):
        return self.fc(x)


PARAMETERS = ["p", "fc.weight", "fc.bias", "bn.weight", "bn.bias", "bn._mean", "bn._variance",
              "lst.0.weight", "lst.0.bias"]  # fmt: skip


# ---- names and walking ---------------------------------------------------------------------------


def test_walking_gives_paddles_names_in_paddles_order():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == PARAMETERS
    assert list(net.state_dict()) == ["p", "buf", *PARAMETERS[1:]]
    assert [name for name, _ in net.named_buffers()] == ["buf", "tmp", "t"]
    assert [name for name, _ in net.named_sublayers()] == ["fc", "bn", "lst", "lst.0", "lst.1"]
    assert next(net.named_sublayers(include_self=True)) == ("", net)
    assert [name for name, _ in net.named_sublayers(prefix="q")][:2] == ["q.fc", "q.bn"]
    assert [name for name, _ in net.named_children()] == ["fc", "bn", "lst"]
    assert next(net.named_parameters(prefix="net"))[0] == "net.p"
    assert [name for name, _ in net.named_parameters(include_sublayers=False)] == ["p"]
    assert [type(layer).__name__ for layer in net.children()] == [
        "Linear",
        "BatchNorm1D",
        "LayerList",
    ]
    assert len(net.sublayers()) == 5
    assert len(net.parameters()) == 9
    assert len(net.buffers()) == 3


def test_parameters_are_named_as_in_paddle():
    with guard():
        assert [p.name for p in nn.Linear(3, 2).parameters()] == ["linear_0.w_0", "linear_0.b_0"]
        assert [p.name for p in nn.Linear(3, 2).parameters()] == ["linear_1.w_0", "linear_1.b_0"]
        assert nn.Conv2D(1, 1, 1).weight.name == "conv2d_0.w_0"
        assert [p.name for p in nn.BatchNorm2D(4).parameters()] == [
            "batch_norm2d_0.w_0", "batch_norm2d_0.b_0", "batch_norm2d_0.w_1", "batch_norm2d_0.w_2",
        ]  # fmt: skip
        assert nn.ReLU().full_name() == "re_lu_0"
        assert paddle.create_parameter([2], "float32").name == "create_parameter_0.w_0"
        assert nn.Layer("abc").full_name() == "abc_0"
        assert type("HTTPNet2D", (nn.Layer,), {})().full_name() == "http_net2d_0"


def test_a_shared_parameter_is_walked_once_and_saved_twice():
    net = nn.Layer()
    net.a, net.b = nn.Linear(2, 2), nn.Linear(2, 2)
    net.b.weight = net.a.weight
    assert [name for name, _ in net.named_parameters()] == ["a.weight", "a.bias", "b.bias"]
    assert list(net.state_dict()) == ["a.weight", "a.bias", "b.weight", "b.bias"]
    assert len(list(net.named_parameters(remove_duplicate=False))) == 4


def test_finding_members_by_dotted_name():
    net = Net()
    assert net.get_sublayer("lst.0") is net.lst[0]
    assert net.get_parameter("lst.0.weight") is net.lst[0].weight
    assert net.get_buffer("buf") is net.buf
    net.set_sublayer("lst.0", nn.Tanh())
    assert isinstance(net.lst[0], nn.Tanh)
    for wrong in (lambda: net.get_sublayer("fc.weight"), lambda: net.get_parameter("fc.foo")):
        with pytest.raises(AttributeError):
            wrong()


def test_apply_visits_children_first():
    seen = []
    net = Net()
    assert net.apply(lambda layer: seen.append(type(layer).__name__)) is net
    assert seen == ["Linear", "BatchNorm1D", "Linear", "ReLU", "LayerList", "Net"]


# ---- registration --------------------------------------------------------------------------------


def test_assignment_rules():
    net = Net()
    with pytest.raises(TypeError, match="sublayer 'fc' should be of type Layer or None"):
        net.fc = 3
    with pytest.raises(TypeError, match="parameter 'p' should be of type Parameter or None"):
        net.p = 3
    with pytest.raises(TypeError, match="parameter 'p' should be of type Parameter or None"):
        net.p = paddle.ones([2])
    with pytest.raises(TypeError, match="buffer 'buf' should be of type Tensor or None"):
        net.buf = 3
    net.p = None
    assert net.p is None
    assert "p" in net._parameters
    net.fc = None
    assert net.fc is None
    assert list(net._sub_layers) == ["fc", "bn", "lst"]
    net.fc = nn.Linear(1, 1)
    assert list(net._sub_layers) == ["fc", "bn", "lst"]
    net.buf = paddle.zeros([2])
    assert net._buffers["buf"].tolist() == [0.0, 0.0]
    assert "buf" in net.state_dict()


def test_a_member_may_change_its_kind():
    net = Net()
    net.fc = paddle.create_parameter([1], "float32")
    assert "fc" not in net._sub_layers
    assert "fc" in net._parameters
    net.x = nn.ReLU()
    assert isinstance(net.x, nn.ReLU)
    assert "x" in net._sub_layers


def test_deletion():
    net = Net()
    del net.p, net.bn, net.buf
    assert "p" not in net._parameters
    assert not hasattr(net, "bn")
    assert "buf" not in net.state_dict()
    with pytest.raises(AttributeError):
        del net.nothing
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'nothing'"):
        _ = net.nothing


def test_editing_the_registries_edits_the_attributes():
    """Weight normalisation and the like do this."""
    net = nn.Linear(2, 2)
    weight = net._parameters.pop("weight")
    assert not hasattr(net, "weight")
    net._parameters["weight_v"] = weight
    assert net.weight_v is weight
    del net._parameters["weight_v"]
    assert not hasattr(net, "weight_v")
    net._parameters.update(weight=weight)
    assert net.weight is weight
    net._sub_layers.setdefault("act", nn.ReLU())
    assert isinstance(net.act, nn.ReLU)
    net._sub_layers.clear()
    assert not hasattr(net, "act")


def test_super_init_comes_first():
    class Wrong(nn.Layer):
        def __init__(self):
            self.fc = nn.Linear(1, 1)

    class AlsoWrong(nn.Layer):
        def __init__(self):
            self.w = paddle.create_parameter([1], "float32")

    for cls in (Wrong, AlsoWrong):
        with pytest.raises(ValueError, match=r"super\(\).__init__\(\) should be called first"):
            cls()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda layer: layer.add_parameter("a", 3), TypeError),
        (lambda layer: layer.add_parameter("a.b", None), KeyError),
        (lambda layer: layer.add_parameter("", None), KeyError),
        (lambda layer: layer.add_parameter(3, None), TypeError),
        (lambda layer: layer.add_parameter("training", None), KeyError),
        (lambda layer: layer.add_sublayer("a", 3), TypeError),
        (lambda layer: layer.register_buffer("a", 3), TypeError),
        (lambda layer: layer(1), NotImplementedError),
        (lambda layer: nn.Linear(1, 1).to("nowhere"), ValueError),
        (lambda layer: layer.astype("foo"), TypeError),
    ],
)
def test_bad_calls(call, error):
    with pytest.raises(error):
        call(nn.Layer())


# ---- state ---------------------------------------------------------------------------------------


def test_state_dictionary_holds_the_tensors_themselves():
    net = Net()
    assert net.state_dict()["fc.weight"] is net.fc.weight


def test_set_state_dict_reports_what_did_not_match():
    net = Net()
    state = {name: tensor.numpy() + 1 for name, tensor in net.state_dict().items()}
    del state["p"]
    state["extra"] = np.ones(2)
    before = net.fc.weight.numpy()
    assert net.set_state_dict(state) == (["p"], ["extra"])
    np.testing.assert_allclose(net.fc.weight.numpy(), before + 1)
    state["fc.weight"] = np.ones((3, 3), "float32")
    with pytest.warns(UserWarning, match="fc.weight has the shape"):
        missing, unexpected = net.set_state_dict(state)
    assert (missing, unexpected) == (["p", "fc.weight"], ["fc.weight", "extra"])
    np.testing.assert_allclose(net.fc.weight.numpy(), before + 1)
    state["fc.weight"] = np.ones((2, 2), "float64")
    with pytest.raises(TypeError, match="another data type"):
        net.set_state_dict(state)


def test_set_state_dict_by_the_tensors_own_names():
    net = nn.Linear(2, 2)
    given = {net.weight.name: np.full((2, 2), 7, "float32")}
    missing, unexpected = net.set_state_dict(given, use_structured_name=False)
    assert (missing, unexpected) == ([net.bias.name], [])
    assert net.weight.tolist() == [[7.0, 7.0], [7.0, 7.0]]
    with pytest.raises(RuntimeError, match="missing"):
        net.load_state_dict({"weight": np.ones((2, 2), "float32")})


def test_loaded_tensors_are_not_shared_with_the_source():
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    b.set_state_dict(a.state_dict())
    before = a.weight.numpy()
    with paddle.no_grad():
        b.weight.zero_()
    np.testing.assert_array_equal(a.weight.numpy(), before)


def test_copies():
    net = Net()
    twin = copy.deepcopy(net)
    assert twin.fc.weight is twin._sub_layers["fc"]._parameters["weight"]
    assert twin.fc.weight is not net.fc.weight
    np.testing.assert_array_equal(twin.fc.weight.numpy(), net.fc.weight.numpy())
    twin.p = None
    assert net.p is not None
    shallow = copy.copy(net)
    assert shallow.fc is net.fc
    shallow.fc = nn.ReLU()
    assert isinstance(net.fc, nn.Linear)
    again = pickle.loads(pickle.dumps(nn.Sequential(nn.Linear(2, 2), nn.ReLU())))
    assert again(paddle.ones([1, 2])).shape == [1, 2]
    assert again[0].weight.trainable


def test_a_dropped_layer_goes_at_once():
    gc.collect()
    gc.disable()
    try:
        net = nn.Linear(2, 2)
        reference = weakref.ref(net.weight)
        del net
        assert reference() is None
    finally:
        gc.enable()


# ---- modes, types, hooks -------------------------------------------------------------------------


def test_train_and_eval_reach_all_layers():
    net = Net()
    assert net.eval() is net
    assert not any(layer.training for layer in net.sublayers(include_self=True))
    net.train()
    assert all(layer.training for layer in net.sublayers(include_self=True))


def test_types():
    net = Net()
    weight = net.fc.weight
    values = weight.numpy()
    assert net.to(dtype="float64") is net
    assert net.fc.weight is weight
    assert weight.dtype == paddle.float64
    assert (net.buf.dtype, net.t.dtype, net._dtype) == (paddle.float64, paddle.float64, "float64")
    assert not weight.stop_gradient
    assert net.fc.create_parameter([1]).dtype == paddle.float64
    net.bfloat16()
    assert net.bn._mean.dtype == paddle.bfloat16
    net.float()
    np.testing.assert_allclose(weight.numpy(), values, rtol=1e-2)
    net.float16(excluded_layers=[nn.BatchNorm1D])
    assert (weight.dtype, net.bn.weight.dtype) == (paddle.float16, paddle.float32)
    counts = nn.Layer()
    counts.register_buffer("n", paddle.to_tensor([1]))
    assert counts.half().n.dtype == paddle.int64


def test_requires_grad_and_gradients():
    net = nn.Linear(2, 2)
    net(paddle.ones([1, 2])).sum().backward()
    net.clear_gradients()
    assert net.weight.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    net.zero_grad()
    assert net.weight.grad is None
    net.requires_grad_(False)
    assert net.weight.stop_gradient
    assert not net.weight.trainable
    net.weight.trainable = True
    assert not net.weight.stop_gradient


def test_hooks():
    net = nn.Linear(2, 2)
    x = paddle.ones([1, 2])
    plain = net(x).numpy()
    order = []
    first = net.register_forward_pre_hook(lambda layer, inputs: order.append("pre"))
    second = net.register_forward_post_hook(lambda layer, inputs, output: output * 2)
    third = net.register_forward_pre_hook(
        lambda layer, inputs: (order.append("early"), (inputs[0] * 0,))[1], prepend=True
    )
    np.testing.assert_allclose(net(x).numpy(), 2 * net.bias.numpy()[None], rtol=1e-6)
    assert order == ["early", "pre"]
    third.remove()
    np.testing.assert_allclose(net(x).numpy(), 2 * plain, rtol=1e-6)
    first.remove()
    second.remove()
    second.remove()
    np.testing.assert_array_equal(net(x).numpy(), plain)


def test_hooks_with_keywords():
    class Scaled(nn.Layer):
        def forward(self, x, scale=1.0):
            return x * scale

    layer = Scaled()
    layer.register_forward_pre_hook(
        lambda layer, inputs, kwargs: (inputs, {"scale": kwargs["scale"] + 1}), with_kwargs=True
    )
    layer.register_forward_hook(lambda layer, inputs, kwargs, out: out + kwargs["scale"], with_kwargs=True)
    assert layer(paddle.ones([1]), scale=2.0).item() == 6.0


def test_calling_costs_little():
    class Empty(nn.Layer):
        def __init__(self):
            super().__init__()
            self.inner = nn.Identity()
            self.weight = self.create_parameter([1])

        def forward(self, x):
            _ = self.weight
            return self.inner(x)

    layer = Empty()
    best = min(timeit.repeat(lambda: layer(1), number=2000, repeat=5)) / 2000
    assert best < 10e-6  # about one microsecond on a quiet machine


# ---- printing ------------------------------------------------------------------------------------


def test_printing_is_paddles():
    assert repr(Net()) == (
        "Net(\n"
        "  (fc): Linear(in_features=2, out_features=2, dtype=float32)\n"
        "  (bn): BatchNorm1D(num_features=2, momentum=0.9, epsilon=1e-05, data_format=NCL)\n"
        "  (lst): LayerList(\n"
        "    (0): Linear(in_features=1, out_features=1, dtype=float32)\n"
        "    (1): ReLU()\n"
        "  )\n"
        ")"
    )


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (lambda: nn.LayerNorm([3, 4]), "LayerNorm(normalized_shape=[3, 4], epsilon=1e-05)"),
        (lambda: nn.GroupNorm(2, 4), "GroupNorm(num_groups=2, num_channels=4, epsilon=1e-05)"),
        (lambda: nn.InstanceNorm2D(3), "InstanceNorm2D(num_features=3, epsilon=1e-05)"),
        (
            lambda: nn.Conv2D(3, 4, 3, stride=2, padding=1, dilation=2),
            "Conv2D(3, 4, kernel_size=[3, 3], stride=[2, 2], padding=1, dilation=[2, 2], data_format=NCHW)",
        ),
        (lambda: nn.Conv1D(1, 2, 3), "Conv1D(1, 2, kernel_size=[3], data_format=NCL)"),
        (
            lambda: nn.Conv2D(4, 4, [3, 2], padding=[1, 1], groups=2),
            "Conv2D(4, 4, kernel_size=[3, 2], padding=[1, 1], groups=2, data_format=NCHW)",
        ),
        (
            lambda: nn.Conv2DTranspose(3, 4, 3),
            "Conv2DTranspose(3, 4, kernel_size=[3, 3], data_format=NCHW)",
        ),
        (
            lambda: nn.Dropout(0.3),
            "Dropout(p=0.3, axis=None, mode=upscale_in_train, inplace=False)",
        ),
        (
            lambda: nn.Embedding(4, 3, padding_idx=1),
            "Embedding(4, 3, padding_idx=1, sparse=False, scale_grad_by_freq=False)",
        ),
        (lambda: nn.MaxPool2D(2), "MaxPool2D(kernel_size=2, stride=None, padding=0)"),
        (lambda: nn.AdaptiveAvgPool2D(1), "AdaptiveAvgPool2D(output_size=1)"),
        (lambda: nn.AdaptiveMaxPool2D(2), "AdaptiveMaxPool2D(output_size=2, return_mask=False)"),
        (lambda: nn.Flatten(), "Flatten()"),
        (lambda: nn.GELU(), "GELU(approximate=False)"),
        (lambda: nn.Softmax(), "Softmax(axis=-1)"),
        (lambda: nn.LeakyReLU(), "LeakyReLU(negative_slope=0.01)"),
        (lambda: nn.ReLU(name="a"), "ReLU(name=a)"),
        (lambda: nn.CrossEntropyLoss(), "CrossEntropyLoss()"),
        (lambda: nn.BatchNorm2D(4), "BatchNorm2D(num_features=4, momentum=0.9, epsilon=1e-05)"),
        (lambda: nn.PReLU(), "PReLU(num_parameters=1, data_format=NCHW, init=0.25, dtype=float32)"),
        (lambda: nn.Softplus(), "Softplus(beta=1, threshold=20)"),
        (lambda: nn.Silu(), "Silu(inplace=False)"),
        (lambda: nn.Identity(), "Identity()"),
    ],
)
def test_extra_repr_is_paddles(layer, text):
    assert repr(layer()) == text


def test_a_parameter_prints_as_one():
    text = repr(paddle.create_parameter([1], "float32", attr=nn.initializer.Constant(2.0)))
    assert text.startswith("Parameter containing:\nTensor(shape=[1], dtype=float32")
    assert "stop_gradient=False" in text


def test_layers_follow_the_default_type():
    paddle.set_default_dtype("float64")
    try:
        layers = [
            nn.Linear(1, 1),
            nn.Conv2D(1, 1, 1),
            nn.BatchNorm1D(1),
            nn.LayerNorm(1),
            nn.PReLU(),
        ]
        layers += [nn.Embedding(1, 1), nn.GroupNorm(1, 1), nn.InstanceNorm1D(1)]
        assert {p.dtype.name for layer in layers for p in layer.parameters()} == {"float64"}
    finally:
        paddle.set_default_dtype("float32")


def test_a_library_may_put_another_to_before_paddles(monkeypatch):
    """As ppdiffusers does."""
    calls = []

    def to(self=None, device=None, dtype=None, blocking=None):
        calls.append(dtype)
        return self._to_impl(
            device=device, dtype=dtype, blocking=blocking, include_sublayers=True, floating_only=True
        )  # fmt: skip

    monkeypatch.setattr(nn.Layer, "to", to)
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1D(2))
    assert model.to(dtype="float64") is model
    assert {value.dtype for value in model.state_dict().values()} == {paddle.float64}
    assert calls == ["float64"]
    model._to_impl(dtype="float32", include_sublayers=False)
    assert {value.dtype for value in model.state_dict().values()} == {paddle.float64}
    model[0]._to_impl(dtype="float32", include_sublayers=False)
    assert model[0].weight.dtype == paddle.float32


def test_load_state_dict_says_what_did_not_match() -> None:
    # The texts are those of Paddle 3.3.1.
    layer = nn.Linear(2, 2)
    matched = layer.load_state_dict(layer.state_dict())
    assert repr(matched) == str(matched) == "<All keys matched successfully>"
    assert matched == ([], [])
    with pytest.warns(UserWarning, match="bias is not in the state dictionary"):
        partly = layer.load_state_dict({"weight": layer.weight, "other": layer.weight}, strict=False)
    missing, unexpected = partly
    assert (missing, unexpected) == (partly.missing_keys, partly.unexpected_keys) == (["bias"], ["other"])
    assert repr(partly) == "_IncompatibleKeys(missing_keys=['bias'], unexpected_keys=['other'])"


def test_add_module_returns_nothing() -> None:
    layer = nn.Layer()
    assert layer.add_module("inner", nn.Linear(1, 1)) is None
    assert isinstance(layer.inner, nn.Linear)
    assert isinstance(layer.add_sublayer("other", nn.Linear(1, 1)), nn.Linear)
