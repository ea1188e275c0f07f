"""`nn.utils` and `nn.quant`: names and numbers that Paddle 3.3.1 gave, and definitions."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle

nn = paddle.nn
utils, quant = nn.utils, nn.quant


def shapes(layer):
    return {name: list(tensor.shape) for name, tensor in layer.state_dict().items()}


def test_weight_norm_keeps_the_weight_and_trains_its_parts():
    layer = nn.Linear(3, 2)
    before, x = layer.weight.numpy().copy(), paddle.to_tensor([[1.0, -2.0, 0.5]])
    expected = layer(x).numpy()
    utils.weight_norm(layer)
    assert shapes(layer) == {"bias": [2], "weight_v": [3, 2], "weight_g": [3]}
    np.testing.assert_allclose(layer.weight_g.numpy(), np.linalg.norm(before, axis=1), rtol=1e-6)
    for _ in range(4):
        out = layer(x)
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-5)
    out.sum().backward()
    assert (layer.weight_g.grad.shape, layer.weight_v.grad.shape) == ([3], [3, 2])
    utils.remove_weight_norm(layer)
    assert shapes(layer) == {"bias": [2], "weight": [3, 2]}
    np.testing.assert_allclose(layer.weight.numpy(), before, rtol=1e-6)
    with pytest.raises(ValueError, match="no weight norm"):
        utils.remove_weight_norm(layer)


@pytest.mark.parametrize(("dim", "shape"), [(1, [2]), (None, [])])
def test_weight_norm_axes(dim, shape):
    layer = utils.weight_norm(nn.Linear(3, 2), dim=dim)
    assert shapes(layer)["weight_g"] == shape
    with pytest.raises(RuntimeError, match="already"):
        utils.weight_norm(layer)


def test_spectral_norm_bounds_the_largest_singular_value():
    layer = utils.spectral_norm(nn.Linear(3, 2), n_power_iterations=3)
    assert shapes(layer) == {"bias": [2], "weight_orig": [3, 2], "weight_u": [2], "weight_v": [3]}
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_orig"]
    for _ in range(10):
        layer(paddle.ones([1, 3])).sum().backward()
    np.testing.assert_allclose(np.linalg.svd(layer.weight.numpy())[1][0], 1, rtol=1e-4)
    assert layer.weight_orig.grad is not None
    conv = utils.spectral_norm(nn.Conv2D(3, 2, 3))
    assert shapes(conv)["weight_v"] == [27]
    norm = nn.SpectralNorm([3, 4], power_iters=30)
    np.testing.assert_allclose(np.linalg.svd(norm(paddle.randn([3, 4])).numpy())[1][0], 1, rtol=1e-4)


def test_vectors_of_parameters():
    layer = nn.Linear(3, 2)
    vector = utils.parameters_to_vector(layer.parameters())
    expected = np.concatenate([layer.weight.numpy().ravel(), layer.bias.numpy()])
    np.testing.assert_array_equal(vector.numpy(), expected)
    utils.vector_to_parameters(paddle.arange(8, dtype="float32"), layer.parameters())
    assert layer.weight.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert layer.bias.tolist() == [6.0, 7.0]
    with pytest.raises(ValueError, match="8 elements"):
        utils.vector_to_parameters(paddle.ones([7]), layer.parameters())


def test_clipping_of_gradients():
    layer = nn.Linear(2, 2)
    layer(paddle.ones([1, 2])).sum().backward()
    assert utils.clip_grad_norm_(layer.parameters(), 1.0).item() == pytest.approx(2.4494898)
    np.testing.assert_allclose(layer.weight.grad.numpy(), 0.40824813, rtol=1e-6)
    assert utils.clip_grad_norm_(layer.parameters(), 0.1, float("inf")).item() == pytest.approx(0.40824813)
    np.testing.assert_allclose(layer.bias.grad.numpy(), 0.09999975, rtol=1e-5)
    utils.clip_grad_value_(layer.parameters(), 0.05)
    np.testing.assert_allclose(layer.weight.grad.numpy(), 0.05)
    layer.weight.grad.set_value(paddle.full([2, 2], float("nan")))
    with pytest.raises(RuntimeError, match="not finite"):
        utils.clip_grad_norm_(layer.parameters(), 1.0, error_if_nonfinite=True)


def test_fake_quantisation_is_paddles():
    layers = quant.quant_layers
    x = paddle.to_tensor([[-1.0, 0.3, 0.5]])
    expected = [[-1.0, 0.2992126, 0.503937]]
    np.testing.assert_allclose(layers.FakeQuantAbsMax()(x).numpy(), expected, rtol=1e-6)
    moving = layers.FakeQuantMovingAverageAbsMax()
    np.testing.assert_allclose(moving(x).numpy(), expected, rtol=1e-6)
    assert list(moving.state_dict()) == ["_scale", "_state", "_accum"]
    channels = layers.FakeQuantChannelWiseAbsMax(channel_num=2, quant_on_weight=True)
    found = channels(paddle.to_tensor([[-1.0, 0.3, 0.5], [0.1, 0.2, 0.03]])).numpy()
    np.testing.assert_allclose(found, [[-1, 0.2992126, 0.503937], [0.1007874, 0.2, 0.0299213]], rtol=1e-5)
    x.stop_gradient = False
    layers.FakeQuantAbsMax()(x).sum().backward()
    assert x.grad.tolist() == [[1.0, 1.0, 1.0]]


def test_quantised_layers_are_close_to_the_plain_ones():
    layers = quant.quant_layers
    linear, x = nn.Linear(6, 4), paddle.randn([5, 6])
    wrapped = layers.QuantizedLinear(linear, weight_quantize_type="channel_wise_abs_max",
                                     activation_quantize_type="moving_average_abs_max")  # fmt: skip
    assert list(wrapped.state_dict()) == [
        "weight", "bias", "_fake_quant_weight._scale", "_fake_quant_input._scale", "_fake_quant_input._state",
        "_fake_quant_input._accum",
    ]  # fmt: skip
    assert wrapped(x).shape == [5, 4]
    np.testing.assert_allclose(layers.QuantizedLinear(linear)(x).numpy(), linear(x).numpy(), atol=0.1)
    conv, image = nn.Conv2D(2, 3, 3, padding=1), paddle.randn([1, 2, 4, 4])
    np.testing.assert_allclose(layers.QuantizedConv2D(conv)(image).numpy(), conv(image).numpy(), atol=0.15)
    back = nn.Conv2DTranspose(2, 3, 3, stride=2)
    np.testing.assert_allclose(layers.QuantizedConv2DTranspose(back)(image).numpy(), back(image).numpy(), atol=0.15)
    assert layers.QuantizedMatmul()(x, paddle.randn([6, 2])).shape == [5, 2]
    assert layers.MAOutputScaleLayer(linear)(x).shape == [5, 4]
    assert layers.FakeQuantMAOutputScaleLayer(linear)(x).shape == [5, 4]


@pytest.mark.parametrize(("algo", "steps"), [("weight_only_int8", 127), ("weight_only_int4", 7)])
@pytest.mark.parametrize("group", [-1, 64])
def test_weights_in_few_bits(algo, steps, group):
    weight, x = paddle.randn([64, 32]), paddle.randn([3, 64])
    numbers, scale = quant.weight_quantize(weight, algo, group_size=group)
    again = quant.weight_dequantize(numbers, scale, algo, "float32", group)
    half_step = np.abs(weight.numpy()).max() / steps * 0.51
    assert np.abs(again.numpy() - weight.numpy()).max() <= half_step
    bits = "int4" if algo.endswith("4") else "int8"
    out = quant.weight_only_linear(x, numbers, weight_scale=scale, weight_dtype=bits, group_size=group)
    np.testing.assert_allclose(out.numpy(), x.numpy() @ again.numpy(), rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="algo"):
        quant.weight_quantize(weight, "int3")


def test_initializer_and_contexts():
    weight = nn.Conv2DTranspose(1, 1, 4, weight_attr=nn.initializer.Bilinear()).weight.numpy()
    np.testing.assert_allclose(weight[0, 0, 0], [0.0625, 0.28125, 0.375, 0.15625])
    with nn.initializer.lazy_init.LazyGuard():
        assert nn.Linear(2, 2).weight.shape == [2, 2]
    with nn.attention.sdpa_kernel([nn.attention.SDPBackend.MATH]):
        assert nn.attention.SDPBackend.FLASH_ATTENTION == 1
    with pytest.raises(ValueError, match="at least one"), nn.attention.sdpa_kernel([]):
        pass


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_linear_in_whole_numbers(dtype):
    generator = np.random.default_rng(3)
    weight, x = (generator.standard_normal(shape).astype("float32") for shape in ((64, 32), (2, 5, 64)))
    bias = generator.standard_normal(32).astype("float32")
    numbers, scale = quant.weight_quantize(paddle.to_tensor(weight), "llm.int8")
    table = quant.weight_dequantize(numbers, scale, "llm.int8", "float32").numpy()
    x[0, 0, 7] = 50.0  # beyond the threshold: it must not make the grid of its row coarse
    given = [paddle.to_tensor(a).astype(dtype) for a in (x, bias)]
    expected = x @ table + bias
    for _ in range(4):
        found = quant.llm_int8_linear(given[0], numbers, given[1], scale, 6.0)
        assert (str(found.dtype).rpartition(".")[2], found.shape) == (dtype, [2, 5, 32])
        assert np.abs(found.astype("float32").numpy() - expected).max() < 0.2
    coarse = quant.llm_int8_linear(given[0], numbers, given[1], scale, 1000.0).astype("float32").numpy()
    assert np.abs(coarse[0, 0] - expected[0, 0]).max() > 0.3
    given[0][1, 2, 3] = float("inf")
    odd = quant.llm_int8_linear(given[0], numbers, given[1], scale).astype("float32").numpy()
    assert np.isfinite(np.delete(odd.reshape(10, 32), 7, 0)).all()
    assert not np.isfinite(odd[1, 2]).any()
    trained = paddle.to_tensor(x)
    trained.stop_gradient = False
    quant.llm_int8_linear(trained, numbers, paddle.to_tensor(bias), scale).sum().backward()
    np.testing.assert_allclose(trained.grad.numpy(), np.broadcast_to(table.sum(1), x.shape), rtol=1e-4)


def test_quantised_weights_that_do_not_fit():
    numbers, scale = quant.weight_quantize(paddle.randn([128, 8]), group_size=64)
    x = paddle.randn([2, 128])
    assert quant.weight_only_linear(x, numbers, None, scale, group_size=64).shape == [2, 8]
    with pytest.raises(ValueError, match="group_size"):
        quant.weight_only_linear(x, numbers, None, scale)
    with pytest.raises(ValueError, match="does not fit"):
        quant.weight_only_linear(paddle.randn([2, 64]), numbers, None, scale, group_size=64)
    with pytest.raises(ValueError, match="weight_scale"):
        quant.llm_int8_linear(x, numbers)
