"""PyTorch's programs in. What comes out of torch is plain data, so most of this runs without it; the rest says so."""

from __future__ import annotations

import json

import numpy as np
import pytest

import proa as paddle
from proa.convert import UncoveredOperators, convert, from_torch
from proa.convert.torch.loading import layer_of
from proa.convert.torch.operators.promotion import promoted
from proa.convert.torch.program import Input, Node, Part, Program, Ref
from proa.convert.torch.registry import READERS, find_reader


def program(nodes, inputs, results, weights=None, **more):
    weights = weights or {}
    part = Part([*weights, *(one.name for one in inputs)], nodes, [Ref(name) for name in results])
    return Program(inputs, weights, set(weights), {name: name for name in weights}, {}, part, results, **more)


def test_a_program_by_hand():
    generator = np.random.default_rng(0)
    weight = generator.normal(size=(3, 4)).astype("float32")
    nodes = [
        Node("size", "aten.sym_size.int", [Ref("x"), 0], {}),
        Node("double", "operator.mul", [Ref("size"), 2], {}),
        Node("flat", "aten.view.default", [Ref("x"), [Ref("double"), 4]], {}),
        Node("linear", "aten.linear.default", [Ref("flat"), Ref("weight")], {}),
        Node("parts", "aten.split.Tensor", [Ref("linear"), 2, 1], {}),
        Node("first", "operator.getitem", [Ref("parts"), 0], {}),
        Node("top", "aten.max.dim", [Ref("first"), 1], {}),
        Node("value", "operator.getitem", [Ref("top"), 0], {}),
        Node("place", "operator.getitem", [Ref("top"), 1], {}),
    ]
    layer = layer_of(
        program(nodes, [Input("x", [-1, 2, 4], "float32")], ["value", "place"], {"weight": weight}), "model"
    )
    for batch in (2, 5):
        x = generator.normal(size=(batch, 2, 4)).astype("float32")
        wanted = (x.reshape(-1, 4) @ weight.T)[:, :2]
        value, place = layer(x)
        np.testing.assert_allclose(value.numpy(), wanted.max(1), rtol=1e-5)
        np.testing.assert_array_equal(place.numpy(), wanted.argmax(1))
    loss = layer(x)[0].sum()
    loss.backward()
    assert layer.state_dict()["weight"].grad is not None


def test_unknown_sizes_stay_when_it_is_saved(tmp_path):
    nodes = [
        Node("size", "aten.sym_size.int", [Ref("x"), 0], {}),
        Node("row", "aten.arange.default", [Ref("size")], {}),
        Node("sum", "aten.add.Tensor", [Ref("x"), Ref("row")], {}),
    ]
    layer = layer_of(program(nodes, [Input("x", [-1], "float32")], ["sum"]), "model")
    paddle.jit.save(layer, str(tmp_path / "m.proa"), input_spec=layer.input_spec)
    loaded = paddle.jit.load(str(tmp_path / "m.proa"))
    for count in (2, 7):
        np.testing.assert_array_equal(loaded(paddle.zeros([count])).numpy(), np.arange(count))


def branches():
    then = Part(["a"], [Node("t", "aten.mul.Tensor", [Ref("a"), 2], {})], [Ref("t")])
    otherwise = Part(["b"], [Node("o", "aten.neg.default", [Ref("b")], {})], [Ref("o")])
    return [
        Node("sum", "aten.sum.default", [Ref("x")], {}),
        Node("test", "aten.gt.Scalar", [Ref("sum"), 0], {}),
        Node("cond", "higher_order.cond", [Ref("test"), then, otherwise, [Ref("x")]], {}),
        Node("y", "operator.getitem", [Ref("cond"), 0], {}),
    ]


def test_conditions_are_in_the_graph():
    layer = layer_of(program(branches(), [Input("x", [2], "float32")], ["y"]), "model")
    np.testing.assert_array_equal(layer(np.float32([1, 2])).numpy(), [2, 4])
    np.testing.assert_array_equal(layer(np.float32([-1, -2])).numpy(), [1, 2])
    assert layer.reason is None


def test_loops_are_in_the_graph():
    test = Part(["i", "v"], [Node("less", "aten.lt.Scalar", [Ref("i"), 5], {})], [Ref("less")])
    body = Part(
        ["j", "w"],
        [Node("next", "aten.add.Tensor", [Ref("j"), 1], {}), Node("grown", "aten.mul.Tensor", [Ref("w"), 2], {})],
        [Ref("next"), Ref("grown")],
    )
    nodes = [
        Node("zero", "aten.full.default", [[], 0], {"dtype": "int64"}),
        Node("loop", "higher_order.while_loop", [test, body, [Ref("zero"), Ref("x")], []], {}),
        Node("y", "operator.getitem", [Ref("loop"), 1], {}),
    ]
    layer = layer_of(program(nodes, [Input("x", [2], "float32")], ["y"]), "model")
    np.testing.assert_array_equal(layer(np.float32([1, 3])).numpy(), [32, 96])


def test_operators_that_are_missing_are_named_with_their_modules():
    nodes = [Node("y", "aten.mystery.default", [Ref("x")], {}, "encoder.layer.3")]
    with pytest.raises(UncoveredOperators, match=r"aten\.mystery\.default \(1 times, first at 'encoder\.layer\.3'\)"):
        layer_of(program(nodes, [Input("x", [2], "float32")], ["y"]), "model")
    inner = Part(["a"], [Node("z", "aten.mystery.default", [Ref("a")], {}, "deep")], [Ref("z")])
    nested = [Node("c", "higher_order.cond", [True, inner, inner, [Ref("x")]], {})]
    with pytest.raises(UncoveredOperators, match="2 times, first at 'deep'"):
        layer_of(program(nested, [Input("x", [2], "float32")], ["c"]), "model")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("float32[2]", "int64[2]", "float32"), ("float16[2]", "float32[]", "float16"), ("int32[2]", "float32[]", "float32"),
        ("int32[2]", "float64[]", "float32"), ("uint8[2]", "int8[2]", "int16"), ("bool[2]", "int32[]", "int32"),
        ("bfloat16[2]", "float16[2]", "float32"), ("bfloat16[2]", "float32[2]", "float32"), ("int64[]", "int32[2]", "int32"),
        ("float32[2]", 2, "float32"), ("int32[2]", 2.5, "float32"), ("bool[2]", 1, "int64"), ("float16[2]", 1.5, "float16"),
    ],
)  # fmt: skip
def test_types_are_promoted_as_torch_does(first, second, expected):
    """What torch.result_type says (2.13)."""

    def made(text):
        if not isinstance(text, str):
            return text
        name, _, shape = text.removesuffix("]").partition("[")
        return paddle.ones([int(shape)] if shape else [], "float32").astype(name)

    x, y = promoted(made(first), made(second))
    assert x.dtype.name == expected
    assert not isinstance(y, paddle.Tensor) or y.dtype.name == expected


def test_forms_of_an_operator_are_found_before_the_operator():
    assert find_reader("aten.max.dim") is READERS["max.dim"]
    assert find_reader("aten.max.default") is READERS["max"]
    assert find_reader("aten.max.other") is READERS["max.other"]
    assert find_reader("aten.nothing.default") is None


def test_without_torch_the_error_says_what_to_install(monkeypatch, tmp_path):
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "model.pt2").write_bytes(b"PK")
    with pytest.raises(ImportError, match="pip install torch"):
        from_torch(tmp_path / "model.pt2")


# ---- with torch ------------------------------------------------------------------------------------------------------


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is no dependency of the tests; see tests/convert/torch_models.py")


def test_a_module_with_everything_that_export_makes_awkward(torch, tmp_path):
    """Changes in place, a buffer, tied weights, a number among the inputs, a nested result."""
    from torch import nn

    class Awkward(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(11, 6)
            self.head = nn.Linear(6, 11, bias=False)
            self.head.weight = self.words.weight
            self.register_buffer("shift", torch.arange(6.0))

        def forward(self, words, factor):
            x = self.words(words) + self.shift
            x[:, 0] = 0
            x.mul_(factor).clamp_(min=-1)
            return {"logits": self.head(x), "more": (x.sum(-1), None)}

    torch.manual_seed(0)
    model, words = Awkward().eval(), torch.randint(0, 11, (2, 5))
    layer = from_torch(torch.export.export(model, (words, 3)))
    logits, total = layer(words.numpy())
    wanted = model(words, 3)
    np.testing.assert_allclose(logits.numpy(), wanted["logits"].detach().numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(total.numpy(), wanted["more"][0].detach().numpy(), rtol=1e-4, atol=1e-5)
    assert [name for name, _ in layer.named_parameters()] == ["words.weight"]


def test_gradients_beside_torch(torch):
    from torch import nn

    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv1d(2, 3, 3), nn.GELU(), nn.Flatten(), nn.Linear(12, 2)).eval()
    x = torch.randn(4, 2, 6)
    model(x).square().sum().backward()
    layer = from_torch(model, (x,))
    (layer(x.numpy()) ** 2).sum().backward()
    for name, parameter in model.named_parameters():
        np.testing.assert_allclose(layer.state_dict()[name].grad.numpy(), parameter.grad.numpy(), rtol=1e-3, atol=1e-4)


def test_a_program_file_and_its_certificate(torch, tmp_path):
    from torch import nn

    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).eval()
    batch = torch.export.Dim("batch", min=2, max=64)
    exported = torch.export.export(model, (torch.randn(3, 4),), dynamic_shapes=({0: batch},))
    torch.export.save(exported, tmp_path / "model.pt2")
    certificate = convert(tmp_path / "model.pt2")
    assert certificate.agrees
    assert [one[0]["shape"] for one in certificate.inputs] == [[3, 4], [4, 4]]
    written = json.loads((tmp_path / "model-certificate.json").read_text())
    assert written["reference"].startswith("PyTorch")
