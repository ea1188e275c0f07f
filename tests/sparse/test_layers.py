"""`paddle.sparse.nn` against dense convolution, pooling and normalisation written out in NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import proa as paddle

from .common import as_array, check_gradient, random_coo, sparse

F = sparse.nn.functional


def dense_convolution(array, weight, stride, padding, dilation):
    """[batch, *space, channels] with [*kernel, in, out]; padding in pairs."""
    axes = weight.ndim - 2
    padded = np.pad(array, [(0, 0), *padding, (0, 0)])
    kernel = weight.shape[:axes]
    extents = [(padded.shape[a + 1] - dilation[a] * (kernel[a] - 1) - 1) // stride[a] + 1 for a in range(axes)]
    out = np.zeros((array.shape[0], *extents, weight.shape[-1]))
    for place in itertools.product(*map(range, kernel)):
        window = tuple(
            slice(p * d, p * d + (n - 1) * s + 1, s)
            for p, d, n, s in zip(place, dilation, extents, stride, strict=True)
        )
        out += padded[(slice(None), *window)] @ weight[place]
    return out


def image(*space, channels=2, seed=0, density=0.2):
    return random_coo(2, *space, density=density, seed=seed, dense=(channels,))


@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "dilation"),
    [
        ((3, 3, 3), 1, 0, 1),
        ((2, 3, 1), 2, 1, 1),
        ((3, 2, 2), [1, 2, 1], [1, 0, 2], 1),
        ((2, 2, 2), 1, 1, 2),
        ((1, 1, 1), 1, 0, 1),
    ],
)
def test_conv3d(kernel, stride, padding, dilation):
    x, array = image(4, 5, 4)
    weight = np.random.default_rng(1).uniform(0.1, 1, (*kernel, 2, 3))
    as_list = [v if isinstance(v, list) else [v] * 3 for v in (stride, padding, dilation)]
    expected = dense_convolution(array, weight, as_list[0], [(p, p) for p in as_list[1]], as_list[2])
    result = F.conv3d(x, paddle.to_tensor(weight), None, stride, padding, dilation)
    np.testing.assert_allclose(as_array(result), expected, atol=1e-12)
    # Stored exactly where a window sees something (all numbers are positive), in order.
    assert result.nnz() == (expected != 0).any(-1).sum()
    assert result.is_coalesced()


def test_conv2d_and_padding_words():
    x, array = image(5, 6)
    weight = np.random.default_rng(1).uniform(0.1, 1, (3, 2, 2, 3))
    for padding, pairs in (
        ("VALID", [(0, 0), (0, 0)]),
        ("SAME", [(1, 1), (0, 1)]),
        ([1, 0, 2, 1], [(1, 0), (2, 1)]),
        ([[0, 0], [1, 1], [0, 2], [0, 0]], [(1, 1), (0, 2)]),
    ):
        result = F.conv2d(x, paddle.to_tensor(weight), padding=padding)
        np.testing.assert_allclose(
            as_array(result), dense_convolution(array, weight, [1, 1], pairs, [1, 1]), atol=1e-12
        )


def test_convolution_gradients():
    x, _ = image(3, 3, 3, density=0.15)
    random = np.random.default_rng(1)
    weight = paddle.to_tensor(random.uniform(-1, 1, (2, 2, 2, 2, 2)), stop_gradient=False)
    bias = paddle.to_tensor(random.uniform(-1, 1, 2), stop_gradient=False)
    check_gradient(lambda t, w, b: F.conv3d(t, w, b, 2, 1), x, weight, bias)
    weight = paddle.to_tensor(random.uniform(-1, 1, (3, 1, 3, 2, 2)), stop_gradient=False)
    check_gradient(F.subm_conv3d, x, weight, bias)


def test_bias_is_added_to_stored_elements_only():
    x, array = image(4, 4)
    weight = np.random.default_rng(1).uniform(0.1, 1, (2, 2, 2, 3))
    bias = np.array([1.0, 2.0, 3.0])
    result = F.conv2d(x, paddle.to_tensor(weight), paddle.to_tensor(bias))
    without = dense_convolution(array, weight, [1, 1], [(0, 0)] * 2, [1, 1])
    np.testing.assert_allclose(
        as_array(result), np.where((without != 0).any(-1)[..., None], without + bias, 0), atol=1e-12
    )


@pytest.mark.parametrize("dilation", [1, 2])
def test_submanifold(dilation):
    for space, function in (((4, 5, 4), F.subm_conv3d), ((5, 6), F.subm_conv2d)):
        x, array = image(*space)
        weight = np.random.default_rng(1).uniform(0.1, 1, (*[3] * len(space), 2, 3))
        full = dense_convolution(
            array, weight, [1] * len(space), [(dilation, dilation)] * len(space), [dilation] * len(space)
        )
        result = function(x, paddle.to_tensor(weight), dilation=dilation)
        stored = (array != 0).any(-1)[..., None]
        np.testing.assert_allclose(as_array(result), np.where(stored, full, 0), atol=1e-12)
        again = function(result, paddle.to_tensor(np.ones((*[3] * len(space), 3, 1))), padding=1, key="any")
        assert again._pattern is result._pattern  # the rulebook is worked out once for all layers
        igemm = getattr(F, f"{function.__name__}_igemm")(x, paddle.to_tensor(weight), dilation=dilation)
        np.testing.assert_array_equal(as_array(igemm), as_array(result))


def test_place_by_place_is_the_same(monkeypatch):
    x, _ = image(4, 4, 4)
    weight = paddle.to_tensor(np.random.default_rng(1).uniform(-1, 1, (3, 3, 3, 2, 3)), stop_gradient=False)
    at_once = F.subm_conv3d(x, weight)
    expected = paddle.grad(at_once, [weight, x])
    monkeypatch.setattr("proa.sparse.nn.functional.convolution._LARGEST_GATHERED", 0)
    by_place = F.subm_conv3d(x, weight)
    np.testing.assert_allclose(as_array(by_place), as_array(at_once))
    for got, wanted in zip(paddle.grad(by_place, [weight, x]), expected, strict=True):
        np.testing.assert_allclose(as_array(got), as_array(wanted))


def test_convolution_of_nothing_and_of_duplicates():
    nothing = sparse.sparse_coo_tensor(np.zeros((3, 0), "int64"), np.zeros((0, 2)), [1, 4, 4, 2])
    weight = paddle.ones([3, 3, 2, 1], "float64")
    assert F.conv2d(nothing, weight).nnz() == 0
    assert as_array(F.subm_conv2d(nothing, weight)).shape == (1, 4, 4, 1)
    twice = sparse.sparse_coo_tensor([[0, 0], [1, 1], [2, 2]], [[1.0, 2], [3, 4]], [1, 4, 4, 2], dtype="float64")
    assert as_array(F.subm_conv2d(twice, weight))[0, 1, 2].tolist() == [10]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x, w: F.conv3d(x, w, data_format="NCDHW"), ValueError, "data_format"),
        (lambda x, w: F.conv3d(x, w, groups=2), NotImplementedError, "groups"),
        (lambda x, w: F.conv3d(x, w[:, :, :, :1]), ValueError, "weight"),
        (lambda x, w: F.conv3d(x, w[0]), ValueError, "weight"),
        (lambda x, w: F.conv3d(x, w, paddle.ones([5])), ValueError, "bias"),
        (lambda x, w: F.conv3d(x, w, stride=0), ValueError, "stride"),
        (lambda x, w: F.conv3d(x, w, dilation=9), ValueError, "larger"),
        (lambda x, w: F.conv3d(x, w, padding=-1), ValueError, "padding"),
        (lambda x, w: F.conv2d(x, w[0]), ValueError, "dimensions"),
        (lambda x, w: F.conv3d(x.to_dense(), w), TypeError, "sparse"),
        (lambda x, w: F.conv3d(x.to_dense().to_sparse_coo(5), w), ValueError, "dense"),
        (lambda x, w: F.subm_conv3d(x, w), ValueError, "odd"),
        (lambda x, w: F.max_pool3d(x, 9), ValueError, "larger"),
        (lambda x, w: F.max_pool3d(x, 2, data_format="NCDHW"), ValueError, "data_format"),
        (lambda x, w: F.max_pool3d(x, 2, padding="SAME"), ValueError, "padding"),
    ],
)
def test_convolution_refuses(call, error, text):
    x, _ = image(4, 4, 4)
    with pytest.raises(error, match=text):
        call(x, paddle.ones([2, 2, 2, 2, 3], "float64"))


@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "ceil"), [(2, None, 0, False), (3, 1, 1, False), (2, 2, 0, True)]
)
def test_max_pool3d(kernel, stride, padding, ceil):
    x, array = image(4, 5, 4)
    step = stride or kernel
    # Numbers that are stored are positive; what is not stored is no candidate.
    negative = sparse.neg(x)
    lowest = np.where(array != 0, -array, -np.inf)
    behind = padding + (step - 1 if ceil else 0)
    padded = np.pad(lowest, [(0, 0), *[(padding, behind)] * 3, (0, 0)], constant_values=-np.inf)
    extents = [(n - kernel) // step + 1 for n in padded.shape[1:4]]
    windows = [
        padded[(slice(None), *(slice(p, p + (n - 1) * step + 1, step) for p, n in zip(place, extents, strict=True)))]
        for place in itertools.product(range(kernel), repeat=3)
    ]
    expected = np.max(windows, axis=0)
    result = F.max_pool3d(negative, kernel, stride, padding, ceil)
    np.testing.assert_allclose(as_array(result), np.where(np.isfinite(expected), expected, 0))
    assert result.nnz() == np.isfinite(expected).all(-1).sum()
    check_gradient(lambda t: F.max_pool3d(t, kernel, stride, padding, ceil), x)


def test_activations():
    x, array = random_coo(3, 4)
    shifted = sparse.sparse_coo_tensor(x.indices(), x.values().detach() * 20 - 8, [3, 4])
    numbers = as_array(shifted)
    np.testing.assert_allclose(as_array(F.relu(shifted)), np.maximum(numbers, 0))
    np.testing.assert_allclose(as_array(F.relu6(shifted)), np.clip(numbers, 0, 6))
    np.testing.assert_allclose(as_array(F.leaky_relu(shifted, 0.3)), np.where(numbers > 0, numbers, 0.3 * numbers))
    nn = sparse.nn
    for layer, function in (
        (nn.ReLU(), F.relu), (nn.ReLU6(), F.relu6), (nn.LeakyReLU(0.01), F.leaky_relu), (nn.Softmax(), F.softmax),
    ):  # fmt: skip
        np.testing.assert_array_equal(as_array(layer(shifted)), as_array(function(shifted)))
    assert np.array_equal(array != 0, as_array(F.softmax(x)) != 0)


def test_softmax():
    x, array = random_coo(3, 4, 5)
    for axis in (-1, 0, 1):
        powers = np.where(array != 0, np.exp(array), 0)
        sums = powers.sum(axis, keepdims=True)
        expected = powers / np.where(sums == 0, 1, sums)
        np.testing.assert_allclose(as_array(F.softmax(x, axis)), expected)
        np.testing.assert_allclose(as_array(F.softmax(x.to_sparse_csr(), axis)), expected)
        check_gradient(lambda t, axis=axis: F.softmax(t, axis), x)
    hybrid, array = random_coo(3, dense=(4,))
    expected = np.exp(array) / np.exp(array).sum(-1, keepdims=True)
    np.testing.assert_allclose(as_array(F.softmax(hybrid)), np.where(array != 0, expected, 0))
    large = sparse.sparse_coo_tensor([[0, 0, 1], [0, 1, 0]], [1000.0, 1000.0, -1000.0], [2, 2])
    assert F.softmax(large).values().numpy().tolist() == [0.5, 0.5, 1.0]
    with pytest.raises(ValueError, match="axis"):
        F.softmax(x, 3)
    with pytest.raises(TypeError, match="floating"):
        F.softmax(sparse.cast(x, None, "int64"))


def test_attention():
    random = np.random.default_rng(0)
    batch, heads, length, width = 2, 2, 4, 3
    query, key, value = (
        paddle.to_tensor(random.standard_normal((batch, heads, length, width)), stop_gradient=False) for _ in range(3)
    )
    allowed = random.random((batch * heads, length, length)) > 0.4
    allowed[:, range(length), range(length)] = True
    mask = paddle.to_tensor(allowed.astype("float64")).to_sparse_csr()
    padding = np.ones((batch, length))
    padding[0, 1] = 0
    block = np.ones((length, length))
    block[2, :3] = 0
    block[3] = 0  # a row without any position left

    def reference(keep):
        scores = query.numpy() @ key.numpy().swapaxes(-1, -2) / np.sqrt(width)
        powers = np.exp(scores) * keep
        sums = powers.sum(-1, keepdims=True)
        return powers / np.where(sums == 0, 1, sums) @ value.numpy()

    keep = allowed.reshape(batch, heads, length, length).astype("float64")
    np.testing.assert_allclose(F.attention(query, key, value, mask).numpy(), reference(keep))
    masks = [paddle.to_tensor(padding), paddle.to_tensor(block)]
    result = F.attention(query, key, value, mask, *masks)
    np.testing.assert_allclose(result.numpy(), reference(keep * padding[:, None, None, :] * block), atol=1e-12)
    check_gradient(lambda *tensors: F.attention(*tensors, mask, *masks), query, key, value)
    for call in (
        lambda: F.attention(query, key, value[:1], mask),
        lambda: F.attention(query[:1], key[:1], value[:1], mask),
        lambda: F.attention(query, key, value, mask, masks[1]),
        lambda: F.attention(query, key, value, mask, None, masks[0]),
    ):
        with pytest.raises(ValueError, match="attention"):
            call()


def test_batch_norm():
    x, _ = image(4, 4, 4)
    layer = sparse.nn.BatchNorm(2)
    assert list(layer.state_dict()) == ["weight", "bias", "_mean", "_variance"]
    x = sparse.cast(x, None, "float32")
    values = x.values().numpy()
    result = layer(x)
    expected = (values - values.mean(0)) / np.sqrt(values.var(0) + 1e-5)
    np.testing.assert_allclose(result.values().numpy(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(layer._mean.numpy(), 0.1 * values.mean(0), rtol=1e-5)
    layer.eval()
    running = (values - layer._mean.numpy()) / np.sqrt(layer._variance.numpy() + 1e-5)
    np.testing.assert_allclose(layer(x).values().numpy(), running, rtol=1e-4)
    synchronous = sparse.nn.SyncBatchNorm(2)
    np.testing.assert_allclose(synchronous(x).values().numpy(), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="batch_norm"):
        sparse.nn.BatchNorm(3)(x)
    with pytest.raises(TypeError, match="sparse"):
        layer(x.to_dense())
    with pytest.raises(ValueError, match="dense"):
        layer(random_coo(3, 2, dtype="float32")[0])


def test_layers():
    nn = sparse.nn
    layer = nn.Conv3D(2, 3, 3)
    assert layer.weight.shape == [3, 3, 3, 2, 3]
    assert layer.bias.shape == [3]
    assert nn.Conv2D(2, 3, (3, 1), bias_attr=False).bias is None
    shown = {
        "Conv3D(2, 3, kernel_size=[3, 3, 3], stride=[2, 2, 2], padding=1, data_format=NDHWC)": nn.Conv3D(2, 3, 3, 2, 1),
        "SubmConv2D(2, 3, kernel_size=[3, 1], data_format=NHWC)": nn.SubmConv2D(2, 3, (3, 1), key="k"),
        "ReLU()": nn.ReLU(), "ReLU(name=a)": nn.ReLU(name="a"), "LeakyReLU()": nn.LeakyReLU(0.3),
        "BatchNorm(num_features=2, momentum=0.9, epsilon=1e-05, data_format=NDHWC)": nn.BatchNorm(2),
        "SyncBatchNorm(num_features=2, momentum=0.9, epsilon=1e-05)": nn.SyncBatchNorm(2),
        "MaxPool3D(kernel_size=2, stride=None, padding=0)": nn.MaxPool3D(2),
    }  # fmt: skip
    for text, made in shown.items():
        assert repr(made) == text
    weights = nn.Conv3D(16, 32, 3).weight.numpy()
    assert weights.std() == pytest.approx((2 / (16 * 27)) ** 0.5, rel=0.05)
    for call, error in (
        (lambda: nn.Conv3D(2, 4, 3, groups=2), NotImplementedError),
        (lambda: nn.Conv3D(2, 4, 3, padding_mode="reflect"), NotImplementedError),
        (lambda: nn.Conv3D(2, 4, 3, data_format="NCDHW"), ValueError),
        (lambda: nn.Conv2D(0, 4, 3), ValueError),
        (lambda: nn.SubmConv3D(2, 3, 3, backend="foo"), ValueError),
        (lambda: nn.MaxPool3D(2, return_mask=True), NotImplementedError),
    ):
        with pytest.raises(error):
            call()


def test_convert_sync_batchnorm():
    nn = sparse.nn
    model = paddle.nn.Sequential(nn.SubmConv3D(2, 3, 3), paddle.nn.Sequential(nn.BatchNorm(3)))
    kept = model[1][0].weight
    changed = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert type(changed[1][0]) is nn.SyncBatchNorm
    assert changed[1][0].weight is kept


def test_a_small_network_learns():
    nn = sparse.nn
    paddle.seed(0)
    x, array = random_coo(4, 6, 6, 6, density=0.1, dense=(1,), dtype="float32")
    x = x.detach()
    target = paddle.to_tensor(array.sum((1, 2, 3))[:, 0] / 10)
    body = paddle.nn.Sequential(
        nn.SubmConv3D(1, 8, 3), nn.BatchNorm(8), nn.ReLU(), nn.Conv3D(8, 8, 3, stride=2), nn.ReLU(), nn.MaxPool3D(2)
    )
    head = paddle.nn.Linear(8, 1)
    optimizer = paddle.optimizer.Adam(0.01, parameters=[*body.parameters(), *head.parameters()])
    losses = []
    for _ in range(25):
        features = body(x).to_dense().sum([1, 2, 3])
        loss = ((head(features)[:, 0] - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    assert losses[-1] < 0.1 * losses[0]
