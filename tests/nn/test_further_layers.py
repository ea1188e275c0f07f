"""Layers around functions that are tested elsewhere: arguments reach the function, shapes, names, errors."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle

nn, F = paddle.nn, paddle.nn.functional


def image(*shape):
    return paddle.randn(list(shape))


@pytest.mark.parametrize(
    ("layer", "inputs", "expected"),
    [
        (lambda: nn.Upsample(scale_factor=2), [(1, 2, 3, 3)], lambda x: F.interpolate(x, scale_factor=2)),
        (lambda: nn.UpsamplingBilinear2D([4, 5]), [(1, 2, 3, 3)],
         lambda x: F.interpolate(x, [4, 5], mode="bilinear", align_corners=True)),
        (lambda: nn.UpsamplingNearest2D(scale_factor=2), [(1, 2, 3, 3)], lambda x: F.interpolate(x, scale_factor=2)),
        (lambda: nn.PixelShuffle(2), [(1, 8, 2, 2)], lambda x: F.pixel_shuffle(x, 2)),
        (lambda: nn.PixelUnshuffle(2), [(1, 2, 4, 4)], lambda x: F.pixel_unshuffle(x, 2)),
        (lambda: nn.ChannelShuffle(2), [(1, 4, 2, 2)], lambda x: F.channel_shuffle(x, 2)),
        (lambda: nn.Unfold(2, strides=2), [(1, 2, 4, 4)], lambda x: F.unfold(x, 2, 2)),
        (lambda: nn.Fold([4, 4], 2, strides=2), [(1, 8, 4)], lambda x: F.fold(x, [4, 4], 2, 2)),
        (lambda: nn.Maxout(2), [(1, 4, 2, 2)], lambda x: F.maxout(x, 2)),
        (lambda: nn.GLU(), [(2, 4)], F.glu),
        (lambda: nn.Softmax2D(), [(1, 3, 2, 2)], lambda x: F.softmax(x, axis=1)),
        (lambda: nn.LPPool2D(2, 2), [(1, 2, 4, 4)], lambda x: F.lp_pool2d(x, 2, 2)),
        (lambda: nn.LPPool1D(2, 2), [(1, 2, 4)], lambda x: F.lp_pool1d(x, 2, 2)),
        (lambda: nn.FractionalMaxPool2D(2, random_u=0.3), [(1, 2, 5, 5)],
         lambda x: F.fractional_max_pool2d(x, 2, random_u=0.3)),
        (lambda: nn.LocalResponseNorm(3), [(1, 4, 2, 2)], lambda x: F.local_response_norm(x, 3)),
        (lambda: nn.CosineSimilarity(), [(3, 4), (3, 4)], F.cosine_similarity),
        (lambda: nn.PairwiseDistance(1.0), [(3, 4), (3, 4)], lambda x, y: F.pairwise_distance(x, y, 1.0)),
        (lambda: nn.Pad2D(1, "reflect"), [(1, 2, 3, 3)], lambda x: F.pad(x, [1] * 4, "reflect", data_format="NCHW")),
        (lambda: nn.ZeroPad2D([1, 0, 2, 0]), [(1, 2, 3, 3)], lambda x: F.pad(x, [1, 0, 2, 0], data_format="NCHW")),
        (lambda: nn.ConstantPad1D(2, 7.0), [(1, 2, 3)],
         lambda x: F.pad(x, [2, 2], "constant", 7.0, data_format="NCL")),
        (lambda: nn.CircularPad1D(1), [(1, 2, 3)], lambda x: F.pad(x, [1, 1], "circular", data_format="NCL")),
        (lambda: nn.ReplicationPad3D(1), [(1, 1, 2, 2, 2)],
         lambda x: F.pad(x, [1] * 6, "replicate", data_format="NCDHW")),
        (lambda: nn.SoftMarginLoss(), [(3, 2), (3, 2)], F.soft_margin_loss),
        (lambda: nn.GaussianNLLLoss(full=True), [(3, 2), (3, 2), (3, 2)],
         lambda x, y, v: F.gaussian_nll_loss(x, y, v, full=True)),
        (lambda: nn.TripletMarginLoss(0.5, reduction="sum"), [(3, 4)] * 3,
         lambda a, p, n: F.triplet_margin_loss(a, p, n, 0.5, reduction="sum")),
        (lambda: nn.TripletMarginWithDistanceLoss(margin=0.5), [(3, 4)] * 3,
         lambda a, p, n: F.triplet_margin_with_distance_loss(a, p, n, margin=0.5)),
        (lambda: nn.PoissonNLLLoss(False), [(3, 2), (3, 2)], lambda x, y: F.poisson_nll_loss(x, y, False)),
    ],
)  # fmt: skip
def test_layer_is_its_function(layer, inputs, expected):
    tensors = [image(*shape).abs() + 0.1 for shape in inputs]
    np.testing.assert_allclose(layer()(*tensors).numpy(), expected(*tensors).numpy(), rtol=1e-6)
    assert "(" in repr(layer())


def test_unpooling_layer():
    x = image(1, 2, 4, 4)
    pooled, mask = nn.MaxPool2D(2, return_mask=True)(x)
    spread = nn.MaxUnPool2D(2)(pooled, mask)
    assert spread.shape == [1, 2, 4, 4]
    np.testing.assert_allclose(spread.numpy().sum(), pooled.numpy().sum(), rtol=1e-5)


def test_drawing_layers_are_still_in_eval():
    x = image(3, 4, 2, 2, 2)
    for layer in (nn.AlphaDropout(0.5), nn.FeatureAlphaDropout(0.5), nn.Dropout3D(0.5), nn.RReLU()):
        trained = layer(x).numpy()
        assert not np.array_equal(trained, x.numpy())
        layer.eval()
        still = layer(x).numpy()
        if not isinstance(layer, nn.RReLU):
            np.testing.assert_array_equal(still, x.numpy())
    wide = paddle.randn([400, 400])
    dropped = nn.AlphaDropout(0.3)(wide).numpy()
    assert abs(dropped.mean()) < 0.02
    assert abs(dropped.std() - 1) < 0.02


def test_parameters_have_paddles_names():
    assert list(nn.Bilinear(3, 4, 5).state_dict()) == ["weight", "bias"]
    assert nn.Bilinear(3, 4, 5)(image(2, 3), image(2, 4)).shape == [2, 5]
    loss = nn.HSigmoidLoss(2, 6)
    assert {k: list(v.shape) for k, v in loss.state_dict().items()} == {"weight": [5, 2], "bias": [5, 1]}
    assert loss(image(3, 2), paddle.to_tensor([[0], [3], [5]])).shape == [3, 1]
    adaptive = nn.AdaptiveLogSoftmaxWithLoss(8, 6, [2, 4], div_value=2.0)
    out, total = adaptive(image(4, 8), paddle.to_tensor([0, 3, 5, 2]))
    assert (out.shape, total.shape) == ([4], [])
    np.testing.assert_allclose(np.exp(adaptive.log_prob(image(3, 8)).numpy()).sum(1), 1, rtol=1e-5)
    assert adaptive.predict(image(3, 8)).shape == [3]


def test_sync_batch_norm_takes_over_what_it_replaces():
    model = nn.Sequential(nn.Conv2D(3, 4, 3), nn.Sequential(nn.BatchNorm2D(4)))
    x = image(2, 3, 5, 5)
    model.eval()
    expected, keys = model(x).numpy(), list(model.state_dict())
    changed = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert isinstance(changed[1][0], nn.SyncBatchNorm)
    assert list(changed.state_dict()) == keys
    np.testing.assert_allclose(changed(x).numpy(), expected, rtol=1e-6)


def test_ctc_and_rnnt_layers():
    logits, marks = image(5, 2, 4), paddle.to_tensor(np.array([[1, 2], [3, 0]], "int32"))
    lengths = paddle.to_tensor([5, 4]), paddle.to_tensor([2, 1])
    expected = F.ctc_loss(logits, marks, *lengths, reduction="sum").item()
    assert nn.CTCLoss(reduction="sum")(logits, marks, *lengths).item() == pytest.approx(expected)


def test_lstm_trains_in_both_modes_and_refuses_wrong_input():
    paddle.seed(1)
    model, head = nn.LSTM(3, 5), nn.Linear(5, 1)
    optimizer = paddle.optimizer.Adam(0.05, parameters=[*model.parameters(), *head.parameters()])
    x = paddle.randn([8, 6, 3])
    target = x.sum([1, 2]).unsqueeze(-1)
    losses = []
    for _ in range(40):
        _, (last, _) = model(x)
        loss = F.mse_loss(head(last[0]), target)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
    with pytest.raises(ValueError, match="size of 3"):
        model(paddle.randn([2, 4, 5]))
    with pytest.raises(ValueError, match="2 initial states"):
        model(x, paddle.zeros([1, 8, 5]))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: nn.MultiHeadAttention(5, 2), ValueError),
        (lambda: nn.TransformerEncoderLayer(0, 2, 4), ValueError),
        (lambda: nn.PixelUnshuffle(0), ValueError),
        (lambda: nn.ChannelShuffle(2.5), TypeError),
        (lambda: nn.TripletMarginLoss(-1.0), ValueError),
        (lambda: nn.SpectralNorm([3, 4], dim=2), ValueError),
        (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [3, 2]), ValueError),
        (lambda: nn.HSigmoidLoss(2, 1), ValueError),
        (lambda: F.scaled_dot_product_attention(image(1, 2, 3, 4), image(1, 2, 2, 4), image(1, 2, 2, 4)), ValueError),
        (lambda: F.gumbel_softmax(image(2, 3), 0.0), ValueError),
        (lambda: F.grid_sample(image(1, 1, 2, 2), image(2, 2, 2, 2)), ValueError),
        (lambda: F.ctc_loss(image(3, 1, 4), image(1, 2), image(1), image(1), blank=9), ValueError),
        (lambda: F.class_center_sample(paddle.to_tensor([9]), 3, 2), ValueError),
        (lambda: nn.Layer().xpu(), ValueError),
        (lambda: nn.Layer().backward(), ValueError),
        (lambda: nn.Layer().get_extra_state(), RuntimeError),
    ],
)  # fmt: skip
def test_bad_arguments(call, error):
    with pytest.raises(error):
        call()
